//! The workflows that events start.

use super::world::*;
use serde_json::json;

const TARGET: &str = "on: pull_request_target\njobs: {a: {runs-on: ubuntu-latest, steps: []}}\n";

#[tokio::test]
async fn a_pull_request_starts_target_workflows_of_the_default_branch_alone() {
    let world = World::new().await;
    let bob = world.forge.as_user("bob").unwrap();
    let files = [
        ("release", ".github/workflows/of-base.yml", TARGET),
        ("main", ".github/workflows/of-default.yaml", TARGET),
        ("x", "x.txt", "x"),
    ];
    for (branch, name, text) in files {
        bob.push(REPO, branch, name, &[(name, Some(text))]).await.unwrap();
    }
    let new = json!({"title": "X", "head": "x", "base": "release"});
    let token = user_token(&world.forge, "bob");
    assert_eq!(world.raw("POST", "/repos/acme/shop/pulls", Some(&token), new).await.0, 201);
    let started = world.forge.started_jobs(REPO).await.unwrap();
    let started: Vec<&str> = started.iter().map(|job| job.workflow.as_str()).collect();
    assert_eq!(started, ["of-default.yaml"]);
}

#[tokio::test]
async fn a_push_with_the_trailer_starts_nothing() {
    let world = World::new().await;
    let bob = world.forge.as_user("bob").unwrap();
    let files = [(".github/workflows/ci.yml", Some("on: push\njobs: {a: {runs-on: ubuntu-latest, steps: []}}\n"))];
    for (message, jobs) in [("Add it\n\n\nskip-checks: true\n", 0), ("Add it\n\nskip-checks:: true\n", 1)] {
        bob.push(REPO, "x", message, &files).await.unwrap();
        assert_eq!(world.forge.started_jobs(REPO).await.unwrap().len(), jobs, "{message}");
    }
}
