//! What AutoBuild could not say as it should: it is said otherwise, or the work stops; the Feature tells of both.

use crate::{
    blocked::BlockReason,
    feature::{
        Feature, Step,
        step::{on_task, unchanged},
    },
    ids::{Millis, TaskId},
    task,
};
use serde::{Deserialize, Serialize};

/// The most that is remembered of one Feature.
const MOST: usize = 20;

/// Something that could not be said as it should.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsaid {
    /// What it is.
    pub what: Saying,
    /// The task that it is about; none where it is about the Feature.
    pub task: Option<TaskId>,
    /// What stands in its place.
    pub instead: Instead,
    /// GitHub's words.
    pub why: String,
}

/// What AutoBuild says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Saying {
    /// A verdict, as a review.
    Review,
    /// A blocked report.
    Report,
    /// A check run.
    Check,
    /// A call of the person who labelled the issue.
    Call,
    /// The comment with plan and progress.
    Living,
}

/// What stands in the place of something that could not be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Instead {
    /// A comment review by the AutoBuild App.
    CommentReview,
    /// A comment on the pull request.
    PullComment,
    /// A comment on the issue.
    IssueComment,
    /// Nothing: every form was refused.
    Nothing,
}

impl Saying {
    /// What it is called, where nothing may be merged before it was said.
    fn before_merge(self) -> Option<&'static str> {
        match self {
            Self::Review => Some("post review"),
            Self::Check => Some("publish check"),
            Self::Report | Self::Call | Self::Living => None,
        }
    }
}

/// Remembers it, once. An approved task whose verdict stands nowhere is not merged: it waits for a person.
pub(super) fn unsaid(mut feature: Feature, unsaid: Unsaid, at: Millis) -> Step {
    if !feature.is_unfinished() {
        return unchanged(feature);
    }
    let same = |known: &Unsaid| (known.what, known.task, known.instead) == (unsaid.what, unsaid.task, unsaid.instead);
    let is_known = feature.unsaid.iter().any(same);
    let stopped = stopped(&feature, &unsaid);
    if !is_known {
        feature.unsaid.push(unsaid);
        let extra = feature.unsaid.len().saturating_sub(MOST);
        feature.unsaid.drain(..extra);
    }
    match stopped {
        Some((id, event)) => on_task(feature, id, event, at),
        None => unchanged(feature),
    }
}

/// The approved task that is not to be merged because of this, and what stops it.
fn stopped(feature: &Feature, unsaid: &Unsaid) -> Option<(TaskId, task::Event)> {
    let id = unsaid.task.filter(|_| unsaid.instead == Instead::Nothing)?;
    let doing = unsaid.what.before_merge()?;
    let run = approved_run(feature, id)?;
    let reason = BlockReason::ForgeRefused {
        doing: doing.to_owned(),
        said: unsaid.why.clone(),
    };
    Some((id, task::Event::Stuck { run, reason }))
}

/// The merge that an approved task waits for.
fn approved_run(feature: &Feature, id: TaskId) -> Option<u64> {
    let task = feature.task(id)?;
    match &task.state {
        task::State::Approved { .. } => task.state.waits_for(),
        task::State::Pending
        | task::State::PreLoop { .. }
        | task::State::PlayerTurn { .. }
        | task::State::CoachTurn { .. }
        | task::State::Blocked { .. }
        | task::State::Completed { .. }
        | task::State::Skipped { .. }
        | task::State::Cancelled => None,
    }
}
