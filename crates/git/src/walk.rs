//! Walks a checkout with our own code: by file handles, never following a link, never entering `.git`, never running
//! git.

use crate::{
    ignores::{IgnoreFiles, IgnoreRule},
    names::RepoPath,
};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};
use std::{collections::BTreeMap, fs::File, io::Read, path::Path};

/// The deepest level of folders that is entered. Each level keeps a handle open.
const MAX_DEPTH: usize = 100;
/// The most entries that a tree may have.
const MAX_ENTRIES: usize = 2_000_000;
/// The most files that are recorded because a rule keeps them out, and the most entries of one ignored folder.
const MOST_LEFT_OUT: usize = 10_000;
const MOST_IN_FOLDER: usize = 1_000;
/// The number of bytes of a `.gitignore` that are read.
const IGNORE_FILE_CAP: u64 = 128 << 10;

/// The kind of a file in git's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Plain,
    Executable,
    Link,
}

/// The `lstat` data of a file. Two equal stamps mean that nobody wrote to it, because the change time cannot be set
/// back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) kind: FileKind,
    pub(crate) size: u64,
    mode: u32,
    inode: u64,
    modified: (i64, i64),
    /// The `ctime`, the time of the last change to the file or its permissions, as seconds and nanoseconds.
    pub(crate) changed: (i64, i64),
}

impl Stamp {
    /// Returns the stamp of a regular file or a symbolic link; `None` for anything else.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the enum is not ours: it has many variants, and more will come"
    )]
    pub(crate) fn of(stat: &Stat) -> Option<Self> {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if stat.st_mode & 0o100 != 0 => FileKind::Executable,
            FileType::RegularFile => FileKind::Plain,
            FileType::Symlink => FileKind::Link,
            _ => return None,
        };
        let time = |seconds, nanos| (seconds, i64::try_from(nanos).unwrap_or(0));
        Some(Self {
            kind,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mode: stat.st_mode,
            inode: stat.st_ino,
            modified: time(stat.st_mtime, stat.st_mtime_nsec),
            changed: time(stat.st_ctime, stat.st_ctime_nsec),
        })
    }

    /// The number of bytes of [`Stamp::to_bytes`].
    pub(crate) const BYTES: usize = 1 + 4 + 6 * 8;

    /// Returns the stamp in a form that can be stored.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let kind: u8 = match self.kind {
            FileKind::Plain => 0,
            FileKind::Executable => 1,
            FileKind::Link => 2,
        };
        let mut bytes = vec![kind];
        bytes.extend(self.mode.to_le_bytes());
        for number in [self.size, self.inode] {
            bytes.extend(number.to_le_bytes());
        }
        for number in [self.modified.0, self.modified.1, self.changed.0, self.changed.1] {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }

    /// Reads the stored form; `None` if these bytes are none.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let (mode, rest) = rest.split_first_chunk::<4>()?;
        let (numbers, []) = rest.as_chunks::<8>() else {
            return None;
        };
        let [size, inode, modified, modified_nanos, changed, changed_nanos] = numbers else {
            return None;
        };
        Some(Self {
            kind: match kind {
                0 => FileKind::Plain,
                1 => FileKind::Executable,
                2 => FileKind::Link,
                _ => return None,
            },
            size: u64::from_le_bytes(*size),
            mode: u32::from_le_bytes(*mode),
            inode: u64::from_le_bytes(*inode),
            modified: (i64::from_le_bytes(*modified), i64::from_le_bytes(*modified_nanos)),
            changed: (i64::from_le_bytes(*changed), i64::from_le_bytes(*changed_nanos)),
        })
    }
}

/// Why an entry cannot be taken as a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UntakenEntry {
    /// A fifo, a device, a socket.
    Special,
    /// A folder that we may not read.
    Unreadable,
    /// A folder below the deepest level that is entered.
    TooDeep,
}

#[derive(Debug, Default)]
pub(crate) struct WalkedTree {
    pub(crate) files: BTreeMap<RepoPath, Stamp>,
    pub(crate) odd: Vec<(RepoPath, UntakenEntry)>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// A file that a rule kept out of the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub path: RepoPath,
    pub rule: IgnoreRule,
    /// The folder that the rule matches; `None` if it matches the file itself.
    pub folder: Option<RepoPath>,
}

