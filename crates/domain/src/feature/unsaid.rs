//! What AutoBuild could not say or do on GitHub as it should: it is said otherwise, or the work stops, or a person has to
//! do it; the Feature tells of all three.

use crate::{
    blocked::{BlockReason, Doing},
    feature::{
        feature::Feature,
        moves::{Step, unchanged},
        waves::on_task,
    },
    ids::{Emission, Millis, PullNumber, TaskId},
    task,
};
use serde::{Deserialize, Serialize};

/// The most that is remembered of one Feature.
const MOST: usize = 20;

/// Remembers it, once. An approved task whose verdict stands nowhere is not merged: it waits for a person.
pub(super) fn unsaid(mut feature: Feature, unsaid: Unsaid, at: Millis) -> Step {
    if !feature.is_unfinished() && !unsaid.what.outlasts_the_feature() {
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
    let emission = approved_run(feature, id)?;
    let reason = BlockReason::ForgeRefused {
        doing,
        said: unsaid.why.clone(),
    };
    Some((id, task::Event::Stuck { emission, reason }))
}

/// The merge that an approved task waits for.
fn approved_run(feature: &Feature, id: TaskId) -> Option<Emission> {
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

/// Something that could not be said or done as it should.
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

/// What AutoBuild says, and what it does to pull requests besides.
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
    /// The dismissal of the Coach's request for changes.
    Dismissal,
    /// The end of a pull request's draft mark.
    Ready,
    /// The close of a pull request.
    Close {
        /// Which: the task may have another one by now.
        pull: PullNumber,
    },
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
    /// What is not done, where nothing may be merged before it was said.
    pub(super) fn before_merge(self) -> Option<Doing> {
        match self {
            Self::Review => Some(Doing::PostReview),
            Self::Check => Some(Doing::PublishCheck),
            // A draft is not merged anyway: GitHub says so itself.
            Self::Report | Self::Call | Self::Living | Self::Dismissal | Self::Ready | Self::Close { .. } => None,
        }
    }

    /// Whether people still have to hear of it when the Feature has ended: pull requests stay as they are.
    pub(super) fn outlasts_the_feature(self) -> bool {
        match self {
            Self::Dismissal | Self::Ready | Self::Close { .. } => true,
            Self::Review | Self::Report | Self::Check | Self::Call | Self::Living => false,
        }
    }
}
