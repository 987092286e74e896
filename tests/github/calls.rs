//! Calls whose refusals have special meanings.

use crate::world::*;
use autobuild::github::{
    CheckAction, CheckConclusion, CheckOutput, CheckReport, GithubError, Merge, MergeMethod, MergeRefusal, NewPull,
    NewReview, OpenedPull, Permit, PostedReview, ReviewEvent,
};
use domain::{
    effect::{Reaction, ReactionTarget},
    ids::{CheckRunId, CommentId, PullNumber},
    inline_comment::InlineComment,
};
use serde_json::{Value, json};
use std::sync::Arc;

const BRANCH: &str = "autobuild/42/task-001-a";
const PULLS: &str = "/repos/acme/shop/pulls";
const REVIEWS: &str = "/repos/acme/shop/pulls/7/reviews";
const MERGE: &str = "/repos/acme/shop/pulls/7/merge";

const NEW: NewPull<'static> =
    NewPull { title: "TASK-001", body: "Part of #42", head: BRANCH, base: "autobuild/42/integration", ready: false };

fn inline() -> [InlineComment; 2] {
    [(5, "one"), (7, "other")].map(|(line, body)| InlineComment {
        path: "src/auth.rs".to_owned(),
        line,
        body: body.to_owned(),
    })
}

async fn reviewed(status: u16, answer: Value, inline: &[InlineComment]) -> (World, Result<PostedReview, GithubError>) {
    let world = World::installed().await;
    world.answers("POST", REVIEWS, status, answer).await;
    let commit = sha();
    let review = NewReview { event: ReviewEvent::RequestChanges, commit: &commit, body: "No.", inline };
    let result = world.repo().create_review(PULL, review).await;
    (world, result)
}

#[tokio::test]
async fn a_review_names_its_commit_and_its_event() {
    let answer = json!({"id": 800, "state": "CHANGES_REQUESTED", "commit_id": sha(), "body": "No."});
    let (world, result) = reviewed(200, answer, &inline()).await;
    assert!(matches!(result.unwrap(), PostedReview::Posted(review) if review.commit == Some(sha())));
    let comments = json!([
        {"path": "src/auth.rs", "line": 5, "side": "RIGHT", "body": "one"},
        {"path": "src/auth.rs", "line": 7, "side": "RIGHT", "body": "other"},
    ]);
    assert_eq!(
        world.bodies_sent("POST", REVIEWS).await,
        [json!({"event": "REQUEST_CHANGES", "commit_id": sha(), "body": "No.", "comments": comments})]
    );
}

#[tokio::test]
async fn ones_own_pull_request_is_recognised_in_both_wordings() {
    for text in ["Can not request changes on your own pull request", "Review Can not approve your own pull request"] {
        let answer = json!({"message": "Unprocessable Entity", "errors": [text], "status": "422"});
        let (_, result) = reviewed(422, answer, &inline()).await;
        assert_eq!(result.unwrap(), PostedReview::OwnPullRequest);
    }
}

#[tokio::test]
async fn refused_lines_are_told_from_other_refusals() {
    let off_the_diff = json!({"message": "Unprocessable Entity", "errors": [
        "Pull request review thread line must be part of the diff and Pull request review thread diff hunk can't be blank",
    ]});
    let (_, result) = reviewed(422, off_the_diff.clone(), &inline()).await;
    assert!(matches!(result.unwrap(), PostedReview::InlineRefused { text } if text.contains("part of the diff")));
    let (_, result) = reviewed(422, off_the_diff, &[]).await;
    assert!(matches!(result, Err(GithubError::Refused { status: 422, .. })));
    let pending = json!({"message": "User can only have one pending review per pull request"});
    let (_, result) = reviewed(422, pending, &inline()).await;
    assert!(matches!(result, Err(GithubError::Refused { status: 422, .. })));
}

#[tokio::test]
async fn our_own_review_is_found_by_author_and_marker() {
    let world = World::installed().await;
    let by = |id: u64, author: u64, body: &str| json!({"id": id, "state": "APPROVED", "body": body, "user": {"id": author, "login": "x"}});
    let listed = json!([by(1, 33, "<!-- autobuild:e -->"), by(2, BOT, "other"), by(3, BOT, "<!-- autobuild:e -->")]);
    world.answers("GET", REVIEWS, 200, listed).await;
    let found = world.repo().find_reviews(PULL, "<!-- autobuild:e -->").await.unwrap();
    assert_eq!(found.iter().map(|review| review.id.0).collect::<Vec<_>>(), [3]);
    assert_eq!(world.repo().find_reviews(PULL, "<!-- autobuild:f -->").await.unwrap(), []);
}

