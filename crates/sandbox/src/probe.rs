//! Finds the isolation level that this machine offers. At each level a canary program tries actions that must be
//! refused.

use crate::{
    cgroup::{Groups, NoGroups},
    choice::{Sandbox, SandboxOptions},
    launcher::{CANARY, CanaryReport, LAUNCHER_COMMAND},
    run_user::Users,
    spec::{Exit, Spec, StartError},
};
use domain::isolation::{Bounds, CanaryAct, IsolationCause, Level, MissingIsolation, Obstacle};
use std::{
    io,
    io::Write,
    net::TcpListener,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};
use tempfile::{NamedTempFile, TempDir};

/// The levels, best first.
const LEVELS: [Level; 3] = [Level::L3, Level::L2, Level::L1];
const PATIENCE: Duration = Duration::from_secs(20);

/// A sandbox has started at most this many processes when its canary runs. A new namespace numbers its processes from
/// 1.
const HIGHEST_INSIDE: i32 = 64;

/// Signs in error messages, each with the obstacle that it indicates.
const SIGNS: &[(&str, Obstacle)] = &[
    ("os error 2", Obstacle::NoBubblewrap),
    ("uid map", Obstacle::AppArmor),
    ("mount proc", Obstacle::MaskedProc),
    ("namespace", Obstacle::NoNamespaces),
    ("lsm=", Obstacle::NoLandlock),
    ("Unknown option", Obstacle::OldBubblewrap),
];

/// Why no sandbox of the requested level is possible.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The machine offers a lower level.
    #[error("this machine offers isolation {offered}, and at least {min} is asked for")]
    TooLow {
        /// The lowest level that is accepted.
        min: Level,
        /// The best level that really blocks.
        offered: Level,
        /// The obstacles to a stronger isolation.
        missing: Vec<MissingIsolation>,
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
        let trial = Trial::new(&options.trial_folder).map_err(ProbeError::NoTrial)?;
        let min = bounds.least;
        let mut missing = Vec::new();
        let mut lack = |cause| {
            missing.push(MissingIsolation { levels: Vec::new(), cause });
        };
        let mut refused: Vec<(Level, IsolationCause)> = Vec::new();
        if bounds.most < Level::L3 {
            lack(IsolationCause::Forbidden(bounds.most));
        }
        // A canary that already fails without isolation proves nothing.
        let mut offered = Self::at(options.clone(), Level::L0);
        match trial.of(&offered).await {
            Ok(report) if report.can_do_everything() => {
                for sandbox in candidates(&options, bounds) {
                    let level = sandbox.level;
                    match trial.of(&sandbox).await {
                        Err(error) => refused.push((level, not_built(error.to_string()))),
                        Ok(report) => match not_blocked(level, sandbox.users, report) {
                            Some(act) => refused.push((level, IsolationCause::NotBlocked(act))),
                            None => {
                                refused.extend(lacks(report).map(|cause| (level, cause)));
                                offered = sandbox;
                                break;
                            }
                        },
                    }
                }
            }
            Ok(report) => lack(IsolationCause::HeldAnyway(format!("{report:?}"))),
            Err(_) if !Path::new("/proc/self/exe").exists() => lack(IsolationCause::NoProc),
            Err(error) => lack(IsolationCause::NoCanary(error.to_string())),
        }
        missing.extend(by_cause(&refused));
        if offered.level < min {
            // On a full disk the canary fails like in a sandbox that lets it do too little.
            trial.has_room().map_err(ProbeError::NoTrial)?;
            let offered = offered.level;
            return Err(ProbeError::TooLow { min, offered, missing });
        }
        // The kernel enforces the limits too, if a control group was delegated to this process.
        let groups = match offered.level {
            Level::L0 => Err(NoGroups::NoIsolation),
            Level::L1 | Level::L2 | Level::L3 => Groups::take(),
        };
        Ok(Self { missing: missing.into(), groups: Arc::new(groups), ..offered })
    }
}

