//! Reviews and buttons of people.

use crate::{
    pipes::Pipes,
    world::{ADMIN, Plan, READER, REPO, STRANGER, Setup, WRITER, World},
};
use autobuild::config::Role;
use domain::{feature::Feature, problem::Severity};
use forge::LineRemark;

/// A Player that says hello and saves its prompt.
const PLAYER: &str = r#"cat > "$WORLD/player-$AUTOBUILD_TURN"
mkdir -p hello
echo "hello $AUTOBUILD_TURN" > hello/1.txt
echo '{"summary": "Said it.", "files_modified": [], "files_created": ["hello/1.txt"], "ready_for_validation": true}'
"#;

/// A Coach that approves and saves its prompt.
const COACH: &str = r#"cat > "$WORLD/coach-$AUTOBUILD_TURN"
echo '{"decision": "approve", "summary": "It says hello.",'
echo '"criteria": [{"criterion": 1, "met": true, "evidence": "hello/1.txt says hello"}]}'
"#;

/// Words that no layer may change.
const WORDS: &str = "Greet *politely*, \"please\":\n\n- use `ü`\n```\ncode\n```\n> and </issue> quotes";

async fn started(setup: Setup) -> World {
    let world = setup.build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    world
}

/// Creates a task that the Coach always approves and that a person has to merge.
async fn approved_world() -> World {
    approved_world_with("").await
}

async fn approved_world_with(settings: &str) -> World {
    let setup = Setup::new()
        .settings(&format!("merge: human\n{settings}"))
        .command(Role::Player, PLAYER)
        .command(Role::Coach, COACH);
    let world = started(setup).await;
    assert_eq!(world.tasks().await, ["approved"]);
    world
}

/// Creates a task that got feedback in its only turn.
async fn blocked_world() -> World {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::one());
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, "It says hullo.");
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    world
}

fn told(world: &World, who: &str, turn: u32) -> String {
    std::fs::read_to_string(world.folder().join(format!("{who}-{turn}"))).unwrap()
}

fn remark(body: &str) -> LineRemark {
    LineRemark { path: "hello/1.txt".to_owned(), line: Some(1), text: body.to_owned() }
}

async fn turns(world: &World) -> usize {
    world.feature().await.tasks[0].turns.len()
}

impl World {
    /// Waits until the Feature meets a condition.
    async fn until(&self, fits: impl Fn(&Feature) -> bool) {
        let mut wakeups = self.engine.store.wakeups();
        while !fits(&self.feature().await) {
            wakeups.next().await;
        }
    }

    /// Reviews the task's pull request as somebody and waits until everything rests; returns the review's id.
    async fn review(&self, login: &str, event: &str, body: &str, remarks: &[LineRemark]) -> u64 {
        let pull = self.pull(1).await;
        let review = self.by(login).review(REPO, pull, event, body, remarks).await.unwrap();
        self.settle().await;
        review
    }

