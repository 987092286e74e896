//! From the label to a plan that is followed.

use crate::world::{ISSUE, Plan, READER, REPO, Setup, Task, WRITER, World};
use autobuild::config::Role;
use serde_json::json;

async fn waiting_world() -> World {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    assert_eq!(world.state().await, "awaiting_approval");
    world
}

async fn hash(world: &World) -> String {
    world.feature().await.plan.unwrap().hash.chars().take(8).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_label_is_answered_with_eyes_and_one_living_comment() {
    let world = waiting_world().await;
    let on_issue = world.list(&format!("issues/{ISSUE}/reactions")).await;
    assert_eq!(on_issue.len(), 1);
    assert_eq!(on_issue[0]["content"], "eyes");
    let comments = world.comments(ISSUE).await;
    assert_eq!(comments.len(), 2, "the living one, and the call to approve");
    assert!(comments[1].1.contains(&format!("@{WRITER}")), "{}", comments[1].1);
    let living = world.living().await;
    assert!(living.contains(&hash(&world).await), "{living}");
    assert!(living.contains("sh tests/run.sh") && living.contains("```mermaid"), "{living}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hash_in_the_comment_approves_exactly_that_plan() {
    let world = waiting_world().await;
    let wrong = world.say(WRITER, ISSUE, "/autobuild approve 00000000").await;
    assert_eq!(world.reactions(wrong).await, ["confused"]);
    assert!(world.last_answer(ISSUE).await.contains("not the hash"));
    assert_eq!(world.state().await, "awaiting_approval");
    world.script.succeeds(1);
    let right = world.say(WRITER, ISSUE, &format!("/autobuild approve {}", hash(&world).await)).await;
    assert_eq!(world.reactions(right).await, ["eyes", "rocket"]);
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_without_a_hash_counts_for_the_plan_that_was_shown() {
    let world = waiting_world().await;
    world.script.succeeds(1);
    world.say(WRITER, ISSUE, "Looks fine.\n\n/autobuild approve").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_written_before_the_plan_changed_is_refused() {
    let world = waiting_world().await;
    let hook = forge::Fault::on_delivery("issue_comment.created", forge::Mishap::Hold);
    let held = world.forge.order(hook);
    world.by(WRITER).comment(REPO, ISSUE, "/autobuild approve").unwrap();
    world.script.plans(&Plan::of([Task::new(1), Task::new(2)]));
    world.say(WRITER, ISSUE, "/autobuild plan two files please").await;
    assert_eq!(world.feature().await.tasks.len(), 2);
    held.release().await;
    world.settle().await;
    assert_eq!(world.state().await, "awaiting_approval");
    assert!(world.last_answer(ISSUE).await.contains("changed after"), "{}", world.last_answer(ISSUE).await);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_plan_reach_the_planner() {
    let plan = Plan::one().json();
    let planner = format!("cat > \"$WORLD/prompt\"\ncat <<'END'\n{plan}\nEND\n");
    let world = Setup::new().settings("plan_approval: always").command(Role::Planner, &planner).build().await;
    world.start().await;
    world.say(WRITER, ISSUE, "/autobuild plan Keep it in **one** file,\nplease.").await;
    let prompt = std::fs::read_to_string(world.folder().join("prompt")).unwrap();
    assert!(prompt.contains("Keep it in **one** file,\nplease."), "{prompt}");
    assert!(prompt.contains("Say hello in files"), "the snapshot: {prompt}");
    assert_eq!(world.state().await, "awaiting_approval");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_in_the_comment_replaces_the_plan() {
    let world = waiting_world().await;
    let block = Plan::of([Task::new(1), Task::new(2)]).json();
    world.say(WRITER, ISSUE, &format!("/autobuild plan\n\n```yaml\n{block}\n```\n")).await;
    assert_eq!(world.feature().await.tasks.len(), 2);
    assert_eq!(world.state().await, "awaiting_approval");
    world.say(WRITER, ISSUE, "/autobuild plan\n```yaml\ntasks: []\n```").await;
    let living = world.living().await;
    assert!(living.contains("tasks is empty") && living.contains("(line 1, column 8)"), "{living}");
    assert_eq!(world.state().await, "failed");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_in_the_issue_needs_no_planner() {
    let world = World::new().await;
    world.script.succeeds(1);
    world.open_issue(WRITER, &format!("As follows:\n\n```yaml\n{}\n```\n", Plan::one().json()));
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_plan_goes_back_once_and_then_the_feature_has_failed_until_plan() {
    let world = World::new().await;
    let bad = Plan::of([Task::new(1).needs(&[7])]);
    world.script.plans(&bad).plans(&bad);
    world.start().await;
    assert_eq!(world.state().await, "failed");
    let living = world.living().await;
    assert!(living.contains("TASK-007"), "the message names the place: {living}");
    world.script.plans(&Plan::one()).succeeds(1);
    world.say(WRITER, ISSUE, "/autobuild plan").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_may_change_a_file_of_a_service_that_deploys_but_not_add_one() {
    for (file, state) in [("web/vercel.json", "failed"), ("vercel.json", "in_review")] {
        let world = Setup::new().settings("ci: wait").with_file("vercel.json", "{}\n").build().await;
        let plan = Plan::of([Task::new(1).with("files", json!(["hello/1.txt", file]))]);
        world.script.plans(&plan);
        if state == "failed" {
            world.script.plans(&plan);
        } else {
            let files = [("hello/1.txt", "hello 1\n"), (file, "{\"cleanUrls\": true}\n")];
            let fine =
                json!({"question": 1, "verdict": "fine", "because": "Asked for.", "quote": "say hello in files"});
            let criteria = json!([{"criterion": 1, "met": true, "evidence": "hello/1.txt"}]);
            let answer = json!({"decision": "approve", "summary": "Fine.", "criteria": criteria, "answers": [fine]});
            world.script.writes(1, &files).step(json!({"role": "coach", "task": "TASK-001", "answer": answer}));
        }
        world.start().await;
        assert_eq!(world.state().await, state, "{file}");
        let refusal =
            "files names `web/vercel.json`, which the pattern `web/vercel.json` protects: no Player may add it";
        assert_eq!(world.living().await.contains(refusal), state == "failed", "{}", world.living().await);
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_isolation_a_plan_with_a_command_waits_for_approval() {
    let criteria = json!([{"text": "It runs", "check": {"command": "test -s hello/1.txt"}}]);
    for plan in [
        Plan::one().with("smoke", json!("test -s hello/1.txt")),
        Plan::of([Task::new(1).with("acceptance_criteria", criteria)]),
    ] {
        let world = Setup::new().bare().settings("plan_approval: never").build().await;
        world.script.plans(&plan);
        world.start().await;
        assert_eq!(world.state().await, "awaiting_approval");
        let living = world.living().await;
        assert!(living.contains("```sh\ntest -s hello/1.txt\n```"), "every command is listed: {living}");
        world.script.succeeds(1);
        world.say(WRITER, ISSUE, "/autobuild approve").await;
        assert_eq!(world.state().await, "in_review");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_by_someone_without_write_access_always_waits() {
    let world = Setup::new().settings("plan_approval: never").build().await;
    world.script.plans(&Plan::one());
    world.open_issue(READER, "Say hello.");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "awaiting_approval");
    world.end().await;
}

/// A body with words that only its source shows, and a collapsed block.
const HALF_HIDDEN: &str = "Say&#xE0055; hel\u{e0055}lo. <!-- unseen 1 -->\n\n![unseen 2](x.png 'unseen 3')\n\n[//]: # (unseen 4)\n\n\
                           <details>\n<summary>Log</summary>\n\nIt says nothing.\n\n</details>\n";

#[tokio::test(flavor = "multi_thread")]
async fn agents_read_what_the_page_shows_of_an_issue_by_someone_without_write_access() {
    for (login, hides) in [(READER, true), (WRITER, false)] {
        let planner = format!("cat > \"$WORLD/prompt\"\ncat <<'END'\n{}\nEND\n", Plan::one().json());
        let setup = Setup::new().settings("plan_approval: always");
        let world = setup.command(Role::Planner, &planner).build().await;
        world.by(login).open_issue(REPO, "Say hello\u{e0055}", HALF_HIDDEN, &[]).unwrap();
        world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
        world.settle().await;
        let told = std::fs::read_to_string(world.folder().join("prompt")).unwrap();
        for unseen in ["unseen", "E0055", "u{e0055}"] {
            assert_eq!(told.contains(unseen), !hides, "{login}: {told}");
        }
        assert!(told.contains("Log") && told.contains("It says nothing."), "{told}");
        assert_eq!(told.contains("<summary>"), !hides, "{login}: {told}");
        let said = "without 6 parts of it that this page does not show (comments, alt texts, titles, attributes), and with \
                    the content of 1 collapsed block.";
        assert_eq!(world.living().await.contains(said), hides, "{login}");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_with_a_mistake_is_answered_with_its_place_and_nothing_starts() {
    let world = Setup::new().settings("max_turn: 3\nmerge: maybe").build().await;
    world.start().await;
    assert!(world.feature_of(ISSUE).await.is_none());
    let said = world.answers(ISSUE).await;
    for part in ["max_turn", "max_turns", "line 2", "line 3", "auto", "human"] {
        assert!(said.contains(part), "{part} is missing: {said}");
    }
    assert_eq!(world.comments(ISSUE).await.len(), 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planner_without_json_is_an_agent_that_fails_and_no_invalid_plan() {
    for words in ["echo I have a plan", "echo '{plan: }'", "true"] {
        let script = format!("echo run >> \"$WORLD/runs\"\n{words}");
        let world = Setup::new().command(Role::Planner, &script).build().await;
        world.start().await;
        assert_eq!(world.state().await, "blocked", "{words}");
        let said = world.answers(ISSUE).await;
        for part in ["holds no JSON object", "/autobuild resume"] {
            assert!(said.contains(part), "{words}: {part} is missing in {said}");
        }
        for part in ["invalid", "not valid", "/autobuild plan"] {
            assert!(!said.contains(part), "{words}: {part} in {said}");
        }
        assert_eq!(said.contains("What the agent printed last"), words != "true", "{said}");
        let runs = std::fs::read_to_string(world.folder().join("runs")).unwrap();
        assert_eq!(runs.lines().count(), 2, "asked once more, and not again and again");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planner_that_fails_three_times_blocks_with_the_cause_and_resume_plans_again() {
    let world = World::new().await;
    for _ in 0..3 {
        world.script.step(json!({"role": "planner", "fail": "exit"}));
    }
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let said = world.answers(ISSUE).await;
    assert!(said.contains("exit code 1"), "{said}");
    world.script.plans(&Plan::one()).succeeds(1);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}