/// Returns the sandboxes to try, best first. Level 1 is tried a second time without users, for machines that refuse to
/// change them.
fn candidates(options: &SandboxOptions, bounds: Bounds) -> impl Iterator<Item = Sandbox> {
    let levels = LEVELS.into_iter().filter(move |level| *level <= bounds.most);
    levels.flat_map(|level| {
        let sandbox = Sandbox::at(options.clone(), level);
        let without = || Sandbox { users: Users::OfTheService, ..sandbox.clone() };
        let without = (sandbox.users == Users::OfEachRun).then(without);
        std::iter::once(sandbox).chain(without)
    })
}

/// Why the canary gave no report.
#[derive(Debug, thiserror::Error)]
enum NoReport {
    #[error(transparent)]
    NoPort(#[from] io::Error),
    #[error("the canary said nothing of use: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("the canary ended as {0:?}: {1}")]
    Ended(Exit, String),
    #[error("the canary could not write into {}, which was given to it", .0.display())]
    Useless(PathBuf),
    #[error("{0}")]
    NotIsolated(String),
    #[error(transparent)]
    NotStarted(StartError),
}

/// The file and the socket that the canary tries to reach, and a folder that it may change.
struct Trial {
    folder: TempDir,
    secret: NamedTempFile,
    listener: TcpListener,
    bystander: Bystander,
}

impl Trial {
    /// Prepares it, with the folder that the canary may change inside this one.
    fn new(around: &Path) -> io::Result<Self> {
        let mut secret = tempfile::Builder::new().prefix("autobuild-canary-").tempfile()?;
        secret.write_all(b"planted")?;
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let bystander = Bystander::beyond(HIGHEST_INSIDE)?;
        Ok(Self { folder: tempfile::Builder::new().prefix("canary-").tempdir_in(around)?, secret, listener, bystander })
    }

    /// Fails unless the folder that the canary may change takes a file.
    fn has_room(&self) -> io::Result<()> {
        tempfile::tempfile_in(self.folder.path())?.write_all(&[0; 1 << 16])
    }

    /// Returns the actions that succeed for the canary in this sandbox.
    async fn of(&self, sandbox: &Sandbox) -> Result<CanaryReport, NoReport> {
        let port = self.listener.local_addr()?.port();
        // `own` replaces the program by our binary, so this name only has to exist.
        let mut spec = Spec::new("/usr/bin/env", "/").args([
            LAUNCHER_COMMAND.into(),
            CANARY.into(),
            self.secret.path().as_os_str().to_owned(),
            port.to_string().into(),
            self.bystander.number.to_string().into(),
            self.folder.path().as_os_str().to_owned(),
        ]);
        spec.deadline = PATIENCE;
        spec.confine.write = vec![self.folder.path().to_owned()];
        let report: CanaryReport = serde_json::from_slice(&Self::canary_output(sandbox, &spec).await?)?;
        if report.wrote { Ok(report) } else { Err(NoReport::Useless(self.folder.path().to_owned())) }
    }

