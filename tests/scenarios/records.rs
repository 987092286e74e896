//! AutoBuild's records under `.autobuild/`: written while it builds, and removed before people are asked to merge.

use crate::world::{ADMIN, Plan, REPO, Setup, Task, World};
use forge::{Fault, Mishap};

const INTEGRATION: &str = "autobuild/1/integration";

/// Returns the files in which a branch differs from the default branch.
fn diff(world: &World) -> Vec<String> {
    let said = world.git_says(&["diff", "--name-only", &format!("main...{INTEGRATION}")]);
    said.lines().map(str::to_owned).collect()
}

async fn built(settings: &str) -> World {
    let world = Setup::new().settings(settings).build().await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2).needs(&[1])]));
    world.script.succeeds(1).succeeds(2);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pull_request_shows_the_work_alone_and_its_check_stands_on_its_head() {
    let world = built("mode: tdd").await;
    assert_eq!(diff(&world), ["hello/1.txt", "hello/2.txt"]);
    let log = world.git_says(&["log", "--format=%s", INTEGRATION]);
    assert!(log.starts_with("Take the records of FEAT-1 out\n"), "{log}");
    let page = world.file(&format!("{INTEGRATION}~1"), ".autobuild/tasks/FEAT-1/TASK-002.md");
    assert!(page.unwrap().contains("### Turn 1: ✅ Approved"), "the history is in the branch's own");
    let head = world.pull_json(world.feature_pull().await).await["head"]["sha"].as_str().unwrap().to_owned();
    assert_eq!(world.checks(&head).await, ["AutoBuild success"]);
    let effects = world.engine.store.effects_of(&world.feature().await.key).await.unwrap();
    let gates = effects.iter().filter(|effect| effect.kind == "wave_gate").count();
    assert_eq!(gates, 2, "one for each wave: the head differs from what they saw in records alone");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_between_the_commit_and_the_pull_request_makes_neither_twice() {
    let world = Setup::new().build().await;
    world.forge.order(Fault::on("POST", "*/pulls", Mishap::fail(502)).containing("Closes #1"));
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(diff(&world), ["hello/1.txt"]);
    let log = world.git_says(&["log", "--format=%s", INTEGRATION]);
    assert_eq!(log.matches("Take the records").count(), 1, "{log}");
    let head = world.pull_json(world.feature_pull().await).await["head"]["sha"].as_str().unwrap().to_owned();
    assert_eq!(world.checks(&head).await, ["AutoBuild success"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_after_the_pull_request_was_opened_brings_no_records_back() {
    let world = built("mode: tdd").await;
    let pull = world.feature_pull().await;
    world.script.writes_as("TASK-REVIEW-1", &[("hello/1.txt", "hello 1!\n")]);
    world.script.approves_as("TASK-REVIEW-1", "hello/1.txt:1");
    world.by(ADMIN).review(REPO, pull, "REQUEST_CHANGES", "Say it louder.", &[]).await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(diff(&world), ["hello/1.txt", "hello/2.txt"]);
    world.by(ADMIN).merge(REPO, pull, "squash").await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "completed");
    assert_eq!(world.file("main", ".autobuild/features/FEAT-1.yaml"), None);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn records_that_are_kept_are_merged_with_their_final_states() {
    let world = built("records: keep").await;
    let pull = world.feature_pull().await;
    world.by(ADMIN).merge(REPO, pull, "merge").await.unwrap();
    world.settle().await;
    let plan = world.file("main", ".autobuild/features/FEAT-1.yaml").unwrap();
    assert!(plan.contains("status: completed") && !plan.contains("in_progress"), "{plan}");
    let page = world.file("main", ".autobuild/tasks/FEAT-1/TASK-002.md").unwrap();
    assert!(page.contains("State: completed"), "{page}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_records_leave_no_trace_in_the_branch() {
    let world = built("records: none").await;
    assert_eq!(diff(&world), ["hello/1.txt", "hello/2.txt"]);
    assert_eq!(world.git_says(&["log", "--format=%s", INTEGRATION, "--", ".autobuild"]), "");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn records_of_others_on_the_default_branch_stay_as_they_are() {
    let older = "id: FEAT-1\nname: of another repository\n";
    let world = Setup::new()
        .with_file(".autobuild/features/FEAT-1.yaml", older)
        .with_file(".autobuild/features/FEAT-9.yaml", "id: FEAT-9\n")
        .build()
        .await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(diff(&world), ["hello/1.txt"]);
    let plan = world.file(INTEGRATION, ".autobuild/features/FEAT-1.yaml");
    assert_eq!(plan.as_deref(), Some(older));
    world.end().await;
}
