//! The `claude` back-end: one process of the Claude Code command line per run, which speaks in JSON lines.

mod answer;
mod init;
mod order;
mod stream;

use crate::agents::Printed;
use crate::agents::RunError;
use crate::agents::RunSpec;
use crate::agents::access::Access;
use crate::agents::access::Provider;
use crate::agents::claude::stream::Stream;
use crate::agents::ending::never_ran;
use crate::agents::ending::started;
use crate::agents::journal::Journal;
use crate::agents::past;
use crate::agents::private::Private;
use crate::agents::program::Program;
use crate::agents::program::Version;
use crate::agents::session;
use crate::agents::session::Patience;
use crate::agents::session::Speech;
use crate::domain::blocked::AgentFailure;
use crate::domain::trace::TraceKind;
use crate::sandbox::Sandbox;
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The oldest version that was seen to do all that is asked of it.
const LEAST: Version = Version(2, 1, 197);
/// The longest that one command of the agent may take.
const COMMAND: Duration = Duration::from_secs(10 * 60);
/// The program itself notices a stalled model only after five minutes.
const MODEL: Duration = Duration::from_secs(330);
/// What the program may take from its result to its end.
const LAST: Duration = Duration::from_secs(10);

/// The Claude Code command line.
#[derive(Clone, Debug)]
pub(crate) struct ClaudeAgent {
    program: Program,
    sandbox: Sandbox,
    environment: Vec<String>,
    runs: PathBuf,
    access: Access,
}

impl ClaudeAgent {
    pub(crate) fn new(sandbox: Sandbox, environment: Vec<String>, runs: PathBuf, access: Access) -> Self {
        Self {
            program: Program::new("claude", LEAST),
            sandbox,
            environment,
            runs,
            access,
        }
    }

    /// Whether it can be run at all.
    pub(crate) async fn check(&self) -> Result<(), AgentFailure> {
        self.program.check(&self.sandbox, &self.runs).await?;
        self.access.check(Provider::Anthropic)
    }

    pub(crate) async fn run(&self, spec: &RunSpec, cancel: &CancellationToken) -> Result<Printed, RunError> {
        let mut journal = Journal::start(spec.activity.clone(), spec.secrets.clone());
        let told = spec.prompt.by_tool();
        journal.note(TraceKind::Prompt { text: told.clone() });
        self.check().await.map_err(never_ran)?;
        let private = Private::make(&self.runs)?;
        let order = self.order(spec, told, &private).await?;
        let mut stream = Stream::new(order::asked(spec.role), self.access.login);
        let listener: &mut dyn session::Listener = &mut stream;
        let talk = (listener, &mut journal);
        let ended = session::run(&self.sandbox, &order, Speech::Once, patience(spec), talk, cancel).await;
        drop(private);
        let ended = started(ended, self.program.name)?;
        let told = stream.told();
        past::counted(answer::conclude(spec, stream, journal, &ended), told, &order)
    }
}

/// How long the program may be silent: as long as the caller says, and longer while one of its own commands runs.
fn patience(spec: &RunSpec) -> Patience {
    let model = spec.idle.map_or(MODEL, |idle| idle.min(MODEL));
    Patience {
        model,
        tool: model.max(COMMAND.saturating_add(Duration::from_secs(60))),
        last: LAST,
    }
}
