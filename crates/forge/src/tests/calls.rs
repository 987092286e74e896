//! One story through the whole API, whose answers octocrab's own models must be able to read.

use super::world::*;
use octocrab::{models, params};
use serde_json::json;

const LAST_EDIT: &str = "query($login: String!, $repo: String!, $issue: Int!) { \
    repository(owner: $login, name: $repo) { issue(number: $issue) { lastEditedAt editor { login } } } }";

#[expect(clippy::too_many_lines, reason = "one story, told in order")]
#[tokio::test]
async fn octocrab_reads_every_answer_of_a_story_from_issue_to_merge() {
    let world = World::new().await;
    let (forge, crab) = (&world.forge, world.crab());
    let ann = forge.as_user("ann").unwrap();
    let number = ann.open_issue(REPO, "Add two", "Please add `two`.", &[]).unwrap();
    ann.label(REPO, number, "go").unwrap();

    let issues = crab.issues("acme", "shop");
    let issue: models::issues::Issue = issues.get(number).await.unwrap();
    assert_eq!(
        (issue.title.as_str(), issue.labels[0].name.as_str(), issue.user.login.as_str()),
        ("Add two", "go", "ann")
    );
    let comment = issues.create_comment(number, "On it.").await.unwrap();
    issues.update_comment(comment.id, "On it!").await.unwrap();
    issues.create_comment_reaction(comment.id, models::reactions::ReactionContent::Eyes).await.unwrap();
    assert_eq!(issues.list_comments(number).send().await.unwrap().items[0].body.as_deref(), Some("On it!"));

    let token = world.token(json!({"contents": "write"})).await;
    let work = world.dir.path().join("work");
    git_ok(world.dir.path(), &["clone", "-q", &world.remote(&token), "work"]).await;
    git_ok(&work, &["checkout", "-q", "-b", "add/two"]).await;
    std::fs::write(work.join("src/lib.rs"), "pub fn one() -> u8 {\n    1\n}\n\npub fn two() -> u8 {\n    2\n}\n")
        .unwrap();
    git_ok(&work, &["commit", "-qam", "Add two"]).await;
    git_ok(&work, &["push", "-q", "origin", "add/two"]).await;
    let head = git_ok(&work, &["rev-parse", "HEAD"]).await;

    let pulls = crab.pulls("acme", "shop");
    let pull =
        pulls.create("Add two", "add/two", "main").body(format!("Closes #{number}")).draft(true).send().await.unwrap();
    assert_eq!((pull.draft, pull.head.sha.as_str(), pull.mergeable), (Some(true), head.as_str(), Some(true)));
    assert_eq!((pull.additions, pull.commits, pull.changed_files), (Some(4), Some(1), Some(1)));
    let query =
        "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }";
    let body = json!({"query": query, "variables": {"id": pull.node_id}});
    let answer: serde_json::Value = crab.post("/graphql", Some(&body)).await.unwrap();
    assert_eq!(answer["data"]["markPullRequestReadyForReview"]["pullRequest"]["isDraft"], false);

    let run = json!({"name": "Verdict", "head_sha": head, "status": "completed", "conclusion": "success",
        "external_id": "e1", "output": {"title": "fine", "summary": "all fine"}});
    let run: models::checks::CheckRun = crab.post("/repos/acme/shop/check-runs", Some(&run)).await.unwrap();
    assert_eq!((run.name.as_str(), run.conclusion.as_deref()), ("Verdict", Some("success")));
    let runs = crab
        .checks("acme", "shop")
        .list_check_runs_for_git_ref(params::repos::Commitish(head.clone()))
        .send()
        .await
        .unwrap();
    assert_eq!(runs.total_count, 1);

    let review = json!({"event": "APPROVE", "commit_id": head, "body": "Good.",
        "comments": [{"path": "src/lib.rs", "line": 5, "side": "RIGHT", "body": "Nice."}]});
    let path = format!("/repos/acme/shop/pulls/{}/reviews", pull.number);
    let review: models::pulls::Review = world.coach_crab().post(path, Some(&review)).await.unwrap();
    assert_eq!(review.state, Some(models::pulls::ReviewState::Approved));
    let inline: Vec<models::pulls::Comment> =
        crab.get(format!("/repos/acme/shop/pulls/{}/comments", pull.number), None::<&()>).await.unwrap();
    assert_eq!((inline[0].line, inline[0].path.as_str()), (Some(5), "src/lib.rs"));

    let merged = pulls.merge(pull.number).sha(&head).method(params::pulls::MergeMethod::Squash).send().await.unwrap();
    assert!(merged.merged);
    let issue = issues.get(number).await.unwrap();
    assert_eq!(issue.state, models::IssueState::Closed, "`Closes` closes the issue");
    assert_eq!(pulls.get(pull.number).await.unwrap().merged, Some(true));
    assert_eq!(forge.head(REPO, "main").unwrap(), merged.sha);
    assert_eq!(forge.unknown_calls(), []);

    forge.deliveries_idle().await;
    let expected = [
        "installation.created",
        "issues.opened",
        "issues.labeled",
        "issue_comment.created",
        "issue_comment.edited",
        "push",
        "check_suite.requested",
        "pull_request.opened",
        "pull_request.ready_for_review",
        "check_run.created",
        "check_run.completed",
        "check_suite.completed",
        "pull_request_review.submitted",
        "pull_request.closed",
        "issues.closed",
        "push",
        "check_suite.requested",
    ];
    assert_eq!(world.inbox.kinds(), expected);
    let labeled = world.inbox.payload("issues.labeled");
    assert_eq!((&labeled["label"]["name"], &labeled["sender"]["login"]), (&json!("go"), &json!("ann")));
    assert_eq!(
        (&labeled["repository"]["full_name"], &labeled["installation"]["id"]),
        (&json!(REPO), &json!(world.worker_at))
    );
    assert_eq!(labeled["organization"]["login"], "acme");
    let members = labeled["organization"]["members_url"].as_str().unwrap();
    assert!(members.ends_with("/orgs/acme/members{/member}"), "{members}");
    assert_eq!(labeled["organization"].as_object().unwrap().len(), 12);
}

