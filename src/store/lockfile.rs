//! The lock file, which proves that only one process uses an SQLite database.

use crate::store::error::OpenError;
use std::{
    fs::{File, OpenOptions, Permissions, TryLockError},
    io,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// Creates the database file if it is missing and takes its lock. The operating system frees the lock when the process
/// ends, however it ends. Returns the resolved path and the locked file.
///
/// Payloads may hold private repository data, so only the owner can read the files (mode 0600).
pub(super) fn take(database: &Path) -> Result<(PathBuf, File), OpenError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| OpenError::File { path, source }
    };
    if let Some(folder) = database.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
    }
    let database = resolved(database).map_err(failed(database))?;
    let path = lock_of(&database);
    let lock = create(&path).map_err(failed(&path))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path)),
        Err(TryLockError::Error(source)) => return Err(OpenError::File { path, source }),
    }
    // Only a missing file is opened: closing a file drops every POSIX lock that this process holds on it, including
    // those of another open handle of the database.
    if !database.is_file() {
        create(&database).map_err(failed(&database))?;
    }
    for end in FILES {
        close_to_all(&beside(&database, end));
    }
    Ok((database, lock))
}

/// The ends of the names of a database's files.
const FILES: [&str; 5] = ["", "-wal", "-shm", "-journal", LOCK];
const LOCK: &str = ".lock";

/// Takes the rights of all users away from a file that is there: it may have been restored from a backup, or made by hand.
/// Its group keeps its rights, with which an operator may make backups. SQLite gives the files beside the database the same
/// mode.
fn close_to_all(path: &Path) {
    // A link may lead to any file of this machine.
    let Ok(found) = std::fs::symlink_metadata(path) else { return };
    let mode = found.permissions().mode();
    if !found.is_file() || mode & 0o007 == 0 {
        return;
    }
    match std::fs::set_permissions(path, Permissions::from_mode(mode & 0o770)) {
        Ok(()) => tracing::warn!(
            "all users of this machine could open {}: only its owner and its group can now",
            path.display()
        ),
        Err(error) => {
            tracing::warn!(%error, "all users of this machine can open {}: its mode cannot be changed", path.display());
        }
    }
}

/// Checks that the lock file could be taken by this user, whoever holds it now. Nothing is created.
pub(super) fn check(database: &Path) -> Result<(), OpenError> {
    let failed = |path: &Path, source| Err(OpenError::File { path: path.to_owned(), source });
    let path = match resolved(database) {
        Ok(database) => lock_of(&database),
        Err(error) => return failed(database, error),
    };
    match OpenOptions::new().write(true).open(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => failed(&path, error),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn lock_of(database: &Path) -> PathBuf {
    beside(database, LOCK)
}

/// Returns the path of the file beside the database whose name ends so.
fn beside(database: &Path, end: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Resolves the path to its canonical form, also if the file does not exist yet.
fn resolved(database: &Path) -> io::Result<PathBuf> {
    match (database.canonicalize(), database.parent(), database.file_name()) {
        (Err(error), Some(folder), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
            let here = Path::new(".");
            let folder = if folder.as_os_str().is_empty() { here } else { folder };
            Ok(folder.canonicalize()?.join(name))
        }
        (done, _, _) => done,
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}
