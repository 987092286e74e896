//! Turns a program's end into the outcome of a run, for every back-end.

use crate::agents::{
    answer::{AgentAnswer, NoAnswer},
    journal::{Journal, plain},
    private::host,
    record::Record,
    run::{RunError, RunSpec, UncheckedRun},
    session::{EndReason, SessionEnd},
};
use domain::blocked::{AgentFault, Failure};
use sandbox::{Exit, Finished, StartError};
use text::{
    secret::Secrets,
    usage::{Tokens, Usage},
};

const MAX_LOG: usize = 8_000;
/// The limit for the last line of an error. It is short, since reports also show the end of the program's output.
const MAX_COMPLAINT: usize = 200;

/// Why a program's output is not used as an answer.
#[derive(Debug)]
pub(crate) enum Unfinished {
    Failed(Failure),
    Cancelled,
}

impl From<Failure> for Unfinished {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Returns the way in which a program was ended before its output was complete; `None` if its output counts.
pub(crate) fn forced_end(spec: &RunSpec, ended: &SessionEnd, is_complete: bool) -> Option<Unfinished> {
    match (&ended.stopped, ended.finished.exit) {
        (Some(EndReason::Failed(failure)), _) => Some(failure.clone().into()),
        (Some(EndReason::Lingered), _) => None,
        (None, Exit::Cancelled) => Some(Unfinished::Cancelled),
        (None, Exit::TimedOut) if !is_complete => {
            Some(Unfinished::Failed(Failure::TimedOut { seconds: spec.deadline.as_secs() }))
        }
        (None, Exit::TooMuchOutput) => Some(Unfinished::Failed(Failure::TooMuchOutput {
            bytes: ended.finished.stdout.total().max(ended.finished.stderr.total()),
        })),
        (None, Exit::OverLimit(limit)) => Some(Unfinished::Failed(fault(AgentFault::OverLimit(limit)))),
        (
            None,
            Exit::TimedOut | Exit::Idle | Exit::HostRefused | Exit::Exited(_) | Exit::Signalled(_) | Exit::Escaped,
        ) => None,
    }
}

/// Returns the failure of a program that ended without reporting a result.
pub(crate) fn no_output(secrets: &Secrets, finished: &Finished) -> Failure {
    let how = match describe_exit(finished.exit) {
        Ok(how) => how,
        Err(why) => return fault(why),
    };
    let stderr = finished.stderr.text();
    let last = stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let complaint = plain(secrets, last.trim(), MAX_COMPLAINT);
    Failure::AgentFailed {
        message: if complaint.is_empty() { format!("{how}, without a result") } else { format!("{how}: {complaint}") },
    }
}

pub(crate) fn fault(fault: AgentFault) -> Failure {
    Failure::AgentFault { fault }
}

/// Returns a description of a program's end for a message, or the fault if the end itself is one.
pub(crate) fn describe_exit(exit: Exit) -> Result<String, AgentFault> {
    match exit {
        Exit::Exited(code) => Ok(format!("exit code {code}")),
        Exit::Signalled(signal) => Ok(format!("ended by signal {signal}")),
        Exit::Escaped => Err(AgentFault::KilledLauncher),
        Exit::OverLimit(limit) => Err(AgentFault::OverLimit(limit)),
        Exit::TimedOut | Exit::Idle | Exit::HostRefused | Exit::Cancelled | Exit::TooMuchOutput => {
            Ok("it was stopped".to_owned())
        }
    }
}

/// Returns the end of the output for people: standard error and the last message, or else the output.
fn log(journal: &Journal, last_words: Option<&str>, finished: &Finished) -> String {
    let said = match last_words {
        Some(words) if !words.is_empty() => words.to_owned(),
        _ => for_people(&finished.stdout.text()).unwrap_or_else(|| journal.last_text().to_owned()),
    };
    journal.plain(&with_stderr(finished, said), MAX_LOG)
}

/// Returns the text on standard error, if there is any, followed by `said`.
pub(crate) fn with_stderr(finished: &Finished, said: String) -> String {
    match finished.stderr.text().trim() {
        "" => said,
        complaints => format!("{complaints}\n{said}"),
    }
}

/// Returns the printed lines that are not part of the program's JSON stream; `None` if there are none.
fn for_people(stdout: &str) -> Option<String> {
    let lines: Vec<&str> = stdout.lines().filter(|line| !line.starts_with('{')).collect();
    let text = lines.join("\n");
    (!text.trim().is_empty()).then_some(text)
}

/// The program's own report about its run.
#[derive(Debug, Default)]
pub(crate) struct ReportedUsage {
    pub(crate) tokens: Tokens,
    /// The cost in millionths of a dollar, if it reported one.
    pub(crate) usd_micros: Option<u64>,
    /// `true` if the program only estimates the cost.
    pub(crate) estimated: bool,
    pub(crate) model: Option<String>,
    pub(crate) last_words: Option<String>,
}

/// Combines a run's outcome with the record of the run.
pub(crate) fn unchecked_run(
    outcome: Result<AgentAnswer, Unfinished>,
    reported: ReportedUsage,
    journal: Journal,
    ended: &SessionEnd,
) -> Result<UncheckedRun, RunError> {
    let usage = Usage {
        tokens: reported.tokens,
        usd_micros: reported.usd_micros,
        estimated: reported.estimated,
        agent_ms: journal.elapsed_ms(),
    };
    let how = match &outcome {
        Ok(Ok(_)) => "with an answer".to_owned(),
        Ok(Err(NoAnswer::Missing)) => "without an answer".to_owned(),
        Ok(Err(why)) => format!("with an unusable answer: {why}"),
        Err(Unfinished::Failed(failure)) => failure.to_string(),
        Err(Unfinished::Cancelled) => "cancelled".to_owned(),
    };
    let words = reported.last_words.clone().unwrap_or_default();
    let record = Record {
        log: log(&journal, reported.last_words.as_deref(), &ended.finished),
        usage,
        events: journal.end(usage, &how),
        model: reported.model,
        level: Some(ended.finished.level),
        runs: 1,
        has_unreported_usage: false,
        replaced: None,
    };
    match outcome {
        Ok(answer) => Ok(UncheckedRun { answer, words, record }),
        Err(Unfinished::Failed(failure)) => Err(RunError::Agent { failure, record: Box::new(record) }),
        Err(Unfinished::Cancelled) => Err(RunError::Cancelled { record: Box::new(record) }),
    }
}

/// Returns the end of a program that was started, or the error if it was not.
pub(crate) fn or_not_started<T>(ended: Result<T, StartError>, program: &str) -> Result<T, RunError> {
    ended.map_err(|error| match error {
        StartError::NotFound(_) | StartError::NotExecutable(_) => {
            never_ran(Failure::NoAgentProgram { program: program.to_owned() })
        }
        error @ (StartError::NoFolder(_) | StartError::Isolation(_) | StartError::TooLong | StartError::Refused(_)) => {
            host("starting the program")(std::io::Error::other(error))
        }
    })
}

/// Returns the failure of a run that never began and cost nothing.
pub(crate) fn never_ran(failure: Failure) -> RunError {
    RunError::Agent {
        failure,
        record: Box::new(Record {
            usage: Usage { usd_micros: Some(0), ..Usage::default() },
            runs: 1,
            ..Record::default()
        }),
    }
}
