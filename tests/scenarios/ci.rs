//! The repository's own CI as evidence.

use crate::world::{Plan, REPO, Setup, WRITER, World};
use autobuild::messages;
use domain::{
    ci::CiTimes,
    evidence::{Absence, Evidence, Gate, GateResult, Weight},
    ids::TaskId,
};
use forge::{Fault, Mishap, NewApp, NewCiJob};

const BUILD: NewCiJob<'static> = NewCiJob {
    app: Some("github-actions"),
    branches: "autobuild/*",
    name: "build",
    conclusion: Some("success"),
    summary: "All is well.",
};

/// The same on commits without a pull request.
const BEFORE: NewCiJob<'static> = NewCiJob { branches: "autobuild/*/integration", ..BUILD };

/// The same on commits of tasks.
const TASKS: NewCiJob<'static> = NewCiJob { branches: "autobuild/*/task-*", ..BUILD };

/// A deadline that passes at once.
const NO_PATIENCE: CiTimes = CiTimes { every: 5, silence: 0, deadline: 40 };

fn job(conclusion: Option<&'static str>, summary: &'static str) -> NewCiJob<'static> {
    NewCiJob { conclusion, summary, ..BUILD }
}

async fn world(setup: Setup, jobs: &[NewCiJob<'_>]) -> World {
    let world = setup.build().await;
    world
        .forge
        .create_app(&NewApp {
            slug: "github-actions",
            owner: "acme",
            permissions: &[("checks", "write")],
            events: &[],
            hook: None,
        })
        .unwrap();
    world.forge.set_ci(REPO, jobs).unwrap();
    world.script.plans(&Plan::one());
    world
}

impl World {
    /// Returns the result of CI in the newest turn of the only task.
    async fn ci(&self) -> GateResult {
        let feature = self.feature().await;
        let gates = feature.tasks[0].last_turn().unwrap().gates.clone().unwrap();
        gates.result(Gate::Ci).expect("CI was looked at").clone()
    }

    async fn turns(&self) -> usize {
        self.feature().await.tasks[0].turns.len()
    }

    /// Starts the Feature. Returns the head of its task, which waits for CI that has not ended.
    async fn head_waiting_for_ci(&self) -> String {
        self.open_issue(WRITER, "Say hello in files");
        self.by(WRITER).label(REPO, 1, "autobuild").unwrap();
        loop {
            self.idle().await;
            let feature = self.feature_of(1).await;
            let head = feature.and_then(|feature| feature.tasks.first()?.head.clone());
            let tally = self.engine.store.tally(None, self.engine.now()).await.unwrap();
            match head {
                Some(head) if tally.waiting > 0 => return head.to_string(),
                _ => tokio::task::yield_now().await,
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn green_checks_of_others_are_evidence_and_our_own_are_not() {
    let status = NewCiJob { app: None, name: "ci/old", ..BUILD };
    let world = world(Setup::new(), &[BUILD, job(Some("skipped"), ""), status]).await;
    world.script.succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let ci = world.ci().await;
    assert!(matches!(ci.evidence, Evidence::Passed(_)) && ci.weight == Weight::Required, "{ci:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_check_no_ci_ran_and_nothing_rests_on_it() {
    let world = world(Setup::new(), &[]).await;
    world.script.succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let ci = world.ci().await;
    assert_eq!(ci.weight, Weight::Informational);
    assert_eq!(ci.evidence, Evidence::Absent(Absence::NoCi));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_red_check_goes_back_to_the_player_with_its_output_whatever_the_coach_says() {
    let red = NewCiJob { branches: "autobuild/*/task-*", ..job(Some("failure"), "lint: line 3 is too long") };
    let world = world(Setup::new().settings("max_turns: 1"), &[BEFORE, red]).await;
    world.script.succeeds(1);
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let pull = world.pull(1).await;
    assert_eq!(world.review_states(pull).await[0], "CHANGES_REQUESTED");
    let items = &world.feature().await.tasks[0].turns[0].verdict.clone().unwrap().items;
    assert!(items.iter().any(|item| messages::problem(item).contains("lint: line 3 is too long")), "{items:#?}");
    world.forge.set_ci(REPO, &[BUILD]).unwrap();
    world.script.writes(1, &[("hello/1.txt", "hello 1!\n")]).approves(1);
    world.say(WRITER, pull, "/autobuild resume").await;
    assert_eq!((world.state().await, world.turns().await), ("in_review".to_owned(), 2));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_red_status_is_a_red_check() {
    let red = NewCiJob { app: None, ..job(Some("failure"), "hello/1.txt:1 is not well") };
    let world = world(Setup::new().settings("max_turns: 1"), &[BUILD, red]).await;
    world.script.succeeds(1);
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    assert!(matches!(world.ci().await.evidence, Evidence::Failed(_)));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_red_check_that_says_nothing_of_the_change_goes_to_a_person() {
    let cla = NewCiJob {
        app: None,
        branches: "autobuild/*/task-*",
        name: "license/cla",
        ..job(Some("failure"), "Contributor License Agreement is not signed yet.")
    };
    let world = world(Setup::new(), &[BUILD, cla]).await;
    world.script.plays(1);
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let ci = world.ci().await;
    assert!(matches!(ci.evidence, Evidence::Absent(Absence::JudgesPull { .. })) && ci.items.is_empty(), "{ci:?}");
    assert!(world.feature().await.tasks[0].turns[0].verdict.is_none(), "nobody's fault");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_gives_no_answer_blocks_without_a_coach_and_a_person_may_override() {
    for conclusion in ["cancelled", "action_required"] {
        let world = world(Setup::new(), &[job(Some(conclusion), "")]).await;
        world.script.plays(1);
        world.start().await;
        assert_eq!(world.tasks().await, ["blocked"]);
        let pull = world.pull(1).await;
        let report = world.reviews(pull).await.last().unwrap().2.clone();
        assert!(report.contains("build"), "{report}");
        assert!(world.feature().await.tasks[0].turns[0].verdict.is_none(), "nobody's fault");
        world.say(WRITER, pull, "/autobuild approve").await;
        assert_eq!(world.state().await, "in_review");
        let waived = &world.feature().await.tasks[0].waived[0];
        assert!(format!("{:?}", waived.facts).contains(conclusion), "{waived:?}");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_still_runs_holds_no_worker_and_its_end_counts() {
    let times = CiTimes { every: 50, silence: 0, deadline: 600_000 };
    let running = NewCiJob { branches: "autobuild/*/task-*", ..job(None, "") };
    let world = world(Setup::new().ci(times), &[running]).await;
    world.script.succeeds(1);
    let head = world.head_waiting_for_ci().await;
    assert_eq!(world.tasks().await, ["coach_turn"]);
    world.forge.report_check(REPO, &head, &BUILD).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_strangers_pull_request_with_the_same_commit_started_is_not_ours() {
    let times = CiTimes { every: 50, silence: 0, deadline: 600_000 };
    let running = NewCiJob { branches: "autobuild/*/task-*", ..job(None, "") };
    let world = world(Setup::new().ci(times), &[running]).await;
    world.script.succeeds(1);
    let head = world.head_waiting_for_ci().await;
    let red = NewCiJob { summary: "hello/1.txt:1 is not well", ..job(Some("failure"), "") };
    for name in ["build", "preview"] {
        world.forge.report_check_of_fork(REPO, &head, &NewCiJob { name, ..red }).unwrap();
    }
    world.forge.report_check(REPO, &head, &BUILD).unwrap();
    world.settle().await;
    let ci = world.ci().await;
    assert!(matches!(&ci.evidence, Evidence::Passed(_)), "{ci:?}");
    assert_eq!((world.state().await, world.turns().await), ("in_review".to_owned(), 1));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_runs_beyond_the_deadline_is_absent_and_resume_looks_again() {
    let world = world(Setup::new().ci(NO_PATIENCE), &[job(None, "")]).await;
    world.script.plays(1);
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let pull = world.pull(1).await;
    let head = world.pull_json(pull).await["head"]["sha"].as_str().unwrap().to_owned();
    assert!(world.checks(&head).await.contains(&"AutoBuild action_required".to_owned()));
    world.forge.report_check(REPO, &head, &BUILD).unwrap();
    world.script.approves(1);
    world.say(WRITER, pull, "/autobuild resume").await;
    assert_eq!((world.state().await, world.turns().await), ("in_review".to_owned(), 1));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_that_cannot_be_read_are_no_evidence_and_nobodys_fault() {
    let world = world(Setup::new().settings("ci: wait").ci(NO_PATIENCE), &[BUILD]).await;
    let fault = Fault::on("GET", "*/status", Mishap::fail(502)).always();
    world.forge.order(fault);
    world.script.plays(1);
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let report = world.reviews(world.pull(1).await).await.last().unwrap().2.clone();
    assert!(report.contains("could not be read"), "{report}");
    world.forge.clear_orders();
    world.script.approves(1);
    world.say(WRITER, world.pull(1).await, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tasks_ci_is_not_looked_at_where_the_settings_ignore_it() {
    let red = NewCiJob { branches: "autobuild/*/task-*", ..job(Some("failure"), "no") };
    let world = world(Setup::new().settings("ci: ignore"), &[red]).await;
    world.script.succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let feature = world.feature().await;
    let gates = feature.tasks[0].turns[0].gates.clone().unwrap();
    assert_eq!(gates.result(Gate::Ci), None);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_ci_on_the_feature_pull_request_is_repaired_by_a_task() {
    for policy in ["wait", "ignore"] {
        let red =
            NewCiJob { branches: "autobuild/*/integration", ..job(Some("failure"), "lint: hello/1.txt is too short") };
        let setup = Setup::new().settings(&format!("ci: {policy}\nmerge: human"));
        let world = world(setup, &[TASKS, red]).await;
        world.script.succeeds(1);
        world.script.writes_as("TASK-FIX-1", &[("hello/1.txt", "hello 1, world\n")]);
        world.script.approves_as("TASK-FIX-1", "hello/1.txt");
        world.start().await;
        world.by(WRITER).merge(REPO, world.pull(1).await, "squash").await.unwrap();
        world.settle().await;
        let feature = world.feature().await;
        let fix = feature.task(TaskId::Fix(1)).expect("a repair");
        assert_eq!((feature.state.word(), fix.state.word()), ("building", "approved"), "{policy}");
        let criteria = &fix.plan.acceptance_criteria;
        assert!(criteria[0].text.contains("hello/1.txt is too short"), "{criteria:?}");
        world.forge.set_ci(REPO, &[BUILD]).unwrap();
        world.by(WRITER).merge(REPO, fix.pull.unwrap().0, "squash").await.unwrap();
        world.settle().await;
        assert_eq!(world.state().await, "in_review", "{policy}");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_takes_hold_while_ci_is_waited_for() {
    let times = CiTimes { every: 50, silence: 0, deadline: 600_000 };
    let world = world(Setup::new().ci(times), &[job(None, "")]).await;
    world.script.plays(1);
    world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, 1, "autobuild").unwrap();
    loop {
        world.idle().await;
        match world.feature_of(1).await {
            Some(feature) if feature.tasks.first().is_some_and(|task| task.pull.is_some()) => break,
            _ => tokio::task::yield_now().await,
        }
    }
    let pull = world.pull(1).await;
    world.by(WRITER).comment(REPO, pull, "/autobuild cancel").unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["cancelled"]);
    world.end().await;
}
