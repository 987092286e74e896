//! Turns a finished command into evidence: from its exit code, its output, and its results file.

use crate::gates::{
    files, output, results,
    results::Read,
    run::{
        checkout::{Order, SandboxedCheckout},
        context::GateError,
    },
};
use domain::{
    evidence::{Absence, Counts, Evidence, Finding, TestNames},
    shell_command::ShellCommand,
    shorten,
};
use git::blocking;
use sandbox::{Exit, Finished};

/// The largest results file that is read, in bytes.
const MAX_REPORT: u64 = 64 * 1024 * 1024;
const MAX_FAILING: usize = 50;
/// The longest test name that is kept, in characters. Names that are cut may become equal.
const MAX_NAME: usize = 4_000;

impl SandboxedCheckout {
    pub(super) async fn ended(&self, order: &Order<'_>, finished: &Finished) -> Result<Evidence, GateError> {
        let command = order.command;
        let code = match finished.exit {
            Exit::Exited(code) => Some(code),
            Exit::Signalled(_) | Exit::TooMuchOutput | Exit::OverLimit(_) | Exit::Escaped => None,
            Exit::Cancelled => return Err(GateError::Cancelled),
            Exit::TimedOut | Exit::Idle => return Ok(self.stopped(order, finished).await),
        };
        let finding = self.finding(command, code, finished);
        if let Some(reason) = missing_runner(command, &finding) {
            return Ok(Evidence::Absent(Absence::CouldNotStart {
                command: command.text().to_owned(),
                reason,
            }));
        }
        let finding = match self.reported(order, finding, code).await {
            Ok(finding) => finding,
            Err(absent) => return Ok(absent),
        };
        let finding = match finished.exit {
            Exit::OverLimit(_) | Exit::Signalled(_) => with_failed(finding, self.begun(finished)),
            _ => finding,
        };
        match code {
            Some(0) => Ok(Evidence::Passed(finding)),
            _ => Ok(Evidence::Failed(finding)),
        }
    }

    /// Returns the evidence of a command that ran out of time.
    async fn stopped(&self, order: &Order<'_>, finished: &Finished) -> Evidence {
        let finding = match self
            .reported(order, self.finding(order.command, None, finished), None)
            .await
        {
            Ok(finding) => finding,
            Err(absent) => return absent,
        };
        Evidence::Absent(Absence::TimedOut {
            command: order.command.text().to_owned(),
            seconds: order.deadline.as_secs(),
            in_test: self.begun(finished),
            failed: finding.names.map(|names| names.failed).unwrap_or_default(),
        })
    }

    /// Returns the test that had begun and not ended when the command was stopped.
    fn begun(&self, finished: &Finished) -> Option<String> {
        let (stdout, stderr) = (self.plain(&finished.stdout.text()), self.plain(&finished.stderr.text()));
        results::begun(&stdout, &stderr).map(|test| self.name(&test))
    }

    /// Replaces the results from the output by those of the results file. If the command failed without writing the
    /// file, it still failed; if it succeeded without the file, there is no evidence.
    async fn reported(&self, order: &Order<'_>, finding: Finding, code: Option<i32>) -> Result<Finding, Evidence> {
        let Some(path) = order.report else { return Ok(finding) };
        let (root, file) = (self.path().to_path_buf(), path.to_owned());
        let reading = blocking(move || {
            let bytes = files::read(&root, &file, MAX_REPORT).map_err(|error| error.to_string())?;
            results::junit(&bytes).map_err(|error| error.to_string())
        });
        let read = reading.await.unwrap_or_else(|error| Err(error.to_string()));
        match (read, code) {
            (Ok(read), _) => Ok(self.with_results(finding, read)),
            (Err(_), Some(1..) | None) => Ok(finding),
            (Err(reason), Some(_)) => Err(unreadable(Some(path), &reason)),
        }
    }

    fn finding(&self, command: &ShellCommand, exit_code: Option<i32>, finished: &Finished) -> Finding {
        let (stdout, stderr) = (self.plain(&finished.stdout.text()), self.plain(&finished.stderr.text()));
        let bare = Finding {
            command: command.text().to_owned(),
            exit_code,
            counts: Counts::Unknown,
            failing: Vec::new(),
            output: with_limit(output::shown(&stdout, &stderr, &self.context().secrets), finished.exit),
            names: None,
        };
        self.with_results(bare, results::read(&stdout, &stderr))
    }

    /// Adds the results to a finding. Foreign programs choose the names, so they are masked and shortened like all
    /// output.
    fn with_results(&self, finding: Finding, read: Read) -> Finding {
        let all = |names: Vec<String>| names.iter().map(|name| self.name(name)).collect::<Vec<_>>();
        Finding {
            counts: read.counts,
            failing: all(read.failing.into_iter().take(MAX_FAILING).collect()),
            names: read.names.map(|names| TestNames {
                passed: all(names.passed),
                failed: all(names.failed),
                skipped: all(names.skipped),
            }),
            ..finding
        }
    }

    fn name(&self, test: &str) -> String {
        shorten::middle(&self.context().secrets.mask(test), MAX_NAME)
    }

    /// Returns the output for people. The checkout's path is removed, since it varies and means nothing.
    fn plain(&self, text: &str) -> String {
        let plain = output::plain(text);
        match self.seen().to_str() {
            Some(path) => plain.replace(&format!("{path}/"), ""),
            None => plain,
        }
    }
}

/// Adds the test in which a signal or a limit ended the command: it failed.
fn with_failed(mut finding: Finding, test: Option<String>) -> Finding {
    if let Some(test) = test {
        finding.names.get_or_insert_default().failed.push(test);
    }
    finding
}

/// Appends the limit that ended the command, if one did.
fn with_limit(output: String, exit: Exit) -> String {
    let Exit::OverLimit(limit) = exit else { return output };
    format!("{output}\nAutoBuild stopped it: it used {limit}")
}

pub(super) fn unreadable(path: Option<&str>, reason: &impl ToString) -> Evidence {
    Evidence::Absent(Absence::Unreadable {
        path: path.unwrap_or_default().to_owned(),
        reason: reason.to_string(),
    })
}

/// Returns the error if Python started but the module, such as pytest in `python3 -m pytest`, does not exist. Then the
/// runner could not start.
fn missing_runner(command: &ShellCommand, finding: &Finding) -> Option<String> {
    let words = command.mentioned();
    let module = words.windows(2).find_map(|pair| match pair {
        [flag, module] if flag == "-m" => Some(module),
        _ => None,
    })?;
    let absent = format!("No module named {module}");
    let says_so = finding.output.lines().any(|line| line.trim_end().ends_with(&absent));
    (finding.exit_code == Some(1) && says_so).then_some(absent)
}
