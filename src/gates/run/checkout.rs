//! A clean checkout of one commit with a private home: commands run in it, then all of it is deleted.

use crate::gates::{
    commands::Reach,
    files,
    run::{
        context::{GateContext, GateError, host},
        ended::{code, could_not_start, explained, unreadable},
        report_files,
    },
};
use domain::{
    evidence::{Evidence, StartFailure},
    ids::Sha,
    isolation::Level,
    refused_host::RefusedHost,
};
use git::{Checkout, Mirror, blocking};
use runners::{
    shell::{Question, Shell},
    test_line::Invocation,
};
use sandbox::{
    OutputCap, Spec, StartError,
    egress::{Door, Rules},
    environment_at,
};
use std::{
    collections::BTreeSet,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use text::shell_command::ShellCommand;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

/// The part of each output stream that is kept for counting tests; far more than is shown.
const KEPT: OutputCap = OutputCap { head: 256 * 1024, tail: 2 * 1024 * 1024, stop_after: Some(1024 * 1024 * 1024) };
/// The time limit for a shell that looks for programs.
const ASKING: Duration = Duration::from_secs(60);

/// The path at which commands see the folder that holds the checkout and their home, at isolation levels 2 and 3.
const SEEN_AT: &str = "/autobuild";

/// A clean checkout with a private home. Its commands get no secrets, and share the home.
///
/// Build tools record paths, so every run of a repository uses the same path. At isolation levels 2 and 3, each
/// checkout is mounted there; below, runs take turns in one folder. Therefore, never create a checkout while you hold
/// one.
pub(crate) struct SandboxedCheckout {
    pub(crate) context: GateContext,
    cancel: CancellationToken,
    checkout: Checkout,
    env: Vec<(OsString, OsString)>,
    /// The path at which commands see the folder around the checkout.
    seen: PathBuf,
    objects: PathBuf,
    /// The lock of the folder; it is released after the checkout was deleted.
    _turn: Option<OwnedMutexGuard<()>>,
}

/// The shell for a line.
enum ShellSearch {
    /// This one runs it, and does not find these programs now.
    Runs(Shell, Vec<String>),
    CannotRun(StartFailure),
}

pub(crate) struct RunRequest<'a> {
    pub(crate) command: &'a ShellCommand,
    /// The line to run: the command as written, or with arguments that make its runner name the tests.
    pub(crate) as_line: &'a Invocation,
    pub(crate) deadline: Duration,
    /// The time that it may wait for a host that it cannot reach; `None` for no such limit.
    pub(crate) refused: Option<Duration>,
    pub(crate) report: Option<&'a str>,
    /// The folders in which the command may store results without being asked.
    pub(crate) report_folders: &'a [String],
    pub(crate) reaches: &'a Reach,
}

impl SandboxedCheckout {
    pub(crate) async fn new(
        context: &GateContext,
        mirror: &Mirror,
        commit: &Sha,
        cancel: &CancellationToken,
    ) -> Result<Self, GateError> {
        let (turn, checkout) = match context.sandbox.level() {
            Level::L2 | Level::L3 => (None, mirror.checkout(commit).await?),
            Level::L0 | Level::L1 => {
                let turn = tokio::select! {
                    () = cancel.cancelled() => return Err(GateError::Cancelled),
                    turn = context.checkout_locks.of(mirror.dir()).lock_owned() => turn,
                };
                (Some(turn), mirror.checkout_at(commit, &folder(mirror)).await?)
            }
        };
        let seen = always_seen(context).map_or_else(|| checkout.home().to_path_buf(), PathBuf::from);
        let mut env = environment_at(checkout.home(), &seen, &[]).map_err(host("preparing the environment"))?;
        if !checkout.record().paths().any(|path| path.starts_with(".venv")) {
            // Set-up may create a virtual environment, which then works as if activated.
            let own = seen.join("work/.venv/bin");
            for (_, path) in env.iter_mut().filter(|(name, _)| name == "PATH") {
                let paths = std::iter::once(own.clone()).chain(std::env::split_paths(path));
                *path = std::env::join_paths(paths).unwrap_or_else(|_| path.clone());
            }
        }
        env.push(("CI".into(), "true".into()));
        // Corepack would write the version that it chose into `package.json`.
        env.push(("COREPACK_ENABLE_AUTO_PIN".into(), "0".into()));
        Ok(Self {
            context: context.clone(),
            cancel: cancel.clone(),
            checkout,
            env,
            seen,
            objects: mirror.dir().join("objects"),
            _turn: turn,
        })
    }

