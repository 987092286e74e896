//! The core stories again on PostgreSQL, and stories of two replicas on one database.

use crate::{
    pipes::Pipes,
    postgres,
    world::{ADMIN, ISSUE, Plan, REPO, Setup, Task, WRITER, World},
};
use autobuild::{
    cli::assemble,
    config::Role,
    engine::Engine,
    web,
    web::{Inbox, Listener},
};
use domain::budget::Limits;
use secrecy::SecretString;
use sqlx::{Connection, PgConnection};
use std::{collections::BTreeSet, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_util::sync::CancellationToken;

async fn world(settings: &str) -> World {
    let database = postgres::database().await;
    Setup::new().settings(settings).database(database).build().await
}

#[tokio::test(flavor = "multi_thread")]
async fn waves_of_tasks_become_a_merged_feature() {
    let world = world("").await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2), Task::new(3).needs(&[1, 2])]));
    world
        .script
        .writes(1, &[("hello/1.txt", "hullo\n")])
        .feedback(1, "It says hullo.")
        .succeeds(1)
        .succeeds(2)
        .succeeds(3);
    world.start().await;
    assert_eq!(world.tasks().await, ["completed", "completed", "completed"]);
    assert_eq!(world.review_states(world.pull(1).await).await, ["CHANGES_REQUESTED", "APPROVED"]);
    world.by(ADMIN).merge(REPO, world.feature_pull().await, "merge").await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "completed");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_whose_clock_is_an_hour_ahead_uses_the_clock_of_the_database() {
    let ahead = || assemble::clock().plus(3_600_000);
    let world = Setup::new().clock(ahead).database(postgres::database().await).build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let theirs = world.engine.store.clock().await.unwrap().expect("it has one");
    let off = world.engine.now().0 - theirs.0;
    assert!(off.abs() < 600_000, "{off} ms off");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_task_is_resumed_and_another_skipped() {
    let world = world("max_turns: 1").await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2)]));
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).feedback(1, "It says hullo.");
    world.script.writes(2, &[("hello/2.txt", "hullo\n")]).feedback(2, "It says hullo.");
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked", "blocked"]);
    world.say(WRITER, ISSUE, "/autobuild skip TASK-002").await;
    world.script.succeeds(1);
    world.say(WRITER, world.pull(1).await, "/autobuild resume hello, not hullo").await;
    assert_eq!(world.tasks().await, ["completed", "skipped"]);
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_and_a_cancel_hold() {
    let world = world("merge: human").await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    world.forge.suspend(world.installation).unwrap();
    world.idle().await;
    world.forge.unsuspend(world.installation).unwrap();
    world.settle().await;
    let comment = world.say(WRITER, ISSUE, "/autobuild cancel").await;
    assert_eq!(world.reactions(comment).await, ["eyes", "rocket"]);
    assert_eq!(world.state().await, "cancelled");
    world.end().await;
}

/// Returns a Player that reports where it works, waits for the story, and then does this; `update` sends its argument.
fn waiting_player(then: &str) -> String {
    format!(
        r#"
update() {{ printf '{{"jsonrpc":"2.0","method":"session/update","params":{{"update":%s}}}}\n' "$1"; }}
read -r _; echo '{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":1}}}}'
read -r _; echo '{{"jsonrpc":"2.0","id":1,"result":{{"sessionId":"s"}}}}'
read -r _
pwd > "$WORLD/started"
read -r _ < "$WORLD/go"
{then}
echo '{{"jsonrpc":"2.0","id":3,"result":{{"stopReason":"end_turn"}}}}'
"#
    )
}

/// Spends the whole budget.
const SPENDING: &str = r#"
n=${AUTOBUILD_TASK##*0}
mkdir -p hello; echo "hello $n" > "hello/$n.txt"
update '{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":0.5,"currency":"USD"}}'
update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{\"summary\": \"Hello.\", \"files_modified\": [], \"files_created\": [\"hello/'$n'.txt\"], \"ready_for_validation\": true}"}}'
"#;

