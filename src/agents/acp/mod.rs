//! The `acp:` back-end: any agent that speaks the Agent Client Protocol. The protocol has no structured answer and no
//! mode that surely only reads: the answer is the JSON that ends the last message, and what a reader wrote is found by
//! comparing its checkout.

mod stream;
mod wire;

use crate::agents::Printed;
use crate::agents::RunError;
use crate::agents::RunSpec;
use crate::agents::access::Access;
use crate::agents::access::Login;
use crate::agents::access::Provider;
use crate::agents::acp::stream::Script;
use crate::agents::acp::stream::Stream;
use crate::agents::answer;
use crate::agents::answer::NoAnswer;
use crate::agents::codex;
use crate::agents::codex::answer::by_words;
use crate::agents::command::program;
use crate::agents::ending;
use crate::agents::ending::Cut;
use crate::agents::ending::Told;
use crate::agents::ending::started;
use crate::agents::journal::Journal;
use crate::agents::journal::plain;
use crate::agents::past;
use crate::agents::private::Account;
use crate::agents::private::Private;
use crate::agents::schema;
use crate::agents::session;
use crate::agents::session::Ended;
use crate::agents::session::Patience;
use crate::agents::session::Speech;
use crate::config::CommandLine;
use crate::config::Role;
use crate::domain::blocked::AgentFailure;
use crate::domain::trace::TraceKind;
use crate::sandbox::OutputCap;
use crate::sandbox::Sandbox;
use crate::sandbox::Spec;
use crate::sandbox::environment;
use serde_json::Value;
use serde_json::json;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// An agent that prints more than this is stopped.
const MOST_OUTPUT: u64 = 256 << 20;
const KEPT_OUTPUT: usize = 16 << 10;
/// From being asked to end to being killed.
const GRACE: Duration = Duration::from_secs(5);
/// How long the agent may be silent while its model works.
const MODEL: Duration = Duration::from_secs(330);
/// How long it may be silent while one of its tools runs.
const TOOL: Duration = Duration::from_secs(11 * 60);
/// What the program may take to end once its input has ended.
const LAST: Duration = Duration::from_secs(2);

/// A configured agent.
#[derive(Clone, Debug)]
pub(crate) struct AcpAgent {
    command: CommandLine,
    program: OsString,
    sandbox: Sandbox,
    environment: Vec<String>,
    runs: PathBuf,
    access: Access,
}

impl AcpAgent {
    pub(crate) fn new(
        command: CommandLine,
        sandbox: Sandbox,
        environment: Vec<String>,
        runs: PathBuf,
        access: Access,
    ) -> Self {
        Self {
            program: program(&command),
            command,
            sandbox,
            environment,
            runs,
            access,
        }
    }

    /// Whether its program is there. What it is and how old shows only in a run: it has no way to say so outside one.
    pub(crate) async fn check(&self) -> Result<(), AgentFailure> {
        let failed = |error: std::io::Error| AgentFailure::Failed { how: error.to_string() };
        let private = Private::make(&self.runs).map_err(|error| failed(std::io::Error::other(error)))?;
        let env = environment(private.path(), &[]).map_err(failed)?;
        let path = env
            .iter()
            .find(|(name, _)| name == "PATH")
            .map(|(_, value)| value.clone());
        let program = PathBuf::from(&self.program);
        let there = match program.components().count() > 1 {
            true => program.is_file(),
            false => std::env::split_paths(&path.unwrap_or_default()).any(|folder| folder.join(&program).is_file()),
        };
        match there {
            true => Ok(()),
            false => Err(AgentFailure::NotFound {
                program: self.command.program().to_owned(),
            }),
        }
    }

    pub(crate) async fn run(&self, spec: &RunSpec, cancel: &CancellationToken) -> Result<Printed, RunError> {
        let mut journal = Journal::start(spec.activity.clone(), spec.secrets.clone());
        let told = spec.prompt.whole(&spec.schema);
        journal.note(TraceKind::Prompt { text: told.clone() });
        let private = Private::make(&self.runs)?;
        let order = self.order(spec, &private).await?;
        let mut stream = Stream::new(Script {
            role: spec.role,
            session: session_of(spec),
            prompt: told,
        });
        let model = spec.idle.map_or(MODEL, |idle| idle.min(MODEL));
        let patience = Patience {
            model,
            tool: model.max(TOOL),
            last: LAST,
        };
        let listener: &mut dyn session::Listener = &mut stream;
        let talk = (listener, &mut journal);
        let ended = session::run(&self.sandbox, &order, Speech::Dialogue, patience, talk, cancel).await;
        let ended = started(ended, self.command.program())?;
        past::counted(conclude(spec, stream, journal, &ended), None, &order)
    }

