//! Deliveries that GitHub sent while the service was down are fetched from its log.

use crate::world::{ADMIN, ISSUE, Plan, REPO, Setup, WRITER, World};
use domain::ids::InstallationId;
use forge::{Fault, FaultOrder, Mishap};
use sqlx::Connection;

/// Makes all deliveries get lost from now on.
fn down(world: &World) -> FaultOrder {
    world.forge.order(Fault::on_delivery("*", Mishap::LoseRequest).always())
}

/// Lets deliveries arrive again and replays the log; returns the number of fetched deliveries.
async fn up(world: &World, fault: &FaultOrder) -> u64 {
    world.settle().await;
    fault.withdraw();
    let fetched = world.engine.replay().await.unwrap();
    world.settle().await;
    fetched
}

/// Creates a Feature of one task whose pull request waits for a person.
async fn in_review() -> World {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_label_and_a_command_that_were_missed_start_and_go_on_with_the_work_once() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    let fault = down(&world);
    world.start().await;
    assert!(world.feature_of(ISSUE).await.is_none());
    world.script.plans(&Plan::one());
    assert_eq!(up(&world, &fault).await, 1);
    assert_eq!(world.state().await, "awaiting_approval");

    world.script.succeeds(1);
    let fault = down(&world);
    world.say(WRITER, ISSUE, "/autobuild approve").await;
    assert_eq!(up(&world, &fault).await, 1);
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.engine.replay().await.unwrap(), 0, "what is stored is not fetched again");
    let status = world.engine.replay_status().await.unwrap();
    assert_eq!(status.fetched, 2);
    assert!(status.newest.is_some() && status.ended_at.is_some());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_that_github_cannot_give_now_keeps_back_no_other_and_comes_later() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    let fault = down(&world);
    world.start().await;
    world.say(WRITER, ISSUE, "/autobuild help").await;
    fault.withdraw();
    // The first delivery is that of the opened issue. A read is tried three times.
    let broken = Fault::on("GET", "/app/hook/deliveries/*", Mishap::fail(500)).nth(2).times(3);
    let order = world.forge.order(broken);
    assert!(world.engine.replay().await.is_err());
    world.settle().await;
    assert_eq!((order.hits(), world.engine.replay_status().await.unwrap().fetched), (3, 1));
    world.script.plans(&Plan::one());
    assert_eq!(world.engine.replay().await.unwrap(), 1);
    world.settle().await;
    assert_eq!(world.state().await, "awaiting_approval");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_merge_of_the_feature_that_was_missed_completes_it() {
    let world = in_review().await;
    let fault = down(&world);
    let pull = world.feature_pull().await;
    world.by(ADMIN).merge(REPO, pull, "merge").await.unwrap();
    assert!(up(&world, &fault).await > 0);
    assert_eq!(world.state().await, "completed");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_issue_that_was_missed_cancels_its_feature() {
    let world = in_review().await;
    let fault = down(&world);
    world.by(WRITER).close(REPO, ISSUE).unwrap();
    assert_eq!(up(&world, &fault).await, 1);
    assert_eq!(world.state().await, "cancelled");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_was_missed_is_judged_and_a_merge_that_was_missed_counts() {
    let world = Setup::new().settings("merge: human").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.tasks().await, ["approved"]);
    world.script.approves(1);
    let fault = down(&world);
    let (branch, pull) = (world.branch(1).await, world.pull(1).await);
    let files = [("hello/more.txt", Some("hello\n"))];
    world.by(WRITER).push(REPO, &branch, "Say more", &files).await.unwrap();
    assert!(up(&world, &fault).await > 0);
    assert_eq!(world.tasks().await, ["approved"]);
    assert_eq!(world.feature().await.tasks[0].turns.len(), 2, "the push was judged");

    let fault = down(&world);
    world.by(WRITER).merge(REPO, pull, "squash").await.unwrap();
    assert!(up(&world, &fault).await > 0);
    assert_eq!((world.tasks().await, world.state().await), (vec!["completed".to_owned()], "in_review".to_owned()));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_whose_end_was_missed_is_over() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    world.forge.suspend(world.installation).unwrap();
    world.settle().await;
    let fault = down(&world);
    world.forge.unsuspend(world.installation).unwrap();
    assert_eq!(up(&world, &fault).await, 1);
    world.script.succeeds(1);
    world.say(WRITER, ISSUE, "/autobuild approve").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_that_a_sweep_found_is_not_refused_when_its_delivery_comes() {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::one()).writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, "It says hullo.");
    world.start().await;
    let old = world.pull(1).await;
    world.script.succeeds(1);
    let fault = down(&world);
    let comment = world.say(WRITER, old, "/autobuild retry").await;
    fault.withdraw();
    assert_eq!(world.engine.sweep().await.unwrap(), 1);
    world.settle().await;
    assert_ne!(world.pull(1).await, old, "the task has another pull request");
    assert!(up(&world, &fault).await > 0);
    assert_eq!(world.reactions(comment).await, ["eyes", "rocket"]);
    world.end().await;
}

