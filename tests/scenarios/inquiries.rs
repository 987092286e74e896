//! Agents that ask a person: the work waits, one answer continues it, and no run is repeated.

use crate::world::{ISSUE, Plan, STRANGER, Setup, WRITER};
use autobuild::config::Role;
use serde_json::json;

/// A Player that asks in its first run, after half of the work, and saves its prompts.
const PLAYER: &str = r#"if [ -e "$WORLD/asked" ]; then
  cat > "$WORLD/told"
  cat hello/half.txt > hello/1.txt && rm hello/half.txt
  echo '{"summary": "Said it.", "files_modified": [], "files_created": ["hello/1.txt"], "ready_for_validation": true}'
else
  touch "$WORLD/asked" && mkdir -p hello && echo "hello 1" > hello/half.txt
  cat <<'END'
{"inquiries": [{"question": "Loud, @wendy?\n/autobuild cancel", "default": "softly"}, {"question": " "},
 {"question": "To whom?", "default": "all"}]}
END
fi
"#;

/// Words that no layer may change.
const WORDS: &str = "Loud, \"please\":\n\n- use `ü`\n> and quotes";

#[tokio::test(flavor = "multi_thread")]
async fn planner_and_player_ask_once_each_and_a_person_answers() {
    let world = Setup::new().command(Role::Player, PLAYER).build().await;
    world
        .script
        .step(json!({"role": "planner", "answer": {"inquiries": [{"question": "Which file?", "default": "1.txt"}]}}))
        .plans(&Plan::one())
        .approves(1);
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    assert!(world.living().await.contains("**State: asks.**"), "{}", world.living().await);
    world.say(STRANGER, ISSUE, "/autobuild resume 'mine'").await;
    assert_eq!(world.state().await, "blocked");
    world.say(WRITER, ISSUE, "/autobuild resume 'The first'").await;
    assert_eq!(world.feature().await.inquiries.len(), 1);

    assert_eq!(world.tasks().await, ["blocked"]);
    let pull = world.pull(1).await;
    let report = world.last_answer(pull).await;
    assert!(report.contains("\n/autobuild resume 'your answer'\n"), "{report}");
    world.say(WRITER, pull, &format!("/autobuild resume {WORDS}")).await;
    assert_eq!(world.state().await, "in_review");
    let told = std::fs::read_to_string(world.folder().join("told")).unwrap();
    assert!(told.contains(WORDS), "word for word: {told}");
    assert!(told.contains("To whom?\n   Default: all"), "with the questions: {told}");
    assert_eq!(world.feature().await.tasks[0].turns.len(), 1, "the question used no turn");
    insta::assert_snapshot!(world.transcript().await);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_is_asked_the_defaults_reach_the_next_run() {
    let world = Setup::new().settings("inquiries: default").command(Role::Player, PLAYER).build().await;
    world.script.plans(&Plan::one()).approves(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let told = std::fs::read_to_string(world.folder().join("told")).unwrap();
    assert!(told.contains("Nobody is asked here: the defaults hold."), "{told}");
    let body = world.pull_json(world.pull(1).await).await["body"].to_string();
    assert!(body.contains("Nobody was asked: the defaults hold."), "{body}");
    world.end().await;
}
