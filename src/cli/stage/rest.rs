//! When a Feature rests, and how the demo ends then.

use crate::{
    cli::demo::{
        excerpt,
        places::{Places, Staying},
        stage::{PERSON, Stage},
        terminal::{Terminal, Tone},
    },
    messages,
    messages::clean,
};
use domain::feature::{Feature, State};
use std::{path::Path, process::ExitCode};

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
pub(super) struct Ended {
    how: How,
    /// In one sentence.
    sentence: String,
    /// Why it did not go on, and what a person can do, in Markdown.
    details: Vec<String>,
    /// Branches of the forge's repository that hold work, the most finished first.
    branches: Vec<String>,
}

/// A line of why it ended so.
struct Line {
    indent: &'static str,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// In review or completed.
    Well,
    /// In any other way.
    Otherwise,
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
            Self::Interrupted => {
                let short = Ended::short(How::Interrupted, "interrupted");
                return Ok(match stage.latest().await? {
                    None => short,
                    Some(feature) => Ended {
                        details: messages::blocked_in_short(&feature),
                        branches: stage.branches(&feature)?,
                        ..short
                    },
                });
            }
            Self::Nothing => return Ok(nothing(stage)),
            Self::At(feature) => feature,
        };
        let name = feature.key.shown();
        let (how, sentence) = match &feature.state {
            State::InReview => (
                How::Well,
                format!("{name} is in review: a person merges its pull request"),
            ),
            State::Completed => (How::Well, format!("{name} is completed")),
            State::AwaitingApproval => {
                let sentence = "its plan waits for approval: --approve approves it";
                (How::Otherwise, format!("{name} is awaiting_approval: {sentence}"))
            }
            State::Failed { message } => (
                How::Otherwise,
                format!("{name} is failed: there is no valid plan: {message}"),
            ),
            State::Cancelled { .. } => (How::Otherwise, format!("{name} is cancelled")),
            State::Paused { .. } => (How::Otherwise, format!("{name} is paused")),
            State::Blocked { .. } => (How::Otherwise, format!("{name} is blocked")),
            State::Planning { .. } | State::Building { .. } => {
                let why = waiting(feature);
                (How::Otherwise, format!("{name} is {}: {why}", feature.state.word()))
            }
        };
        Ok(Ended {
            how,
            sentence,
            details: messages::blocked_in_short(feature),
            branches: stage.branches(feature)?,
        })
    }
}

/// What the service said on the issue instead of starting.
fn nothing(stage: &Stage) -> Ended {
    let said: Vec<String> = stage
        .forge
        .events()
        .into_iter()
        .filter(|event| event.number == Some(stage.issue().0) && event.actor != PERSON && !event.text.is_empty())
        .filter(|event| event.kind.starts_with("comment."))
        .map(|event| event.text)
        .collect();
    let sentence = match said.is_empty() {
        false => "the label started nothing, and this was said on the issue",
        true => {
            "the label started nothing, and nothing is said about it on the issue; with --verbose the log is shown, \
             which names the cause"
        }
    };
    Ended {
        details: said,
        ..Ended::short(How::Otherwise, sentence)
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
    fn short(how: How, sentence: &str) -> Self {
        Self {
            how,
            sentence: sentence.to_owned(),
            details: Vec::new(),
            branches: Vec::new(),
        }
    }

    /// Whether the pages are still worth serving.
    pub(super) fn may_go_on(&self) -> bool {
        self.how != How::Interrupted
    }

    /// Says how it ended, why, and where everything is that stays.
    pub(super) fn print(&self, places: &Places, terminal: &Terminal, json: bool) {
        if json {
            terminal.exact(&self.json(places).to_string());
            return;
        }
        let tone = match self.how {
            How::Well => Tone::Good,
            How::Otherwise => Tone::Bad,
            How::Interrupted => Tone::Plain,
        };
        terminal.exact("");
        for line in self.said().lines() {
            terminal.line("", "", line, tone);
        }
        for line in self.why() {
            terminal.line(line.indent, line.indent, &line.text, Tone::Plain);
        }
        self.print_places(places, terminal);
    }

    /// How it ended and why, as lines.
    pub(super) fn lines(&self) -> Vec<String> {
        let said = self.said();
        let why = self.why();
        let why = why.iter().map(|line| format!("{}{}", line.indent, line.text));
        said.lines().map(str::to_owned).chain(why).collect()
    }

    /// An agent's own words may be the reason.
    fn said(&self) -> String {
        let sentence = clean(&self.sentence);
        format!("{}.", sentence.trim_end().trim_end_matches('.'))
    }

    fn why(&self) -> Vec<Line> {
        let detail = |detail: &String| {
            let lines = excerpt::all(detail).into_iter();
            let lines = lines.map(|text| Line { indent: "  ", text });
            let blank = Line {
                indent: "",
                text: String::new(),
            };
            std::iter::once(blank).chain(lines).collect::<Vec<_>>()
        };
        self.details.iter().flat_map(detail).collect()
    }

    fn print_places(&self, places: &Places, terminal: &Terminal) {
        match places.staying {
            Staying::Until => {
                terminal.exact("");
                terminal.line(
                    "",
                    "",
                    "Nothing of the sample is kept once the demo ends; --once keeps it.",
                    Tone::Quiet,
                );
            }
            Staying::Kept => {
                terminal.exact(&format!("\n  repository  {}", places.repository.display()));
                terminal.exact(&format!("  transcript  {}", places.transcript.display()));
                let commands = self.fetches(places);
                if !commands.is_empty() {
                    let what = match self.how {
                        How::Well => "The result",
                        How::Otherwise | How::Interrupted => "The work so far",
                    };
                    let how = format!("{what} comes into your repository, as FETCH_HEAD, with");
                    terminal.exact("");
                    terminal.line("", "", &how, Tone::Plain);
                    commands
                        .iter()
                        .for_each(|command| terminal.exact(&format!("  {command}")));
                }
            }
        }
    }

    /// What brings each branch into the repository that was imported.
    fn fetches(&self, places: &Places) -> Vec<String> {
        let Some(own) = &places.own else { return Vec::new() };
        let quoted = |path: &Path| shell_words::quote(&path.to_string_lossy()).into_owned();
        let (own, from) = (quoted(own), quoted(&places.repository));
        let fetch = |branch: &String| format!("git -C {own} fetch {from} {}", shell_words::quote(branch));
        self.branches.iter().map(fetch).collect()
    }

    fn json(&self, places: &Places) -> serde_json::Value {
        let sentence = match self.how {
            How::Well | How::Otherwise => self.sentence.as_str(),
            How::Interrupted => "interrupted",
        };
        let kept = places.staying == Staying::Kept;
        serde_json::json!({
            "ended": sentence,
            "ok": self.how == How::Well,
            "why": self.details,
            "repository": kept.then_some(&places.repository),
            "transcript": kept.then_some(&places.transcript),
            "fetch": self.fetches(places),
        })
    }

    /// The exit code.
    pub(super) fn code(&self) -> ExitCode {
        match self.how {
            How::Well => ExitCode::SUCCESS,
            How::Otherwise => ExitCode::from(1),
            How::Interrupted => ExitCode::from(130),
        }
    }
}
