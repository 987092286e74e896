//! What AutoBuild says and does on GitHub, and what is remembered where it could not.

use crate::{
    blocked::Doing,
    ids::{PullNumber, TaskId},
};
use serde::{Deserialize, Serialize};

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
