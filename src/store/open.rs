//! Opens a database: reads its address, checks that commits are durable, and migrates it.

use crate::store::{
    error::{LostPromise, OpenError, StoreError},
    inbox::Inbox,
    lockfile, meta, migrate,
    sql::{Db, Pools},
    sqlite::Connections,
    store::Store,
    url::Address,
    wake,
};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use std::{path::Path, sync::Arc, time::Duration};
use tokio::time::timeout;

#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// The number of reading connections (SQLite) or of all connections (PostgreSQL).
    pub connections: u32,
    /// How long SQLite waits for a lock before a write is tried again.
    pub busy_timeout: Duration,
    /// How long to wait for a free connection, for a server to answer, and for a lock of a server.
    pub patience: Duration,
    /// How long a server keeps an idle transaction. A frozen process, or a machine that is gone, would hold the lock
    /// for claiming that long, and nobody could claim anything.
    pub stall: Duration,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            connections: 8,
            busy_timeout: Duration::from_secs(5),
            patience: Duration::from_secs(15),
            stall: Duration::from_secs(10),
        }
    }
}

/// The largest write-ahead log that stays on disk between checkpoints, in bytes.
const WAL_KEPT: &str = "67108864";

/// The number of pages in the write-ahead log at which a commit moves them into the database. With SQLite's default of
/// 1,000 this happens every 40 deliveries, each time with two flushes. A log of this size is read in a tenth of a
/// second at start.
const WAL_PAGES: &str = "8000";

/// How many prepared statements each connection of SQLite keeps: more than there are, the first ones of transactions twice.
const STATEMENTS_KEPT: usize = 500;

/// The time limit for the extra connection that only looks for the cause of a failure.
const LAST_TRY: Duration = Duration::from_secs(2);

/// How long closing waits for transactions.
const LAST_STATEMENTS: Duration = Duration::from_secs(5);

impl Store {
    /// Opens the database at `url` (`sqlite:<path>` or `postgres://…`). Creates or migrates its tables.
    pub async fn open(url: &str, options: OpenOptions) -> Result<Self, OpenError> {
        let (pools, lock) = match url.parse()? {
            Address::File(path) => {
                let (path, lock) = lockfile::take(&path)?;
                (open_sqlite(&path, &options).await?, Some(Arc::new(lock)))
            }
            Address::Server(server) => (open_postgres(*server, &options).await?, None),
        };
        let db = Db::new(pools, lock);
        migrate::up(&db).await?;
        let hint = match &db.pools {
            Pools::Sqlite { .. } => None,
            Pools::Postgres(pool) => Some(wake::listen(pool.clone(), &db)),
        };
        Ok(Self::over(db, hint))
    }

    fn over(db: Db, hint: Option<Arc<wake::Hint>>) -> Self {
        let inbox = Inbox::start(db.clone());
        Self { db, inbox, hint }
    }

    /// Opens the database for reading, beside a service that may be using it. Nothing is created, migrated or locked.
    /// Callers must not write: SQLite refuses it.
    pub async fn open_to_read(url: &str, options: OpenOptions) -> Result<Self, OpenError> {
        let db = to_read(url, &options).await?;
        migrate::is_current(&db).await?;
        Ok(Self::over(db, None))
    }

    /// Opens the database to write an order, beside a service that may be using it. Nothing is created, migrated or
    /// locked. The service sees the order when it next polls for work, if not earlier.
    pub async fn open_beside(url: &str, options: OpenOptions) -> Result<Self, OpenError> {
        let pools = match url.parse()? {
            Address::File(path) => {
                is_there(&path)?;
                open_sqlite(&path, &options).await?
            }
            Address::Server(server) => open_postgres(*server, &options).await?,
        };
        let db = Db::new(pools, None);
        migrate::is_current(&db).await?;
        Ok(Self::over(db, None))
    }

