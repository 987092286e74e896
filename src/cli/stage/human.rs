//! Plays a person on a stage, who answers when a Feature rests.

use crate::cli::stage::{FiledIssue, Stage, settled::SettledState};
use domain::{
    feature::{Feature, State},
    ids::PullNumber,
    task,
};

/// The guidance that the sample's person gives to a stuck Player.
const GUIDANCE: &str = "sort takes a key of its own for each column: -k1,1nr for the count, then -k2,2 for the word.";

pub struct Human {
    part: HumanPart,
    helped: Vec<PullNumber>,
    /// `true` if it accepts failing tests of the base.
    accepts_base: bool,
    /// The hashes of plans that were approved. A plan that still waits afterwards is not approved again.
    approved: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HumanPart {
    /// Takes no action.
    Silent,
    /// Approves the first plan that waits.
    ApprovesPlan,
    /// Approves plans, and merges approved tasks if that is left to a person.
    ApprovesAll,
    /// Follows the sample's story.
    Sample,
}

impl Human {
    /// Creates a person who plays this part.
    pub fn new(part: HumanPart) -> Self {
        Self {
            part,
            accepts_base: matches!(part, HumanPart::ApprovesPlan | HumanPart::ApprovesAll),
            helped: Vec::new(),
            approved: Vec::new(),
        }
    }

    /// Plays the part's act for this moment; returns `false` if there is none.
    pub async fn speaks(&mut self, stage: &Stage, filed: &FiledIssue, rest: &SettledState) -> anyhow::Result<bool> {
        let SettledState::At(feature) = rest else { return Ok(false) };
        let person = stage.forge.as_user(&stage.person)?;
        let issue = feature.key.issue.0;
        match (&feature.state, self.part) {
            (State::AwaitingApproval, HumanPart::ApprovesPlan | HumanPart::ApprovesAll) => {
                let hash = plan_hash(feature);
                if self.approved.contains(&hash) {
                    return Ok(false);
                }
                if self.part == HumanPart::ApprovesPlan {
                    self.part = HumanPart::Silent;
                }
                self.approved.push(hash.clone());
                person.comment(&filed.repository, issue, &format!("/autobuild approve {hash}"))?;
                Ok(true)
            }
            (State::Blocked { reason, .. }, HumanPart::ApprovesPlan | HumanPart::ApprovesAll | HumanPart::Silent)
                if reason.asks_about_base() && self.accepts_base =>
            {
                self.accepts_base = false;
                person.comment(&filed.repository, issue, "/autobuild approve")?;
                Ok(true)
            }
            (State::Building { .. }, HumanPart::ApprovesAll) => {
                let Some(pull) = approved(feature).filter(|pull| !self.helped.contains(pull)) else {
                    return Ok(false);
                };
                self.helped.push(pull);
                person.merge(&filed.repository, pull.0, "merge").await?;
                Ok(true)
            }
            (State::Blocked { .. }, HumanPart::Sample) => {
                let Some(pull) = blocked(feature).filter(|pull| !self.helped.contains(pull)) else {
                    return Ok(false);
                };
                self.helped.push(pull);
                person.comment(&filed.repository, pull.0, &format!("/autobuild resume {GUIDANCE}"))?;
                Ok(true)
            }
            (State::InReview, HumanPart::Sample) => {
                let Some(pull) = feature.pull else { return Ok(false) };
                person.merge(&filed.repository, pull.0, "merge").await?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// Returns the start of the plan's hash, as the plan's comment prints it.
fn plan_hash(feature: &Feature) -> String {
    let hash = feature.plan.as_ref().map(|plan| plan.hash.chars().take(8).collect());
    hash.unwrap_or_default()
}

fn blocked(feature: &Feature) -> Option<PullNumber> {
    let blocked = feature.tasks.iter().find(|task| task.is_blocked());
    blocked.and_then(|task| task.pull)
}

/// Returns the pull request of a task that only waits for its merge.
fn approved(feature: &Feature) -> Option<PullNumber> {
    let waits = |task: &&task::Task| matches!(task.state, task::State::Approved { .. });
    feature.tasks.iter().find(waits).and_then(|task| task.pull)
}
