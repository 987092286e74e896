//! The sandbox chosen for this machine: its level, its helper programs, and how it confines one program.

use crate::{
    cgroup::{Groups, NoGroups},
    egress::INSIDE_PORT,
    protocol::{Confinement, NetworkRoute},
    run_user,
    run_user::{RunUser, Users},
    spec::{Spec, StartError},
    visible,
};
use domain::isolation::{Level, LimitKeeper, Limits, MissingIsolation};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// The usual name of the program that makes namespaces.
const BUBBLEWRAP: &str = "bwrap";

/// How foreign programs are run.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    /// Our own binary, whose hidden subcommand is the launcher.
    pub launcher: PathBuf,
    /// The program that makes namespaces.
    pub bubblewrap: PathBuf,
    /// The folder in which the canary gets a folder to write in. It is on the file system where programs write later.
    pub trial_folder: PathBuf,
    /// Folders and files that no program sees unless they are given to it by name, such as the service's own.
    pub hidden: Vec<PathBuf>,
    /// A file of all certificates to trust, which every program gets; `None` for the one that the service's environment
    /// names.
    pub certificates: Option<PathBuf>,
    /// The limits for each program together with everything that it starts.
    pub limits: Limits,
}

impl SandboxOptions {
    /// Uses the running binary, even if its file has been replaced since.
    pub fn own_binary() -> Self {
        Self::with_launcher("/proc/self/exe")
    }

    /// Uses another binary of ours as the launcher, and the host's bubblewrap.
    pub fn with_launcher(launcher: impl Into<PathBuf>) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let usual = ["/usr/bin", "/usr/local/bin", "/bin"].map(PathBuf::from);
        let places = usual.into_iter().chain(std::env::split_paths(&path));
        let found = places.map(|folder| folder.join(BUBBLEWRAP)).find(|file| file.is_file());
        Self {
            launcher: launcher.into(),
            bubblewrap: found.unwrap_or_else(|| Path::new("/usr/bin").join(BUBBLEWRAP)),
            trial_folder: std::env::temp_dir(),
            hidden: Vec::new(),
            certificates: None,
            limits: Limits::default(),
        }
    }
}

/// Starts every foreign program except git. Clones share the same settings.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub(crate) options: Arc<SandboxOptions>,
    pub(crate) level: Level,
    /// The user as whom programs run at L1.
    pub(crate) users: Users,
    pub(crate) missing: Arc<[MissingIsolation]>,
    /// The place where control groups are made, or the reason why programs get none.
    pub(crate) groups: Arc<Result<Groups, NoGroups>>,
}

impl Sandbox {
    /// Makes a sandbox of exactly this level. If the machine does not offer it, each run fails. Also makes this process
    /// adopt the processes that a killed launcher leaves behind.
    pub fn at(options: SandboxOptions, level: Level) -> Self {
        if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
            tracing::warn!(%error, "orphans of a killed launcher cannot be adopted");
        }
        Self {
            options: Arc::new(options),
            level,
            users: if level == Level::L1 && run_user::can_have_users() {
                Users::OfEachRun
            } else {
                Users::OfTheService
            },
            missing: Arc::default(),
            groups: Arc::new(Err(NoGroups::NotTried)),
        }
    }

    /// Returns the user as whom programs run. At L2 and L3 they see another one in any case.
    pub fn users(&self) -> Users {
        self.users
    }

    /// Returns the function that gives a folder, with everything in it, to the user of the programs that may change it.
    /// The function returns `true` if any owner changed. `None` if this process cannot give files away.
    /// [`Sandbox::run`] does the same later, but a change of the owner shows in the change time of every file.
    pub fn hand_over(&self) -> Option<fn(&Path) -> std::io::Result<bool>> {
        run_user::can_have_users().then_some(match self.users {
            Users::OfTheService => RunUser::take_back,
            Users::OfEachRun => RunUser::give,
        })
    }

    /// Returns who enforces the memory and process limits.
    pub fn limits_held_by(&self) -> LimitKeeper {
        match self.groups.as_ref() {
            Ok(groups) => LimitKeeper::Kernel(groups.home.clone()),
            Err(reason) => LimitKeeper::Launcher(reason.to_string()),
        }
    }

    /// Returns the things that this machine lacks for better isolation.
    pub fn missing(&self) -> &[MissingIsolation] {
        &self.missing
    }

    /// Returns the paths that a program must see so that the program or script at `path` works.
    pub fn around(&self, path: &Path) -> Vec<PathBuf> {
        visible::around(path, &self.options.hidden)
    }

    /// Returns the virtual environment of Python that contains a path, with its Python; nothing if there is none.
    pub fn virtual_environment(&self, path: &Path) -> Vec<PathBuf> {
        visible::virtual_environment(path, &self.options.hidden)
    }

    /// Returns the isolation level. Programs run at exactly this level or are not started.
    pub fn level(&self) -> Level {
        self.level
    }

    pub(crate) fn confinement(&self, spec: &Spec) -> Result<Confinement, StartError> {
        let text = |path: &PathBuf| path.clone().into_os_string();
        let readable = || visible::readable(spec, &self.options.hidden);
        let read = match self.level {
            Level::L0 => Vec::new(),
            Level::L1 => [readable(), ["/proc", "/sys/devices/system/cpu"].map(PathBuf::from).into()].concat(),
            Level::L2 | Level::L3 => readable(),
        };
        let mounts = spec.confine.mounts.iter().map(|(from, to)| match self.level {
            Level::L0 | Level::L1 => (text(from), text(from)),
            Level::L2 | Level::L3 => (text(from), text(to)),
        });
        // At L2 and L3 the whole of `/usr` is visible, so hidden paths in it are covered by something empty.
        let masked = self.options.hidden.iter().filter(|path| path.starts_with("/usr"));
        Ok(Confinement {
            level: self.level,
            user: self.user(spec)?,
            masked: masked.map(text).collect(),
            bubblewrap: text(&self.options.bubblewrap),
            read: read.iter().map(text).collect(),
            write: spec.confine.write.iter().map(text).collect(),
            mounts: mounts.collect(),
            limits: self.options.limits,
            way: self.choose_route(spec),
            own: false,
        })
    }

    fn user(&self, spec: &Spec) -> Result<Option<RunUser>, StartError> {
        let mounts = spec.confine.mounts.iter().map(|(from, _)| from);
        match self.users {
            Users::OfTheService => Ok(None),
            Users::OfEachRun => RunUser::of(spec.confine.write.iter().chain(mounts))
                .map(Some)
                .map_err(|error| StartError::Isolation(format!("user of the run: {error}"))),
        }
    }

    fn choose_route(&self, spec: &Spec) -> NetworkRoute {
        match (&spec.confine.door, self.level) {
            (None, _) => NetworkRoute::Nowhere,
            (Some(door), Level::L0 | Level::L1) => NetworkRoute::Port(door.port()),
            (Some(door), Level::L2 | Level::L3) => {
                NetworkRoute::Bridge { socket: door.socket().into_os_string(), port: INSIDE_PORT }
            }
        }
    }
}
