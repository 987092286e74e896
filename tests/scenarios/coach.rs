//! Coaches that approve everything, refuse everything, answer nonsense, write where they may only read, or ask for
//! commands; and Players whose claims are false.

use crate::world::{Plan, Setup, Task, WRITER, World};
use autobuild::config::Role;
use serde_json::{Value, json};

/// Returns a shell line that prints an approval with this evidence.
fn approving(evidence: &str) -> String {
    let answer = json!({
        "decision": "approve", "summary": "Fine.",
        "criteria": [{"criterion": 1, "met": true, "evidence": evidence}],
    });
    format!("cat <<'END'\n{answer}\nEND\n")
}

fn decision(decision: &str, more: &Value) -> Value {
    let mut answer = json!({
        "decision": decision, "summary": "Looked.",
        "criteria": [{"criterion": 1, "met": true, "evidence": "hello/1.txt:1"}],
    });
    let fields = more.as_object().unwrap().clone();
    answer.as_object_mut().unwrap().extend(fields);
    json!({"role": "coach", "answer": answer})
}

fn prompt(world: &World, name: &str) -> String {
    std::fs::read_to_string(world.folder().join(name)).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coach_that_approves_everything_does_not_approve_what_the_gates_refuse() {
    let world = Setup::new().settings("max_turns: 2").command(Role::Coach, &approving("hello/1.txt")).build().await;
    world.script.plans(&Plan::one());
    let red = [("hello/1.txt", "good morning\n"), ("tests/hello_test.sh", "grep -q hello hello/1.txt\n")];
    world.script.writes(1, &red);
    world.script.writes(1, &[("hello/1.txt", "hello 1\n")]);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let reviews = world.reviews(world.pull(1).await).await;
    let states: Vec<&str> = reviews.iter().map(|review| review.1.as_str()).collect();
    assert_eq!(states, ["CHANGES_REQUESTED", "APPROVED"]);
    assert!(reviews[0].2.contains("a Gate did not pass"), "{}", reviews[0].2);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_that_an_approval_lacks_is_asked_of_the_coach_once() {
    let found = json!([{"criterion": 1, "met": true, "evidence": "it works"}]);
    for (criteria, state, review) in [(found, "in_review", "APPROVED"), (json!([]), "blocked", "CHANGES_REQUESTED")] {
        let first = json!({"decision": "approve", "summary": "Fine.", "criteria": []});
        let coach = format!(
            "cat > \"$WORLD/prompt\"\nif grep -q 'Only this is missing' \"$WORLD/prompt\"; then\n\
             cp \"$WORLD/prompt\" \"$WORLD/again\"; echo '{}'\nelse\necho '{first}'\nfi\n",
            json!({ "criteria": criteria })
        );
        let world = Setup::new().settings("max_turns: 1").command(Role::Coach, &coach).build().await;
        world.script.plans(&Plan::one()).plays(1);
        world.start().await;
        assert_eq!(world.state().await, state);
        let posted = world.reviews(world.pull(1).await).await.remove(0);
        assert_eq!(posted.1, review, "{}", posted.2);
        let again = prompt(&world, "again");
        assert!(again.contains("was not looked at") && !again.contains("# The change"), "{again}");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coach_that_refuses_everything_ends_in_a_blocked_report() {
    let world = Setup::new().settings("max_turns: 2").build().await;
    world.script.plans(&Plan::one());
    world.script.plays(1).feedback(1, "Not nice.");
    world.script.writes(1, &[("hello/1.txt", "hello 1!\n")]);
    world.script.feedback(1, "Still not nice.");
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let reviews = world.reviews(world.pull(1).await).await;
    assert!(reviews.iter().all(|review| review.1 == "CHANGES_REQUESTED"), "{reviews:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_asked_for_once_more_and_never_becomes_an_approval() {
    let nonsense = r#"echo run >> "$WORLD/runs"
echo '{"decision": "approve", "summary": "Fine.", "criteria": [{"criterion": 99, "met": true, "evidence": "hello/1.txt"}]}'
"#;
    let world = Setup::new().command(Role::Coach, nonsense).build().await;
    world.script.plans(&Plan::one()).plays(1);
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    assert_eq!(prompt(&world, "runs").lines().count(), 2, "one run, asked once more for its answer");
    let feature = world.feature().await;
    assert!(feature.tasks[0].turns[0].verdict.is_none(), "no turn is used up");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_issues_are_a_review_that_people_can_read() {
    let flood = r#"i=0; printf '{"decision": "feedback", "summary": "Much.", "issues": ['
while [ $i -lt 10000 ]; do printf '{"severity": "nice_to_have", "description": "taste %s"},' $i; i=$((i + 1)); done
echo '{"severity": "must_fix", "description": "the one that matters"}]}'
"#;
    let world = Setup::new().settings("max_turns: 1").command(Role::Coach, flood).build().await;
    world.script.plans(&Plan::one()).plays(1);
    world.start().await;
    let review = world.reviews(world.pull(1).await).await.remove(0).2;
    assert!(review.contains("the one that matters"), "{review}");
    assert!(review.len() < 66_000, "{}", review.len());
    let feature = world.feature().await;
    let items = &feature.tasks[0].turns[0].verdict.as_ref().unwrap().items;
    assert!(items.len() < 120, "{}", items.len());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coach_may_ask_once_for_commands_and_decides_on_what_they_showed() {
    let coach = r#"cat > "$WORLD/prompt-$(ls "$WORLD" | grep -c prompt)"
if [ -f "$WORLD/asked" ]; then
cat <<'END'
{"decision": "approve", "summary": "Shown.", "criteria": [{"criterion": 1, "met": true, "evidence": "`cat hello/1.txt` printed it"}]}
END
else
touch "$WORLD/asked"
cat <<'END'
{"decision": "probe", "summary": "Let me see.", "commands": ["cat hello/1.txt", "sh -c 'echo planted > hello/planted.txt; ls hello'", "no-such-program --x"]}
END
fi
"#;
    let world = Setup::new().command(Role::Coach, coach).build().await;
    world.script.plans(&Plan::one()).plays(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let (first, second) = (prompt(&world, "prompt-0"), prompt(&world, "prompt-1"));
    assert!(first.contains("`decision: probe`") && first.contains(r#""probe""#), "{first}");
    assert!(!second.contains(r#""probe""#), "it may not be asked for again: {second}");
    for shown in ["hello 1", "planted.txt", "no-such-program"] {
        assert!(second.contains(shown), "{shown}: {second}");
    }
    let turn = world.feature().await.tasks[0].turns[0].clone();
    let gates: Vec<String> = turn.gates.unwrap().more.iter().map(|more| more.gate.name()).collect();
    for probe in ["probe 1", "probe 2", "probe 3"] {
        assert!(gates.iter().any(|gate| gate == probe), "{gates:?}");
    }
    assert_eq!(world.file(&world.branch(1).await, "hello/planted.txt"), None);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_of_a_coach_are_kept_while_the_next_one_waits_for_its_model() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).plays(1);
    world.script.step(decision("probe", &json!({"commands": ["cat hello/1.txt"]})));
    world.script.fails("coach", "rate_limited");
    world.script.step(json!({"role": "coach", "answer": {"decision": "approve", "summary": "Fine.", "criteria": []}}));
    world.script.fails("coach", "unavailable");
    let found = json!([{"criterion": 1, "met": true, "evidence": "hello/1.txt:1"}]);
    world.script.step(json!({"role": "coach", "answer": {"criteria": found}}));
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let turn = world.feature().await.tasks[0].turns[0].clone();
    let gates: Vec<String> = turn.gates.unwrap().more.iter().map(|more| more.gate.name()).collect();
    assert!(gates.iter().any(|gate| gate == "probe 1"), "{gates:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_probe_is_no_decision() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).plays(1);
    let probe = decision("probe", &json!({"commands": ["cat README.md"]}));
    // The probe, then two answers that may not be probes.
    for _ in 0..3 {
        world.script.step(probe.clone());
    }
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let feature = world.feature().await;
    assert!(feature.tasks[0].turns[0].verdict.is_none(), "no turn is used up");
    let said = format!("{:?}", world.reviews(world.pull(1).await).await);
    assert!(said.contains("may be answered once"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_of_nothing_or_of_an_open_quote_is_asked_for_once_more() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).plays(1);
    world.script.step(decision("probe", &json!({"commands": ["cat 'README.md"]})));
    world.script.approves(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coach_that_writes_between_two_answers_does_not_approve() {
    let coach = r#"if [ -f "$WORLD/asked" ]; then
echo '{"decision": "approve", "summary": "Fine.", "criteria": [{"criterion": 1, "met": true, "evidence": "hello/1.txt"}]}'
else
touch "$WORLD/asked"; echo sneaky > sneaky.txt
echo '{"decision": "probe", "summary": "Let me see.", "commands": ["cat README.md"]}'
fi
"#;
    let world = Setup::new().settings("max_turns: 1").command(Role::Coach, coach).build().await;
    world.script.plans(&Plan::one()).plays(1);
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let review = world.reviews(world.pull(1).await).await.remove(0);
    assert_eq!(review.1, "CHANGES_REQUESTED");
    assert!(review.2.contains("checkout_unchanged"), "{}", review.2);
    assert!(review.2.contains("no finding about the work"), "{}", review.2);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_claim_that_does_not_hold_is_named_to_the_coach_and_in_the_review() {
    let player = r#"mkdir -p hello target
echo hello 1 > hello/1.txt; echo built > target/out
cat <<'END'
{"summary": "All.", "files_modified": ["./README.md"], "files_created": ["hello\\1.txt", "target/out", "ghost.txt"],
 "tests_written": ["tests/ghost_test.sh", "readme"], "tests_run": true, "tests_passed": true,
 "requirements_addressed": ["hello/1.txt says hello"], "requirements_remaining": ["the other half"],
 "ready_for_validation": true}
END
"#;
    let coach = format!("cat > \"$WORLD/prompt\"\n{}", approving("hello/1.txt"));
    let world = Setup::new()
        .with_file(".gitignore", "target/\n")
        .command(Role::Player, player)
        .command(Role::Coach, &coach)
        .build()
        .await;
    world.script.plans(&Plan::one());
    world.start().await;
    let review = world.reviews(world.pull(1).await).await.remove(0).2;
    let told = prompt(&world, "prompt");
    let lies = ["README.md", "ghost.txt", "tests/ghost_test.sh", "the other half"];
    let found = world.feature().await.tasks[0].turns[0].discrepancies.clone();
    assert_eq!(found.len(), lies.len(), "{found:#?}");
    for lie in lies {
        assert!(review.contains(lie) && told.contains(lie), "{lie}: {review}\n{told}");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_an_earlier_turn_changed_and_a_later_one_took_back_is_no_lie() {
    let world = World::new().await;
    world.script.plans(&Plan::of([Task::new(1)]));
    let both = [("hello/1.txt", "hello 1\n"), ("README.md", "# Shop, hello\n")];
    world.script.writes(1, &both).feedback(1, "Leave the README alone.");
    world.script.step(json!({
        "role": "player", "task": "TASK-001", "write": {"README.md": "# Shop\n", "hello/1.txt": "hello 1!\n"},
        "answer": {"summary": "Took it back.", "files_modified": ["README.md", "hello/1.txt"],
                   "files_created": ["hello/1.txt"], "ready_for_validation": true},
    }));
    world.script.approves(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    for turn in &world.feature().await.tasks[0].turns {
        assert_eq!(turn.discrepancies, [], "turn {}", turn.number);
    }
    world.end().await;
}

/// A change of a test of the base and of the behaviour that it checks.
const CHANGED: [(&str, &str); 3] =
    [("README.md", "# Store\n"), ("tests/readme_test.sh", "grep -q Store README.md\n"), ("hello/1.txt", "hello 1\n")];

/// A Coach that first approves without an answer, and answers with this quote when it is asked again.
fn quoting(quote: &str) -> String {
    let fine = json!({"question": 1, "verdict": "fine", "because": "It is asked for.", "quote": quote});
    let criteria = json!([{"criterion": 1, "met": true, "evidence": "hello/1.txt"}]);
    let first = json!({"decision": "approve", "summary": "Fine.", "criteria": criteria});
    format!(
        "cat > \"$WORLD/prompt\"\nif grep -q 'Only this is missing' \"$WORLD/prompt\"; then\n\
         cp \"$WORLD/prompt\" \"$WORLD/again\"; echo '{}'\nelse\ncp \"$WORLD/prompt\" \"$WORLD/first\"; echo '{first}'\nfi\n",
        json!({ "answers": [fine] })
    )
}

async fn ask_coach(quote: &str) -> World {
    let setup = Setup::new().settings("max_turns: 1").command(Role::Coach, &quoting(quote));
    let world = setup.build().await;
    world.script.plans(&Plan::one());
    world.script.writes(1, &CHANGED);
    world.start().await;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_test_is_a_question_that_the_coach_answers_with_words_that_are_there() {
    let world = ask_coach("say hello in files").await;
    let (first, again) = (prompt(&world, "first"), prompt(&world, "again"));
    let asks = "Which words want the new behaviour?";
    assert!(first.contains(asks) && first.contains("grep -q Store README.md"), "{first}");
    assert!(again.contains(asks) && !again.contains("# The change"), "{again}");
    assert_eq!(world.state().await, "in_review");
    let review = world.reviews(world.pull(1).await).await.remove(0);
    assert_eq!(review.1, "APPROVED", "{}", review.2);
    assert!(review.2.contains("1 question: 1 fine"), "{}", review.2);
    let feature_pull = world.feature().await.pull.unwrap();
    let body = world.pull_json(feature_pull.0).await["body"].to_string();
    assert!(body.starts_with("\"### Behaviour that changed on purpose"), "{body}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_answers_the_questions_that_the_coach_leaves_open() {
    let world = ask_coach("words that nobody wrote").await;
    let pull = world.pull(1).await;
    let review = world.reviews(pull).await.remove(0);
    assert_eq!(review.1, "CHANGES_REQUESTED", "an approval without a quote approves nothing");
    assert!(review.2.contains("a question is open"), "{}", review.2);
    world.say(WRITER, pull, "/autobuild approve").await;
    assert_eq!(world.state().await, "in_review");
    let feature_pull = world.feature().await.pull.unwrap();
    let body = world.pull_json(feature_pull.0).await["body"].to_string();
    assert!(body.contains(&format!("approved by @{WRITER}")), "{body}");
    world.end().await;
}
