//! The service is killed around the end of an agent's run: nothing is counted twice, nothing is lost, and the Feature
//! continues.
//!
//! Its own database determines the exact point: a write that must not be stored never ends.

use crate::{play::WATCHDOG, story::Story, world::World};
use domain::budget::dollars;
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use std::time::Duration;

/// The usage that each run of a role reports, in millionths of a dollar, as in [`Story::paid`].
const USED: [(&str, i64); 3] = [("planner", 30_000), ("player", 250_000), ("coach", 70_000)];

/// How long the result of a database query is reused.
const LOOK: Duration = Duration::from_millis(10);

/// The point at the end of a run at which the service is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    /// The agent has worked; its usage is not stored.
    BeforeItsEnd,
    /// Its usage is stored, but not the consequences.
    BeforeTheRecord,
}

/// A run in the ledger: role, state, usage, reserved amount.
type Row = (String, String, Option<i64>, i64);

async fn database(world: &World) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(world.database());
    SqliteConnection::connect_with(&options).await.unwrap()
}

async fn execute(world: &World, statements: &[String]) {
    let mut database = database(world).await;
    for statement in statements {
        sqlx::query(sqlx::AssertSqlSafe(statement.clone())).execute(&mut database).await.unwrap();
    }
    database.close().await.unwrap();
}

async fn runs(world: &World) -> Vec<Row> {
    let mut database = database(world).await;
    sqlx::query_as("SELECT role, state, usd_micros, reserved_micros FROM run ORDER BY started_at, id")
        .fetch_all(&mut database)
        .await
        .unwrap()
}

/// Returns a trigger that blocks the service at a certain write.
fn blocking_trigger(role: &str, point: Point) -> String {
    let write = match point {
        Point::BeforeItsEnd => format!("UPDATE OF state ON run WHEN OLD.role = '{role}'"),
        Point::BeforeTheRecord => {
            format!("INSERT ON event WHEN EXISTS (SELECT 1 FROM run WHERE role = '{role}' AND state = 'ended')")
        }
    };
    format!("CREATE TRIGGER held BEFORE {write} BEGIN SELECT count(*) FROM never_ends; END")
}

/// Returns the number of steps of the script that were played.
fn steps_taken(world: &World) -> usize {
    let scripts = world.folder.path().join("data/agents/scripts");
    let memories = std::fs::read_dir(scripts).into_iter().flatten().flatten();
    let texts = memories.filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
    let taken = texts.filter_map(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    taken.filter_map(|memory| Some(memory["steps"].as_object()?.len())).sum()
}

async fn is_there(world: &World, role: &str, point: Point) -> bool {
    let at = USED.iter().position(|(name, _)| *name == role).unwrap();
    let wanted = match point {
        Point::BeforeItsEnd => "running",
        Point::BeforeTheRecord => "ended",
    };
    steps_taken(world) > at && runs(world).await.iter().any(|run| run.0 == role && run.1 == wanted)
}

/// Plays the story and kills the service once, at that point of that role's run.
async fn play(role: &str, point: Point) -> World {
    let story = Story::paid();
    let mut world = World::new(&story).await;
    world.start();
    world.rest().await;
    let forever = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let hold = [format!("CREATE VIEW never_ends AS {forever}"), blocking_trigger(role, point)];
    execute(&world, &hold).await;
    for step in &story.moves {
        step.play(&world).await;
    }
    while !is_there(&world, role, point).await {
        tokio::time::sleep(LOOK).await;
    }
    world.kill().await;
    let gone = ["TRIGGER held", "VIEW never_ends"];
    execute(&world, &gone.map(|what| format!("DROP {what}"))).await;
    world.start();
    world.rest().await;
    world
}

async fn killed(role: &str, point: Point) -> (World, Vec<Row>) {
    let played = tokio::time::timeout(WATCHDOG, play(role, point)).await;
    let world = played.unwrap_or_else(|_| panic!("{point:?} of the {role}: does not end"));
    assert_eq!(world.given_up().await, [], "{}", world.log());
    assert_eq!(world.most_tries().await, (0, 1), "cut off once, failed never");
    let runs = runs(&world).await;
    adds_up(&world, &runs).await;
    (world, runs)
}

/// Asserts that the Feature has got as far as possible without a person, in one turn, and that people see the whole
/// cost.
async fn adds_up(world: &World, runs: &[Row]) {
    let pull = world.forge.look(crate::beside::REPO, "pulls/3").await.unwrap();
    assert_eq!(pull["state"], "open", "{pull}");
    // The usage of a lost run is an estimate, and is shown as one.
    let about = if runs.iter().any(|run| run.1 == "lost") { "about " } else { "" };
    let spent = u64::try_from(runs.iter().map(counted).sum::<i64>()).unwrap();
    let shown = format!("Cost so far: {about}{} ", dollars(spent));
    let comments = world.forge.look(crate::beside::REPO, "issues/1/comments").await.unwrap();
    let body = pull["body"].as_str().unwrap().replace('\\', "");
    let living = comments[0]["body"].as_str().unwrap().replace('\\', "");
    assert!(living.contains(&shown), "{shown} in {living}, {runs:?}");
    assert!(body.contains(&shown), "{shown} in {body}");
    let mut database = database(world).await;
    let turns: i64 = sqlx::query_scalar("SELECT count(*) FROM turn").fetch_one(&mut database).await.unwrap();
    assert_eq!(turns, 1);
}

fn counted((_, state, used, reserved): &Row) -> i64 {
    match state.as_str() {
        "ended" => used.expect("a run that ended tells"),
        "lost" => *reserved,
        other => panic!("a run is still {other}"),
    }
}

fn states<'a>(runs: &'a [Row], role: &str) -> Vec<&'a str> {
    runs.iter().filter(|run| run.0 == role).map(|run| run.1.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_end_was_not_written_down_counts_with_its_share_and_is_done_again() {
    for (role, _) in USED {
        let (_, runs) = killed(role, Point::BeforeItsEnd).await;
        for (other, used) in USED {
            let expected: &[&str] = if other == role { &["lost", "ended"] } else { &["ended"] };
            assert_eq!(states(&runs, other), expected, "{other} of {runs:?}");
            assert!(runs.iter().any(|run| run.0 == other && run.2 == Some(used)), "{runs:?}");
        }
        let lost = runs.iter().find(|run| run.1 == "lost").unwrap();
        assert!(lost.3 >= 500_000 && lost.2.is_none(), "{lost:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_end_was_stored_counts_once_and_is_not_paid_again() {
    for (role, _) in USED {
        let (_, runs) = killed(role, Point::BeforeTheRecord).await;
        for (other, _) in USED {
            assert_eq!(states(&runs, other), ["ended"], "{other} of {runs:?}");
        }
    }
}
