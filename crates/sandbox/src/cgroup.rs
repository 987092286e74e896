//! Control groups, version 2. If a part of their tree was delegated to the service, each program gets a group in it.
//! The kernel then limits the group's memory, including memory that no process maps, and its number of processes,
//! however fast they fork. It can also kill the whole group at once. The launcher watches the limits with or without a
//! group.

use domain::isolation::Limits;
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// The controllers that a group needs to enforce the limits.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// The attributes that systemd sets to 1 on a delegated group: the first for a user, the second for root.
const DELEGATED: [&str; 2] = ["user.delegate", "trusted.delegate"];
/// The group of the service's own processes. Only a group without processes can pass its controllers on.
const SERVICE: &str = "service";
/// The memory in bytes that is added for the launchers in a program's group.
const OWN_MEMORY: u64 = 64 << 20;
/// Threads count as processes in a control group.
const THREADS_PER_PROCESS: u64 = 4;
/// The processes that are added for the launchers and bubblewrap.
const OWN_PROCESSES: u64 = 16;
/// How often a dropped group is checked for its last process, and the pause between two checks.
const ROUNDS: u32 = 5_000;
const PAUSE: Duration = Duration::from_millis(2);

/// A delegated group, and the number of groups made in it.
#[derive(Debug)]
pub(crate) struct Groups {
    pub(crate) home: PathBuf,
    made: AtomicU64,
}

/// Why no groups can be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoGroups {
    #[error("not looked for")]
    NotTried,
    #[error("without isolation nothing is limited")]
    NoIsolation,
    #[error("control groups of version 2 are not mounted here")]
    NotMounted,
    #[error("this process is in no control group of version 2")]
    InNone,
    #[error("no control group was delegated to the service (systemd: Delegate=yes)")]
    NotDelegated,
    #[error("{} has no controller named {missing}", .home.display())]
    NoController { home: PathBuf, missing: &'static str },
    #[error("{} cannot be used: {source}", .path.display())]
    Unusable { path: PathBuf, source: io::Error },
}

impl NoGroups {
    fn unusable(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Unusable { path, source }
    }
}

impl Groups {
    /// Takes over the group that was delegated to this service. Moves the service's processes into a group of their
    /// own, and removes the groups that a killed service left behind.
    ///
    /// # Errors
    ///
    /// The group cannot be used.
    pub(crate) fn take() -> Result<Self, NoGroups> {
        let read = |path: &str| fs::read_to_string(path).map_err(NoGroups::unusable(path.as_ref()));
        let root = mounted(&read("/proc/self/mounts")?).ok_or(NoGroups::NotMounted)?;
        let own = own(&read("/proc/self/cgroup")?).ok_or(NoGroups::InNone)?;
        let home = candidates(&root, &own)
            .into_iter()
            .find(|folder| is_delegated(folder, &root))
            .ok_or(NoGroups::NotDelegated)?;
        Self::at(home)
    }

    fn at(home: PathBuf) -> Result<Self, NoGroups> {
        let offered = fs::read_to_string(home.join("cgroup.controllers")).unwrap_or_default();
        if let Some(missing) =
            CONTROLLERS.into_iter().find(|name| !offered.split_whitespace().any(|offer| offer == *name))
        {
            return Err(NoGroups::NoController { home, missing });
        }
        make_room(&home).map_err(NoGroups::unusable(&home))?;
        let groups = Self { home, made: AtomicU64::default() };
        groups.clear();
        Ok(groups)
    }

    /// Removes the groups of services that are gone, and kills the processes that still run in them.
    fn clear(&self) {
        let left = fs::read_dir(&self.home).into_iter().flatten().flatten();
        for folder in left.map(|entry| entry.path()) {
            let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some((pid, _)) = name.strip_prefix("run-").and_then(|rest| rest.split_once('-')) else {
                continue;
            };
            if !Path::new("/proc").join(pid).exists() {
                drop(Group { folder });
            }
        }
    }

    pub(crate) fn make(&self, limits: Limits) -> io::Result<Group> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let folder = self.home.join(format!("run-{}-{number}", std::process::id()));
        fs::create_dir(&folder)?;
        let group = Group { folder };
        let memory = limits.memory.saturating_add(OWN_MEMORY);
        let processes = limits.processes.saturating_mul(THREADS_PER_PROCESS);
        group.set("memory.max", memory)?;
        group.set("memory.oom.group", 1)?;
        group.set("pids.max", processes.saturating_add(OWN_PROCESSES))?;
        match group.set("memory.swap.max", 0) {
            // This kernel does not count swap per group.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(group),
            set => set.map(|()| group),
        }
    }
}

/// Moves the processes of the group itself into a group below it, so that it can pass its controllers on.
fn make_room(home: &Path) -> io::Result<()> {
    let service = home.join(SERVICE);
    // A process that is started meanwhile is in its parent's group, so look again.
    for _ in 0..10 {
        let members = fs::read_to_string(home.join("cgroup.procs"))?;
        if members.is_empty() {
            break;
        }
        fs::create_dir_all(&service)?;
        for pid in members.lines() {
            match fs::write(service.join("cgroup.procs"), pid) {
                // It ended meanwhile.
                Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {}
                moved => moved?,
            }
        }
    }
    fs::write(home.join("cgroup.subtree_control"), "+memory +pids")
}

