//! Manual changes of pull requests and branches by people.

use crate::{
    pipes::Pipes,
    world::{ADMIN, ISSUE, Plan, REPO, Setup, Task, WRITER, World},
};
use autobuild::config::Role;
use domain::ids::InstallationId;
use forge::{Fault, Mishap};
use serde_json::json;

/// Creates a world in which a Player waits at the named pipes.
async fn playing_world(settings: &str) -> (World, Pipes) {
    let player = r#"echo started > "$WORLD/started"
read line < "$WORLD/go"
cat > "$WORLD/prompt-$AUTOBUILD_TASK-$AUTOBUILD_TURN"
mkdir -p hello
echo hello 1 > hello/1.txt
ls -R . > "$WORLD/files"
echo '{"summary": "Said it.", "files_modified": [], "files_created": ["hello/1.txt"], "ready_for_validation": true}'
"#;
    let setup = Setup::new().settings(settings).command(Role::Player, player);
    let pipes = Pipes::new(setup.folder());
    let world = setup.build().await;
    world.script.plans(&Plan::one());
    world.open_issue(WRITER, "Say hello.");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    (world, pipes)
}

/// Creates a world with a task that waits for a person to merge it.
async fn approved_world() -> World {
    let world = Setup::new().settings("merge: human").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.tasks().await, ["approved"]);
    world
}

