//! Before any Player: rules, set-up and tests of the default branch.

use crate::world::{ISSUE, Plan, REPO, Setup, Task, WRITER, World};
use forge::{BranchRule, NewApp, NewCiJob, RuleKind};
use serde_json::json;

/// A check of the repository's own CI that passed.
const GREEN: NewCiJob<'static> = NewCiJob {
    app: Some("actions"),
    branches: "main",
    name: "build",
    conclusion: Some("success"),
    summary: "All is well.",
};

/// Asserts that the Feature has neither a branch nor a run of a Player yet.
async fn nothing_began(world: &World) {
    let feature = world.feature().await;
    assert_eq!(world.state().await, "blocked");
    assert!(feature.integration.is_none(), "a branch was made");
    assert!(feature.tasks.iter().all(|task| task.turns.is_empty()), "a Player ran");
    assert_eq!(world.file("autobuild/1/integration", "README.md"), None);
}

/// Starts a world with these settings and this file, in which nothing begins; the answers have all these parts.
async fn blocked_world(settings: &str, path: &str, text: &str, parts: &[&str]) -> World {
    let world = Setup::new().only_settings(settings).with_file(path, text).build().await;
    world.start().await;
    nothing_began(&world).await;
    says(&world, parts).await;
    world
}

/// Asserts that the answers to the issue have all these parts.
async fn says(world: &World, parts: &[&str]) {
    let said = world.answers(ISSUE).await;
    for part in parts {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// Changes a file on the default branch.
async fn mend(world: &World, path: &str, text: &str) {
    world.by(WRITER).push(REPO, "main", "Mend", &[(path, Some(text))]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_command_that_cannot_start_blocks_before_any_agent_and_resume_looks_again() {
    let world = Setup::new().only_settings("test: ./no-such-runner --all").build().await;
    world.start().await;
    nothing_began(&world).await;
    says(&world, &["no-such-runner --all", "could not start"]).await;
    mend(&world, ".github/autobuild.yml", "test: sh tests/run.sh\n").await;
    world.script.plans(&Plan::one());
    world.script.succeeds(1);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

/// A Feature that is blocked after its task's first turn, since the tests fail on the default branch too.
async fn red_base() -> World {
    let world = Setup::new()
        .only_settings("test: sh tests/quiet.sh\nmode: standard")
        .with_file("tests/quiet.sh", "exit 1\n")
        .build()
        .await;
    world.script.plans(&Plan::one());
    world.script.succeeds(1);
    world.start().await;
    world.say(WRITER, ISSUE, "/autobuild approve").await;
    assert_eq!(world.state().await, "blocked");
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn tests_mended_in_the_default_branch_count_for_a_commit_that_is_there() {
    let world = red_base().await;
    let before = world.feature().await.tasks[0].clone();
    assert!(before.head.is_some() && before.turns.len() == 1, "{before:?}");
    mend(&world, "tests/quiet.sh", "true\n").await;
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    let after = world.feature().await.tasks[0].clone();
    assert_eq!(after.turns.len(), 1, "no Player worked again");
    assert_ne!(after.turns[0].head, before.head, "the branch took up what was mended");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_waits_for_the_default_branch_takes_guidance_on_its_pull_request() {
    let world = red_base().await;
    mend(&world, ".github/autobuild.yml", "test: ./no-such-runner\nmode: standard\n").await;
    let pull = world.pull(1).await;
    world.say(WRITER, pull, "/autobuild resume").await;
    let waits = world.feature().await.tasks[0].clone();
    assert!(world.state().await == "blocked" && waits.waits_to_go_on(), "{waits:?}");
    mend(&world, ".github/autobuild.yml", "test: sh tests/quiet.sh\nmode: standard\n").await;
    mend(&world, "tests/quiet.sh", "true\n").await;
    world.script.plays(1);
    world.say(WRITER, pull, "/autobuild resume greet in one line").await;
    assert_eq!(world.state().await, "in_review");
    let turns = world.feature().await.tasks[0].turns.clone();
    let told = turns.iter().flat_map(|turn| &turn.input.guidance);
    let told: Vec<&str> = told.map(|words| words.text.as_str()).collect();
    assert_eq!(told, ["greet in one line"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_up_that_fails_blocks_with_command_exit_code_and_output() {
    let settings = "setup: sh tests/prepare.sh\ntest: sh tests/run.sh";
    let parts = ["sh tests/prepare.sh", "exited with 3", "the database is missing"];
    let fails = "echo the database is missing; exit 3\n";
    let world = blocked_world(settings, "tests/prepare.sh", fails, &parts).await;
    mend(&world, "tests/prepare.sh", "true\n").await;
    world.script.plans(&Plan::one());
    world.script.succeeds(1);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_default_branch_on_which_no_test_passes_blocks_with_output_and_remedy() {
    let none = "printf '1..2\\nnot ok 1 - a\\nnot ok 2 - b\\n'; echo no module named shop; exit 1\n";
    let parts = ["No test passes", "no module named shop", "Make at least one test pass"];
    blocked_world("test: sh tests/none.sh", "tests/none.sh", none, &parts).await.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_criterion_that_names_a_test_blocks_if_the_tests_have_no_names() {
    let criteria = |check: serde_json::Value| json!([{"text": "It says hello", "check": check}]);
    let world =
        Setup::new().only_settings("test: sh tests/quiet.sh").with_file("tests/quiet.sh", "echo fine\n").build().await;
    let named = Task::new(1).with("acceptance_criteria", criteria(json!({"test": "says_hello"})));
    world.script.plans(&Plan::of([named]));
    world.start().await;
    nothing_began(&world).await;
    says(&world, &["the tests have no names", "says_hello"]).await;
    world.end().await;
    let world = World::new().await;
    let checked = Task::new(1).with("acceptance_criteria", criteria(json!({"command": "no-such-checker hello/1.txt"})));
    world.script.plans(&Plan::of([checked]));
    world.start().await;
    says(&world, &["the program `no-such-checker` is not there"]).await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_against_the_branch_names_blocks_and_is_named() {
    for kind in [RuleKind::Creation, RuleKind::RequiredSignatures] {
        let world = World::new().await;
        let name = kind.name();
        let pattern = "autobuild/*".to_owned();
        world.forge.add_rule(REPO, BranchRule { pattern, kind }).unwrap();
        world.start().await;
        nothing_began(&world).await;
        let said = world.answers(ISSUE).await;
        assert!(said.contains("autobuild/1/integration") && said.contains(name), "{said}");
        let offers = |way: &str| said.contains(&format!("`/autobuild {way}"));
        assert_eq!(
            ["resume", "plan", "cancel", "retry", "skip"].map(offers),
            [true, true, true, false, false],
            "{said}"
        );
        world.forge.clear_rules(REPO).unwrap();
        world.script.plans(&Plan::one());
        world.script.succeeds(1);
        world.say(WRITER, ISSUE, "/autobuild resume").await;
        assert_eq!(world.state().await, "in_review");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_red_on_the_default_branch_is_said_and_not_held_against_a_task() {
    let setup = Setup::new().settings("ci: ignore");
    let world = setup.with_file("tests/old_test.sh", "exit 1\n").build().await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2).needs(&[1])]));
    world.script.succeeds(1).succeeds(2);
    let head = world.git_says(&["rev-parse", "main"]);
    let app = NewApp { slug: "actions", owner: "acme", permissions: &[("checks", "write")], events: &[], hook: None };
    world.forge.create_app(&app).unwrap();
    world.forge.report_check(REPO, head.trim(), &GREEN).unwrap();
    world.start().await;
    nothing_began(&world).await;
    says(&world, &["May it go on?", "`/autobuild approve`", "so this machine is to blame"]).await;
    world.say(WRITER, ISSUE, "/autobuild approve").await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.tasks().await, ["completed", "completed"]);
    says(&world, &["fail on", "`old`"]).await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tests_at_all_are_an_empty_baseline_that_blocks_nothing() {
    let world = Setup::new().only_settings("").without_tests().build().await;
    let page = Task::new(1).with("type", json!("documentation"));
    world.script.plans(&Plan::of([page])).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    says(&world, &["AutoBuild found no tests on"]).await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn that_there_are_no_tests_is_said_before_a_planner_is_paid() {
    let world = Setup::new().only_settings("").without_tests().build().await;
    // No planner answers.
    world.start().await;
    says(&world, &["AutoBuild found no tests", "Set `test` in `.github/autobuild.yml`"]).await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn submodules_and_files_in_lfs_are_said_to_be_unsupported() {
    let world = Setup::new()
        .with_file(".gitmodules", "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib\n")
        .with_file("art/.gitattributes", "*.png filter=lfs diff=lfs merge=lfs -text\n")
        .build()
        .await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    says(&world, &["Submodules are not supported", "Git LFS is not supported", "art/.gitattributes:1"]).await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_baseline_is_found_once_for_all_features_on_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let world = Setup::new()
        .only_settings("setup: sh tests/count.sh\ntest: sh tests/run.sh\nplan_approval: never")
        .with_file("tests/count.sh", &format!("pwd >> {}; true\n", count.display()))
        .build()
        .await;
    world.script.plans(&Plan::one());
    world.start().await;
    let runs = || std::fs::read_to_string(&count).map_or(0, |text| text.lines().count());
    let before = runs();
    world.say(WRITER, ISSUE, "/autobuild cancel").await;
    let second = world.open_issue(WRITER, "Say hello once more");
    world.script.plans(&Plan::one());
    world.by(WRITER).label(REPO, second, "autobuild").unwrap();
    world.settle().await;
    assert_eq!(runs(), before, "set-up ran again");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn that_all_tests_fail_without_a_name_is_said_before_a_planner_is_paid() {
    let world = Setup::new()
        .only_settings("test: sh tests/quiet.sh")
        .with_file("tests/quiet.sh", "echo no toolchain; exit 1\n")
        .build()
        .await;
    let named = json!([{"text": "It says hello", "check": {"test": "says_hello"}}]);
    world.script.plans(&Plan::of([Task::new(1).with("acceptance_criteria", named)]));
    world.start().await;
    nothing_began(&world).await;
    let parts = [
        "The tests fail before any work, and do not say which",
        "The tests fail on the default branch, and do not say which",
        "Commit a fix to the default branch",
    ];
    says(&world, &parts).await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_in_the_test_command_is_given_to_the_tests() {
    let test = "env DATABASE_URL=postgres://app:Zk93hQv7tB@localhost/app sh tests/run.sh";
    let world = Setup::new().only_settings(&format!("test: {test}")).build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.feature().await.settings["test"], test);
    world.end().await;
}
