//! A clean checkout of one commit with a private home, in which commands are run and then everything is thrown away.

use crate::gates::{
    files,
    run::{
        context::{Bench, GateError, host},
        ended::unreadable,
        network,
    },
    shell::{Answer, Question, Shell},
    test_line::Invocation,
};
use domain::{
    evidence::{Absence, Evidence},
    ids::Sha,
    isolation::Level,
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
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

/// What is kept of each stream, for counting; far more than is shown.
const KEPT: OutputCap = OutputCap {
    head: 256 * 1024,
    tail: 2 * 1024 * 1024,
    stop_after: Some(1024 * 1024 * 1024),
};
/// How long a shell may take to look for programs.
const ASKING: Duration = Duration::from_secs(60);

/// Where commands see the folder around the checkout and their home, where there is a wall.
const SEEN_AT: &str = "/autobuild";

/// A clean checkout with a private home. The commands in it get no secrets, and share the home.
///
/// Build tools note paths: so the place is the same for every run of a repository. Where there is a wall, each checkout is
/// mounted there; where there is none, runs take turns in one folder. So whoever holds one makes no other.
pub(crate) struct SandboxedCheckout {
    bench: Bench,
    cancel: CancellationToken,
    checkout: Checkout,
    env: Vec<(OsString, OsString)>,
    /// Where the folder around the checkout is seen.
    seen: PathBuf,
    /// Where the checkout borrows its objects.
    objects: PathBuf,
    /// Given back after the checkout was thrown away.
    _turn: Option<OwnedMutexGuard<()>>,
}

/// What is run and for how long at most.
pub(crate) struct Order<'a> {
    pub(crate) command: &'a ShellCommand,
    /// How it is run: as it was written, or with what makes its runner name the tests.
    pub(crate) as_line: &'a Invocation,
    pub(crate) deadline: Duration,
    /// A results file that the command writes.
    pub(crate) report: Option<&'a str>,
    /// What it may reach.
    pub(crate) reaches: &'a [HostRule],
}

impl SandboxedCheckout {
    pub(crate) async fn new(
        bench: &Bench,
        mirror: &Mirror,
        commit: &Sha,
        cancel: &CancellationToken,
    ) -> Result<Self, GateError> {
        let (turn, checkout) = match bench.sandbox.level() {
            Level::L2 | Level::L3 => (None, mirror.checkout(commit).await?),
            Level::L0 | Level::L1 => {
                let turn = tokio::select! {
                    () = cancel.cancelled() => return Err(GateError::Cancelled),
                    turn = bench.places.of(mirror.dir()).lock_owned() => turn,
                };
                (Some(turn), mirror.checkout_at(commit, &folder(mirror)).await?)
            }
        };
        let mut env = environment(checkout.home(), &[]).map_err(host("preparing the environment"))?;
        let seen = seen(bench, checkout.home());
        // What is fetched goes into the private home: the machine's own folder is for reading only.
        env.retain(|(name, _)| name != "CARGO_HOME" && name != "HOME" && name != "TMPDIR");
        if !checkout.record().paths().any(|path| path.starts_with(".venv")) {
            // As in an environment that was activated: set-up may have made one.
            let own = seen.join("work/.venv/bin");
            for (_, path) in env.iter_mut().filter(|(name, _)| name == "PATH") {
                *path = std::env::join_paths(std::iter::once(own.clone()).chain(std::env::split_paths(path)))
                    .unwrap_or_else(|_| path.clone());
            }
        }
        env.push(("HOME".into(), seen.join("home").into()));
        env.push(("TMPDIR".into(), seen.join("tmp").into()));
        env.push(("CI".into(), "true".into()));
        Ok(Self {
            bench: bench.clone(),
            cancel: cancel.clone(),
            checkout,
            env,
            seen,
            objects: mirror.dir().join("objects"),
            _turn: turn,
        })
    }

    /// The working copy as commands see it, where that is the same for every checkout.
    pub(crate) fn always_seen(bench: &Bench) -> Option<PathBuf> {
        match bench.sandbox.level() {
            Level::L2 | Level::L3 => Some(Path::new(SEEN_AT).join("work")),
            Level::L0 | Level::L1 => None,
        }
    }

    /// The working copy.
    pub(crate) fn path(&self) -> &Path {
        self.checkout.path()
    }

    /// The folder around the working copy and the home of the commands.
    pub(crate) fn around(&self) -> &Path {
        self.checkout.home()
    }

    /// The commit at `HEAD`.
    pub(crate) fn head(&self) -> &Sha {
        self.checkout.head()
    }

