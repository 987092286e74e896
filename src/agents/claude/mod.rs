//! The `claude` back-end: one process of the Claude Code command line per run, which prints JSON lines.

mod answer;
mod init;
pub(crate) mod order;
mod stream;

use crate::agents::{
    access::Provider,
    claude::stream::ClaudeStream,
    journal::Journal,
    outcome::never_ran,
    private::Private,
    program::{Program, Version},
    run::{Conversation, RunContext, RunError, RunSpec, UncheckedRun},
    session::InputMode,
    unreported_usage,
};
use domain::{blocked::Failure, trace::TraceKind};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The oldest version that is known to do everything we need.
const LEAST: Version = Version(2, 1, 197);
/// The longest time from the program's result to its end.
const LAST: Duration = Duration::from_secs(10);

/// The Claude Code command line.
#[derive(Clone, Debug)]
pub(crate) struct ClaudeAgent {
    program: Program,
    context: RunContext,
}

impl ClaudeAgent {
    pub(crate) fn new(context: RunContext) -> Self {
        Self { program: Program::new("claude", LEAST), context }
    }

    pub(crate) async fn check(&self) -> Result<(), Failure> {
        self.program.check(&self.context.sandbox, &self.context.runs).await?;
        self.context.access.check(Provider::Anthropic)
    }

    pub(crate) async fn run(&self, spec: &RunSpec, cancel: &CancellationToken) -> Result<UncheckedRun, RunError> {
        let mut journal = Journal::start(spec.activity.clone(), spec.secrets.clone()).within(&spec.checkout);
        let prompt = spec.prompt.by_tool();
        journal.note(TraceKind::Prompt { text: prompt.clone() });
        self.check().await.map_err(never_ran)?;
        let private = Private::make(&self.context.runs)?;
        let order = self.order(spec, prompt, &private).await?;
        let mut stream = ClaudeStream::new(order::request_for(spec.role));
        let (program, input_mode) = (self.program.name, InputMode::Once);
        let conversation = Conversation { program, order: &order, spec, input_mode, last: LAST };
        let ended = self.context.run_program(&conversation, &mut stream, &mut journal, cancel).await;
        drop(private);
        let ended = ended?;
        let reported = stream.reported_tokens();
        let concluded = answer::conclude(spec, stream, journal, &ended);
        unreported_usage::add_door_usage(concluded, unreported_usage::Model::Ours, reported, &order, spec).await
    }
}
