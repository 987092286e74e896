//! No trigger is ignored silently: one that could not be read is reported once, and carried out when it is sent again.

use crate::world::{ISSUE, Plan, REPO, Setup, WRITER, World};
use forge::{Fault, Mishap, RepoSource, Role, Settings};

/// The path of requests for the head of the default branch.
const HEAD: &str = "/repos/*/git/ref/heads/main";

fn forbidden() -> Mishap {
    Mishap::Fail {
        status: 403,
        body: r#"{"message":"Resource not accessible by integration"}"#.to_owned(),
        headers: Vec::new(),
    }
}

async fn label(world: &World, name: &str) {
    world.by(WRITER).label(REPO, ISSUE, name).unwrap();
    world.settle().await;
}

/// Returns the newest delivery of this event and action.
fn newest(world: &World, event: &str, action: &str) -> u64 {
    let all = world.forge.deliveries("autobuild").into_iter();
    let found = all.filter(|(_, name, did, _)| name == event && did.as_deref() == Some(action));
    found.map(|(id, ..)| id).max().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_label_whose_issue_cannot_be_read_is_answered_once_and_starts_when_sent_again() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.open_issue(WRITER, "Say hello in files");
    let fault = world.forge.order(Fault::on("POST", "/api/graphql", Mishap::fail(404)).always());
    label(&world, "autobuild").await;
    let said = world.comments(ISSUE).await;
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].1.contains("could not look at the label"), "{said:?}");
    assert!(said[0].1.contains("Reason: `Not Found`"), "the cause: {said:?}");
    assert_eq!(fault.hits(), 1, "at once, not after hours");

    let delivery = newest(&world, "issues", "labeled");
    world.forge.redeliver(delivery).unwrap();
    world.settle().await;
    assert_eq!(fault.hits(), 2, "it was looked at again");
    assert_eq!(world.comments(ISSUE).await.len(), 1, "and said once");

    fault.withdraw();
    world.script.plans(&Plan::one());
    world.forge.redeliver(delivery).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "awaiting_approval");
    assert_eq!(world.feature().await.key.run, 1);
    world.forge.redeliver(delivery).unwrap();
    world.settle().await;
    let comments = world.comments(ISSUE).await.len();
    assert_eq!(comments, 3, "the reason, the plan and the call to approve: nothing is done again");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_told_for_our_labels_and_other_labels_stay_silent() {
    let world = World::new().await;
    world.open_issue(WRITER, "Say hello in files");
    world.forge.order(Fault::on("GET", "/repos/*/contents/*", forbidden()).always());
    label(&world, "bug").await;
    assert!(world.comments(ISSUE).await.is_empty());
    label(&world, "autobuild-task").await;
    let said = world.comments(ISSUE).await;
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].1.contains("Resource not accessible by integration"), "{said:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_label_of_the_organisation_is_known_in_a_repository_that_was_never_read() {
    let world = Setup::new().only_settings("").build().await;
    let shared = [(".github/autobuild.yml", "label: ours\n")];
    for (repo, files) in [("acme/.github", shared.as_slice()), ("acme/other", &[("README.md", "Other\n")])] {
        world.forge.create_repo(repo, RepoSource::Files(files), Settings::default()).await.unwrap();
    }
    world.forge.set_role("acme/other", WRITER, Role::Write).unwrap();
    let other = world.by(WRITER).open_issue("acme/other", "Other", "", &[]).unwrap();
    world.by(WRITER).label("acme/other", other, "bug").unwrap();
    world.settle().await;

    world.open_issue(WRITER, "Say hello in files");
    world.forge.order(Fault::on("GET", "/repos/acme/shop/git/ref/heads/main", forbidden()).always());
    label(&world, "autobuild").await;
    assert!(world.comments(ISSUE).await.is_empty(), "it is not the label here");
    label(&world, "ours").await;
    let said = world.comments(ISSUE).await;
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].1.contains("could not look at the label"), "{said:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_passes_is_waited_for_without_an_end() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.open_issue(WRITER, "Say hello in files");
    let passing = r#"{"errors":[{"message":"Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug."}]}"#;
    let fault = |status: u16, body: &str| {
        let mishap = Mishap::Fail { status, body: body.to_owned(), headers: Vec::new() };
        world.forge.order(Fault::on("POST", "/api/graphql", mishap).times(7))
    };
    fault(200, passing);
    world.script.plans(&Plan::one());
    label(&world, "autobuild").await;
    assert_eq!(world.state().await, "awaiting_approval");
    let comments = world.comments(ISSUE).await.len();
    assert_eq!(comments, 2, "nothing but the plan and the call to approve");
    world.say(WRITER, ISSUE, "/autobuild cancel").await;

    let down = world.forge.order(Fault::on("GET", HEAD, Mishap::fail(502)).times(30));
    world.script.plans(&Plan::one());
    world.by(WRITER).unlabel(REPO, ISSUE, "autobuild").unwrap();
    label(&world, "autobuild").await;
    assert_eq!(down.hits(), 30, "more often than a failure that may last is tried");
    assert_eq!(world.state().await, "awaiting_approval");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_and_a_button_that_are_given_up_are_answered_in_their_threads() {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::one());
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, "It says hullo.");
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let pull = world.pull(1).await;
    let fault = world.forge.order(Fault::on("GET", HEAD, forbidden()).always());
    let comment = world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.reactions(comment).await, ["confused"]);
    let said = world.last_answer(ISSUE).await;
    assert!(said.contains("could not look at the command"), "{said}");

    let head = world.pull_json(pull).await["head"]["sha"].as_str().unwrap().to_owned();
    let runs = world.get(&format!("commits/{head}/check-runs")).await;
    let run = runs["check_runs"][0]["id"].as_u64().unwrap();
    world.by(WRITER).click_check(REPO, run, Some("resume")).unwrap();
    world.settle().await;
    let said = world.last_answer(pull).await;
    assert!(said.contains("could not look at the button"), "{said}");

    fault.withdraw();
    world.script.succeeds(1);
    world.forge.redeliver(newest(&world, "check_run", "requested_action")).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_git_may_not_fetch_is_said_on_the_issue() {
    let world = World::new().await;
    world.open_issue(WRITER, "Say hello in files");
    let refused =
        Mishap::Fail { status: 403, body: "Write access to repository not granted.".to_owned(), headers: Vec::new() };
    world.forge.order(Fault::on("GET", "/*.git/info/refs", refused).always());
    label(&world, "autobuild").await;
    let reactions = world.list(&format!("issues/{ISSUE}/reactions")).await;
    assert_eq!(reactions.len(), 1, "it was seen");
    assert_eq!(world.state().await, "blocked");
    let said = world.answers(ISSUE).await;
    assert!(said.contains("blocked"), "{said}");
    world.end().await;
}
