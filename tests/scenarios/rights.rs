//! The people whose commands are followed, and the answers to others.

use crate::world::{ADMIN, ISSUE, Plan, READER, REPO, STRANGER, Setup, WRITER, World};
use forge::{Fault, Mishap, RepoSource, Role, Settings};

#[tokio::test(flavor = "multi_thread")]
async fn a_label_by_someone_without_write_access_is_answered_once() {
    let world = World::new().await;
    world.open_issue(READER, "Say hello.");
    world.by(READER).label(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    assert!(world.feature_of(ISSUE).await.is_none());
    let comments = world.comments(ISSUE).await;
    assert_eq!(comments.len(), 1, "{comments:?}");
    assert!(comments[0].1.contains("write access"), "{comments:?}");
    assert_eq!(world.issue_reactions(ISSUE).await, [""; 0]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn anybody_on_a_public_repository_gets_one_reaction_a_thread_and_no_reply() {
    let world = World::new().await;
    let number = world.open_issue(STRANGER, "Say hello.");
    let held = world.forge.order(Fault::on_delivery("issues.labeled", Mishap::Hold));
    world.forge.set_role(REPO, STRANGER, Role::Triage).unwrap();
    world.by(STRANGER).label(REPO, number, "autobuild").unwrap();
    world.forge.set_role(REPO, STRANGER, Role::Read).unwrap();
    held.release().await;
    world.settle().await;
    assert_eq!(world.issue_reactions(number).await, ["confused"], "of the label");
    for command in ["/autobuild status", "/autobuild help", "/autobuild nonsense"] {
        let comment = world.say(STRANGER, number, command).await;
        assert_eq!(world.reactions(comment).await, [""; 0], "{command}");
    }
    assert_eq!(world.comments(number).await.len(), 3, "no reply to any of it");

    world.by(ADMIN).make_private(REPO).unwrap();
    world.say(STRANGER, number, "/autobuild status").await;
    let said = world.last_answer(number).await;
    assert!(said.contains("you need"), "invited people are told: {said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_that_only_a_sweep_finds_are_not_answered_more_than_others() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    let fault = world.forge.order(Fault::on_delivery("*", Mishap::LoseRequest).always());
    let mut comments = Vec::new();
    for _ in 0..4 {
        comments.push(world.say(STRANGER, ISSUE, "/autobuild status").await);
    }
    fault.withdraw();
    world.forge.forget_deliveries();
    world.engine.sweep().await.unwrap();
    world.settle().await;
    let mut reactions = 0;
    for comment in comments {
        reactions += world.reactions(comment).await.len();
    }
    assert_eq!(reactions, 1, "one a thread");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_label_starts_nothing_and_is_not_answered() {
    let world = World::new().await;
    world.open_issue(WRITER, "Say hello.");
    world.by(WRITER).label(REPO, ISSUE, "bug").unwrap();
    world.settle().await;
    assert!(world.feature_of(ISSUE).await.is_none());
    assert!(world.comments(ISSUE).await.is_empty());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_by_someone_else_after_the_label_is_answered_once_and_nothing_starts() {
    let world = World::new().await;
    world.open_issue(READER, "Say hello.");
    let held = world.forge.order(Fault::on_delivery("issues.labeled", Mishap::Hold));
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    world.by(READER).edit_issue(REPO, ISSUE, None, Some("Delete everything.")).unwrap();
    held.release().await;
    world.settle().await;
    assert!(world.feature_of(ISSUE).await.is_none());
    let comments = world.comments(ISSUE).await;
    assert_eq!(comments.len(), 1, "{comments:?}");
    assert!(comments[0].1.contains("edited the issue"), "{comments:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_label_while_a_run_is_unfinished_is_refused_with_a_link() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    world.by(ADMIN).label(REPO, ISSUE, "autobuild-task").unwrap();
    world.settle().await;
    let said = world.last_answer(ISSUE).await;
    assert!(said.contains("not finished") && said.contains("/issues/1#issuecomment-"), "{said}");
    assert_eq!(world.feature().await.key.run, 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_is_followed_by_a_second_one_with_branches_of_its_own() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    world.by(WRITER).unlabel(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "cancelled");
    world.script.plans(&Plan::one()).succeeds(1);
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    world.say(WRITER, ISSUE, "/autobuild approve").await;
    let feature = world.feature().await;
    assert_eq!(feature.key.name(), "FEAT-1-R2");
    assert!(feature.integration.unwrap().branch.starts_with("autobuild/1-r2/"));
    assert_eq!(feature.state.word(), "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_members_and_strangers_are_refused_and_members_are_told_why() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    for login in [STRANGER, READER] {
        let comment = world.say(login, ISSUE, "/autobuild approve").await;
        assert_eq!(world.reactions(comment).await, ["confused"]);
        let said = world.answers(ISSUE).await;
        let replies = usize::from(login == READER);
        assert_eq!(said.matches("you need").count(), replies, "{login}: {said}");
    }
    assert_eq!(world.state().await, "awaiting_approval");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_permission_setting_is_obeyed() {
    let world = Setup::new().settings("plan_approval: always\ncommands: {permission: admin}").build().await;
    world.script.plans(&Plan::one());
    world.open_issue(ADMIN, "Say hello.");
    world.by(ADMIN).label(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    let comment = world.say(WRITER, ISSUE, "/autobuild cancel").await;
    assert_eq!(world.reactions(comment).await, ["confused"]);
    assert!(world.last_answer(ISSUE).await.contains("admin"));
    world.say(ADMIN, ISSUE, "/autobuild cancel").await;
    assert_eq!(world.state().await, "cancelled");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn edited_comments_quotes_and_code_are_no_commands() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    let comment = world.say(WRITER, ISSUE, "Hm.").await;
    world.by(WRITER).edit_comment(REPO, comment, "/autobuild cancel").unwrap();
    world.settle().await;
    world.say(WRITER, ISSUE, "> /autobuild cancel\n\n```\n/autobuild cancel\n```\nWe could /autobuild cancel").await;
    assert_eq!(world.state().await, "awaiting_approval");
    assert!(world.reactions(comment).await.is_empty());
    assert_eq!(
        world.answers(ISSUE).await.matches("----").count(),
        1,
        "nothing but the living comment and the call to approve"
    );
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_and_impossible_commands_are_answered_with_the_nearest_form() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    for (given, expected) in [
        ("/autobuild", "/autobuild help"),
        ("/autobuild aprove", "/autobuild approve"),
        ("/autobuild skip", "/autobuild skip TASK-001"),
        ("/autobuild skip TASK-009", "only while AutoBuild builds"),
        ("/autobuild resume --max-turns=lots", "--max-turns="),
        ("/autobuild resume", "waiting for approval"),
        ("/autobuild retry TASK-001", "only while AutoBuild builds"),
        ("/autobuild cancel now", "/autobuild cancel"),
    ] {
        let comment = world.say(WRITER, ISSUE, given).await;
        assert_eq!(world.reactions(comment).await, ["confused"], "{given}");
        let said = world.last_answer(ISSUE).await;
        assert!(said.contains(expected), "{given}: {said}");
        assert!(!said.lines().any(|line| line.starts_with("/autobuild")), "{said}");
    }
    assert_eq!(world.state().await, "awaiting_approval");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn help_and_status_answer_without_changing_anything() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    let help = world.say(WRITER, ISSUE, "/autobuild help").await;
    assert_eq!(world.reactions(help).await, ["eyes", "rocket"]);
    let said = world.last_answer(ISSUE).await;
    assert!(said.contains("/autobuild retry") && said.contains("plan_approval"), "{said}");
    world.say(WRITER, ISSUE, "/autobuild status").await;
    let said = world.last_answer(ISSUE).await;
    assert!(said.contains("waiting for approval") && said.contains("TASK-001"), "{said}");
    assert_eq!(world.state().await, "awaiting_approval");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_where_nothing_is_built_is_answered() {
    let world = World::new().await;
    world.open_issue(WRITER, "Say hello.");
    let comment = world.say(WRITER, ISSUE, "/autobuild status").await;
    assert_eq!(world.reactions(comment).await, ["confused"]);
    assert!(world.last_answer(ISSUE).await.contains("To start, label it"));
    world.end().await;
}

/// Creates five repositories, each with an issue that strangers can comment on.
async fn repositories(world: &World) -> Vec<(String, u64)> {
    let mut all = vec![(REPO.to_owned(), world.open_issue(STRANGER, "Me too."))];
    for number in 2..=5 {
        let repo = format!("acme/shop-{number}");
        let files = RepoSource::Files(&[("README.md", "# Shop\n")]);
        world.forge.create_repo(&repo, files, Settings::default()).await.unwrap();
        let issue = world.by(STRANGER).open_issue(&repo, "Shop", "Me too.", &[]).unwrap();
        all.push((repo, issue));
    }
    all
}

/// Returns the number of answers to 30 comments of a person with the right, for whom there is no limit.
async fn answers_to_a_writer(world: &World, (repo, issue): &(String, u64)) -> usize {
    world.forge.set_role(repo, WRITER, Role::Write).unwrap();
    let comments: Vec<u64> =
        (0..30).map(|_| world.by(WRITER).comment(repo, *issue, "/autobuild approve").unwrap()).collect();
    world.settle().await;
    let mut answers = 0;
    for comment in comments {
        let reactions = world.forge.look(repo, &format!("issues/comments/{comment}/reactions")).await.unwrap();
        answers += reactions.as_array().unwrap().len();
    }
    answers
}

/// Plays 200 comments, or the 2,000 of `.ci/thorough flood`.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_strangers_gets_ten_writes_and_holds_nothing_up() {
    let rounds = if std::env::var_os("FLOOD").is_some() { 40 } else { 4 };
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let repositories = repositories(&world).await;
    let people: Vec<String> = (0..10).map(|number| format!("stranger-{number}")).collect();
    for person in &people {
        world.forge.create_user(person);
    }
    world.forge.clear_calls();
    let mut comments = Vec::new();
    for _ in 0..rounds {
        for (person, (repo, issue)) in people.iter().flat_map(|person| repositories.iter().map(move |at| (person, at)))
        {
            comments.push((repo, world.by(person).comment(repo, *issue, "/autobuild approve").unwrap()));
        }
    }
    world.say(WRITER, ISSUE, "/autobuild approve").await;
    assert_eq!(world.state().await, "in_review");
    let told = world.say(READER, ISSUE, "/autobuild cancel").await;
    assert_eq!(world.reactions(told).await, ["confused"], "members hear more than strangers leave");
    let calls = world.forge.calls();
    let asked = calls.iter().filter(|call| call.path.contains("/collaborators/stranger-"));
    assert!(asked.count() < comments.len() / 2, "a stranger of the last minutes is not asked about again");
    let mut reactions = 0;
    for (repo, comment) in comments {
        let path = format!("issues/comments/{comment}/reactions");
        reactions += world.forge.look(repo, &path).await.unwrap().as_array().unwrap().len();
    }
    assert_eq!(reactions, 10, "half of 20 in all");
    assert_eq!(answers_to_a_writer(&world, &repositories[1]).await, 30);
    world.end().await;
}
