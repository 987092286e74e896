//! The `command` back-end with real programs that behave well or badly.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use autobuild::{
    agents::{Access, Backend, RunError, RunSpec, ValidAnswer, prompt::Prompt},
    config::{AgentCommand, ModelSettings, Role},
};
use domain::{
    blocked::Failure,
    ids::{TaskId, TurnNumber},
    isolation::Level,
};
use sandbox::{Sandbox, SandboxOptions, egress::Rules};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};
use tempfile::TempDir;
use text::secret::Secrets;
use tokio_util::sync::CancellationToken;

struct Stage {
    dir: TempDir,
    sandbox: Sandbox,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("checkout")).unwrap();
        let launcher = PathBuf::from(env!("CARGO_BIN_EXE_autobuild"));
        Self { dir, sandbox: Sandbox::at(SandboxOptions::with_launcher(launcher), Level::L0) }
    }

    fn spec(&self) -> RunSpec {
        RunSpec {
            role: Role::Player,
            task: Some(TaskId::Planned(3)),
            turn: TurnNumber(2),
            checkout: self.dir.path().join("checkout"),
            objects: None,
            prompt: Prompt::new("please", "your report"),
            schema: json!({"type": "object", "title": "the schema"}),
            deadline: Duration::from_secs(60),
            idle: None,
            model: None,
            fallback_model: None,
            agent_turns: 30,
            usd_micros: None,
            most_usd_micros: None,
            tokens: None,
            time: None,
            network: Rules::default(),
            activity: None,
            request: "r1".to_owned(),
            run_key: "r1".to_owned(),
            secrets: Secrets::default(),
        }
    }

    async fn ask(&self, command: &str, spec: &RunSpec) -> Result<ValidAnswer<Value>, RunError> {
        let agent: AgentCommand = format!("command:{command}").parse().unwrap();
        let backend = backend(&agent, &self.sandbox, &self.dir.path().join("agents"));
        let read = |value: &Value| match value.get("wrong") {
            Some(_) => Err("`wrong` is not wanted".to_owned()),
            None => Ok(value.clone()),
        };
        backend.ask(spec, read, &CancellationToken::new()).await
    }

    /// Runs a shell script as the agent.
    async fn shell(&self, script: &str) -> Result<ValidAnswer<Value>, RunError> {
        let file = self.dir.path().join("agent.sh");
        fs::write(&file, script).unwrap();
        self.ask(&format!("sh {}", file.display()), &self.spec()).await
    }

    async fn failure(&self, script: &str) -> Failure {
        agents_failure(self.shell(script).await)
    }
}

fn backend(agent: &AgentCommand, sandbox: &Sandbox, folder: &Path) -> Backend {
    Backend::new(agent, sandbox, &[], folder, &Access::service(ModelSettings::default()))
}

fn agents_failure(ended: Result<ValidAnswer<Value>, RunError>) -> Failure {
    match ended.unwrap_err() {
        RunError::Agent { failure, .. } => failure,
        other => panic!("not the agent's failure: {other}"),
    }
}

#[tokio::test]
async fn an_agent_gets_its_prompt_its_variables_and_a_home_of_its_own() {
    let stage = Stage::new();
    let answered = stage
        .shell(
            r#"read -r prompt
            echo hello > made.txt
            case "$AUTOBUILD_SCHEMA_FILE" in "$PWD"*) exit 9;; esac
            case "$HOME" in "$PWD"*) exit 9;; esac
            title=$(grep -o 'the schema' "$AUTOBUILD_SCHEMA_FILE")
            touch "$HOME/x" "$TMPDIR/y"
            printf 'thinking {not json}\n```json\n{"prompt": "%s", "who": "%s %s %s", "title": "%s", "user": "%s"}\n```\n' \
                "$prompt" "$AUTOBUILD_ROLE" "$AUTOBUILD_TASK" "$AUTOBUILD_TURN" "$title" "$USER""#,
        )
        .await
        .unwrap();
    assert_eq!(
        answered.answer,
        json!({"prompt": "please", "who": "player TASK-003 2", "title": "the schema", "user": "builder"})
    );
    assert_eq!(answered.record.runs, 1);
    assert!(stage.dir.path().join("checkout/made.txt").is_file());
}

#[tokio::test]
async fn a_bad_answer_is_repaired_with_the_problem_in_the_prompt() {
    let stage = Stage::new();
    let answered = stage
        .shell(r#"if grep -q "is not wanted"; then echo '{"fine": true}'; else echo '{"wrong": true}'; fi"#)
        .await
        .unwrap();
    assert_eq!((answered.answer, answered.record.runs), (json!({"fine": true}), 2));
}

#[tokio::test]
async fn every_misbehaviour_is_a_typed_failure() {
    let stage = Stage::new();
    let table = [
        ("", Failure::ReportMissing),
        ("echo done", Failure::ReportMissing),
        ("printf '{{{{{{'", Failure::ReportMissing),
        ("echo '{\"wrong\": 1}'", Failure::ReportInvalid { problem: "`wrong` is not wanted".to_owned() }),
        (
            "echo '{}'; echo no credit >&2; exit 3",
            Failure::AgentFailed { message: "exit code 3: no credit".to_owned() },
        ),
        ("yes '{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{'", Failure::TooMuchOutput { bytes: 256 << 20 }),
    ];
    for (script, expected) in table {
        assert_eq!(stage.failure(script).await, expected, "{script}");
    }
    let killed = stage.failure("kill -9 $$").await;
    assert!(matches!(killed, Failure::AgentFailed { .. }), "{killed:?}");
}

#[tokio::test]
async fn an_endless_or_silent_agent_is_stopped() {
    let stage = Stage::new();
    let mut spec = stage.spec();
    spec.deadline = Duration::from_millis(300);
    let ended = agents_failure(stage.ask("sleep 600", &spec).await);
    assert_eq!(ended, Failure::TimedOut { seconds: 0 });
    spec.deadline = Duration::from_secs(60);
    spec.idle = Some(Duration::from_millis(300));
    let ended = agents_failure(stage.ask("sleep 600", &spec).await);
    assert_eq!(ended, Failure::WentSilent { seconds: 0 });
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let stage = Stage::new();
    let ended = agents_failure(stage.ask("no-such-agent --fast", &stage.spec()).await);
    assert_eq!(ended, Failure::NoAgentProgram { program: "no-such-agent".to_owned() });
}

#[tokio::test]
async fn a_cancelled_run_is_no_failure_of_the_agent() {
    let stage = Stage::new();
    let agent: AgentCommand = "command:sleep 600".parse().unwrap();
    let backend = backend(&agent, &stage.sandbox, stage.dir.path());
    let cancel = CancellationToken::new();
    cancel.cancel();
    let ended = backend.ask(&stage.spec(), |_| Ok(()), &cancel).await;
    assert!(matches!(ended, Err(RunError::Cancelled { .. })));
}