    /// Reports the state of the database at `url`. Nothing is created, migrated or locked.
    pub async fn inspect(url: &str, options: OpenOptions) -> Result<FoundDatabase, OpenError> {
        if let Address::File(path) = url.parse::<Address>()?
            && !path.exists()
        {
            return Ok(FoundDatabase::None);
        }
        let db = to_read(url, &options).await?;
        migrate::answers(&db).await?;
        let found = match migrate::is_current(&db).await {
            Ok(()) => Ok(FoundDatabase::Current),
            Err(OpenError::Older { .. }) => Ok(FoundDatabase::ToMigrate),
            Err(error) => Err(error),
        };
        db.pools.close().await;
        found
    }

    /// Finds out if [`Self::open`] would succeed, by a write that is rolled back, and in what state it would find the
    /// database. A service may be using it.
    pub async fn try_opening(url: &str, options: OpenOptions) -> Result<FoundDatabase, OpenError> {
        let address = url.parse()?;
        if let Address::File(path) = &address {
            meta::check_file(path.clone()).await?;
            if !path.exists() {
                return Ok(FoundDatabase::None);
            }
            lockfile::check(path)?;
        }
        let found = Self::inspect(url, options.clone()).await?;
        let pools = match address {
            Address::File(path) => {
                let writing = SqliteConnectOptions::new().filename(path).busy_timeout(options.busy_timeout);
                let write = Connections::new(writing.disable_statement_logging(), 1, options.patience);
                Pools::Sqlite { read: write.clone(), write }
            }
            Address::Server(server) => open_postgres(*server, &options).await?,
        };
        let db = Db::new(pools, None);
        let tried = migrate::rehearse(&db, found).await;
        db.pools.close().await;
        match tried {
            // Somebody else writes it.
            Ok(()) | Err(OpenError::Store(StoreError::Busy(_))) => Ok(found),
            Err(error) => Err(error),
        }
    }
}

/// The state of the database before a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundDatabase {
    /// There is no file yet. The start creates it.
    None,
    /// The tables have the version that this program knows.
    Current,
    /// There are no tables, or those of an older version. The start migrates them.
    ToMigrate,
}

fn is_there(path: &Path) -> Result<(), OpenError> {
    let found = std::fs::metadata(path).map(drop);
    found.map_err(|source| OpenError::File { path: path.to_owned(), source })
}

async fn to_read(url: &str, options: &OpenOptions) -> Result<Db, OpenError> {
    let pools = match url.parse()? {
        Address::File(path) => {
            is_there(&path)?;
            let reading = SqliteConnectOptions::new()
                .filename(&path)
                .busy_timeout(options.busy_timeout)
                .pragma("query_only", "ON")
                .disable_statement_logging();
            let read = Connections::new(reading, 1, options.patience);
            Pools::Sqlite { write: read.clone(), read }
        }
        Address::Server(server) => open_postgres(*server, options).await?,
    };
    Ok(Db::new(pools, None))
}

impl Store {
    /// Waits for open transactions, at most 5 seconds, and closes the database. Every later call fails.
    pub async fn close(&self) {
        if let Some(hint) = &self.hint {
            hint.abort();
        }
        if timeout(LAST_STATEMENTS, self.db.pools.close()).await.is_err() {
            tracing::warn!("the database is still in use: it stays locked until this process ends");
            return;
        }
        if let Some(Err(error)) = self.db.lock.as_ref().map(|lock| lock.unlock()) {
            tracing::warn!(%error, "the database's lock file stays locked until this process ends");
        }
    }
}

async fn open_sqlite(path: &Path, options: &OpenOptions) -> Result<Pools, OpenError> {
    let common = SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        .busy_timeout(options.busy_timeout)
        .statement_cache_capacity(STATEMENTS_KEPT)
        .disable_statement_logging();
    let writing = common
        .clone()
        // This must be set before the first table is made. It lets deleted rows be given back to the disk.
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("wal_autocheckpoint", WAL_PAGES)
        .pragma("journal_size_limit", WAL_KEPT);
    let write = Connections::new(writing, 1, options.patience);
    keeps_promises(&write).await?;
    let read = Connections::new(common.pragma("query_only", "ON"), options.connections, options.patience);
    Ok(Pools::Sqlite { write, read })
}

