//! Tasks that AutoBuild adds: repairs of a wave, conflicts with the default branch, people's reviews of the feature
//! pull request.

use crate::world::{ISSUE, Plan, REPO, Setup, Task, WRITER, World};
use domain::{ids::TaskId, task::Origin};
use forge::LineRemark;
use serde_json::json;

const INTEGRATION: &str = "autobuild/1/integration";
const FIX: TaskId = TaskId::Fix(1);
const SYNC: TaskId = TaskId::Sync(1);

/// Passes with either file alone, and with both only if code handles both.
const TOGETHER: &str = "[ -f hello/1.txt ] || exit 1\n\
     [ ! -f hello/2.txt ] || [ -f hello/both.txt ] || { echo together it breaks; exit 1; }\n";

/// Plans two tasks that pass alone but not together.
fn breaks_together(world: &World) {
    world.script.plans(&Plan::of([Task::new(1), Task::new(2)]));
    let files = [("hello/1.txt", "hello 1\n"), ("tests/both_test.sh", TOGETHER)];
    world.script.writes(1, &files).approves(1);
    world.script.writes(2, &[("hello/2.txt", "hello 2\n")]).approves(2);
}

/// A workflow that gives no rights to the code.
const HARMLESS: &str = "on: push\npermissions: {}\njobs: {a: {runs-on: ubuntu-latest, steps: [{run: make}]}}\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_red_wave_gate_is_mended_by_a_task_that_names_the_merge_that_broke_it() {
    let world = World::new().await;
    breaks_together(&world);
    world.script.writes_as("TASK-FIX-1", &[("hello/both.txt", "both\n")]);
    world.script.approves_as("TASK-FIX-1", "hello/both.txt");
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let feature = world.feature().await;
    let fix = feature.task(FIX).expect("a repair");
    assert_eq!((fix.wave, fix.is_completed()), (1, true));
    let merged: Vec<_> = feature.tasks.iter().filter_map(|task| task.merged_as()).collect();
    let Origin::Fix { broke: Some(broke) } = &fix.origin else {
        panic!("nobody is blamed: {:?}", fix.origin);
    };
    assert!(merged.contains(&broke), "{broke} is no merge of a task");
    let said = &fix.plan.description;
    assert!(said.contains("broke it") && said.contains("together it breaks"), "{said}");
    assert_eq!(fix.plan.acceptance_criteria.len(), 1);
    // The last commit removes the records.
    let recorded = format!("{INTEGRATION}~1");
    let plan = world.file(&recorded, ".autobuild/features/FEAT-1.yaml").unwrap();
    assert!(plan.contains("TASK-FIX-1"), "{plan}");
    assert!(world.file(&recorded, ".autobuild/tasks/FEAT-1/TASK-FIX-1.md").is_some());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_third_red_gate_of_a_wave_blocks_and_resume_allows_two_repairs_more() {
    let world = World::new().await;
    breaks_together(&world);
    world.start().await;
    // There is no script for the repairs; a person gives them up one by one.
    for fix in ["TASK-FIX-1", "TASK-FIX-2"] {
        world.say(WRITER, ISSUE, &format!("/autobuild skip {fix}")).await;
    }
    assert_eq!(world.state().await, "blocked");
    let said = world.answers(ISSUE).await;
    assert!(said.contains("together it breaks"), "{said}");
    assert!(world.feature().await.task(TaskId::Fix(3)).is_none());
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert!(world.feature().await.task(TaskId::Fix(3)).is_some());
    let mend = [("hello/both.txt", Some("both\n"))];
    world.by(WRITER).push(REPO, INTEGRATION, "Mend", &mend).await.unwrap();
    world.say(WRITER, ISSUE, "/autobuild skip TASK-FIX-3").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_smoke_command_that_fails_is_the_criterion_of_the_repair() {
    let world = World::new().await;
    let plan = Plan::one().with("smoke", "sh hello/smoke.sh".into());
    world.script.plans(&plan).succeeds(1);
    world.script.writes_as("TASK-FIX-1", &[("hello/smoke.sh", "echo alive\n")]);
    // The repair writes what judges it.
    let fine =
        json!({"question": 1, "verdict": "fine", "because": "It starts the product.", "quote": "hello/smoke.sh:1"});
    let criteria = json!([{"criterion": 1, "met": true, "evidence": "hello/smoke.sh"}]);
    let answer = json!({"decision": "approve", "summary": "It lives.", "criteria": criteria, "answers": [fine]});
    world.script.step(json!({"role": "coach", "task": "TASK-FIX-1", "answer": answer}));
    world.start().await;
    if world.state().await == "awaiting_approval" {
        let hash = world.feature().await.plan.unwrap().hash;
        world.say(WRITER, ISSUE, &format!("/autobuild approve {}", &hash[..8])).await;
    }
    assert_eq!(world.state().await, "in_review");
    let feature = world.feature().await;
    let criteria = &feature.task(FIX).expect("a repair").plan.acceptance_criteria;
    let check = domain::plan::Check::Command("sh hello/smoke.sh".to_owned());
    assert!(criteria.iter().any(|criterion| criterion.check == check), "{criteria:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_with_the_default_branch_is_resolved_by_a_task() {
    let world = Setup::new().settings("merge: human").build().await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2).needs(&[1])])).succeeds(1).succeeds(2);
    world.script.writes_as("TASK-SYNC-1", &[("hello/1.txt", "hello 1\ntheirs\n")]);
    world.script.approves_as("TASK-SYNC-1", "hello/1.txt");
    world.start().await;
    let files = [("hello/1.txt", Some("theirs\n")), (".github/workflows/ci.yml", Some(HARMLESS))];
    let theirs = world.by(WRITER).push(REPO, "main", "Theirs", &files).await.unwrap();
    let pull = world.pull(1).await;
    world.by(WRITER).merge(REPO, pull, "squash").await.unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["completed", "approved", "completed"]);
    let feature = world.feature().await;
    let sync = feature.task(SYNC).expect("a task resolves it");
    let head = sync.head.as_ref().unwrap().as_str();
    let parents = world.git_says(&["log", "-1", "--format=%P", head]);
    assert!(parents.ends_with(&theirs) && parents.split_whitespace().count() == 2, "{parents}");
    world.git_says(&["merge-base", "--is-ancestor", head, INTEGRATION]);
    let shown = world.pull_json(sync.pull.unwrap().0).await;
    assert_eq!(shown["merged"], true, "{shown}");
    assert_eq!(world.file(INTEGRATION, "hello/1.txt").as_deref(), Some("hello 1\ntheirs\n"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_in_review_is_resolved_and_the_same_pull_request_waits_again() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let pull = world.feature_pull().await;
    world.script.writes_as("TASK-SYNC-1", &[("hello/1.txt", "hello 1\ntheirs\n")]);
    world.script.approves_as("TASK-SYNC-1", "hello/1.txt");
    let files = [("hello/1.txt", Some("theirs\n"))];
    world.by(WRITER).push(REPO, "main", "Theirs", &files).await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.feature_pull().await, pull);
    world.by(WRITER).merge(REPO, pull, "merge").await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "completed");
    assert_eq!(world.file("main", "hello/1.txt").as_deref(), Some("hello 1\ntheirs\n"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_in_a_file_whose_name_is_a_token_is_stored_without_it() {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let path = format!("hello/{token}.txt");
    for (branch, text) in [(INTEGRATION, "ours\n"), ("main", "theirs\n")] {
        world.by(WRITER).push(REPO, branch, "More", &[(path.as_str(), Some(text))]).await.unwrap();
    }
    world.settle().await;
    let feature = world.feature().await;
    let told = format!("{:?}", feature.task(SYNC).expect("a task resolves it").plan);
    assert!(told.contains("hello/[masked]") && !told.contains(token), "{told}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_to_the_default_branch_that_merges_disturbs_nobody_in_review() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let files = [("theirs.txt", Some("theirs\n"))];
    world.by(WRITER).push(REPO, "main", "Theirs", &files).await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.tasks().await, ["completed"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resolved_conflict_is_verified_again_if_the_integration_branch_moved() {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    world.script.writes_as("TASK-SYNC-1", &[("hello/1.txt", "hello 1\ntheirs\n")]);
    let files = [("hello/1.txt", Some("theirs\n"))];
    world.by(WRITER).push(REPO, "main", "Theirs", &files).await.unwrap();
    // No Coach answers: the task is blocked after its work was pushed, and a person acts first.
    world.settle().await;
    assert_eq!(world.state().await, "blocked");
    let more = [("more.txt", Some("more\n"))];
    world.by(WRITER).push(REPO, INTEGRATION, "More", &more).await.unwrap();
    world.script.approves_as("TASK-SYNC-1", "hello/1.txt");
    world.script.approves_as("TASK-SYNC-1", "hello/1.txt");
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.file(INTEGRATION, "more.txt").as_deref(), Some("more\n"));
    assert_eq!(world.file(INTEGRATION, "hello/1.txt").as_deref(), Some("hello 1\ntheirs\n"));
    let feature = world.feature().await;
    assert_eq!(feature.task(SYNC).unwrap().turns.len(), 2);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_changes_on_the_feature_pull_request_becomes_a_task_of_its_items() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let pull = world.feature_pull().await;
    world.script.writes_as(
        "TASK-REVIEW-1",
        &[("hello/1.txt", "hello 1!\n"), ("tests/loud_test.sh", "grep -q ! hello/1.txt\n")],
    );
    world.script.step(serde_json::json!({
        "role": "coach", "task": "TASK-REVIEW-1",
        "answer": {"decision": "approve", "summary": "Loud.", "criteria": [
            {"criterion": 1, "met": true, "evidence": "hello/1.txt"},
            {"criterion": 2, "met": true, "evidence": "tests/loud_test.sh"},
        ]},
    }));
    let remark = LineRemark { path: "hello/1.txt".to_owned(), line: Some(1), text: "Say it louder.".to_owned() };
    let person = world.by(WRITER);
    person.review(REPO, pull, "REQUEST_CHANGES", "And test it.", &[remark]).await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.feature_pull().await, pull);
    let feature = world.feature().await;
    let review = feature.task(TaskId::Review(1)).expect("a task of its items");
    assert_eq!((review.wave, review.is_completed()), (2, true));
    let asked: Vec<&str> = review.plan.acceptance_criteria.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(asked, ["And test it.", "hello/1.txt:1: Say it louder."]);
    assert_eq!(world.file(INTEGRATION, "hello/1.txt").as_deref(), Some("hello 1!\n"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_in_review_runs_the_gate_again_and_its_defects_are_repaired() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    world.script.writes_as("TASK-FIX-1", &[("hello/more.txt", "more\n")]);
    world.script.approves_as("TASK-FIX-1", "hello/more.txt");
    let files = [("tests/more_test.sh", Some("[ -f hello/more.txt ]\n"))];
    let theirs = world.by(WRITER).push(REPO, INTEGRATION, "Ask", &files).await.unwrap();
    world.settle().await;
    assert_eq!(world.checks(&theirs).await, ["AutoBuild failure"]);
    assert_eq!(world.state().await, "in_review");
    let feature = world.feature().await;
    let fix = feature.task(FIX).expect("a repair");
    assert_eq!(fix.origin, Origin::Fix { broke: Some(theirs.parse().unwrap()) });
    world.end().await;
}
