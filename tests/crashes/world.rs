//! A forge, and the service beside it as a process that can be killed.

use crate::{
    beside::Beside,
    database::Database,
    pipes::Pipes,
    relay::{Relay, Target},
    story::Story,
};
use forge::FeedEvent;
use secrecy::ExposeSecret;
use sqlx::{Connection, PgConnection};
use std::{
    fs::File,
    ops::Deref,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};
use support::{folder::folder, postgres};
use tokio::{
    process::{Child, Command},
    sync::broadcast,
};

/// Who may not label, resume or merge.
pub const EVE: &str = "eve";

/// How long a look into the service's database is good for when the forge is silent.
const LOOK: Duration = Duration::from_millis(25);

/// The lease of services on PostgreSQL: short, since the work of a killed one waits for it.
pub const LEASE_SECONDS: &str = "2";

/// Where the services of a story work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One service on a file.
    Sqlite,
    /// One service on PostgreSQL.
    Postgres,
    /// Two services on PostgreSQL, with a data folder for each start.
    TwoMachines,
}

/// A running service.
struct Service {
    child: Child,
    listen: String,
}

/// Where a story is played.
pub struct World {
    beside: Beside,
    /// More variables of the service.
    variables: Vec<(&'static str, String)>,
    /// How those who wait are heard and let go.
    pub pipes: Pipes,
    news: broadcast::Receiver<FeedEvent>,
    place: Place,
    /// The address of the database, unless it is a file.
    database_url: Option<String>,
    /// The address that the forge delivers to, where more than one service may answer.
    relay: Option<Relay>,
    services: Vec<Service>,
    starts: u32,
    /// A shell that starts the service, if files of the service may stop growing.
    shell: Option<&'static str>,
    /// What looks into the service's database. It ends with the service, which at its start is to find nobody there.
    looking: Option<Database>,
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
        Self::at(Place::Sqlite, story).await
    }

    /// The same with services at this place.
    pub async fn at(place: Place, story: &Story) -> Self {
        let folder = folder("autobuild-crashes-");
        let mut variables = story.agents(folder.path());
        let files = story.files(folder.path());
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let beside = Beside::new(crate::PRODUCT, folder, &files).await;
        beside.forge.create_user(EVE);
        let database_url = match place {
            Place::Sqlite => None,
            Place::Postgres | Place::TwoMachines => Some(postgres::database().await),
        };
        if let Some(url) = &database_url {
            variables.push(("AUTOBUILD_DATABASE_URL", url.clone()));
            variables.push(("AUTOBUILD_LEASE_SECONDS", LEASE_SECONDS.to_owned()));
        }
        let relay = match place {
            Place::Sqlite | Place::Postgres => None,
            Place::TwoMachines => Some(Relay::start(&beside.listen, Vec::new()).await.0),
        };
        Self {
            news: beside.forge.subscribe(),
            variables,
            pipes: Pipes::new(beside.folder.path()),
            beside,
            place,
            database_url,
            relay,
            services: Vec::new(),
            starts: 0,
            shell: None,
            looking: None,
        }
    }

    /// Sets a variable of the service, from its next start on.
    pub fn set(&mut self, name: &'static str, value: &str) {
        self.variables.push((name, value.to_owned()));
    }

    /// From its next start on, the service gets an error instead of a signal for a file that may not grow.
    pub fn survives_file_limits(&mut self) {
        self.shell = Some("trap '' XFSZ; exec \"$@\"");
    }

