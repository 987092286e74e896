//! A clean checkout of one commit with a private home, in which commands are run and then everything is thrown away.

use crate::domain::command_line::CommandLine;
use crate::domain::evidence::Absence;
use crate::domain::evidence::Counts;
use crate::domain::evidence::Evidence;
use crate::domain::evidence::Finding;
use crate::domain::evidence::TestNames;
use crate::domain::ids::Sha;
use crate::domain::network::HostRule;
use crate::domain::shorten;
use crate::gates::bench::Bench;
use crate::gates::bench::GateError;
use crate::gates::bench::host;
use crate::gates::commands::Chosen;
use crate::gates::files;
use crate::gates::naming;
use crate::gates::network;
use crate::gates::output;
use crate::gates::overlay::Overlay;
use crate::gates::results;
use crate::gates::results::Read;
use crate::git::Checkout;
use crate::git::Mirror;
use crate::git::blocking;
use crate::sandbox::Exit;
use crate::sandbox::Finished;
use crate::sandbox::OutputCap;
use crate::sandbox::Spec;
use crate::sandbox::StartError;
use crate::sandbox::environment;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What is kept of each stream, for counting; far more than is shown.
const KEPT: OutputCap = OutputCap {
    head: 256 * 1024,
    tail: 2 * 1024 * 1024,
    stop_after: Some(1024 * 1024 * 1024),
};
/// The largest results file that is read.
const MAX_REPORT: u64 = 64 * 1024 * 1024;
const MAX_FAILING: usize = 50;
const MAX_NAME: usize = 200;

/// A clean checkout with a private home. The commands in it get no secrets, and share the home.
pub(crate) struct Place<'a> {
    bench: &'a Bench,
    cancel: &'a CancellationToken,
    checkout: Checkout,
    env: Vec<(OsString, OsString)>,
    private: Home,
    /// Where the checkout borrows its objects.
    objects: PathBuf,
}

/// What is run and for how long at most.
pub(crate) struct Order<'a> {
    pub(crate) command: &'a CommandLine,
    /// Its arguments, where they are not those that people wrote: some make a runner name its tests.
    pub(crate) args: &'a [String],
    pub(crate) deadline: Duration,
    /// A results file that the command writes.
    pub(crate) report: Option<&'a str>,
    /// What it may reach.
    pub(crate) reaches: &'a [HostRule],
}

impl<'a> Place<'a> {
    pub(crate) async fn new(
        bench: &'a Bench,
        mirror: &Mirror,
        commit: &Sha,
        cancel: &'a CancellationToken,
    ) -> Result<Self, GateError> {
        let home = Home::new(&bench.folder).map_err(host("making a private folder"))?;
        let mut env = environment(home.path(), &[]).map_err(host("preparing the environment"))?;
        // What is fetched goes into the private home: the machine's own folder is for reading only.
        env.retain(|(name, _)| name != "CARGO_HOME");
        env.push(("CI".into(), "true".into()));
        env.extend(naming::variables());
        Ok(Self {
            bench,
            cancel,
            checkout: mirror.checkout(commit).await?,
            env,
            private: home,
            objects: mirror.dir().join("objects"),
        })
    }

    /// The working copy.
    pub(crate) fn path(&self) -> &Path {
        self.checkout.path()
    }

    /// The home of the commands.
    pub(crate) fn home(&self) -> PathBuf {
        self.private.path().join("home")
    }

    /// Puts files of another commit in place, then runs set-up, where there is one.
    pub(crate) async fn prepared(
        &self,
        overlay: Option<&Overlay>,
        chosen: &Chosen,
    ) -> Result<Option<Evidence>, GateError> {
        if let Some(overlay) = overlay {
            overlay.lay(self).await?;
        }
        let Some(command) = &chosen.setup else { return Ok(None) };
        let order = Order {
            command,
            args: command.args(),
            deadline: self.bench.deadlines.setup,
            report: None,
            reaches: &chosen.setup_reaches,
        };
        self.run(&order).await.map(Some)
    }

    /// Runs the command that measures coverage.
    pub(crate) async fn measure(&self, command: &CommandLine, reaches: &[HostRule]) -> Result<Evidence, GateError> {
        let order = Order {
            command,
            args: command.args(),
            deadline: self.bench.deadlines.test,
            report: None,
            reaches,
        };
        self.run(&order).await
    }

