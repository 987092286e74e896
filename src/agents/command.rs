//! The `command` back-end: any program that reads the prompt on standard input and prints the answer at the end of its
//! standard output.

use crate::agents::{
    answer, outcome,
    outcome::or_not_started,
    private::{AccountVariables, Private},
    record::Record,
    run::{RunContext, RunError, RunSpec, UncheckedRun},
};
use domain::blocked::Failure;
use sandbox::{Confine, Exit, Finished, OutputCap, Spec};
use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};
use text::{command_line::CommandLine, shorten, usage::Usage};
use tokio_util::sync::CancellationToken;

/// The number of bytes of output after which an agent is stopped.
const MOST_OUTPUT: u64 = 256 << 20;
/// The number of bytes kept from the end of standard output. No answer can be longer.
const KEPT_OUTPUT: usize = 4 * 1024 * 1024;
const KEPT_ERRORS: usize = 64 * 1024;
const MAX_LOG: usize = 8_000;
const MAX_COMPLAINT: usize = 500;

#[derive(Clone, Debug)]
pub(crate) struct CommandAgent {
    command: CommandLine,
    program: OsString,
    context: RunContext,
}

impl CommandAgent {
    pub(crate) fn new(command: CommandLine, context: RunContext) -> Self {
        Self { program: program(&command), command, context }
    }

    /// Checks that the program exists. A relative path is looked up in each checkout, so it is not checked here.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let program = Path::new(&self.program);
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let is_of_checkout = program.is_relative() && program.components().count() > 1;
        if is_of_checkout || is_there(program, &folders) {
            Ok(())
        } else {
            Err(Failure::NoAgentProgram { program: self.command.program().to_owned() })
        }
    }

    pub(crate) async fn run(&self, spec: &RunSpec, cancel: &CancellationToken) -> Result<UncheckedRun, RunError> {
        let private = Private::make(&self.context.runs)?;
        let order = self.order(spec, &private)?;
        let finished = self.context.sandbox.run(&order, cancel).await;
        read_result(spec, &or_not_started(finished, self.command.program())?)
    }

    /// Makes the paths visible that the operator's command names.
    fn confine(&self, spec: &RunSpec, private: &Private) -> Confine {
        let mut confine = private.confine(spec);
        let words = self.command.args().iter().map(Path::new);
        let named = words.filter(|word| word.is_absolute() && word.exists());
        let visible = named.flat_map(|path| self.context.sandbox.around(path));
        confine.read.extend(visible);
        confine
    }

    fn order(&self, spec: &RunSpec, private: &Private) -> Result<Spec, RunError> {
        let mut order = Spec::new(&self.program, &spec.checkout).args(self.command.args());
        order.env = private.environment(spec, &self.context.environment, AccountVariables::AsNamed)?;
        order.confine = self.confine(spec, private);
        order.stdin = spec.prompt.whole(&spec.schema).into_bytes();
        order.deadline = spec.deadline;
        order.idle = spec.idle;
        order.stdout = OutputCap { head: MAX_LOG, tail: KEPT_OUTPUT, stop_after: Some(MOST_OUTPUT) };
        order.stderr = OutputCap { head: KEPT_ERRORS, tail: KEPT_ERRORS, stop_after: Some(MOST_OUTPUT) };
        Ok(order)
    }
}

/// Returns `true` if a program exists: as a path, or else by its name in one of the folders of a `PATH`.
pub(crate) fn is_there(program: &Path, folders: &OsStr) -> bool {
    if program.components().count() > 1 {
        program.is_file()
    } else {
        std::env::split_paths(folders).any(|folder| folder.join(program).is_file())
    }
}

/// Returns the program's path. A relative path that exists in the service's own folder means that file, not one of the
/// checkout.
pub(crate) fn program(command: &CommandLine) -> OsString {
    let given = PathBuf::from(command.program());
    if given.is_relative()
        && given.components().count() > 1
        && given.is_file()
        && let Ok(whole) = std::path::absolute(&given)
    {
        return whole.into_os_string();
    }
    given.into_os_string()
}

fn read_result(spec: &RunSpec, finished: &Finished) -> Result<UncheckedRun, RunError> {
    let record = Record {
        log: log(spec, finished),
        usage: Usage { agent_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX), ..Usage::default() },
        level: Some(finished.level),
        runs: 1,
        ..Record::default()
    };
    let failure = match finished.exit {
        Exit::Exited(0) => {
            let words = String::from_utf8_lossy(&finished.stdout.end()).into_owned();
            let answer = answer::last_object(&words, &spec.schema);
            return Ok(UncheckedRun { answer, words, record });
        }
        Exit::Cancelled => {
            let record = Box::new(record);
            return Err(RunError::Cancelled { record });
        }
        exit @ (Exit::Exited(_) | Exit::Signalled(_) | Exit::OverLimit(_) | Exit::Escaped | Exit::HostRefused) => {
            match outcome::describe_exit(exit) {
                Ok(how) => Failure::AgentFailed { message: with_complaint(&how, spec, finished) },
                Err(fault) => outcome::fault(fault),
            }
        }
        Exit::TimedOut => Failure::TimedOut { seconds: spec.deadline.as_secs() },
        Exit::Idle => Failure::WentSilent { seconds: spec.idle.unwrap_or_default().as_secs() },
        Exit::TooMuchOutput => Failure::TooMuchOutput { bytes: MOST_OUTPUT },
    };
    let record = Box::new(record);
    Err(RunError::Agent { failure, record })
}

fn with_complaint(how: &str, spec: &RunSpec, finished: &Finished) -> String {
    let complaint = spec.secrets.mask(&finished.stderr.text());
    match complaint.trim() {
        "" => how.to_owned(),
        complaint => format!("{how}: {}", shorten::middle(complaint, MAX_COMPLAINT)),
    }
}

fn log(spec: &RunSpec, finished: &Finished) -> String {
    let both = outcome::with_stderr(finished, finished.stdout.text());
    shorten::middle(&spec.secrets.mask(&both), MAX_LOG)
}
