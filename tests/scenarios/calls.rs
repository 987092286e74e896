//! The person who labelled the issue is notified once of each wait: by a request for a review, a report, or a short
//! comment.

use crate::world::{ADMIN, ISSUE, Plan, REPO, Setup, WRITER, World};
use forge::{Fault, Mishap};

/// Returns the people from whom a review of a pull request is requested.
async fn requested(world: &World, pull: u64) -> Vec<String> {
    let pull = world.pull_json(pull).await;
    let all = pull["requested_reviewers"].as_array().unwrap();
    all.iter().map(|one| one["login"].as_str().unwrap().to_owned()).collect()
}

/// Returns the comments of bots that mention the writer.
async fn calls(world: &World, number: u64) -> Vec<String> {
    let all = world.comments(number).await.into_iter();
    all.filter(|(author, body)| author.ends_with("[bot]") && body.contains("@wendy")).map(|(_, body)| body).collect()
}

fn refuse(status: u16, message: &str) -> Mishap {
    Mishap::Fail { status, body: serde_json::json!({ "message": message }).to_string(), headers: Vec::new() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_waits_calls_once_for_each_plan() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one()).plans(&Plan::one().with("name", "Say hello twice".into()));
    world.start().await;
    assert_eq!(world.state().await, "awaiting_approval");
    let called = calls(&world, ISSUE).await;
    assert_eq!(called.len(), 1, "{called:?}");
    assert!(called[0].starts_with("@wendy, the plan of FEAT-1 waits for your approval"), "{called:?}");
    assert!(called[0].contains("#issuecomment-"), "with a link: {called:?}");
    assert!(called[0].split_whitespace().count() < 60, "short: {called:?}");
    world.say(WRITER, ISSUE, "/autobuild status").await;
    assert_eq!(calls(&world, ISSUE).await.len(), 1, "nothing new waits");
    world.say(WRITER, ISSUE, "/autobuild plan twice please").await;
    assert_eq!(calls(&world, ISSUE).await.len(), 2, "another plan is another wait");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_feature_pull_request_asks_for_a_review_and_mentions_nobody() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let pull = world.feature_pull().await;
    assert_eq!(requested(&world, pull).await, [WRITER]);
    assert!(calls(&world, pull).await.is_empty() && calls(&world, ISSUE).await.is_empty());
    // A request for changes by someone else leads back to building, and then the Feature waits once more. The earlier
    // request for a review is still open, so only a comment notifies.
    world.script.writes_as("TASK-REVIEW-1", &[("hello/1.txt", "hello 1!\n")]);
    world.script.approves_as("TASK-REVIEW-1", "hello/1.txt:1");
    world.by(ADMIN).review(REPO, pull, "REQUEST_CHANGES", "Say it louder.", &[]).await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(calls(&world, pull).await.len(), 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_be_asked_for_a_review_is_mentioned() {
    let world = World::new().await;
    let refused = refuse(422, "Reviews may only be requested from collaborators.");
    world.forge.order(Fault::on("POST", "*/requested_reviewers", refused).always());
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let pull = world.feature_pull().await;
    let called = calls(&world, pull).await;
    assert_eq!(called.len(), 1, "{called:?}");
    assert!(called[0].starts_with("@wendy, FEAT-1 is built"), "{called:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_mentioned_in_place_of_a_request_is_so_also_where_writes_are_spaced() {
    let world = Setup::new().write_spacing_ms(20).build().await;
    let refused = refuse(422, "Reviews may only be requested from collaborators.");
    let order = world.forge.order(Fault::on("POST", "*/requested_reviewers", refused).always());
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let pull = world.feature_pull().await;
    assert_eq!((order.hits(), calls(&world, pull).await.len()), (1, 1));
    world.end().await;

    let world = Setup::new().write_spacing_ms(20).build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let pull = world.feature_pull().await;
    assert_eq!(requested(&world, pull).await, [WRITER]);
    world.script.writes_as("TASK-REVIEW-1", &[("hello/1.txt", "hello 1!\n")]);
    world.script.approves_as("TASK-REVIEW-1", "hello/1.txt:1");
    world.by(ADMIN).review(REPO, pull, "REQUEST_CHANGES", "Say it louder.", &[]).await.unwrap();
    world.settle().await;
    assert_eq!(calls(&world, pull).await.len(), 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_calls_nobody_twice() {
    for path in ["*/requested_reviewers", "*/issues/*/comments"] {
        let world = Setup::new().settings("merge: human").build().await;
        world.forge.order(Fault::on("POST", path, Mishap::HoldReply).containing("wendy")).cut();
        world.script.plans(&Plan::one()).succeeds(1);
        world.start().await;
        let pull = world.pull(1).await;
        assert_eq!(requested(&world, pull).await, [WRITER], "{path}");
        assert!(calls(&world, pull).await.is_empty(), "{path}");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merge_that_is_for_a_person_asks_for_a_review_and_a_refused_one_says_the_rule() {
    let world = World::new().await;
    let rule = refuse(405, "At least 1 approving review is required by reviewers with write access.");
    world.forge.order(Fault::on("PUT", "*/merge", rule).always());
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.tasks().await, ["approved"]);
    let pull = world.pull(1).await;
    let called = calls(&world, pull).await;
    assert_eq!(called.len(), 1, "{called:?}");
    assert!(called[0].contains("At least 1 approving review is required"), "{called:?}");
    assert!(requested(&world, pull).await.is_empty(), "never both for one wait");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_blocks_is_one_review_with_one_mention() {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::one()).plays(1).feedback(1, "Not nice.");
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let pull = world.pull(1).await;
    let reviews = world.reviews(pull).await;
    assert_eq!(reviews.len(), 1, "{reviews:?}");
    let body = &reviews[0].2;
    assert_eq!(reviews[0].1, "CHANGES_REQUESTED");
    assert_eq!(body.matches("@wendy").count(), 1, "{body}");
    let remarks = world.list(&format!("pulls/{pull}/comments")).await;
    let said = remarks.iter().filter(|one| one["body"].to_string().contains("Not nice."));
    assert_eq!(said.count() + body.matches("Not nice.").count(), 1, "each failure once: {body}");
    assert!(body.contains("/autobuild resume") && body.contains("one turn ended with feedback"), "{body}");
    assert!(calls(&world, ISSUE).await.is_empty(), "the report is the call");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_before_any_pull_request_calls_in_its_report() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).fails("player", "not_authorised");
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    assert_eq!(calls(&world, ISSUE).await.len(), 1);
    world.end().await;
}
