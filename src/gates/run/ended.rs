//! Turns a finished command into evidence: from its exit code, its output, and its results file.

use crate::gates::{
    files, output,
    run::{
        checkout::{RunRequest, SandboxedCheckout},
        context::GateError,
        report_files,
    },
};
use domain::evidence::{Absence, Evidence, Fact, Finding, StartFailure, Symptoms, TestNames};
use git::blocking;
use runners::{results, results::RunResults};
use sandbox::{
    Exit, Finished,
    egress::{Door, Outcome},
};
use std::collections::BTreeSet;
use text::{shell_command::ShellCommand, shorten};

/// The largest results file that is read, in bytes.
const MAX_REPORT: u64 = 64 * 1024 * 1024;
/// The largest log of failing tests that is read, in bytes.
const MAX_LOG: u64 = 1024 * 1024;
/// The most logs that are read.
const MAX_LOGS: usize = 10;
const MAX_FAILING: usize = 50;
/// The most refused hosts that are named.
const MAX_NAMED: usize = 10;
/// The longest test name that is kept, in characters. Names that are cut may become equal.
const MAX_NAME: usize = 4_000;

/// Returns the exit code of a command that was not cancelled; `None` if it did not end by itself.
pub(super) fn code(exit: Exit) -> Result<Option<i32>, GateError> {
    match exit {
        Exit::Exited(code) => Ok(Some(code)),
        Exit::Cancelled => Err(GateError::Cancelled),
        Exit::Signalled(_)
        | Exit::TimedOut
        | Exit::Idle
        | Exit::HostRefused
        | Exit::TooMuchOutput
        | Exit::OverLimit(_)
        | Exit::Escaped => Ok(None),
    }
}

impl SandboxedCheckout {
    pub(super) async fn evidence(&self, order: &RunRequest<'_>, finished: &Finished) -> Result<Evidence, GateError> {
        let command = order.command;
        let code = code(finished.exit)?;
        let [mut stdout, stderr] =
            [&finished.stdout, &finished.stderr].map(|stream| output::plain(&stream.text(), &self.visible_path()));
        if code != Some(0) {
            let logs = self.logs(command, &stdout).await;
            stdout.push_str(&logs);
        }
        let output = output::join_streams(&stdout, &stderr, &self.context.secrets);
        let bare = Finding {
            command: command.text().to_owned(),
            exit_code: code,
            output,
            facts: stopped(finished.exit).into_iter().collect(),
            ..Finding::default()
        };
        let finding = self.with_results(bare, results::read(&stdout, &stderr));
        if let Some(reason) = missing_runner(command, &finding) {
            return Ok(could_not_start(command.text(), StartFailure::Message(reason)));
        }
        let mut finding = match self.reported(order, finding, code).await {
            Ok(finding) => self.add_stored(order, finding).await,
            Err(absent) => return Ok(absent),
        };
        self.explain(&mut finding, [&stdout, &stderr]);
        let begun = results::unfinished_test(&stdout, &stderr).map(|test| self.name(&test));
        Ok(match finished.exit {
            Exit::Exited(0) => Evidence::Passed(finding),
            Exit::TimedOut | Exit::Idle => Evidence::Absent(Absence::TimedOut {
                command: command.text().to_owned(),
                seconds: order.deadline.as_secs(),
                in_test: begun,
                failed: finding.names.map(|names| names.failed).unwrap_or_default(),
            }),
            Exit::OverLimit(_) | Exit::Signalled(_) => {
                // The test that was running when a signal or a limit ended the command counts as failed.
                if let Some(test) = begun {
                    finding.names.get_or_insert_default().failed.push(test);
                }
                Evidence::Failed(finding)
            }
            Exit::Exited(_) | Exit::HostRefused | Exit::Cancelled | Exit::TooMuchOutput | Exit::Escaped => {
                Evidence::Failed(finding)
            }
        })
    }

