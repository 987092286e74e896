//! A checkout in which commands can run, and the ways to run them.

use crate::gates::{
    commands::CommandChoice,
    files, gate_result,
    run::{
        cache,
        cache::{SetUpFiles, UntrackedFiles},
        checkout::{RunRequest, SandboxedCheckout},
        context::GateError,
        ended::could_not_start,
        put_back::SetUpTraces,
        used::Stamps,
    },
};
use domain::{
    evidence::{Absence, Additions, Evidence, Fact, StartFailure},
    refused_host::RefusedHost,
};
use runners::test_line::Invocation;
use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};
use text::shell_command::ShellCommand;

#[derive(Clone, Copy)]
pub(super) enum RunTarget<'a> {
    /// The tests, by this form of the test command.
    Tests(&'a Invocation),
    /// A command of a plan.
    Command(&'a str),
}

impl RunTarget<'_> {
    /// Returns the part of the cache key that distinguishes it from other lines on the same files.
    pub(super) fn key(self) -> String {
        match self {
            Self::Tests(line) => line.key(),
            Self::Command(command) => format!("{command}\0command"),
        }
    }
}

/// A checkout in which commands can run.
pub(crate) struct Ready<'a> {
    pub(crate) checkout: SandboxedCheckout,
    pub(super) chosen: Arc<CommandChoice>,
    pub(super) coverage_file: Option<&'a str>,
    pub(crate) setup: Option<Evidence>,
    /// The hosts that set-up could not reach.
    pub(crate) refused: Vec<RefusedHost>,
    pub(crate) touched: SetUpTraces,
    pub(super) laid: Vec<PathBuf>,
    /// The state before anything ran; `None` if the checkout cannot be used again.
    pub(super) stamps: Option<Stamps>,
    pub(super) deadline: Duration,
    pub(super) additions: Additions,
}

impl Ready<'_> {
    /// `true` if set-up did not fail, so that commands can run.
    pub(crate) fn is_ready(&self) -> bool {
        !matches!(self.setup, Some(Evidence::Failed(_) | Evidence::Absent(_)))
    }

    pub(crate) fn within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    pub(crate) async fn untracked_files(&self, tracked: &BTreeSet<String>) -> Result<UntrackedFiles, GateError> {
        UntrackedFiles::of(self.checkout.path(), tracked).await
    }

    pub(crate) async fn inspect_made(&self, left: &UntrackedFiles, tracked: &BTreeSet<String>) -> SetUpFiles {
        if self.touched.rewritten.is_empty() && self.touched.executable.is_empty() {
            cache::inspect(&self.checkout, left, tracked).await
        } else {
            SetUpFiles::OfFiles
        }
    }

    pub(crate) async fn tests(&self) -> Result<Evidence, GateError> {
        self.tests_by(&self.chosen.test_line.invocation(self.additions)).await
    }

    pub(super) async fn run(&self, what: RunTarget<'_>) -> Result<Evidence, GateError> {
        match what {
            RunTarget::Tests(line) => self.tests_by(line).await,
            RunTarget::Command(command) => self.command(command).await,
        }
    }

    pub(crate) async fn tests_by(&self, line: &Invocation) -> Result<Evidence, GateError> {
        let Some(command) = &self.chosen.test else {
            return Ok(Evidence::Absent(Absence::NoCommand));
        };
        if !self.is_ready() {
            return Ok(Evidence::Absent(Absence::NotReached));
        }
        if let Some(file) = self.coverage_file {
            // An old coverage file must not count as a measurement. If it cannot be removed, reading it fails later.
            let _ = files::clear(self.checkout.path(), file);
        }
        let order = RunRequest {
            report: self.chosen.report.as_deref(),
            report_folders: self.report_folders(),
            ..self.order(command, line)
        };
        let evidence = self.checkout.run(&order).await?;
        Ok(self.with_rewritten(evidence))
    }

    /// Builds the tests without running them, if their runner can. So the build becomes part of the prepared checkout
    /// before any test writes to it. Returns `false` if there was nothing to build.
    pub(super) async fn build(&self) -> Result<bool, GateError> {
        let Some((command, line)) = self.chosen.test.as_ref().zip(self.chosen.test_line.building()) else {
            return Ok(false);
        };
        // If the build fails, the test run reports it.
        let line = Invocation::plain(&line);
        self.checkout.run(&self.order(command, &line)).await?;
        Ok(true)
    }

    /// Returns the folders in which the tests may store results, if the settings name no file.
    fn report_folders(&self) -> &[String] {
        match &self.chosen.report {
            Some(_) => &[],
            None => &self.chosen.report_folders,
        }
    }

    fn order<'o>(&'o self, command: &'o ShellCommand, line: &'o Invocation) -> RunRequest<'o> {
        RunRequest {
            command,
            as_line: line,
            deadline: self.deadline,
            refused: None,
            report: None,
            report_folders: &[],
            reaches: &self.chosen.reaches,
        }
    }

    /// Notes the restored files if there is an overlay. Without one, the integrity rules report them; with one, nothing else
    /// would.
    fn with_rewritten(&self, evidence: Evidence) -> Evidence {
        let files = &self.touched.rewritten;
        if self.laid.is_empty() || files.is_empty() {
            evidence
        } else {
            gate_result::add_fact(evidence, Fact::Restored(files.clone()))
        }
    }

    /// Runs one command exactly as a plan, the settings or a model wrote it.
    pub(crate) async fn command(&self, command: &str) -> Result<Evidence, GateError> {
        if !self.is_ready() {
            return Ok(Evidence::Absent(Absence::NotReached));
        }
        match command.parse::<ShellCommand>() {
            Ok(command) => {
                let line = Invocation::plain(command.text());
                self.checkout.run(&self.order(&command, &line)).await
            }
            Err(error) => Ok(could_not_start(command, StartFailure::Message(error.to_string()))),
        }
    }
}
