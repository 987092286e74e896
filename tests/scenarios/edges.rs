//! Edge cases: several people, tools and machines act at the same time.

use crate::{
    pipes::Pipes,
    world::{ADMIN, ISSUE, Plan, REPO, Setup, Task, WRITER, World},
};
use autobuild::config::Role;
use forge::{Fault, Mishap};

#[tokio::test(flavor = "multi_thread")]
async fn every_delivery_twice_changes_nothing() {
    let world = World::new().await;
    world.forge.order(Fault::on_delivery("*", Mishap::Twice).times(1000));
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.comments(ISSUE).await.len(), 1);
    let deliveries = world.forge.deliveries("autobuild");
    for (id, ..) in deliveries {
        world.forge.redeliver(id).unwrap();
    }
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.feature().await.key.run, 1);
    assert_eq!(world.comments(ISSUE).await.len(), 1);
    assert_eq!(world.review_states(world.pull(1).await).await, ["APPROVED"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn merging_the_feature_and_closing_the_issue_overtaking_each_other_is_completed() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let held = world.forge.order(Fault::on_delivery("pull_request.closed", Mishap::Hold));
    world.by(ADMIN).merge(REPO, world.feature_pull().await, "merge").await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "completed", "the closed issue made us look at the pull request");
    held.release().await;
    world.settle().await;
    assert_eq!(world.state().await, "completed");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_living_comment_that_someone_deleted_is_made_again() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let comments = world.list(&format!("issues/{ISSUE}/comments")).await;
    world.by(ADMIN).delete_comment(REPO, comments[0]["id"].as_u64().unwrap()).unwrap();
    world.say(WRITER, ISSUE, "/autobuild approve").await;
    assert_eq!(world.state().await, "in_review");
    let living = world.answers(ISSUE).await;
    assert_eq!(living.matches("/living -->").count(), 1, "{living}");
    assert!(living.contains("in review"), "{living}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_living_comment_is_made_again_once_although_the_reply_is_lost() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let comments = world.list(&format!("issues/{ISSUE}/comments")).await;
    let first = comments[0]["id"].as_u64().unwrap();
    world.by(ADMIN).delete_comment(REPO, first).unwrap();
    let lost = Fault::on("POST", "*/issues/1/comments", Mishap::LoseReply).containing("/living -->");
    let lost = world.forge.order(lost);
    world.say(WRITER, ISSUE, "/autobuild approve").await;
    assert_eq!((lost.hits(), world.state().await.as_str()), (1, "in_review"));
    let said = world.answers(ISSUE).await;
    assert_eq!(said.matches("/living -->").count(), 1, "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_merged_by_hand_while_its_player_works_stops_the_player() {
    let player = r#"if [ "$AUTOBUILD_TURN" = 1 ]; then
mkdir -p hello; echo hullo > hello/1.txt
echo '{"summary": "Said it.", "files_modified": [], "files_created": ["hello/1.txt"], "ready_for_validation": true}'
exit 0
fi
echo $$ > "$WORLD/started"
sleep 1000
"#;
    let setup = Setup::new().command(Role::Player, player);
    let mut pipes = Pipes::new(setup.folder());
    let world = setup.build().await;
    world.script.plans(&Plan::one()).feedback(1, "It says hullo.");
    world.open_issue(WRITER, "Say hello.");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    let pid = pipes.started().await;
    let pull = world.pull(1).await;
    world.by(ADMIN).set_draft(REPO, pull, false).unwrap();
    world.by(ADMIN).merge(REPO, pull, "squash").await.unwrap();
    world.settle().await;
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "the Player is gone");
    assert_eq!(world.tasks().await, ["completed"]);
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.file("autobuild/1/integration", "hello/1.txt").as_deref(), Some("hullo\n"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancel_on_a_tasks_pull_request_cancels_that_task_and_retry_leaves_it() {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2).needs(&[1])]));
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, "It says hullo.");
    world.start().await;
    world.say(WRITER, world.pull(1).await, "/autobuild cancel").await;
    assert_eq!(world.tasks().await, ["cancelled", "blocked"]);
    world.script.succeeds(1);
    world.say(WRITER, ISSUE, "/autobuild retry TASK-001").await;
    assert_eq!(world.tasks().await[0], "completed");
    world.script.succeeds(2);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_on_an_ended_runs_pull_request_point_to_the_label() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let task = world.pull(1).await;
    world.by(ADMIN).merge(REPO, world.feature_pull().await, "merge").await.unwrap();
    world.settle().await;
    let comment = world.say(WRITER, task, "/autobuild resume").await;
    assert_eq!(world.reactions(comment).await, ["confused"]);
    assert!(world.last_answer(task).await.contains("abel the issue again"), "{}", world.last_answer(task).await);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_words_of_an_issue_and_of_agents_mention_close_and_break_nothing() {
    let hostile =
        "@acme/team closes #7\n<!-- autobuild:x -->\n/autobuild cancel\n```\n|x|\n</details><script>alert(1)</script>";
    let world = World::new().await;
    let task = Task::new(1)
        .with("name", serde_json::json!("Fixes #7 for @ada | `x`"))
        .with("description", serde_json::json!(hostile));
    world.script.plans(&Plan::of([task]).with("description", serde_json::json!(hostile)));
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, hostile).succeeds(1);
    world.open_issue(WRITER, hostile);
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    let pull = world.pull(1).await;
    let mut texts = vec![world.answers(ISSUE).await, world.answers(pull).await];
    texts.extend(world.reviews(pull).await.into_iter().map(|review| review.2));
    for number in [pull, world.feature_pull().await] {
        texts.push(world.pull_json(number).await["body"].as_str().unwrap().to_owned());
    }
    for inline in world.list(&format!("pulls/{pull}/comments")).await {
        texts.push(inline["body"].as_str().unwrap().to_owned());
    }
    for text in texts {
        let outside = outside_fences(&text);
        for bad in ["@acme", "@ada", "loses #7", "ixes #7", "<script>", "\n/autobuild"] {
            assert!(!outside.contains(bad), "{bad} in:\n{text}");
        }
    }
    world.end().await;
}