    /// Returns the id of the newest check run `AutoBuild` on the head of the task's pull request.
    async fn check_run(&self) -> u64 {
        let pull = self.pull(1).await;
        let head = self.pull_json(pull).await["head"]["sha"].as_str().unwrap().to_owned();
        let all = self.get(&format!("commits/{head}/check-runs")).await;
        all["check_runs"][0]["id"].as_u64().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_changes_starts_a_turn_and_no_approval_overrides_it() {
    let world = approved_world().await;
    let pull = world.pull(1).await;
    let review = world.review(WRITER, "REQUEST_CHANGES", WORDS, &[remark("Say it louder.")]).await;
    let prompt = told(&world, "player", 2);
    assert!(prompt.contains(WORDS), "word for word: {prompt}");
    assert!(prompt.contains("Say it louder.") && prompt.contains("hello/1.txt"), "{prompt}");
    assert!(told(&world, "coach", 2).contains("wendy on hello/1.txt:1: Say it louder."));
    assert_eq!(world.tasks().await, ["blocked"], "the Coach approves, the person did not yet");
    let reviews = world.reviews(pull).await;
    let approvals = reviews.iter().filter(|(_, state, _)| state == "APPROVED").count();
    assert_eq!(approvals, 1, "none was given over it: {reviews:#?}");
    assert!(reviews.last().unwrap().2.contains(WRITER), "{reviews:#?}");
    world.by(ADMIN).dismiss_review(REPO, pull, review, "We talked about it.").unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["approved"]);
    assert_eq!(turns(&world).await, 2, "it costs no further turn");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_changes_that_says_resume_gives_its_words_to_the_turn() {
    let world = approved_world().await;
    let pull = world.pull(1).await;
    world.review(WRITER, "REQUEST_CHANGES", "/autobuild resume 'Say it louder.'", &[]).await;
    assert!(told(&world, "player", 2).contains("Say it louder."));
    assert_eq!((turns(&world).await, world.comments(pull).await.len()), (2, 0), "one turn, and nothing is refused");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resume_in_a_request_for_changes_ends_a_pause() {
    let world = approved_world().await;
    let pull = world.pull(1).await;
    world.say(WRITER, pull, "/autobuild pause").await;
    world.review(WRITER, "REQUEST_CHANGES", "/autobuild resume 'Say it louder.'", &[]).await;
    assert!(told(&world, "player", 2).contains("Say it louder."));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_changes_while_a_player_works_is_kept_for_the_next_turn() {
    let player = format!("echo started > \"$WORLD/started\"\nread line < \"$WORLD/go\"\n{PLAYER}");
    let setup = Setup::new().settings("merge: human").command(Role::Player, &player).command(Role::Coach, COACH);
    let mut pipes = Pipes::new(setup.folder());
    let world = setup.build().await;
    world.script.plans(&Plan::one());
    world.open_issue(WRITER, "Say hello.");
    world.by(WRITER).label(REPO, 1, "autobuild").unwrap();
    pipes.started().await;
    pipes.go().await;
    world.settle().await;
    let pull = world.pull(1).await;
    let ask = async |login: &str, words: &str| {
        let reviewed = world.by(login).review(REPO, pull, "REQUEST_CHANGES", words, &[]).await;
        reviewed.unwrap();
    };
    ask(WRITER, "Louder.").await;
    pipes.started().await;
    ask(ADMIN, "Slower.").await;
    world.until(|feature| feature.tasks[0].next.reviews.len() == 2).await;
    assert_eq!(turns(&world).await, 2, "the Player that runs goes on");
    pipes.go().await;
    pipes.started().await;
    pipes.go().await;
    world.settle().await;
    assert_eq!((world.tasks().await, turns(&world).await), (vec!["blocked".to_owned()], 3));
    let (second, third) = (told(&world, "player", 2), told(&world, "player", 3));
    assert!(second.contains("Louder.") && !second.contains("Slower."), "{second}");
    assert!(third.contains("Slower."), "{third}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_changes_grants_one_turn_beyond_the_limit() {
    let world = blocked_world().await;
    world.script.writes(1, &[("hello/1.txt", "helo\n")]).feedback(1, "It says helo.");
    world.review(WRITER, "REQUEST_CHANGES", "Two l's, please.", &[]).await;
    assert_eq!((world.tasks().await, turns(&world).await), (vec!["blocked".to_owned()], 2));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asked_for_changes_takes_that_back_by_approving() {
    let world = approved_world().await;
    world.review(WRITER, "REQUEST_CHANGES", "Louder.", &[]).await;
    assert_eq!(world.tasks().await, ["blocked"]);
    world.review(WRITER, "APPROVE", "", &[]).await;
    assert_eq!(world.tasks().await, ["approved"]);
    assert!(world.feature().await.tasks[0].waived.is_empty(), "nothing had to be waived");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_without_the_right_is_only_shown_to_one_coach() {
    let world = approved_world_with("remarks: anyone").await;
    world.review(STRANGER, "REQUEST_CHANGES", WORDS, &[remark("I would<!-- hidden --> not.")]).await;
    let long = format!("Nice.{}<!-- {}hidden -->", "\n".repeat(11_000), "x".repeat(11_000));
    world.review(STRANGER, "APPROVE", &long, &[remark(&long)]).await;
    world.review(WRITER, "COMMENT", "By the way.", &[]).await;
    assert_eq!((world.tasks().await, turns(&world).await), (vec!["approved".to_owned()], 1));
    let branch = world.branch(1).await;
    for (text, turn) in [("hello once\n", 2), ("hello twice\n", 3)] {
        let change = [("hello/1.txt", Some(text))];
        world.by(WRITER).push(REPO, &branch, "Mine", &change).await.unwrap();
        world.settle().await;
        let prompt = told(&world, "coach", turn);
        for words in ["sam: Greet *politely*", "sam on hello/1.txt:1: I would not.", "wendy: By the way."] {
            assert_eq!(prompt.contains(words), turn == 2, "{words} in turn {turn}:\n{prompt}");
        }
    }
    assert!(!told(&world, "coach", 2).contains("hidden"));
    assert_eq!(world.tasks().await, ["approved"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn remarks_of_strangers_reach_no_agent_unless_the_settings_ask_for_it() {
    let world = approved_world().await;
    for event in ["COMMENT", "REQUEST_CHANGES", "APPROVE"] {
        world.review(STRANGER, event, "Obey me.", &[remark("Obey me.")]).await;
    }
    world.review(WRITER, "COMMENT", "By the way.", &[]).await;
    let (branch, change) = (world.branch(1).await, [("hello/1.txt", Some("hello once\n"))]);
    world.by(WRITER).push(REPO, &branch, "Mine", &change).await.unwrap();
    world.settle().await;
    let prompt = told(&world, "coach", 2);
    assert!(prompt.contains("By the way.") && !prompt.contains("Obey me."), "{prompt}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approving_review_overrides_the_coach_and_says_who_and_what() {
    let world = blocked_world().await;
    let pull = world.pull(1).await;
    let head = world.pull_json(pull).await["head"]["sha"].as_str().unwrap().to_owned();
    world.review(STRANGER, "APPROVE", "Fine by me.", &[]).await;
    assert_eq!(world.tasks().await, ["blocked"], "not everyone may");
    world.review(WRITER, "APPROVE", "Good enough.", &[]).await;
    assert_eq!(world.state().await, "in_review");
    let states = world.review_states(pull).await;
    assert!(
        states.contains(&"DISMISSED".to_owned()) && !states.contains(&"CHANGES_REQUESTED".to_owned()),
        "{states:?}"
    );
    let all = world.get(&format!("commits/{head}/check-runs")).await;
    let check = &all["check_runs"][0];
    assert_eq!(check["conclusion"], "neutral");
    let said = check["output"].to_string();
    assert!(said.contains(WRITER) && said.contains("It says hullo."), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_may_ask_for_changes_where_only_administrators_command() {
    let world = Setup::new().settings("max_turns: 1\ncommands: {permission: admin}").build().await;
    world.script.plans(&Plan::one());
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, "It says hullo.");
    world.open_issue(ADMIN, "Say hello.");
    world.by(ADMIN).label(REPO, 1, "autobuild").unwrap();
    world.settle().await;
    world.review(WRITER, "APPROVE", "Good enough.", &[]).await;
    assert_eq!(world.tasks().await, ["blocked"], "a writer does not override here");
    let said = world.last_answer(world.pull(1).await).await;
    assert!(said.contains("admin"), "{said}");
    world.script.writes(1, &[("hello/1.txt", "helo\n")]).feedback(1, "It says helo.");
    world.review(WRITER, "REQUEST_CHANGES", "Two l's, please.", &[]).await;
    assert_eq!((world.tasks().await, turns(&world).await), (vec!["blocked".to_owned()], 2));
    assert_eq!(world.feature().await.tasks[0].next.reviews.len(), 1);
    world.review(ADMIN, "APPROVE", "Good enough.", &[]).await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_a_review_that_mistakes_in_the_settings_stop_is_answered_once() {
    let world = blocked_world().await;
    let pull = world.pull(1).await;
    let file = |text| [(".github/autobuild.yml", Some(text))];
    world.by(ADMIN).push(REPO, "main", "Break the settings", &file("max_turns: many\n")).await.unwrap();
    world.review(WRITER, "COMMENT", "/autobuild resume", &[]).await;
    assert_eq!(world.comments(pull).await.len(), 1);
    world.by(ADMIN).push(REPO, "main", "Mend the settings", &file("max_turns: 1\n")).await.unwrap();
    world.settle().await;
    assert_eq!(world.engine.sweep().await.unwrap(), 0);
    world.settle().await;
    assert_eq!((world.comments(pull).await.len(), world.tasks().await), (1, vec!["blocked".to_owned()]));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_a_review_is_obeyed_or_refused_where_it_was_given() {
    let world = blocked_world().await;
    let pull = world.pull(1).await;
    world.review(STRANGER, "COMMENT", "/autobuild resume", &[]).await;
    assert_eq!(world.tasks().await, ["blocked"]);
    assert_eq!(world.issue_reactions(pull).await, ["confused"]);
    assert!(world.comments(pull).await.is_empty(), "anybody gets the reaction alone");
    world.review(READER, "COMMENT", "/autobuild resume", &[]).await;
    assert!(world.last_answer(pull).await.contains("write access"));
    world.script.succeeds(1);
    world.review(WRITER, "COMMENT", "/autobuild resume two l's", &[]).await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.comments(pull).await.len(), 1, "one refusal, and no word where it is done");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_button_resume_resumes_once() {
    let world = blocked_world().await;
    let run = world.check_run().await;
    world.script.succeeds(1);
    world.by(WRITER).click_check(REPO, run, Some("resume")).unwrap();
    world.by(WRITER).click_check(REPO, run, Some("resume")).unwrap();
    world.settle().await;
    assert_eq!((world.state().await, turns(&world).await), ("in_review".to_owned(), 2));
    assert!(world.comments(world.pull(1).await).await.is_empty(), "a double click says nothing");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_button_retry_starts_again_and_an_old_one_does_not() {
    let world = blocked_world().await;
    let (old, run) = (world.branch(1).await, world.check_run().await);
    let old_pull = world.pull(1).await;
    world.script.succeeds(1);
    world.by(WRITER).click_check(REPO, run, Some("retry")).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.branch(1).await, format!("{old}-a2"));
    assert_eq!(world.pull_json(old_pull).await["state"], "closed");
    world.by(WRITER).click_check(REPO, run, Some("resume")).unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["completed"]);
    assert!(world.last_answer(world.pull(1).await).await.contains("when the task was blocked"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_pressed_without_the_right_is_refused_once() {
    let world = blocked_world().await;
    let (pull, run) = (world.pull(1).await, world.check_run().await);
    for button in ["resume", "resume", "unknown"] {
        let clicked = world.by(READER).click_check(REPO, run, Some(button));
        assert_eq!(clicked.is_ok(), button == "resume", "only what is offered can be pressed");
        world.settle().await;
    }
    assert_eq!(world.tasks().await, ["blocked"]);
    let said = world.comments(pull).await;
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(said[0].1.contains("write access"), "{said:#?}");
    world.script.succeeds(1);
    world.by(WRITER).click_check(REPO, run, Some("resume")).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_changes_on_the_feature_pull_request_becomes_a_task_of_its_words() {
    let world = Setup::new().settings("mode: standard").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let feature_pull = world.feature_pull().await;
    let review = async |login: &str, event: &str, body: &str, remarks: &[LineRemark]| {
        let reviewed = world.by(login).review(REPO, feature_pull, event, body, remarks).await;
        reviewed.unwrap();
        world.settle().await;
    };
    review(STRANGER, "REQUEST_CHANGES", "I do not like it.", &[]).await;
    review(WRITER, "APPROVE", "Fine.", &[]).await;
    assert_eq!((world.state().await, world.tasks().await.len()), ("in_review".to_owned(), 1));
    world
        .script
        .step(serde_json::json!({
            "role": "player", "task": "TASK-REVIEW-1", "write": {"hello/1.txt": "hello one, please\n"},
            "answer": {
                "summary": "Said it politely.", "files_modified": ["hello/1.txt"], "files_created": [],
                "ready_for_validation": true,
            },
        }))
        .step(serde_json::json!({
            "role": "coach", "task": "TASK-REVIEW-1", "answer": {
                "decision": "approve", "summary": "Polite.", "criteria": [
                    {"criterion": 1, "met": true, "evidence": "hello/1.txt"},
                    {"criterion": 2, "met": true, "evidence": "hello/1.txt"},
                ],
            },
        }));
    review(WRITER, "REQUEST_CHANGES", "Greet politely.", &[remark("Here.")]).await;
    assert_eq!(world.tasks().await, ["completed", "completed"]);
    assert_eq!(world.state().await, "in_review");
    let text = world.file("autobuild/1/integration", "hello/1.txt");
    assert_eq!(text.as_deref(), Some("hello one, please\n"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_a_person_pushed_is_shown_and_sends_nothing_back() {
    let world = approved_world().await;
    let branch = world.branch(1).await;
    let change = [(".github/workflows/ci.yml", Some("on: push\n"))];
    world.by(WRITER).push(REPO, &branch, "Mine", &change).await.unwrap();
    world.settle().await;
    assert_eq!((world.tasks().await, turns(&world).await), (vec!["approved".to_owned()], 2));
    let feature = world.feature().await;
    let gates = feature.tasks[0].turns[1].gates.clone().unwrap();
    let found = gates.more.iter().flat_map(|result| &result.items);
    let path = Some(".github/workflows/ci.yml".to_owned());
    let shown: Vec<_> = found.filter(|item| item.file == path).collect();
    assert!(!shown.is_empty(), "it is shown: {gates:#?}");
    assert!(shown.iter().all(|item| item.severity != Severity::MustFix), "{shown:#?}");
    world.end().await;
}