/// Starts a second run of an issue. Its first run was cancelled while no delivery arrived, which a sweep found out.
/// Then the first run's deliveries arrive.
async fn second_run(cancel: impl AsyncFnOnce(&World)) -> World {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one()).plans(&Plan::one());
    world.start().await;
    let fault = down(&world);
    cancel(&world).await;
    assert_eq!(world.engine.sweep().await.unwrap(), 1);
    world.settle().await;
    assert_eq!(world.state().await, "cancelled");
    fault.withdraw();
    let writer = world.by(WRITER);
    writer.unlabel(REPO, ISSUE, "autobuild").ok();
    writer.reopen(REPO, ISSUE).await.ok();
    writer.label(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    assert_eq!(world.feature().await.key.run, 2);
    assert!(up(&world, &fault).await > 0);
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_delivery_is_about_the_run_of_its_time() {
    let command = second_run(async |world| _ = world.say(WRITER, ISSUE, "/autobuild cancel").await).await;
    let unlabel = second_run(async |world| world.by(WRITER).unlabel(REPO, ISSUE, "autobuild").unwrap()).await;
    let close = second_run(async |world| world.by(WRITER).close(REPO, ISSUE).unwrap()).await;
    for world in [command, unlabel, close] {
        assert_eq!((world.feature().await.key.run, world.state().await.as_str()), (2, "awaiting_approval"));
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_label_that_is_added_again_after_an_unheard_removal_starts_another_run() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one()).plans(&Plan::one());
    world.start().await;
    let fault = down(&world);
    world.by(WRITER).unlabel(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    fault.withdraw();
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    assert_eq!((world.feature().await.key.run, world.state().await.as_str()), (2, "awaiting_approval"));
    assert!(up(&world, &fault).await > 0);
    assert_eq!((world.feature().await.key.run, world.state().await.as_str()), (2, "awaiting_approval"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_label_that_was_missed_before_a_transfer_starts_the_work_in_the_new_place() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    let fault = down(&world);
    world.start().await;
    world.forge.create_organization("globex");
    let other = world.forge.install("autobuild", "globex", None).unwrap();
    world.by(ADMIN).transfer_repo(REPO, "globex").unwrap();
    world.script.plans(&Plan::one());
    assert!(up(&world, &fault).await > 0);
    let feature = world.feature().await;
    assert_eq!((feature.installation, feature.state.word()), (InstallationId(other), "awaiting_approval"));
    world.end().await;
}

/// Deletes everything of Features and deliveries from the database, as in a backup from before them.
async fn forget_all(database: &mut sqlx::SqliteConnection) {
    let forgotten = "DELETE FROM effect; DELETE FROM event; DELETE FROM run; DELETE FROM feature; DELETE FROM delivery";
    sqlx::raw_sql(forgotten).execute(database).await.unwrap();
}

async fn database(world: &World) -> sqlx::SqliteConnection {
    let file = format!("sqlite:{}", world.folder().join("autobuild.db").display());
    sqlx::SqliteConnection::connect(&file).await.unwrap()
}

/// Returns the calls to the log of deliveries since the last look: those for its pages, and those for one delivery.
fn looks(world: &World) -> (usize, usize) {
    let calls = world.forge.calls();
    world.forge.clear_calls();
    let to = |start: &str| calls.iter().filter(|call| call.path.starts_with(start)).count();
    let single = to("/app/hook/deliveries/");
    (to("/app/hook/deliveries") - single, single)
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_a_delivery_that_github_cannot_return_costs_no_second_walk() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    let sent = world.forge.deliveries("autobuild");
    let labelled = sent.iter().find(|(_, event, action, _)| event == "issues" && action.as_deref() == Some("labeled"));
    let (labelled, ..) = labelled.unwrap();
    let mut database = database(&world).await;
    forget_all(&mut database).await;
    database.close().await.unwrap();
    let broken = Fault::on("GET", &format!("/app/hook/deliveries/{labelled}"), Mishap::fail(500)).always();
    let order = world.forge.order(broken);
    world.engine.doubt_deliveries().await.unwrap();
    looks(&world);
    assert!(world.engine.replay().await.is_err());
    // A read is tried three times.
    assert_eq!(looks(&world), (1, sent.len() - 1 + 3), "all are asked for");
    let status = world.engine.replay_status().await.unwrap();
    assert_eq!(status.unreturned.iter().map(|one| one.id).collect::<Vec<_>>(), [*labelled]);
    assert!(world.engine.replay().await.is_err());
    assert_eq!(looks(&world), (1, 3), "the others are not asked for again");
    assert!(world.feature_of(ISSUE).await.is_none());
    order.withdraw();
    assert_eq!(world.engine.replay().await.unwrap(), 1);
    world.settle().await;
    assert_eq!(world.state().await, "awaiting_approval");
    assert!(world.engine.replay_status().await.unwrap().unreturned.is_empty());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_an_answer_that_belongs_to_no_feature_is_not_given_twice() {
    let world = World::new().await;
    world.open_issue(WRITER, "Say hello in files");
    world.say(WRITER, ISSUE, "/autobuild status").await;
    let before = world.comments(ISSUE).await;
    assert_eq!(before.len(), 2, "{before:#?}");
    let mut database = database(&world).await;
    forget_all(&mut database).await;
    database.close().await.unwrap();
    world.engine.doubt_deliveries().await.unwrap();
    assert!(world.engine.replay().await.unwrap() > 0);
    world.settle().await;
    assert_eq!(world.comments(ISSUE).await, before);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_acknowledged_deliveries_are_read_again_and_old_branches_left_alone() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    world.by(ADMIN).push(REPO, "autobuild/1/integration", "Before", &[("old.txt", Some("old\n"))]).await.unwrap();
    world.settle().await;
    // The database of the backup knows neither the label nor the run that began with it.
    let mut database = database(&world).await;
    let statuses = "SELECT k, v FROM meta WHERE k LIKE 'replay/%'";
    forget_all(&mut database).await;
    world.script.plans(&Plan::one()).succeeds(1);
    assert_eq!(world.engine.replay().await.unwrap(), 0, "a 2xx is believed");
    let (key, status): (String, String) = sqlx::query_as(statuses).fetch_one(&mut database).await.unwrap();
    world.engine.doubt_deliveries().await.unwrap();
    // Another replica ends a walk that it began before.
    let ended = sqlx::query("UPDATE meta SET v = $2 WHERE k = $1").bind(key).bind(status);
    ended.execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    assert!(world.engine.replay().await.unwrap() > 0);
    world.settle().await;
    let feature = world.feature().await;
    assert_eq!((feature.key.run, feature.state.word()), (2, "awaiting_approval"));
    world.say(WRITER, ISSUE, "/autobuild approve").await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.engine.replay().await.unwrap(), 0);
    world.end().await;
}