    /// From its next start on, the service reaches PostgreSQL through a line that can be cut.
    pub async fn relay_database(&mut self) -> Relay {
        let url = self.database_url.as_deref().expect("the story is on PostgreSQL");
        let mut url = url::Url::parse(url).unwrap();
        let folder = url
            .query_pairs()
            .find(|(name, _)| name == "host")
            .map(|(_, folder)| folder.into_owned());
        let target = match folder {
            Some(folder) => Target::Unix(format!("{folder}/.s.PGSQL.5432")),
            None => Target::Tcp(format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432))),
        };
        let (relay, address) = Relay::start("127.0.0.1:0", vec![target]).await;
        let (host, port) = address.split_once(':').unwrap();
        url.set_host(Some(host)).unwrap();
        url.set_port(port.parse().ok()).unwrap();
        url.set_query(None);
        self.set("AUTOBUILD_DATABASE_URL", url.as_str());
        relay
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

    /// Starts the service, or those that are missing. They need not be waited for: the forge delivers until it is
    /// acknowledged.
    pub fn start(&mut self) {
        let most = match self.place {
            Place::Sqlite | Place::Postgres => 1,
            Place::TwoMachines => 2,
        };
        while self.services.len() < most {
            self.start_one();
        }
        self.lead();
    }

    fn start_one(&mut self) {
        self.starts += 1;
        let log = File::create(self.log_file(self.starts)).unwrap();
        // Programs of the stories wait on pipes in a folder that isolation would keep from them.
        let mut service = self.service("0", log);
        service.envs(self.variables.iter().cloned());
        let mut listen = self.listen.clone();
        if self.relay.is_some() {
            let host = listen.split(':').next().unwrap_or_default();
            listen = format!("{host}:{}", 7070 + self.starts);
            let data = self.folder.path().join(format!("data-{}", self.starts));
            share_scripts(&self.folder.path().join("data"), &data);
            service.env("AUTOBUILD_LISTEN", &listen).env("AUTOBUILD_DATA_DIR", data);
        }
        if let Some(script) = self.shell {
            let log = File::options().append(true).open(self.log_file(self.starts)).unwrap();
            service = through_shell(script, &service, log);
        }
        let child = service.spawn().unwrap();
        self.services.push(Service { child, listen });
    }

    fn lead(&self) {
        if let Some(relay) = &self.relay {
            let targets = self.services.iter().map(|service| Target::Tcp(service.listen.clone()));
            relay.lead_to(targets.collect());
        }
    }

    /// From the next start on, the service reads the log of deliveries when it starts, and after that once an hour.
    pub fn replay(&mut self) {
        self.variables.push(("AUTOBUILD_REPLAY_SECONDS", "3600".to_owned()));
    }

    /// SIGKILL, and waits until the process is gone. Of two services it hits the one that works, in the forge's lane first.
    pub async fn kill(&mut self) {
        self.kill_in("forge").await;
    }

    /// The same, in this lane first.
    pub async fn kill_in(&mut self, lane: &str) {
        let at = self.at_work(lane).await;
        self.look_away().await;
        let mut service = self.services.remove(at);
        // A machine that is gone takes a git that still pushes with it.
        let rest = match self.place {
            Place::Sqlite | Place::Postgres => Vec::new(),
            Place::TwoMachines => started_by(service.child.id().into_iter().collect()),
        };
        service.child.start_kill().unwrap();
        for id in rest {
            let pid = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw).unwrap();
            // It may have ended meanwhile.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        service.child.wait().await.unwrap();
        self.lead();
    }

    /// Returns which service holds an effect now.
    async fn at_work(&mut self, lane: &str) -> usize {
        if self.services.len() < 2 {
            return 0;
        }
        let sql = format!("SELECT worker FROM effect WHERE state = 'running' ORDER BY lane <> '{lane}', seq");
        let workers: Vec<(String,)> = self.look(&sql).await.unwrap_or_default();
        let is_at_work = |service: &Service| {
            let name = format!("{}-", service.child.id().unwrap_or_default());
            workers.first().is_some_and(|(worker,)| worker.starts_with(&name))
        };
        self.services.iter().position(is_at_work).unwrap_or(0)
    }

    async fn look_away(&mut self) {
        if let Some(looking) = self.looking.take() {
            looking.close().await;
        }
    }

    /// Returns the process of the only service.
    pub fn process(&self) -> rustix::process::Pid {
        let child = &self.services.first().expect("the service runs").child;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).unwrap();
        rustix::process::Pid::from_raw(id).unwrap()
    }

    /// SIGTERM.
    pub fn terminate(&mut self) {
        rustix::process::kill_process(self.process(), rustix::process::Signal::TERM).unwrap();
    }

    /// Waits until no delivery is under way and nothing is left to do.
    pub async fn rest(&mut self) {
        while !self.rests().await {
            self.lives();
            tokio::select! {
                _ = self.news.recv() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// As [`World::rest`], unless a program says first that it runs; gives its name.
    pub async fn rest_or_started(&mut self) -> Option<String> {
        while !self.rests().await {
            self.lives();
            tokio::select! {
                name = self.pipes.started() => return Some(name),
                _ = self.news.recv() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
        None
    }

    fn lives(&mut self) {
        let ended = self
            .services
            .iter_mut()
            .find_map(|service| service.child.try_wait().unwrap());
        assert!(
            ended.is_none(),
            "the service ended by itself: {ended:?}\n{}",
            self.log()
        );
    }

    /// A delivery is stored with its work and work ends with what follows from it, so nothing hides between two looks.
    async fn rests(&mut self) -> bool {
        self.forge.deliveries_under_way() == 0 && self.unfinished().await == Some(0)
    }

    /// Waits until the service exits by itself, without an error.
    pub async fn exits(&mut self) {
        self.look_away().await;
        let mut service = self.services.pop().expect("the service was started");
        let status = service.child.wait().await.unwrap();
        assert!(status.success(), "{status}\n{}", self.log());
    }

    /// Waits until the database's clock has passed the end of a running effect's lease.
    pub async fn lease_ends(&mut self) {
        let now = match &self.database_url {
            Some(_) => "EXTRACT(EPOCH FROM clock_timestamp()) * 1000",
            None => "unixepoch('subsec') * 1000",
        };
        let sql = format!("SELECT count(*) FROM effect WHERE state = 'running' AND lease_until < {now}");
        loop {
            let ended: Vec<(i64,)> = self.look(&sql).await.unwrap_or_default();
            if ended.iter().any(|(count,)| *count > 0) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Effects that wait or run; none while there is no database.
    async fn unfinished(&mut self) -> Option<i64> {
        let sql = "SELECT count(*) FROM effect WHERE state IN ('ready', 'running')";
        let counted: Vec<(i64,)> = self.look(sql).await?;
        counted.first().map(|(count,)| *count)
    }

    /// Reads with the connection that is kept between two looks; `None` while there is no database.
    async fn look<T>(&mut self, sql: &str) -> Option<Vec<T>>
    where
        T: Send
            + Unpin
            + for<'r> sqlx::FromRow<'r, sqlx::sqlite::SqliteRow>
            + for<'r> sqlx::FromRow<'r, sqlx::postgres::PgRow>,
    {
        let mut looking = match self.looking.take() {
            Some(looking) => looking,
            None => self.open_database().await?,
        };
        match looking.rows(sql).await {
            Ok(rows) => {
                self.looking = Some(looking);
                Some(rows)
            }
            Err(_) => {
                looking.close().await;
                None
            }
        }
    }

    /// Opens the database for reading; `None` if it does not exist yet.
    pub async fn open_database(&self) -> Option<Database> {
        match &self.database_url {
            Some(url) => PgConnection::connect(url).await.ok().map(Database::Postgres),
            None => self.beside.open().await.map(Database::Sqlite),
        }
    }

    /// The effects that were given up, with the reason.
    pub async fn given_up(&self) -> Vec<(String, String)> {
        let mut database = self.open_database().await.unwrap();
        let sql = "SELECT id, coalesce(last_error, '') FROM effect WHERE state = 'failed'";
        database.rows(sql).await.unwrap()
    }

    /// The most often that anything failed, and that anything was cut off.
    pub async fn most_tries(&self) -> (i64, i64) {
        let mut database = self.open_database().await.unwrap();
        let most = database.rows("SELECT max(attempt), max(crashes) FROM effect").await;
        most.unwrap()[0]
    }

    /// The states of a role's runs in the ledger, in the order of the alphabet.
    pub async fn runs(&self, role: &str) -> Vec<String> {
        let mut database = self.open_database().await.unwrap();
        let sql = format!("SELECT state FROM run WHERE role = '{role}' ORDER BY state");
        let states: Vec<(String,)> = database.rows(&sql).await.unwrap();
        states.into_iter().map(|(state,)| state).collect()
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

/// Lets scripted agents of several data folders remember the same steps, as if there were one agent for all.
fn share_scripts(first: &Path, data: &Path) {
    let scripts = first.join("agents/scripts");
    for made in [&scripts, &data.join("agents")] {
        std::fs::create_dir_all(made).unwrap();
    }
    std::os::unix::fs::symlink(scripts, data.join("agents/scripts")).unwrap();
}

/// Returns a shell that runs the script and the service with the same settings.
fn through_shell(script: &str, service: &Command, log: File) -> Command {
    let service = service.as_std();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script, "sh"])
        .arg(service.get_program())
        .args(service.get_args())
        .env_clear()
        .envs(service.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .kill_on_drop(true);
    shell
}

/// Returns the processes that these started, and those that they started.
fn started_by(mut parents: Vec<u32>) -> Vec<u32> {
    let read = |id: u32| std::fs::read_to_string(format!("/proc/{id}/stat")).ok();
    let parent = |id: u32| -> Option<u32> { read(id)?.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok() };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let mut left: Vec<(u32, u32)> = all
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|id| Some((id, parent(id)?)))
        .collect();
    let mut found = Vec::new();
    while !parents.is_empty() {
        let (next, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, parent)| parents.contains(parent));
        parents = next.into_iter().map(|(id, _)| id).collect();
        found.extend(&parents);
        left = rest;
    }
    found
}
