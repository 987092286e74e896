//! Checks that the file of an SQLite database can grow. A commit alone does not show it: it may fit into pages and into a log
//! that the disk holds already.

use crate::store::error::StoreError;
use std::{
    fs, io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// How much longer than now the file must be able to become, in bytes.
const MORE: u64 = 1 << 20;

/// How much is written at that place, in bytes.
static PIECE: [u8; 64 << 10] = [0; 64 << 10];

/// Writes to a file without a name, in the database's folder, as far from its start as a database reaches that has grown.
pub(super) async fn check(database: PathBuf) -> Result<(), StoreError> {
    let checked = tokio::task::spawn_blocking(move || write(&database)).await;
    let failed = |error| StoreError::CannotWrite(Arc::new(sqlx::Error::Io(error)));
    checked.map_err(|error| failed(error.into()))?.map_err(failed)
}

fn write(database: &Path) -> io::Result<()> {
    let folder = database.parent().unwrap_or(Path::new("."));
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let length = |path: &Path| fs::metadata(path).map_or(0, |meta| meta.len());
    let longest = length(database).max(length(Path::new(&log)));
    tempfile::tempfile_in(folder)?.write_all_at(&PIECE, longest.saturating_add(MORE))
}
