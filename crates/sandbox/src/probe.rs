//! Finds the isolation level that this machine offers. At each level a canary program tries actions that must be
//! refused.

use crate::{
    choice::{Sandbox, SandboxOptions},
    launcher::{CANARY, CanaryReport, LAUNCHER_COMMAND},
    run_user::Users,
    spec::{Exit, Spec, StartError},
};
use domain::isolation::{Bounds, Level};
use std::{io, io::Write, net::TcpListener, path::Path, sync::mpsc, thread, time::Duration};
use tempfile::{NamedTempFile, TempDir};

/// The levels, best first.
const LEVELS: [Level; 3] = [Level::L3, Level::L2, Level::L1];
const PATIENCE: Duration = Duration::from_secs(20);

/// A sandbox has started at most this many processes when its canary runs. A new namespace numbers its processes from
/// 1.
const HIGHEST_INSIDE: i32 = 64;

/// Signs in error messages, each with how to fix its cause.
const REMEDIES: &[(&str, &str)] = &[
    (
        "os error 2",
        "bubblewrap is not installed (Debian, Ubuntu: apt-get install bubblewrap)",
    ),
    (
        "uid map",
        "AppArmor forbids user namespaces to bubblewrap (Ubuntu 24.04: give /usr/bin/bwrap a profile that allows userns)",
    ),
    (
        "mount proc",
        "/proc is masked here (Kubernetes: procMount: Unmasked with hostUsers: false)",
    ),
    (
        "namespace",
        "user namespaces are forbidden here (sysctl user.max_user_namespaces and kernel.unprivileged_userns_clone; in a \
         container its seccomp profile)",
    ),
    ("lsm=", "start the kernel, 5.13 or newer, with landlock among its lsm="),
    ("Unknown option", "bubblewrap is too old: 0.8 or newer is needed"),
];

/// What level 1 lacks on a kernel older than 6.12.
const UNBOUND_SIGNALS: &str =
    "a kernel, 6.12 or newer, that keeps programs from signalling other processes of this user";

/// What level 1 lacks if the service is root and cannot change users.
const NO_USERS: &str = "CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETPCAP, CAP_SETUID, all user ids: \
                        else, runs share root's user (docs/isolation.md)";

const NO_PROC: &str =
    "/proc is not mounted here, and without it nothing can be kept apart or watched (mount -t proc proc /proc)";

/// Why no sandbox of the requested level is possible.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The machine offers a lower level.
    #[error(
        "this machine offers isolation {offered}, and at least {min} is asked for (AUTOBUILD_SANDBOX_MIN_LEVEL): \
         no agent and no Gate would be run. What is missing: {missing}"
    )]
    TooLow {
        /// The lowest level that is accepted.
        min: Level,
        /// The best level that really blocks.
        offered: Level,
        /// What is missing for more, and how to fix it.
        missing: String,
    },
    /// The canary's file or socket could not be set up.
    #[error("isolation cannot be tried: {0}")]
    NoTrial(#[source] io::Error),
}

impl Sandbox {
    /// Returns the sandbox of the best level within `bounds` that really blocks on this machine.
    ///
    /// # Errors
    ///
    /// If that level is below the lowest accepted one; nothing may be run then.
    pub async fn probe(options: SandboxOptions, bounds: Bounds) -> Result<Self, ProbeError> {
        let trial = Trial::new().map_err(ProbeError::NoTrial)?;
        let min = bounds.least;
        let mut missing: Vec<String> = Vec::new();
        let mut refused: Vec<(Level, String)> = Vec::new();
        if bounds.most < Level::L3 {
            missing.push(format!(
                "AUTOBUILD_SANDBOX_MAX_LEVEL allows no more than {}",
                bounds.most
            ));
        }
        // A canary that already fails without isolation proves nothing.
        let mut offered = Self::at(options.clone(), Level::L0);
        match trial.of(&offered).await {
            Ok(report) if report.can_do_everything() => {
                for sandbox in candidates(&options, bounds) {
                    let level = sandbox.level;
                    let report = trial.of(&sandbox).await;
                    match report.and_then(|report| blocks(level, sandbox.users, report)) {
                        Ok(lacks) => {
                            refused.extend(lacks.into_iter().map(|lacks| (level, lacks.to_owned())));
                            offered = sandbox;
                            break;
                        }
                        Err(reason) => refused.push((level, with_remedy(&reason))),
                    }
                }
            }
            Ok(report) => missing.push(format!("without isolation already the canary was held: {report:?}")),
            Err(_) if !Path::new("/proc/self/exe").exists() => missing.push(NO_PROC.to_owned()),
            Err(reason) => missing.push(format!("the canary did not run: {reason}")),
        }
        missing.extend(by_reason(&refused));
        let missing = missing.join("; ");
        if offered.level < min {
            let offered = offered.level;
            return Err(ProbeError::TooLow { min, offered, missing });
        }
        Ok(offered.missing_for_more(&missing).in_groups())
    }
}

