//! The narrow door to both drivers: a transaction, its arguments and its rows. The macro stamps each call for both.

use crate::store::StoreError;
use sqlx::PgPool;
use sqlx::Postgres;
use sqlx::Row as _;
use sqlx::Sqlite;
use sqlx::SqlitePool;
use sqlx::Transaction;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use std::fs::File;
use std::sync::Arc;
use tokio::sync::watch;

/// Names SQL texts and lists them, so that no text escapes the test that prepares them all.
macro_rules! statements {
    ($($name:ident = $sql:expr;)*) => {
        $(const $name: &str = $sql;)*
        /// The SQL texts of this file.
        pub(super) const STATEMENTS: &[&str] = &[$($name),*];
    };
}
pub(super) use statements;

/// One argument of a statement.
#[derive(Clone, Copy)]
pub(super) enum Arg<'a> {
    Int(Option<i64>),
    Text(Option<&'a str>),
}

impl From<i64> for Arg<'_> {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<Option<i64>> for Arg<'_> {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(Some(value))
    }
}

impl<'a> From<&'a String> for Arg<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(Some(value))
    }
}

impl<'a> From<Option<&'a str>> for Arg<'a> {
    fn from(value: Option<&'a str>) -> Self {
        Self::Text(value)
    }
}

/// The arguments of a statement, in the order of their numbers.
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::store::sql::Arg::from($value)),*] };
}
pub(super) use args;

/// A statement with its arguments, for whichever driver the executor is of.
macro_rules! bound {
    ($sql:expr, $args:expr) => {{
        let mut query = sqlx::query($sql);
        for arg in $args {
            query = match *arg {
                Arg::Int(value) => query.bind(value),
                Arg::Text(value) => query.bind(value),
            };
        }
        query
    }};
}

/// The connections of an open database.
#[derive(Clone, Debug)]
pub(super) enum Pools {
    /// One connection writes, several read.
    Sqlite {
        write: SqlitePool,
        read: SqlitePool,
    },
    Postgres(PgPool),
}

/// An open database, shared by all handles of one store.
#[derive(Clone, Debug)]
pub(super) struct Db {
    pub(super) pools: Pools,
    pub(super) wake: Arc<watch::Sender<u64>>,
    /// Held as long as anything may still write.
    pub(super) lock: Option<Arc<File>>,
}

/// How often a write waits once more when others keep the SQLite file busy, each time for the whole busy time-out.
const BUSY_TRIES: u32 = 4;

impl Db {
    /// Begins a transaction that writes.
    pub(super) async fn write(&self) -> Result<Tx, StoreError> {
        let mut tries = 1;
        loop {
            let begun = match &self.pools {
                Pools::Sqlite { write, .. } => write.begin_with("BEGIN IMMEDIATE").await.map(Tx::Sqlite),
                Pools::Postgres(pool) => pool.begin().await.map(Tx::Postgres),
            };
            match begun.map_err(StoreError::from) {
                Err(StoreError::Busy(_)) if tries < BUSY_TRIES => tries += 1,
                done => return done,
            }
        }
    }

    /// Begins a transaction that reads one state of the database, whatever is written meanwhile.
    pub(super) async fn snapshot(&self) -> Result<Tx, StoreError> {
        Ok(match &self.pools {
            Pools::Sqlite { read, .. } => Tx::Sqlite(read.begin().await?),
            Pools::Postgres(pool) => {
                let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
                Tx::Postgres(pool.begin_with(begin).await?)
            }
        })
    }

    /// Reads the rows of one statement.
    pub(super) async fn rows(&self, sql: &'static str, args: &[Arg<'_>]) -> Result<Vec<Row>, StoreError> {
        Ok(match &self.pools {
            Pools::Sqlite { read, .. } => wrapped(bound!(sql, args).fetch_all(read).await?, Row::Sqlite),
            Pools::Postgres(pool) => wrapped(bound!(sql, args).fetch_all(pool).await?, Row::Postgres),
        })
    }

    /// Reads the first row of one statement.
    pub(super) async fn row(&self, sql: &'static str, args: &[Arg<'_>]) -> Result<Option<Row>, StoreError> {
        Ok(match &self.pools {
            Pools::Sqlite { read, .. } => bound!(sql, args).fetch_optional(read).await?.map(Row::Sqlite),
            Pools::Postgres(pool) => bound!(sql, args).fetch_optional(pool).await?.map(Row::Postgres),
        })
    }

    /// Runs one statement in a transaction of its own and wakes the workers; the number of rows it touched.
    pub(super) async fn run(&self, sql: &'static str, args: &[Arg<'_>]) -> Result<u64, StoreError> {
        let mut tx = self.write().await?;
        let touched = tx.run(sql, args).await?;
        tx.commit().await?;
        self.woken();
        Ok(touched)
    }

    /// Tells the workers of this process that something changed.
    pub(super) fn woken(&self) {
        self.wake.send_modify(|count| *count = count.wrapping_add(1));
    }
}

/// A transaction; dropped, it is rolled back.
pub(super) enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