    /// Replaces the results from the output by those of the results file. If the command failed without writing the
    /// file, it still failed; if it succeeded without the file, there is no evidence.
    async fn reported(&self, order: &RunRequest<'_>, finding: Finding, code: Option<i32>) -> Result<Finding, Evidence> {
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
            (Err(reason), Some(_)) => Err(unreadable(path, reason)),
        }
    }

    /// Takes the results from the files that the command stored by itself, if its output names no test.
    async fn add_stored(&self, order: &RunRequest<'_>, finding: Finding) -> Finding {
        if order.report_folders.is_empty() || finding.names.is_some() {
            return finding;
        }
        let (root, folders) = (self.path().to_path_buf(), order.report_folders.to_vec());
        let reading = blocking(move || results::junit_files(&report_files::read(&root, &folders)));
        match reading.await {
            Ok(Some(read)) => self.with_results(finding, read),
            Ok(None) | Err(_) => finding,
        }
    }

    /// Adds the results to a finding. Foreign programs choose the names, so they are masked and shortened like all
    /// output.
    fn with_results(&self, finding: Finding, read: RunResults) -> Finding {
        let all = |names: Vec<String>| names.iter().map(|name| self.name(name)).collect::<Vec<_>>();
        Finding {
            counts: read.counts,
            failing: all(read.failing.into_iter().take(MAX_FAILING).collect()),
            names: read.names.map(|names| TestNames {
                passed: all(names.passed),
                failed: all(names.failed),
                skipped: all(names.skipped),
            }),
            unfit: all(results::unfit(&read.texts)),
            symptoms: Box::new(self.symptoms(&read.texts)),
            ..finding
        }
    }

    /// Returns the common texts of the failures, masked because foreign programs choose them.
    fn symptoms(&self, texts: &[(String, String)]) -> Symptoms {
        let mask = |line: &str| self.context.secrets.mask(line);
        let masked: Vec<(&str, String)> = texts.iter().map(|(test, line)| (test.as_str(), mask(line))).collect();
        let failures = masked.iter().map(|(test, line)| (*test, line.as_str()));
        Symptoms::new(failures, results::system_error)
    }

    /// Returns the files to which the runner wrote the output of failing tests instead of printing it.
    async fn logs(&self, command: &ShellCommand, stdout: &str) -> String {
        let folder = command.text().strip_prefix("cd ").and_then(|rest| rest.split_once(" && "));
        let folder = folder.map_or_else(String::new, |(folder, _)| format!("{}/", folder.trim_matches(['\'', '"'])));
        let named: BTreeSet<&str> = results::logs(stdout).take(MAX_LOGS).collect();
        let paths: Vec<String> = named.iter().map(|path| format!("{folder}{path}")).collect();
        let root = self.path().to_path_buf();
        let reading = blocking(move || {
            let read = |path: &String| files::read(&root, path, MAX_LOG);
            paths.iter().flat_map(read).collect::<Vec<_>>()
        });
        let logs = reading.await.unwrap_or_default();
        let logs = logs.iter().map(|log| output::plain(&String::from_utf8_lossy(log), &self.visible_path()));
        let new = logs.filter(|log| !stdout.contains(log.trim()));
        new.fold(String::new(), |text, log| format!("{text}\n{log}"))
    }

    /// Explains failures whose own text names no error by the errors that the output names.
    fn explain(&self, finding: &mut Finding, output: [&str; 2]) {
        if finding.symptoms.has_unexplained() {
            let mut named = results::error_lines(output.iter().flat_map(|text| text.lines()));
            for lines in &mut named {
                lines.first = self.context.secrets.mask(&lines.first);
            }
            finding.symptoms.explain(&named);
        }
    }

    fn name(&self, test: &str) -> String {
        shorten::middle(&self.context.secrets.mask(test), MAX_NAME)
    }
}

/// Returns the reason for which AutoBuild ended the command, if the rest of the evidence lacks it.
fn stopped(exit: Exit) -> Option<Fact> {
    match exit {
        Exit::OverLimit(limit) => Some(Fact::OverLimit(limit)),
        Exit::HostRefused => Some(Fact::WaitedForHost),
        Exit::Exited(_)
        | Exit::Signalled(_)
        | Exit::TimedOut
        | Exit::Idle
        | Exit::Cancelled
        | Exit::TooMuchOutput
        | Exit::Escaped => None,
    }
}

/// Adds the refused hosts to a failure, since programs rarely report a refusal clearly.
pub(super) fn explained(mut evidence: Evidence, door: Option<&Door>) -> Evidence {
    let Evidence::Failed(finding) = &mut evidence else {
        return evidence;
    };
    let decisions = door.map(Door::log).unwrap_or_default();
    let refused = decisions.into_iter().filter_map(|decision| match decision.outcome {
        Outcome::Refused(why) if why.concerns_host() => Some((format!("{}: {why}", decision.host), decision.host)),
        Outcome::Refused(_) | Outcome::Allowed => None,
    });
    for (line, host) in refused.take(MAX_NAMED) {
        finding.symptoms.refused.push(host);
        let is_inside_line = !finding.output.is_empty() && !finding.output.ends_with('\n');
        let end = if is_inside_line { "\n" } else { "" };
        finding.output += &format!("{end}autobuild: not reached: {line}");
    }
    evidence
}

pub(super) fn could_not_start(command: &str, reason: StartFailure) -> Evidence {
    Evidence::Absent(Absence::CouldNotStart { command: command.to_owned(), reason })
}

pub(super) fn unreadable(path: &str, reason: String) -> Evidence {
    Evidence::Absent(Absence::Unreadable { path: path.to_owned(), reason, after: None })
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