/// Why a walk ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WalkError {
    /// Something was moved or replaced during the walk.
    #[error("{0} changed while it was read")]
    Changing(RepoPath),
    /// The tree has more entries than the limit.
    #[error("more than {MAX_ENTRIES} entries")]
    TooMany,
    /// The disk failed.
    #[error("reading {0}: {1}")]
    Io(RepoPath, #[source] std::io::Error),
}

/// Opens the top folder of a checkout; refuses a symbolic link in its place.
pub(crate) fn open_root(root: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(root, folder_flags(), Mode::empty())
}

/// Lists the tree below `root` and treats ignore rules as `attention` says.
pub(crate) fn walk(root: &OwnedFd, attention: IgnoreFiles<'_>) -> Result<WalkedTree, WalkError> {
    let mut walk = Walk { attention, found: WalkedTree::default(), entries: 0 };
    walk.folder(root, &RepoPath::new(Vec::new()), 0, ParentMatch::Wanted)?;
    Ok(walk.found)
}

/// Opens a file below `root` part by part, refuses every symbolic link on the way, and returns the file with its stamp.
pub(crate) fn open_file(root: &OwnedFd, path: &RepoPath) -> rustix::io::Result<(File, Stamp)> {
    // Non-blocking, so that a fifo in the file's place cannot block us.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let (folder, name) = open_parent(root, path)?;
    let fd = rustix::fs::openat(folder.as_ref().unwrap_or(root), name, flags, Mode::empty())?;
    let stamp = Stamp::of(&rustix::fs::fstat(&fd)?).ok_or(Errno::LOOP)?;
    Ok((File::from(fd), stamp))
}

/// Returns the target and the stamp of the symbolic link at `path` below `root`.
pub(crate) fn read_link(root: &OwnedFd, path: &RepoPath) -> rustix::io::Result<(Vec<u8>, Stamp)> {
    let (folder, name) = open_parent(root, path)?;
    let folder = folder.as_ref().unwrap_or(root);
    let target = rustix::fs::readlinkat(folder, name, Vec::new())?;
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((target.into_bytes(), Stamp::of(&stat).ok_or(Errno::LOOP)?))
}

fn open_parent<'a>(root: &OwnedFd, path: &'a RepoPath) -> rustix::io::Result<(Option<OwnedFd>, &'a [u8])> {
    let mut parts = path.as_bytes().split(|byte| *byte == b'/');
    let name = parts.next_back().unwrap_or_default();
    let mut folder: Option<OwnedFd> = None;
    for part in parts {
        let next = rustix::fs::openat(folder.as_ref().unwrap_or(root), part, folder_flags(), Mode::empty())?;
        folder = Some(next);
    }
    Ok((folder, name))
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// The match of an ignore rule with a parent folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParentMatch {
    Wanted,
    Ignored,
}