impl Tx {
    /// Runs a statement; the number of rows it touched.
    pub(super) async fn run(&mut self, sql: &'static str, args: &[Arg<'_>]) -> Result<u64, StoreError> {
        Ok(match self {
            Self::Sqlite(tx) => bound!(sql, args).execute(&mut **tx).await?.rows_affected(),
            Self::Postgres(tx) => bound!(sql, args).execute(&mut **tx).await?.rows_affected(),
        })
    }

    /// Runs a statement and reads its rows.
    pub(super) async fn rows(&mut self, sql: &'static str, args: &[Arg<'_>]) -> Result<Vec<Row>, StoreError> {
        Ok(match self {
            Self::Sqlite(tx) => wrapped(bound!(sql, args).fetch_all(&mut **tx).await?, Row::Sqlite),
            Self::Postgres(tx) => wrapped(bound!(sql, args).fetch_all(&mut **tx).await?, Row::Postgres),
        })
    }

    /// Runs a statement and reads its first row.
    pub(super) async fn row(&mut self, sql: &'static str, args: &[Arg<'_>]) -> Result<Option<Row>, StoreError> {
        Ok(match self {
            Self::Sqlite(tx) => bound!(sql, args).fetch_optional(&mut **tx).await?.map(Row::Sqlite),
            Self::Postgres(tx) => bound!(sql, args).fetch_optional(&mut **tx).await?.map(Row::Postgres),
        })
    }

    /// Runs a text of several statements without arguments.
    pub(super) async fn script(&mut self, sql: &'static str) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => sqlx::raw_sql(sql).execute(&mut **tx).await.map(drop)?,
            Self::Postgres(tx) => sqlx::raw_sql(sql).execute(&mut **tx).await.map(drop)?,
        }
        Ok(())
    }

    /// Waits until no other process is in a transaction under the same lock. SQLite has one writer anyway.
    pub(super) async fn alone(&mut self, lock: i64) -> Result<(), StoreError> {
        if let Self::Postgres(tx) = self {
            sqlx::query("SELECT pg_advisory_xact_lock($1)")
                .bind(lock)
                .execute(&mut **tx)
                .await?;
        }
        Ok(())
    }

    /// Lets other processes know, once this is committed, that there is work. A hint: polling is the truth.
    pub(super) async fn hint(&mut self) -> Result<(), StoreError> {
        if let Self::Postgres(tx) = self {
            sqlx::query("SELECT pg_notify($1, '')")
                .bind(super::wake::CHANNEL)
                .execute(&mut **tx)
                .await?;
        }
        Ok(())
    }

    pub(super) async fn commit(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => tx.commit().await?,
            Self::Postgres(tx) => tx.commit().await?,
        }
        Ok(())
    }

    /// Rolls back now, so that the connection is free before the caller goes on.
    pub(super) async fn rollback(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => tx.rollback().await?,
            Self::Postgres(tx) => tx.rollback().await?,
        }
        Ok(())
    }
}

fn wrapped<R>(rows: Vec<R>, wrap: fn(R) -> Row) -> Vec<Row> {
    rows.into_iter().map(wrap).collect()
}

/// One row of a result.
pub(super) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// Reads a column as one type from either driver's row.
macro_rules! column {
    ($row:expr, $name:expr) => {
        match $row {
            Row::Sqlite(row) => row.try_get($name),
            Row::Postgres(row) => row.try_get($name),
        }
        .map_err(|error| StoreError::unreadable($name, error))
    };
}

impl Row {
    pub(super) fn int(&self, name: &'static str) -> Result<i64, StoreError> {
        column!(self, name)
    }

    pub(super) fn opt_int(&self, name: &'static str) -> Result<Option<i64>, StoreError> {
        column!(self, name)
    }

    pub(super) fn text(&self, name: &'static str) -> Result<String, StoreError> {
        column!(self, name)
    }

    pub(super) fn opt_text(&self, name: &'static str) -> Result<Option<String>, StoreError> {
        column!(self, name)
    }

    /// A number that is never negative.
    pub(super) fn count(&self, name: &'static str) -> Result<u64, StoreError> {
        unsigned(name, self.int(name)?)
    }

    pub(super) fn opt_count(&self, name: &'static str) -> Result<Option<u64>, StoreError> {
        self.opt_int(name)?.map(|value| unsigned(name, value)).transpose()
    }

    /// A number that is never negative and fits 32 bits.
    pub(super) fn small(&self, name: &'static str) -> Result<u32, StoreError> {
        u32::try_from(self.int(name)?).map_err(|error| StoreError::unreadable(name, error))
    }

    /// A text that reads as `T`.
    pub(super) fn parsed<T>(&self, name: &'static str) -> Result<T, StoreError>
    where
        T: std::str::FromStr<Err: ToString>,
    {
        read(name, &self.text(name)?)
    }

    pub(super) fn opt_parsed<T>(&self, name: &'static str) -> Result<Option<T>, StoreError>
    where
        T: std::str::FromStr<Err: ToString>,
    {
        self.opt_text(name)?.map(|text| read(name, &text)).transpose()
    }
}

fn unsigned(name: &'static str, value: i64) -> Result<u64, StoreError> {
    u64::try_from(value).map_err(|error| StoreError::unreadable(name, error))
}

fn read<T: std::str::FromStr<Err: ToString>>(name: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse()
        .map_err(|error: T::Err| StoreError::unreadable(name, error.to_string()))
}

/// An id of GitHub as a column holds it.
pub(super) fn stored(id: u64) -> Result<i64, StoreError> {
    i64::try_from(id).map_err(|_| StoreError::TooLarge(id))
}

/// A text that explains an error, without what PostgreSQL cannot hold and no longer than a person reads.
pub(super) fn explained(text: &str) -> String {
    const LONGEST: usize = 4_000;
    let mut short = text.replace('\0', "\u{fffd}");
    short.truncate(short.floor_char_boundary(LONGEST));
    short
}
