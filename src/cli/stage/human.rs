//! The demo's human: answers when everything rests.

use crate::cli::demo::{
    rest::Rest,
    stage::{PERSON, Stage},
};
use domain::{feature::State, ids::PullNumber};

/// What the sample's human writes to a Player that is stuck.
const GUIDANCE: &str = "sort takes a key of its own for each column: -k1,1nr for the count, then -k2,2 for the word.";

/// A person with a script.
pub(super) struct Human {
    lines: Lines,
    approves: bool,
    helped: Vec<PullNumber>,
}

/// Whether the person plays the sample's part.
enum Lines {
    Sample,
    Silent,
}

impl Human {
    /// The sample's human, or one who at most approves.
    pub(super) fn new(sample: bool, approves: bool) -> Self {
        Self {
            lines: if sample { Lines::Sample } else { Lines::Silent },
            approves,
            helped: Vec::new(),
        }
    }

    /// Says what the script has for this moment; false if nothing.
    pub(super) async fn speaks(&mut self, stage: &Stage, rest: &Rest) -> anyhow::Result<bool> {
        let Rest::At(feature) = rest else { return Ok(false) };
        let person = stage.forge.as_user(PERSON)?;
        let issue = feature.key.issue.0;
        match (&feature.state, &self.lines) {
            (State::AwaitingApproval, _) if self.approves => {
                let hash: String = feature
                    .plan
                    .as_ref()
                    .map(|plan| plan.hash.chars().take(8).collect())
                    .unwrap_or_default();
                self.approves = false;
                person.comment(&stage.repository, issue, &format!("/autobuild approve {hash}"))?;
                Ok(true)
            }
            (State::Blocked { .. }, Lines::Sample) => {
                let stuck = feature
                    .tasks
                    .iter()
                    .find(|task| task.is_blocked())
                    .and_then(|task| task.pull);
                let Some(pull) = stuck.filter(|pull| !self.helped.contains(pull)) else {
                    return Ok(false);
                };
                self.helped.push(pull);
                person.comment(&stage.repository, pull.0, &format!("/autobuild resume {GUIDANCE}"))?;
                Ok(true)
            }
            (State::InReview, Lines::Sample) => {
                let Some(pull) = feature.pull else { return Ok(false) };
                person.merge(&stage.repository, pull.0, "merge").await?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}
