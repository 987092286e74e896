//! The folder for mirrors, checkouts and agents' home folders. Only one process uses it at a time.

use std::{
    fs::{File, TryLockError},
    io,
    io::{Read, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Folders that are empty while nothing runs. Whatever is in them at start was left by a killed process.
const LEFTOVERS: [&str; 2] = ["agents/runs", "gates"];

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

    /// Creates the folder if it is missing, locks it, and deletes the temporary files of an earlier process.
    pub fn take(path: &Path) -> Result<Self, NoDataFolder> {
        let failed = |source| NoDataFolder::Io { path: path.to_owned(), source };
        std::fs::create_dir_all(path).map_err(failed)?;
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
        Ok(Self { lock: Arc::new(lock) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