#[tokio::test]
async fn an_existing_pull_request_is_adopted() {
    let world = World::installed().await;
    let exists = json!({"message": "Validation Failed", "errors": [{"message": format!("A pull request already exists for acme:{BRANCH}.")}]});
    world.answers("POST", PULLS, 422, exists).await;
    // GitHub ignores a filter that it does not understand: the list also contains others.
    let listed = json!([pull(9, "other", 22), pull(8, BRANCH, 99), pull(7, BRANCH, 22)]);
    world.answers("GET", PULLS, 200, listed).await;
    match world.repo().create_pull(NEW).await.unwrap() {
        OpenedPull::Adopted(pull) => assert_eq!(pull.number, PullNumber(7)),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.repo().find_pull("nothing").await.unwrap(), None);
}

#[tokio::test]
async fn where_there_are_no_drafts_it_is_opened_without() {
    let world = World::installed().await;
    let no_drafts = json!({"message": "Draft pull requests are not supported in this repository."});
    world.answers_once("POST", PULLS, 422, no_drafts).await;
    world.answers("POST", PULLS, 201, pull(7, BRANCH, 22)).await;
    assert!(matches!(world.repo().create_pull(NEW).await.unwrap(), OpenedPull::Opened(_)));
    let drafts: Vec<Value> = world.bodies_sent("POST", PULLS).await.iter().map(|body| body["draft"].clone()).collect();
    assert_eq!(drafts, [json!(true), json!(false)]);
}

#[tokio::test]
async fn an_empty_branch_opens_nothing() {
    let world = World::installed().await;
    let empty = json!({"message": "Validation Failed", "errors": [{"message": "No commits between a and b"}]});
    world.answers("POST", PULLS, 422, empty).await;
    assert_eq!(world.repo().create_pull(NEW).await.unwrap(), OpenedPull::NoCommits);
}

#[tokio::test]
async fn a_draft_is_made_ready_once() {
    let world = World::installed().await;
    let mut ready = pull(7, BRANCH, 22);
    ready["draft"] = json!(false);
    world.answers_once("GET", "/repos/acme/shop/pulls/7", 200, pull(7, BRANCH, 22)).await;
    world.answers("GET", "/repos/acme/shop/pulls/7", 200, ready).await;
    let done = json!({"data": {"markPullRequestReadyForReview": {"pullRequest": {"isDraft": false}}}});
    world.answers("POST", "/graphql", 200, done).await;
    world.repo().mark_ready(PULL).await.unwrap();
    world.repo().mark_ready(PULL).await.unwrap();
    let asked = world.bodies_sent("POST", "/graphql").await;
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["variables"], json!({"id": "PR_7"}));
}

#[tokio::test]
async fn a_merge_always_names_the_head() {
    let table = [
        (200, json!({"sha": sha(), "merged": true}), Merge::Merged { sha: sha() }),
        (
            409,
            json!({"message": "Head branch was modified. Review and try the merge again."}),
            Merge::Refused {
                why: MergeRefusal::HeadMoved,
                text: "Head branch was modified. Review and try the merge again.".to_owned(),
            },
        ),
        (
            405,
            json!({"message": "Pull Request is still a draft"}),
            Merge::Refused { why: MergeRefusal::Draft, text: "Pull Request is still a draft".to_owned() },
        ),
    ];
    for (status, answer, expected) in table {
        let world = World::installed().await;
        world.answers("PUT", MERGE, status, answer).await;
        let merged = world.repo().merge_pull(PULL, &sha(), MergeMethod::Squash, "title", "text").await.unwrap();
        assert_eq!(merged, expected);
        let asked = &world.bodies_sent("PUT", MERGE).await[0];
        assert_eq!((&asked["sha"], &asked["merge_method"]), (&json!(sha()), &json!("squash")));
    }
}

#[tokio::test]
async fn a_lost_merge_reply_is_uncertain() {
    let world = World::installed().await;
    world.answers("PUT", MERGE, 502, json!({})).await;
    let lost = world.repo().merge_pull(PULL, &sha(), MergeMethod::Merge, "", "").await;
    assert!(matches!(lost, Err(GithubError::Uncertain { .. })));
}