/// One program's group. On drop, it is removed once its last process is gone.
#[derive(Debug)]
pub(crate) struct Group {
    folder: PathBuf,
}

impl Group {
    fn set(&self, file: &str, value: u64) -> io::Result<()> {
        fs::write(self.folder.join(file), value.to_string())
    }

    /// Moves a process into the group. Everything that it starts from then on is in the group too.
    pub(crate) fn admit(&self, pid: i32) -> io::Result<()> {
        fs::write(self.folder.join("cgroup.procs"), pid.to_string())
    }

    /// Returns `true` if the kernel killed a process of the group because memory ran out.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("memory.events")).unwrap_or_default();
        figure(&events, "oom_kill").is_some_and(|count| count > 0)
    }

    pub(crate) fn kill(&self) {
        // Exists since Linux 5.14. On older kernels the launcher's own sweep kills them.
        let _ = self.set("cgroup.kill", 1);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if fs::remove_dir(&self.folder).is_ok() {
            return;
        }
        let folder = std::mem::take(&mut self.folder);
        let removing = move || {
            for round in 0..ROUNDS {
                match fs::remove_dir(&folder) {
                    Ok(()) => return,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return,
                    // Processes that still run after half the time will not end by themselves.
                    Err(_) if round == ROUNDS / 2 => drop(fs::write(folder.join("cgroup.kill"), "1")),
                    Err(_) => std::thread::sleep(PAUSE),
                }
            }
            tracing::error!(group = %folder.display(), "a control group could not be removed");
        };
        if let Err(error) = std::thread::Builder::new().spawn(removing) {
            tracing::error!(%error, "a control group is left behind");
        }
    }
}

fn mounted(mounts: &str) -> Option<PathBuf> {
    let mut fields = mounts.lines().map(|line| line.split(' '));
    fields.find_map(|mut fields| {
        let (_, place, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup2").then(|| PathBuf::from(place))
    })
}

/// Returns the path of this process's group, from the root of the tree.
fn own(cgroup: &str) -> Option<String> {
    cgroup.lines().find_map(|line| line.strip_prefix("0::/")).map(str::to_owned)
}

/// Returns the service's own group and the one above it, since systemd may start a service below the delegated group.
fn candidates(root: &Path, own: &str) -> Vec<PathBuf> {
    let folder = root.join(own);
    let above = folder.parent().filter(|above| above.starts_with(root)).map(Path::to_path_buf);
    std::iter::once(folder).chain(above).collect()
}

/// `true` if systemd marked the group as delegated, or if it is the root of the tree that a container was given.
fn is_delegated(folder: &Path, root: &Path) -> bool {
    let marked = |name: &str| {
        let mut value = [0; 8];
        let read = rustix::fs::getxattr(folder, name, &mut value[..]);
        read.is_ok_and(|length| value.get(..length) == Some(b"1"))
    };
    // Only the root group of the whole machine has no `cgroup.type`.
    DELEGATED.iter().any(|name| marked(name)) || (folder == root && folder.join("cgroup.type").exists())
}

fn figure(events: &str, name: &str) -> Option<u64> {
    let mut lines = events.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(key, _)| *key == name)?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_found_beside_older_ones() {
        let mounts = "cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(mounted(mounts), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(mounted("tmpfs / tmpfs rw 0 0\n"), None);
        assert_eq!(own("8:pids:/a\n0::/b.slice/c\n"), Some("b.slice/c".to_owned()));
        assert_eq!(own("8:pids:/a\n"), None);
    }

    #[test]
    fn nobody_looks_further_up_than_the_group_above() {
        let root = Path::new("/cg");
        let found = candidates(root, "a/b/c");
        assert_eq!(found, [PathBuf::from("/cg/a/b/c"), PathBuf::from("/cg/a/b")]);
        assert_eq!(candidates(root, ""), [PathBuf::from("/cg/")]);
    }

    #[test]
    fn a_group_that_nobody_delegated_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("system.slice");
        fs::create_dir(&group).unwrap();
        assert!(!is_delegated(&group, root.path()) && !is_delegated(root.path(), root.path()));
        fs::write(root.path().join("cgroup.type"), "domain\n").unwrap();
        assert!(is_delegated(root.path(), root.path()));
    }

    #[test]
    fn a_group_without_its_controllers_is_refused_by_their_name() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("cgroup.controllers"), "cpu memory\n").unwrap();
        let refused = Groups::at(home.path().to_path_buf()).unwrap_err();
        assert!(matches!(refused, NoGroups::NoController { missing: "pids", .. }), "{refused}");
    }

    #[test]
    fn want_of_memory_is_read_from_the_events() {
        let events = "low 0\nmax 12\noom 1\noom_kill 2\n";
        assert_eq!(figure(events, "oom_kill"), Some(2));
        assert_eq!(figure("", "oom_kill"), None);
    }
}