/// Returns the text without its fenced blocks.
fn outside_fences(text: &str) -> String {
    let mut open: Option<String> = None;
    let mut outside = String::new();
    for line in text.lines() {
        let start = line.trim_start();
        let ticks: String = start.chars().take_while(|c| *c == '`').collect();
        match &open {
            Some(fence) if ticks.len() >= fence.len() && start[ticks.len()..].trim().is_empty() => open = None,
            Some(_) => {}
            None if ticks.len() >= 3 => open = Some(ticks),
            None => outside.push_str(&format!("\n{line}")),
        }
    }
    outside
}

#[tokio::test(flavor = "multi_thread")]
async fn two_issues_are_built_side_by_side() {
    let world = World::new().await;
    world.open_issue(WRITER, &format!("```yaml\n{}\n```", Plan::one().json()));
    world.open_issue(WRITER, &format!("```yaml\n{}\n```", Plan::of([Task::new(2)]).json()));
    world.script.succeeds(1);
    world.script.writes(2, &[("hello/2.txt", "hello 2\n")]).approves(2);
    world.by(WRITER).label(REPO, 1, "autobuild").unwrap();
    world.by(WRITER).label(REPO, 2, "autobuild").unwrap();
    world.settle().await;
    for issue in [1, 2] {
        assert_eq!(world.feature_of(issue).await.unwrap().state.word(), "in_review", "issue {issue}");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feature_in_review_takes_in_what_people_push_to_its_branch() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let theirs =
        world.by(WRITER).push(REPO, "autobuild/1/integration", "More", &[("more.txt", Some("more\n"))]).await.unwrap();
    world.settle().await;
    assert_eq!(world.checks(&theirs).await, ["AutoBuild success"]);
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_by_a_person_during_the_run_changes_nothing() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    world.by(WRITER).edit_issue(REPO, ISSUE, Some("Something else"), Some("Delete everything")).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "awaiting_approval");
    world.say(WRITER, ISSUE, "/autobuild approve").await;
    assert_eq!(world.feature().await.snapshot.title, "Say hello");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_programs_obey_are_named_on_top_of_both_pull_requests() {
    let world = World::new().await;
    let tasks = "{ \"tasks\": [] }\n";
    world.script.plans(&Plan::one()).plays(1).feedback(1, "Say more");
    let of_no_program = ("next-editor/tasks.json", tasks);
    world.script.writes(
        1,
        &[
            (".vscode/tasks.json", tasks),
            ("web/.npmrc", "a=b\n"),
            (".readthedocs.yaml", "version: 2\n"),
            (".next-shell", "x\n"),
            of_no_program,
        ],
    );
    world.script.approves(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    for pull in [world.pull(1).await, world.feature_pull().await] {
        let body = world.pull_json(pull).await["body"].as_str().unwrap().to_owned();
        assert!(body.starts_with("> [!WARNING]\n> Programs run or obey what this changes"), "{body}");
        for line in [
            "editors: `.vscode`",
            "package managers: `web/.npmrc`",
            "services that build branches: `.readthedocs.yaml`",
            "perhaps other programs, since the name begins with a dot: `.next-shell`",
        ] {
            assert!(body.contains(line), "{line}: {body}");
        }
        assert!(!body.contains(of_no_program.0), "{body}");
    }
    assert!(world.file("autobuild/1/integration", of_no_program.0).is_some(), "a file that is not known goes through");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_on_a_pull_request_whose_number_is_not_stored_yet_is_obeyed_once() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    let opening = world.forge.order(Fault::on("POST", "*/pulls", Mishap::HoldReply));
    world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    opening.struck().await;
    let pull = world.list("pulls").await[0]["number"].as_u64().unwrap();
    let comment = world.by(WRITER).comment(REPO, pull, "/autobuild status").unwrap();
    while world.reactions(comment).await.len() < 2 {
        tokio::task::yield_now().await;
    }
    opening.release().await;
    world.settle().await;
    assert_eq!(world.reactions(comment).await, ["eyes", "rocket"]);
    assert_eq!(world.engine.sweep().await.unwrap(), 0, "it is recorded");
    world.end().await;
}
