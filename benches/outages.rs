//! How long work is interrupted if a replica is killed or if GitHub is unavailable for two minutes. Also, how many
//! deliveries a restart of one process, or of two behind one address, cuts off. All settings have their defaults,
//! except those that the code names.
//!
//! Arguments: `killed`, `away`, `restart`, `rolled`; without any, all.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that cannot go on has failed"
)]

mod support;

use ::support::{
    beside::{Beside, MONA, Product, REPO},
    pipes::Pipes,
    postgres,
    relay::{Relay, Target},
};
use forge::{Fault, Mishap};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection, PgConnection};
use std::{
    fs::File,
    path::Path,
    time::{Duration, Instant},
};
use tokio::process::{Child, Command};

const DELIVERIES: usize = 1_000;

/// How long GitHub is unavailable.
const AWAY: Duration = Duration::from_secs(120);

/// The longest wait for a figure.
const PATIENCE: Duration = Duration::from_secs(900);

const PRODUCT: Product = Product {
    program: env!("CARGO_BIN_EXE_autobuild"),
    permissions: autobuild::github::AUTOBUILD_PERMISSIONS,
    events: autobuild::github::AUTOBUILD_EVENTS,
    coach_permissions: autobuild::github::COACH_PERMISSIONS,
};

const AGENTS: &str = r#"
- role: planner
  answer:
    name: Count
    tasks:
      - id: TASK-001
        name: Count
        type: scaffolding
        acceptance_criteria: [{ text: count.sh is there, check: { file: count.sh } }]
        files: [count.sh]
        factors: { integration_points: 0, tests: unit, risks: [] }
- role: coach
  task: TASK-001
  answer: { decision: approve, summary: Fine., criteria: [{ criterion: 1, met: true, evidence: count.sh }] }
"#;

/// A Player that reports where it runs, and waits until it may continue.
const PLAYER: &str = r#"
pwd > FOLDER/started
read -r _ < FOLDER/go
echo 'wc -l' > count.sh
echo '{"summary": "It counts.", "files_modified": [], "files_created": ["count.sh"], "ready_for_validation": true}'
"#;

#[tokio::main]
async fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|given| !given.starts_with("--")).collect();
    let is_wanted = |what: &str| given.is_empty() || given.iter().any(|given| given == what);
    if is_wanted("killed") {
        killed().await;
    }
    if is_wanted("away") {
        away().await;
    }
    if is_wanted("restart") {
        roll("a restart", Database::Sqlite).await;
    }
    if is_wanted("rolled") {
        roll("two replicas rolled", Database::Postgres(postgres::database().await)).await;
    }
}

async fn beside() -> Beside {
    let files = [
        ("README.md", "# tally\n"),
        ("run.sh", "echo 'ok 1 - all'\necho 1..1\n"),
        (".github/autobuild.yml", "mode: standard\nci: ignore\ntest: sh run.sh\n"),
    ];
    Beside::new(PRODUCT, tempfile::tempdir().expect("a folder"), &files).await
}

/// Returns the service with the agents of this bench, with its data in `name`.
fn service(beside: &Beside, name: &str) -> Command {
    let folder = beside.folder.path();
    std::fs::write(folder.join("agents.yml"), AGENTS).expect("a script");
    let player = PLAYER.replace("FOLDER", &folder.display().to_string());
    std::fs::write(folder.join("player.sh"), player).expect("a script");
    let log = File::options().create(true).append(true).open(folder.join("log"));
    let mut service = beside.service("0", log.expect("a log"));
    service
        .env("AUTOBUILD_DATA_DIR", folder.join(name))
        .env("AUTOBUILD_AGENT", format!("scripted:{}", folder.join("agents.yml").display()))
        .env("AUTOBUILD_AGENT_PLAYER", format!("command:sh {}", folder.join("player.sh").display()));
    service
}

fn label(beside: &Beside) -> u64 {
    let mona = beside.forge.as_user(MONA).unwrap();
    let issue = mona.open_issue(REPO, "Count", "A counter, please.", &[]).unwrap();
    mona.label(REPO, issue, "autobuild").unwrap();
    issue
}

/// Waits until something holds, and returns how long that took.
async fn until<F: Future<Output = bool>>(holds: impl Fn() -> F) -> Duration {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < PATIENCE, "this does not come");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    begun.elapsed()
}

async fn pulls(beside: &Beside) -> usize {
    let pulls = beside.forge.look(REPO, "pulls").await.unwrap();
    pulls.as_array().map_or(0, Vec::len)
}

fn signal(child: &Child, signal: Signal) {
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    kill_process(pid.expect("it runs"), signal).expect("a signal");
}

