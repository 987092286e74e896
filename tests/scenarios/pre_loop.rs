//! Design before the first turn, and Features of one task.

use crate::world::{ADMIN, ISSUE, Plan, REPO, Setup, WRITER, World};
use autobuild::config::Role;
use domain::plan::Check;
use serde_json::{Value, json};

/// An issue whose check boxes are enough for a task.
const BOUND: &str = "Please say hello.\n\n- [ ] hello/1.txt says hello (`file: hello/1.txt`)\n- [ ] It reads well `human`\n\
                     - [x] done already\n";

/// Returns a designer's answer with additional keys.
fn design(more: &Value) -> Value {
    let mut answer = json!({
        "plan": "1. Write hello/1.txt.\n2. Nothing else.",
        "pattern": "none: a file is a file",
        "architecture_review": {"score": 91, "findings": ["couples nothing to nothing"]},
        "complexity": 1,
    });
    let fields = more.as_object().unwrap().clone();
    answer.as_object_mut().unwrap().extend(fields);
    json!({"role": "designer", "task": "TASK-001", "answer": answer})
}

async fn labelled(world: &World, body: &str) {
    world.open_issue(WRITER, body);
    world.by(WRITER).label(REPO, ISSUE, "autobuild-task").unwrap();
    world.settle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn check_boxes_make_a_feature_of_one_task_that_is_designed_built_and_merged() {
    let player = r#"cat > "$WORLD/prompt"
mkdir -p hello; echo hello 1 > hello/1.txt
echo '{"summary": "Said it.", "files_modified": [], "files_created": ["hello/1.txt"], "ready_for_validation": true}'
"#;
    let world = Setup::new().command(Role::Player, player).build().await;
    world.script.step(design(&json!({}))).approves(1);
    labelled(&world, BOUND).await;
    assert_eq!(world.state().await, "in_review");
    let feature = world.feature().await;
    let criteria = &feature.tasks[0].plan.acceptance_criteria;
    let read: Vec<(&str, &Check)> = criteria.iter().map(|c| (c.text.as_str(), &c.check)).collect();
    assert_eq!(
        read,
        [("hello/1.txt says hello", &Check::File("hello/1.txt".to_owned())), ("It reads well", &Check::Human),]
    );
    let told = std::fs::read_to_string(world.folder().join("prompt")).unwrap();
    let body = world.pull_json(world.pull(1).await).await["body"].to_string();
    for advised in ["Nothing else.", "a file is a file", "couples nothing to nothing"] {
        assert!(told.contains(advised), "{advised}: {told}");
        assert!(body.contains(advised), "{advised}: {body}");
    }
    assert!(body.contains("91 of 100"), "{body}");
    let pull = world.feature_pull().await;
    world.by(ADMIN).merge(REPO, pull, "merge").await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "completed");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_check_boxes_the_criteria_are_the_designers_and_one_design_is_enough() {
    let world = World::new().await;
    let criteria = json!([
        {"text": "hello/1.txt says hello", "check": {"file": "hello/1.txt"}},
        {"text": "It reads well", "check": "human"},
    ]);
    world.script.step(design(&json!({"acceptance_criteria": criteria, "files": ["hello/1.txt"]})));
    world.script.succeeds(1);
    labelled(&world, "Say hello in a file.").await;
    assert_eq!(world.state().await, "in_review");
    let feature = world.feature().await;
    assert_eq!(feature.tasks[0].plan.acceptance_criteria.len(), 2);
    assert_eq!(feature.tasks[0].pre_loop.design().unwrap().score, Some(91));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn boxes_that_nothing_binds_are_bound_by_the_designer_after_one_repair() {
    let world = World::new().await;
    let bound = |text: &str| json!({"acceptance_criteria": [{"text": text, "check": {"file": "hello/1.txt"}}]});
    world.script.step(design(&bound("In other words")));
    world.script.step(design(&bound("hello/1.txt says hello")));
    world.script.succeeds(1);
    labelled(&world, "- [ ] hello/1.txt says hello\n").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_designer_that_binds_nothing_makes_no_plan() {
    let world = World::new().await;
    for _ in 0..2 {
        let human = json!([{"text": "It is nice", "check": "human"}]);
        world.script.step(design(&json!({"acceptance_criteria": human})));
    }
    labelled(&world, "Say hello in a file.").await;
    assert_eq!(world.state().await, "failed");
    let said = world.answers(ISSUE).await;
    assert!(said.contains("every criterion is for a person"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_pre_loop_never_only_bound_check_boxes_start_a_task() {
    let world = Setup::new().settings("pre_loop: never").build().await;
    labelled(&world, "- [ ] hello/1.txt says hello\n").await;
    assert!(world.feature_of(ISSUE).await.is_none());
    let said = world.answers(ISSUE).await;
    assert!(said.contains("check boxes") && said.contains("pre_loop: never"), "{said}");
    world.end().await;
    let world = Setup::new().settings("pre_loop: never").build().await;
    world.script.succeeds(1);
    labelled(&world, BOUND).await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.feature().await.tasks[0].pre_loop.design(), None);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn either_label_is_refused_beside_an_unfinished_run_of_the_other() {
    for (first, second) in [("autobuild", "autobuild-task"), ("autobuild-task", "autobuild")] {
        let world = Setup::new().settings("plan_approval: always").build().await;
        if first == "autobuild" {
            world.script.plans(&Plan::one());
        }
        world.open_issue(WRITER, BOUND);
        world.by(WRITER).label(REPO, ISSUE, first).unwrap();
        world.settle().await;
        assert_eq!(world.state().await, "awaiting_approval", "{first}");
        world.by(WRITER).label(REPO, ISSUE, second).unwrap();
        world.settle().await;
        let said = world.last_answer(ISSUE).await;
        assert!(said.contains(&format!("/{REPO}/issues/{ISSUE}")), "{said}");
        assert_eq!(world.feature().await.key.run, 1);
        world.by(WRITER).unlabel(REPO, ISSUE, first).unwrap();
        world.settle().await;
        assert_eq!(world.state().await, "cancelled", "{first}");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_isolation_a_command_in_a_check_box_waits_for_a_person() {
    let world = Setup::new().bare().build().await;
    labelled(&world, "- [ ] It runs (`command: test -s hello/1.txt`)\n").await;
    assert_eq!(world.state().await, "awaiting_approval");
    world.script.step(design(&json!({})));
    world.script.plays(1);
    world.script.step(json!({"role": "coach", "answer": {"decision": "approve", "summary": "Fine.",
        "criteria": [{"criterion": 1, "met": true, "evidence": "`test -s hello/1.txt` passes"}]}}));
    world.say(WRITER, ISSUE, "/autobuild approve").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_pre_loop_always_each_task_of_a_plan_is_designed() {
    let world = Setup::new().settings("pre_loop: always").build().await;
    world.script.plans(&Plan::one());
    world.script.step(design(&json!({})));
    world.script.succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    assert!(world.feature().await.tasks[0].pre_loop.design().is_some());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_designer_that_fails_three_times_blocks_and_resume_asks_it_again() {
    let world = Setup::new().settings("pre_loop: always").build().await;
    world.script.plans(&Plan::one());
    for _ in 0..3 {
        world.script.step(json!({"role": "designer", "fail": "exit"}));
    }
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    assert!(world.feature().await.tasks[0].turns.is_empty(), "no turn is used up");
    world.script.step(design(&json!({})));
    world.script.succeeds(1);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_designer_that_fails_to_plan_an_only_task_is_named() {
    let world = World::new().await;
    for _ in 0..3 {
        world.script.step(json!({"role": "designer", "fail": "exit"}));
    }
    labelled(&world, "Say hello in a file.").await;
    assert_eq!(world.state().await, "blocked");
    let said = world.answers(ISSUE).await;
    assert!(said.contains("The designer failed at every try"), "{said}");
    assert!(!said.contains("The planner"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_designer_that_writes_into_its_checkout_has_failed() {
    let designer = "echo sneaky > sneaky.txt\necho '{\"plan\": \"Just do it.\"}'\n";
    let world = Setup::new().settings("pre_loop: always").command(Role::Designer, designer).build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let said = world.answers(ISSUE).await;
    assert!(said.contains("checkout_unchanged") && said.contains("sneaky.txt"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_design_of_the_wrong_shape_is_asked_for_once_more() {
    let world = Setup::new().settings("pre_loop: always").build().await;
    world.script.plans(&Plan::one());
    world.script.step(json!({"role": "designer", "answer": {"plan": " ", "complexity": 99}}));
    world.script.step(design(&json!({})));
    world.script.succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}
