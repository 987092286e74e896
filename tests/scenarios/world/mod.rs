//! The world of a story: forge, people, service, agents.

mod agents;
mod build;
mod look;
mod transcript;

pub use agents::{Plan, Task};
pub use build::{SHORT, Setup};

use agents::Script;
use autobuild::engine::Engine;
use domain::{
    feature::Feature,
    ids::{IssueNumber, RepoId},
};
use forge::{Forge, Person};
use std::{path::Path, sync::Arc, time::Duration};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The repository of every story, unless it is renamed.
pub const REPO: &str = "acme/shop";
/// The issue that most stories label.
pub const ISSUE: u64 = 1;
/// A person with write access.
pub const WRITER: &str = "wendy";
/// A person with administrator access.
pub const ADMIN: &str = "ada";
/// A person with read access.
pub const READER: &str = "rita";
/// A person without any role.
pub const STRANGER: &str = "sam";

/// Longer than any wait for rest; a story that takes this long hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Everything that runs in a story.
pub struct World {
    pub forge: Forge,
    pub engine: Arc<Engine>,
    /// More engines on the same database.
    pub replicas: Vec<Arc<Engine>>,
    pub script: Script,
    pub folder: tempfile::TempDir,
    /// The AutoBuild App's installation.
    pub installation: u64,
    /// The Coach App's, where there is one.
    pub coach_installation: Option<u64>,
    /// The repository's id, which a rename does not change.
    pub repo: RepoId,
    stop: CancellationToken,
    /// The tokens that end the work of each replica, including the first.
    drains: Vec<CancellationToken>,
    work: Vec<JoinHandle<()>>,
}

impl World {
    /// Creates the default world.
    pub async fn new() -> Self {
        Setup::new().build().await
    }

    /// Acts as the person of that login.
    pub fn by(&self, login: &str) -> Person<'_> {
        self.forge.as_user(login).unwrap()
    }

    /// Opens the issue and labels it as the writer, and waits until everything rests.
    pub async fn start(&self) {
        self.open_issue(WRITER, "Say hello in files");
        self.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
        self.settle().await;
    }

    /// Opens an issue as somebody; returns its number.
    pub fn open_issue(&self, login: &str, body: &str) -> u64 {
        self.by(login).open_issue(REPO, "Say hello", body, &[]).unwrap()
    }

    /// Comments as somebody and waits until everything rests; returns the comment's id.
    pub async fn say(&self, login: &str, number: u64, text: &str) -> u64 {
        let comment = self.by(login).comment(REPO, number, text).unwrap();
        self.settle().await;
        comment
    }

    /// Waits until no effect is due, running or waiting for a time, and no delivery is under way.
    pub async fn settle(&self) {
        if tokio::time::timeout(PATIENCE, self.rest()).await.is_err() {
            let open = self.engine.store.unfinished_effects().await.unwrap();
            let open: Vec<String> =
                open.iter().map(|effect| format!("{} {:?} {:?}", effect.id, effect.state, effect.last_error)).collect();
            panic!("this story does not come to rest; unfinished:\n{}", open.join("\n"));
        }
    }

    /// Waits until nothing is due or running; effects that wait for a time may be left.
    pub async fn idle(&self) {
        let store = &self.engine.store;
        let mut wakeups = store.wakeups();
        loop {
            self.forge.deliveries_idle().await;
            let tally = store.tally(None, self.engine.now()).await.unwrap();
            if tally.due + tally.running == 0 && self.forge.deliveries_under_way() == 0 {
                return;
            }
            wakeups.next().await;
        }
    }

    async fn rest(&self) {
        let store = &self.engine.store;
        let mut wakeups = store.wakeups();
        loop {
            self.forge.deliveries_idle().await;
            let tally = store.tally(None, self.engine.now()).await.unwrap();
            if tally.due + tally.waiting + tally.running == 0 && self.forge.deliveries_under_way() == 0 {
                return;
            }
            wakeups.next().await;
        }
    }

    /// Stops a replica as SIGTERM does; the first is 0. The others continue.
    pub fn drain(&self, replica: usize) {
        self.drains[replica].cancel();
    }

    /// The latest run of the story's issue.
    pub async fn feature(&self) -> Feature {
        self.feature_of(ISSUE).await.expect("there is a Feature")
    }

    /// The latest run of an issue, if there is one.
    pub async fn feature_of(&self, issue: u64) -> Option<Feature> {
        let row = self.engine.store.latest_run(self.repo, IssueNumber(issue)).await.unwrap()?;
        self.engine.feature(&row.key).await.unwrap()
    }

    /// The state of the story's Feature.
    pub async fn state(&self) -> String {
        self.feature().await.state.word().to_owned()
    }

    /// The states of the Feature's tasks, in order.
    pub async fn tasks(&self) -> Vec<String> {
        let feature = self.feature().await;
        feature.tasks.iter().map(|task| task.state.word().to_owned()).collect()
    }

    /// The number of a task's pull request.
    pub async fn pull(&self, task: u16) -> u64 {
        let feature = self.feature().await;
        let id = domain::ids::TaskId::Planned(task);
        let task = feature.task(id).expect("the task exists");
        task.pull.expect("the task has a pull request").0
    }

    /// The number of the feature pull request.
    pub async fn feature_pull(&self) -> u64 {
        self.feature().await.pull.expect("there is a feature pull request").0
    }

    /// The branch of a task.
    pub async fn branch(&self, task: u16) -> String {
        let feature = self.feature().await;
        let id = domain::ids::TaskId::Planned(task);
        feature.task(id).expect("the task exists").branch.clone()
    }

    /// Returns the folder in which agents and the story may leave files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends the story and asserts that everything rests, every script line was read, and the forge knew every call.
    pub async fn end(mut self) {
        self.settle().await;
        let unread = self.script.unread(&self.folder.path().join("data/agents/scripts"));
        assert!(unread.is_empty(), "unread script lines: {unread:#?}");
        let unknown = self.forge.unknown_calls();
        assert!(unknown.is_empty(), "calls that the forge does not know: {unknown:#?}");
        self.stop.cancel();
        for work in std::mem::take(&mut self.work) {
            work.await.unwrap();
        }
        for engine in self.replicas.iter().chain([&self.engine]) {
            engine.store.close().await;
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- what happened ---\n{}", self.happenings());
        }
        self.stop.cancel();
        self.work.iter().for_each(JoinHandle::abort);
    }
}
