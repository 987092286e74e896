//! The core stories once more, on PostgreSQL.

use crate::postgres;
use crate::world::ADMIN;
use crate::world::ISSUE;
use crate::world::Plan;
use crate::world::REPO;
use crate::world::Setup;
use crate::world::Task;
use crate::world::WRITER;
use crate::world::World;

async fn world(settings: &str) -> World {
    let database = postgres::database().await;
    Setup::new().settings(settings).database(database).build().await
}

#[tokio::test(flavor = "multi_thread")]
async fn waves_of_tasks_become_a_merged_feature() {
    let world = world("").await;
    world
        .script
        .plans(&Plan::of([Task::new(1), Task::new(2), Task::new(3).needs(&[1, 2])]));
    world
        .script
        .writes(1, &[("hello/1.txt", "hullo\n")])
        .feedback(1, "It says hullo.")
        .succeeds(1)
        .succeeds(2)
        .succeeds(3);
    world.start().await;
    assert_eq!(world.tasks().await, ["completed", "completed", "completed"]);
    assert_eq!(
        world.review_states(world.pull(1).await).await,
        ["CHANGES_REQUESTED", "APPROVED"]
    );
    world
        .by(ADMIN)
        .merge(REPO, world.feature_pull().await, "merge")
        .await
        .unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "completed");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_task_is_resumed_and_another_skipped() {
    let world = world("max_turns: 1").await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2)]));
    world
        .script
        .writes(1, &[("hello/1.txt", "hullo\n")])
        .feedback(1, "It says hullo.");
    world
        .script
        .writes(2, &[("hello/2.txt", "hullo\n")])
        .feedback(2, "It says hullo.");
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked", "blocked"]);
    world.say(WRITER, ISSUE, "/autobuild skip TASK-002").await;
    world.script.succeeds(1);
    world
        .say(WRITER, world.pull(1).await, "/autobuild resume hello, not hullo")
        .await;
    assert_eq!(world.tasks().await, ["completed", "skipped"]);
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_and_a_cancel_hold() {
    let world = world("merge: human").await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    world.forge.suspend(world.installation).unwrap();
    world.idle().await;
    world.forge.unsuspend(world.installation).unwrap();
    world.settle().await;
    let comment = world.say(WRITER, ISSUE, "/autobuild cancel").await;
    assert_eq!(world.reactions(comment).await, ["eyes", "rocket"]);
    assert_eq!(world.state().await, "cancelled");
    world.end().await;
}