/// Returns the sandboxes to try, best first. If a machine refuses to change users, level 1 does without.
fn candidates(options: &SandboxOptions, bounds: Bounds) -> impl Iterator<Item = Sandbox> {
    let levels = LEVELS.into_iter().filter(move |level| *level <= bounds.most);
    levels.flat_map(|level| {
        let sandbox = Sandbox::at(options.clone(), level);
        let without = (sandbox.users == Users::OfEachRun).then(|| sandbox.clone().without_users());
        std::iter::once(sandbox).chain(without)
    })
}

/// The file and the socket that the canary tries to reach, and a folder that it may change.
struct Trial {
    folder: TempDir,
    secret: NamedTempFile,
    listener: TcpListener,
    bystander: Bystander,
}

impl Trial {
    fn new() -> io::Result<Self> {
        let mut secret = tempfile::Builder::new().prefix("autobuild-canary-").tempfile()?;
        secret.write_all(b"planted")?;
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let bystander = Bystander::beyond(HIGHEST_INSIDE)?;
        Ok(Self {
            folder: tempfile::tempdir()?,
            secret,
            listener,
            bystander,
        })
    }

    /// Returns what the canary can do in this sandbox.
    async fn of(&self, sandbox: &Sandbox) -> Result<CanaryReport, String> {
        let port = self.listener.local_addr().map_err(|error| error.to_string())?.port();
        // `own` replaces the program by our binary, so this name only has to exist.
        let mut spec = Spec::new("/usr/bin/env", "/").args([
            LAUNCHER_COMMAND.into(),
            CANARY.into(),
            self.secret.path().as_os_str().to_owned(),
            port.to_string().into(),
            self.bystander.number.to_string().into(),
        ]);
        spec.deadline = PATIENCE;
        spec.confine.write = vec![self.folder.path().to_owned()];
        let finished = Self::sung(sandbox, &spec).await?;
        serde_json::from_slice(&finished).map_err(|error| format!("the canary said nothing of use: {error}"))
    }

