//! A checkout, a sandbox, and a question for an agent.

use autobuild::{
    agents::{Access, Activity, Backend, RunError, RunSpec, ValidAnswer, prompt::Prompt},
    config::{AgentCommand, ModelApi, ModelSettings, Role},
};
use domain::{
    blocked::{AgentFault, Failure},
    ids::{TaskId, TurnNumber},
    isolation::{Bounds, Level},
};
use sandbox::{Sandbox, egress::Rules};
use serde_json::{Value, json};
use std::{fs, time::Duration};
use tempfile::TempDir;
use text::{secret::Secrets, usage::Usage};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A key that no program may ever see.
pub const KEY: &str = "sk-test-0123456789-never-inside";

pub struct Stage {
    pub dir: TempDir,
    /// The isolation level of the agent.
    pub level: Level,
    backend: Backend,
}

impl Stage {
    /// Creates an agent whose models are at `url`, with the best isolation of this machine.
    pub async fn new(agent: &str, url: &str) -> Self {
        Self::at(agent, url, Level::L0.or_more()).await
    }

    /// The same within these bounds of isolation.
    pub async fn at(agent: &str, url: &str, bounds: Bounds) -> Self {
        let api = |path: &str| ModelApi { url: Some(format!("{url}{path}").parse().unwrap()), key: Some(KEY.into()) };
        let models = ModelSettings { anthropic: api(""), openai: api("/v1") };
        Self::with(agent, &Access::service(models), bounds).await
    }

    /// The same with this access to models.
    pub async fn with(agent: &str, access: &Access, bounds: Bounds) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::create_dir(dir.path().join("checkout")).unwrap();
        fs::write(dir.path().join("checkout/README.md"), "hello\n").unwrap();
        let sandbox = Sandbox::probe(crate::sandbox_options(), bounds).await.unwrap();
        let agent: AgentCommand = agent.parse().unwrap();
        let folder = dir.path().join("agents");
        let backend = Backend::new(&agent, &sandbox, &[], &folder, access);
        Self { dir, level: sandbox.level(), backend }
    }

    pub fn spec(&self, role: Role, case: &str) -> RunSpec {
        RunSpec {
            role,
            task: Some(TaskId::Planned(1)),
            turn: TurnNumber(1),
            checkout: self.dir.path().join("checkout"),
            objects: None,
            prompt: Prompt::new(&format!("CASE:{case} You are an agent in a test."), "your answer"),
            schema: json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
                "properties": { "summary": { "type": "string" }, "n": { "type": "integer", "format": "uint32" } },
                "required": ["summary"], "additionalProperties": false,
            }),
            deadline: Duration::from_secs(120),
            idle: None,
            model: None,
            fallback_model: None,
            agent_turns: 8,
            usd_micros: Some(5_000_000),
            most_usd_micros: Some(10_000_000),
            tokens: None,
            time: None,
            network: Rules::default(),
            activity: None,
            secrets: Secrets::default(),
            request: case.to_owned(),
            run_key: case.to_owned(),
        }
    }

    pub async fn ask(&self, spec: &RunSpec, cancel: &CancellationToken) -> Result<ValidAnswer<Value>, RunError> {
        self.backend.ask(spec, |value| Ok(value.clone()), cancel).await
    }

    /// Returns the end of a run in a word.
    pub async fn ends(&self, role: Role, case: &str) -> String {
        self.end_of(&self.spec(role, case)).await
    }

    pub async fn end_of(&self, spec: &RunSpec) -> String {
        word(self.ask(spec, &CancellationToken::new()).await)
    }

    pub async fn check(&self) -> Result<(), String> {
        self.backend.check().await
    }

    /// Returns the end of a run without an answer, `true` if its usage is reported completely, and the usage.
    pub async fn uses(&self, case: &str) -> (String, bool, Usage) {
        let ended = self.ask(&self.spec(Role::Player, case), &CancellationToken::new()).await;
        let (told, usage) = told(&ended);
        (word(ended), told, usage)
    }

    /// `true` if a failed run shows that its model worked.
    pub async fn worked(&self, case: &str) -> bool {
        match self.ask(&self.spec(Role::Coach, case), &CancellationToken::new()).await {
            Err(RunError::Agent { record, .. }) => record.shows_work(),
            other => panic!("{other:?}"),
        }
    }

    /// Cancels a run as soon as its first tool is called; returns its end, the time until then, and the usage as
    /// [`Stage::uses`].
    pub async fn cancelled(&self, case: &str) -> (String, Duration, bool, Usage) {
        let mut spec = self.spec(Role::Player, case);
        let (sender, mut watched) = watch::channel(Activity::default());
        spec.activity = Some(sender);
        let cancel = CancellationToken::new();
        let cancelling = async {
            watched.wait_for(|activity| activity.tool_calls > 0).await.unwrap();
            let since = tokio::time::Instant::now();
            cancel.cancel();
            since
        };
        let (ended, since) = tokio::join!(self.ask(&spec, &cancel), cancelling);
        let (told, usage) = told(&ended);
        (word(ended), since.elapsed(), told, usage)
    }

    /// Returns the processes that still run in the run's folders.
    pub fn left_behind(&self) -> Vec<String> {
        let inside = |entry: &fs::DirEntry| {
            let cwd = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            cwd.starts_with(self.dir.path())
        };
        let found = fs::read_dir("/proc").unwrap().flatten().filter(inside);
        found.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

fn told(ended: &Result<ValidAnswer<Value>, RunError>) -> (bool, Usage) {
    match ended {
        Ok(answered) => panic!("an answer: {answered:?}"),
        Err(RunError::Agent { record, .. } | RunError::Cancelled { record }) => {
            (!record.has_unreported_usage, record.usage)
        }
        Err(error @ RunError::Host { .. }) => panic!("{error:?}"),
    }
}

fn word(ended: Result<ValidAnswer<Value>, RunError>) -> String {
    let failure = match ended {
        Ok(answered) if answered.record.events.len() < 3 => return "an answer without a trace".to_owned(),
        Ok(answered) if answered.answer["summary"] == "done" => return "answer".to_owned(),
        Ok(answered) => return format!("another answer: {}", answered.answer),
        Err(RunError::Agent { failure, .. }) => failure,
        Err(RunError::Cancelled { .. }) => return "cancelled".to_owned(),
        Err(error) => return format!("{error:?}"),
    };
    let name = match &failure {
        Failure::RateLimited { .. } => "limited",
        Failure::Unavailable { .. } => "unavailable",
        Failure::NotAuthorised { .. } => "not authorised",
        Failure::NotLoggedIn { .. } => "not logged in",
        Failure::NoSuchModel { .. } => "no such model",
        Failure::ModelRefused { .. } => "refused",
        Failure::RequestRefused { .. } => "request refused",
        Failure::PromptTooLong => "too long",
        Failure::OutputLimit => "cut off",
        Failure::OutOfAgentTurns { .. } => "out of turns",
        Failure::OutOfMoney => "out of money",
        Failure::NotAsAsked { .. } => "not as asked",
        Failure::DecisionMissing => "missing",
        Failure::DecisionInvalid { .. } => "invalid",
        Failure::TimedOut { .. } => "timed out",
        Failure::WentSilent { .. } => "silent",
        Failure::TooMuchOutput { .. } => "too much",
        Failure::AgentFault { fault: AgentFault::UnseenLimit } => "limited, unseen",
        Failure::AgentFault { fault: AgentFault::UnseenOutage } => "unavailable, unseen",
        Failure::AgentFault { fault: AgentFault::UnspentShare } => "out of money, unseen",
        _ => return format!("{failure:?}"),
    };
    name.to_owned()
}
