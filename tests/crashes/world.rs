//! A forge, and the service beside it as a process that can be killed.

use crate::{
    beside::{Beside, REPO},
    database::Database,
    pipes::Pipes,
    relay::{Relay, Target},
    story::Story,
};
use forge::FeedEvent;
use rustix::process::{Pid, Signal, kill_process};
use secrecy::ExposeSecret;
use sqlx::{Connection, PgConnection};
use std::{
    collections::BTreeMap,
    fs::File,
    ops::Deref,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};
use support::{folder::folder, postgres};
use tokio::{
    process::{Child, Command},
    sync::broadcast,
};

/// A person who may not label, resume or merge.
pub const EVE: &str = "eve";

/// How long the result of a database query is reused while the forge gets no calls.
const LOOK: Duration = Duration::from_millis(25);

/// The lease of services on PostgreSQL: short, since the work of a killed service waits until it ends.
pub const LEASE_SECONDS: &str = "2";

/// The number of services of a story, and their database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One service on a file.
    Sqlite,
    /// One service on PostgreSQL.
    Postgres,
    /// This number of services on PostgreSQL, with a data folder for each start.
    Machines(usize),
}

/// The processes that end or freeze together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only the service.
    Process,
    /// The service and every program that it started, as if its machine were lost.
    Machine,
}

/// A running service.
struct Service {
    child: Child,
    listen: String,
}

impl Service {
    /// Returns its process id; 0 if it has ended.
    fn id(&self) -> u32 {
        self.child.id().unwrap_or_default()
    }
}

/// The world of a story.
pub struct World {
    beside: Beside,
    /// More variables of the service.
    variables: Vec<(&'static str, String)>,
    /// The pipes through which waiting programs report and are let go.
    pub pipes: Pipes,
    news: broadcast::Receiver<FeedEvent>,
    place: Place,
    /// The address of the database, unless it is a file.
    database_url: Option<String>,
    /// The address to which the forge delivers if more than one service may answer.
    relay: Option<Relay>,
    services: Vec<Service>,
    starts: u32,
    /// A shell that starts the service, if files of the service may stop growing.
    shell: Option<&'static str>,
    /// A connection that reads the service's database. It ends with the service, which must find no other connection at
    /// its start.
    looking: Option<Database>,
}

impl Deref for World {
    type Target = Beside;

