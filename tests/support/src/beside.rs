//! A forge with both Apps, and the service as a process beside it that can be killed.

use forge::{AppCredentials, Forge, ForgeOptions, NewApp, RepoSource, Role, Settings};
use secrecy::ExposeSecret;
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicU32, Ordering},
};
use tokio::process::Command;

/// The repository of every story.
pub const REPO: &str = "acme/tally";
/// The person who labels, resumes and merges.
pub const MONA: &str = "mona";
/// The secret that signs the webhooks.
pub const SECRET: &str = "It's a Secret to Everybody";

/// The program under test, and what its Apps need.
#[derive(Clone, Copy)]
pub struct Product {
    /// The built program.
    pub program: &'static str,
    /// The permissions of its App.
    pub permissions: &'static [(&'static str, &'static str)],
    /// The events that its App subscribes to.
    pub events: &'static [&'static str],
    /// The permissions of its Coach's App.
    pub coach_permissions: &'static [(&'static str, &'static str)],
}

/// A forge, and the settings of a service beside it.
pub struct Beside {
    product: Product,
    /// The forge.
    pub forge: Forge,
    /// The folder of everything on disk.
    pub folder: tempfile::TempDir,
    /// The Apps of AutoBuild and of its Coach.
    pub apps: [AppCredentials; 2],
    /// The address that the service listens on.
    pub listen: String,
}

impl Beside {
    /// Starts a forge with the repository, which holds these files, and with both Apps.
    pub async fn new(product: Product, folder: tempfile::TempDir, files: &[(&str, &str)]) -> Self {
        let listen = own_address();
        let options = ForgeOptions { retry_until_acknowledged: true, ..ForgeOptions::new(folder.path().join("forge")) };
        let forge = Forge::start(options).await.unwrap();
        forge.create_organization("acme");
        forge.create_user(MONA);
        let source = RepoSource::Files(files);
        forge.create_repo(REPO, source, Settings::default()).await.unwrap();
        forge.set_role(REPO, MONA, Role::Admin).unwrap();
        let hook = format!("http://{listen}/webhook");
        let app = |slug, permissions, events, hook| {
            let owner = "acme";
            let app = NewApp { slug, owner, permissions, events, hook };
            let credentials = forge.create_app(&app).unwrap();
            forge.install(slug, owner, None).unwrap();
            credentials
        };
        let hooked = Some((hook.as_str(), SECRET));
        let apps = [
            app("autobuild", product.permissions, product.events, hooked),
            app("autobuild-coach", product.coach_permissions, &[], None),
        ];
        Self { product, forge, folder, apps, listen }
    }

    /// Returns the command that starts the service at isolation `level`; its standard error goes to `log`.
    pub fn service(&self, level: &str, log: File) -> Command {
        self.service_of(Path::new(self.product.program), level, log)
    }

    /// Returns the same for the service of another program, such as the release before.
    pub fn service_of(&self, program: &Path, level: &str, log: File) -> Command {
        let mut service = self.command_of(program, "serve", level);
        service.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        service
    }

    /// Returns a command of the program under test with the service's settings.
    pub fn command(&self, command: &str, level: &str) -> Command {
        self.command_of(Path::new(self.product.program), command, level)
    }

    fn command_of(&self, program: &Path, command: &str, level: &str) -> Command {
        let [app, coach] = &self.apps;
        let folder = self.folder.path();
        let database = format!("sqlite:{}", self.database().display());
        let mut service = Command::new(program);
        service
            .arg(command)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", folder)
            .env("NO_COLOR", "1")
            .env("AUTOBUILD_SANDBOX_MIN_LEVEL", level)
            .env("AUTOBUILD_SANDBOX_MAX_LEVEL", level)
            .env("AUTOBUILD_APP_ID", app.id.to_string())
            .env("AUTOBUILD_PRIVATE_KEY", app.private_key.expose_secret())
            .env("AUTOBUILD_WEBHOOK_SECRET", SECRET)
            .env("AUTOBUILD_COACH_APP_ID", coach.id.to_string())
            .env("AUTOBUILD_COACH_PRIVATE_KEY", coach.private_key.expose_secret())
            .env("AUTOBUILD_GITHUB_API_URL", self.forge.api_url())
            .env("AUTOBUILD_GITHUB_URL", self.forge.url())
            .env("AUTOBUILD_DATABASE_URL", database)
            .env("AUTOBUILD_DATA_DIR", folder.join("data"))
            .env("AUTOBUILD_LISTEN", &self.listen)
            // Stories about the replay start it themselves.
            .env("AUTOBUILD_REPLAY_SECONDS", "0")
            .env("AUTOBUILD_SWEEP_SECONDS", "0")
            .env("AUTOBUILD_WRITE_SPACING_MS", "0")
            .kill_on_drop(true);
        service
    }

    /// Returns the path of the service's database.
    pub fn database(&self) -> PathBuf {
        self.folder.path().join("autobuild.db")
    }

    /// Opens the database for reading; `None` if it does not exist yet.
    pub async fn open(&self) -> Option<SqliteConnection> {
        let options = SqliteConnectOptions::new().filename(self.database()).read_only(true);
        SqliteConnection::connect_with(&options).await.ok()
    }
}

/// Returns a loopback address for one service, made from the process id and a counter, so that other tests do not use
/// it and the webhooks find a restarted service again.
fn own_address() -> String {
    static SERVICES: AtomicU32 = AtomicU32::new(1);
    let service = SERVICES.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    format!("127.{}.{}.{}:7070", 1 + process % 250, process / 250 % 250, 1 + service % 250)
}
