//! Runs the commands in a clean checkout and says what was found.

use crate::config::CommandLine;
use crate::domain::evidence::Absence;
use crate::domain::evidence::Evidence;
use crate::domain::evidence::Finding;
use crate::domain::evidence::GateReport;
use crate::domain::mask;
use crate::domain::shorten;
use crate::gates::counts;
use crate::gates::output;
use crate::sandbox::Exit;
use crate::sandbox::Finished;
use crate::sandbox::OutputCap;
use crate::sandbox::Sandbox;
use crate::sandbox::Spec;
use crate::sandbox::StartError;
use crate::sandbox::environment;
use secrecy::ExposeSecret;
use secrecy::SecretString;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What is kept of each stream, for counting; far more than is shown.
const KEPT: OutputCap = OutputCap {
    head: 256 * 1024,
    tail: 2 * 1024 * 1024,
    stop_after: Some(1024 * 1024 * 1024),
};
const MAX_FAILING: usize = 50;
const MAX_NAME: usize = 200;

/// One run of the Gates.
#[derive(Clone, Debug)]
pub struct GateSpec {
    /// A clean checkout of the commit, used for nothing else.
    pub checkout: PathBuf,
    /// Prepares it.
    pub setup: Option<CommandLine>,
    /// Runs the tests.
    pub test: Option<CommandLine>,
    /// When set-up is stopped.
    pub setup_deadline: Duration,
    /// When the tests are stopped.
    pub test_deadline: Duration,
    /// Where private homes are made; may be emptied when no Gate runs.
    pub folder: PathBuf,
    /// The service's own secrets, to be masked wherever they might show.
    pub secrets: Vec<SecretString>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The caller cancelled.
    #[error("the Gates were cancelled")]
    Cancelled,
    /// The service itself could not run them.
    #[error("running the Gates: {doing}")]
    Host {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// Runs set-up and then, if that passed, the tests. The commands get no secrets, and share one private home.
///
/// # Errors
///
/// A cancellation, or a failure of the service itself. What a command does is evidence, never an error.
pub async fn run(spec: &GateSpec, sandbox: &Sandbox, cancel: &CancellationToken) -> Result<GateReport, GateError> {
    let private = std::fs::create_dir_all(&spec.folder)
        .and_then(|()| tempfile::Builder::new().prefix("gates-").tempdir_in(&spec.folder))
        .map_err(host("making a private folder"))?;
    let mut env = environment(private.path(), &[]).map_err(host("preparing the environment"))?;
    env.push(("CI".into(), "true".into()));
    let gates = Gates {
        spec,
        sandbox,
        cancel,
        env,
    };
    let report = gates.report().await;
    // A home full of packages is not removed on a thread that others wait for.
    drop(tokio::task::spawn_blocking(move || drop(private)));
    report
}

struct Gates<'a> {
    spec: &'a GateSpec,
    sandbox: &'a Sandbox,
    cancel: &'a CancellationToken,
    env: Vec<(OsString, OsString)>,
}

impl Gates<'_> {
    async fn report(&self) -> Result<GateReport, GateError> {
        let setup = match &self.spec.setup {
            Some(command) => Some(self.evidence(command, self.spec.setup_deadline).await?),
            None => None,
        };
        let tests = match (&setup, &self.spec.test) {
            (_, None) => Evidence::Absent(Absence::NoCommand),
            (Some(Evidence::Failed(_) | Evidence::Absent(_)), Some(_)) => Evidence::Absent(Absence::NotReached),
            (None | Some(Evidence::Passed(_)), Some(command)) => {
                self.evidence(command, self.spec.test_deadline).await?
            }
        };
        Ok(GateReport {
            setup,
            tests,
            excused: Vec::new(),
            more: Vec::new(),
        })
    }

    async fn evidence(&self, command: &CommandLine, deadline: Duration) -> Result<Evidence, GateError> {
        let mut order = Spec::new(command.program(), &self.spec.checkout).args(command.args());
        order.env.clone_from(&self.env);
        order.deadline = deadline;
        order.stdout = KEPT;
        order.stderr = KEPT;
        let could_not_start = |reason: String| {
            Evidence::Absent(Absence::CouldNotStart {
                command: command.text().to_owned(),
                reason,
            })
        };
        match self.sandbox.run(&order, self.cancel).await {
            Ok(finished) => self.ended(command, deadline, &finished),
            Err(StartError::NotFound(program)) => Ok(could_not_start(format!("program not found: {program}"))),
            Err(error @ (StartError::NotExecutable(_) | StartError::Refused(_))) => {
                Ok(could_not_start(error.to_string()))
            }
            Err(error @ StartError::NoFolder(_)) => Err(host("starting a command")(io::Error::other(error))),
        }
    }

    fn ended(&self, command: &CommandLine, deadline: Duration, finished: &Finished) -> Result<Evidence, GateError> {
        let code = match finished.exit {
            Exit::Exited(code) => Some(code),
            Exit::Signalled(_) | Exit::TooMuchOutput | Exit::Escaped => None,
            Exit::Cancelled => return Err(GateError::Cancelled),
            Exit::TimedOut | Exit::Idle => {
                return Ok(Evidence::Absent(Absence::TimedOut {
                    command: command.text().to_owned(),
                    seconds: deadline.as_secs(),
                }));
            }
        };
        let finding = self.finding(command, code, finished);
        if let Some(reason) = missing_runner(command, &finding) {
            return Ok(Evidence::Absent(Absence::CouldNotStart {
                command: command.text().to_owned(),
                reason,
            }));
        }
        match code {
            Some(0) => Ok(Evidence::Passed(finding)),
            _ => Ok(Evidence::Failed(finding)),
        }
    }

    fn finding(&self, command: &CommandLine, exit_code: Option<i32>, finished: &Finished) -> Finding {
        let secrets: Vec<&str> = self.spec.secrets.iter().map(ExposeSecret::expose_secret).collect();
        let (stdout, stderr) = (
            output::plain(&finished.stdout.text()),
            output::plain(&finished.stderr.text()),
        );
        let read = counts::read(&stdout, &stderr);
        let name = |name: &String| shorten::middle(&mask::secrets(name, &secrets), MAX_NAME);
        Finding {
            command: command.text().to_owned(),
            exit_code,
            counts: read.counts,
            failing: read.failing.iter().take(MAX_FAILING).map(name).collect(),
            output: output::shown(&stdout, &stderr, &secrets),
            names: None,
        }
    }
}

/// `python3 -m pytest` starts Python also where there is no pytest, which is then the runner that could not start.
fn missing_runner(command: &CommandLine, finding: &Finding) -> Option<String> {
    let [flag, module, ..] = command.args() else {
        return None;
    };
    let absent = format!("No module named {module}");
    let says_so = finding.output.lines().any(|line| line.trim_end().ends_with(&absent));
    (flag == "-m" && finding.exit_code == Some(1) && says_so).then_some(absent)
}

fn host(doing: &'static str) -> impl Fn(io::Error) -> GateError {
    move |source| GateError::Host { doing, source }
}
