//! GitHub's reports of other people's and services' statements about commits and lines.

use crate::world::*;
use domain::ids::ReviewId;
use serde_json::{Value, json};
use wiremock::{
    Mock, ResponseTemplate,
    matchers::{method, path, query_param},
};

fn runs_path() -> String {
    format!("/repos/acme/shop/commits/{}/check-runs", sha())
}

fn status_path() -> String {
    format!("/repos/acme/shop/commits/{}/status", sha())
}

#[tokio::test]
async fn every_page_of_checks_is_read() {
    let world = World::installed().await;
    for (page, count) in [(1_u64, 100_u64), (2, 3)] {
        let runs: Vec<Value> = (0..count)
            .map(|n| json!({"id": page * 1000 + n, "name": format!("job {page}.{n}"), "status": "completed", "conclusion": "success"}))
            .collect();
        Mock::given(method("GET"))
            .and(path(runs_path()))
            .and(query_param("page", page.to_string()))
            .respond_with(ResponseTemplate::new(200).set_body_json(json!({"total_count": 103, "check_runs": runs})))
            .mount(&world.server)
            .await;
    }
    assert_eq!(world.repo().seen_checks(&sha(), None).await.unwrap().len(), 103);
}

#[tokio::test]
async fn a_check_run_may_lack_all_but_its_name() {
    let world = World::installed().await;
    let runs = json!({"total_count": 2, "check_runs": [
        {"id": 1, "name": "bare", "status": "queued", "conclusion": null, "app": null, "check_suite": null,
         "output": {"title": null, "summary": null, "text": null, "annotations_count": 0}, "completed_at": null},
        {"id": 2, "name": "whole", "status": "completed", "conclusion": "failure", "app": {"id": 9, "slug": "actions"},
         "check_suite": {"id": 4}, "output": {"title": "1 failed", "summary": "s", "text": "t"},
         "details_url": "https://ci.example/2", "completed_at": "2026-01-15T10:30:00Z"},
    ]});
    world.answers("GET", &runs_path(), 200, runs).await;
    let seen = world.repo().seen_checks(&sha(), None).await.unwrap();
    assert_eq!((seen[0].conclusion.as_str(), seen[0].app.as_ref(), seen[0].completed_at), ("", None, None));
    assert_eq!((seen[1].app.as_ref().map(|app| app.id), seen[1].suite), (Some(9), Some(4)));
    assert_eq!(seen[1].completed_at, Some(START));
    assert_eq!(seen[1].output.as_ref().unwrap().title, "1 failed");
}

#[tokio::test]
async fn a_check_run_counts_for_the_pull_requests_that_its_suite_names() {
    let world = World::installed().await;
    let suite = |id: u64, branch: Value, pulls: Value| json!({"id": id, "head_branch": branch, "pull_requests": pulls});
    let suites = json!([
        suite(1, json!("autobuild/1/task-001"), json!([{"number": PULL.0, "id": 70}])),
        suite(2, json!(null), json!([])),
        suite(3, json!("autobuild/1/task-001"), json!(null)),
        suite(4, json!("other"), json!([{"number": PULL.0 + 1}])),
    ]);
    let path = format!("/repos/acme/shop/commits/{}/check-suites", sha());
    world.answers("GET", &path, 200, json!({"total_count": 4, "check_suites": suites})).await;
    let run = |suite: u64, slug: &str| json!({"id": suite * 10, "name": "build", "app": {"id": 9, "slug": slug}, "check_suite": {"id": suite}});
    let mut runs: Vec<Value> = (1..=4).map(|suite| run(suite, "github-actions")).collect();
    // Any other App has one suite for all branches with the commit.
    runs.push(run(5, "other"));
    world.answers("GET", &runs_path(), 200, json!({"total_count": 5, "check_runs": runs})).await;
    let seen = world.repo().seen_checks(&sha(), Some(PULL)).await.unwrap();
    assert_eq!(seen.iter().map(|run| run.id).collect::<Vec<_>>(), [10, 50]);
    assert_eq!(world.repo().seen_checks(&sha(), None).await.unwrap().len(), 5);
}

#[tokio::test]
async fn a_commit_without_statuses_is_not_pending_whatever_github_adds_them_up_to() {
    let world = World::installed().await;
    let none = json!({"state": "pending", "statuses": [], "total_count": 0, "sha": sha()});
    world.answers("GET", &status_path(), 200, none).await;
    assert!(world.repo().seen_statuses(&sha()).await.unwrap().is_empty());
}

#[tokio::test]
async fn evidence_is_read_with_a_token_that_can_only_read() {
    let world = World::installed().await;
    world.answers("GET", &runs_path(), 200, json!({"total_count": 0, "check_runs": []})).await;
    world.repo().seen_checks(&sha(), None).await.unwrap();
    let minted = world.bodies_sent("POST", "/app/installations/11/access_tokens").await;
    let asked =
        minted.iter().map(|body| body["permissions"].clone()).find(|permissions| permissions.get("checks").is_some());
    assert_eq!(asked, Some(json!({"metadata": "read", "checks": "read", "statuses": "read"})));
}

#[tokio::test]
async fn the_comments_of_a_review_are_picked_by_its_id_and_may_be_outdated() {
    let world = World::installed().await;
    let comments = json!([
        {"id": 1, "pull_request_review_id": 800, "path": "src/a.rs", "line": 5, "original_line": 4, "body": "this"},
        {"id": 2, "pull_request_review_id": 801, "path": "src/a.rs", "line": 6, "body": "another's"},
        {"id": 3, "pull_request_review_id": 800, "path": "src/b.rs", "line": null, "original_line": 9, "body": null},
        {"id": 4, "pull_request_review_id": null, "path": "src/b.rs", "body": "alone"},
    ]);
    world.answers("GET", "/repos/acme/shop/pulls/7/comments", 200, comments).await;
    let found = world.repo().review_comments(PULL, ReviewId(800)).await.unwrap();
    let told: Vec<_> =
        found.iter().map(|one| (one.path.as_str(), one.line, one.original_line, one.body.as_str())).collect();
    assert_eq!(told, [("src/a.rs", Some(5), Some(4), "this"), ("src/b.rs", None, Some(9), "")]);
}
