//! The cost of a claim, of `/metrics` and of a story with five tasks while the database holds 1,000,000 old deliveries
//! and 10, 1,000 or 10,000 ended Features. Then the calls of a sweep for an unfinished Feature, and those of a story
//! with the usual pauses between writes.
//!
//! Arguments: the numbers of Features; without any, all three.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that cannot go on has failed"
)]

mod support;

use ::support::beside::{Beside, MONA, Product, REPO};
use autobuild::store::{ClaimRequest, Lane, LaneLimits, NewEffect, OpenOptions, Ordered, Outcome, Store};
use domain::ids::{InstallationId, Millis};
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use std::{
    fs::File,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Child,
};

const DELIVERIES: usize = 1_000_000;
const TASKS: usize = 5;
const CLAIMS: usize = 300;
const READINGS: usize = 15;

/// The sweeps of an hour at the usual pause of 240 seconds.
const SWEEPS: usize = 15;

/// The longest duration of a story.
const PATIENCE: Duration = Duration::from_secs(600);

const PRODUCT: Product = Product {
    program: env!("CARGO_BIN_EXE_autobuild"),
    permissions: autobuild::github::AUTOBUILD_PERMISSIONS,
    events: autobuild::github::AUTOBUILD_EVENTS,
    coach_permissions: autobuild::github::COACH_PERMISSIONS,
};

#[tokio::main]
async fn main() {
    let given: Vec<usize> = std::env::args().filter_map(|given| given.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![10, 1_000, 10_000] } else { given };
    for features in sizes {
        at_size(features).await;
    }
    println!("with the usual pause of 1,000 ms between two writes");
    let beside = beside().await;
    let _service = start(&beside, "0", "1000").await;
    story(&beside).await;
}

async fn beside() -> Beside {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("README.md", "# tally\n"),
        ("run.sh", "echo 'ok 1 - all'\necho 1..1\n"),
        (".github/autobuild.yml", "mode: standard\nci: ignore\ntest: sh run.sh\n"),
    ];
    Beside::new(PRODUCT, folder, &files).await
}

async fn at_size(features: usize) {
    let beside = beside().await;
    let claim = fill(&beside, features).await;
    println!("{features} ended Features, {DELIVERIES} old deliveries");
    println!("  a claim: median {claim:.2?} of {CLAIMS}");
    let mut service = start(&beside, "0", "0").await;
    let mut readings = Vec::new();
    for _ in 0..READINGS {
        readings.push(metrics(&beside).await.expect("figures").took);
    }
    println!("  /metrics: median {:.1?} of {READINGS}", support::percentile(&mut readings, 50));
    story(&beside).await;
    service.kill().await.expect("killed");
    let _service = start(&beside, "4", "0").await;
    sweeps(&beside).await;
}

/// Starts the service with this pause between sweeps, in seconds, 0 for none, and between writes, in milliseconds.
async fn start(beside: &Beside, sweep: &str, spacing: &str) -> Child {
    let script = beside.folder.path().join("agents.yml");
    std::fs::write(&script, agents()).expect("a script");
    let log = File::create(beside.folder.path().join("log")).expect("a log");
    let mut service = beside.service("0", log);
    service
        .env("AUTOBUILD_AGENT", format!("scripted:{}", script.display()))
        .env("AUTOBUILD_ADMIN_TOKEN", "a token for benches, long enough")
        .env("AUTOBUILD_SWEEP_SECONDS", sweep)
        .env("AUTOBUILD_WRITE_SPACING_MS", spacing);
    let service = service.spawn().expect("the service starts");
    while metrics(beside).await.is_none() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    service
}

/// Labels an issue and waits for the feature pull request.
async fn story(beside: &Beside) {
    let mona = beside.forge.as_user(MONA).unwrap();
    let issue = mona.open_issue(REPO, "Count", "Five counters, please.", &[]).unwrap();
    let before = beside.forge.calls().len();
    let begun = Instant::now();
    mona.label(REPO, issue, "autobuild").unwrap();
    let mut news = beside.forge.subscribe();
    while !is_in_review(beside).await {
        assert!(begun.elapsed() < PATIENCE, "the story does not end");
        let _ = tokio::time::timeout(Duration::from_millis(100), news.recv()).await;
    }
    let took = begun.elapsed();
    beside.forge.deliveries_idle().await;
    let calls = beside.forge.calls().split_off(before);
    let writes = calls.iter().filter(|call| call.writes()).count();
    println!("  label to in review, {TASKS} tasks: {took:.2?}; {} calls, {writes} of them writes", calls.len());
    for (kind, count) in support::count_by_kind(&calls) {
        println!("    {count:>3} {kind}");
    }
}

async fn is_in_review(beside: &Beside) -> bool {
    let pulls = beside.forge.look(REPO, "pulls").await.unwrap();
    let to_main = |pull: &serde_json::Value| pull.pointer("/base/ref").is_some_and(|base| base == "main");
    pulls.as_array().is_some_and(|pulls| pulls.iter().any(to_main))
}

/// Counts the calls while the Feature is in review, until as many sweeps have run as in an hour.
async fn sweeps(beside: &Beside) {
    tokio::time::sleep(Duration::from_secs(10)).await;
    let before = beside.forge.calls().len();
    let begun = Instant::now();
    let mut last = swept(beside).await;
    let mut seen = 0;
    while seen < SWEEPS {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let now = swept(beside).await;
        seen += usize::from(now != last);
        last = now;
    }
    let calls = beside.forge.calls().split_off(before);
    println!(
        "  {SWEEPS} sweeps of one unfinished Feature in {:.0?}: {} calls: {:?}",
        begun.elapsed(),
        calls.len(),
        support::count_by_kind(&calls)
    );
}

