//! The file that proves that one process alone works with an SQLite database.

use crate::store::error::OpenError;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// Creates the database file where it is missing and takes its lock, which ends with the process whatever happens.
///
/// Payloads may hold what only the repository's people may read, so the files belong to their owner alone.
pub(super) fn take(database: &Path) -> Result<(PathBuf, File), OpenError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| OpenError::File { path, source }
    };
    if let Some(folder) = database.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
    }
    let database = resolved(database).map_err(failed(database))?;
    let mut name = database.clone().into_os_string();
    name.push(".lock");
    let path = PathBuf::from(name);
    let lock = create(&path).map_err(failed(&path))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path)),
        Err(TryLockError::Error(source)) => return Err(OpenError::File { path, source }),
    }
    // Only under the lock: closing a file takes away the locks that this process holds on it elsewhere.
    create(&database).map_err(failed(&database))?;
    Ok((database, lock))
}

/// The one name of a file that may have several, and need not exist yet.
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
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(0o600)
        .open(path)
}
