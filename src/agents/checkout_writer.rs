//! Writes and deletes files of a checkout by name, without ever following a symbolic link out of it.

use rustix::fs::{AtFlags, Mode, OFlags};
use std::{
    fs::File,
    io,
    io::Write,
    os::fd::OwnedFd,
    path::{Component, Path},
};

/// Writes `text` to `path` within `root`, and makes missing folders. A script (`#!`) becomes executable.
pub(crate) fn write(root: &Path, path: &Path, text: &str) -> io::Result<()> {
    let (folder, name) = parent(root, path, Missing::Make)?;
    let mode = if text.starts_with("#!") { Mode::from_raw_mode(0o755) } else { Mode::from_raw_mode(0o644) };
    // Non-blocking, because a planted pipe without a reader must not block us.
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&folder, name, flags, mode)?;
    if mode.contains(Mode::XUSR) {
        rustix::fs::fchmod(&file, mode)?;
    }
    File::from(file).write_all(text.as_bytes())
}

/// Deletes the file, link or folder at `path` within `root`.
pub(crate) fn delete(root: &Path, path: &Path) -> io::Result<()> {
    let (folder, name) = parent(root, path, Missing::Refuse)?;
    match rustix::fs::unlinkat(&folder, name, AtFlags::empty()) {
        // The parents were just checked to be real folders, and this removes links inside without following them.
        Err(rustix::io::Errno::ISDIR | rustix::io::Errno::PERM) => std::fs::remove_dir_all(root.join(path)),
        ended => Ok(ended?),
    }
}

/// The treatment of a missing parent folder.
#[derive(Clone, Copy)]
enum Missing {
    Make,
    Refuse,
}

/// Opens the parent folder of `path`, step by step, and refuses symbolic links.
fn parent<'a>(root: &Path, path: &'a Path, missing: Missing) -> io::Result<(OwnedFd, &'a Path)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let leaves = || io::Error::other("the path leaves the checkout");
    let name = Path::new(path.file_name().ok_or_else(leaves)?);
    let mut folder = rustix::fs::open(root, flags, Mode::empty())?;
    for part in path.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(part) = part else {
            return Err(leaves());
        };
        if let Missing::Make = missing {
            match rustix::fs::mkdirat(&folder, part, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        folder = rustix::fs::openat(&folder, part, flags, Mode::empty())?;
    }
    Ok((folder, name))
}

#[cfg(test)]
mod tests {
    use super::{delete, write};
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
        path::Path,
    };

    #[test]
    fn files_are_written_and_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        write(root, Path::new("a/b/c.txt"), "one").unwrap();
        write(root, Path::new("a/b/c.txt"), "two").unwrap();
        write(root, Path::new("run.sh"), "#!/bin/sh\n").unwrap();
        assert_eq!(fs::read_to_string(root.join("a/b/c.txt")).unwrap(), "two");
        assert_eq!(fs::metadata(root.join("run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
        delete(root, Path::new("run.sh")).unwrap();
        delete(root, Path::new("a")).unwrap();
        assert_eq!(fs::read_dir(root).unwrap().count(), 0);
        assert!(delete(root, Path::new("a")).is_err());
    }

    #[test]
    fn links_are_never_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("in"), dir.path().join("out"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("precious"), "kept").unwrap();
        symlink(&outside, root.join("folder")).unwrap();
        symlink(outside.join("precious"), root.join("file")).unwrap();
        for path in ["folder/precious", "folder/new", "file"] {
            assert!(write(&root, Path::new(path), "changed").is_err(), "{path}");
        }
        assert!(delete(&root, Path::new("folder/precious")).is_err());
        assert!(write(&root, Path::new("../out/new"), "changed").is_err());
        delete(&root, Path::new("folder")).unwrap();
        delete(&root, Path::new("file")).unwrap();
        assert_eq!(fs::read_to_string(outside.join("precious")).unwrap(), "kept");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }

    #[test]
    fn a_planted_pipe_does_not_hold_a_write_up() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o644),
            0,
        )
        .unwrap();
        assert!(write(dir.path(), Path::new("pipe"), "text").is_err());
    }
}
