//! Turns of one task: feedback, and how to continue a blocked task.

use crate::{
    pipes::Pipes,
    world::{ISSUE, Plan, READER, REPO, Setup, Task, WRITER, World},
};
use autobuild::config::Role;
use serde_json::json;
use std::{
    fs,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

/// Creates a task that got feedback in its only turn.
async fn blocked_world() -> World {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::one());
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, "It says hullo.");
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    assert_eq!(world.tasks().await, ["blocked"]);
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn feedback_is_a_request_for_changes_and_the_next_turn_may_be_approved() {
    let world = World::new().await;
    world.script.plans(&Plan::one());
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, "It says hullo.").succeeds(1);
    world.start().await;
    let pull = world.pull(1).await;
    assert_eq!(world.review_states(pull).await, ["CHANGES_REQUESTED", "APPROVED"]);
    let inline = world.list(&format!("pulls/{pull}/comments")).await;
    assert_eq!(inline.len(), 1, "the item's line is in the diff: {inline:?}");
    assert_eq!(inline[0]["path"], "hello/1.txt");
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.feature().await.tasks[0].turns.len(), 2);
    insta::assert_snapshot!("feedback_then_approval", world.transcript().await);
    world.end().await;
}

/// Returns the only entry of a folder in the world's folder.
fn only_entry(world: &World, folder: &str) -> PathBuf {
    let mut entries = fs::read_dir(world.folder().join(folder)).unwrap();
    entries.next().unwrap().unwrap().path()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_whose_mirror_never_had_the_tags_reads_them_before_its_gates_run() {
    let tagged = "test \"$(git describe --tags --abbrev=0)\" = v1\n";
    let world = Setup::new().settings("max_turns: 1").with_file("tests/tag_test.sh", tagged).build().await;
    let mut tag = Command::new("git");
    tag.arg("--git-dir").arg(only_entry(&world, "forge/repositories")).args(["tag", "v1", "main"]);
    assert!(tag.status().unwrap().success());
    world.script.plans(&Plan::one());
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, "It says hullo.");
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    fs::remove_file(only_entry(&world, "data/git/mirrors").join("tags-of-history")).unwrap();
    world.script.succeeds(1);
    world.say(WRITER, world.pull(1).await, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review", "{}", world.answers(ISSUE).await);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_report_stands_on_the_pull_request_and_says_the_ways_on() {
    let world = blocked_world().await;
    let pull = world.pull(1).await;
    let reviews = world.reviews(pull).await;
    let report = &reviews.last().unwrap().2;
    for way in [
        "/autobuild resume",
        "/autobuild approve",
        "/autobuild retry",
        "/autobuild skip TASK-001",
        "@wendy, this task waits for you.",
    ] {
        assert!(report.contains(way), "{way} is missing in:\n{report}");
    }
    assert!(!report.lines().any(|line| line.starts_with("/autobuild")), "no live command:\n{report}");
    assert_eq!(reviews.len(), 1, "verdict and report are one review");
    assert_eq!(reviews.last().unwrap().1, "CHANGES_REQUESTED");
    insta::assert_snapshot!("blocked_report", world.transcript().await);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn guidance_reaches_the_player_word_for_word() {
    let player = r#"cat > "$WORLD/prompt-$AUTOBUILD_TASK-$AUTOBUILD_TURN"
mkdir -p hello
echo "hello $AUTOBUILD_TURN" > hello/1.txt
echo '{"summary": "Said it.", "files_modified": [], "files_created": ["hello/1.txt"], "ready_for_validation": true}'
"#;
    let world = Setup::new().settings("max_turns: 1").command(Role::Player, player).build().await;
    world.script.plans(&Plan::one()).feedback(1, "It says hullo.");
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    world.script.approves(1);
    let guidance = "Use \"hello\" with `two` l's,\n\n  * and <b>no</b> more.\n```\ncode\n```";
    let pull = world.pull(1).await;
    let comment = world.say(WRITER, pull, &format!("/autobuild resume {guidance}")).await;
    let prompt = std::fs::read_to_string(world.folder().join("prompt-TASK-001-2")).unwrap();
    assert!(prompt.contains(guidance), "{prompt}");
    assert!(prompt.contains("It says hullo."), "the last verdict's items: {prompt}");
    assert_eq!(world.reactions(comment).await, ["eyes", "rocket"]);
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resume_on_the_issue_resumes_the_blocked_task_with_the_turns_asked_for() {
    let world = blocked_world().await;
    world.script.writes(1, &[("hello/1.txt", "helo\n")]).feedback(1, "It says helo.").succeeds(1);
    world.say(WRITER, ISSUE, "/autobuild resume --max-turns=2").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_nobody_knows_are_ignored_and_shown_in_the_review() {
    let world = World::new().await;
    world.script.plans(&Plan::one());
    world.script.step(json!({
        "role": "player", "write": {"hello/1.txt": "hello 1\n"},
        "answer": {"summary": "Said.", "files_modified": [], "files_created": ["hello/1.txt"],
                   "ready_for_validation": true, "mood": "fine", "@octo": 1},
    }));
    world.script.step(json!({
        "role": "coach",
        "answer": {"decision": "approve", "summary": "It does.", "confidence": 0.9,
                   "criteria": [{"criterion": 1, "met": true, "evidence": "hello/1.txt"}]},
    }));
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let reviews = world.reviews(world.pull(1).await).await;
    let said = &reviews[0].2;
    let line = "Unknown keys, ignored: in the Player's report: `@octo`, `mood`; in the Coach's decision: `confidence`.";
    assert!(said.contains(line), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn approve_on_a_blocked_pull_request_overrides_the_coach() {
    let world = blocked_world().await;
    let pull = world.pull(1).await;
    world.say(WRITER, pull, "/autobuild approve").await;
    let states = world.review_states(pull).await;
    assert!(!states.contains(&"CHANGES_REQUESTED".to_owned()), "{states:?}");
    assert!(states.contains(&"DISMISSED".to_owned()), "{states:?}");
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.pull_json(pull).await["merged"], true);
    let told = world.happenings();
    let dismissal = told.lines().skip_while(|line| !line.contains("dismiss")).nth(1).unwrap_or_default().to_owned();
    assert!(dismissal.contains(WRITER), "the person is named: {dismissal}\n");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_starts_again_on_a_new_branch_and_closes_the_old_pull_request_with_a_link() {
    let world = blocked_world().await;
    let old = world.pull(1).await;
    let old_branch = world.branch(1).await;
    world.script.succeeds(1);
    world.say(WRITER, ISSUE, "/autobuild retry TASK-001").await;
    let new = world.pull(1).await;
    assert_ne!(old, new);
    assert_eq!(world.branch(1).await, format!("{old_branch}-a2"));
    assert_eq!(world.pull_json(old).await["state"], "closed");
    assert_eq!(world.pull_json(old).await["merged"], false);
    let said = world.answers(old).await;
    assert!(said.contains(&format!("/tree/{old_branch}-a2)")), "no link to the new branch: {said}");
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn skipping_a_task_blocks_those_that_need_it_until_each_is_decided() {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2).needs(&[1]), Task::new(3)]));
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, "It says hullo.").succeeds(3);
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked", "pending", "completed"]);
    world.say(WRITER, ISSUE, "/autobuild skip TASK-001").await;
    assert_eq!(world.tasks().await, ["skipped", "blocked", "completed"]);
    assert_eq!(world.state().await, "blocked");
    let issue = world.answers(ISSUE).await;
    assert!(issue.contains("TASK-001"), "{issue}");
    world.script.succeeds(2);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.tasks().await, ["skipped", "completed", "completed"]);
    assert_eq!(world.state().await, "in_review");
    let body = world.pull_json(world.feature_pull().await).await["body"].as_str().unwrap().to_owned();
    assert!(body.contains("Part of #1") && !body.contains("Closes #1"), "{body}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feature_without_a_completed_task_is_cancelled_without_a_pull_request() {
    let world = blocked_world().await;
    world.say(WRITER, ISSUE, "/autobuild skip TASK-001").await;
    assert_eq!(world.state().await, "cancelled");
    assert!(world.feature().await.pull.is_none());
    world.end().await;
}

const SLEEPER: &str = r#"echo $$ > "$WORLD/started"
setsid sleep 1000 &
read line < "$WORLD/go"
sleep 1000
"#;

#[tokio::test(flavor = "multi_thread")]
async fn cancel_stops_a_running_agent_at_once_and_leaves_no_process() {
    let setup = Setup::new().command(Role::Player, SLEEPER);
    let mut pipes = Pipes::new(setup.folder());
    let world = setup.build().await;
    world.script.plans(&Plan::one());
    world.open_issue(WRITER, "Say hello.");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    let pid = pipes.started().await;
    let asked = Instant::now();
    let comment = world.say(WRITER, ISSUE, "/autobuild cancel").await;
    assert!(asked.elapsed() < Duration::from_secs(600), "the agent slept to its end");
    assert_eq!(world.state().await, "cancelled");
    assert_eq!(world.reactions(comment).await, ["eyes", "rocket"]);
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "the agent is gone");
    let files = walk(&world.folder().join("data"));
    let checkouts = files.iter().filter(|path| path.ends_with("README.md"));
    assert_eq!(checkouts.count(), 1, "only what the Player left is kept, in case it is wanted again: {files:?}");
    world.end().await;
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        found.push(path.display().to_string());
        if path.is_dir() && !path.is_symlink() {
            found.extend(walk(&path));
        }
    }
    found
}