    /// Runs one command to its end.
    pub(crate) async fn run(&self, order: &Order<'_>) -> Result<Evidence, GateError> {
        let command = order.command;
        if let Some(Err(reason)) = order.report.map(|path| files::clear(self.path(), path)) {
            return Ok(unreadable(order.report, &reason));
        }
        let mut spec = Spec::new(command.program(), self.path()).args(order.args);
        spec.env.clone_from(&self.env);
        spec.deadline = order.deadline;
        spec.stdout = KEPT;
        spec.stderr = KEPT;
        spec.confine.read = vec![self.objects.clone()];
        spec.confine.write = vec![self.path().to_path_buf(), self.private.path().to_path_buf()];
        let door = network::door(self.bench, order.reaches)
            .await
            .map_err(host("opening a way to the network"))?;
        let level = self.bench.sandbox.level();
        spec.env.extend(door.iter().flat_map(|door| door.environment(level)));
        spec.confine.door.clone_from(&door);
        let could_not_start = |reason: String| {
            Evidence::Absent(Absence::CouldNotStart {
                command: command.text().to_owned(),
                reason,
            })
        };
        match self.bench.sandbox.run(&spec, self.cancel).await {
            Ok(finished) => {
                let evidence = self.ended(order, &finished).await?;
                Ok(network::explained(evidence, door.as_deref()))
            }
            Err(StartError::NotFound(program)) => Ok(could_not_start(format!("program not found: {program}"))),
            Err(error @ (StartError::NotExecutable(_) | StartError::Refused(_))) => {
                Ok(could_not_start(error.to_string()))
            }
            Err(error @ (StartError::NoFolder(_) | StartError::Isolation(_))) => {
                Err(host("starting a command")(io::Error::other(error)))
            }
        }
    }

    async fn ended(&self, order: &Order<'_>, finished: &Finished) -> Result<Evidence, GateError> {
        let command = order.command;
        let code = match finished.exit {
            Exit::Exited(code) => Some(code),
            Exit::Signalled(_) | Exit::TooMuchOutput | Exit::OverLimit(_) | Exit::Escaped => None,
            Exit::Cancelled => return Err(GateError::Cancelled),
            Exit::TimedOut | Exit::Idle => {
                return Ok(Evidence::Absent(Absence::TimedOut {
                    command: command.text().to_owned(),
                    seconds: order.deadline.as_secs(),
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
        let finding = match self.reported(order, finding, code).await {
            Ok(finding) => finding,
            Err(absent) => return Ok(absent),
        };
        match code {
            Some(0) => Ok(Evidence::Passed(finding)),
            _ => Ok(Evidence::Failed(finding)),
        }
    }

    /// The finding with what a results file says in place of what the output said. A command that failed without writing
    /// one has failed; one that passed without is no evidence.
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

    fn finding(&self, command: &CommandLine, exit_code: Option<i32>, finished: &Finished) -> Finding {
        let (stdout, stderr) = (self.plain(&finished.stdout.text()), self.plain(&finished.stderr.text()));
        let bare = Finding {
            command: command.text().to_owned(),
            exit_code,
            counts: Counts::Unknown,
            failing: Vec::new(),
            output: with_limit(output::shown(&stdout, &stderr, &self.bench.secrets), finished.exit),
            names: None,
        };
        self.with_results(bare, results::read(&stdout, &stderr))
    }

    /// Names come from foreign programs: they are masked and cut like all their output.
    fn with_results(&self, finding: Finding, read: Read) -> Finding {
        let name = |name: String| shorten::middle(&self.bench.secrets.mask(&name), MAX_NAME);
        let all = |names: Vec<String>| names.into_iter().map(name).collect::<Vec<_>>();
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

    /// Output as people read it. Where the checkout lies differs from run to run and says nothing.
    fn plain(&self, text: &str) -> String {
        let plain = output::plain(text);
        match self.path().to_str() {
            Some(path) => plain.replace(&format!("{path}/"), ""),
            None => plain,
        }
    }
}

/// A private folder that takes itself away, and not on a thread that others wait for.
struct Home(Option<TempDir>);

impl Home {
    fn new(below: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(below)?;
        let made = tempfile::Builder::new().prefix("gates-").tempdir_in(below)?;
        Ok(Self(Some(made)))
    }

    fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new("/nonexistent"), TempDir::path)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let folder = self.0.take();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(runtime.spawn_blocking(move || drop(folder)));
        }
    }
}

/// The output with a word on why it ends there, where a limit ended it.
fn with_limit(output: String, exit: Exit) -> String {
    match exit {
        Exit::OverLimit(limit) => format!("{output}\nAutoBuild stopped it: it used {limit}"),
        Exit::Exited(_)
        | Exit::Signalled(_)
        | Exit::TimedOut
        | Exit::Idle
        | Exit::Cancelled
        | Exit::TooMuchOutput
        | Exit::Escaped => output,
    }
}

fn unreadable(path: Option<&str>, reason: &impl ToString) -> Evidence {
    Evidence::Absent(Absence::Unreadable {
        path: path.unwrap_or_default().to_owned(),
        reason: reason.to_string(),
    })
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
