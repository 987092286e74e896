//! Finds out when a Feature rests, and reports its state then.

use crate::{
    cli::stage::{
        FiledIssue, Stage,
        terminal::{Terminal, Tone},
    },
    messages,
    messages::{Medium, clean},
};
use domain::{
    effect::Reply,
    feature::{Feature, State, event::Event},
};
use std::process::ExitCode;
use text::mistake::SettingsMistake;

pub enum SettledState {
    At(Box<Feature>),
    /// There is no Feature: the label was refused.
    Nothing,
    /// The person pressed Ctrl-C.
    Interrupted,
}

/// The report on a Feature that rests.
pub struct SettledReport {
    pub how: SettledOutcome,
    pub sentence: String,
    /// The reason why the work stopped and what a person can do, as text.
    pub details: Vec<String>,
    /// The branches of the forge's repository that hold work, the most complete first.
    pub branches: Vec<String>,
}

/// The way in which the work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettledOutcome {
    /// The Feature is in review or completed.
    Well,
    /// The Feature rests in any other state.
    Otherwise,
    /// The person pressed Ctrl-C.
    Interrupted,
}

impl SettledState {
    /// Waits until the Feature of an issue rests.
    pub async fn wait(stage: &Stage, filed: &FiledIssue) -> anyhow::Result<Self> {
        let mut wakeups = stage.engine.store.wakeups();
        loop {
            stage.forge.deliveries_idle().await;
            if let Some(rest) = Self::now(stage, filed).await? {
                return Ok(rest);
            }
            wakeups.next().await;
        }
    }

    /// Returns the state in which an issue's Feature rests, or `None` if it does not: if an effect of it is due,
    /// running or scheduled, or a delivery is under way or unread.
    pub async fn now(stage: &Stage, filed: &FiledIssue) -> anyhow::Result<Option<Self>> {
        let store = &stage.engine.store;
        let row = store.latest_run(filed.repo, filed.issue).await?;
        let key = row.as_ref().map(|row| row.key);
        // The delivery that an effect causes is under way before the effect is done, and stored before it stops being
        // under way. So the two checks together miss nothing.
        let busy = || async { anyhow::Ok(store.busy(key.as_ref()).await? || stage.forge.deliveries_under_way() > 0) };
        if busy().await? || busy().await? {
            return Ok(None);
        }
        let latest = store.latest_run(filed.repo, filed.issue).await?.map(|row| row.key);
        if latest != key {
            return Ok(None);
        }
        let Some(key) = key else { return Ok(Some(Self::Nothing)) };
        let feature = stage.engine.feature(&key).await?;
        Ok(Some(feature.map_or(Self::Nothing, |feature| Self::At(Box::new(feature)))))
    }

    /// Reports the state; `approving` says how a person approves a waiting plan.
    pub async fn report(&self, stage: &Stage, filed: &FiledIssue, approving: &str) -> anyhow::Result<SettledReport> {
        let feature = match self {
            Self::Interrupted => {
                let short = SettledReport::short(SettledOutcome::Interrupted, "interrupted");
                return Ok(match stage.latest(filed).await? {
                    None => short,
                    Some(feature) => SettledReport {
                        details: texts(stage, messages::blocked_in_short(&feature, Medium::Terminal)),
                        branches: stage.branches(filed, &feature)?,
                        ..short
                    },
                });
            }
            Self::Nothing => return nothing(stage, filed).await,
            Self::At(feature) => feature,
        };
        if let Some(mistakes) = refused_settings(stage, feature).await? {
            return Ok(SettledReport {
                details: texts(stage, vec![messages::bad_settings_in_terminal(feature, &mistakes)]),
                branches: stage.branches(filed, feature)?,
                ..SettledReport::short(SettledOutcome::Otherwise, &format!("{} does not go on", feature.key.name()))
            });
        }
        let (how, sentence) = state_in_words(feature, approving);
        Ok(SettledReport {
            how,
            sentence,
            details: texts(stage, messages::blocked_in_short(feature, Medium::Terminal)),
            branches: stage.branches(filed, feature)?,
        })
    }
}

/// Returns the mistakes in the repository's settings, if they are why the person's last command was refused.
async fn refused_settings(stage: &Stage, feature: &Feature) -> anyhow::Result<Option<Vec<SettingsMistake>>> {
    match feature.state {
        State::Planning { .. }
        | State::Building { .. }
        | State::Paused { .. }
        | State::Blocked { .. }
        | State::Failed { .. } => {}
        // The work went on regardless, or never will.
        State::AwaitingApproval | State::InReview | State::Completed | State::Cancelled { .. } => return Ok(None),
    }
    for stored in stage.engine.store.events(&feature.key).await?.iter().rev() {
        let event = serde_json::from_str(&stored.event.body);
        if let Ok(Event::Commanded(_)) = event {
            return Ok(None);
        }
        if let Ok(Event::Answered { reply: Reply::BadSettings(mistakes), .. }) = event {
            return Ok(Some(mistakes));
        }
    }
    Ok(None)
}