    async fn canary_output(sandbox: &Sandbox, spec: &Spec) -> Result<Vec<u8>, NoReport> {
        match sandbox.run_canary(spec).await {
            Ok(finished) if finished.exit == Exit::Exited(0) => Ok(finished.stdout.end().to_vec()),
            Ok(finished) => Err(NoReport::Ended(finished.exit, finished.stderr.text())),
            Err(StartError::Isolation(reason)) => Err(NoReport::NotIsolated(reason)),
            Err(error) => Err(NoReport::NotStarted(error)),
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

/// Returns the actions of the canary that succeeded although the sandbox forbids them.
fn not_blocked(level: Level, users: Users, report: CanaryReport) -> Option<CanaryAct> {
    let forbids_modes = level >= Level::L2 || users == Users::OfEachRun;
    let done = [
        (report.read, CanaryAct::Read),
        (report.changed_mode && forbids_modes, CanaryAct::SetMode),
        (report.connected, CanaryAct::Connect),
        // L1 and L2 share the machine's process list.
        (report.saw && level == Level::L3, CanaryAct::See),
        (report.signalled && level >= Level::L2, CanaryAct::Signal),
        (report.set_limit, CanaryAct::SetLimit),
        (report.emptied, CanaryAct::Empty),
    ];
    done.into_iter().find(|(done, _)| *done).map(|(_, act)| act)
}

/// Returns the things that this machine lacks although the level blocks everything that it must.
fn lacks(report: CanaryReport) -> impl Iterator<Item = IsolationCause> {
    // Landlock restricts signals since Linux 6.12.
    let signals = report.signalled.then_some(IsolationCause::UnboundSignals);
    let is_root = rustix::process::geteuid().is_root();
    let modes = (report.changed_mode && is_root).then_some(IsolationCause::NoUsers);
    signals.into_iter().chain(modes)
}

/// Returns each cause once, with the levels that are impossible because of it.
fn by_cause(refused: &[(Level, IsolationCause)]) -> impl Iterator<Item = MissingIsolation> {
    let same = refused.chunk_by(|(_, one), (_, next)| one == next);
    same.filter_map(|same| {
        let mut levels: Vec<Level> = same.iter().map(|(level, _)| *level).collect();
        levels.dedup();
        let cause = same.first()?.1.clone();
        Some(MissingIsolation { levels, cause })
    })
}

fn not_built(reason: String) -> IsolationCause {
    let sign = SIGNS.iter().find(|(sign, _)| reason.contains(sign));
    let obstacle = sign.map(|(_, obstacle)| *obstacle);
    IsolationCause::NotBuilt { reason, obstacle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_complaints_name_their_obstacle() {
        let table = [
            ("the sandbox could not be built: bwrap: setting up uid map: Permission denied", Some(Obstacle::AppArmor)),
            ("something else", None),
        ];
        for (reason, obstacle) in table {
            let reason = reason.to_owned();
            let cause = not_built(reason.clone());
            assert_eq!(cause, IsolationCause::NotBuilt { reason, obstacle });
        }
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
    fn each_cause_is_named_once() {
        let cause = |act| IsolationCause::NotBlocked(act);
        let refused = [
            (Level::L3, cause(CanaryAct::Read)),
            (Level::L2, cause(CanaryAct::Read)),
            (Level::L1, cause(CanaryAct::Connect)),
        ];
        let missing = |levels: &[Level], act| MissingIsolation { levels: levels.to_vec(), cause: cause(act) };
        assert_eq!(
            by_cause(&refused).collect::<Vec<_>>(),
            [missing(&[Level::L3, Level::L2], CanaryAct::Read), missing(&[Level::L1], CanaryAct::Connect)]
        );
    }

    #[test]
    fn a_canary_that_sings_too_well_does_not_prove_a_level() {
        let quiet = CanaryReport {
            read: false,
            changed_mode: false,
            connected: false,
            saw: true,
            signalled: false,
            set_limit: false,
            emptied: false,
            wrote: true,
        };
        let with = |change: fn(&mut CanaryReport)| {
            let mut report = quiet;
            change(&mut report);
            report
        };
        let loud = with(|report| report.signalled = true);
        let changed_mode = with(|report| report.changed_mode = true);
        let read = with(|report| report.read = true);
        let set_limit = with(|report| report.set_limit = true);
        let emptied = with(|report| report.emptied = true);
        let connected = with(|report| report.connected = true);
        let service = Users::OfTheService;
        let table = [
            (Level::L1, service, quiet, None),
            (Level::L3, service, quiet, Some(CanaryAct::See)),
            (Level::L1, service, loud, None),
            (Level::L2, service, loud, Some(CanaryAct::Signal)),
            (Level::L1, service, read, Some(CanaryAct::Read)),
            (Level::L1, service, changed_mode, None),
            (Level::L2, service, changed_mode, Some(CanaryAct::SetMode)),
            (Level::L1, Users::OfEachRun, changed_mode, Some(CanaryAct::SetMode)),
            (Level::L1, service, set_limit, Some(CanaryAct::SetLimit)),
            (Level::L1, service, emptied, Some(CanaryAct::Empty)),
            (Level::L2, service, connected, Some(CanaryAct::Connect)),
        ];
        for (level, users, report, act) in table {
            assert_eq!(not_blocked(level, users, report), act, "{level}: {report:?}");
        }
        assert_eq!(lacks(quiet).collect::<Vec<_>>(), []);
        assert_eq!(lacks(loud).collect::<Vec<_>>(), [IsolationCause::UnboundSignals]);
    }
}
