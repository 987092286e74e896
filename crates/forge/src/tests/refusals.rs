//! Requests that GitHub refuses, with its codes and texts.

use super::world::*;
use crate::{BranchRule, RuleKind};
use serde_json::{Value, json};

/// A world with the branch `work`, one commit ahead, and a pull request by the App.
async fn with_pull() -> (World, String, u64, String) {
    let world = World::new().await;
    let bob = world.forge.as_user("bob").unwrap();
    let text = "pub fn one() -> u8 {\n    2\n}\n";
    let head = bob.push(REPO, "work", "Change one", &[("src/lib.rs", Some(text))]).await.unwrap();
    let token =
        world.token(json!({"contents": "write", "pull_requests": "write", "issues": "write", "checks": "write"})).await;
    let new = json!({"title": "Change one", "head": "work", "base": "main", "body": "Part of #1"});
    let (status, pull) = world.raw("POST", "/repos/acme/shop/pulls", Some(&token), new).await;
    assert_eq!(status, 201, "{pull}");
    let number = pull["number"].as_u64().unwrap();
    (world, token, number, head)
}

#[tokio::test]
async fn nobody_decides_on_their_own_pull_request() {
    let (world, token, number, head) = with_pull().await;
    let path = format!("/repos/acme/shop/pulls/{number}/reviews");
    for (event, verb) in [("APPROVE", "approve"), ("REQUEST_CHANGES", "request changes on")] {
        let (status, body) = world.raw("POST", &path, Some(&token), json!({"event": event, "body": "x"})).await;
        assert_eq!(status, 422);
        assert_eq!(body["errors"], json!([format!("Can not {verb} your own pull request")]));
    }
    let (status, body) =
        world.raw("POST", &path, Some(&token), json!({"event": "COMMENT", "body": "x", "commit_id": head})).await;
    assert_eq!((status, &body["state"]), (200, &json!("COMMENTED")));
}

#[tokio::test]
async fn a_review_with_one_bad_line_is_refused_whole() {
    let (world, token, number, _) = with_pull().await;
    let path = format!("/repos/acme/shop/pulls/{number}/reviews");
    let line = |path: &str, line: u64| json!({"path": path, "line": line, "body": "hm"});
    let off = "Pull request review thread line must be part of the diff and Pull request review thread diff hunk can't be blank";
    let cases = [
        (line("src/lib.rs", 40), off),
        (line("src/gone.rs", 1), "Pull request review thread path is invalid"),
        (
            json!({"path": "src/lib.rs", "line": 1, "start_line": 2, "body": "x"}),
            "Pull request review thread start line must precede the end line.",
        ),
    ];
    for (bad, text) in cases {
        let review = json!({"event": "COMMENT", "body": "x", "comments": [line("src/lib.rs", 2), bad]});
        let (status, body) = world.raw("POST", &path, Some(&token), review).await;
        assert_eq!((status, &body["errors"]), (422, &json!([text])));
    }
    let (_, reviews) = world.raw("GET", &path, Some(&token), Value::Null).await;
    assert_eq!(reviews, json!([]));
    let wrong = json!({"event": "COMMENT", "body": "x", "commit_id": world.forge.head(REPO, "main").unwrap()});
    assert_eq!(world.raw("POST", &path, Some(&token), wrong).await.0, 422, "a commit of the base");
}

#[tokio::test]
async fn an_archived_repository_takes_no_write() {
    let (world, token, number, head) = with_pull().await;
    let bob = world.forge.as_user("bob").unwrap();
    let at = |path: &str| format!("/repos/{REPO}/{path}");
    let issue = |path: &str| at(&format!("issues/{number}/{path}"));
    let (_, comment) = world.raw("POST", &issue("comments"), Some(&token), json!({"body": "hm"})).await;
    let comment = at(&format!("issues/comments/{}", comment["id"]));
    world.forge.as_user("ann").unwrap().archive_repo(REPO).unwrap();
    let calls = [
        ("POST", issue("reactions"), json!({"content": "eyes"})),
        ("PATCH", comment, json!({"body": "no"})),
        ("POST", issue("labels"), json!({"labels": ["late"]})),
        ("POST", at(&format!("pulls/{number}/reviews")), json!({"event": "COMMENT", "body": "x"})),
        ("PUT", at(&format!("pulls/{number}/merge")), json!({})),
        ("POST", at("check-runs"), json!({"name": "x", "head_sha": head})),
        ("POST", at("git/refs"), json!({"ref": "refs/heads/late", "sha": head})),
    ];
    for (method, path, body) in calls {
        let (status, body) = world.raw(method, &path, Some(&token), body).await;
        assert_eq!(status, 403, "{method} {path}: {body}");
        assert_eq!(body["message"], "Repository was archived so is read-only.");
    }
    assert!(bob.push(REPO, "work", "Late", &[("late", Some("1"))]).await.is_err());
}

