//! Parallel and successive tasks: conflicts, the default branch, wave gates, rules.

use crate::world::{ISSUE, Plan, REPO, Setup, Task, WRITER, World};
use forge::{BranchRule, RuleKind};
use serde_json::json;

const INTEGRATION: &str = "autobuild/1/integration";

/// Returns the number of parents of the newest commit whose message contains this text, on a branch or anywhere.
fn parents(world: &World, from: &str, message: &str) -> usize {
    let found = world.git_says(&["log", "-1", "--format=%P", &format!("--grep={message}"), from]);
    found.split_whitespace().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn waves_follow_what_tasks_need() {
    let world = World::new().await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2).needs(&[1]), Task::new(3).needs(&[1])]));
    world.script.succeeds(1).succeeds(2).succeeds(3);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let feature = world.feature().await;
    assert_eq!(feature.tasks.iter().map(|task| task.wave).collect::<Vec<_>>(), [1, 2, 2]);
    let head = world.pull_json(world.feature_pull().await).await["head"]["sha"].as_str().unwrap().to_owned();
    let gated: Vec<(u32, bool)> =
        feature.gates.iter().map(|gate| (gate.wave, gate.newest().as_str() == head)).collect();
    assert_eq!(gated, [(1, false), (2, true)], "after each wave, and the last for what is shown to people");
    for number in 1..=3 {
        let file = format!("hello/{number}.txt");
        assert_eq!(world.file(INTEGRATION, &file), Some(format!("hello {number}\n")));
    }
    let body = world.pull_json(world.feature_pull().await).await["body"].as_str().unwrap().to_owned();
    assert!(body.contains("Closes #1"), "{body}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_with_a_task_of_the_same_wave_is_a_turn_whose_commit_has_both_parents() {
    let world = World::new().await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2)]));
    world.script.writes(1, &[("hello/1.txt", "hello 1\n"), ("shared.txt", "one\n")]).approves(1);
    world.script.writes(2, &[("hello/2.txt", "hello 2\n"), ("shared.txt", "two\n")]).approves(2);
    // The second task resolves the conflict.
    world.script.step(json!({
        "role": "player", "turn": 2, "write": {"shared.txt": "one\ntwo\n"},
        "answer": {"summary": "Both.", "files_modified": ["shared.txt"], "files_created": [], "ready_for_validation": true},
    }));
    world.script.step(json!({
        "role": "coach", "turn": 2,
        "answer": {"decision": "approve", "summary": "Both.", "criteria": [{"criterion": 1, "met": true, "evidence": "shared.txt"}]},
    }));
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.file(INTEGRATION, "shared.txt").as_deref(), Some("one\ntwo\n"));
    let feature = world.feature().await;
    let second = feature.tasks.iter().find(|task| task.turns.len() == 2).expect("one task had a second turn");
    let head = second.head.as_ref().unwrap().as_str().to_owned();
    assert_eq!(world.git_says(&["log", "-1", "--format=%P", &head]).split_whitespace().count(), 2);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_push_to_the_default_branch_is_merged_before_the_next_wave() {
    let world = Setup::new().settings("merge: human").build().await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2).needs(&[1])])).succeeds(1).succeeds(2);
    world.start().await;
    let theirs = world.by(WRITER).push(REPO, "main", "Theirs", &[("theirs.txt", Some("theirs\n"))]).await.unwrap();
    world.by(WRITER).merge(REPO, world.pull(1).await, "squash").await.unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["completed", "approved"]);
    world.git_says(&["merge-base", "--is-ancestor", &theirs, &world.branch(2).await]);
    let merge = world.git_says(&["log", "-1", "--merges", "--format=%P", INTEGRATION]);
    assert!(merge.split_whitespace().count() == 2 && merge.contains(&theirs), "{merge}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merge_that_a_rule_refuses_leaves_the_task_approved_and_names_the_rule() {
    let world = World::new().await;
    world
        .forge
        .add_rule(
            REPO,
            BranchRule { pattern: INTEGRATION.to_owned(), kind: RuleKind::RequiredChecks(vec!["ci/never".to_owned()]) },
        )
        .unwrap();
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.tasks().await, ["approved"]);
    assert!(world.answers(ISSUE).await.contains("ci/never"));
    world.forge.clear_rules(REPO).unwrap();
    world.by(WRITER).merge(REPO, world.pull(1).await, "squash").await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_coach_app_reviews_are_comments_and_the_check_carries_the_verdict() {
    let world = Setup::new().without_coach_app().settings("merge: human").build().await;
    world.script.plans(&Plan::one());
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, "It says hullo.").succeeds(1);
    world.start().await;
    let pull = world.pull(1).await;
    assert_eq!(world.review_states(pull).await, ["COMMENTED", "COMMENTED"]);
    let head = world.pull_json(pull).await["head"]["sha"].as_str().unwrap().to_owned();
    assert_eq!(world.checks(&head).await, ["AutoBuild success"]);
    assert_eq!(world.tasks().await, ["approved"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_drafts_and_squashes_do_not_exist_the_next_best_is_done() {
    let world = World::new().await;
    world
        .forge
        .change_settings(REPO, |settings| (settings.drafts, settings.allow_squash_merge) = (false, false))
        .unwrap();
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let merge = world.git_says(&["log", "--merges", "--format=%s", "autobuild/1/integration"]);
    assert!(!merge.is_empty());
    assert_eq!(parents(&world, INTEGRATION, "hello"), 2);
    world.end().await;
}
