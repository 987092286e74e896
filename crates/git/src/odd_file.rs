//! Finds what makes git wait without end or read without end in a person's folder: pipes, devices and huge files in the
//! place of its own files. It looks at names, kinds and sizes, and opens nothing but the file that names git's folder.

use std::{
    collections::VecDeque,
    fs,
    fs::{DirEntry, FileType},
    io::Read,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

/// The most entries that are looked at in git's folder, and in the work tree.
const MOST_OF_GIT: usize = 200_000;
const MOST_OF_TREE: usize = 20_000;
/// The largest file of settings or rules, in bytes. Git refuses files with attributes above this.
const MOST_BYTES: u64 = 100 << 20;
/// The longest file that names git's folder, in bytes.
const LONGEST_NAME: u64 = 8 << 10;
/// Files of settings and rules in git's folder.
const SMALL: [&str; 4] = ["attributes", "config", "config.worktree", "exclude"];
/// Folders inside git's that git does not read for our calls.
const UNREAD: [&str; 4] = ["autobuild", "hooks", "lfs", "modules"];

/// A file at which git would not come to an end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OddFile {
    #[error("{0} is a pipe, at which git would wait without end: delete it, or put a file in its place")]
    Pipe(PathBuf),
    #[error("{0} is a device, which git would read without end: delete it, or put a file in its place")]
    Device(PathBuf),
    #[error("{0} is larger than {most} bytes, which git would read as a whole: delete it, or make it smaller", most = MOST_BYTES)]
    Large(PathBuf),
}

/// Returns the first such file of the repository around a folder.
pub(crate) fn find(folder: &Path) -> Option<OddFile> {
    let top = folder.ancestors().find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok())?;
    let dot_git = top.join(".git");
    let found = fs::metadata(&dot_git).ok()?;
    if let Some(odd) = odd_kind(&dot_git, found.file_type()) {
        return Some(odd);
    }
    let folders = if found.is_dir() { vec![dot_git] } else { named_folders(top, &dot_git) };
    let in_git = folders.iter().find_map(|folder| {
        walk(
            folder,
            MOST_OF_GIT,
            |entry| !UNREAD.iter().any(|name| entry.file_name() == *name),
            |entry| {
                let is_small = SMALL.iter().any(|name| entry.file_name() == *name);
                odd(entry).or_else(|| is_small.then(|| large(entry)).flatten())
            },
        )
    });
    in_git.or_else(|| {
        walk(
            top,
            MOST_OF_TREE,
            |entry| entry.file_name() != ".git",
            |entry| {
                // Git follows no link with this name.
                let is_read =
                    entry.file_name() == ".gitignore" && entry.file_type().is_ok_and(|kind| !kind.is_symlink());
                is_read.then(|| odd(entry).or_else(|| large(entry))).flatten()
            },
        )
    })
}

/// Returns the folders of a linked work tree: its own inside git's folder, and git's folder.
fn named_folders(top: &Path, file: &Path) -> Vec<PathBuf> {
    let text = |file: &Path| {
        let mut text = String::new();
        let read = fs::metadata(file).is_ok_and(|found| found.is_file()).then(|| fs::File::open(file).ok());
        read.flatten().and_then(|file| file.take(LONGEST_NAME).read_to_string(&mut text).ok());
        text.trim().to_owned()
    };
    let Some(own) = text(file).strip_prefix("gitdir: ").map(|named| top.join(named)) else {
        return Vec::new();
    };
    let common = own.join(text(&own.join("commondir")));
    vec![own, common]
}

/// Goes through a folder, the upper levels first, and returns the first finding. Links to folders are not followed.
fn walk(
    folder: &Path,
    most: usize,
    enters: impl Fn(&DirEntry) -> bool,
    finding: impl Fn(&DirEntry) -> Option<OddFile>,
) -> Option<OddFile> {
    let mut folders: VecDeque<PathBuf> = [folder.to_owned()].into();
    let mut left = most;
    while let Some(folder) = folders.pop_front() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            left = left.checked_sub(1)?;
            if let Some(found) = finding(&entry) {
                return Some(found);
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && enters(&entry) {
                folders.push_back(entry.path());
            }
        }
    }
    None
}

fn odd(entry: &DirEntry) -> Option<OddFile> {
    let kind = entry.file_type().ok()?;
    if !kind.is_symlink() {
        return odd_kind(&entry.path(), kind);
    }
    odd_kind(&entry.path(), fs::metadata(entry.path()).ok()?.file_type())
}

fn odd_kind(path: &Path, kind: FileType) -> Option<OddFile> {
    if kind.is_fifo() {
        return Some(OddFile::Pipe(path.to_owned()));
    }
    let is_device = kind.is_char_device() || kind.is_block_device();
    // People switch a file off with a link to the empty device.
    let is_empty = || fs::canonicalize(path).is_ok_and(|path| path == Path::new("/dev/null"));
    (is_device && !is_empty()).then(|| OddFile::Device(path.to_owned()))
}

fn large(entry: &DirEntry) -> Option<OddFile> {
    let found = fs::metadata(entry.path()).ok()?;
    (found.is_file() && found.len() > MOST_BYTES).then(|| OddFile::Large(entry.path()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, mknodat};
    use std::os::unix::fs::symlink;

    fn pipe(path: &Path) {
        mknodat(CWD, path, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
    }

    /// Makes a repository with a file of each kind in git's folder and in the work tree.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for inner in [".git/info", ".git/refs/heads", ".git/objects/info", ".git/lfs", "src/deep"] {
            fs::create_dir_all(folder.path().join(inner)).unwrap();
        }
        fs::write(folder.path().join("src/.gitignore"), "target\n").unwrap();
        symlink("/dev/null", folder.path().join(".git/info/exclude")).unwrap();
        folder
    }

    #[test]
    fn a_pipe_or_device_that_git_would_read_is_found() {
        for place in [".git/config", ".git/info/grafts", ".git/refs/heads/main", ".git/shallow", "src/.gitignore"] {
            let folder = repository();
            let path = folder.path().join(place);
            assert_eq!(find(&folder.path().join("src/deep")), None);
            let _ = fs::remove_file(&path);
            pipe(&path);
            assert_eq!(find(&folder.path().join("src/deep")), Some(OddFile::Pipe(path)));
        }
        let folder = repository();
        let path = folder.path().join(".git/packed-refs");
        symlink("/dev/zero", &path).unwrap();
        assert_eq!(find(folder.path()), Some(OddFile::Device(path)));
        for place in [".git/lfs/x", "src/deep/pipe"] {
            let folder = repository();
            pipe(&folder.path().join(place));
            assert_eq!(find(folder.path()), None, "git does not read {place}");
        }
    }

    #[test]
    fn a_huge_file_of_rules_is_found() {
        let table =
            [(".git/info/attributes", true), (".gitignore", true), (".git/index", false), (".git/packed-refs", false)];
        for (place, is_found) in table {
            let folder = repository();
            let path = folder.path().join(place);
            fs::File::create(&path).unwrap().set_len(MOST_BYTES + 1).unwrap();
            assert_eq!(find(folder.path()), is_found.then_some(OddFile::Large(path)));
        }
    }

    #[test]
    fn the_folder_of_a_linked_work_tree_is_found() {
        let folder = repository();
        let linked = tempfile::tempdir().unwrap();
        let own = folder.path().join(".git/worktrees/one");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(linked.path().join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        assert_eq!(find(linked.path()), None);
        pipe(&folder.path().join(".git/config"));
        assert_eq!(find(linked.path()), Some(OddFile::Pipe(own.join("../../config"))));
    }
}
