//! What every back-end that runs a program of an agent is given, and the terms on which all of them run.

use crate::agents::{
    access::Access,
    journal::Journal,
    outcome::started,
    run::{RunError, RunSpec},
    session,
    session::{Ended, Listener, Patience, Speech},
};
use sandbox::{OutputCap, Sandbox, Spec};
use std::{path::PathBuf, time::Duration};
use tokio_util::sync::CancellationToken;

/// An agent that prints more than this is stopped.
const MOST_OUTPUT: u64 = 256 << 20;
const KEPT_OUTPUT: usize = 16 << 10;
/// From being asked to end to being killed.
const GRACE: Duration = Duration::from_secs(5);
/// How long a program may be silent while its model works: programs notice a stalled one only after five minutes.
const MODEL: Duration = Duration::from_secs(330);
/// The longest that one command of an agent may take.
pub(crate) const COMMAND: Duration = Duration::from_secs(10 * 60);

/// Variables that agents' programs know, the same for every run.
pub(crate) const FIXED: [(&str, &str); 8] = [
    // A prompt holds words of others and is words alone: `@/etc/passwd` in it must not become that file's content.
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    // How to commit and to open pull requests, which no agent does here: 1,800 tokens of every request.
    ("CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "3"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
];

/// What a back-end is given.
#[derive(Clone, Debug)]
pub(crate) struct RunContext {
    /// The one door for foreign programs.
    pub(crate) sandbox: Sandbox,
    /// Variables of the service that agents get.
    pub(crate) environment: Vec<String>,
    /// Where private folders of running agents are.
    pub(crate) runs: PathBuf,
    /// How programs reach their models.
    pub(crate) access: Access,
}

impl RunContext {
    /// Runs a program that speaks in lines and lets `listener` hear every line. `last` is what it may take from its last
    /// word to its end.
    pub(crate) async fn hear(
        &self,
        (program, order, spec): (&str, &Spec, &RunSpec),
        (speech, last): (Speech, Duration),
        (listener, journal): (&mut dyn Listener, &mut Journal),
        cancel: &CancellationToken,
    ) -> Result<Ended, RunError> {
        let model = spec.idle.map_or(MODEL, |idle| idle.min(MODEL));
        let patience = Patience {
            model,
            tool: model.max(COMMAND.saturating_add(Duration::from_secs(60))),
            last,
        };
        let ended = session::run(&self.sandbox, order, speech, patience, (listener, journal), cancel).await;
        started(ended, program)
    }
}

/// Sets what `order` may take and print.
pub(crate) fn limit(order: &mut Spec, spec: &RunSpec) {
    order.deadline = spec.deadline;
    order.grace = GRACE;
    order.stdout = OutputCap {
        head: KEPT_OUTPUT,
        tail: KEPT_OUTPUT,
        stop_after: Some(MOST_OUTPUT),
    };
    order.stderr = order.stdout;
    order.env.extend(FIXED.map(|(name, value)| (name.into(), value.into())));
}
