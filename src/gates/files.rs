//! Reads files that commands left in a checkout, without following links and never beyond a size limit.

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, FileType, Mode, OFlags},
    io::Errno,
};
use std::{fs::File, io::Read, path::Path};

/// A reason why a file cannot serve as evidence. Each message is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoFile {
    /// The settings name a path outside the checkout.
    #[error("it is not a path inside the repository")]
    Outside,
    /// The file does not exist.
    #[error("the command did not write it")]
    Missing,
    /// The path, or a part of it, is a link, a folder or another special file.
    #[error("it is not a regular file, or a link stands on the way to it")]
    NotAFile,
    /// The file is larger than this limit.
    #[error("it is larger than {0} bytes")]
    TooLarge(u64),
    /// The system refused to read it.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

pub(crate) fn read(root: &Path, path: &str, cap: u64) -> Result<Vec<u8>, NoFile> {
    let (folder, name) = parent(root, path)?;
    // Non-blocking, so that opening a fifo does not hang.
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

/// Removes the file at a path below `root`, so that a file found there later was written later.
pub(crate) fn clear(root: &Path, path: &str) -> Result<(), NoFile> {
    let cleared = parent(root, path).and_then(|(folder, name)| {
        let unlinked = rustix::fs::unlinkat(&folder, name, AtFlags::empty());
        unlinked.map_err(refused)
    });
    match cleared {
        Err(NoFile::Missing) => Ok(()),
        cleared => cleared,
    }
}

/// Opens the folder of a path part by part, without following links, and returns it with the file's name.
fn parent<'a>(root: &Path, path: &'a str) -> Result<(OwnedFd, &'a str), NoFile> {
    let parts = parts(path)?;
    let Some((name, folders)) = parts.split_last() else {
        return Err(NoFile::Outside);
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = rustix::fs::open(root, flags, Mode::empty()).map_err(refused)?;
    for part in folders {
        folder = rustix::fs::openat(folder.as_fd(), *part, flags, Mode::empty()).map_err(refused)?;
    }
    Ok((folder, name))
}

/// Splits a path into parts; fails if it could leave its root.
fn parts(path: &str) -> Result<Vec<&str>, NoFile> {
    let parts: Vec<&str> = path.split('/').filter(|part| *part != ".").collect();
    let is_fine = |part: &str| !part.is_empty() && part != ".." && !part.contains('\0');
    if parts.iter().copied().all(is_fine) { Ok(parts) } else { Err(NoFile::Outside) }
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
            assert_eq!(read(&root, path, 4), expected.map(|text: &str| text.as_bytes().to_vec()), "{path}");
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