    async fn sung(sandbox: &Sandbox, spec: &Spec) -> Result<Vec<u8>, String> {
        match sandbox.sing(spec).await {
            Ok(finished) if finished.exit == Exit::Exited(0) => Ok(finished.stdout.end().to_vec()),
            Ok(finished) => Err(format!(
                "the canary ended as {:?}: {}",
                finished.exit,
                finished.stderr.text()
            )),
            Err(StartError::Isolation(reason)) => Err(reason),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A thread of this process that the canary tries to reach by its number, in place of the process itself. In a
/// container this process may have the number 1 or 2, and in the sandbox that number belongs to one of the sandbox's
/// own processes.
struct Bystander {
    number: i32,
    /// The thread ends when this is dropped.
    _until: mpsc::Sender<()>,
}

impl Bystander {
    fn start() -> io::Result<Self> {
        let (tell, told) = mpsc::channel();
        let (until, dropped) = mpsc::channel::<()>();
        let waiting = move || {
            let _ = tell.send(rustix::thread::gettid().as_raw_nonzero().get());
            let _ = dropped.recv();
        };
        thread::Builder::new().spawn(waiting)?;
        let number = told.recv().map_err(io::Error::other)?;
        Ok(Self { number, _until: until })
    }

    /// Starts a thread whose number is higher than `number`. The threads with lower numbers stay alive meanwhile, so
    /// that no number is given out twice. Fails if the numbers start again from the lowest.
    fn beyond(number: i32) -> io::Result<Self> {
        let mut lower: Vec<Self> = Vec::new();
        loop {
            let one = Self::start()?;
            if one.number > number {
                return Ok(one);
            }
            if lower.last().is_some_and(|last| last.number > one.number) {
                let (last, one) = (lower.len(), one.number);
                return Err(io::Error::other(format!(
                    "no thread has a number above {number}: after {last} threads, the numbers started again at {one}"
                )));
            }
            lower.push(one);
        }
    }
}

/// Checks that the canary could do no more than the level allows. Returns what this machine lacks of the full level.
fn blocks(level: Level, users: Users, report: CanaryReport) -> Result<Vec<&'static str>, String> {
    let misses = [
        (report.read, "a file that was not given was read"),
        (
            report.opened && (level >= Level::L2 || users == Users::OfEachRun),
            "a file's mode was changed",
        ),
        (report.connected, "a listener of the machine was reached"),
        // L1 and L2 share the machine's process list.
        (report.saw && level == Level::L3, "a process outside was seen"),
        (
            report.signalled && level >= Level::L2,
            "a process outside was signalled",
        ),
        (report.steered, "a limit of a process outside was set"),
    ];
    match misses.into_iter().find(|(missed, _)| *missed) {
        Some((_, what)) => Err(format!("{what} in spite of it")),
        None => {
            // Landlock restricts signals since Linux 6.12.
            let signals = report.signalled.then_some(UNBOUND_SIGNALS);
            let is_root = rustix::process::geteuid().is_root();
            let modes = (report.opened && is_root).then_some(NO_USERS);
            Ok(signals.into_iter().chain(modes).collect())
        }
    }
}

/// Returns each reason once, with the levels that are impossible because of it.
fn by_reason(refused: &[(Level, String)]) -> Vec<String> {
    refused
        .chunk_by(|(_, one), (_, next)| one == next)
        .filter_map(|same| {
            let levels: Vec<String> = same.iter().map(|(level, _)| level.to_string()).collect();
            Some(format!("{}: {}", levels.join(" and "), same.first()?.1))
        })
        .collect()
}

fn with_remedy(reason: &str) -> String {
    let remedy = REMEDIES.iter().find(|(sign, _)| reason.contains(sign));
    match remedy {
        Some((_, remedy)) => format!("{remedy} ({reason})"),
        None => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_complaints_come_with_how_to_mend_them() {
        let said = with_remedy("the sandbox could not be built: bwrap: setting up uid map: Permission denied");
        assert!(said.contains("AppArmor") && said.contains("uid map"), "{said}");
        assert_eq!(with_remedy("something else"), "something else");
    }

    #[test]
    fn a_bystander_lives_under_a_number_that_no_sandbox_has() {
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        let number = own.max(HIGHEST_INSIDE) + 10;
        let Ok(bystander) = Bystander::beyond(number) else {
            let started_again = Bystander::start().unwrap().number < own;
            return assert!(started_again, "only this keeps a thread from a higher number");
        };
        assert!(bystander.number > number);
        let place = Path::new("/proc").join(bystander.number.to_string());
        assert!(place.exists());
        drop(bystander);
        while place.exists() {
            thread::yield_now();
        }
    }

    #[test]
    fn a_reason_is_told_once() {
        let refused = [(Level::L3, "a"), (Level::L2, "a"), (Level::L1, "b")];
        let refused = refused.map(|(level, why)| (level, why.to_owned()));
        assert_eq!(by_reason(&refused), ["L3 and L2: a", "L1: b"]);
    }

    #[test]
    fn a_canary_that_sings_too_well_does_not_prove_a_level() {
        let quiet = CanaryReport {
            read: false,
            opened: false,
            connected: false,
            saw: true,
            signalled: false,
            steered: false,
        };
        let blocks = |level, report| blocks(level, Users::OfTheService, report);
        assert!(blocks(Level::L1, quiet) == Ok(Vec::new()) && blocks(Level::L3, quiet).is_err());
        let loud = CanaryReport {
            signalled: true,
            ..quiet
        };
        assert!(
            blocks(Level::L1, loud).is_ok_and(|lacks| lacks == [UNBOUND_SIGNALS]) && blocks(Level::L2, loud).is_err()
        );
        assert!(blocks(Level::L1, CanaryReport { read: true, ..quiet }).is_err());
        assert!(blocks(Level::L1, CanaryReport { steered: true, ..quiet }).is_err());
        let opened = CanaryReport { opened: true, ..quiet };
        assert!(blocks(Level::L1, opened).is_ok() && blocks(Level::L2, opened).is_err());
        assert!(super::blocks(Level::L1, Users::OfEachRun, opened).is_err());
        let reached = CanaryReport {
            connected: true,
            ..quiet
        };
        assert!(blocks(Level::L2, reached).is_err());
    }
}