#[tokio::test]
async fn texts_over_the_limit_are_refused() {
    let (world, token, number, _) = with_pull().await;
    let long = "é".repeat(65_537);
    let calls = [
        ("POST", format!("/repos/acme/shop/issues/{number}/comments"), json!({"body": long})),
        ("PATCH", format!("/repos/acme/shop/pulls/{number}"), json!({"body": long})),
        ("POST", format!("/repos/acme/shop/pulls/{number}/reviews"), json!({"event": "COMMENT", "body": long})),
    ];
    for (method, path, body) in calls {
        let (status, body) = world.raw(method, &path, Some(&token), body).await;
        assert_eq!(status, 422);
        assert!(body.to_string().contains("Body is too long (maximum is 65536 characters)"), "{body}");
    }
    let exact = json!({"body": "é".repeat(65_536)});
    assert_eq!(
        world.raw("POST", &format!("/repos/acme/shop/issues/{number}/comments"), Some(&token), exact).await.0,
        201
    );
}

#[tokio::test]
async fn pull_requests_that_exist_or_would_be_empty_are_refused() {
    let (world, token, ..) = with_pull().await;
    let open = async |head: &str| {
        let new = json!({"title": "x", "head": head, "base": "main"});
        let (status, body) = world.raw("POST", "/repos/acme/shop/pulls", Some(&token), new).await;
        (status, body["errors"][0]["message"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(open("work").await, (422, "A pull request already exists for acme:work.".to_owned()));
    let main = world.forge.head(REPO, "main").unwrap().unwrap();
    world.forge.as_user("bob").unwrap().set_branch(REPO, "same", &main).await.unwrap();
    assert_eq!(open("same").await, (422, "No commits between main and same".to_owned()));
    assert_eq!(open("absent").await.0, 422);
}

#[tokio::test]
async fn merges_are_refused_for_githubs_reasons_and_then_done() {
    let (world, token, number, head) = with_pull().await;
    let path = format!("/repos/acme/shop/pulls/{number}/merge");
    let merge = async |body: Value| {
        let (status, answer) = world.raw("PUT", &path, Some(&token), body).await;
        (status, answer["message"].as_str().unwrap_or_default().to_owned())
    };
    let is = |status: u16, text: &str| (status, text.to_owned());
    let old = json!({"sha": "0".repeat(40)});
    assert_eq!(merge(old).await, is(409, "Head branch was modified. Review and try the merge again."));
    let ann = world.forge.as_user("ann").unwrap();
    ann.set_draft(REPO, number, true).unwrap();
    assert_eq!(merge(json!({"sha": head})).await, is(405, "Pull Request is still a draft"));
    ann.set_draft(REPO, number, false).unwrap();
    world.forge.change_settings(REPO, |settings| settings.allow_squash_merge = false).unwrap();
    let squash = json!({"merge_method": "squash"});
    assert_eq!(merge(squash).await, is(405, "Squash merges are not allowed on this repository."));
    let rule = |kind| BranchRule { pattern: "ma*".to_owned(), kind };
    world.forge.add_rule(REPO, rule(RuleKind::RequiredChecks(vec!["Verdict".to_owned()]))).unwrap();
    assert_eq!(merge(json!({})).await, is(405, "Required status check \"Verdict\" is expected."));
    let run = json!({"name": "Verdict", "head_sha": head, "conclusion": "success"});
    assert_eq!(world.raw("POST", "/repos/acme/shop/check-runs", Some(&token), run).await.0, 201);
    world.forge.add_rule(REPO, rule(RuleKind::PullRequest { approvals: 1 })).unwrap();
    assert_eq!(
        merge(json!({})).await,
        is(405, "At least 1 approving review is required by reviewers with write access.")
    );
    world.forge.as_user("eve").unwrap().review(REPO, number, "APPROVE", "", &[]).await.unwrap();
    assert_eq!(merge(json!({})).await.0, 405, "anyone may approve, but it does not count");
    world.forge.as_user("bob").unwrap().review(REPO, number, "APPROVE", "", &[]).await.unwrap();
    assert_eq!(merge(json!({"sha": head})).await, is(200, "Pull Request successfully merged"));
    assert_eq!(merge(json!({})).await, is(405, "Pull Request is not mergeable"));
}

#[tokio::test]
async fn a_conflict_shows_as_not_mergeable() {
    let (world, token, number, _) = with_pull().await;
    let bob = world.forge.as_user("bob").unwrap();
    bob.push(REPO, "main", "Other", &[("src/lib.rs", Some("pub fn one() -> u8 {\n    3\n}\n"))]).await.unwrap();
    let path = format!("/repos/acme/shop/pulls/{number}");
    let (_, pull) = world.raw("GET", &path, Some(&token), Value::Null).await;
    assert_eq!((&pull["mergeable"], &pull["mergeable_state"]), (&json!(false), &json!("dirty")));
    let (status, body) = world.raw("PUT", &format!("{path}/merge"), Some(&token), json!({})).await;
    assert_eq!((status, &body["message"]), (405, &json!("Pull Request is not mergeable")));
}

#[allow(clippy::too_many_lines, reason = "one story")]
#[tokio::test]
async fn check_runs_keep_their_limits_and_belong_to_their_app() {
    let (world, token, _, head) = with_pull().await;
    let post = async |more: Value| {
        let mut run = json!({"name": "Verdict", "head_sha": head});
        run.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.raw("POST", "/repos/acme/shop/check-runs", Some(&token), run).await
    };
    let action = json!({"label": "Go", "description": "Goes", "identifier": "go"});
    let refused = [
        json!({"output": {"title": "t", "summary": "s".repeat(65_536)}}),
        json!({"output": {"title": "t"}}),
        json!({"actions": [action, action, action, action]}),
        json!({"actions": [{"label": "x".repeat(21), "description": "d", "identifier": "i"}]}),
        json!({"status": "completed"}),
        json!({"conclusion": "stale"}),
        json!({"head_sha": "f".repeat(40)}),
    ];
    for more in refused {
        assert_eq!(post(more.clone()).await.0, 422, "{more}");
    }
    let (status, run) =
        post(json!({"status": "completed", "conclusion": "neutral", "external_id": "e7", "actions": [action]})).await;
    assert_eq!((status, &run["external_id"]), (201, &json!("e7")));
    let id = run["id"].as_u64().unwrap();
    let (bob, run) = (user_token(&world.forge, "bob"), json!({"name": "x", "head_sha": head}));
    let person = world.raw("POST", "/repos/acme/shop/check-runs", Some(&bob), run).await;
    assert_eq!(person.0, 403, "only Apps make check runs");
    world.forge.as_user("bob").unwrap().click_check(REPO, id, Some("go")).unwrap();
    world.forge.deliveries_idle().await;
    let clicked = world.inbox.payload("check_run.requested_action");
    assert_eq!(
        (&clicked["requested_action"]["identifier"], &clicked["check_run"]["external_id"]),
        (&json!("go"), &json!("e7"))
    );
}

#[tokio::test]
async fn refs_are_made_under_githubs_rules() {
    let (world, token, ..) = with_pull().await;
    let main = world.forge.head(REPO, "main").unwrap().unwrap();
    let work = world.forge.head(REPO, "work").unwrap().unwrap();
    let make = async |name: &str| {
        let (status, body) =
            world.raw("POST", "/repos/acme/shop/git/refs", Some(&token), json!({"ref": name, "sha": main})).await;
        (status, body["message"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(make("refs/heads/a/b").await.0, 201);
    assert_eq!(make("refs/heads/a/b").await, (422, "Reference already exists".to_owned()));
    assert_eq!(make("refs/heads/a").await.0, 422, "a folder of refs");
    assert_eq!(make("refs/heads/a..b").await.0, 422);
    for (pattern, kind) in [("main", RuleKind::RequiredSignatures), ("bot/*", RuleKind::Creation)] {
        world.forge.add_rule(REPO, BranchRule { pattern: pattern.to_owned(), kind }).unwrap();
    }
    assert!(make("refs/heads/bot/1").await.1.contains("creations being restricted"));
    let (_, rules) = world.raw("GET", "/repos/acme/shop/rules/branches/bot%2F1", Some(&token), Value::Null).await;
    assert_eq!((rules.as_array().unwrap().len(), &rules[0]["type"]), (1, &json!("creation")));
    let ruleset = format!("/repos/acme/shop/rulesets/{}", rules[0]["ruleset_id"]);
    assert_eq!(world.raw("GET", &ruleset, Some(&token), Value::Null).await.1["name"], "creation");
    let (_, seen) = world.raw("GET", "/repos/acme/shop/git/ref/heads/work", Some(&token), Value::Null).await;
    assert_eq!(seen["object"]["sha"], json!(work));
}

#[tokio::test]
async fn the_forge_signs_what_an_app_makes_in_its_own_name_and_nothing_else() {
    let (world, token, ..) = with_pull().await;
    let main = world.forge.head(REPO, "main").unwrap().unwrap();
    let commits = "/repos/acme/shop/git/commits";
    let at = format!("{commits}/{main}");
    let (_, seen) = world.raw("GET", &at, Some(&token), Value::Null).await;
    let tree = seen["tree"]["sha"].clone();
    let make = async |more: Value| {
        let mut body = json!({"message": "Made", "tree": tree, "parents": [main]});
        crate::json::extend(&mut body, more);
        world.raw("POST", commits, Some(&token), body).await
    };
    let (status, made) = make(json!({})).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(made["verification"]["verified"], true);
    assert_eq!(made["committer"]["email"], "noreply@github.com");
    let author = json!({"name": "Mona", "email": "m@example.com", "date": "2026-01-02T03:04:05Z"});
    let (status, made) = make(json!({"author": author})).await;
    assert_eq!((status, &made["author"]["name"]), (201, &json!("Mona")), "{made}");
    assert_eq!(made["verification"]["verified"], false);
    for (wrong, said) in [
        (json!({"tree": main}), "Tree SHA does not exist"),
        (json!({"parents": [tree]}), "Parent SHA does not exist or is not a commit object"),
        (json!({"message": null}), "Invalid request.\n\n\"message\" wasn't supplied."),
    ] {
        let (status, body) = make(wrong).await;
        assert_eq!((status, &body["message"]), (422, &json!(said)));
    }
}
