//! Files that commands leave in a checkout: read without following a link, and never more than asked for.

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, FileType, Mode, OFlags},
    io::Errno,
};
use std::{fs::File, io::Read, path::Path};

/// Why a file that should be evidence is none. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoFile {
    /// The settings name something outside the checkout.
    #[error("it is not a path inside the repository")]
    Outside,
    /// Nothing is there.
    #[error("the command did not write it")]
    Missing,
    /// A link, a folder or the like stands there or on the way.
    #[error("it is not a regular file, or a link stands on the way to it")]
    NotAFile,
    /// It is over the cap.
    #[error("it is larger than {0} bytes")]
    TooLarge(u64),
    /// The system refused.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// The bytes of a file below `root`.
pub(crate) fn read(root: &Path, path: &str, cap: u64) -> Result<Vec<u8>, NoFile> {
    let (folder, name) = parent(root, path)?;
    // Non-blocking, so that a fifo in its place cannot hold us up.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::openat(&folder, name, flags, Mode::empty()).map_err(refused)?;
    let stat = rustix::fs::fstat(&file).map_err(refused)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(NoFile::NotAFile);
    }
    let mut bytes = Vec::new();
    File::from(file)
        .take(cap.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| NoFile::Unreadable(error.to_string()))?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= cap => Ok(bytes),
        _ => Err(NoFile::TooLarge(cap)),
    }
}

/// Takes away what stands at a path below `root`, so that what is there later was written later.
pub(crate) fn clear(root: &Path, path: &str) -> Result<(), NoFile> {
    let (folder, name) = match parent(root, path) {
        Ok(found) => found,
        Err(NoFile::Missing) => return Ok(()),
        Err(other) => return Err(other),
    };
    match rustix::fs::unlinkat(&folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(refused(error)),
    }
}

/// The folder of a path, opened part by part without following links, and the file's name.
fn parent<'a>(root: &Path, path: &'a str) -> Result<(OwnedFd, &'a str), NoFile> {
    let parts = parts(path)?;
    let Some((name, folders)) = parts.split_last() else {
        return Err(NoFile::Outside);
    };
    let mut folder = rustix::fs::open(root, folder_flags(), Mode::empty()).map_err(refused)?;
    for part in folders {
        folder = rustix::fs::openat(folder.as_fd(), *part, folder_flags(), Mode::empty()).map_err(refused)?;
    }
    Ok((folder, name))
}

/// The parts of a path that stays below its root.
fn parts(path: &str) -> Result<Vec<&str>, NoFile> {
    let parts: Vec<&str> = path.split('/').filter(|part| *part != ".").collect();
    let is_fine = |part: &str| !part.is_empty() && part != ".." && !part.contains('\0');
    match parts.iter().copied().all(is_fine) {
        true => Ok(parts),
        false => Err(NoFile::Outside),
    }
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn refused(error: Errno) -> NoFile {
    match error {
        Errno::NOENT => NoFile::Missing,
        Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO => NoFile::NotAFile,
        other => NoFile::Unreadable(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{NoFile, clear, read};
    use std::{fs, os::unix::fs::symlink};

    #[test]
    fn only_regular_files_inside_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("work");
        fs::create_dir_all(root.join("out")).unwrap();
        fs::write(folder.path().join("secret"), "s").unwrap();
        fs::write(root.join("out/report.xml"), "text").unwrap();
        symlink("../secret", root.join("link")).unwrap();
        symlink("..", root.join("up")).unwrap();
        let table = [
            ("out/report.xml", Ok("text")),
            ("./out/report.xml", Ok("text")),
            ("link", Err(NoFile::NotAFile)),
            ("up/secret", Err(NoFile::NotAFile)),
            ("out", Err(NoFile::NotAFile)),
            ("out/none", Err(NoFile::Missing)),
            ("none/none", Err(NoFile::Missing)),
            ("../secret", Err(NoFile::Outside)),
            ("/etc/passwd", Err(NoFile::Outside)),
            ("", Err(NoFile::Outside)),
        ];
        for (path, expected) in table {
            assert_eq!(
                read(&root, path, 4),
                expected.map(|text: &str| text.as_bytes().to_vec()),
                "{path}"
            );
        }
        assert_eq!(read(&root, "out/report.xml", 3), Err(NoFile::TooLarge(3)));
    }

    #[test]
    fn what_was_there_before_is_taken_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("work");
        fs::create_dir_all(&root).unwrap();
        fs::write(folder.path().join("kept"), "k").unwrap();
        fs::write(root.join("old"), "o").unwrap();
        symlink("../kept", root.join("link")).unwrap();
        symlink("..", root.join("up")).unwrap();
        assert_eq!(clear(&root, "old"), Ok(()));
        assert_eq!(clear(&root, "link"), Ok(()));
        assert_eq!(clear(&root, "none/old"), Ok(()));
        assert_eq!(clear(&root, "up/kept"), Err(NoFile::NotAFile));
        assert!(!root.join("old").exists() && !root.join("link").exists() && folder.path().join("kept").exists());
    }
}
