//! The buttons on the forge's pages: the commands that AutoBuild would follow there now.

use crate::engine::Engine;
use domain::{
    command,
    command::{Button, Command, Parsed},
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

const ON_FEATURES: [QuickReply; 5] = [
    reply("Approve the plan", "/autobuild approve"),
    like(Button::RunCi, reply("Let CI run", "/autobuild ci")),
    reply("Resume", "/autobuild resume"),
    reply("Pause", "/autobuild pause"),
    reply("Cancel", "/autobuild cancel"),
];

const ON_TASKS: [QuickReply; 3] = [
    reply("Approve in the Coach's place", "/autobuild approve"),
    like(Button::Resume, reply("Resume", "/autobuild resume")),
    like(Button::Retry, reply("Try again from the start", "/autobuild retry")),
];

const fn reply(label: &'static str, text: &'static str) -> QuickReply {
    QuickReply { label, text, like: None }
}

const fn like(button: Button, reply: QuickReply) -> QuickReply {
    QuickReply { like: Some(button.identifier()), ..reply }
}

/// The source of the buttons, once there is an engine.
#[derive(Clone, Default)]
pub(super) struct Offers(Arc<OnceLock<Arc<Engine>>>);

impl Offers {
    /// Sets the engine that decides about the buttons.
    pub(super) fn begin(&self, engine: &Arc<Engine>) {
        let _ = self.0.set(engine.clone());
    }

    /// Returns the function that gives a page its buttons.
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

/// Returns the commands that would be followed; `None` if there is no Feature.
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

/// Returns the Feature of an issue or pull request, and the pull request's task.
async fn place(engine: &Engine, topic: Topic) -> Option<(FeatureKey, Option<TaskId>)> {
    let repo = RepoId(topic.repo);
    if let Some(found) = engine.store.by_pull(repo, PullNumber(topic.number)).await.ok()? {
        return Some((found.feature.key, found.task));
    }
    let row = engine.store.latest_run(repo, IssueNumber(topic.number)).await.ok()??;
    Some((row.key, None))
}

/// `true` if the Feature would follow the command. Nothing is changed.
fn is_obeyed(feature: &Feature, command: Command, on: Target, now: Millis) -> bool {
    let said = Commanded {
        command,
        on,
        thread: Thread::Issue(feature.key.issue),
        to: ReplyTo::Comment(CommentId(0)),
        by: User { id: UserId(0), login: String::new() },
        written_at: now,
        rules: None,
        settings: None,
        exposure: None,
        snapshot: None,
        newer: NewerRun::None,
    };
    let step = step(feature.clone(), Event::Commanded(Box::new(said)), now);
    !step.effects.iter().any(|effect| matches!(effect, Effect::Reply { reply: Reply::Refused(_), .. }))
}
