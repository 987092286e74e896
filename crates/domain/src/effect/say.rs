//! What AutoBuild says where, and the effects that answer a command.

use crate::{
    effect::effect::Effect,
    feature::refusal::{Asker, Refusal},
    ids::{CommentId, IssueNumber, PullNumber},
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
