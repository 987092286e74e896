//! The buttons of the forge's pages: the commands that AutoBuild would obey there now.

use crate::engine::Engine;
use domain::{
    command,
    command::{Command, Parsed},
    effect::{Effect, Reply, ReplyTo, Thread},
    feature::{
        Feature,
        event::{Commanded, Event, NewerRun, Target},
        step::step,
    },
    ids::{CommentId, FeatureKey, IssueNumber, Millis, PullNumber, RepoId, TaskId, User, UserId},
};
use forge::{QuickReply, Replies, Topic};
use std::sync::{Arc, OnceLock};

const ON_FEATURES: [QuickReply; 4] = [
    reply("Approve the plan", "/autobuild approve"),
    reply("Resume", "/autobuild resume"),
    reply("Pause", "/autobuild pause"),
    reply("Cancel", "/autobuild cancel"),
];

const ON_TASKS: [QuickReply; 3] = [
    reply("Approve in the Coach's place", "/autobuild approve"),
    reply("Resume", "/autobuild resume"),
    reply("Try again from the start", "/autobuild retry"),
];

const fn reply(label: &'static str, text: &'static str) -> QuickReply {
    QuickReply { label, text }
}

/// What the pages of a forge offer, as soon as there is an engine.
#[derive(Clone, Default)]
pub(super) struct Offers(Arc<OnceLock<Arc<Engine>>>);

impl Offers {
    /// From now on this engine is asked.
    pub(super) fn begin(&self, engine: &Arc<Engine>) {
        let _ = self.0.set(engine.clone());
    }

    /// The buttons of a page.
    pub(super) fn replies(&self) -> Replies {
        let engine = self.0.clone();
        Replies::by(move |topic| {
            let engine = engine.get().cloned();
            Box::pin(async move {
                match engine {
                    Some(engine) => offered(&engine, topic).await.unwrap_or_default(),
                    None => Vec::new(),
                }
            })
        })
    }
}

/// The commands that would be obeyed; none where there is no Feature.
async fn offered(engine: &Engine, topic: Topic) -> Option<Vec<QuickReply>> {
    let (key, task) = place(engine, topic).await?;
    let feature = engine.feature(&key).await.ok()??;
    let (all, on): (&[QuickReply], _) = match task {
        Some(task) => (&ON_TASKS, Target::Task(task)),
        None => (&ON_FEATURES, Target::Feature),
    };
    let now = engine.now();
    let is_obeyed = |reply: &&QuickReply| match command::parse(reply.text) {
        Parsed::Command(command) => is_obeyed(&feature, command, on, now),
        Parsed::None | Parsed::Malformed { .. } => false,
    };
    Some(all.iter().filter(is_obeyed).copied().collect())
}

/// The Feature of an issue, or of a pull request, and the task whose that is.
async fn place(engine: &Engine, topic: Topic) -> Option<(FeatureKey, Option<TaskId>)> {
    let repo = RepoId(topic.repo);
    if let Some(found) = engine.store.by_pull(repo, PullNumber(topic.number)).await.ok()? {
        return Some((found.feature.key, found.task));
    }
    let row = engine.store.latest_run(repo, IssueNumber(topic.number)).await.ok()??;
    Some((row.key, None))
}

/// Whether a Feature would do what the command says. Nothing is done.
fn is_obeyed(feature: &Feature, command: Command, on: Target, now: Millis) -> bool {
    let said = Commanded {
        command,
        on,
        thread: Thread::Issue(feature.key.issue),
        to: ReplyTo::Comment(CommentId(0)),
        by: User {
            id: UserId(0),
            login: String::new(),
        },
        written_at: now,
        rules: None,
        settings: None,
        snapshot: None,
        newer: NewerRun::None,
    };
    let step = step(feature.clone(), Event::Commanded(Box::new(said)), now);
    !step.effects.iter().any(|effect| {
        matches!(
            effect,
            Effect::Reply {
                reply: Reply::Refused(_),
                ..
            }
        )
    })
}
