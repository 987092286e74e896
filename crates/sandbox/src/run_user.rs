//! The user of a run at L1 if the service is root: one that nothing else on the machine uses. The files that a run may
//! change belong to this user, so a program can change the modes of its own files, but of no file of the service.

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, ResolveFlags, Uid},
    io::Errno,
    thread::{CapabilitiesSecureBits, CapabilitySet},
};
use serde::{Deserialize, Serialize};
use std::{
    ffi::OsStr,
    fs, io,
    ops::Range,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{ffi::OsStrExt, fs::MetadataExt},
    },
    path::{Path, PathBuf},
};

/// The ids of users and groups from which one is drawn for each run. Distributions, directory services and container
/// managers leave these 2^27 ids alone (<https://systemd.io/UIDS-GIDS/>).
const IDS: Range<u32> = 1_879_048_192..2_013_265_920;
/// The number of bits by which a random `u32` is too long for these ids.
const SURPLUS_BITS: u32 = 5;

/// The capabilities that the service needs to give runs users of their own. A Docker container has them.
const NEEDED: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::SETUID);

/// The user as whom programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Users {
    /// The service's own.
    OfTheService,
    /// Each run has one of its own.
    OfEachRun,
}

/// The user of a run; its group has the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunUser(u32);

impl RunUser {
    /// Draws a user at random. With 1,000 runs at once, two of them have the same user once in 270 times.
    fn draw() -> io::Result<Self> {
        let random = getrandom::u32().map_err(io::Error::other)?;
        Ok(Self(IDS.start + (random >> SURPLUS_BITS)))
    }

