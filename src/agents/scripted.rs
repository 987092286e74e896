//! The `scripted` back-end: a file of prepared steps instead of a program.

use crate::agents::{
    answer, checkout_writer, memory,
    record::Record,
    run::{RunError, RunSpec, UncheckedRun},
    script,
    script::{ScriptStep, ScriptedFailure},
};
use domain::{
    blocked::{Failure, SpentScript},
    budget::CostReporting,
};
use std::{
    io,
    path::{Path, PathBuf},
};
use text::usage::Usage;

const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// A script, and the folder that records which of its steps were taken.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedAgent {
    file: PathBuf,
    state_dir: PathBuf,
}

impl ScriptedAgent {
    pub(crate) fn new(file: &Path, state_dir: PathBuf) -> Self {
        Self { file: std::path::absolute(file).unwrap_or_else(|_| file.to_owned()), state_dir }
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        self.steps().map(|_| ())
    }

    /// Returns `Cost` if at least one step of the script reports its usage.
    pub(crate) fn cost_reporting(&self) -> CostReporting {
        let reports_usage = self.steps().is_ok_and(|steps| steps.iter().any(|step| step.usage.is_some()));
        if reports_usage { CostReporting::Cost } else { CostReporting::Nothing }
    }

    pub(crate) async fn run(&self, spec: &RunSpec, earlier: u32) -> Result<UncheckedRun, RunError> {
        let (agent, spec) = (self.clone(), spec.clone());
        let ran = tokio::task::spawn_blocking(move || agent.run_blocking(&spec, earlier)).await;
        ran.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(RunError::Host { doing: "playing a script", source: io::Error::other(error) }),
        })
    }

    fn run_blocking(&self, spec: &RunSpec, earlier: u32) -> Result<UncheckedRun, RunError> {
        let steps = self.steps().map_err(failed)?;
        let step = self.take(&steps, spec, earlier)?;
        for (path, text) in &step.write {
            checkout_writer::write(&spec.checkout, path, text)
                .map_err(|error| failed(format!("writing {}: {error}", path.display())))?;
        }
        for path in &step.delete {
            checkout_writer::delete(&spec.checkout, path)
                .map_err(|error| failed(format!("deleting {}: {error}", path.display())))?;
        }
        let answer = step.answer.as_ref().map(ToString::to_string).unwrap_or_default();
        let usage = step.usage.unwrap_or_default();
        let failure = match &step.fail {
            None => return Ok(printed(answer, usage, spec)),
            Some(ScriptedFailure::Garbage) => {
                let words = "no answer, as scripted".to_owned();
                return Ok(printed(words, usage, spec));
            }
            Some(ScriptedFailure::Exit) => Failure::AgentFailed { message: "exit code 1, as scripted".to_owned() },
            Some(ScriptedFailure::Timeout) => Failure::TimedOut { seconds: spec.deadline.as_secs() },
            Some(ScriptedFailure::Model(failure)) => failure.clone(),
        };
        let record = Box::new(Record { usage, ..once() });
        Err(RunError::Agent { failure, record })
    }

    fn take<'a>(&self, steps: &'a [ScriptStep], spec: &RunSpec, earlier: u32) -> Result<&'a ScriptStep, RunError> {
        let fits = |step: &ScriptStep| step.matches(spec.role, spec.task, Some(spec.turn.0));
        let fitting: Vec<usize> = (0..).zip(steps).filter(|(_, step)| fits(step)).map(|(at, _)| at).collect();
        let key = format!("{}#{earlier}", spec.run_key);
        let taken = memory::take(&self.state_dir, &self.file, &spec.request, &key, &fitting)
            .map_err(|source| RunError::Host { doing: "remembering a script's step", source })?;
        taken.and_then(|at| steps.get(at)).ok_or_else(|| RunError::Agent {
            failure: Failure::ScriptSpent(SpentScript {
                script: self.file.clone(),
                steps: steps.len(),
                fitting: fitting.len(),
                role: spec.role.to_string(),
                task: spec.task,
                turn: spec.turn,
            }),
            record: Box::new(once()),
        })
    }

    fn steps(&self) -> Result<Vec<ScriptStep>, String> {
        let shown = self.file.display();
        let text = read(&self.file).map_err(|error| format!("{shown} cannot be read: {error}"))?;
        script::read(&text).map_err(|mistake| format!("{shown}: {mistake}"))
    }
}

fn read(file: &Path) -> io::Result<String> {
    match std::fs::metadata(file)? {
        found if !found.is_file() => Err(io::Error::other("it is not a file")),
        found if found.len() > MAX_BYTES => Err(io::Error::other("it is too large")),
        _ => std::fs::read_to_string(file),
    }
}

fn printed(words: String, usage: Usage, spec: &RunSpec) -> UncheckedRun {
    let record = Record { log: words.clone(), usage, ..once() };
    UncheckedRun { answer: answer::last_object(&words, &spec.schema), words, record }
}

fn failed(how: String) -> RunError {
    RunError::Agent { failure: Failure::AgentFailed { message: how }, record: Box::new(once()) }
}

/// Returns the record of one run that used nothing.
fn once() -> Record {
    Record { runs: 1, ..Record::default() }
}
