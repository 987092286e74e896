//! How long work stands still: a replica is killed, GitHub is away for two minutes, and how many deliveries a restart cuts
//! off. All settings are the usual ones, but for those that the code names.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that cannot go on has failed"
)]

mod support;

use ::support::{
    beside::{Beside, MONA, Product, REPO},
    pipes::Pipes,
    postgres,
};
use forge::{Fault, Mishap};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs::File,
    path::Path,
    time::{Duration, Instant},
};
use tokio::process::{Child, Command};

const DELIVERIES: usize = 1_000;

/// How long GitHub is away.
const AWAY: Duration = Duration::from_secs(120);

/// How long a figure may be waited for.
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

/// A Player that says where it runs, and waits until it may go on.
const PLAYER: &str = r#"
pwd > FOLDER/started
read -r _ < FOLDER/go
echo 'wc -l' > count.sh
echo '{"summary": "It counts.", "files_modified": [], "files_created": ["count.sh"], "ready_for_validation": true}'
"#;

#[tokio::main]
async fn main() {
    killed().await;
    away().await;
    restarted().await;
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
        .env(
            "AUTOBUILD_AGENT",
            format!("scripted:{}", folder.join("agents.yml").display()),
        )
        .env(
            "AUTOBUILD_AGENT_PLAYER",
            format!("command:sh {}", folder.join("player.sh").display()),
        );
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
        replica
            .env("AUTOBUILD_DATABASE_URL", &database)
            .env("AUTOBUILD_LISTEN", listen);
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
    println!(
        "killed replica: its Player runs elsewhere after {:.1?}",
        begun.elapsed()
    );
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

/// The only service is told to stop, and started again, while deliveries arrive.
async fn restarted() {
    let beside = beside().await;
    beside.forge.retry_deliveries(false);
    let mut old = service(&beside, "data");
    let mut old = old
        .env("AUTOBUILD_REPLAY_SECONDS", "5")
        .spawn()
        .expect("the service starts");
    tokio::time::sleep(Duration::from_secs(5)).await;
    let mona = beside.forge.as_user(MONA).unwrap();
    let issue = mona.open_issue(REPO, "Talk", "Nothing to build.", &[]).unwrap();
    let half = DELIVERIES / 2;
    let mut new = None;
    for number in 0..DELIVERIES {
        mona.comment(REPO, issue, &format!("/autobuild help {number}")).unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
        if number == half {
            signal(&old, Signal::TERM);
        }
        if number >= half && new.is_none() && old.try_wait().expect("a child").is_some() {
            let mut next = service(&beside, "data");
            new = Some(
                next.env("AUTOBUILD_REPLAY_SECONDS", "5")
                    .spawn()
                    .expect("the service starts"),
            );
        }
    }
    beside.forge.deliveries_idle().await;
    let cut = || {
        let all = beside.forge.deliveries("autobuild");
        all.iter().filter(|(_, _, _, acknowledged)| !acknowledged).count()
    };
    println!("a restart: {} of {DELIVERIES} deliveries were cut off", cut());
    let took = until(async || {
        let stored = beside.open().await;
        let Some(mut database) = stored else { return false };
        let read = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM delivery WHERE event = 'issue_comment'");
        let count = read.fetch_one(&mut database).await.unwrap_or(0);
        usize::try_from(count).unwrap_or(0) >= DELIVERIES
    })
    .await;
    println!("all {DELIVERIES} are stored {took:.1?} later");
    drop(new);
}