    /// Returns the user to whom one of these files or folders was given before, or a new one.
    pub(crate) fn of(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> io::Result<Self> {
        let mut known = paths.into_iter().filter_map(|path| Self::owner_of(path.as_ref()));
        known.next().map_or_else(Self::draw, Ok)
    }

    /// Returns the user to whom a file or folder was given; `None` if it was given to none.
    fn owner_of(path: &Path) -> Option<Self> {
        let id = fs::metadata(path).ok()?.uid();
        IDS.contains(&id).then_some(Self(id))
    }

    /// Gives files of the user of a run back to this process's user, because programs at L2 and L3 could not change
    /// them. Returns `true` if any owner changed.
    pub(crate) fn take_back(path: &Path) -> io::Result<bool> {
        match Self::owner_of(path) {
            Some(_) => Self(rustix::process::geteuid().as_raw()).take(path),
            None => Ok(false),
        }
    }

    /// Gives a folder and its content to the run's user who owns it, or to a new one. Returns `true` if any owner
    /// changed.
    pub(crate) fn give(folder: &Path) -> io::Result<bool> {
        Self::of([folder])?.take(folder)
    }

    fn uid(self) -> Uid {
        Uid::from_raw(self.0)
    }

    fn gid(self) -> Gid {
        Gid::from_raw(self.0)
    }

    /// Gives an open file to this user, who could otherwise not open `/dev/stdout` if that is a pipe.
    pub(crate) fn own(self, file: impl AsFd) -> io::Result<()> {
        Ok(rustix::fs::fchown(file, Some(self.uid()), Some(self.gid()))?)
    }

    /// Gives a file, or a folder with everything in it, to this user. A path that does not exist is left out. No link
    /// is followed, so nothing outside the folder changes hands, whatever a program does there meanwhile. The folder
    /// itself comes last, so that even after a crash its owner shows if everything in it was given. Returns `true` if
    /// anything had another owner.
    pub(crate) fn take(self, path: &Path) -> io::Result<bool> {
        let path = match fs::canonicalize(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            path => path?,
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut changes = match rustix::fs::open(&path, flags, Mode::empty()) {
            Err(Errno::NOTDIR) => false,
            top => self.take_contents(&top?, flags)?,
        };
        self.take_entry(CWD, path.as_os_str(), &mut changes)?;
        Ok(changes)
    }

    fn take_contents(self, top: &OwnedFd, flags: OFlags) -> io::Result<bool> {
        let mut changes = false;
        let mut open = vec![PathBuf::from(".")];
        while let Some(folder) = open.pop() {
            let Some(handle) = enter(top, &folder, flags)? else {
                continue;
            };
            for entry in Dir::read_from(&handle)? {
                let entry = entry?;
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name != "."
                    && name != ".."
                    && self.take_entry(&handle, name, &mut changes)? == Some(FileType::Directory)
                {
                    open.push(folder.join(name));
                }
            }
        }
        Ok(changes)
    }

    /// Gives one entry of a folder to this user and returns its type; `None` if it is gone. An entry that the user has
    /// already keeps its change time; any other one sets `changes`.
    fn take_entry(self, folder: impl AsFd, name: &OsStr, changes: &mut bool) -> io::Result<Option<FileType>> {
        let stat = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat?,
        };
        if (stat.st_uid, stat.st_gid) != (self.0, self.0) {
            let (user, group) = (Some(self.uid()), Some(self.gid()));
            match rustix::fs::chownat(&folder, name, user, group, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => return Ok(None),
                changed => changed?,
            }
            *changes = true;
        }
        Ok(Some(FileType::from_raw_mode(stat.st_mode)))
    }

    /// Changes the user of this thread and everything it starts, without other groups. Returns the capability that it
    /// keeps: to read any file, or, in a container that lacks that, to ignore modes. Landlock decides which files a
    /// program reads and writes. Modes would keep it from its own checkout in a closed folder of the service.
    pub(crate) fn become_user(self) -> io::Result<CapabilitySet> {
        keep_capabilities()?;
        rustix::thread::set_thread_groups(&[])?;
        let (user, group) = (self.uid(), self.gid());
        rustix::thread::set_thread_res_gid(group, group, group)?;
        rustix::thread::set_thread_res_uid(user, user, user)?;
        let reading = rustix::thread::capabilities(None)?.permitted & CapabilitySet::DAC_READ_SEARCH;
        Ok(if reading.is_empty() { CapabilitySet::DAC_OVERRIDE } else { reading })
    }

    /// Lets this thread inspect the user's processes. The system shows them only to their own user, or to a process
    /// with a capability that containers lack. The thread keeps its own capabilities, and its user for signals.
    pub(crate) fn watch(self) -> io::Result<()> {
        keep_capabilities()?;
        rustix::thread::set_thread_res_gid(None, self.gid(), None)?;
        Ok(rustix::thread::set_thread_res_uid(None, self.uid(), None)?)
    }
}

/// Lets this thread, and programs that it starts, keep its capabilities under another user. Without it, `access` would
/// deny files that a program can read: the system answers that call for a user without capabilities.
fn keep_capabilities() -> io::Result<()> {
    let bits = CapabilitiesSecureBits::NO_SETUID_FIXUP;
    Ok(rustix::thread::set_capabilities_secure_bits(bits)?)
}

/// Opens a folder below `top`; `None` if it is gone, or if its path is too long. Only a run makes such long paths, and
/// its user owns them already.
fn enter(top: &OwnedFd, folder: &Path, flags: OFlags) -> io::Result<Option<OwnedFd>> {
    let below = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(top, folder, flags, Mode::empty(), below) {
        Ok(handle) => Ok(Some(handle)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// `true` if this process is root and may give each run a user of its own.
pub(crate) fn can_have_users() -> bool {
    let has_needed = || rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(NEEDED));
    let has_ids = |map| fs::read_to_string(map).is_ok_and(|map| has_all_ids(&map));
    rustix::process::geteuid().is_root()
        && has_needed()
        && ["/proc/self/uid_map", "/proc/self/gid_map"].into_iter().all(has_ids)
}

/// `true` if a map of a user namespace has all ids of runs. Each of its lines has the first id inside, the first id
/// outside, and their number.
fn has_all_ids(map: &str) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map_while(|number| number.parse::<u64>().ok());
        let (first, number) = (numbers.next(), numbers.nth(1));
        let end = first.zip(number).map(|(first, number)| first.saturating_add(number));
        first.is_some_and(|first| first <= u64::from(IDS.start)) && end >= Some(u64::from(IDS.end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn ids_that_a_namespace_lacks_are_noticed() {
        assert!(has_all_ids("         0          0 4294967295\n"));
        assert!(has_all_ids("0 100000 65536\n65536 1000000 4000000000\n"));
        assert!(!has_all_ids("0 100000 65536\n"));
        assert!(!has_all_ids("0 0 1879048200\n") && !has_all_ids("") && !has_all_ids("a b c\n"));
    }

    #[test]
    fn users_are_drawn_from_all_ids_of_runs() {
        let drawn: Vec<u32> = (0..1_000).map(|_| RunUser::draw().unwrap().0).collect();
        assert!(drawn.iter().all(|id| IDS.contains(id)));
        let middle = IDS.start.midpoint(IDS.end);
        assert!(drawn.iter().any(|id| *id < middle) && drawn.iter().any(|id| *id >= middle));
    }

    #[test]
    fn a_folder_changes_hands_with_all_in_it_and_nothing_outside() {
        if !can_have_users() {
            eprintln!("not tried: this process cannot give files away");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (given, outside) = (folder.path().join("given"), folder.path().join("outside"));
        fs::create_dir_all(given.join("a/b")).unwrap();
        fs::create_dir(&outside).unwrap();
        for file in [given.join("a/b/file"), outside.join("file")] {
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o4755)).unwrap();
        }
        symlink(&outside, given.join("a/link")).unwrap();
        let user = RunUser::draw().unwrap();
        assert!(user.take(&given).unwrap());
        assert!(!user.take(&folder.path().join("nowhere")).unwrap());
        let owner = |path: &Path| fs::symlink_metadata(path).unwrap().uid();
        for path in ["", "a", "a/b", "a/b/file", "a/link"] {
            assert_eq!(owner(&given.join(path)), user.0, "{path}");
        }
        assert_eq!([owner(&outside), owner(&outside.join("file"))], [0, 0]);
        // A change of the owner clears the set-user-id bit.
        assert_eq!(fs::metadata(given.join("a/b/file")).unwrap().mode() & 0o7777, 0o755);
        assert_eq!(RunUser::of([&outside, &given]).unwrap(), user);
        assert_ne!(RunUser::of([&outside]).unwrap(), user);
        assert!(!RunUser::take_back(&outside).unwrap());
        let changed = |path: &Path| fs::metadata(path).map(|meta| (meta.ctime(), meta.ctime_nsec())).unwrap();
        let before = changed(&given.join("a/b/file"));
        assert!(!RunUser::give(&given).unwrap());
        assert_eq!(changed(&given.join("a/b/file")), before);
        fs::write(given.join("a/new"), "").unwrap();
        assert!(RunUser::give(&given).unwrap());
        assert_eq!(owner(&given.join("a/new")), user.0);
        assert!(RunUser::take_back(&given).unwrap());
        assert_eq!(owner(&given.join("a/link")), 0);
    }
}
