//! Checks that a database can grow. A commit does not show this: it may fit into pages and a log that are already on the
//! disk.

use crate::store::{error::StoreError, sql::Tx};
use std::{
    fs, io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The number of bytes by which the file must be able to grow.
const MORE: u64 = 1 << 20;

/// The bytes that are written at that place.
static PIECE: [u8; 64 << 10] = [0; 64 << 10];

/// Makes a PostgreSQL server write more than a megabyte to a temporary file on the disk of the database, and removes it.
/// A row would leave room behind that the next one fits into.
const SPILL: &str = "SET LOCAL work_mem = '64kB'; SELECT COUNT(*) FROM generate_series(1, 80000)";

/// Checks in the transaction that the disk of a PostgreSQL server has room.
pub(super) async fn check_server(tx: &mut Tx) -> Result<(), StoreError> {
    tx.script(SPILL).await
}

/// Writes to an unnamed file in the SQLite database's folder, at the offset that the grown database would reach.
pub(super) async fn check_file(database: PathBuf) -> Result<(), StoreError> {
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