/// Returns the number of Player runs that began, the amount that is reserved for those that have not ended, and the
/// amount that the others used.
async fn drawn(database: &str) -> (i64, i64, i64) {
    let mut connection = PgConnection::connect(database).await.unwrap();
    let drawn = sqlx::query_as(
        "SELECT COUNT(*), CAST(COALESCE(SUM(CASE state WHEN 'running' THEN reserved_micros END), 0) AS BIGINT), \
         CAST(COALESCE(SUM(usd_micros), 0) AS BIGINT) FROM run WHERE role = 'player'",
    );
    let drawn = drawn.fetch_one(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    drawn
}

/// Waits until this many Players must wait because the remaining budget is reserved for others.
async fn held_back(world: &World, wanted: usize) {
    let store = &world.engine.store;
    let mut wakeups = store.wakeups();
    let held = async {
        loop {
            let effects = store.unfinished_effects().await.unwrap();
            let held = effects.iter().filter(|effect| {
                let why = effect.last_error.as_deref().unwrap_or_default();
                effect.kind == "play" && why.contains("set aside for runs that have not ended")
            });
            if held.count() == wanted {
                return;
            }
            wakeups.next().await;
        }
    };
    let held = tokio::time::timeout(Duration::from_secs(60), held).await;
    assert!(held.is_ok(), "{:?}", store.unfinished_effects().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_replicas_never_start_more_together_than_their_months_purse_allows() {
    let database = postgres::database().await;
    let month = Limits { usd_micros: Some(2_000_000), ..Limits::default() };
    let setup = Setup::new()
        .settings("max_parallel_tasks: 6")
        .database(database.clone())
        .month(month)
        .replicas(2)
        .acp(Role::Player, &waiting_player(SPENDING));
    let mut pipes = Pipes::new(setup.folder());
    let world = setup.build().await;
    world.script.plans(&Plan::of((1..=6).map(Task::new)));
    world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    let mut homes = BTreeSet::new();
    for _ in 0..4 {
        let home = pipes.started().await;
        homes.insert(home.contains("/data-2/"));
    }
    assert_eq!(homes.len(), 2, "both work, with three agents at most in each");
    held_back(&world, 2).await;
    assert_eq!(drawn(&database).await, (4, 2_000_000, 0), "the purse is set aside to the last cent");
    for _ in 0..4 {
        pipes.go().await;
    }
    world.settle().await;
    assert_eq!(drawn(&database).await, (4, 0, 2_000_000), "nothing more began");
    assert_eq!(world.tasks().await, ["blocked"; 6]);
    let said = world.answers(ISSUE).await.replace("\\$", "$");
    let month = "the $2.00 that the server's `AUTOBUILD_BUDGET_USD_PER_MONTH` allows";
    assert!(said.contains(month), "{said}");
    world.end().await;
}

/// Makes one tool call, waits again, and is done.
const CALLING_A_TOOL: &str = r#"
update '{"sessionUpdate":"tool_call","toolCallId":"1","title":"Bash look-here"}'
update '{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}'
read -r _ < "$WORLD/go"
mkdir -p hello; echo "hello 1" > hello/1.txt
update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{\"summary\": \"Hello.\", \"files_modified\": [], \"files_created\": [\"hello/1.txt\"], \"ready_for_validation\": true}"}}'
"#;

/// The page of a Feature as a browser at a replica shows it.
struct Watched {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Watched {
    async fn open(engine: Arc<Engine>, path: &str) -> Self {
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = listener.address().unwrap();
        let inbox = Inbox::new(engine, Vec::new(), CancellationToken::new()).with_key(SecretString::from("key"));
        let router = web::router(Arc::new(inbox));
        tokio::spawn(web::serve(listener, router, CancellationToken::new()));
        let mut began = Self::ask(address, "/?key=key", "").await;
        let began = began.until("\r\n\r\n").await;
        let cookie = began.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        Self::ask(address, path, cookie.split(';').next().unwrap()).await
    }

    async fn ask(address: SocketAddr, path: &str, cookie: &str) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let read = Vec::new();
        Self { stream, read }
    }

    async fn until(&mut self, awaited: &str) -> String {
        let mut piece = [0; 65_536];
        let shown = async {
            while !String::from_utf8_lossy(&self.read).contains(awaited) {
                let count = self.stream.read(&mut piece).await.unwrap();
                assert!(count > 0, "the stream ended");
                self.read.extend_from_slice(&piece[..count]);
            }
        };
        let shown = tokio::time::timeout(Duration::from_secs(120), shown).await;
        let text = String::from_utf8_lossy(&self.read).into_owned();
        assert!(shown.is_ok(), "{awaited}: {text}");
        text
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_each_replica_shows_the_tool_calls_of_the_other() {
    let setup = Setup::new()
        .database(postgres::database().await)
        .replicas(2)
        .acp(Role::Player, &waiting_player(CALLING_A_TOOL));
    let mut pipes = Pipes::new(setup.folder());
    let world = setup.build().await;
    world.script.plans(&Plan::one()).approves(1);
    world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    pipes.started().await;
    let path = format!("/features/{}/live", world.feature().await.key);
    let mut pages = Vec::new();
    for engine in std::iter::once(&world.engine).chain(&world.replicas) {
        let mut page = Watched::open(engine.clone(), &path).await;
        let before = page.until("TASK-001").await;
        assert!(!before.contains("look-here"), "{before}");
        pages.push(page);
    }
    pipes.go().await;
    let called = std::time::Instant::now();
    for page in &mut pages {
        page.until("look-here").await;
        println!("a page shows the tool call {} ms after it", called.elapsed().as_millis());
    }
    pipes.go().await;
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

/// A Player that does half of its work and waits until it is stopped; its next run finishes the work that it finds.
const CUT: &str = r#"
if [ -f hello/1.txt ]; then
  echo "$(cat half.txt)" > "$WORLD/found"
  rm half.txt
else
  mkdir -p hello; echo "hello 1" > hello/1.txt; echo half > half.txt
  pwd > "$WORLD/started"
  read -r _ < "$WORLD/go"
fi
echo '{"summary": "Hello.", "files_modified": [], "files_created": ["hello/1.txt"], "ready_for_validation": true}'
"#;

#[tokio::test(flavor = "multi_thread")]
async fn work_that_a_drain_cut_goes_on_on_another_machine() {
    let setup = Setup::new().database(postgres::database().await).replicas(2).command(Role::Player, CUT);
    let mut pipes = Pipes::new(setup.folder());
    let world = setup.build().await;
    world.script.plans(&Plan::one()).approves(1);
    world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    let home = pipes.started().await;
    world.drain(usize::from(home.contains("/data-2/")));
    world.settle().await;
    let found = std::fs::read_to_string(world.folder().join("found")).unwrap();
    assert_eq!(found, "half\n", "the other machine has what was left");
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.feature().await.tasks[0].turns.len(), 1, "one turn");
    world.end().await;
}
