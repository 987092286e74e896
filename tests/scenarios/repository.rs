//! Changes of the issue, the repository and the installation while a Feature is unfinished.

use crate::{
    pipes::Pipes,
    world::{ADMIN, ISSUE, Plan, REPO, Setup, WRITER, World},
};
use autobuild::config::Role;
use domain::ids::InstallationId;
use forge::{RepoSource, Settings};
use serde_json::json;
use sqlx::Connection;

const PLAYER: &str = r#"echo started > "$WORLD/started"
read line < "$WORLD/go"
mkdir -p hello
echo hello 1 > hello/1.txt
echo '{"summary": "Said it.", "files_modified": [], "files_created": ["hello/1.txt"], "ready_for_validation": true}'
"#;

/// Creates a world whose Player runs and waits.
async fn playing() -> (World, Pipes) {
    let setup = Setup::new().command(Role::Player, PLAYER);
    let mut pipes = Pipes::new(setup.folder());
    let world = setup.build().await;
    world.script.plans(&Plan::one());
    world.open_issue(WRITER, "Say hello.");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    pipes.started().await;
    (world, pipes)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renamed_repository_goes_on() {
    let (world, mut pipes) = playing().await;
    world.by(ADMIN).rename_repo(REPO, "store").unwrap();
    world.forge.deliveries_idle().await;
    world.script.approves(1);
    pipes.go().await;
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    let said = world.forge.look("acme/store", "issues/1/comments").await.unwrap();
    assert!(said[0]["body"].as_str().unwrap().contains("/acme/store/pull/"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archived_or_deleted_repository_and_a_deleted_issue_cancel_and_end_the_agent() {
    let acts: [fn(&World); 3] = [
        |world| world.by(ADMIN).archive_repo(REPO).unwrap(),
        |world| world.by(ADMIN).delete_repo(REPO).unwrap(),
        |world| world.by(ADMIN).delete_issue(REPO, ISSUE).unwrap(),
    ];
    for act in acts {
        let (world, _pipes) = playing().await;
        act(&world);
        world.settle().await;
        assert_eq!(world.state().await, "cancelled");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_of_an_archived_repository_shows_the_end_once_the_repository_is_opened_again() {
    let (world, _pipes) = playing().await;
    world.by(ADMIN).archive_repo(REPO).unwrap();
    world.settle().await;
    assert!(!world.living().await.contains("State: cancelled"));
    world.by(ADMIN).unarchive_repo(REPO).unwrap();
    world.settle().await;
    assert!(world.living().await.contains("State: cancelled"), "{}", world.living().await);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transferred_issue_cancels() {
    let (world, _pipes) = playing().await;
    world.forge.create_repo("acme/other", RepoSource::Files(&[("a", "a")]), Settings::default()).await.unwrap();
    world.forge.set_role("acme/other", ADMIN, forge::Role::Admin).unwrap();
    world.by(ADMIN).transfer_issue(REPO, ISSUE, "acme/other").unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "cancelled");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_installation_waits_and_goes_on_when_it_is_lifted() {
    let (world, mut pipes) = playing().await;
    world.forge.suspend(world.installation).unwrap();
    world.forge.deliveries_idle().await;
    world.script.approves(1);
    pipes.go().await;
    world.idle().await;
    assert_eq!(world.tasks().await, ["player_turn"]);
    world.forge.unsuspend(world.installation).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_installation_cancels_in_silence() {
    let (world, _pipes) = playing().await;
    let before = world.comments(ISSUE).await.len();
    world.forge.uninstall(world.installation).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "cancelled");
    assert_eq!(world.comments(ISSUE).await.len(), before);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_shows_the_end_once_the_removed_app_is_installed_again() {
    let (world, _pipes) = playing().await;
    world.forge.uninstall(world.installation).unwrap();
    world.settle().await;
    assert!(!world.living().await.contains("State: cancelled"));
    let again = world.forge.install("autobuild", "acme", None).unwrap();
    world.settle().await;
    assert!(world.living().await.contains("State: cancelled"), "{}", world.living().await);
    assert_eq!(world.feature().await.installation, InstallationId(again));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_on_an_ended_issue_is_answered_after_the_app_was_installed_again() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    world.by(ADMIN).merge(REPO, world.feature_pull().await, "merge").await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "completed");
    world.forge.uninstall(world.installation).unwrap();
    world.settle().await;
    world.forge.install("autobuild", "acme", None).unwrap();
    world.settle().await;
    let before = world.comments(ISSUE).await.len();
    world.say(WRITER, ISSUE, "/autobuild status").await;
    assert_eq!(world.comments(ISSUE).await.len(), before + 2, "{:#?}", world.comments(ISSUE).await);
    world.end().await;
}

async fn database(world: &World) -> sqlx::SqliteConnection {
    let file = format!("sqlite:{}", world.folder().join("autobuild.db").display());
    sqlx::SqliteConnection::connect(&file).await.unwrap()
}

/// Makes a backup of the database and returns its file.
async fn back_up(world: &World) -> String {
    let backup = world.folder().join("backup.db").display().to_string();
    let mut database = database(world).await;
    sqlx::query("VACUUM INTO $1").bind(&backup).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    backup
}

/// Puts the tables of the backup in the place of the world's, whose effects no process holds any more, and lets the
/// service go on as after `serve --restored`.
async fn restore(world: &World, backup: &str) {
    let mut database = database(world).await;
    sqlx::query("ATTACH $1 AS backup").bind(backup).execute(&mut database).await.unwrap();
    for table in ["delivery", "feature", "task", "turn", "event", "run", "effect", "meta"] {
        let restored = format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM backup.{table}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(restored)).execute(&mut database).await.unwrap();
    }
    let unheld = "UPDATE effect SET state = 'ready', worker = NULL, lease_until = NULL WHERE state = 'running'";
    sqlx::raw_sql(unheld).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    world.engine.doubt_deliveries().await.unwrap();
    world.engine.replay().await.unwrap();
    world.settle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_that_was_merged_after_the_backup_is_not_opened_again() {
    let (world, mut pipes) = playing().await;
    let backup = back_up(&world).await;
    world.script.approves(1);
    pipes.go().await;
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    restore(&world, &backup).await;
    assert_eq!(world.state().await, "in_review");
    let pulls = world.forge.look(REPO, "pulls?state=all").await.unwrap();
    assert_eq!(pulls.as_array().unwrap().len(), 2, "{pulls:#}");
    world.end().await;
}

/// Lets the Coach approve with this summary.
fn approves(world: &World, summary: &str) {
    let criteria = json!([{"criterion": 1, "met": true, "evidence": "hello/1.txt says hello"}]);
    let answer = json!({"decision": "approve", "summary": summary, "criteria": criteria});
    std::fs::write(world.folder().join("verdict"), answer.to_string()).unwrap();
}

/// Creates a Feature whose only task is approved and waits for a person, and a backup from before its Player ended.
async fn approved() -> (World, String) {
    let setup = Setup::new().settings("merge: human").command(Role::Player, PLAYER);
    let setup = setup.command(Role::Coach, r#"cat "$WORLD/verdict""#);
    let mut pipes = Pipes::new(setup.folder());
    let world = setup.build().await;
    approves(&world, "It says hello.");
    world.script.plans(&Plan::one());
    world.open_issue(WRITER, "Say hello.");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    pipes.started().await;
    let backup = back_up(&world).await;
    pipes.go().await;
    world.settle().await;
    assert_eq!(world.tasks().await, ["approved"]);
    (world, backup)
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_nobody_is_asked_for_a_review_twice() {
    let (world, backup) = approved().await;
    let pull = world.pull(1).await;
    let asked = async || world.pull_json(pull).await["requested_reviewers"].as_array().unwrap().len();
    let before = world.comments(pull).await;
    assert_eq!(asked().await, 1);
    restore(&world, &backup).await;
    assert_eq!((asked().await, world.comments(pull).await), (1, before.clone()), "the request is enough");
    world.by(WRITER).review(REPO, pull, "COMMENT", "I will merge it tomorrow.", &[]).await.unwrap();
    world.settle().await;
    assert_eq!(asked().await, 0);
    restore(&world, &backup).await;
    assert_eq!((asked().await, world.comments(pull).await), (0, before), "the review answered the request");
    assert_eq!(world.tasks().await, ["approved"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_a_verdict_is_posted_again_only_if_it_differs() {
    let (world, backup) = approved().await;
    let (pull, head) = (world.pull(1).await, world.feature().await.tasks[0].head.clone().unwrap().to_string());
    let runs = format!("commits/{head}/check-runs?filter=all");
    // The database no longer has the Player's report, which the first review shows.
    for (summary, posted) in [("It says hello.", 2), ("It says hello.", 2), ("It greets.", 3)] {
        approves(&world, summary);
        restore(&world, &backup).await;
        assert_eq!(world.tasks().await, ["approved"]);
        let reviews = world.reviews(pull).await;
        assert_eq!(reviews.len(), posted, "{reviews:#?}");
        assert!(reviews[posted - 1].2.contains(summary), "{reviews:#?}");
        let shown = world.get(&runs).await;
        let newest = shown["check_runs"].as_array().unwrap().last().unwrap()["output"].to_string();
        assert!(newest.contains(summary), "{shown:#}");
    }
    world.end().await;
}