struct Walk<'a> {
    attention: IgnoreFiles<'a>,
    found: WalkedTree,
    entries: usize,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &OwnedFd, path: &RepoPath, depth: usize, above: ParentMatch) -> Result<(), WalkError> {
        let names = self.names(folder, path)?;
        if self.attention.reads_rules() {
            let rules = if names.iter().any(|name| name == b".gitignore") { ignore_file(folder) } else { None };
            self.attention.enter(path, rules);
        }
        for name in &names {
            self.entry(folder, &path.join(name), name, depth, above)?;
        }
        self.attention.leave();
        Ok(())
    }

    /// Returns the names in a folder, sorted, without `.git`.
    fn names(&mut self, folder: &OwnedFd, path: &RepoPath) -> Result<Vec<Vec<u8>>, WalkError> {
        let failed = |error: Errno| WalkError::Io(path.clone(), error.into());
        let mut names = Vec::new();
        for entry in Dir::read_from(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b".." | b".git") {
                continue;
            }
            self.entries = self.entries.saturating_add(1);
            if self.entries > MAX_ENTRIES {
                return Err(WalkError::TooMany);
            }
            names.push(name.to_vec());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn entry(
        &mut self,
        parent: &OwnedFd,
        path: &RepoPath,
        name: &[u8],
        depth: usize,
        above: ParentMatch,
    ) -> Result<(), WalkError> {
        let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| failure(path, error))?;
        let folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let ignored = above == ParentMatch::Ignored || self.attention.ignores(path, folder);
        if ignored && !self.attention.base_has(path, folder) {
            self.leave_out(parent, path, name, folder);
            return Ok(());
        }
        if folder {
            let below = if ignored { ParentMatch::Ignored } else { ParentMatch::Wanted };
            return self.descend(parent, path, name, depth, below);
        }
        match Stamp::of(&stat) {
            Some(stamp) => drop(self.found.files.insert(path.clone(), stamp)),
            None => self.found.odd.push((path.clone(), UntakenEntry::Special)),
        }
        Ok(())
    }

    /// Records the files at a path that a rule keeps out.
    fn leave_out(&mut self, parent: &OwnedFd, path: &RepoPath, name: &[u8], folder: bool) {
        let Some((matched, rule)) = self.attention.rule(path, folder) else {
            return;
        };
        let left_out = LeftOut { path: path.clone(), rule, folder: (folder || matched != *path).then_some(matched) };
        if folder {
            let mut room = MOST_IN_FOLDER;
            self.list_left_out(parent, name, &left_out, &mut room, 0);
        } else if self.found.left_out.len() < MOST_LEFT_OUT {
            self.found.left_out.push(left_out);
        }
    }

    /// Records files in an ignored folder until `room` is used up. Unreadable entries are skipped, since they are no
    /// work.
    fn list_left_out(&mut self, parent: &OwnedFd, name: &[u8], above: &LeftOut, room: &mut usize, depth: usize) {
        let opened = rustix::fs::openat(parent, name, folder_flags(), Mode::empty());
        let Ok(folder) = opened else { return };
        let Ok(entries) = Dir::read_from(&folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b".." | b".git") {
                continue;
            }
            if *room == 0 || self.found.left_out.len() >= MOST_LEFT_OUT {
                return;
            }
            *room = room.saturating_sub(1);
            let inside = LeftOut { path: above.path.join(name), ..above.clone() };
            match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory && depth < MAX_DEPTH => {
                    self.list_left_out(&folder, name, &inside, room, depth.saturating_add(1));
                }
                Ok(stat) if Stamp::of(&stat).is_some() => self.found.left_out.push(inside),
                Ok(_) | Err(_) => {}
            }
        }
    }

    fn descend(
        &mut self,
        parent: &OwnedFd,
        path: &RepoPath,
        name: &[u8],
        depth: usize,
        below: ParentMatch,
    ) -> Result<(), WalkError> {
        if depth >= MAX_DEPTH {
            self.found.odd.push((path.clone(), UntakenEntry::TooDeep));
            return Ok(());
        }
        match rustix::fs::openat(parent, name, folder_flags(), Mode::empty()) {
            Ok(folder) => self.folder(&folder, path, depth.saturating_add(1), below),
            Err(Errno::ACCESS) => {
                self.found.odd.push((path.clone(), UntakenEntry::Unreadable));
                Ok(())
            }
            Err(error) => Err(failure(path, error)),
        }
    }
}

/// Returns the error for an entry that could not be opened. An entry that has vanished or become a link since it was
/// listed changed during the walk.
fn failure(path: &RepoPath, error: Errno) -> WalkError {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => WalkError::Changing(path.clone()),
        other => WalkError::Io(path.clone(), other.into()),
    }
}

/// Reads a folder's own `.gitignore` if it is a regular file. Git does not follow a symbolic link there either.
fn ignore_file(folder: impl AsFd) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let fd = rustix::fs::openat(folder, ".gitignore", flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&fd).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut text = Vec::new();
    File::from(fd).take(IGNORE_FILE_CAP).read_to_end(&mut text).ok()?;
    Some(text)
}