/// Returns when the last sweep ended, as printed; `None` before the first.
async fn swept(beside: &Beside) -> Option<String> {
    let figures = metrics(beside).await.expect("figures").text;
    let is_end = |line: &&str| line.starts_with("autobuild_sweep_ended_timestamp_seconds{");
    figures.lines().find(is_end).map(str::to_owned)
}

/// An answer of `/metrics`.
struct Reading {
    took: Duration,
    text: String,
}

/// Reads `/metrics`; `None` while the service does not answer there.
async fn metrics(beside: &Beside) -> Option<Reading> {
    let begun = Instant::now();
    let mut stream = TcpStream::connect(&beside.listen).await.ok()?;
    let request = "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer a token for benches, long \
                   enough\r\n\r\n";
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await.ok()?;
    let took = begun.elapsed();
    text.starts_with("HTTP/1.1 200").then_some(Reading { took, text })
}

/// Fills the database, and returns the median time of a claim.
async fn fill(beside: &Beside, features: usize) -> Duration {
    let url = format!("sqlite:{}", beside.database().display());
    let store = Store::open(&url, OpenOptions::default()).await.expect("a database");
    store.close().await;
    let options = SqliteConnectOptions::new().filename(beside.database());
    let mut database = SqliteConnection::connect_with(&options).await.expect("a connection");
    let day = 86_400_000_i64;
    let then = autobuild::cli::assemble::clock().0 - day;
    let count = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT $1)";
    let deliveries = "INSERT INTO delivery (app_id, id, event, installation_id, repo_id, received_at, source, outcome) \
                      SELECT 1, 'old-' || n, 'push', 1, 1, $2, 'webhook', 'read' FROM n";
    let ended = "INSERT INTO feature (id, installation_id, repo_id, issue_number, run, state, version, data, counted, trimmed) \
                 SELECT '9/' || n || '/1', 9, 9, n, 1, 'completed', 9, '{}', 1, 1 FROM n WHERE $2 > 0";
    let events = "INSERT INTO event (stream, seq, kind, body, cause, actor, at) \
                  SELECT '9/' || n || '/1', 1, 'label', '{}', 'label', 'ada', $2 FROM n";
    let effects = "INSERT INTO effect (id, kind, lane, subject, feature_id, ordered, installation_id, repo_id, payload, state, \
                   priority, run_at, first_due) SELECT 'done-' || n, 'post', 'forge', '9/' || n, '9/' || (1 + n % $3) || '/1', 1, \
                   9, 9, '{}', 'done', 1, $2, $2 FROM n";
    let rows = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    for (insert, number) in [(deliveries, DELIVERIES), (ended, features), (events, features), (effects, features * 30)]
    {
        let text = sqlx::AssertSqlSafe(format!("{count} {insert}"));
        let query = sqlx::query(text).bind(rows(number)).bind(then);
        let query = if insert == effects { query.bind(rows(features)) } else { query };
        query.execute(&mut database).await.expect("inserted");
    }
    database.close().await.expect("closed");
    let store = Store::open(&url, OpenOptions::default()).await.expect("a database");
    let claim = claims(&store, Millis(then)).await;
    store.close().await;
    claim
}

/// Stores an effect, claims it and ends it, again and again; returns the median time of the claims.
async fn claims(store: &Store, now: Millis) -> Duration {
    let lanes = [LaneLimits::none(Lane::Control)];
    let mut times = Vec::new();
    for number in 0..CLAIMS {
        let effect = NewEffect {
            id: format!("claimed-{number}"),
            kind: "ingest".to_owned(),
            lane: Lane::Control,
            subject: format!("one/{number}"),
            feature: None,
            feature_limit: None,
            ordered: Ordered::InOrder,
            waits: false,
            installation: InstallationId(9),
            repo: None,
            payload: "{}".to_owned(),
            priority: 1,
            run_at: now,
        };
        store.add_effects(&[effect]).await.expect("stored");
        let request = ClaimRequest { worker: "bench", lanes: &lanes, others: &[], now, lease_until: now.plus(60_000) };
        let begun = Instant::now();
        let claimed = store.claim(&request).await.expect("a claim").expect("an effect");
        times.push(begun.elapsed());
        store.finish(&claimed.hold, &Outcome::Done).await.expect("ended");
    }
    support::percentile(&mut times, 50)
}

/// The script of the planner, of the Players and of the Coaches.
fn agents() -> String {
    let tasks: String = (1..=TASKS)
        .map(|task| {
            format!(
                "      - id: TASK-00{task}\n        name: Count {task}\n        type: scaffolding\n        \
                 acceptance_criteria:\n          - text: count-{task}.sh is there\n            check: {{ file: count-{task}.sh \
                 }}\n        files: [count-{task}.sh]\n        factors: {{ integration_points: 0, tests: unit, risks: [] }}\n"
            )
        })
        .collect();
    let turns: String = (1..=TASKS)
        .map(|task| {
            format!(
                "- role: player\n  task: TASK-00{task}\n  write: {{ count-{task}.sh: \"wc -l\\n\" }}\n  answer: {{ summary: It \
                 counts., files_modified: [], files_created: [count-{task}.sh], ready_for_validation: true }}\n- role: \
                 coach\n  task: TASK-00{task}\n  answer: {{ decision: approve, summary: Fine., criteria: [{{ criterion: 1, met: \
                 true, evidence: count-{task}.sh }}] }}\n"
            )
        })
        .collect();
    format!("- role: planner\n  answer:\n    name: Count\n    tasks:\n{tasks}{turns}")
}