    async fn order(&self, spec: &RunSpec, private: &Private) -> Result<Spec, RunError> {
        let mut order = Spec::new(&self.program, &spec.checkout).args(self.command.args());
        order.env = private.environment(spec, &self.environment, Account::AsNamed)?;
        order
            .env
            .push(("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS".into(), "1".into()));
        let config = private.folder("claude")?;
        order.env.push(("CLAUDE_CONFIG_DIR".into(), config.into_os_string()));
        order.stdin = Stream::opening();
        order.deadline = spec.deadline;
        order.grace = GRACE;
        order.stdout = OutputCap {
            head: KEPT_OUTPUT,
            tail: KEPT_OUTPUT,
            stop_after: Some(MOST_OUTPUT),
        };
        order.stderr = order.stdout;
        let providers = [Provider::Anthropic, Provider::OpenAi];
        if self.access.login == Login::Host {
            for provider in providers {
                self.access.as_the_host(&mut order, provider);
            }
        }
        let addresses = self
            .access
            .lead(&mut order, spec, private, &providers, self.sandbox.level())
            .await?;
        if let Some((_, address)) = addresses.iter().find(|(provider, _)| *provider == Provider::OpenAi) {
            let home = codex::home(private, address, spec.model.as_deref())?;
            order.env.extend(codex::variables(home));
        }
        Ok(order)
    }
}

/// The session's parameters. What stands under `_meta` is for the adapters that know it; others leave it out.
fn session_of(spec: &RunSpec) -> Value {
    let mut options = json!({
        "settingSources": [],
        "strictMcpConfig": true,
        "maxTurns": spec.agent_turns,
        "outputFormat": { "type": "json_schema", "schema": schema::bare(&spec.schema) },
    });
    if let Some(options) = options.as_object_mut() {
        if spec.role != Role::Player {
            options.insert("tools".to_owned(), json!(["Read", "Grep", "Glob"]));
        }
        if let Some(model) = &spec.model {
            options.insert("model".to_owned(), json!(model));
        }
    }
    json!({
        "cwd": spec.checkout,
        "mcpServers": [],
        "_meta": { "claudeCode": { "options": options } },
    })
}

fn conclude(spec: &RunSpec, stream: Stream, journal: Journal, ended: &Ended) -> Result<Printed, RunError> {
    let said_all = stream.stop_reason.is_some() || stream.failed.is_some();
    let outcome =
        ending::by_force(spec, ended, said_all).map_or_else(|| outcome(spec, &stream, ended).map_err(Cut::from), Err);
    let told = Told {
        tokens: stream.tokens,
        usd_micros: stream.usd_micros,
        estimated: false,
        model: spec.model.clone(),
        last_words: Some(stream.text),
    };
    ending::printed(outcome, told, journal, ended)
}

fn outcome(spec: &RunSpec, stream: &Stream, ended: &Ended) -> Result<Result<Value, NoAnswer>, AgentFailure> {
    if let Some(message) = &stream.failed {
        return Err(match message.to_lowercase().contains("maximum number of turns") {
            true => AgentFailure::OutOfAgentTurns {
                turns: spec.agent_turns,
            },
            false => by_words(spec, message),
        });
    }
    match stream.stop_reason.as_deref() {
        None => Err(ending::without_a_word(&spec.secrets, &ended.finished)),
        Some("refusal") => Err(AgentFailure::ModelRefused {
            said: plain(&spec.secrets, &stream.text, 500),
        }),
        Some("max_tokens") => Err(AgentFailure::OutputLimit),
        Some("max_turn_requests") => Err(AgentFailure::OutOfAgentTurns {
            turns: spec.agent_turns,
        }),
        // An agent that was denied something may cancel its own turn; whether it answered shows below.
        Some(_) => Ok(match &stream.structured {
            Some(answer) => Ok(answer.clone()),
            None => answer::ending_object(&stream.text).map(schema::without_nulls),
        }),
    }
}
