//! The service is killed in the middle of a run of the real Claude Code and started again: no process is left, nothing
//! is lost, and nothing is counted twice.

use crate::{
    beside::{Beside, MONA, REPO},
    model::{FakeModel, Pick, Reply, Rule},
    stage::KEY,
};
use domain::isolation::Level;
use sandbox::Sandbox;
use serde_json::json;
use sqlx::Connection;
use std::{fs, ops::Deref, path::Path, time::Duration};
use tokio::process::Child;

const LOOK: Duration = Duration::from_millis(50);
/// Longer than any step here.
const PATIENCE: Duration = Duration::from_secs(180);

const ISSUE: &str = "```yaml\ntasks:\n  - id: TASK-001\n    name: Say hello\n    type: documentation\n    files: [hello.txt]\n    \
                     acceptance_criteria:\n      - {text: It says hello, check: {file: hello.txt}}\n```\n";

/// The first Player never ends by itself, and starts a process that would outlive it. The next Player does the work.
fn rules() -> Vec<Rule> {
    let bash = |command: &str| Reply::Tool("Bash", json!({ "command": command, "description": "work" }));
    let report = json!({
        "summary": "It says hello", "files_modified": [], "files_created": ["hello.txt"], "ready_for_validation": true,
    });
    let decision = json!({
        "decision": "approve", "summary": "It holds", "issues": [],
        "criteria": [{ "criterion": 1, "met": true, "evidence": "hello.txt" }],
    });
    let done = || Reply::Text("Done.".to_owned());
    vec![
        Rule {
            holds: "You are the Player.",
            pick: Pick::Next,
            replies: vec![
                bash("echo half > hello.txt; setsid sh -c 'trap \"\" TERM HUP; sleep 4711' & sleep 4711"),
                bash("echo hello > hello.txt"),
                Reply::Tool("StructuredOutput", report),
                done(),
            ],
        },
        Rule {
            holds: "You are the Coach.",
            pick: Pick::Turn,
            replies: vec![Reply::Tool("StructuredOutput", decision), done()],
        },
    ]
}

/// A forge, a model, and the service beside them.
struct World {
    beside: Beside,
    model: FakeModel,
    path: std::ffi::OsString,
    level: Level,
}

impl Deref for World {
    type Target = Beside;

    fn deref(&self) -> &Beside {
        &self.beside
    }
}

impl World {
    async fn new(program: &Path, level: Level) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let settings = "test: 'true'\nci: ignore\nplan_approval: never\n";
        let old = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(program.to_owned()).chain(std::env::split_paths(&old));
        Self {
            beside: Beside::new(crate::PRODUCT, folder, &[(".github/autobuild.yml", settings)]).await,
            model: FakeModel::start(rules()).await,
            path: std::env::join_paths(path).unwrap(),
            level,
        }
    }

    fn start(&self) -> Child {
        let log = self.folder.path().join("log");
        let log = fs::File::options().create(true).append(true).open(log).unwrap();
        self.service(&u8::from(self.level).to_string(), log)
            .env("PATH", &self.path)
            .env("AUTOBUILD_AGENT", "claude")
            .env("AUTOBUILD_ANTHROPIC_URL", self.model.url())
            .env("AUTOBUILD_ANTHROPIC_API_KEY", KEY)
            .spawn()
            .unwrap()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    async fn read<T>(&self, sql: &'static str) -> Vec<T>
    where
        T: for<'r> sqlx::FromRow<'r, sqlx::sqlite::SqliteRow> + Send + Unpin,
    {
        let Some(mut database) = self.open().await else {
            return Vec::new();
        };
        let rows = sqlx::query_as(sql).fetch_all(&mut database).await.unwrap_or_default();
        database.close().await.unwrap();
        rows
    }

    /// Waits until a condition is true.
    async fn until(&self, what: &str, mut so: impl AsyncFnMut() -> bool) {
        let waited = tokio::time::timeout(PATIENCE, async {
            while !so().await {
                tokio::time::sleep(LOOK).await;
            }
        });
        assert!(waited.await.is_ok(), "{what}: {}", self.log());
    }

    /// Returns the processes of the run: those in the service's folders, and those that the Player started.
    fn processes(&self) -> Vec<String> {
        let of_run = |entry: &fs::DirEntry| {
            let cwd = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            let inside = cwd.starts_with(self.folder.path().join("data"));
            (inside || words.contains("sleep 4711")).then_some(words)
        };
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| of_run(&entry)).collect()
    }
}

#[allow(clippy::too_many_lines, reason = "one story")]
async fn killed_and_started_again(program: &Path, level: Level) {
    let world = World::new(program, level).await;
    let mut service = world.start();
    let mona = world.forge.as_user(MONA).unwrap();
    let issue = mona.open_issue(REPO, "Say hello", ISSUE, &[]).unwrap();
    mona.label(REPO, issue, "autobuild").unwrap();
    let sleeps = |processes: &[String]| processes.iter().filter(|words| words.contains("sleep 4711")).count();
    world.until("the Player's command runs", async || sleeps(&world.processes()) >= 2).await;
    service.kill().await.unwrap();
    let since = tokio::time::Instant::now();
    world.until("what it ran is gone", async || world.processes().is_empty()).await;
    println!("killed at {level}: nothing left after {} ms", since.elapsed().as_millis());

    let mut service = world.start();
    let pulls = async || world.forge.look(REPO, "pulls?state=open").await.unwrap();
    let in_review = async || pulls().await.as_array().unwrap().iter().any(|pull| pull["base"]["ref"] == "main");
    world.until("the Feature is in review", in_review).await;
    let unfinished = "SELECT COUNT(*) FROM effect WHERE state IN ('ready', 'running')";
    world.until("it rests", async || world.read::<(i64,)>(unfinished).await == [(0,)]).await;
    service.kill().await.unwrap();

    let runs: Vec<(String, String, Option<i64>, i64)> =
        world.read("SELECT role, state, usd_micros, reserved_micros FROM run ORDER BY started_at, id").await;
    let states: Vec<(&str, &str)> = runs.iter().map(|run| (run.0.as_str(), run.1.as_str())).collect();
    assert_eq!(states, [("player", "lost"), ("player", "ended"), ("coach", "ended")], "{}", world.log());
    assert!(runs[0].2.is_none() && runs[0].3 > 0, "it counts with its share: {runs:?}");
    let turns: Vec<(i64,)> = world.read("SELECT COUNT(*) FROM turn").await;
    assert_eq!(turns, [(1,)], "no turn is lost by it");
    let commits = world.forge.look(REPO, "pulls/2/commits").await.unwrap();
    assert_eq!(commits.as_array().map(Vec::len), Some(1), "{commits}");
    assert_eq!(world.processes(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_real_claude_dies_with_a_killed_service_and_its_run_is_done_again() {
    let Some(program) = crate::real("claude") else {
        return;
    };
    let best = Sandbox::probe(crate::sandbox_options(), Level::L0.or_more()).await.unwrap().level();
    for level in [Level::L0, best] {
        killed_and_started_again(&program, level).await;
    }
}
