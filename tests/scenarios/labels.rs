//! Labels: the checks before anything starts, and the cost of labels that start nothing.

use crate::world::{ADMIN, ISSUE, Plan, READER, REPO, Setup, WRITER, World};
use forge::{CallKind, Fault, LoggedCall, Mishap, RepoSource, Settings};

/// Returns the service's calls to the forge since they were last cleared.
fn calls(world: &World) -> Vec<LoggedCall> {
    let all = world.forge.calls().into_iter();
    all.filter(|call| call.app.is_some() || call.kind == CallKind::Git).collect()
}

fn fetches(world: &World) -> usize {
    calls(world).iter().filter(|call| call.kind == CallKind::Git).count()
}

async fn labelled(world: &World, who: &str, label: &str) {
    world.by(who).label(REPO, ISSUE, label).unwrap();
    world.settle().await;
}

/// Pushes one file to the default branch as the writer.
async fn pushed(world: &World, path: &str, text: &str) {
    let files = [(path, Some(text))];
    world.by(WRITER).push(REPO, "main", "Change", &files).await.unwrap();
    world.settle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_labels_cost_one_look_at_the_settings_and_then_nothing() {
    let world = World::new().await;
    world.open_issue(WRITER, "Say hello.");
    labelled(&world, WRITER, "bug").await;
    let first = calls(&world);
    assert_eq!(fetches(&world), 0, "{first:?}");
    assert!(first.iter().any(|call| call.path.ends_with("/contents/.github/autobuild.yml")));
    world.forge.clear_calls();
    for label in ["wontfix", "help wanted", "autobuild-later"] {
        labelled(&world, READER, label).await;
    }
    pushed(&world, "README.md", "# Shop, the second\n").await;
    labelled(&world, WRITER, "question").await;
    assert_eq!(calls(&world), [], "nothing is asked");
    assert!(world.comments(ISSUE).await.is_empty());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_of_the_settings_changes_which_label_is_ours() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.open_issue(WRITER, "Say hello.");
    labelled(&world, WRITER, "build-me").await;
    let text = "test: sh tests/run.sh\nplan_approval: always\nlabel: Build-Me\n";
    pushed(&world, ".github/autobuild.yml", text).await;
    labelled(&world, WRITER, "autobuild").await;
    assert!(world.feature_of(ISSUE).await.is_none(), "it is not the label any more");
    world.script.plans(&Plan::one());
    world.by(WRITER).unlabel(REPO, ISSUE, "build-me").unwrap();
    labelled(&world, WRITER, "build-me").await;
    assert_eq!(world.state().await, "awaiting_approval", "in any case of its letters");
    world.by(WRITER).unlabel(REPO, ISSUE, "build-me").unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "cancelled");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_settings_of_the_organisation_are_read_without_a_fetch() {
    let world = Setup::new().only_settings("").build().await;
    let shared = [(".github/autobuild.yml", "label: ours\n")];
    world.forge.create_repo("acme/.github", RepoSource::Files(&shared), Settings::default()).await.unwrap();
    world.forge.set_role("acme/.github", WRITER, forge::Role::Write).unwrap();
    world.open_issue(WRITER, "Say hello.");
    labelled(&world, WRITER, "bug").await;
    world.forge.clear_calls();
    labelled(&world, WRITER, "theirs").await;
    assert_eq!(calls(&world), []);
    let change = [(".github/autobuild.yml", Some("label: theirs\nmax_turn: 2\n"))];
    world.by(WRITER).push("acme/.github", "main", "Change", &change).await.unwrap();
    world.settle().await;
    world.by(WRITER).unlabel(REPO, ISSUE, "theirs").unwrap();
    labelled(&world, WRITER, "theirs").await;
    let said = world.last_answer(ISSUE).await;
    assert!(said.contains("max_turns"), "{said}");
    assert_eq!(fetches(&world), 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_fetched_for_who_may_not_or_for_an_issue_that_does_not_wait_any_more() {
    let world = World::new().await;
    world.open_issue(WRITER, "Say hello.");
    labelled(&world, READER, "autobuild").await;
    assert!(world.last_answer(ISSUE).await.contains("write access"));
    world.by(READER).unlabel(REPO, ISSUE, "autobuild").unwrap();

    // The label is removed again before the service looked, so nothing is wanted.
    let held = world.forge.order(Fault::on_delivery("issues.labeled", Mishap::Hold));
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    world.by(WRITER).unlabel(REPO, ISSUE, "autobuild").unwrap();
    held.release().await;
    world.settle().await;
    assert_eq!(world.comments(ISSUE).await.len(), 1, "{:?}", world.comments(ISSUE).await);

    world.by(WRITER).close(REPO, ISSUE).unwrap();
    labelled(&world, WRITER, "AutoBuild").await;
    let said = world.last_answer(ISSUE).await;
    assert!(said.contains("the issue is closed"), "{said}");
    assert!(world.feature_of(ISSUE).await.is_none());
    assert_eq!(fetches(&world), 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_settings_file_that_is_none_is_said() {
    let world = Setup::new().only_settings("").with_file(".github/autobuild.yml/x", "").build().await;
    world.open_issue(WRITER, "Say hello.");
    labelled(&world, ADMIN, "autobuild").await;
    let said = world.last_answer(ISSUE).await;
    assert!(said.contains("is not a file"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_in_the_settings_is_told_to_who_sets_the_label_that_they_name() {
    let world = Setup::new().settings("label: build-me\nmax_turn: 3").build().await;
    world.open_issue(WRITER, "Say hello.");
    labelled(&world, WRITER, "build-me").await;
    let said = world.last_answer(ISSUE).await;
    assert!(said.contains("max_turns"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_label_of_the_repositorys_own_that_is_taken_off_before_there_is_a_plan_cancels() {
    let world = Setup::new().settings("label: build-me").build().await;
    world.open_issue(WRITER, "Say hello.");
    labelled(&world, WRITER, "build-me").await;
    assert_eq!(world.state().await, "blocked", "the planner has no plan");
    world.by(WRITER).unlabel(REPO, ISSUE, "build-me").unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "cancelled");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_to_plan_an_issue_without_a_label_labels_it_and_begins() {
    let world = Setup::new().settings("plan_approval: always\nlabel: build-me").build().await;
    world.open_issue(WRITER, "Say hello.");
    let refused = world.say(READER, ISSUE, "/autobuild plan").await;
    assert!(world.feature_of(ISSUE).await.is_none());
    assert_eq!(world.reactions(refused).await, ["confused"]);
    world.script.plans(&Plan::one());
    // GitHub sets the label, and its answer is lost.
    world.forge.order(Fault::on("POST", "*/labels", Mishap::LoseReply));
    let comment = world.say(WRITER, ISSUE, "/autobuild plan").await;
    assert_eq!(world.state().await, "awaiting_approval");
    assert_eq!(world.reactions(comment).await, ["rocket"]);
    let issue = world.forge.look(REPO, &format!("issues/{ISSUE}")).await.unwrap();
    assert_eq!(issue["labels"][0]["name"], "build-me", "{issue}");
    assert_eq!(world.feature().await.snapshot.labelled_by.login, WRITER);
    let said = world.comments(ISSUE).await;
    let plans = said.iter().filter(|(_, text)| text.starts_with("## FEAT-1"));
    assert_eq!(plans.count(), 1, "{said:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_plan_hears_the_words_that_came_with_the_order() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.open_issue(WRITER, "Say hello.");
    world.script.plans(&Plan::one());
    world.say(WRITER, ISSUE, "/autobuild plan Write it in one file.").await;
    assert_eq!(world.state().await, "awaiting_approval");
    let said = world.feature().await.snapshot.discussion.comments;
    assert_eq!(said[0].text, "Write it in one file.");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_plan_can_come_with_the_order() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.open_issue(WRITER, "Say hello.");
    let plan = Plan::one().json();
    world.say(WRITER, ISSUE, &format!("/autobuild plan\n\n```yaml\n{plan}\n```\n")).await;
    assert_eq!(world.state().await, "awaiting_approval");
    assert_eq!(world.tasks().await, ["pending"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_to_plan_a_closed_issue_sets_no_label() {
    let world = World::new().await;
    world.open_issue(WRITER, "Say hello.");
    world.by(WRITER).close(REPO, ISSUE).unwrap();
    world.say(WRITER, ISSUE, "/autobuild plan").await;
    let said = world.answers(ISSUE).await;
    assert!(said.contains("the issue is closed"), "{said}");
    let issue = world.forge.look(REPO, &format!("issues/{ISSUE}")).await.unwrap();
    assert_eq!(issue["labels"].as_array().unwrap().len(), 0, "{issue}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_to_plan_needs_the_right_that_the_settings_name() {
    let world = Setup::new().settings("plan_approval: always\ncommands: {permission: admin}").build().await;
    world.open_issue(WRITER, "Say hello.");
    world.say(WRITER, ISSUE, "/autobuild plan").await;
    assert!(world.feature_of(ISSUE).await.is_none());
    let said = world.last_answer(ISSUE).await;
    assert!(said.contains("admin access"), "{said}");
    world.script.plans(&Plan::one());
    world.say(ADMIN, ISSUE, "/autobuild plan").await;
    assert_eq!(world.state().await, "awaiting_approval");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_of_repositories_that_answer_slowly_hold_up_no_command() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    let slow = world.forge.order(Fault::on("GET", "*/contents/*", Mishap::Hold).always());
    for number in 0..6 {
        let name = format!("acme/slow{number}");
        let files = RepoSource::Files(&[("README.md", "# Slow\n")]);
        world.forge.create_repo(&name, files, Settings::default()).await.unwrap();
        world.forge.set_role(&name, WRITER, forge::Role::Write).unwrap();
        let issue = world.by(WRITER).open_issue(&name, "Slow", "Slow.", &[]).unwrap();
        world.by(WRITER).label(&name, issue, "bug").unwrap();
    }
    slow.struck().await;
    world.by(WRITER).comment(REPO, ISSUE, "/autobuild cancel").unwrap();
    let cancelled = async {
        while world.state().await != "cancelled" {
            tokio::task::yield_now().await;
        }
    };
    let heard = tokio::time::timeout(std::time::Duration::from_secs(120), cancelled).await;
    assert!(heard.is_ok(), "the command waits for the labels");
    assert_eq!(slow.hits(), 2);
    slow.withdraw();
    world.end().await;
}
