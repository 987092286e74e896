//! The actions of an agent are shown while it runs, and no longer.

use crate::{
    pipes::Pipes,
    world::{ISSUE, Plan, REPO, Setup, WRITER, World},
};
use autobuild::config::Role;
use std::time::Duration;

/// An agent that makes three tool calls and then waits for the story. Its first run fails.
const AGENT: &str = r#"
update() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"update":%s}}\n' "$1"; }
read -r _; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'
read -r _; echo '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}'
read -r _
for call in 1 2 3; do
    update '{"sessionUpdate":"tool_call","toolCallId":"'$call'","title":"Bash"}'
    update '{"sessionUpdate":"tool_call_update","toolCallId":"'$call'","status":"completed"}'
done
echo runs > "$WORLD/started"
read -r _ < "$WORLD/go"
[ -e "$WORLD/second" ] || { touch "$WORLD/second"; exit 3; }
mkdir -p hello; echo "hello 1" > hello/1.txt
update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{\"summary\": \"Hello.\", \"files_modified\": [], \"files_created\": [\"hello/1.txt\"], \"ready_for_validation\": true}"}}'
echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
"#;

const LINE: &str = "- TASK-001: turn 1 · Player · 3 tool calls (at ";

/// Waits until the comment shows the line, or no longer shows it.
async fn shows(world: &World, line: bool) {
    let mut wakeups = world.engine.store.wakeups();
    let shown = async {
        while world.answers(ISSUE).await.contains(LINE) != line {
            wakeups.next().await;
        }
    };
    let shown = tokio::time::timeout(Duration::from_secs(60), shown).await;
    assert!(shown.is_ok(), "{line}: {}", world.answers(ISSUE).await);
}

/// Waits until the store has tool calls for watchers of the Feature.
async fn has_calls(world: &World) {
    let key = world.feature().await.key;
    let seen = async {
        while world.engine.store.calls(&key).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let seen = tokio::time::timeout(Duration::from_secs(60), seen).await;
    let calls = world.engine.store.calls(&key).await.unwrap();
    assert!(seen.is_ok() && calls.values().flatten().all(|call| call.starts_with("Bash")), "{calls:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_does_is_shown_while_it_runs_and_not_longer() {
    let setup = Setup::new().acp(Role::Player, AGENT);
    let mut pipes = Pipes::new(setup.folder());
    let world = setup.build().await;
    world.script.plans(&Plan::one()).approves(1);
    world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    for _ in 0..2 {
        pipes.started().await;
        shows(&world, true).await;
        has_calls(&world).await;
        pipes.go().await;
    }
    world.settle().await;
    shows(&world, false).await;
    assert_eq!(world.state().await, "in_review");
    let runs = world.engine.store.runs_of(&world.feature().await.key, None).await.unwrap();
    let failures: Vec<bool> = runs.iter().map(|run| run.failure.is_some()).collect();
    assert_eq!(failures, [false, true, false, false], "planner, Player, Player, Coach");
    world.end().await;
}
