//! Merges that GitHub made while AutoBuild did not hear of them, and pull requests whose base is another.

use crate::world::{ISSUE, Plan, REPO, Setup, Task, WRITER, World};
use forge::{Fault, FaultOrder, Mishap};
use serde_json::json;

/// A task is merged on GitHub, and the answer is held back.
async fn merged_unheard(world: &World) -> FaultOrder {
    let order = world.forge.order(Fault::on("PUT", "*/merge", Mishap::HoldReply));
    world.script.plans(&Plan::one()).succeeds(1);
    world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    order.struck().await;
    order
}

async fn push(world: &World) {
    let branch = world.branch(1).await;
    let files = [("hello/more.txt", Some("hello\n"))];
    world.by(WRITER).push(REPO, &branch, "Say more", &files).await.unwrap();
    let mut wakeups = world.engine.store.wakeups();
    while world.tasks().await == ["approved"] {
        wakeups.next().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merge_that_github_made_counts_whatever_a_person_did_meanwhile() {
    let world = World::new().await;
    let order = merged_unheard(&world).await;
    push(&world).await;
    order.release().await;
    world.settle().await;
    assert_eq!((world.tasks().await, world.state().await), (vec!["completed".to_owned()], "in_review".to_owned()));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_agent_is_paid_for_a_task_that_was_merged_unheard() {
    let world = World::new().await;
    let order = merged_unheard(&world).await;
    push(&world).await;
    order.cut();
    world.settle().await;
    assert_eq!((world.tasks().await, world.state().await), (vec!["completed".to_owned()], "in_review".to_owned()));
    world.end().await;
}

/// GitHub has merged the first of two tasks, and the answer was lost.
async fn first_of_two_merged_unheard() -> World {
    let world = Setup::new().slow().build().await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2)])).succeeds(1).succeeds(2);
    world.forge.order(Fault::on("PUT", "*/merge", Mishap::LoseReply).containing("TASK-001"));
    world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    world.idle().await;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_was_merged_unheard_is_not_skipped() {
    let world = first_of_two_merged_unheard().await;
    assert_eq!(world.tasks().await, ["approved", "completed"]);
    world.say(WRITER, ISSUE, "/autobuild skip TASK-001").await;
    assert_eq!(world.tasks().await, ["completed", "completed"]);
    let pull = world.pull_json(world.feature_pull().await).await;
    let body = pull["body"].as_str().unwrap();
    assert!(!body.contains("skipped"), "{body}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sweep_finds_a_merge_of_ours_that_nobody_heard_of() {
    let world = first_of_two_merged_unheard().await;
    let pull = world.pull(1).await;
    world.by(WRITER).comment(REPO, pull, "/autobuild pause").unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["blocked", "completed"]);
    assert_eq!(world.engine.sweep().await.unwrap(), 1);
    world.settle().await;
    assert_eq!((world.tasks().await[0].clone(), world.state().await), ("completed".to_owned(), "in_review".to_owned()));
    assert_eq!(world.engine.sweep().await.unwrap(), 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_merged_into_another_branch_than_the_integration_branch() {
    let world = World::new().await;
    let order = world.forge.order(Fault::on("POST", "*/reviews", Mishap::Hold).containing("APPROVE"));
    world.script.plans(&Plan::one()).succeeds(1);
    world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    order.struck().await;
    let pull = world.pull(1).await;
    world.by(WRITER).change_base(REPO, pull, "main").await.unwrap();
    order.release().await;
    world.settle().await;
    assert_eq!(world.file("main", "hello/1.txt"), None);
    assert_eq!(world.tasks().await, ["approved"]);
    let said = world.living().await;
    assert!(said.contains("`main`"), "{said}");
    world.by(WRITER).change_base(REPO, pull, "autobuild/1/integration").await.unwrap();
    world.say(WRITER, pull, "/autobuild resume").await;
    assert_eq!((world.tasks().await, world.state().await), (vec!["completed".to_owned()], "in_review".to_owned()));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_put_back_before_its_push_is_read_is_merged() {
    let world = World::new().await;
    let body = json!({ "message": "Head branch was modified. Review and try the merge again." }).to_string();
    world.forge.order(Fault::on("PUT", "*/merge", Mishap::Fail { status: 409, body, headers: Vec::new() }));
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!((world.tasks().await, world.state().await), (vec!["completed".to_owned()], "in_review".to_owned()));
    world.end().await;
}