    fn deref(&self) -> &Beside {
        &self.beside
    }
}

impl World {
    /// Creates a forge with the story's repository and people; the service is not started yet.
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
        beside.forge.set_ci(REPO, story.ci).unwrap();
        let database_url = match place {
            Place::Sqlite => None,
            Place::Postgres | Place::Machines(_) => Some(postgres::database().await),
        };
        if let Some(url) = &database_url {
            variables.push(("AUTOBUILD_DATABASE_URL", url.clone()));
            variables.push(("AUTOBUILD_LEASE_SECONDS", LEASE_SECONDS.to_owned()));
        }
        let relay = match place {
            Place::Sqlite | Place::Postgres => None,
            Place::Machines(_) => Some(Relay::start(&beside.listen, Vec::new()).await.0),
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

    /// From its next start on, the service gets an error instead of a signal if a file may not grow.
    pub fn survives_file_limits(&mut self) {
        self.shell = Some("trap '' XFSZ; exec \"$@\"");
    }

    /// From its next start on, the service reaches PostgreSQL through a relay that can be cut.
    pub async fn relay_database(&mut self) -> Relay {
        let (relay, url) = self.database_line().await;
        self.set("AUTOBUILD_DATABASE_URL", &url);
        relay
    }

    /// Creates a relay to PostgreSQL that can be cut; also returns the address of the database through it.
    pub async fn database_line(&self) -> (Relay, String) {
        Relay::to_database(self.database_url()).await
    }

    /// Returns the address of PostgreSQL without the relay.
    pub fn database_url(&self) -> &str {
        self.database_url.as_deref().expect("the story is on PostgreSQL")
    }

    /// Returns the address of the service.
    pub fn address(&self) -> &str {
        &self.listen
    }

    /// The private keys of both Apps.
    pub fn private_keys(&self) -> [String; 2] {
        self.apps.each_ref().map(|app| app.private_key.expose_secret().to_owned())
    }

    /// Starts the service, or the missing ones. No wait is needed, since the forge repeats deliveries until they are
    /// acknowledged.
    pub fn start(&mut self) {
        let most = match self.place {
            Place::Sqlite | Place::Postgres => 1,
            Place::Machines(most) => most,
        };
        while self.services.len() < most {
            self.start_one();
        }
    }

    fn start_one(&mut self) {
        let data = match &self.relay {
            Some(_) => format!("data-{}", self.starts + 1),
            None => "data".to_owned(),
        };
        self.start_in(&self.folder.path().join(data), Path::new(crate::PRODUCT.program), None);
    }

    /// Starts a service of this program with this data folder, and with its own database address if there is one;
    /// returns its process id.
    pub fn start_in(&mut self, data: &Path, program: &Path, database_url: Option<&str>) -> u32 {
        self.starts += 1;
        let log = File::create(self.log_file(self.starts)).unwrap();
        // Programs of the stories wait on pipes in a folder that isolation would hide from them.
        let mut service = self.service_of(program, "0", log);
        service.envs(self.variables.iter().cloned());
        service.envs(database_url.map(|url| ("AUTOBUILD_DATABASE_URL", url)));
        let mut listen = self.listen.clone();
        if self.relay.is_some() {
            let host = listen.split(':').next().unwrap_or_default();
            listen = format!("{host}:{}", 7070 + self.starts);
            share_scripts(&self.folder.path().join("data"), data);
            service.env("AUTOBUILD_LISTEN", &listen).env("AUTOBUILD_DATA_DIR", data);
        }
        if let Some(script) = self.shell {
            let log = File::options().append(true).open(self.log_file(self.starts)).unwrap();
            service = through_shell(script, &service, log);
        }
        let child = service.spawn().unwrap();
        let service = Service { child, listen };
        let id = service.id();
        self.services.push(service);
        self.lead();
        id
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

    /// Sends SIGKILL and waits until the process has ended. Of two services it kills the one that works, with priority
    /// for the forge's lane.
    pub async fn kill(&mut self) {
        self.kill_in("forge").await;
    }

    /// The same, with priority for this lane.
    pub async fn kill_in(&mut self, lane: &str) {
        let at = self.at_work(lane).await;
        let reach = match self.place {
            Place::Sqlite | Place::Postgres => Reach::Process,
            // If a machine is lost, a git that still pushes ends with it.
            Place::Machines(_) => Reach::Machine,
        };
        self.kill_process(self.services[at].id(), reach).await;
    }

    /// Kills a service by its process id, and waits until the process has ended.
    pub async fn kill_process(&mut self, process: u32, reach: Reach) {
        self.look_away().await;
        signal(process, reach, Signal::KILL);
        let at = self.services.iter().position(|service| service.id() == process);
        let mut service = self.services.remove(at.expect("the service runs"));
        service.child.wait().await.unwrap();
        self.lead();
    }

    /// Removes the services that have ended; returns their process ids and exit statuses.
    pub fn take_ended(&mut self) -> Vec<(u32, ExitStatus)> {
        let mut ended = Vec::new();
        self.services.retain_mut(|service| {
            let id = service.id();
            let status = service.child.try_wait().unwrap();
            ended.extend(status.map(|status| (id, status)));
            status.is_none()
        });
        if !ended.is_empty() {
            self.lead();
        }
        ended
    }

    /// Returns which service holds an effect now.
    async fn at_work(&mut self, lane: &str) -> usize {
        if self.services.len() < 2 {
            return 0;
        }
        let sql = format!("SELECT worker FROM effect WHERE state = 'running' ORDER BY lane <> '{lane}', seq");
        let workers: Vec<(String,)> = self.look(&sql).await.unwrap_or_default();
        let is_at_work = |service: &Service| {
            let name = format!("{}-", service.id());
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
    pub fn process(&self) -> Pid {
        let id = self.services.first().expect("the service runs").id();
        Pid::from_raw(i32::try_from(id).unwrap()).unwrap()
    }

    /// Sends SIGTERM.
    pub fn terminate(&mut self) {
        kill_process(self.process(), Signal::TERM).unwrap();
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

    /// Like [`World::rest`], but also ends when a program reports that it runs; returns that program's name.
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
        let ended = self.services.iter_mut().find_map(|service| service.child.try_wait().unwrap());
        assert!(ended.is_none(), "the service ended by itself: {ended:?}\n{}", self.log());
    }

    /// A delivery is stored together with its work, and work ends together with its effects, so nothing is missed
    /// between two queries.
    pub async fn rests(&mut self) -> bool {
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

    /// Returns the database's time in milliseconds, or 0 while there is no database.
    pub async fn clock(&mut self) -> i64 {
        let sql = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
        let now: Vec<(i64,)> = self.look(sql).await.unwrap_or_default();
        now.first().map_or(0, |(now,)| *now)
    }

    /// `true` if a replay and a sweep have both ended later than `time`.
    pub async fn has_asked_since(&mut self, time: i64) -> bool {
        let sql = "SELECT v FROM meta WHERE (k LIKE 'replay/%' OR k LIKE 'sweep/%') AND k NOT LIKE '%/turn'";
        let walks: Vec<(String,)> = self.look(sql).await.unwrap_or_default();
        let ended = walks.iter().filter(|(walk,)| {
            let walk: Option<serde_json::Value> = serde_json::from_str(walk).ok();
            walk.and_then(|walk| walk["ended_at"].as_i64()).is_some_and(|ended| ended > time)
        });
        ended.count() == 2
    }

    /// Describes the effects that have not ended, and the states of the Features.
    pub async fn describe(&mut self) -> String {
        let effects = "SELECT id || ' ' || state || ' attempt ' || attempt || ' crashes ' || crashes || ' at ' || run_at \
                       || ': ' || coalesce(last_error, '') FROM effect WHERE state IN ('ready', 'running')";
        let features = "SELECT id || ' ' || state FROM feature";
        let mut lines = vec![format!("at {}, {} deliveries", self.clock().await, self.forge.deliveries_under_way())];
        for sql in [effects, features] {
            let rows: Vec<(String,)> = self.look(sql).await.unwrap_or_default();
            lines.extend(rows.into_iter().map(|(line,)| line));
        }
        lines.join("\n")
    }

    /// Counts the agent runs that ended without a result that was kept.
    pub async fn lost_runs(&self) -> usize {
        let mut database = self.open_database().await.unwrap();
        let sql = "SELECT count(*) FROM run WHERE state <> 'ended' OR failure = 'result_lost'";
        let counted: Vec<(i64,)> = database.rows(sql).await.unwrap();
        usize::try_from(counted[0].0).unwrap()
    }

    /// Counts the effects that wait or run; `None` while there is no database.
    async fn unfinished(&mut self) -> Option<i64> {
        // In review, the repository's CI has two minutes to begin, and nothing waits for it.
        let sql = "SELECT count(*) FROM effect WHERE state = 'running' OR state = 'ready' AND kind <> 'read_ci'";
        let counted: Vec<(i64,)> = self.look(sql).await?;
        counted.first().map(|(count,)| *count)
    }

    /// Reads with the connection that is kept between queries; `None` while there is no database.
    pub async fn look<T>(&mut self, sql: &str) -> Option<Vec<T>>
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

    /// Counts all effects by kind.
    pub async fn effects(&self) -> BTreeMap<String, usize> {
        let mut database = self.open_database().await.unwrap();
        let sql = "SELECT kind, count(*) FROM effect GROUP BY kind";
        let counted: Vec<(String, i64)> = database.rows(sql).await.unwrap();
        let number = |(kind, count)| (kind, usize::try_from(count).unwrap());
        counted.into_iter().map(number).collect()
    }

    /// Returns the effects that were given up, with the reasons.
    pub async fn given_up(&self) -> Vec<(String, String)> {
        let mut database = self.open_database().await.unwrap();
        let sql = "SELECT id, coalesce(last_error, '') FROM effect WHERE state = 'failed'";
        database.rows(sql).await.unwrap()
    }

    /// Returns the highest number of failures, and of interruptions, of one effect.
    pub async fn most_tries(&self) -> (i64, i64) {
        let mut database = self.open_database().await.unwrap();
        let most = database.rows("SELECT max(attempt), max(crashes) FROM effect").await;
        most.unwrap()[0]
    }

    /// Returns the states of a role's runs in the ledger, in alphabetical order.
    pub async fn runs(&self, role: &str) -> Vec<String> {
        let mut database = self.open_database().await.unwrap();
        let sql = format!("SELECT state FROM run WHERE role = '{role}' ORDER BY state");
        let states: Vec<(String,)> = database.rows(&sql).await.unwrap();
        states.into_iter().map(|(state,)| state).collect()
    }

    fn log_file(&self, start: u32) -> PathBuf {
        self.folder.path().join(format!("service-{start}.log"))
    }

    /// Returns the log of the service, by start.
    pub fn log(&self) -> String {
        let of = |start| std::fs::read_to_string(self.log_file(start)).unwrap_or_default();
        (1..=self.starts).map(|start| format!("--- start {start}\n{}", of(start))).collect()
    }
}

/// Makes scripted agents of several data folders share their steps, as if there were only one agent.
fn share_scripts(first: &Path, data: &Path) {
    let scripts = first.join("agents/scripts");
    for made in [&scripts, &data.join("agents")] {
        std::fs::create_dir_all(made).unwrap();
    }
    let link = data.join("agents/scripts");
    if !link.exists() {
        std::os::unix::fs::symlink(scripts, link).unwrap();
    }
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

/// Sends a signal to a service and to the processes within `reach`.
pub fn signal(process: u32, reach: Reach, signal: Signal) {
    let mut ids = vec![process];
    if reach == Reach::Machine {
        ids.extend(started_by(vec![process]));
    }
    for id in ids {
        let pid = i32::try_from(id).ok().and_then(Pid::from_raw).unwrap();
        // It may have ended meanwhile.
        let _ = kill_process(pid, signal);
    }
}

/// Returns all descendants of these processes.
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