/// Checks that SQLite flushes commits, since an acknowledged delivery must not be lost. The settings may have been
/// ignored silently, so they are read back.
async fn keeps_promises(write: &Connections) -> Result<(), OpenError> {
    let mut session = write.session().await?;
    let connection = session.connection()?;
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut *connection).await?;
    let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(connection).await?;
    session.settle();
    match (journal.as_str(), synchronous) {
        ("wal", 2) => Ok(()),
        _ => Err(OpenError::NotDurable(LostPromise::Sqlite { journal, synchronous })),
    }
}

async fn open_postgres(server: PgConnectOptions, options: &OpenOptions) -> Result<Pools, OpenError> {
    let server = server.application_name("autobuild").disable_statement_logging();
    let limits = session_limits(options);
    let opened = PgPoolOptions::new()
        .max_connections(options.connections.max(2))
        .acquire_timeout(options.patience)
        .after_connect(move |connection, _| {
            let limits = limits.clone();
            Box::pin(async move { connection.execute(sqlx::raw_sql(AssertSqlSafe(limits))).await.map(drop) })
        })
        .connect_with(server.clone())
        .await;
    let pool = match opened {
        Ok(pool) => pool,
        Err(sqlx::Error::PoolTimedOut) => return Err(unreachable(&server).await),
        Err(error) => return Err(error.into()),
    };
    keeps_promises_too(&pool).await?;
    Ok(Pools::Postgres(pool))
}

/// Returns the settings of each session. Without keepalives, a server notices the end of a machine after two hours.
/// They are set after connecting, since poolers refuse them as options of the connection. Notices, such as the one that
/// the table of migrations is there already, would be logged at each start. The text holds numbers alone.
fn session_limits(options: &OpenOptions) -> String {
    let (stall, patience) = (options.stall.as_millis(), options.patience.as_millis());
    format!(
        "SET idle_in_transaction_session_timeout = {stall}; SET lock_timeout = {patience}; \
         SET tcp_user_timeout = {stall}; SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; \
         SET tcp_keepalives_count = 3; SET client_min_messages = warning"
    )
}

/// Finds the reason why a server did not answer. The pool only reports that it waited in vain, but one more connection
/// returns the real error.
async fn unreachable(server: &PgConnectOptions) -> OpenError {
    let once = tokio::time::timeout(LAST_TRY, PgConnection::connect_with(server)).await;
    let cause = match once {
        Ok(Err(error)) => error,
        Ok(Ok(_)) | Err(_) => sqlx::Error::PoolTimedOut,
    };
    OpenError::Store(StoreError::Unavailable(cause.into()))
}

async fn keeps_promises_too(pool: &PgPool) -> Result<(), OpenError> {
    let synchronous: String = sqlx::query_scalar("SHOW synchronous_commit").fetch_one(pool).await?;
    match synchronous.as_str() {
        "off" => Err(OpenError::NotDurable(LostPromise::Postgres)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_that_cannot_be_reached_is_reported_with_what_stood_in_the_way() {
        let listener = std::net::TcpListener::bind("127.83.0.2:0").unwrap();
        let url = format!("postgres://someone@{}/database", listener.local_addr().unwrap());
        drop(listener);
        let options = OpenOptions { patience: Duration::from_millis(50), ..OpenOptions::default() };
        let error = anyhow::Error::from(Store::open(&url, options).await.err().unwrap());
        let said = format!("{error:#}");
        assert!(said.contains("does not answer"), "{said}");
        assert_eq!(said.matches("refused").count(), 1, "{said}");
    }
}
