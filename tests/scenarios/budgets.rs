//! Budgets, spending, and the end of a budget.

use crate::world::{ISSUE, Plan, REPO, Setup, Task, WRITER, World};
use autobuild::config::{Allowance, Role};
use domain::{budget::Limits, ids::TaskId};
use serde_json::json;

const TESTS: &str = "test: sh tests/run.sh\n";

async fn allowing(lines: &str) -> World {
    Setup::new().settings(lines).build().await
}

async fn allow(world: &World, lines: &str) {
    let text = format!("{TESTS}{lines}\n");
    let files = [(".github/autobuild.yml", Some(text.as_str()))];
    world.by(WRITER).push(REPO, "main", "Allow more", &files).await.unwrap();
}

async fn runs(world: &World) -> usize {
    let key = world.feature().await.key;
    world.engine.store.runs_of(&key, None).await.unwrap().len()
}

async fn pull_says(world: &World, number: u64) -> String {
    let reviews = world.reviews(number).await;
    let bodies = reviews.into_iter().map(|(_, _, body)| body);
    bodies.collect::<Vec<_>>().join("\n").replace("\\$", "$")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spent_task_blocks_with_figures_and_goes_on_when_more_is_allowed() {
    let world = allowing("budget: {usd_per_task: 1}").await;
    world.script.plans(&Plan::one()).plays_for(1, 1.25);
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let pull = world.pull(1).await;
    let report = pull_says(&world, pull).await;
    for part in [
        "the task used $1.25 of the $1.00 that `usd_per_task` allows",
        "**Cost of TASK-001 so far:** $1.25 (1 run, ",
        "raise `budget` in `.github/autobuild.yml`",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    world.say(WRITER, pull, "/autobuild resume").await;
    assert_eq!(world.tasks().await, ["blocked"], "nothing more is allowed yet");
    assert_eq!(runs(&world).await, 2, "the planner's and the Player's");

    allow(&world, "budget: {usd_per_task: 3}").await;
    world.script.approves(1);
    world.say(WRITER, pull, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    let body = world.pull_json(world.feature_pull().await).await["body"].to_string();
    assert!(body.contains("Cost so far: $1.25"), "{body}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_role_draws_on_the_feature_and_nothing_runs_when_it_is_spent() {
    let world = allowing("budget: {usd_per_feature: 0.5}").await;
    world
        .script
        .step(json!({"role": "planner", "usage": {"usd": 0.6}, "answer": serde_json::from_str::<serde_json::Value>(&Plan::one().json()).unwrap()}));
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    assert_eq!(runs(&world).await, 1, "the planner's alone");
    let said = world.answers(ISSUE).await.replace("\\$", "$");
    assert!(said.contains("the Feature used $0.60 of the $0.50 that `usd_per_feature` allows"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn zero_written_out_is_no_limit() {
    let world = allowing("budget: {usd_per_task: 0, usd_per_feature: 0}").await;
    world.script.plans(&Plan::one()).plays_for(1, 4_000.0).approves(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installations_month_is_limited_by_the_server() {
    let allowance =
        Allowance { month: Limits { usd_micros: Some(2_000_000), ..Limits::default() }, ..Allowance::default() };
    let world = Setup::new().allowance(allowance).build().await;
    world.script.plans(&Plan::one()).plays_for(1, 2.5);
    world.start().await;
    let report = pull_says(&world, world.pull(1).await).await;
    assert!(report.contains("this installation used $2.50 of the $2.00"), "{report}");

    world.forge.uninstall(world.installation).unwrap();
    world.settle().await;
    world.forge.install("autobuild", "acme", None).unwrap();
    let issue = world.open_issue(WRITER, "Say hello in more files");
    world.by(WRITER).label(REPO, issue, "autobuild").unwrap();
    world.settle().await;
    let said = world.answers(issue).await.replace("\\$", "$");
    assert!(said.contains("this installation used $2.50 of the $2.00"), "after a new installation: {said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_up_share_goes_on_with_the_next_until_nothing_is_left_and_the_work_is_kept() {
    let world = allowing("budget: {usd_per_task: 2}").await;
    world.script.plans(&Plan::one());
    for (at, usd) in [(1, 1.0), (2, 0.5), (3, 0.5)] {
        world.script.step(json!({
            "role": "player",
            "write": {format!("hello/part-{at}.txt"): "hello\n"},
            "usage": {"usd": usd},
            "fail": "out_of_money",
        }));
    }
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let report = pull_says(&world, world.pull(1).await).await;
    assert!(report.contains("the task used $2.00 of the $2.00"), "{report}");
    for at in 1..=3 {
        let branch = world.branch(1).await;
        assert!(world.file(&branch, &format!("hello/part-{at}.txt")).is_some(), "part {at} is kept");
    }
    assert!(report.contains("`/autobuild approve`"), "{report}");
    let turns = &world.feature().await.tasks[0].turns;
    assert!(turns.iter().all(|turn| turn.verdict.is_none()), "no turn used up");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_at_once_spend_no_more_than_the_feature_allows() {
    let world = allowing("budget: {usd_per_feature: 2}\nmax_parallel_tasks: 2").await;
    let plan = Plan::of([Task::new(1), Task::new(2)]);
    world.script.plans(&plan).plays_for(1, 1.0).plays_for(2, 1.0);
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked", "blocked"], "nothing is left for the Coaches");
    let costs = world.engine.store.costs(&world.feature().await.key).await.unwrap();
    let spent: u64 = costs.values().filter_map(|cost| cost.usd_micros).sum();
    assert_eq!(spent, 2_000_000);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cost_that_nobody_tells_is_unknown_and_its_time_counts() {
    let player = r#"mkdir -p hello; echo hello 1 > hello/1.txt; sleep 0.05
echo '{"summary": "Said it.", "files_modified": [], "files_created": ["hello/1.txt"], "ready_for_validation": true}'
"#;
    let world = Setup::new().command(Role::Player, player).build().await;
    world.script.plans(&Plan::one()).approves(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let living = world.comments(ISSUE).await.remove(0).1;
    assert!(living.contains("Cost so far: unknown (3 runs"), "{living}");
    let cost = world.engine.store.costs(&world.feature().await.key).await.unwrap()[&Some(TaskId::Planned(1))];
    assert_eq!((cost.agent_runs, cost.unknown_runs, cost.usd_micros), (2, 2, None));
    assert!(cost.agent_ms >= 50, "{cost:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plan_says_what_it_may_cost_and_that_this_is_a_guess() {
    let world = allowing("plan_approval: always").await;
    let plan: serde_json::Value = serde_json::from_str(&Plan::one().json()).unwrap();
    world.script.step(json!({"role": "planner", "usage": {"usd": 0.03}, "answer": plan}));
    world.start().await;
    let living = world.comments(ISSUE).await.remove(0).1;
    assert!(living.contains("Cost so far: $0.03 (1 run"), "{living}");
    assert!(living.contains("Expected cost: $0.08 to $0.40 (a rough guess"), "{living}");
    world.end().await;
}
