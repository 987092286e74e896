//! Texts that cannot be posted as intended are posted in another form, and the Feature reports that; nothing is merged
//! without a trace.

use crate::world::{ISSUE, Plan, REPO, Setup, Task, World};
use forge::{Fault, Mishap};

fn refuse(status: u16, message: &str) -> Mishap {
    Mishap::Fail { status, body: serde_json::json!({ "message": message }).to_string(), headers: Vec::new() }
}

async fn living(world: &World) -> String {
    world.comments(ISSUE).await.remove(0).1
}

async fn world() -> World {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coach_that_may_not_review_is_spoken_for_by_a_comment_review() {
    let world = world().await;
    let refused = refuse(403, "Resource not accessible by integration");
    world.forge.order(Fault::on("POST", "*/pulls/*/reviews", refused).containing("APPROVE"));
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let reviews = world.reviews(world.pull(1).await).await;
    assert_eq!(reviews.len(), 1);
    assert_eq!((reviews[0].0.as_str(), reviews[0].1.as_str()), ("autobuild[bot]", "COMMENTED"));
    let living = living(&world).await;
    assert!(living.contains("could not post the review of TASK-001 as it should"), "{living}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_that_nobody_may_post_is_a_comment_and_after_it_the_merge_goes_on() {
    let world = world().await;
    let refused = refuse(403, "Resource not accessible by integration");
    world.forge.order(Fault::on("POST", "*/pulls/*/reviews", refused).always());
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let said = world.answers(world.pull(1).await).await;
    assert!(said.contains("✅ Approved: TASK-001"), "{said}");
    assert!(living(&world).await.contains("the review of TASK-001"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_that_can_be_said_nowhere_stops_the_merge() {
    let world = world().await;
    let refused = || refuse(403, "Resource not accessible by integration");
    world.forge.order(Fault::on("POST", "*/pulls/*/reviews", refused()).always());
    world.forge.order(Fault::on("POST", "*/issues/*/comments", refused()).containing("Approved: TASK-001").always());
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    assert_eq!(world.pull_json(world.pull(1).await).await["merged"], false);
    assert!(living(&world).await.contains("could not post the review of TASK-001"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_run_that_cannot_be_made_is_a_comment() {
    let world = world().await;
    world
        .forge
        .order(Fault::on("POST", "*/check-runs", refuse(403, "Resource not accessible by integration")).always());
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let said = world.answers(world.pull(1).await).await;
    assert!(said.contains("The check run `AutoBuild`") && said.contains("Approved at turn 1"), "{said}");
    let living = living(&world).await;
    assert!(living.contains("the check run of TASK-001"), "{living}");
    assert!(living.contains("the check run of the merged result"), "{living}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_overload_that_never_ends_falls_back_with_the_last_try() {
    let world = world().await;
    world.forge.order(Fault::on("POST", "*/pulls/*/reviews", Mishap::fail(502)).always());
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let said = world.answers(world.pull(1).await).await;
    assert_eq!(said.matches("✅ Approved: TASK-001").count(), 1, "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comment_on_the_state_that_cannot_be_edited_has_a_new_one_in_its_place() {
    let world = world().await;
    world.forge.order(Fault::on("PATCH", "*/issues/comments/*", forbidden()).always());
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let said = world.comments(ISSUE).await;
    let (_, newest) = said.last().unwrap();
    assert!(newest.contains("**State: in review.**"), "{said:?}");
    let kept = world.feature().await.living.unwrap().comment.0;
    let all = world.list(&format!("issues/{ISSUE}/comments")).await;
    assert_eq!(all.last().unwrap()["id"], kept);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comment_on_the_state_that_github_only_fails_to_edit_has_none_in_its_place() {
    let world = world().await;
    let failing = Fault::on("PATCH", "*/issues/comments/*", Mishap::fail(502)).times(20);
    let failing = world.forge.order(failing);
    world.start().await;
    assert_eq!(failing.hits(), 20);
    assert_eq!(world.state().await, "in_review");
    let said = world.answers(ISSUE).await;
    assert_eq!(said.matches("/living -->").count(), 1, "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_counts_as_shown_only_by_a_comment_that_shows_it() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    let (issue, living) = (format!("*/issues/{ISSUE}/comments"), "/living -->");
    world.forge.order(Fault::on("PATCH", "*/issues/comments/*", forbidden()).always());
    let held = Fault::on("POST", &issue, Mishap::HoldReply).containing(living);
    let held = world.forge.order(held);
    let plan = |tasks: &Plan| format!("/autobuild plan\n\n```yaml\n{}\n```\n", tasks.json());
    let two = plan(&Plan::of([Task::new(1), Task::new(2)]));
    world.by("wendy").comment(REPO, ISSUE, &two).unwrap();
    held.struck().await;
    let three = plan(&Plan::of([Task::new(1), Task::new(2), Task::new(3)]));
    world.by("wendy").comment(REPO, ISSUE, &three).unwrap();
    while world.feature().await.tasks.len() < 3 {
        tokio::task::yield_now().await;
    }
    held.cut();
    world.settle().await;
    let shown = world.feature().await.living.unwrap().comment.0;
    let all = world.list(&format!("issues/{ISSUE}/comments")).await;
    let shown = all.iter().find(|comment| comment["id"] == shown).unwrap();
    assert!(shown["body"].as_str().unwrap().contains("TASK-003"), "{all:?}");
    world.end().await;
}

/// Returns the Coach App's installation on the forge.
fn coach_installation(world: &World) -> u64 {
    world.coach_installation.expect("a Coach App")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coach_app_that_was_installed_again_is_found_again() {
    let world = Setup::new().settings("max_turns: 2").build().await;
    world.script.plans(&Plan::one());
    world.script.writes(1, &[("hello/1.txt", "hello 1!\n")]).feedback(1, "Not nice.");
    world.script.plays(1);
    world.start().await;
    assert_eq!(world.state().await, "blocked", "the second turn has no Coach in the script");
    let before = world.reviews(world.pull(1).await).await;
    assert_eq!(before[0].0, "autobuild-coach[bot]");
    world.forge.uninstall(coach_installation(&world)).unwrap();
    world.forge.install("autobuild-coach", "acme", None).unwrap();
    world.script.approves(1);
    world.say("wendy", ISSUE, "/autobuild resume").await;
    let after = world.reviews(world.pull(1).await).await;
    assert_eq!(after.last().unwrap().0, "autobuild-coach[bot]", "{after:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_coach_app_the_feature_goes_on_and_says_so() {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::one()).plays(1).feedback(1, "Not nice.");
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    world.forge.suspend(coach_installation(&world)).unwrap();
    world.script.writes(1, &[("hello/1.txt", "hello 1!\n")]).approves(1);
    world.by("wendy").comment(REPO, ISSUE, "/autobuild resume --max-turns=1").unwrap();
    world.settle().await;
    let after = world.reviews(world.pull(1).await).await;
    assert_eq!(after.last().unwrap().0, "autobuild[bot]", "{after:?}");
    assert!(living(&world).await.contains("as it should"));
    world.end().await;
}

/// Creates a world whose Coach will request changes in the last turn.
async fn displeased() -> World {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::one()).writes(1, &[("hello/1.txt", "hello 1!\n")]).feedback(1, "Not nice.");
    world
}

/// Creates a world whose Coach has requested changes in the last turn.
async fn blocked() -> World {
    let world = displeased().await;
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_run_whose_annotations_are_put_off_by_a_limit_is_not_made_twice() {
    let world = displeased().await;
    let limited =
        Mishap::Fail { status: 429, body: String::new(), headers: vec![("retry-after".to_owned(), "1".to_owned())] };
    let order = world.forge.order(Fault::on("PATCH", "*/check-runs/*", limited));
    world.start().await;
    assert_eq!(order.hits(), 1);
    let head = world.feature().await.tasks[0].head.clone().unwrap();
    assert_eq!(world.checks(head.as_str()).await, ["AutoBuild action_required"]);
    world.end().await;
}

fn forbidden() -> Mishap {
    refuse(403, "Resource not accessible by integration")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_changes_is_dismissed_also_when_its_app_is_installed_no_more() {
    let world = displeased().await;
    // The service gets no delivery that names the Coach's bot.
    let unheard = Fault::on_delivery("pull_request_review.*", Mishap::LoseRequest);
    world.forge.order(unheard);
    world.start().await;
    let pull = world.pull(1).await;
    assert_eq!(world.review_states(pull).await, ["CHANGES_REQUESTED"]);
    world.forge.uninstall(coach_installation(&world)).unwrap();
    world.say("wendy", pull, "/autobuild approve").await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.review_states(pull).await, ["DISMISSED"]);
    assert!(!living(&world).await.contains("could not dismiss"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dismissal_that_is_refused_is_said_on_the_issue() {
    let world = blocked().await;
    let pull = world.pull(1).await;
    world.forge.order(Fault::on("PUT", "*/dismissals", forbidden()).always());
    world.say("wendy", pull, "/autobuild approve").await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.review_states(pull).await, ["CHANGES_REQUESTED"]);
    let living = living(&world).await;
    assert!(
        living.contains("could not dismiss the Coach's request for changes on the pull request of TASK-001"),
        "{living}"
    );
    assert!(living.contains("Resource not accessible"), "{living}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_that_cannot_be_marked_ready_is_said_on_the_issue() {
    let world = world().await;
    let fault = Fault::on("POST", "/api/graphql", refuse(404, "Not Found"));
    world.forge.order(fault.containing("markPullRequestReadyForReview").always());
    world.start().await;
    assert_eq!(world.tasks().await, ["approved"], "a draft is not merged");
    let living = living(&world).await;
    assert!(living.contains("could not mark the pull request of TASK-001 as ready for review"), "{living}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pull_requests_that_cannot_be_closed_are_said_on_the_issue_also_at_the_end() {
    let world = blocked().await;
    let pull = world.pull(1).await;
    world.forge.order(Fault::on("PATCH", "*/pulls/*", forbidden()).containing("closed").always());
    world.say("wendy", ISSUE, "/autobuild cancel").await;
    assert_eq!(world.state().await, "cancelled");
    assert_eq!(world.pull_json(pull).await["state"], "open");
    let living = living(&world).await;
    assert!(
        living.contains(&format!("could not close the pull request [#{pull}]")) && living.contains("of TASK-001"),
        "{living}"
    );
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feature_pull_request_that_cannot_be_closed_is_said_on_the_issue() {
    let world = world().await;
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let pull = world.feature_pull().await;
    world.forge.order(Fault::on("PATCH", "*/pulls/*", forbidden()).containing("closed").always());
    world.say("wendy", ISSUE, "/autobuild cancel").await;
    assert_eq!(world.state().await, "cancelled");
    let living = living(&world).await;
    assert!(
        living.contains(&format!("could not close the pull request [#{pull}]")) && living.contains("Close it by hand"),
        "{living}"
    );
    world.end().await;
}
