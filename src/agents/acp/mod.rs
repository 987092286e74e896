//! The `acp:` back-end: any agent that speaks the Agent Client Protocol. The protocol has no structured answer and no
//! reliable read-only mode. So the answer is the JSON at the end of the last message, and changes by an agent that may
//! only read are found by comparing its checkout.

mod consent;
mod greeting;
mod stream;
mod wire;

use crate::{
    agents::{
        access::Provider,
        acp::stream::AcpStream,
        answer,
        answer::{AgentAnswer, NoAnswer},
        claude::order::request_for,
        codex,
        codex::answer::failure_from_message,
        command::{is_there, program},
        journal::{Journal, plain},
        outcome,
        outcome::{ReportedUsage, Unfinished},
        private::{AccountVariables, Private},
        run::{Conversation, RunContext, RunError, RunSpec, UncheckedRun, limit},
        schema,
        session::{InputMode, SessionEnd},
        unreported_usage,
    },
    config::Role,
};
use domain::{blocked::Failure, isolation::Level, trace::TraceKind};
use sandbox::{Spec, environment};
use serde_json::{Value, json};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};
use text::command_line::CommandLine;
use tokio_util::sync::CancellationToken;

/// The longest time that the program may take to end after its input has ended.
const LAST: Duration = Duration::from_secs(2);

/// Our part of the conversation with the agent.
#[derive(Debug)]
pub(crate) struct Script {
    /// The agent's role in the loop.
    pub(crate) role: Role,
    pub(crate) session: Value,
    pub(crate) prompt: String,
    /// The folder that it may read.
    pub(crate) checkout: PathBuf,
    pub(crate) level: Level,
}

#[derive(Clone, Debug)]
pub(crate) struct AcpAgent {
    command: CommandLine,
    program: OsString,
    context: RunContext,
}

impl AcpAgent {
    pub(crate) fn new(command: CommandLine, context: RunContext) -> Self {
        Self { program: program(&command), command, context }
    }

    /// Checks that the program exists. Its identity and version only show in a run, since it has no way to report them
    /// before.
    pub(crate) async fn check(&self) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::AgentFailed { message: error.to_string() };
        let private = Private::make(&self.context.runs).map_err(|error| failed(std::io::Error::other(error)))?;
        let env = environment(private.path(), &[]).map_err(failed)?;
        let path = env.into_iter().find(|(name, _)| name == "PATH");
        let folders = path.map(|(_, value)| value).unwrap_or_default();
        if is_there(Path::new(&self.program), &folders) {
            Ok(())
        } else {
            Err(Failure::NoAgentProgram { program: self.command.program().to_owned() })
        }
    }

    pub(crate) async fn run(&self, spec: &RunSpec, cancel: &CancellationToken) -> Result<UncheckedRun, RunError> {
        let mut journal = Journal::start(spec.activity.clone(), spec.secrets.clone()).within(&spec.checkout);
        let prompt = spec.prompt.whole(&spec.schema);
        journal.note(TraceKind::Prompt { text: prompt.clone() });
        let private = Private::make(&self.context.runs)?;
        let order = self.order(spec, &private).await?;
        let mut stream = AcpStream::new(Script {
            role: spec.role,
            session: session_of(spec),
            prompt,
            checkout: spec.checkout.clone(),
            level: self.context.sandbox.level(),
        });
        let (program, input_mode) = (self.command.program(), InputMode::Dialogue);
        let conversation = Conversation { program, order: &order, spec, input_mode, last: LAST };
        let ended = self.context.run_program(&conversation, &mut stream, &mut journal, cancel).await?;
        let concluded = conclude(spec, stream, journal, &ended);
        unreported_usage::add_door_usage(concluded, unreported_usage::Model::Perhaps, None, &order, spec).await
    }

    async fn order(&self, spec: &RunSpec, private: &Private) -> Result<Spec, RunError> {
        let mut order = Spec::new(&self.program, &spec.checkout).args(self.command.args());
        order.env = private.environment(spec, &self.context.environment, AccountVariables::AsNamed)?;
        order.stdin = AcpStream::opening();
        limit(&mut order, spec);
        let providers = [Provider::Anthropic, Provider::OpenAi];
        let config = private.folder("claude")?;
        order.env.push(("CLAUDE_CONFIG_DIR".into(), config.into_os_string()));
        let addresses =
            self.context.access.open_door(&mut order, spec, private, &providers, self.context.sandbox.level()).await?;
        if let Some((_, address)) = addresses.iter().find(|(provider, _)| *provider == Provider::OpenAi) {
            let home = codex::home(private, address, spec.model.as_deref())?;
            order.env.retain(|(name, _)| name != "CODEX_HOME");
            order.env.extend(codex::variables(home));
        }
        Ok(order)
    }
}

/// Returns the session's parameters. `_meta` is for the adapters that know it; others ignore it.
fn session_of(spec: &RunSpec) -> Value {
    let mut options = json!({
        "settingSources": [],
        "strictMcpConfig": true,
        "maxTurns": spec.agent_turns,
        "outputFormat": { "type": "json_schema", "schema": schema::bare(&spec.schema) },
    });
    if let Some(options) = options.as_object_mut() {
        options.insert("tools".to_owned(), json!(request_for(spec.role).tools));
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

fn conclude(spec: &RunSpec, stream: AcpStream, journal: Journal, ended: &SessionEnd) -> Result<UncheckedRun, RunError> {
    let said_all = stream.stop_reason.is_some() || stream.failed.is_some();
    let outcome = outcome::forced_end(spec, ended, said_all)
        .map_or_else(|| outcome(spec, &stream, ended).map_err(Unfinished::from), Err);
    let reported = ReportedUsage {
        tokens: stream.tokens,
        usd_micros: stream.usd_micros,
        estimated: false,
        model: spec.model.clone(),
        last_words: Some(stream.text),
    };
    outcome::unchecked_run(outcome, reported, journal, ended)
}

fn outcome(spec: &RunSpec, stream: &AcpStream, ended: &SessionEnd) -> Result<AgentAnswer, Failure> {
    if let Some(message) = &stream.failed {
        let words = message.to_lowercase();
        if words.contains("valid structured output") {
            return Ok(Err(NoAnswer::Malformed(plain(&spec.secrets, message, 500))));
        }
        return Err(if words.contains("maximum number of turns") {
            Failure::OutOfAgentTurns { turns: spec.agent_turns }
        } else {
            failure_from_message(spec, message)
        });
    }
    match stream.stop_reason.as_deref() {
        None => Err(outcome::no_output(&spec.secrets, &ended.finished)),
        Some("refusal") => Err(Failure::ModelRefused { message: plain(&spec.secrets, &stream.text, 500) }),
        Some("max_tokens") => Err(Failure::OutputLimit),
        Some("max_turn_requests") => Err(Failure::OutOfAgentTurns { turns: spec.agent_turns }),
        // An agent that was denied something may cancel its own turn, so its answer counts in any case.
        Some(_) => Ok(match stream.handed_in() {
            Some(answer) => Ok(answer.clone()),
            None => answer::last_object(&stream.text, &spec.schema).map(schema::without_nulls),
        }),
    }
}