    /// The working copy as commands see it.
    pub(crate) fn seen(&self) -> PathBuf {
        self.seen.join("work")
    }

    /// The home of the commands.
    pub(crate) fn home(&self) -> PathBuf {
        self.checkout.home().join("home")
    }

    /// What the service around it is.
    pub(crate) fn bench(&self) -> &Bench {
        &self.bench
    }

    /// The commit's own files, relative to the working copy.
    pub(crate) fn tracked(&self) -> Vec<PathBuf> {
        self.checkout.record().paths().map(Path::to_path_buf).collect()
    }

    /// Runs one command to its end.
    pub(crate) async fn run(&self, order: &Order<'_>) -> Result<Evidence, GateError> {
        let command = order.command;
        if let Some(Err(reason)) = order.report.map(|path| files::clear(self.path(), path)) {
            return Ok(unreadable(order.report, &reason));
        }
        let question = Question::new(&order.as_line.line);
        let (shell, missing) = match self.ask(&question).await? {
            Ok(found) => found,
            Err(reason) => return Ok(could_not_start(command, reason)),
        };
        let mut spec = self.spec(shell.program(), shell.args(&order.as_line.line), &question);
        let variables = order.as_line.variables.iter();
        spec.env
            .extend(variables.map(|(name, value)| (name.into(), value.into())));
        spec.deadline = order.deadline;
        let door = network::door(&self.bench, order.reaches)
            .await
            .map_err(host("opening a way to the network"))?;
        let level = self.bench.sandbox.level();
        spec.env.extend(door.iter().flat_map(|door| door.environment(level)));
        spec.confine.door.clone_from(&door);
        let finished = match self.bench.sandbox.run(&spec, &self.cancel).await {
            Ok(finished) => finished,
            Err(error) => return not_started(error).map(|reason| could_not_start(command, reason)),
        };
        let (exit, line) = (&finished.exit, self.bench.secrets.mask(&order.as_line.line));
        tracing::debug!(took = ?finished.duration, ?exit, line, "a command of the Gates ended");
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

    /// The words in command position of a line that are found neither here nor along `PATH`.
    pub(crate) async fn missing(&self, line: &str) -> Result<Vec<String>, GateError> {
        let found = self.ask(&Question::new(line)).await?;
        Ok(found.map(|(_, missing)| missing).unwrap_or_default())
    }

    /// What programs say of their versions.
    pub(crate) async fn versions(&self, programs: &[String]) -> Result<String, GateError> {
        let lines = programs.iter().map(|program| {
            let program = shell_words::quote(program);
            let asking = if program == "go" { "version" } else { "--version" };
            format!("command -v {program} && timeout 20 {program} {asking} </dev/null || true")
        });
        let script: Vec<String> = lines.collect();
        let mut spec = self.spec("sh", vec!["-c".into(), script.join("\n").into()], &Question::new(""));
        spec.deadline = ASKING;
        match self.bench.sandbox.run(&spec, &self.cancel).await {
            Ok(finished) if finished.exit == Exit::Cancelled => Err(GateError::Cancelled),
            Ok(finished) => Ok(format!("{}{}", finished.stdout.text(), finished.stderr.text())),
            Err(error) => not_started(error),
        }
    }

    /// The shell that runs a line, and the words in command position that it does not find here now; or why none can.
    async fn ask(&self, question: &Question) -> Result<Result<(Shell, Vec<String>), String>, GateError> {
        for shell in Shell::ALL {
            let mut spec = self.spec(shell.program(), question.args(shell), question);
            spec.deadline = ASKING;
            let finished = match self.bench.sandbox.run(&spec, &self.cancel).await {
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
        let mut spec = Spec::new(program, self.seen()).args(args);
        spec.env.clone_from(&self.env);
        spec.stdout = KEPT;
        spec.stderr = KEPT;
        spec.confine.read = vec![self.objects.clone()];
        let programs = question.programs();
        spec.confine
            .read
            .extend(programs.flat_map(|program| self.bench.sandbox.around(program)));
        spec.confine.mounts = vec![(self.checkout.home().to_path_buf(), self.seen.clone())];
        spec
    }
}

/// The name of the one folder for a repository's checkouts.
fn folder(mirror: &Mirror) -> String {
    let name = mirror.dir().file_stem().unwrap_or_default().to_string_lossy();
    format!("of-{name}")
}

/// Where the folder around a checkout is seen.
fn seen(bench: &Bench, home: &Path) -> PathBuf {
    match bench.sandbox.level() {
        Level::L2 | Level::L3 => PathBuf::from(SEEN_AT),
        Level::L0 | Level::L1 => home.to_path_buf(),
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
