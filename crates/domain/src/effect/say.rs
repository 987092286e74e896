//! The texts that AutoBuild posts, the actions that only a person can do, and the record of texts that could not be
//! posted.

use crate::{
    blocked::WorkStep,
    effect::effect::Effect,
    feature::refusal::{Asker, Refusal},
    ids::{CommentId, IssueNumber, PullNumber, TaskId, TurnNumber},
};
use serde::{Deserialize, Serialize};
use text::{mistake::SettingsMistake, words};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReactionTarget {
    /// The labelled issue, or a pull request.
    Issue(IssueNumber),
    /// A comment that gives a command.
    Comment(CommentId),
}

words! {
    /// The reactions that AutoBuild uses, with GitHub's names.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Reaction {
        /// 👀: the request was seen.
        Eyes = "eyes",
        /// 🚀: the request was carried out.
        Rocket = "rocket",
        /// 😕: the request was refused.
        Confused = "confused",
    }
}

/// A conversation on GitHub; pull requests and issues share their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thread {
    Issue(IssueNumber),
    Pull(PullNumber),
}

impl Thread {
    pub fn number(&self) -> u64 {
        match self {
            Self::Issue(n) => n.0,
            Self::Pull(n) => n.0,
        }
    }
}

/// The fact that a reply answers. Each fact gets one reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyTo {
    Comment(CommentId),
    /// Any other fact, by its cause in the event log.
    Fact(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The list of commands, with the repository's settings.
    Help,
    /// The present state.
    Status,
    /// The reason why a command is refused.
    Refused(Refusal),
    /// The mistakes that make the repository's settings unreadable.
    BadSettings(Vec<SettingsMistake>),
}

/// Returns the answer to a request that is not carried out: 😕 on the comment, and one reply. On a public repository,
/// people with no more rights than the public get only 😕. Otherwise anyone could fill the thread.
pub fn answer(thread: Thread, to: ReplyTo, reply: Reply) -> Vec<Effect> {
    let is_public = matches!(&reply, Reply::Refused(Refusal::NoPermission { asker, .. }) if *asker == Asker::Anybody);
    let on = match &to {
        ReplyTo::Comment(comment) => Some(ReactionTarget::Comment(*comment)),
        ReplyTo::Fact(_) if is_public => Some(ReactionTarget::Issue(IssueNumber(thread.number()))),
        ReplyTo::Fact(_) => None,
    };
    let confused = on.map(|on| Effect::React { on, reaction: Reaction::Confused });
    let said = (!is_public).then_some(Effect::Reply { thread, to, reply });
    confused.into_iter().chain(said).collect()
}

/// Something that AutoBuild could not say or do as intended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedAct {
    /// The thing that it wanted to say or do.
    pub what: PublicAct,
    /// The task that it is about; `None` if it is about the Feature.
    pub task: Option<TaskId>,
    pub instead: Replacement,
    /// GitHub's error text.
    pub why: String,
}

/// A kind of thing that AutoBuild says, or does to a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PublicAct {
    /// A verdict, as a review.
    Review,
    /// A blocked report.
    Report,
    /// A check run.
    Check,
    /// A request to the person who labelled the issue to act.
    Call,
    /// The comment with plan and progress.
    Living,
    /// The dismissal of the Coach's request for changes.
    Dismissal,
    /// The end of a pull request's draft mark.
    Ready,
    /// The closing of a pull request.
    Close {
        /// The pull request. The task may have another one by now.
        pull: PullNumber,
    },
}

/// The replacement that was posted for something that could not be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replacement {
    /// A comment review by the AutoBuild App.
    CommentReview,
    PullComment,
    IssueComment,
    /// Nothing: every form was refused.
    Nothing,
}

impl PublicAct {
    /// Returns the step that failed, if a task may not be merged before this was posted.
    pub(crate) fn before_merge(self) -> Option<WorkStep> {
        match self {
            Self::Review => Some(WorkStep::PostReview),
            Self::Check => Some(WorkStep::PublishCheck),
            // GitHub itself refuses to merge a draft, so `Ready` needs no rule here.
            Self::Report | Self::Call | Self::Living | Self::Dismissal | Self::Ready | Self::Close { .. } => None,
        }
    }

    /// `true` if people have to know even after the Feature has ended that this failed, since the pull request stays as
    /// it is.
    pub(crate) fn outlasts_the_feature(self) -> bool {
        match self {
            Self::Dismissal | Self::Ready | Self::Close { .. } => true,
            Self::Review | Self::Report | Self::Check | Self::Call | Self::Living => false,
        }
    }
}

/// Something that only a person can do, and that AutoBuild waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Approve the plan.
    Approval { plan: u32 },
    /// Ask for another plan, since there is no valid one.
    NoPlan,
    /// Merge an approved task, as the setting `merge: human` demands.
    Merge {
        task: TaskId,
        /// The turn whose commit is approved.
        turn: TurnNumber,
    },
    /// Make a merge possible that a rule refused.
    MergeRefused {
        task: TaskId,
        /// The turn whose commit is approved.
        turn: TurnNumber,
    },
    /// Let CI run on the finished work.
    Ci,
    /// Review and merge the feature pull request.
    Review { pull: PullNumber },
}

impl Wait {
    /// Returns the task that waits; `None` if the Feature waits.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Merge { task, .. } | Self::MergeRefused { task, .. } => Some(*task),
            Self::Approval { .. } | Self::NoPlan | Self::Ci | Self::Review { .. } => None,
        }
    }
}