#[tokio::test]
async fn graphql_tells_who_edited_a_text_last() {
    let world = World::new().await;
    let ann = world.forge.as_user("ann").unwrap();
    let number = ann.open_issue(REPO, "One", "first", &[]).unwrap();
    let token = world.token(json!({"issues": "read"})).await;
    let body = json!({"query": LAST_EDIT, "variables": {"login": "acme", "repo": "shop", "issue": number}});
    let (_, answer) = world.raw("POST", "/graphql", Some(&token), body.clone()).await;
    assert_eq!(answer["data"]["repository"]["issue"]["lastEditedAt"], json!(null));
    world.forge.as_user("bob").unwrap().edit_issue(REPO, number, None, Some("second")).unwrap();
    let (_, answer) = world.raw("POST", "/graphql", Some(&token), body).await;
    let issue = &answer["data"]["repository"]["issue"];
    assert_eq!(issue["editor"]["login"], "bob");
    let (status, answer) = world.raw("POST", "/graphql", Some(&token), json!({"query": "{ viewer { login } }"})).await;
    assert_eq!((status, world.forge.unknown_calls().len()), (200, 1));
    assert_eq!(answer["errors"][0]["message"], "The forge does not know this document");
}

#[tokio::test]
async fn graphql_nulls_only_what_is_missing() {
    let world = World::new().await;
    let token = world.token(json!({"issues": "read"})).await;
    let ask = |repo: &str, issue: u64| json!({"query": LAST_EDIT, "variables": {"login": "acme", "repo": repo, "issue": issue}});
    for (body, data, path) in [
        (ask("shop", 99), json!({"repository": {"issue": null}}), json!(["repository", "issue"])),
        (ask("attic", 1), json!({"repository": null}), json!(["repository"])),
    ] {
        let (_, answer) = world.raw("POST", "/graphql", Some(&token), body).await;
        assert_eq!(answer["data"], data);
        let error = &answer["errors"][0];
        assert_eq!((&error["type"], &error["path"]), (&json!("NOT_FOUND"), &path));
    }
    let body = json!({"query": LAST_EDIT, "variables": {"login": "acme", "repo": "shop", "issue": "1"}});
    let (_, answer) = world.raw("POST", "/graphql", Some(&token), body).await;
    assert_eq!(answer["errors"][0]["message"], "Variable $issue of type Int! was provided invalid value");
    assert!(world.forge.unknown_calls().is_empty());
}