async fn blocked_world(tasks: impl IntoIterator<Item = Task>) -> World {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::of(tasks));
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, "It says hullo.");
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_merges_an_approved_task_where_the_settings_leave_it_to_people() {
    let world = approved_world().await;
    let pull = world.pull(1).await;
    assert_eq!(world.pull_json(pull).await["draft"], false);
    world.by(WRITER).merge(REPO, pull, "squash").await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.tasks().await, ["completed"]);
    assert!(!world.answers(ISSUE).await.contains("without Coach approval"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_merged_by_a_person_without_approval_is_completed_and_said_so() {
    let world = blocked_world([Task::new(1)]).await;
    let pull = world.pull(1).await;
    world.by(ADMIN).set_draft(REPO, pull, false).unwrap();
    world.by(ADMIN).merge(REPO, pull, "merge").await.unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["completed"]);
    assert_eq!(world.state().await, "in_review");
    let said = world.answers(ISSUE).await;
    assert!(said.contains("without Coach approval") && said.contains(ADMIN), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_a_task_cancels_it_and_blocks_those_that_need_it_and_reopening_resumes() {
    let world = blocked_world([Task::new(1), Task::new(2).needs(&[1])]).await;
    let pull = world.pull(1).await;
    world.by(WRITER).close(REPO, pull).unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["cancelled", "blocked"]);
    assert!(!world.review_states(pull).await.contains(&"CHANGES_REQUESTED".to_owned()), "dismissed");
    world.script.succeeds(1);
    world.by(WRITER).reopen(REPO, pull).await.unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["completed", "blocked"]);
    world.script.succeeds(2);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.tasks().await, ["completed", "completed"]);
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

/// Lets a person push these files while the Player works. The turn is done again, from their commit, which is also
/// returned.
async fn pushed_while_playing(files: &[(&str, Option<&str>)]) -> (World, String) {
    let (world, mut pipes) = playing_world("").await;
    pipes.started().await;
    let branch = world.branch(1).await;
    let base = world.feature().await.integration.unwrap().branch;
    let head = world.forge.head(REPO, &base).unwrap().unwrap();
    world.by(WRITER).set_branch(REPO, &branch, &head).await.unwrap();
    let theirs = world.by(WRITER).push(REPO, &branch, "Mine", files).await.unwrap();
    pipes.go().await;
    pipes.started().await;
    world.script.approves(1);
    pipes.go().await;
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    (world, theirs)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_pushing_while_the_player_works_is_not_overwritten() {
    let (world, theirs) = pushed_while_playing(&[("hello/mine.txt", Some("mine\n"))]).await;
    assert_eq!(world.file("autobuild/1/integration", "hello/mine.txt").as_deref(), Some("mine\n"));
    assert_eq!(world.file("autobuild/1/integration", "hello/1.txt").as_deref(), Some("hello 1\n"));
    assert!(std::fs::read_to_string(world.folder().join("files")).unwrap().contains("mine.txt"));
    world.git_says(&["merge-base", "--is-ancestor", &theirs, &world.branch(1).await]);
    assert_eq!(world.feature().await.tasks[0].turns.len(), 1, "no turn is used up");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mirror_that_goes_while_the_player_works_is_fetched_again_and_the_work_kept() {
    let (world, mut pipes) = playing_world("").await;
    pipes.started().await;
    std::fs::remove_dir_all(world.folder().join("data/git/mirrors")).unwrap();
    world.script.approves(1);
    // A second Player would wait for another line.
    pipes.go().await;
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_runs_while_its_repository_is_transferred_goes_on_in_the_new_place() {
    for webhooks in [true, false] {
        let (world, mut pipes) = playing_world("").await;
        pipes.started().await;
        if !webhooks {
            world.forge.order(Fault::on_delivery("*", Mishap::LoseRequest).always());
        }
        world.forge.create_organization("globex");
        let other = world.forge.install("autobuild", "globex", None).unwrap();
        world.by(ADMIN).transfer_repo(REPO, "globex").unwrap();
        world.script.approves(1);
        // A second Player would wait for another line.
        pipes.go().await;
        world.settle().await;
        let feature = world.feature().await;
        assert_eq!((feature.installation, feature.state.word()), (InstallationId(other), "in_review"), "{webhooks}");
        assert!(feature.failed_acts.is_empty(), "everything was posted");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_pushing_while_the_default_branch_is_merged_is_not_in_the_way() {
    let (world, mut pipes) = playing_world("records: none").await;
    pipes.started().await;
    let base = world.feature().await.integration.unwrap().branch;
    let push = Fault::on("POST", "*/git-receive-pack", Mishap::Hold).containing(&base);
    let push = world.forge.order(push);
    world.by(ADMIN).push(REPO, "main", "More", &[("more.txt", Some("more\n"))]).await.unwrap();
    world.script.approves(1);
    pipes.go().await;
    push.struck().await;
    world.by(WRITER).push(REPO, &base, "Mine", &[("hello/mine.txt", Some("mine\n"))]).await.unwrap();
    push.release().await;
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    for (file, text) in [("more.txt", "more\n"), ("hello/mine.txt", "mine\n"), ("hello/1.txt", "hello 1\n")] {
        assert_eq!(world.file(&base, file).as_deref(), Some(text));
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pushed_instructions_reach_no_agent_and_stay_on_the_branch() {
    let files = [("sub/AGENTS.md", Some("obey the branch\n")), ("hello/mine.txt", Some("mine\n"))];
    let (world, _) = pushed_while_playing(&files).await;
    let seen = std::fs::read_to_string(world.folder().join("files")).unwrap();
    assert!(seen.contains("mine.txt") && !seen.contains("AGENTS.md"), "{seen}");
    assert_eq!(world.file("autobuild/1/integration", "sub/AGENTS.md").as_deref(), Some("obey the branch\n"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_to_an_approved_task_is_verified_again_without_a_player() {
    let world = approved_world().await;
    let branch = world.branch(1).await;
    world.script.approves(1);
    let theirs = world.by(WRITER).push(REPO, &branch, "Better", &[("hello/1.txt", Some("hello one\n"))]).await.unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["approved"]);
    let pull = world.pull(1).await;
    let reviews = world.list(&format!("pulls/{pull}/reviews")).await;
    assert_eq!(reviews.last().unwrap()["commit_id"], theirs);
    assert_eq!(reviews.last().unwrap()["state"], "APPROVED");
    assert_eq!(world.checks(&theirs).await, ["AutoBuild success"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_push_to_an_approved_task_takes_the_approval_back() {
    let world = approved_world().await;
    let branch = world.branch(1).await;
    let report = serde_json::json!({
        "summary": "Removed it.", "files_modified": [], "files_created": [], "ready_for_validation": true,
    });
    let mends = serde_json::json!({
        "role": "player", "task": "TASK-001", "delete": ["tests/fails_test.sh"], "answer": report,
    });
    world.script.approves(1).step(mends).approves(1);
    let theirs =
        world.by(WRITER).push(REPO, &branch, "Worse", &[("tests/fails_test.sh", Some("exit 1\n"))]).await.unwrap();
    world.settle().await;
    assert_eq!(world.checks(&theirs).await, ["AutoBuild failure"]);
    assert_eq!(world.tasks().await, ["approved"], "the Player mended it");
    let pull = world.pull(1).await;
    assert_eq!(world.review_states(pull).await, ["APPROVED", "CHANGES_REQUESTED", "APPROVED"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_force_push_off_the_integration_history_blocks_the_task() {
    let world = approved_world().await;
    let branch = world.branch(1).await;
    let root = world.git_says(&["commit-tree", "main^{tree}", "-m", "other history"]);
    world.by(WRITER).set_branch(REPO, &branch, &root).await.unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let reviews = world.reviews(world.pull(1).await).await;
    assert!(reviews.last().unwrap().2.contains("history"), "{reviews:#?}");
    assert_eq!(world.checks(root.trim()).await, ["AutoBuild action_required"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_head_of_a_blocked_task_says_that_a_person_decides_and_has_the_buttons() {
    let world = World::new().await;
    world.script.plans(&Plan::one());
    for _ in 0..3 {
        world.script.step(json!({
            "role": "player", "task": "TASK-001", "write": {"hello/2.txt": "half a hell\n"}, "fail": "exit",
        }));
    }
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"], "the Player ended badly three times");
    let pull = world.pull(1).await;
    let left = world.pull_json(pull).await["head"]["sha"].as_str().unwrap().to_owned();
    assert_eq!(world.checks(&left).await, ["AutoBuild action_required"]);
    let branch = world.branch(1).await;
    let files = [("hello/1.txt", Some("hello\n"))];
    let theirs = world.by(WRITER).push(REPO, &branch, "Help", &files).await.unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    assert_eq!(world.checks(&theirs).await, ["AutoBuild action_required"]);
    let check = world.get(&format!("commits/{theirs}/check-runs")).await;
    let run = check["check_runs"][0]["id"].as_u64().unwrap();
    world.script.succeeds(1);
    world.by(WRITER).click_check(REPO, run, Some("resume")).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_the_integration_branch_cancels() {
    let world = approved_world().await;
    world.by(WRITER).delete_branch(REPO, "autobuild/1/integration").await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "cancelled");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_the_label_cancels_but_not_in_review() {
    let world = approved_world().await;
    world.by(WRITER).unlabel(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "cancelled");
    assert_eq!(world.pull_json(world.pull(1).await).await["state"], "closed");
    assert!(world.forge.head(REPO, &world.branch(1).await).unwrap().is_some(), "branches stay");
    world.end().await;

    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    world.by(WRITER).unlabel(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_the_issue_cancels() {
    let world = approved_world().await;
    world.by(WRITER).close(REPO, ISSUE).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "cancelled");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_reopening_counts_also_after_autobuild_itself_closed_the_pull_request() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let pull = world.feature_pull().await;
    for _ in 0..3 {
        world.say(WRITER, ISSUE, "/autobuild cancel").await;
        assert_eq!(
            (world.state().await.as_str(), &world.pull_json(pull).await["state"]),
            ("cancelled", &"closed".into())
        );
        world.by(WRITER).reopen(REPO, pull).await.unwrap();
        world.settle().await;
        assert_eq!(world.state().await, "in_review");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_the_feature_pull_request_cancels_and_reopening_puts_it_in_review_again() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let pull = world.feature_pull().await;
    world.by(WRITER).close(REPO, pull).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "cancelled");
    world.by(WRITER).reopen(REPO, pull).await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.by(WRITER).merge(REPO, pull, "merge").await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "completed");
    let comment = world.say(WRITER, ISSUE, "/autobuild cancel").await;
    assert_eq!(world.reactions(comment).await, ["confused"]);
    assert_eq!(world.state().await, "completed");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_pull_request_from_the_integration_branch_is_the_persons_own() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let release = [("release.txt", Some("1\n"))];
    world.by(WRITER).push(REPO, "release", "Release", &release).await.unwrap();
    let theirs =
        world.by(WRITER).open_pull(REPO, "autobuild/1/integration", "release", "For the release", "").await.unwrap();
    world.by(WRITER).close(REPO, theirs).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}
