//! The folder for mirrors, checkouts and agents' home folders. Only one process uses it at a time.

use std::{
    fs::{DirBuilder, File, Permissions, TryLockError},
    io,
    io::{Read, Write},
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Folders that are empty while nothing runs. Whatever is in them at start was left by a killed process.
const LEFTOVERS: [&str; 2] = ["agents/runs", "gates"];

/// Folders that hold code and builds of customers. No other user of the machine may enter them.
const PRIVATE: [&str; 4] = ["git", "caches", "agents", "gates"];

/// The mode of a folder that only its owner may enter.
const CLOSED: u32 = 0o700;

/// The most bytes of the lock that are read: it holds an address.
const LONGEST_ADDRESS: u64 = 100;

/// The proof that no other process uses the folder. The operating system frees the lock when the process ends, however
/// it ends. Several services that run one after the other in one process share it.
#[derive(Clone, Debug)]
pub struct DataFolder {
    lock: Arc<File>,
}

/// The reason why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NoDataFolder {
    /// Another process uses it.
    #[error("the data folder {0} is used by another process: give each its own AUTOBUILD_DATA_DIR")]
    InUse(PathBuf),
    /// The operating system refused access.
    #[error("the data folder cannot be used: the user that runs AutoBuild must be able to write {path}")]
    Io {
        /// The folder, or a file in it.
        path: PathBuf,
        source: io::Error,
    },
}

/// The state in which a start finds the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundFolder {
    /// The folder can be written, or can be created.
    Free,
    /// Another process uses it.
    InUse,
}

impl DataFolder {
    /// Checks if the folder could be taken. Nothing is created or deleted.
    pub fn look(path: &Path) -> Result<FoundFolder, NoDataFolder> {
        let failed = |source| NoDataFolder::Io { path: path.to_owned(), source };
        let there = path.ancestors().find(|folder| folder.exists() || folder.as_os_str().is_empty());
        let there = there.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !there.is_dir() {
            return Err(failed(io::ErrorKind::NotADirectory.into()));
        }
        let all = rustix::fs::Access::WRITE_OK | rustix::fs::Access::READ_OK | rustix::fs::Access::EXEC_OK;
        rustix::fs::access(there, all).map_err(|error| failed(error.into()))?;
        let file = path.join("lock");
        match File::options().write(true).open(&file).map(|lock| lock.try_lock()) {
            Ok(Err(TryLockError::WouldBlock)) => Ok(FoundFolder::InUse),
            Ok(Ok(()) | Err(TryLockError::Error(_))) => Ok(FoundFolder::Free),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FoundFolder::Free),
            Err(source) => Err(NoDataFolder::Io { path: file, source }),
        }
    }

    /// Returns the address of the service that uses the folder; `None` if no service does. An address that a killed
    /// process left is ignored, since its lock is free.
    pub fn service(path: &Path) -> Result<Option<SocketAddr>, NoDataFolder> {
        let file = path.join("lock");
        let failed = |source| NoDataFolder::Io { path: file.clone(), source };
        let lock = match File::open(&file) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(failed(source)),
        };
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {}
            Ok(()) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let mut address = String::new();
        let read = lock.take(LONGEST_ADDRESS).read_to_string(&mut address);
        read.map_err(failed)?;
        Ok(address.trim().parse().ok())
    }

    /// Writes the service's address into the lock, so that other commands find the service by its folder.
    pub fn announce(&self, address: SocketAddr) -> io::Result<()> {
        (&*self.lock).write_all(format!("{address}\n").as_bytes())
    }

    /// Creates the folder if it is missing, locks it, closes what it holds to other users, and deletes the temporary files
    /// of an earlier process.
    pub fn take(path: &Path) -> Result<Self, NoDataFolder> {
        let failed = |source| NoDataFolder::Io { path: path.to_owned(), source };
        DirBuilder::new().recursive(true).mode(CLOSED).create(path).map_err(failed)?;
        let file = path.join("lock");
        let failed = |source| NoDataFolder::Io { path: file.clone(), source };
        let lock = File::options().create(true).truncate(false).write(true).open(&file).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(NoDataFolder::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        lock.set_len(0).map_err(failed)?;
        for folder in LEFTOVERS {
            match std::fs::remove_dir_all(path.join(folder)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => tracing::warn!(%error, "{folder} of the data folder could not be cleared"),
            }
        }
        for folder in PRIVATE.map(|name| path.join(name)) {
            if let Err(error) = close(&folder) {
                tracing::warn!(%error, "other users may read {}: its mode could not be changed", folder.display());
            }
        }
        Ok(Self { lock: Arc::new(lock) })
    }
}

/// Closes a folder to other users. The data folder itself keeps the mode that an operator gave to it. Programs of runs
/// with users of their own still read what is theirs: they may read despite modes, as far as their isolation lets them.
fn close(folder: &Path) -> io::Result<()> {
    match std::fs::metadata(folder) {
        Ok(meta) if meta.mode() & 0o077 == 0 => Ok(()),
        Ok(_) => std::fs::set_permissions(folder, Permissions::from_mode(CLOSED)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(CLOSED).create(folder)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_folder_holds_is_closed_to_other_users_also_in_one_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
        let (new, old) = (folder.path().join("a/new"), folder.path().join("old"));
        std::fs::create_dir_all(old.join("git/mirrors")).unwrap();
        for path in [&old, &old.join("git")] {
            std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        }
        for (path, own) in [(&new, 0o700), (&old, 0o755)] {
            let taken = DataFolder::take(path).unwrap();
            assert_eq!(mode(path), own);
            for name in PRIVATE {
                assert_eq!(mode(&path.join(name)), 0o700, "{name}");
            }
            drop(taken);
        }
    }

    #[test]
    fn a_folder_serves_one_process_and_is_cleared_for_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join("gates/home");
        std::fs::create_dir_all(&left).unwrap();
        let first = DataFolder::take(folder.path()).unwrap();
        assert!(!left.exists());
        assert!(matches!(DataFolder::take(folder.path()), Err(NoDataFolder::InUse(_))));
        drop(first);
        assert!(DataFolder::take(folder.path()).is_ok());
    }

    #[test]
    fn a_service_is_found_by_its_folder_as_long_as_it_lives() {
        let folder = tempfile::tempdir().unwrap();
        let address: SocketAddr = "[::1]:8080".parse().unwrap();
        assert_eq!(DataFolder::service(folder.path()).unwrap(), None);
        let taken = DataFolder::take(folder.path()).unwrap();
        assert_eq!(DataFolder::service(folder.path()).unwrap(), None, "it listens nowhere yet");
        taken.announce(address).unwrap();
        assert_eq!(DataFolder::service(folder.path()).unwrap(), Some(address));
        drop(taken);
        assert_eq!(DataFolder::service(folder.path()).unwrap(), None, "a stale address");
        let next = DataFolder::take(folder.path()).unwrap();
        assert_eq!(DataFolder::service(folder.path()).unwrap(), None);
        drop(next);
    }
}
