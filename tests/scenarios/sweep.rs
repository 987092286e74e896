//! Unfinished Features are compared with GitHub: this finds facts that neither a delivery nor the log of deliveries
//! reported.

use crate::world::{ADMIN, ISSUE, Plan, REPO, Setup, Task, WRITER, World};
use domain::ids::{InstallationId, Millis, TaskId};
use forge::{Fault, Mishap};

/// Acts while all deliveries get lost, removes them from GitHub's log, and sweeps; returns the number of facts that were
/// found. Further sweeps find nothing.
async fn sweep_after<T>(world: &World, act: impl Future<Output = T>) -> u64 {
    let fault = world.forge.order(Fault::on_delivery("*", Mishap::LoseRequest).always());
    act.await;
    world.settle().await;
    fault.withdraw();
    world.forge.forget_deliveries();
    let found = world.engine.sweep().await.unwrap();
    world.settle().await;
    quiet(world).await;
    found
}

/// Sweeps twice and asserts that nothing is left to find, and that facts found twice had no effect.
async fn quiet(world: &World) {
    for _ in 0..2 {
        assert_eq!(world.engine.sweep().await.unwrap(), 0, "a fact counts once");
        world.settle().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_that_nobody_heard_are_obeyed_once() {
    let world = Setup::new().settings("plan_approval: always\nmerge: human").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "awaiting_approval");
    quiet(&world).await;
    let act = async { world.say(WRITER, ISSUE, "/autobuild approve").await };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert_eq!(world.tasks().await, ["approved"]);

    world.script.approves(1);
    let (branch, pull) = (world.branch(1).await, world.pull(1).await);
    let files = [("hello/more.txt", Some("hello\n"))];
    let act = async { world.by(WRITER).push(REPO, &branch, "Say more", &files).await.unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert_eq!(world.tasks().await, ["approved"]);
    assert_eq!(world.feature().await.tasks[0].turns.len(), 2, "the push was judged");

    let act = async { world.by(WRITER).merge(REPO, pull, "squash").await.unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    let expected = (vec!["completed".to_owned()], "in_review".to_owned());
    assert_eq!((world.tasks().await, world.state().await), expected);

    let pull = world.feature_pull().await;
    let act = async { world.by(ADMIN).merge(REPO, pull, "merge").await.unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert_eq!(world.state().await, "completed");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_pull_request_its_reopening_and_a_review_are_found() {
    let world = Setup::new().settings("merge: human").build().await;
    // A second task keeps the Feature going while the first is cancelled.
    world.script.plans(&Plan::of([Task::new(1), Task::new(2)])).succeeds(1).succeeds(2);
    world.start().await;
    let (pull, writer) = (world.pull(1).await, world.by(WRITER));
    let act = async {
        writer.review(REPO, pull, "REQUEST_CHANGES", "Say more", &[]).await.unwrap();
        world.script.writes(1, &[("hello/more.txt", "hello\n")]).approves(1);
    };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert_eq!(world.feature().await.tasks[0].turns.len(), 2, "the review made a turn");

    let act = async { writer.close(REPO, pull).unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert_eq!(world.tasks().await[0], "cancelled");
    let act = async { writer.reopen(REPO, pull).await.unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert_ne!(world.tasks().await[0], "cancelled");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn suspensions_and_transfers_are_found_and_the_work_goes_on() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    let act = async { world.forge.suspend(world.installation).unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert!(world.feature().await.is_held());
    let act = async { world.forge.unsuspend(world.installation).unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert!(!world.feature().await.is_held());

    // The installation that is left behind is suspended, so it answers nothing about the repository.
    let act = async { world.forge.suspend(world.installation).unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    let mut other = 0;
    let act = async {
        world.forge.create_organization("globex");
        other = world.forge.install("autobuild", "globex", None).unwrap();
        world.by(ADMIN).transfer_repo(REPO, "globex").unwrap();
    };
    assert_eq!(sweep_after(&world, act).await, 1);
    let feature = world.feature().await;
    assert_eq!(feature.installation, InstallationId(other));
    assert_eq!((feature.state.word(), feature.is_held()), ("awaiting_approval", false));
    let (_, name) = REPO.split_once('/').unwrap();
    let moved = format!("globex/{name}");
    world.script.succeeds(1);
    world.by(WRITER).comment(&moved, ISSUE, "/autobuild approve").unwrap();
    world.settle().await;
    let feature = world.feature().await;
    assert_eq!(feature.state.word(), "in_review");
    assert!(feature.task(TaskId::Planned(1)).is_some());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_issues_and_of_the_repository_is_found() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    let mut issues = Vec::new();
    for _ in 0..5 {
        world.script.plans(&Plan::one());
        issues.push(world.open_issue(WRITER, "Say hello in files"));
        world.by(WRITER).label(REPO, issues[issues.len() - 1], "autobuild").unwrap();
        world.settle().await;
    }
    let act = async {
        let admin = world.by(ADMIN);
        admin.close(REPO, issues[0]).unwrap();
        admin.delete_issue(REPO, issues[1]).unwrap();
        admin.unlabel(REPO, issues[2], "autobuild").unwrap();
    };
    assert_eq!(sweep_after(&world, act).await, 3);
    let mut states = Vec::new();
    for issue in &issues {
        states.push(world.feature_of(*issue).await.unwrap().state.word());
    }
    let waits = "awaiting_approval";
    assert_eq!(states, ["cancelled", "cancelled", "cancelled", waits, waits]);
    let act = async { world.by(ADMIN).archive_repo(REPO).unwrap() };
    assert!(sweep_after(&world, act).await > 0);
    assert_eq!(world.feature_of(issues[3]).await.unwrap().state.word(), "cancelled");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merge_is_found_among_many_newer_pull_requests() {
    let world = Setup::new().settings("merge: human").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let (pull, writer) = (world.pull(1).await, world.by(WRITER));
    for number in 0..50 {
        let branch = format!("more-{number}");
        let file = format!("more/{number}.txt");
        writer.push(REPO, &branch, "More", &[(&file, Some("more\n"))]).await.unwrap();
        writer.open_pull(REPO, &branch, "autobuild/1/integration", "More", "").await.unwrap();
    }
    world.settle().await;
    let act = async { writer.merge(REPO, pull, "squash").await.unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert_eq!((world.tasks().await, world.state().await), (vec!["completed".to_owned()], "in_review".to_owned()));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_only_the_refused_merge_met_is_found() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    let merge = world.forge.order(Fault::on("PUT", "*/merge", Mishap::Hold));
    world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    merge.struck().await;
    let act = async {
        let branch = world.branch(1).await;
        let files = [("hello/more.txt", Some("hello\n"))];
        world.by(WRITER).push(REPO, &branch, "Say more", &files).await.unwrap();
        merge.release().await;
        world.settle().await;
        let task = &world.feature().await.tasks[0];
        assert_eq!((task.turns.len(), task.is_completed()), (1, false), "the merge met another head");
        world.script.approves(1);
    };
    assert_eq!(sweep_after(&world, act).await, 1);
    let task = &world.feature().await.tasks[0];
    assert_eq!((task.turns.len(), task.is_completed()), (2, true), "the push was judged");
    world.end().await;
}

/// Creates a Feature whose plan waits for approval.
async fn waiting() -> World {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    assert_eq!(world.state().await, "awaiting_approval");
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn the_deletion_of_the_repository_is_found() {
    let world = waiting().await;
    let act = async { world.by(ADMIN).delete_repo(REPO).unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert_eq!(world.state().await, "cancelled");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_uninstalled_app_is_found_and_its_data_goes_later() {
    let world = waiting().await;
    let store = &world.engine.store;
    world.engine.sweep().await.unwrap();
    assert_eq!(store.purge_departed(Millis(i64::MAX)).await.unwrap(), 0);
    let act = async { world.forge.uninstall(world.installation).unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert_eq!(world.state().await, "cancelled");
    assert_eq!(store.purge_departed(Millis(i64::MAX)).await.unwrap(), 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_goes_on_in_a_renamed_repository() {
    let world = waiting().await;
    let act = async { world.by(ADMIN).rename_repo(REPO, "store").unwrap() };
    assert_eq!(sweep_after(&world, act).await, 0, "a name is no fact");
    world.script.succeeds(1);
    let act = async { world.by(WRITER).comment("acme/store", ISSUE, "/autobuild approve").unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_feature_whose_pull_request_lives_again_is_found() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let pull = world.feature_pull().await;
    let (writer, admin) = (world.by(WRITER), world.by(ADMIN));
    writer.close(REPO, pull).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "cancelled");
    quiet(&world).await;

    let act = async { writer.reopen(REPO, pull).await.unwrap() };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert_eq!(world.state().await, "in_review");

    for _ in 0..2 {
        world.say(WRITER, ISSUE, "/autobuild cancel").await;
        quiet(&world).await;
        let act = async { writer.reopen(REPO, pull).await.unwrap() };
        assert_eq!(sweep_after(&world, act).await, 1);
        assert_eq!(world.state().await, "in_review");
    }

    writer.close(REPO, pull).unwrap();
    world.settle().await;
    let act = async {
        writer.reopen(REPO, pull).await.unwrap();
        admin.merge(REPO, pull, "merge").await.unwrap();
    };
    assert_eq!(sweep_after(&world, act).await, 1);
    assert_eq!(world.state().await, "completed");
    world.end().await;
}
