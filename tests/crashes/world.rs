//! A forge, and the service beside it as a process that can be killed.

use crate::pipes::Pipes;
use crate::story::Story;
use autobuild::forge::AppCredentials;
use autobuild::forge::FeedEvent;
use autobuild::forge::Forge;
use autobuild::forge::ForgeOptions;
use autobuild::forge::NewApp;
use autobuild::forge::RepoSource;
use autobuild::forge::Role;
use autobuild::forge::Settings;
use autobuild::github::AUTOBUILD_EVENTS;
use autobuild::github::AUTOBUILD_PERMISSIONS;
use autobuild::github::COACH_PERMISSIONS;
use secrecy::ExposeSecret;
use sqlx::Connection;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteConnectOptions;
use std::path::Path;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::process::Child;
use tokio::process::Command;
use tokio::sync::broadcast;

/// The repository of every story.
pub const REPO: &str = "acme/tally";
/// Who labels, resumes and merges.
pub const MONA: &str = "mona";
/// Who may not.
pub const EVE: &str = "eve";
/// What signs the webhooks.
pub const SECRET: &str = "It's a Secret to Everybody";

/// How long a look into the service's database is good for when the forge is silent.
const LOOK: Duration = Duration::from_millis(25);

/// Where a story is played.
pub struct World {
    /// The forge.
    pub forge: Forge,
    /// Everything on disk.
    pub folder: tempfile::TempDir,
    apps: (AppCredentials, AppCredentials),
    listen: String,
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

async fn fill(forge: &Forge, story: &Story, folder: &Path) {
    let files = story.files(folder);
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    forge
        .create_repo(REPO, RepoSource::Files(&files), Settings::default())
        .await
        .unwrap();
    forge.set_role(REPO, MONA, Role::Admin).unwrap();
}

impl World {
    /// A forge with the story's repository and people; the service is not started yet.
    #[allow(clippy::too_many_lines, reason = "one world, put together in order")]
    pub async fn new(story: &Story) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = ForgeOptions {
            retry_until_acknowledged: true,
            ..ForgeOptions::new(folder.path().join("forge"))
        };
        let forge = Forge::start(options).await.unwrap();
        forge.create_organization("acme");
        forge.create_user(MONA);
        forge.create_user(EVE);
        fill(&forge, story, folder.path()).await;
        let listen = own_address();
        let hook = format!("http://{listen}/webhook");
        let app = |slug, permissions, events, hook| {
            let credentials = forge
                .create_app(&NewApp {
                    slug,
                    owner: "acme",
                    permissions,
                    events,
                    hook,
                })
                .unwrap();
            forge.install(slug, "acme", None).unwrap();
            credentials
        };
        let apps = (
            app(
                "autobuild",
                AUTOBUILD_PERMISSIONS,
                AUTOBUILD_EVENTS,
                Some((hook.as_str(), SECRET)),
            ),
            app("autobuild-coach", COACH_PERMISSIONS, &[], None),
        );
        Self {
            news: forge.subscribe(),
            variables: story.agents(folder.path()),
            pipes: Pipes::new(folder.path()),
            forge,
            folder,
            apps,
            listen,
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
        [&self.apps.0, &self.apps.1].map(|app| app.private_key.expose_secret().to_owned())
    }

    /// Starts the service. It need not be waited for: the forge delivers until it is acknowledged.
    pub fn start(&mut self) {
        self.starts += 1;
        let log = std::fs::File::create(self.log_file(self.starts)).unwrap();
        let (app, coach) = &self.apps;
        let folder = self.folder.path();
        let child = Command::new(env!("CARGO_BIN_EXE_autobuild"))
            .arg("serve")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", folder)
            .env("NO_COLOR", "1")
            // Programs of the stories wait on pipes in a folder that isolation would keep from them.
            .env("AUTOBUILD_SANDBOX_MIN_LEVEL", "0")
            .env("AUTOBUILD_SANDBOX_MAX_LEVEL", "0")
            .env("AUTOBUILD_APP_ID", app.id.to_string())
            .env("AUTOBUILD_PRIVATE_KEY", app.private_key.expose_secret())
            .env("AUTOBUILD_WEBHOOK_SECRET", SECRET)
            .env("AUTOBUILD_COACH_APP_ID", coach.id.to_string())
            .env("AUTOBUILD_COACH_PRIVATE_KEY", coach.private_key.expose_secret())
            .env("AUTOBUILD_GITHUB_API_URL", self.forge.api_url())
            .env("AUTOBUILD_GITHUB_URL", self.forge.url())
            .env(
                "AUTOBUILD_DATABASE_URL",
                format!("sqlite:{}", self.database().display()),
            )
            .env("AUTOBUILD_DATA_DIR", folder.join("data"))
            .env("AUTOBUILD_LISTEN", &self.listen)
            .env("AUTOBUILD_WRITE_SPACING_MS", "0")
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::from(log))
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        self.service = Some(child);
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

    async fn open(&self) -> Option<SqliteConnection> {
        let options = SqliteConnectOptions::new().filename(self.database()).read_only(true);
        SqliteConnection::connect_with(&options).await.ok()
    }

    /// The service's database.
    pub fn database(&self) -> PathBuf {
        self.folder.path().join("autobuild.db")
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

/// An address of this machine's own network that no other world has, so that the hooks find the service again.
fn own_address() -> String {
    static WORLDS: AtomicU32 = AtomicU32::new(1);
    let world = WORLDS.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    format!(
        "127.{}.{}.{}:7070",
        1 + process % 250,
        process / 250 % 250,
        1 + world % 250
    )
}
