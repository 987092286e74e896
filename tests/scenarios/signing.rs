//! Commits that GitHub creates and signs, if the settings ask for it.

use crate::world::{Plan, REPO, Setup, Task, WRITER, World};
use forge::{BranchRule, Fault, Mishap, RuleKind};

const INTEGRATION: &str = "autobuild/1/integration";

async fn signing(settings: &str) -> World {
    let world = Setup::new().settings(&format!("commits: github\n{settings}")).build().await;
    let pattern = "autobuild/*".to_owned();
    let kind = RuleKind::RequiredSignatures;
    world.forge.add_rule(REPO, BranchRule { pattern, kind }).unwrap();
    world
}

/// Asserts that every commit of the work is verified, and that no other refs than branches are left.
async fn is_all_signed(world: &World) {
    let commits = world.git_says(&["rev-list", INTEGRATION, "^main"]);
    assert!(!commits.is_empty());
    for commit in commits.lines() {
        let path = format!("git/commits/{commit}");
        let seen = world.forge.look(REPO, &path).await.unwrap();
        assert_eq!(seen["verification"]["verified"], true, "{seen}");
    }
    assert_eq!(world.git_says(&["for-each-ref", "--format=%(refname)", "refs/autobuild/"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_is_pushed_where_a_rule_wants_every_commit_signed() {
    let world = signing("merge: human").await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2).needs(&[1])])).succeeds(1).succeeds(2);
    world.script.writes_as("TASK-SYNC-1", &[("hello/1.txt", "hello 1\ntheirs\n")]);
    world.script.approves_as("TASK-SYNC-1", "hello/1.txt");
    world.start().await;
    is_all_signed(&world).await;
    let files = [("hello/1.txt", Some("theirs\n"))];
    world.by(WRITER).push(REPO, "main", "Theirs", &files).await.unwrap();
    let pull = world.pull(1).await;
    world.by(WRITER).merge(REPO, pull, "squash").await.unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["completed", "approved", "completed"]);
    is_all_signed(&world).await;
    let merges = world.git_says(&["rev-list", "--merges", INTEGRATION, "^main"]);
    assert!(!merges.is_empty(), "the conflict's commit has both parents");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_makes_no_commit_twice_on_a_branch() {
    let world = signing("").await;
    for (method, path) in [("POST", "*/git/commits"), ("POST", "*/git-receive-pack")] {
        for nth in 1..=8 {
            world.forge.order(Fault::on(method, path, Mishap::LoseReply).nth(nth * 2));
        }
    }
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    is_all_signed(&world).await;
    let said = world.git_says(&["log", "--format=%s", INTEGRATION, "^main"]);
    let mut subjects: Vec<&str> = said.lines().collect();
    subjects.sort_unstable();
    let all = subjects.len();
    subjects.dedup();
    assert_eq!(subjects.len(), all, "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_is_another_than_was_asked_for_is_not_pushed() {
    let world = signing("").await;
    let main = world.git_says(&["rev-parse", "main"]);
    let other = Mishap::Fail { status: 201, body: format!("{{\"sha\": \"{main}\"}}"), headers: Vec::new() };
    world.forge.order(Fault::on("POST", "*/git/commits", other).always());
    world.script.plans(&Plan::one());
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    assert_eq!(world.git_says(&["branch", "--list", "autobuild/*"]), "");
    world.end().await;
}
