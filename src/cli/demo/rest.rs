//! When a Feature rests, and how the demo ends then.

use crate::cli::demo::stage::Places;
use crate::cli::demo::stage::Stage;
use crate::domain::feature::Feature;
use crate::domain::feature::State;
use crate::messages::clean;
use std::io::Write;
use std::process::ExitCode;

/// Where everything came to rest.
pub(super) enum Rest {
    /// At this state of the Feature.
    At(Box<Feature>),
    /// Before there was a Feature: the label was refused.
    Nothing,
    /// Ctrl-C.
    Interrupted,
}

/// How the demo ends.
pub(super) enum Ended {
    /// In review or completed.
    Well(String),
    /// In any other way, with the reason.
    Otherwise(String),
    /// Ctrl-C.
    Interrupted,
}

impl Rest {
    /// Waits until no effect is due, running or waiting for a time, and no delivery is under way.
    pub(super) async fn wait(stage: &Stage) -> anyhow::Result<Self> {
        let store = &stage.engine.store;
        let mut wakeups = store.wakeups();
        loop {
            stage.forge.deliveries_idle().await;
            let tally = store.tally(None, stage.engine.now()).await?;
            if tally.due + tally.waiting + tally.running == 0 && stage.forge.deliveries_under_way() == 0 {
                break;
            }
            wakeups.next().await;
        }
        let Some(row) = store.latest_run(stage.repo, stage.issue()).await? else {
            return Ok(Self::Nothing);
        };
        Ok(match stage.engine.feature(&row.key).await? {
            Some(feature) => Self::At(Box::new(feature)),
            None => Self::Nothing,
        })
    }

    /// How this ends the demo.
    pub(super) async fn report(&self, stage: &Stage) -> anyhow::Result<Ended> {
        let feature = match self {
            Self::Interrupted => return Ok(Ended::Interrupted),
            Self::Nothing => {
                return Ok(Ended::Otherwise(format!(
                    "the label started nothing; the issue says why: {}/{}/issues/{}",
                    stage.forge.url(),
                    stage.repository,
                    stage.issue()
                )));
            }
            Self::At(feature) => feature,
        };
        let name = feature.key.shown();
        let why = match &feature.state {
            State::InReview => {
                return Ok(Ended::Well(format!(
                    "{name} is in review: a person merges its pull request"
                )));
            }
            State::Completed => return Ok(Ended::Well(format!("{name} is completed"))),
            State::AwaitingApproval => "its plan waits for approval: --approve approves it".to_owned(),
            State::Blocked { reason, .. } => blocked(feature, &reason.to_string()),
            State::Failed { message } => format!("there is no valid plan: {message}"),
            State::Cancelled { .. } => "it was cancelled".to_owned(),
            State::Paused { .. } => "it is paused".to_owned(),
            State::Planning { .. } | State::Building { .. } => waiting(feature),
        };
        Ok(Ended::Otherwise(format!("{name} is {}: {why}", feature.state.word())))
    }
}

fn blocked(feature: &Feature, reason: &str) -> String {
    let tasks: Vec<String> = feature
        .tasks
        .iter()
        .filter_map(|task| match &task.state {
            crate::domain::task::State::Blocked { reason } => Some(format!("{}: {reason}", task.id)),
            _ => None,
        })
        .collect();
    if tasks.is_empty() {
        reason.to_owned()
    } else {
        tasks.join("; ")
    }
}

fn waiting(feature: &Feature) -> String {
    let waits: Vec<String> = feature
        .tasks
        .iter()
        .filter(|task| !task.is_over())
        .map(|task| format!("{} is {}", task.id, task.state.word()))
        .collect();
    format!("it waits for a person ({})", waits.join(", "))
}

impl Ended {
    /// Whether the pages are still worth serving.
    pub(super) fn may_go_on(&self) -> bool {
        !matches!(self, Self::Interrupted)
    }

    /// Says how it ended, and where everything is.
    pub(super) fn print(&self, places: &Places, json: bool) {
        let (repository, transcript) = (places.repository.display(), places.transcript.display());
        let text = match self {
            Self::Well(text) | Self::Otherwise(text) => text.clone(),
            Self::Interrupted => "interrupted".to_owned(),
        };
        let ending = if json {
            let line = serde_json::json!({
                "ended": text,
                "ok": matches!(self, Self::Well(_)),
                "repository": places.repository,
                "transcript": places.transcript,
            });
            line.to_string()
        } else {
            // An agent's own words may be the reason.
            let text = clean(&text);
            let text = text.trim_end_matches('.');
            format!("\n{text}.\n  repository  {repository}\n  transcript  {transcript}")
        };
        // The exit code stands also where nobody reads any more.
        let _ = writeln!(std::io::stdout(), "{ending}");
    }

    /// The exit code.
    pub(super) fn code(&self) -> ExitCode {
        match self {
            Self::Well(_) => ExitCode::SUCCESS,
            Self::Otherwise(_) => ExitCode::from(1),
            Self::Interrupted => ExitCode::from(130),
        }
    }
}