const WAITER: &str = r#"echo started > "$WORLD/started"
read line < "$WORLD/go"
mkdir -p hello
echo hello 1 > hello/1.txt
echo '{"summary": "Said it.", "files_modified": [], "files_created": ["hello/1.txt"], "ready_for_validation": true}'
"#;

#[tokio::test(flavor = "multi_thread")]
async fn pause_lets_the_running_agent_end_and_resume_goes_on() {
    let setup = Setup::new().command(Role::Player, WAITER);
    let mut pipes = Pipes::new(setup.folder());
    let world = setup.build().await;
    world.script.plans(&Plan::one());
    world.open_issue(WRITER, "Say hello.");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    pipes.started().await;
    world.by(WRITER).comment(REPO, ISSUE, "/autobuild pause").unwrap();
    world.forge.deliveries_idle().await;
    while world.state().await != "paused" {
        tokio::task::yield_now().await;
    }
    pipes.go().await;
    world.settle().await;
    assert_eq!(world.state().await, "paused");
    assert!(world.forge.head(REPO, &world.branch(1).await).unwrap().is_some(), "the turn's work is pushed");
    world.script.approves(1);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_change_twice_in_a_row_blocks_without_gates_or_coach() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).writes(1, &[]).writes(1, &[]);
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    assert!(world.feature().await.tasks[0].pull.is_none());
    let said = world.answers(ISSUE).await;
    assert!(said.contains("no change") || said.contains("No change") || said.contains("changed nothing"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_people_without_the_right_get_one_reply_and_do_nothing() {
    let world = blocked_world().await;
    let pull = world.pull(1).await;
    let before = world.answers(pull).await;
    let comment = world.say(READER, pull, "/autobuild approve").await;
    assert_eq!(world.reactions(comment).await, ["confused"]);
    let said = world.answers(pull).await;
    assert!(said.len() > before.len() && said.contains("write access"), "{said}");
    assert_eq!(world.tasks().await, ["blocked"]);
    world.end().await;
}
