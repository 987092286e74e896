//! CI that would give rights to agent-written code is held until a person lets it run.

use crate::world::{Plan, READER, REPO, Setup, WRITER, World};
use domain::{
    ci::{CiRelease, skips},
    evidence::{Evidence, Gate},
};
use forge::{BranchRule, Fault, Mishap, RuleKind, StartedJob};

const CANARY: &str = "canary-7f3a";

/// A workflow that runs on every branch and pull request, and gives the code a secret.
const DEPLOY: &str = "on: [push, pull_request]\npermissions: {}\njobs:\n  deploy:\n    runs-on: ubuntu-latest\n    \
                      env: {KEY: '${{ secrets.DEPLOY_KEY }}'}\n    steps: [{uses: actions/checkout@v5}, {run: sh tests/run.sh}]\n";

/// A workflow that gives no rights to the code.
const TESTS: &str = "on: [push, pull_request]\npermissions: {contents: read}\njobs:\n  test:\n    runs-on: ubuntu-latest\n    \
                     steps: [{uses: actions/checkout@v5}, {run: sh tests/run.sh}]\n";

async fn world(workflow: &str, settings: &str) -> World {
    let setup = Setup::new().settings(settings).with_file(".github/workflows/ci.yml", workflow);
    let world = setup.build().await;
    world.forge.set_secret(REPO, "DEPLOY_KEY", CANARY).unwrap();
    world.script.plans(&Plan::one());
    world.script.succeeds(1);
    world
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl World {
    /// Returns the jobs that had code of AutoBuild's branches.
    async fn jobs(&self) -> Vec<StartedJob> {
        let started = self.forge.started_jobs(REPO).await.unwrap();
        started.into_iter().filter(|job| job.branch.starts_with("autobuild/")).collect()
    }

    /// Returns the jobs that got the canary secret together with agent-written code: those on all commits except the
    /// default branch's own.
    async fn leaks(&self) -> Vec<String> {
        let base = self.git_says(&["rev-parse", "main"]);
        let jobs = self.jobs().await.into_iter();
        let leaking = jobs.filter(|job| job.head != base.trim() && job.secrets.values().any(|value| value == CANARY));
        leaking.map(|job| format!("{} on {}", job.event, job.branch)).collect()
    }

    fn messages(&self, range: &str) -> String {
        self.git_says(&["log", "--format=%B%x00", range])
    }

    async fn feature_head(&self) -> String {
        text(&self.pull_json(self.feature_pull().await).await["head"]["ref"])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn harmful_ci_is_held_until_a_person_lets_it_run() {
    let world = world(DEPLOY, "").await;
    world.start().await;
    assert_eq!(world.tasks().await, ["completed"]);
    assert_eq!(world.state().await, "building");
    assert_eq!(world.feature().await.pull, None);
    assert_eq!(world.leaks().await, Vec::<String>::new());
    let held = world.messages("main..autobuild/1/integration");
    assert!(
        held.split('\0').map(str::trim).filter(|one| !one.is_empty()).all(|one| one.ends_with("[skip ci]")),
        "{held}"
    );
    let turn = world.feature().await.tasks[0].turns[0].clone();
    assert!(turn.gates.unwrap().result(Gate::Ci).is_some_and(|ci| format!("{:?}", ci.evidence).contains("CiHeld")));
    let living = world.living().await;
    assert!(living.contains("the secret `DEPLOY_KEY`") && living.contains("/autobuild ci"), "{living}");

    world.say(READER, 1, "/autobuild ci").await;
    assert_eq!(world.feature().await.ci.release, CiRelease::None, "write access is needed");
    world.say(WRITER, 1, "/autobuild ci").await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.feature_head().await, "autobuild/1/feature");
    let clean = world.messages("main..autobuild/1/feature");
    assert!(!skips(&clean) && clean.contains("AutoBuild-Feature"), "{clean}");
    let trees = ["autobuild/1/integration^{tree}", "autobuild/1/feature^{tree}"];
    let [old, new] = trees.map(|tree| world.git_says(&["rev-parse", tree]));
    assert_eq!(old, new);
    assert!(world.leaks().await.contains(&"pull_request on autobuild/1/feature".to_owned()));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_holding_the_canary_leaves_with_the_first_push() {
    let world = world(DEPLOY, "ci: ignore").await;
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    assert!(world.leaks().await.iter().any(|leak| leak.contains("task-001")));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn harmless_ci_runs_by_itself_and_counts() {
    let world = world(TESTS, "").await;
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.feature_head().await, "autobuild/1/integration");
    assert!(!skips(&world.messages("main..autobuild/1/integration")));
    assert!(world.jobs().await.iter().any(|job| job.job == "test" && job.secrets.is_empty()));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_button_of_the_integration_head_lets_ci_run() {
    let world = world(TESTS, "ci: ask").await;
    world.start().await;
    assert_eq!(world.state().await, "building");
    let head = world.git_says(&["rev-parse", "autobuild/1/integration"]);
    let runs = world.get(&format!("commits/{head}/check-runs")).await;
    let run =
        runs["check_runs"].as_array().unwrap().iter().find(|run| run["name"] == "AutoBuild").expect("a check run");
    assert_eq!(
        (text(&run["conclusion"]), text(&run["output"]["title"])),
        ("action_required".to_owned(), "Built: CI waits for a person".to_owned())
    );
    world.by(READER).click_check(REPO, run["id"].as_u64().unwrap(), Some("ci")).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "building");
    world.by(WRITER).click_check(REPO, run["id"].as_u64().unwrap(), Some("ci")).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_that_no_instruction_holds_makes_the_plan_wait() {
    let world = world(&DEPLOY.replace("[push, pull_request]", "create"), "").await;
    world.start().await;
    assert_eq!(world.state().await, "awaiting_approval");
    assert!(world.living().await.contains(".github/workflows/ci.yml"));
    assert_eq!(world.leaks().await, Vec::<String>::new());
    world.say(WRITER, 1, "/autobuild approve").await;
    assert_eq!(world.tasks().await, ["completed"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merge_by_any_method_brings_no_skip_instruction_to_the_default_branch() {
    for method in ["squash", "merge", "rebase"] {
        let world = world(DEPLOY, "").await;
        world.start().await;
        world.say(WRITER, 1, "/autobuild ci").await;
        assert!(skips(&world.messages("main..autobuild/1/integration")), "the held commits have it");
        let before = world.git_says(&["rev-parse", "main"]);
        let pull = world.feature_pull().await;
        world.by(WRITER).merge(REPO, pull, method).await.unwrap();
        world.settle().await;
        assert_eq!(world.state().await, "completed", "{method}");
        let merged = world.messages(&format!("{}..main", before.trim()));
        assert!(!merged.trim().is_empty() && !skips(&merged), "{method}: {merged}");
        world.end().await;
    }
}

/// Returns a workflow that runs on the default branch when another workflow or the checks of an App end, and uses the
/// code of that run.
fn after(event: &str) -> String {
    DEPLOY.replace("[push, pull_request]", &format!("{{{event}: {{}}}}")).replace(
        "{uses: actions/checkout@v5}",
        &format!("{{uses: actions/checkout@v5, with: {{ref: '${{{{ github.event.{event}.head_sha }}}}'}}}}"),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn workflows_of_the_base_that_take_the_code_of_the_head_or_may_make_the_plan_wait() {
    let script = DEPLOY.replace("[push, pull_request]", "pull_request_target");
    for (event, workflow) in [
        ("workflow_run", after("workflow_run")),
        ("check_suite", after("check_suite")),
        ("pull_request_target", script.replace("sh tests/run.sh", "./preview.sh ${{ github.event.number }}")),
    ] {
        let setup = Setup::new()
            .with_file(".github/workflows/ci.yml", TESTS)
            .with_file(".github/workflows/after.yml", &workflow);
        let world = setup.build().await;
        world.forge.set_secret(REPO, "DEPLOY_KEY", CANARY).unwrap();
        world.script.plans(&Plan::one()).succeeds(1);
        world.start().await;
        assert_eq!(world.state().await, "awaiting_approval", "{event}");
        assert!(world.living().await.contains(".github/workflows/after.yml"), "{event}");
        assert_eq!(world.leaks().await, Vec::<String>::new(), "{event}");
        world.say(WRITER, 1, "/autobuild approve").await;
        assert_eq!(world.tasks().await, ["completed"]);
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_reads_a_file_of_its_own_makes_the_plan_wait() {
    let world = Setup::new().with_file("Jenkinsfile", "node { sh 'make' }\n").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "awaiting_approval");
    assert!(world.living().await.contains("`Jenkinsfile`"));
    world.say(WRITER, 1, "/autobuild approve").await;
    assert_eq!(world.tasks().await, ["completed"]);
    assert!(skips(&world.messages("main..autobuild/1/integration")));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_merge_queue_runs_the_code_with_secrets_only_where_somebody_approved_it() {
    let world = world(&DEPLOY.replace("[push, pull_request]", "merge_group"), "").await;
    world.start().await;
    assert_eq!(world.state().await, "awaiting_approval");
    world.say(WRITER, 1, "/autobuild approve").await;
    world.say(WRITER, 1, "/autobuild ci").await;
    assert_eq!(world.state().await, "in_review");
    world.forge.queue(REPO, world.feature_pull().await).unwrap();
    let started = world.forge.started_jobs(REPO).await.unwrap();
    let queued: Vec<_> = started.iter().filter(|job| job.event == "merge_group").collect();
    assert_eq!(queued.len(), 1, "{started:?}");
    assert!(queued[0].has_head && queued[0].secrets.values().any(|value| value == CANARY));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_during_the_replay_makes_neither_branch_nor_pull_request_twice() {
    let lost = [
        Fault::on("POST", "*/git-receive-pack", Mishap::LoseReply).containing("autobuild/1/feature"),
        Fault::on("POST", "*/pulls", Mishap::LoseReply),
    ];
    for fault in lost {
        let world = world(DEPLOY, "").await;
        world.start().await;
        let order = world.forge.order(fault);
        world.say(WRITER, 1, "/autobuild ci").await;
        assert_eq!((order.hits(), world.state().await.as_str()), (1, "in_review"));
        assert_eq!(world.feature_head().await, "autobuild/1/feature");
        let pulls = world.list("pulls?state=all").await;
        assert_eq!(pulls.iter().filter(|pull| pull["base"]["ref"] == "main").count(), 1);
        let trees = ["autobuild/1/integration^{tree}", "autobuild/1/feature^{tree}"];
        let [old, new] = trees.map(|tree| world.git_says(&["rev-parse", tree]));
        assert_eq!(old, new);
        assert!(!skips(&world.messages("main..autobuild/1/feature")));
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_that_github_signs_are_held_and_released_alike() {
    let world = world(DEPLOY, "commits: github").await;
    let (pattern, kind) = ("autobuild/*".to_owned(), RuleKind::RequiredSignatures);
    world.forge.add_rule(REPO, BranchRule { pattern, kind }).unwrap();
    world.start().await;
    assert_eq!((world.tasks().await, world.leaks().await), (vec!["completed".to_owned()], Vec::new()));
    world.say(WRITER, 1, "/autobuild ci").await;
    assert_eq!(world.state().await, "in_review");
    assert!(!skips(&world.messages("main..autobuild/1/feature")));
    for commit in world.git_says(&["rev-list", "autobuild/1/feature", "^main"]).lines() {
        let seen = world.forge.look(REPO, &format!("git/commits/{commit}")).await.unwrap();
        assert_eq!(seen["verification"]["verified"], true, "{seen}");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_others_bring_no_instruction_into_titles_and_commits() {
    let setup = Setup::new().with_file(".github/workflows/ci.yml", TESTS);
    let world = setup.build().await;
    world.script.plans(&Plan::one().with("name", "Say [skip ci] hello".into()));
    world.script.succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let pull = world.pull_json(world.feature_pull().await).await;
    assert!(!skips(&text(&pull["title"])) && !skips(&text(&pull["body"])), "{pull}");
    assert!(!skips(&world.messages("main..autobuild/1/integration")));
    let ci = world.feature().await.tasks[0].turns[0].gates.clone().unwrap();
    assert!(!matches!(ci.result(Gate::Ci).unwrap().evidence, Evidence::Failed(_)));
    world.end().await;
}