#[tokio::test]
async fn a_deleted_comment_is_gone() {
    let world = World::installed().await;
    assert!(matches!(world.repo().update_comment(CommentId(5), "x").await, Err(GithubError::Gone)));
    let on = ReactionTarget::Comment(CommentId(5));
    assert!(matches!(world.repo().react(on, Reaction::Eyes).await, Err(GithubError::Gone)));
}

#[tokio::test]
async fn a_reaction_that_is_there_is_fine() {
    let world = World::installed().await;
    world.answers("POST", "/repos/acme/shop/issues/42/reactions", 200, json!({"id": 1, "content": "eyes"})).await;
    world.repo().react(ReactionTarget::Issue(ISSUE), Reaction::Eyes).await.unwrap();
}

#[tokio::test]
async fn a_check_run_is_found_by_app_and_external_id() {
    let world = World::installed().await;
    let run = |id: u64, app: u64, external: &str| json!({"id": id, "app": {"id": app}, "external_id": external});
    let at = format!("/repos/acme/shop/commits/{}/check-runs", sha());
    let listed = json!({"total_count": 3, "check_runs": [run(1, 8, "e"), run(2, 7, "d"), run(3, 7, "e")]});
    world.answers("GET", &at, 200, listed).await;
    let found = world.repo().find_check(&sha(), "AutoBuild", "e").await.unwrap();
    assert_eq!(found, Some(CheckRunId(3)));
}

#[tokio::test]
async fn a_check_run_is_made_with_its_conclusion() {
    let world = World::installed().await;
    world.answers("POST", "/repos/acme/shop/check-runs", 201, json!({"id": 600, "external_id": "e"})).await;
    let head = sha();
    let report = CheckReport {
        name: "AutoBuild",
        head: &head,
        external_id: "e",
        conclusion: CheckConclusion::Failure,
        output: CheckOutput { title: "Turn 1".to_owned(), summary: "The Player works".to_owned() },
        actions: vec![CheckAction {
            label: "Resume".to_owned(),
            description: "Grant more turns".to_owned(),
            identifier: "resume".to_owned(),
        }],
    };
    world.repo().create_check(&report).await.unwrap();
    let made = world.bodies_sent("POST", "/repos/acme/shop/check-runs").await;
    assert_eq!((&made[0]["status"], &made[0]["conclusion"]), (&json!("completed"), &json!("failure")));
    assert_eq!(made[0]["actions"][0]["identifier"], "resume");
}

#[tokio::test]
async fn a_branch_that_is_not_there_has_no_tip() {
    let world = World::installed().await;
    assert_eq!(world.repo().branch_head(BRANCH).await.unwrap(), None);
}

#[tokio::test]
async fn rules_are_listed_and_an_old_server_has_none() {
    let world = World::installed().await;
    assert_eq!(world.repo().rules_for(BRANCH).await.unwrap(), []);
    let at = format!("/repos/acme/shop/rules/branches/{BRANCH}");
    world
        .answers("GET", &at, 200, json!([{"type": "creation"}, {"type": "pull_request", "parameters": {"x": 1}}]))
        .await;
    let kinds: Vec<String> = world.repo().rules_for(BRANCH).await.unwrap().into_iter().map(|rule| rule.kind).collect();
    assert_eq!(kinds, ["creation", "pull_request"]);
}

#[test]
fn calls_may_be_spawned() {
    fn may_move<T: Send>(_: impl FnOnce(&'static World) -> T) {}
    may_move(|world| async { world.repo().create_pull(NEW).await.map(drop) });
    may_move(|world| async { world.repo().mark_ready(PULL).await });
    may_move(|world| async { world.repo().find_comment(ISSUE, "").await.map(drop) });
}

/// A process that was frozen continues where it was: between its check of the lease and the write.
#[tokio::test]
async fn a_write_is_not_sent_once_its_permit_is_gone() {
    let world = World::installed().await;
    let path = "/repos/acme/shop/issues/42/comments";
    world.answers("POST", path, 201, json!({"id": 1, "body": "Done."})).await;
    let gone: Permit = Arc::new(|| false);
    let sent = world.repo().permitted_by(&gone).create_comment(ISSUE, "Done.").await;
    assert!(sent.is_err(), "{sent:?}");
    assert!(world.bodies_sent("POST", path).await.is_empty());
    let held: Permit = Arc::new(|| true);
    let sent = world.repo().permitted_by(&held).create_comment(ISSUE, "Done.").await;
    assert!(sent.is_ok(), "{sent:?}");
}