    /// Returns the path at which commands see the working copy, if it is the same for every checkout.
    pub(crate) fn always_seen(context: &GateContext) -> Option<PathBuf> {
        always_seen(context).map(|around| Path::new(around).join("work"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.checkout.path()
    }

    pub(crate) fn around(&self) -> &Path {
        self.checkout.home()
    }

    pub(crate) fn head(&self) -> &Sha {
        self.checkout.head()
    }

    /// Returns the path at which commands see the working copy.
    pub(crate) fn visible_path(&self) -> PathBuf {
        self.seen.join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.checkout.home().join("home")
    }

    /// Returns the paths of the commit's own files, relative to the working copy.
    pub(crate) fn tracked(&self) -> Vec<PathBuf> {
        self.checkout.record().paths().map(Path::to_path_buf).collect()
    }

    pub(crate) async fn run(&self, order: &RunRequest<'_>) -> Result<Evidence, GateError> {
        let rules = self.rules(order.reaches);
        let door = if rules.hosts.is_empty() { None } else { Some(self.door(rules).await?) };
        self.run_behind(door.as_ref(), order).await
    }

    /// Runs set-up to its end. Also returns the hosts that it could not reach.
    pub(crate) async fn set_up(&self, order: &RunRequest<'_>) -> Result<(Evidence, Vec<RefusedHost>), GateError> {
        let rules = self.rules(order.reaches);
        let door = match (rules.hosts.is_empty(), self.context.sandbox.level()) {
            // The kernel may not be able to limit connections.
            (true, Level::L0 | Level::L1) => None,
            // A door that leads nowhere still records the hosts that set-up asks for.
            (true, Level::L2 | Level::L3) | (false, _) => Some(self.door(rules).await?),
        };
        let evidence = self.run_behind(door.as_ref(), order).await?;
        Ok((evidence, door.map(|door| door.refused_hosts()).unwrap_or_default()))
    }

    async fn run_behind(&self, door: Option<&Arc<Door>>, order: &RunRequest<'_>) -> Result<Evidence, GateError> {
        let command = order.command.text();
        if let Some(path) = order.report
            && let Err(reason) = files::clear(self.path(), path)
        {
            return Ok(unreadable(path, reason.to_string()));
        }
        if !order.report_folders.is_empty() {
            let (root, folders) = (self.path().to_path_buf(), order.report_folders.to_vec());
            // Old results are removed, because a tool that finds them may skip the tests.
            let _ = blocking(move || report_files::clear(&root, &folders)).await;
        }
        let question = Question::new(&order.as_line.line);
        let (shell, missing) = match self.ask(&question).await? {
            ShellSearch::Runs(shell, missing) => (shell, missing),
            ShellSearch::CannotRun(reason) => return Ok(could_not_start(command, reason)),
        };
        let mut spec = self.spec(shell.program(), shell.args(&order.as_line.line), &question);
        let variables = order.as_line.variables.iter();
        spec.env.extend(variables.map(|(name, value)| (name.into(), value.into())));
        spec.deadline = order.deadline;
        spec.refused = order.refused;
        if let Some(door) = door {
            let (level, home) = (self.context.sandbox.level(), self.seen.join("home"));
            spec.env.extend(door.environment(level, &home));
            door.leave_settings(level, &self.home());
        }
        spec.confine.door = door.cloned();
        let finished = match self.context.sandbox.run(&spec, &self.cancel).await {
            Ok(finished) => finished,
            Err(error) => {
                return not_started(error).map(|message| could_not_start(command, StartFailure::Message(message)));
            }
        };
        let (exit, line) = (&finished.exit, self.context.secrets.mask(&order.as_line.line));
        tracing::debug!(took = ?finished.duration, ?exit, line, "a command of the Gates ended");
        let evidence = self.evidence(order, &finished).await?;
        let evidence = explained(evidence, door.map(Arc::as_ref));
        if missing.is_empty() || matches!(evidence, Evidence::Absent(_)) {
            return Ok(evidence);
        }
        // The line itself may have created a missing program, for example by a build, so the question is asked again.
        Ok(match self.ask(&question).await? {
            ShellSearch::Runs(_, missing) if missing.is_empty() => evidence,
            ShellSearch::Runs(_, missing) => could_not_start(command, StartFailure::NoPrograms(missing)),
            ShellSearch::CannotRun(reason) => could_not_start(command, reason),
        })
    }

    /// Returns the programs that a line calls and that are neither in the checkout nor on `PATH`.
    pub(crate) async fn missing(&self, line: &str) -> Result<Vec<String>, GateError> {
        Ok(match self.ask(&Question::new(line)).await? {
            ShellSearch::Runs(_, missing) => missing,
            ShellSearch::CannotRun(_) => Vec::new(),
        })
    }

    pub(crate) async fn versions(&self, programs: &BTreeSet<String>) -> Result<String, GateError> {
        let lines = programs.iter().map(|program| {
            let program = shell_words::quote(program);
            let asking = if program == "go" { "version" } else { "--version" };
            format!("command -v {program} && timeout 20 {program} {asking} </dev/null || true")
        });
        let script: Vec<String> = lines.collect();
        let mut spec = self.spec("sh", vec!["-c".into(), script.join("\n").into()], &Question::new(""));
        spec.deadline = ASKING;
        match self.context.sandbox.run(&spec, &self.cancel).await {
            Ok(finished) => {
                code(finished.exit)?;
                Ok(format!("{}{}", finished.stdout.text(), finished.stderr.text()))
            }
            Err(error) => not_started(error),
        }
    }

    async fn ask(&self, question: &Question) -> Result<ShellSearch, GateError> {
        let cannot_run = |message| ShellSearch::CannotRun(StartFailure::Message(message));
        for shell in Shell::ALL {
            let mut spec = self.spec(shell.program(), question.args(shell), question);
            spec.deadline = ASKING;
            let finished = match self.context.sandbox.run(&spec, &self.cancel).await {
                Ok(finished) => finished,
                Err(StartError::NotFound(_)) => continue,
                Err(error) => return not_started(error).map(cannot_run),
            };
            let code = code(finished.exit)?;
            if question.needs_bash(shell) {
                return Ok(ShellSearch::CannotRun(StartFailure::NeedsBash));
            }
            let answer = question.answer(code, &finished.stdout.text());
            return Ok(match answer {
                Ok(missing) => ShellSearch::Runs(shell, missing),
                Err(message) => cannot_run(message),
            });
        }
        Ok(ShellSearch::CannotRun(StartFailure::NoShell))
    }

    /// Returns the rules of a door to the hosts that a command may reach, within the server's limits.
    fn rules(&self, reach: &Reach) -> Rules {
        Rules {
            refusals: self.context.refusals.clone(),
            go_modules: reach.go_modules.clone(),
            ..self.context.network.rules(&reach.hosts)
        }
    }

    async fn door(&self, rules: Rules) -> Result<Arc<Door>, GateError> {
        let door = Door::open(rules, &self.context.folder).await;
        Ok(Arc::new(door.map_err(host("opening a way to the network"))?))
    }

    /// Describes the start of a program in the checkout, with the private home and without network.
    fn spec(&self, program: &str, args: Vec<OsString>, question: &Question) -> Spec {
        let mut spec = Spec::new(program, self.visible_path()).args(args);
        spec.env.clone_from(&self.env);
        spec.stdout = KEPT;
        spec.stderr = KEPT;
        spec.confine.read = vec![self.objects.clone()];
        let programs = question.programs();
        spec.confine.read.extend(programs.flat_map(|program| self.context.sandbox.around(program)));
        let environments = question.paths();
        spec.confine.read.extend(environments.flat_map(|path| self.context.sandbox.virtual_environment(path)));
        spec.confine.mounts = vec![(self.checkout.home().to_path_buf(), self.seen.clone())];
        spec
    }
}

fn folder(mirror: &Mirror) -> String {
    let name = mirror.dir().file_stem().unwrap_or_default().to_string_lossy();
    format!("of-{name}")
}

/// Returns the path at which commands see the folder around a checkout, if it is the same for every checkout.
fn always_seen(context: &GateContext) -> Option<&'static str> {
    match context.sandbox.level() {
        Level::L2 | Level::L3 => Some(SEEN_AT),
        Level::L0 | Level::L1 => None,
    }
}

/// Returns the reason why a shell did not start, if the service itself is not at fault.
fn not_started(error: StartError) -> Result<String, GateError> {
    match error {
        StartError::NotFound(program) => Ok(format!("program not found: {program}")),
        StartError::NotExecutable(_) | StartError::TooLong | StartError::Refused(_) => Ok(error.to_string()),
        StartError::NoFolder(_) | StartError::Isolation(_) => Err(host("starting a command")(io::Error::other(error))),
    }
}
