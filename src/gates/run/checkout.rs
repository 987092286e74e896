//! A clean checkout of one commit with a private home, in which commands are run and then everything is thrown away.

mod ended;

use crate::gates::{
    bench::{Bench, GateError, host},
    commands::Chosen,
    files, naming, network,
    overlay::Overlay,
    place::ended::unreadable,
    put_back,
    shell::{Answer, Question, Shell},
};
use domain::{
    evidence::{Absence, Evidence},
    ids::Sha,
    network::HostRule,
    shell_command::ShellCommand,
};
use git::{Checkout, Mirror};
use sandbox::{Exit, OutputCap, Spec, StartError, environment};
use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    time::Duration,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What is kept of each stream, for counting; far more than is shown.
const KEPT: OutputCap = OutputCap {
    head: 256 * 1024,
    tail: 2 * 1024 * 1024,
    stop_after: Some(1024 * 1024 * 1024),
};
/// How long a shell may take to look for programs.
const ASKING: Duration = Duration::from_secs(60);

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
    pub(crate) command: &'a ShellCommand,
    /// The line that is handed to the shell: the command, or one of ours that makes the same runner name its tests.
    pub(crate) line: &'a str,
    pub(crate) deadline: Duration,
    /// A results file that the command writes.
    pub(crate) report: Option<&'a str>,
    /// What it may reach.
    pub(crate) reaches: &'a [HostRule],
}

/// What set-up came to.
#[derive(Default)]
pub(crate) struct Prepared {
    /// What it said, where there is one.
    pub(crate) setup: Option<Evidence>,
    /// Files that it rewrote and that were put back.
    pub(crate) rewritten: Vec<String>,
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

    /// The commit's own files, relative to the working copy.
    pub(crate) fn tracked(&self) -> Vec<PathBuf> {
        self.checkout.record().paths().map(Path::to_path_buf).collect()
    }

    /// Puts files of another commit in place, then runs set-up, where there is one, and puts back what that rewrote of
    /// the files of the commit and of those that were put in place.
    pub(crate) async fn prepared(
        &self,
        mirror: &Mirror,
        overlay: Option<&Overlay>,
        chosen: &Chosen,
    ) -> Result<Prepared, GateError> {
        if let Some(overlay) = overlay {
            overlay.lay(self).await?;
        }
        let Some(command) = &chosen.setup else {
            return Ok(Prepared::default());
        };
        let order = Order {
            command,
            line: command.text(),
            deadline: self.bench.deadlines.setup,
            report: None,
            reaches: &chosen.setup_reaches,
        };
        let before = put_back::before(self, overlay).await?;
        let setup = Some(self.run(&order).await?);
        let rewritten = before.put_back(self, (mirror, self.checkout.head())).await?;
        Ok(Prepared { setup, rewritten })
    }

    /// Runs the command that measures coverage.
    pub(crate) async fn measure(&self, command: &ShellCommand, reaches: &[HostRule]) -> Result<Evidence, GateError> {
        let order = Order {
            command,
            line: command.text(),
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
        let question = Question::new(order.line);
        let (shell, missing) = match self.ask(&question).await? {
            Ok(found) => found,
            Err(reason) => return Ok(could_not_start(command, reason)),
        };
        let mut spec = self.spec(shell.program(), shell.args(order.line), &question);
        spec.deadline = order.deadline;
        let door = network::door(self.bench, order.reaches)
            .await
            .map_err(host("opening a way to the network"))?;
        let level = self.bench.sandbox.level();
        spec.env.extend(door.iter().flat_map(|door| door.environment(level)));
        spec.confine.door.clone_from(&door);
        let finished = match self.bench.sandbox.run(&spec, self.cancel).await {
            Ok(finished) => finished,
            Err(error) => return not_started(error).map(|reason| could_not_start(command, reason)),
        };
        let evidence = self.ended(order, &finished).await?;
        let evidence = network::explained(evidence, door.as_deref());
        match (missing.is_empty(), &evidence) {
            (true, _) | (_, Evidence::Absent(_)) => Ok(evidence),
            // What was not there may be what the line itself makes, as a build does: it is looked for once more.
            (false, Evidence::Passed(_) | Evidence::Failed(_)) => Ok(match self.ask(&question).await? {
                Ok((_, missing)) if missing.is_empty() => evidence,
                Ok((_, missing)) => could_not_start(command, format!("program not found: {}", missing.join(", "))),
                Err(reason) => could_not_start(command, reason),
            }),
        }
    }

    /// The shell that runs a line, and the words in command position that it does not find here now; or why none can.
    async fn ask(&self, question: &Question) -> Result<Result<(Shell, Vec<String>), String>, GateError> {
        for shell in Shell::ALL {
            let mut spec = self.spec(shell.program(), question.args(shell), question);
            spec.deadline = ASKING;
            let finished = match self.bench.sandbox.run(&spec, self.cancel).await {
                Ok(finished) => finished,
                Err(StartError::NotFound(_)) => continue,
                Err(error) => return not_started(error).map(Err),
            };
            let code = match finished.exit {
                Exit::Exited(code) => Some(code),
                Exit::Cancelled => return Err(GateError::Cancelled),
                Exit::Signalled(_)
                | Exit::TimedOut
                | Exit::Idle
                | Exit::TooMuchOutput
                | Exit::OverLimit(_)
                | Exit::Escaped => None,
            };
            return Ok(
                match (question.refused(shell), question.answer(code, &finished.stdout.text())) {
                    (Some(reason), _) | (None, Answer::NotALine(reason)) => Err(reason),
                    (None, Answer::Readable(missing)) => Ok((shell, missing)),
                },
            );
        }
        Ok(Err("there is no shell: neither bash nor sh was found".to_owned()))
    }

    /// A program in the checkout, with the private home and nothing to reach.
    fn spec(&self, program: &str, args: Vec<OsString>, question: &Question) -> Spec {
        let mut spec = Spec::new(program, self.path()).args(args);
        spec.env.clone_from(&self.env);
        spec.stdout = KEPT;
        spec.stderr = KEPT;
        spec.confine.read = vec![self.objects.clone()];
        let programs = question.programs();
        spec.confine
            .read
            .extend(programs.flat_map(|program| self.bench.sandbox.around(program)));
        spec.confine.write = vec![self.path().to_path_buf(), self.private.path().to_path_buf()];
        spec
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

fn could_not_start(command: &ShellCommand, reason: String) -> Evidence {
    Evidence::Absent(Absence::CouldNotStart {
        command: command.text().to_owned(),
        reason,
    })
}

/// Why a shell was not started, where that is not our own machine's failure.
fn not_started(error: StartError) -> Result<String, GateError> {
    match error {
        StartError::NotFound(program) => Ok(format!("program not found: {program}")),
        StartError::NotExecutable(_) | StartError::Refused(_) => Ok(error.to_string()),
        StartError::NoFolder(_) | StartError::Isolation(_) => Err(host("starting a command")(io::Error::other(error))),
    }
}
