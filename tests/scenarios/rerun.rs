//! GitHub's _Re-run_ of one check run and _Re-run all checks_: the commit is checked again.

use crate::world::{ADMIN, Plan, REPO, Setup, WRITER, World};

/// Creates a task that got feedback in its only turn.
async fn blocked_world(settings: &str) -> World {
    let world = Setup::new().settings(settings).build().await;
    world.script.plans(&Plan::one());
    world.script.writes(1, &[("hello/1.txt", "hello\n")]).feedback(1, "I do not like it.");
    let issue = world.open_issue(ADMIN, "Say hello in files");
    world.by(ADMIN).label(REPO, issue, "autobuild").unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    world
}

async fn head_of(world: &World, pull: u64) -> String {
    world.pull_json(pull).await["head"]["sha"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn re_run_all_checks_lets_gates_and_coach_look_at_a_blocked_head_again() {
    let world = blocked_world("max_turns: 1").await;
    let head = head_of(&world, world.pull(1).await).await;
    world.script.approves(1);
    world.by(WRITER).rerun_checks(REPO, &head).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.feature().await.tasks[0].turns.len(), 2, "no Player, a turn of its own");
    assert_eq!(world.checks(&head).await.last().unwrap(), "AutoBuild success");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn re_run_of_our_check_run_means_the_same() {
    let world = blocked_world("max_turns: 1").await;
    let head = head_of(&world, world.pull(1).await).await;
    let run = world.get(&format!("commits/{head}/check-runs")).await["check_runs"][0]["id"].as_u64();
    world.script.feedback(1, "I still do not like it.");
    world.by(WRITER).click_check(REPO, run.unwrap(), None).unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    assert_eq!(world.feature().await.tasks[0].turns.len(), 2);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn re_run_on_the_feature_pull_request_runs_the_wave_gate_again() {
    let world = Setup::new().build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let head = head_of(&world, world.feature_pull().await).await;
    let gates = world.feature().await.gates.len();
    world.by(WRITER).rerun_checks(REPO, &head).unwrap();
    world.settle().await;
    let feature = world.feature().await;
    assert_eq!((feature.gates.len(), feature.state.word()), (gates + 1, "in_review"));
    assert_eq!(world.checks(&head).await, ["AutoBuild success"]);
    let suites = world.get(&format!("commits/{head}/check-suites")).await;
    assert_eq!(suites["check_suites"][0]["status"], "completed");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_command_is_refused_once_for_each_commit() {
    let world = blocked_world("max_turns: 1\ncommands: {permission: admin}").await;
    let pull = world.pull(1).await;
    let head = head_of(&world, pull).await;
    for _ in 0..2 {
        world.by(WRITER).rerun_checks(REPO, &head).unwrap();
        world.settle().await;
    }
    assert_eq!(world.tasks().await, ["blocked"]);
    assert_eq!(world.comments(pull).await.len(), 1);
    assert!(world.last_answer(pull).await.contains("admin access"));
    world.end().await;
}