fn state_in_words(feature: &Feature, approving: &str) -> (SettledOutcome, String) {
    let name = feature.key.name();
    let sentence = match &feature.state {
        State::InReview => format!("{name} is in review: a person merges its pull request"),
        State::Completed => format!("{name} is completed"),
        State::AwaitingApproval => format!("The plan of {name} waits for approval: {approving}"),
        State::Failed { message, .. } => format!("{name} failed, because there is no valid plan: {message}"),
        State::Cancelled { .. } => format!("{name} is cancelled"),
        State::Paused { .. } => format!("{name} is paused"),
        State::Blocked { .. } if feature.asks() => format!("{name} asks and waits for your answer"),
        State::Blocked { .. } => format!("{name} is blocked{}", messages::after_blocked(feature)),
        State::Planning { .. } | State::Building { .. } => {
            let state = messages::feature_state(feature);
            format!("{name} is {state}: {}", waiting(feature))
        }
    };
    let is_well = matches!(feature.state, State::InReview | State::Completed);
    (if is_well { SettledOutcome::Well } else { SettledOutcome::Otherwise }, sentence)
}

/// Reports the service's answer on the issue to a label that it refused.
async fn nothing(stage: &Stage, filed: &FiledIssue) -> anyhow::Result<SettledReport> {
    let replies = stage.engine.replies(filed.repo, 0).await?;
    // Earlier replies may be outdated.
    let last = replies.last();
    let why = last.and_then(|(_, reply, _)| messages::reply_in_terminal(reply, None));
    let sentence = match why {
        Some(_) => "Nothing started, and this is why",
        None => "Nothing started, and nothing says why; with --verbose the log is shown, which names the cause",
    };
    Ok(SettledReport {
        details: texts(stage, why.into_iter().collect()),
        ..SettledReport::short(SettledOutcome::Otherwise, sentence)
    })
}

/// Masks texts that may quote programs.
fn texts(stage: &Stage, texts: Vec<String>) -> Vec<String> {
    texts.iter().map(|text| stage.engine.secrets.mask(text)).collect()
}

fn waiting(feature: &Feature) -> String {
    let waiting = feature.tasks.iter().filter(|task| !task.is_over());
    let waits: Vec<String> = waiting.map(|task| format!("{}: {}", task.id, messages::task_state(task))).collect();
    format!("it waits for a person ({})", waits.join(", "))
}

impl SettledReport {
    fn short(how: SettledOutcome, sentence: &str) -> Self {
        Self { how, sentence: sentence.to_owned(), details: Vec::new(), branches: Vec::new() }
    }

    /// `true` if the pages are still worth serving.
    pub fn may_go_on(&self) -> bool {
        self.how != SettledOutcome::Interrupted
    }

    /// Prints how the work ended, and why.
    pub fn print(&self, terminal: &Terminal) {
        let tone = match self.how {
            SettledOutcome::Well => Tone::Good,
            SettledOutcome::Otherwise => Tone::Bad,
            SettledOutcome::Interrupted => Tone::Plain,
        };
        terminal.exact("");
        for line in self.closing_sentence().lines() {
            terminal.line("", "", line, tone);
        }
        for line in self.why() {
            terminal.line("  ", "  ", &line, Tone::Plain);
        }
    }

    /// Returns how the work ended and why, as lines.
    pub fn lines(&self) -> Vec<String> {
        let why = self.why().into_iter();
        let why = why.map(|line| format!("  {line}").trim_end().to_owned());
        self.closing_sentence().lines().map(str::to_owned).chain(why).collect()
    }

    /// Returns the sentence without control characters, since it may quote an agent.
    fn closing_sentence(&self) -> String {
        let sentence = clean(&self.sentence);
        format!("{}.", sentence.trim_end().trim_end_matches('.'))
    }

    /// Returns the lines of all details, each after a blank line.
    fn why(&self) -> Vec<String> {
        let detail = |detail: &String| {
            let lines = detail.lines().filter(|line| !line.is_empty()).map(str::to_owned);
            std::iter::once(String::new()).chain(lines.collect::<Vec<_>>())
        };
        self.details.iter().flat_map(detail).collect()
    }

    pub fn code(&self) -> ExitCode {
        match self.how {
            SettledOutcome::Well => ExitCode::SUCCESS,
            SettledOutcome::Otherwise => ExitCode::from(1),
            SettledOutcome::Interrupted => ExitCode::from(130),
        }
    }
}
