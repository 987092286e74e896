//! Values of the installation itself, and a check that the database can be written.

use crate::store::{
    claim,
    error::StoreError,
    sql::{Pools, Tx, args, statements},
    store::Store,
};
use domain::ids::Millis;
use std::{
    fs, io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

statements! {
    GET = "SELECT v FROM meta WHERE k = $1";
    SET_ONCE = "INSERT INTO meta (k, v) VALUES ($1, $2) ON CONFLICT (k) DO NOTHING";
    SET = "INSERT INTO meta (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v";
    // Only one process gets a turn that is over.
    TAKE_TURN = "INSERT INTO meta (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v \
                 WHERE CAST(meta.v AS BIGINT) <= $3";
    // Writes no row. It fails or waits for what a claim would, such as a table that somebody locked.
    CLAIMS = "UPDATE effect SET state = state WHERE id = $1";
    SPEND = "INSERT INTO spent (name, until) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    FORGET_SPENT = "DELETE FROM spent WHERE until <= $1";
    IS_SPENT = "SELECT name FROM spent WHERE name = $1";
}

/// PostgreSQL's clock, in milliseconds, read with a write. While a server only answers reads, as with a full disk or a
/// read-only replica, nobody can renew a lease.
const SERVER_CLOCK: &str = "INSERT INTO meta (k, v) VALUES ($1, '') ON CONFLICT (k) DO UPDATE SET v = excluded.v \
                            RETURNING CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now";

/// The key that the write check writes.
const PROBE: &str = "probe";

/// The number of bytes by which the database must be able to grow. A commit does not show this: it may fit into pages and
/// a log that are already on the disk.
const GROWTH: u64 = 1 << 20;

/// The bytes that are written at that place.
static PIECE: [u8; 64 << 10] = [0; 64 << 10];

/// Makes a PostgreSQL server write more than a megabyte to a temporary file on the disk of the database, and removes it.
/// A row would leave room behind that the next one fits into.
const SPILL: &str = "SET LOCAL work_mem = '64kB'; SELECT COUNT(*) FROM generate_series(1, 80000)";

/// The result of using up a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameUse {
    Now,
    /// An earlier call used it up.
    Before,
}

impl Store {
    /// Returns the value stored under `key`.
    pub async fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let row = self.db.row(GET, args![key]).await?;
        row.map(|row| row.text("v")).transpose()
    }

    /// Stores a value under `key`. It replaces an earlier one.
    pub async fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.db.run(SET, args![key, value]).await?;
        Ok(())
    }

    /// Stores `value` under `key` unless it has a value already. Returns the value that was stored first.
    pub async fn meta_once(&self, key: &str, value: &str) -> Result<String, StoreError> {
        self.db.run(SET_ONCE, args![key, value]).await?;
        Ok(self.meta(key).await?.unwrap_or_else(|| value.to_owned()))
    }

    /// Takes the turn `name` until a time, for work that only one of the processes does; `false` if another one has it.
    pub async fn take_turn(&self, name: &str, now: Millis, until: Millis) -> Result<bool, StoreError> {
        let taken = self.db.run(TAKE_TURN, args![name, &until.0.to_string(), now.0]).await?;
        Ok(taken > 0)
    }

    /// `true` if other processes may work on the database.
    pub fn is_shared(&self) -> bool {
        match self.db.pools {
            Pools::Sqlite { .. } => false,
            Pools::Postgres(_) => true,
        }
    }

    /// Returns the time of a database that several processes share and that takes writes now; `None` if it belongs to this
    /// process.
    pub async fn clock(&self) -> Result<Option<Millis>, StoreError> {
        match self.db.pools {
            Pools::Sqlite { .. } => Ok(None),
            Pools::Postgres(_) => {
                let row = self.db.row(SERVER_CLOCK, args![PROBE]).await?;
                row.map(|row| Ok(Millis(row.int("now")?))).transpose()
            }
        }
    }

    /// Checks with a real write and commit that the database can be written and can grow, and that effects can be claimed.
    pub async fn check_writable(&self) -> Result<(), StoreError> {
        if let Pools::Sqlite { write, .. } = &self.db.pools {
            check_file(write.file().to_owned()).await?;
        }
        let mut tx = self.db.write().await?;
        if let Pools::Postgres(_) = self.db.pools {
            check_server(&mut tx).await?;
        }
        tx.alone(claim::LOCK).await?;
        tx.run(CLAIMS, args![PROBE]).await?;
        probe(&mut tx).await?;
        tx.commit().await
    }

    /// Uses up a name that counts only once for all processes on this database: a sign-in, or a session that its person
    /// ended. It is remembered until `until`, when it would expire anyway.
    pub async fn spend(&self, name: &str, until: Millis, now: Millis) -> Result<NameUse, StoreError> {
        let mut tx = self.db.write().await?;
        tx.run(FORGET_SPENT, args![now.0]).await?;
        let added = tx.run(SPEND, args![name, until.0]).await?;
        tx.commit().await?;
        Ok(if added == 0 { NameUse::Before } else { NameUse::Now })
    }

    /// Returns `true` if a name was used up.
    pub async fn is_spent(&self, name: &str) -> Result<bool, StoreError> {
        Ok(self.db.row(IS_SPENT, args![name]).await?.is_some())
    }
}

/// Checks in the transaction that the disk of a PostgreSQL server has room.
pub(super) async fn check_server(tx: &mut Tx) -> Result<(), StoreError> {
    tx.script(SPILL).await
}

/// Writes what the write check writes, if the tables are there.
pub(super) async fn probe(tx: &mut Tx) -> Result<(), StoreError> {
    tx.run(SET, args![PROBE, ""]).await.map(drop)
}

/// Writes to an unnamed file in the SQLite database's folder, at the offset that the grown database would reach. If the
/// folder is missing, that of its folders counts in which it would be made.
pub(super) async fn check_file(database: PathBuf) -> Result<(), StoreError> {
    let checked = tokio::task::spawn_blocking(move || write_beyond(&database)).await;
    let failed = |error| StoreError::CannotWrite(sqlx::Error::Io(error).into());
    checked.map_err(|error| failed(error.into()))?.map_err(failed)
}

fn write_beyond(database: &Path) -> io::Result<()> {
    let folder = database.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let length = |path: &Path| fs::metadata(path).map_or(0, |meta| meta.len());
    let longest = length(database).max(length(Path::new(&log)));
    tempfile::tempfile_in(folder)?.write_all_at(&PIECE, longest.saturating_add(GROWTH))
}
