//! How a command or a label that is not done is answered.

use crate::{
    effect::{
        effect::Effect,
        say::{ReactOn, Reaction, Reply, ReplyTo, Thread},
    },
    feature::refusal::{Asker, Refusal},
    ids::IssueNumber,
};

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
