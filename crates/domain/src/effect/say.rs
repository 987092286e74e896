//! What AutoBuild says where, what only a person can do, and what is remembered where it could not speak.

use crate::{
    blocked::Doing,
    effect::effect::Effect,
    feature::refusal::{Asker, Refusal},
    ids::{CommentId, IssueNumber, PullNumber, TaskId, TurnNumber},
    mistake::SettingsMistake,
};
use serde::{Deserialize, Serialize};

/// Where a reaction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReactOn {
    /// The labelled issue, or a pull request.
    Issue(IssueNumber),
    /// A comment with a command.
    Comment(CommentId),
}

/// The reactions in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reaction {
    /// 👀: seen.
    Eyes,
    /// 🚀: done as asked.
    Rocket,
    /// 😕: refused.
    Confused,
}

impl Reaction {
    /// GitHub's word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Eyes => "eyes",
            Self::Rocket => "rocket",
            Self::Confused => "confused",
        }
    }
}

/// A conversation on GitHub; pull requests and issues share their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thread {
    /// An issue.
    Issue(IssueNumber),
    /// A pull request.
    Pull(PullNumber),
}

impl Thread {
    /// Its number in the repository.
    pub fn number(&self) -> u64 {
        match self {
            Self::Issue(n) => n.0,
            Self::Pull(n) => n.0,
        }
    }
}

/// The fact that a reply answers: one fact, one reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyTo {
    /// A comment.
    Comment(CommentId),
    /// Any other fact, by the cause that names it in the event log.
    Fact(String),
}

/// What a reply says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The commands with the repository's settings.
    Help,
    /// The state now.
    Status,
    /// A command that is not done, and why.
    Refused(Refusal),
    /// The repository's settings cannot be read; each mistake as a sentence.
    BadSettings(Vec<SettingsMistake>),
}

/// Answers what is not done: 😕 on a comment, and one reply. Anybody may write on a public repository: they get 😕 alone,
/// or else whoever likes could fill the thread.
pub fn answer(thread: Thread, to: ReplyTo, reply: Reply) -> Vec<Effect> {
    let is_public = matches!(
        &reply,
        Reply::Refused(Refusal::NoPermission {
            asker: Asker::Anybody,
            ..
        })
    );
    let on = match &to {
        ReplyTo::Comment(comment) => Some(ReactOn::Comment(*comment)),
        ReplyTo::Fact(_) if is_public => Some(ReactOn::Issue(IssueNumber(thread.number()))),
        ReplyTo::Fact(_) => None,
    };
    let confused = on.map(|on| Effect::React {
        on,
        reaction: Reaction::Confused,
    });
    let said = (!is_public).then_some(Effect::Reply { thread, to, reply });
    confused.into_iter().chain(said).collect()
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
    pub(crate) fn before_merge(self) -> Option<Doing> {
        match self {
            Self::Review => Some(Doing::PostReview),
            Self::Check => Some(Doing::PublishCheck),
            // A draft is not merged anyway: GitHub says so itself.
            Self::Report | Self::Call | Self::Living | Self::Dismissal | Self::Ready | Self::Close { .. } => None,
        }
    }

    /// Whether people still have to hear of it when the Feature has ended: pull requests stay as they are.
    pub(crate) fn outlasts_the_feature(self) -> bool {
        match self {
            Self::Dismissal | Self::Ready | Self::Close { .. } => true,
            Self::Review | Self::Report | Self::Check | Self::Call | Self::Living => false,
        }
    }
}

/// Something that only a person can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Approving the plan of this number.
    Approval {
        /// The plan's number.
        plan: u32,
    },
    /// Asking for another plan: there is no valid one.
    NoPlan,
    /// Merging an approved task: `merge: human`.
    Merge {
        /// The task.
        task: TaskId,
        /// The turn whose commit is approved.
        turn: TurnNumber,
    },
    /// Making way for a merge that a rule refused.
    MergeRefused {
        /// The task.
        task: TaskId,
        /// The turn whose commit is approved.
        turn: TurnNumber,
    },
    /// Reviewing and merging the feature pull request.
    Review {
        /// The pull request.
        pull: PullNumber,
    },
}

impl Wait {
    /// The task that waits; none where the Feature does.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Merge { task, .. } | Self::MergeRefused { task, .. } => Some(*task),
            Self::Approval { .. } | Self::NoPlan | Self::Review { .. } => None,
        }
    }
}