/// A replica is killed while its Player runs: the other one runs it again.
async fn killed() {
    let beside = beside().await;
    let database = postgres::database().await;
    let mut pipes = Pipes::new(beside.folder.path());
    let host = beside.listen.split(':').next().unwrap_or_default();
    let mut replicas = Vec::new();
    for (name, listen) in [("one", beside.listen.clone()), ("two", format!("{host}:7071"))] {
        let mut replica = service(&beside, name);
        replica.env("AUTOBUILD_DATABASE_URL", &database).env("AUTOBUILD_LISTEN", listen);
        replicas.push((name, replica.spawn().expect("the service starts")));
    }
    label(&beside);
    let home = pipes.started().await;
    for (name, replica) in &mut replicas {
        if Path::new(&home).iter().any(|part| part == *name) {
            replica.start_kill().expect("killed");
        }
    }
    let begun = Instant::now();
    let other = pipes.started().await;
    println!("killed replica: its Player runs elsewhere after {:.1?}", begun.elapsed());
    assert_ne!(home, other);
}

/// GitHub answers 502 while a Player ends.
async fn away() {
    let beside = beside().await;
    let mut pipes = Pipes::new(beside.folder.path());
    let _service = service(&beside, "data").spawn().expect("the service starts");
    label(&beside);
    pipes.started().await;
    let fault = beside.forge.order(Fault::on("*", "*", Mishap::fail(502)).always());
    pipes.go().await;
    tokio::time::sleep(AWAY).await;
    fault.withdraw();
    let took = until(async || pulls(&beside).await > 0).await;
    println!("GitHub away for {AWAY:?}: the pull request is opened {took:.1?} after it is back");
}

/// The database of a service's replicas.
enum Database {
    /// For one replica.
    Sqlite,
    /// For two replicas.
    Postgres(String),
}

/// Replicas behind one address. One after the other is stopped and started again while deliveries arrive.
struct Rolled<'a> {
    beside: &'a Beside,
    database: Database,
    replicas: Vec<Child>,
}

impl<'a> Rolled<'a> {
    async fn start(beside: &'a Beside, database: Database) -> Self {
        let count = match database {
            Database::Sqlite => 1,
            Database::Postgres(_) => 2,
        };
        let targets = (0..count).map(|number| Target::Tcp(listen(beside, number)));
        Relay::start(&beside.listen, targets.collect()).await;
        let mut rolled = Self { beside, database, replicas: Vec::new() };
        for number in 0..count {
            let replica = rolled.replica(number);
            rolled.replicas.push(replica);
        }
        rolled
    }

    fn replica(&self, number: usize) -> Child {
        let mut replica = service(self.beside, &format!("data-{number}"));
        replica.env("AUTOBUILD_LISTEN", listen(self.beside, number)).env("AUTOBUILD_REPLAY_SECONDS", "5");
        if let Database::Postgres(url) = &self.database {
            replica.env("AUTOBUILD_DATABASE_URL", url);
        }
        replica.spawn().expect("the service starts")
    }

    /// Starts the replicas again that have ended.
    fn start_again(&mut self) {
        for number in 0..self.replicas.len() {
            if self.replicas[number].try_wait().expect("a child").is_some() {
                self.replicas[number] = self.replica(number);
            }
        }
    }

    async fn stored(&self) -> usize {
        let count = "SELECT count(*) FROM delivery WHERE event = 'issue_comment'";
        let count: i64 = match &self.database {
            Database::Sqlite => {
                let Some(mut database) = self.beside.open().await else {
                    return 0;
                };
                sqlx::query_scalar(count).fetch_one(&mut database).await.unwrap_or(0)
            }
            Database::Postgres(url) => {
                let mut database = PgConnection::connect(url).await.expect("a connection");
                sqlx::query_scalar(count).fetch_one(&mut database).await.unwrap_or(0)
            }
        };
        usize::try_from(count).unwrap_or(0)
    }
}

/// Returns the address of a replica, on the host of the service.
fn listen(beside: &Beside, number: usize) -> String {
    let host = beside.listen.split(':').next().unwrap_or_default();
    format!("{host}:{}", 7071 + number)
}

async fn roll(what: &str, database: Database) {
    let beside = beside().await;
    beside.forge.set_retry_until_acknowledged(false);
    let mut rolled = Rolled::start(&beside, database).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let mona = beside.forge.as_user(MONA).unwrap();
    let issue = mona.open_issue(REPO, "Talk", "Nothing to build.", &[]).unwrap();
    let count = rolled.replicas.len();
    for number in 0..DELIVERIES {
        mona.comment(REPO, issue, &format!("/autobuild help {number}")).unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
        let stopped = (0..count).find(|replica| number == DELIVERIES * (replica + 1) / (count + 1));
        if let Some(stopped) = stopped {
            signal(&rolled.replicas[stopped], Signal::TERM);
        }
        rolled.start_again();
    }
    beside.forge.deliveries_idle().await;
    let all = beside.forge.deliveries("autobuild");
    let cut = all.iter().filter(|(_, _, _, acknowledged)| !acknowledged).count();
    println!("{what}: {cut} of {} deliveries were cut off", all.len());
    let took = until(async || rolled.stored().await >= DELIVERIES).await;
    println!("{what}: all {DELIVERIES} comments are stored {took:.1?} later");
}
