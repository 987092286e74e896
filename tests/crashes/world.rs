//! A forge, and the service beside it as a process that can be killed.

use crate::{beside::Beside, pipes::Pipes, story::Story};
use forge::FeedEvent;
use secrecy::ExposeSecret;
use sqlx::{Connection, SqliteConnection};
use std::{ops::Deref, path::PathBuf, time::Duration};
use support::folder::folder;
use tokio::{process::Child, sync::broadcast};

/// Who may not label, resume or merge.
pub const EVE: &str = "eve";

/// How long a look into the service's database is good for when the forge is silent.
const LOOK: Duration = Duration::from_millis(25);

/// Where a story is played.
pub struct World {
    beside: Beside,
    /// More variables of the service.
    variables: Vec<(&'static str, String)>,
    /// How those who wait are heard and let go.
    pub pipes: Pipes,
    news: broadcast::Receiver<FeedEvent>,
    service: Option<Child>,
    starts: u32,
    /// What looks into the service's database. It ends with the service, which at its start is to find nobody there.
    looking: Option<SqliteConnection>,
}

impl Deref for World {
    type Target = Beside;

    fn deref(&self) -> &Beside {
        &self.beside
    }
}

impl World {
    /// A forge with the story's repository and people; the service is not started yet.
    pub async fn new(story: &Story) -> Self {
        let folder = folder("autobuild-crashes-");
        let variables = story.agents(folder.path());
        let files = story.files(folder.path());
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let beside = Beside::new(crate::PRODUCT, folder, &files).await;
        beside.forge.create_user(EVE);
        Self {
            news: beside.forge.subscribe(),
            variables,
            pipes: Pipes::new(beside.folder.path()),
            beside,
            service: None,
            starts: 0,
            looking: None,
        }
    }

    /// Sets a variable of the service, from its next start on.
    pub fn set(&mut self, name: &'static str, value: &str) {
        self.variables.push((name, value.to_owned()));
    }

    /// Where the service listens.
    pub fn address(&self) -> &str {
        &self.listen
    }

    /// The private keys of both Apps.
    pub fn private_keys(&self) -> [String; 2] {
        self.apps
            .each_ref()
            .map(|app| app.private_key.expose_secret().to_owned())
    }

    /// Starts the service. It need not be waited for: the forge delivers until it is acknowledged.
    pub fn start(&mut self) {
        self.starts += 1;
        let log = std::fs::File::create(self.log_file(self.starts)).unwrap();
        // Programs of the stories wait on pipes in a folder that isolation would keep from them.
        let mut service = self.service("0", log);
        self.service = Some(service.envs(self.variables.iter().cloned()).spawn().unwrap());
    }

    /// From the next start on, the service reads the log of deliveries when it starts, and after that once an hour.
    pub fn replay(&mut self) {
        self.variables.push(("AUTOBUILD_REPLAY_SECONDS", "3600".to_owned()));
    }

    /// SIGKILL, and waits until the process is gone.
    pub async fn kill(&mut self) {
        self.look_away().await;
        let mut child = self.service.take().expect("the service runs");
        child.kill().await.unwrap();
    }

    async fn look_away(&mut self) {
        if let Some(looking) = self.looking.take() {
            drop(looking.close().await);
        }
    }

    /// SIGTERM.
    pub fn terminate(&mut self) {
        let child = self.service.as_ref().expect("the service runs");
        let id = child.id().and_then(|id| i32::try_from(id).ok()).unwrap();
        let pid = rustix::process::Pid::from_raw(id).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    }

    /// Waits until no delivery is under way and nothing is left to do.
    pub async fn rest(&mut self) {
        while !self.rests().await {
            let child = self.service.as_mut().expect("the service runs");
            tokio::select! {
                _ = self.news.recv() => {}
                () = tokio::time::sleep(LOOK) => {}
                ended = child.wait() => panic!("the service ended by itself: {ended:?}\n{}", self.log()),
            }
        }
    }

    /// As [`World::rest`], unless a program says first that it runs; gives its name.
    pub async fn rest_or_started(&mut self) -> Option<String> {
        while !self.rests().await {
            let child = self.service.as_mut().expect("the service runs");
            tokio::select! {
                name = self.pipes.started() => return Some(name),
                _ = self.news.recv() => {}
                () = tokio::time::sleep(LOOK) => {}
                ended = child.wait() => panic!("the service ended by itself: {ended:?}\n{}", self.log()),
            }
        }
        None
    }

    /// A delivery is stored with its work and work ends with what follows from it, so nothing hides between two looks.
    async fn rests(&mut self) -> bool {
        self.forge.deliveries_under_way() == 0 && self.unfinished().await == Some(0)
    }

    /// Waits until the service exits by itself, without an error.
    pub async fn exits(&mut self) {
        self.look_away().await;
        let mut child = self.service.take().expect("the service was started");
        let status = child.wait().await.unwrap();
        assert!(status.success(), "{status}\n{}", self.log());
    }

    /// Effects that wait or run; none while there is no database.
    async fn unfinished(&mut self) -> Option<i64> {
        let mut looking = match self.looking.take() {
            Some(looking) => looking,
            None => self.open().await?,
        };
        let count = sqlx::query_scalar("SELECT count(*) FROM effect WHERE state IN ('ready', 'running')")
            .fetch_one(&mut looking)
            .await
            .ok();
        match count {
            Some(_) => self.looking = Some(looking),
            None => drop(looking.close().await),
        }
        count
    }

    /// The effects that were given up, with the reason.
    pub async fn given_up(&self) -> Vec<(String, String)> {
        let mut database = self.open().await.unwrap();
        sqlx::query_as("SELECT id, coalesce(last_error, '') FROM effect WHERE state = 'failed'")
            .fetch_all(&mut database)
            .await
            .unwrap()
    }

    /// The most often that anything failed, and that anything was cut off.
    pub async fn most_tries(&self) -> (i64, i64) {
        let mut database = self.open().await.unwrap();
        sqlx::query_as("SELECT max(attempt), max(crashes) FROM effect")
            .fetch_one(&mut database)
            .await
            .unwrap()
    }

    /// The states of a role's runs in the ledger, in the order of the alphabet.
    pub async fn runs(&self, role: &str) -> Vec<String> {
        let mut database = self.open().await.unwrap();
        sqlx::query_scalar("SELECT state FROM run WHERE role = $1 ORDER BY state")
            .bind(role)
            .fetch_all(&mut database)
            .await
            .unwrap()
    }

    fn log_file(&self, start: u32) -> PathBuf {
        self.folder.path().join(format!("service-{start}.log"))
    }

    /// What the service said, start by start.
    pub fn log(&self) -> String {
        let of = |start| std::fs::read_to_string(self.log_file(start)).unwrap_or_default();
        (1..=self.starts)
            .map(|start| format!("--- start {start}\n{}", of(start)))
            .collect()
    }
}
