//! The only code that calls the two database drivers: transactions, arguments and rows. Each call is written out for
//! both, since their types differ.

use crate::store::{
    error::StoreError,
    row::Row,
    sqlite::{Connections, Session},
    wake,
};
use futures_util::TryStreamExt;
use sqlx::{AssertSqlSafe, Either, Execute, Executor, PgPool, Postgres, SqlSafeStr, Transaction};
use std::{fs::File, sync::Arc};
use tokio::sync::watch;

/// Declares SQL texts as constants and lists them, so that the test that prepares them all misses none.
macro_rules! statements {
    ($($name:ident = $sql:expr;)*) => {
        $(const $name: &str = $sql;)*
        /// The SQL texts of this file.
        pub(super) const STATEMENTS: &[&str] = &[$($name),*];
    };
}
pub(super) use statements;

#[derive(Clone, Copy)]
pub(super) enum Arg<'a> {
    Int(Option<i64>),
    Text(Option<&'a str>),
    /// A long text. SQLite's thread gets it without a copy.
    Shared(&'a Arc<str>),
    Bytes(&'a [u8]),
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

impl<'a> From<&'a Arc<str>> for Arg<'a> {
    fn from(value: &'a Arc<str>) -> Self {
        Self::Shared(value)
    }
}

impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Bytes(value)
    }
}

/// The arguments of a statement: the first is `$1`.
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::store::sql::Arg::from($value)),*] };
}
pub(super) use args;

/// Builds a query with its arguments, for the driver of the executor.
macro_rules! bound {
    ($sql:expr, $args:expr) => {{
        let mut query = sqlx::query($sql);
        for arg in $args {
            query = match *arg {
                Arg::Int(value) => query.bind(value),
                Arg::Text(value) => query.bind(value),
                Arg::Shared(value) => query.bind(Arc::clone(value)),
                Arg::Bytes(value) => query.bind(value),
            };
        }
        query
    }};
}

/// Reads the results of a query to their end. The last number of changed rows is its own: of the PRAGMA before it, SQLite
/// returns that of an earlier query.
macro_rules! written {
    ($results:expr, $wrap:path) => {{
        let mut results = $results;
        let mut written = Written { rows: Vec::new(), touched: 0 };
        while let Some(result) = results.try_next().await? {
            match result {
                Either::Left(done) => written.touched = done.rows_affected(),
                Either::Right(row) => written.rows.push($wrap(row)),
            }
        }
        drop(results);
        written
    }};
}

/// Tries a write again while others keep the database busy.
macro_rules! unless_busy {
    ($write:expr) => {{
        let mut tries = 1;
        loop {
            match $write.map_err(StoreError::from) {
                Err(StoreError::Busy(_)) if tries < BUSY_TRIES => tries += 1,
                done => break done,
            }
        }
    }};
}

/// A statement that inserts many rows in few round trips. It has one text each for 16, 4 and 1 rows.
pub(super) struct BulkInsert {
    texts: [(usize, String); 3],
}

impl BulkInsert {
    /// Builds the texts. `head` ends before `VALUES`; `tail` begins after the rows.
    pub(super) fn new(head: &str, columns: usize, tail: &str) -> Self {
        let text = |rows: usize| {
            let row = |row: usize| {
                let numbers: Vec<_> = (1..=columns).map(|column| format!("${}", row * columns + column)).collect();
                format!("({})", numbers.join(", "))
            };
            let rows: Vec<_> = (0..rows).map(row).collect();
            format!("{head} VALUES {} {tail}", rows.join(", "))
        };
        Self { texts: [16, 4, 1].map(|rows| (rows, text(rows))) }
    }

    /// Returns the largest text for at most `left` rows, and its number of rows.
    pub(super) fn piece(&self, left: usize) -> Option<(usize, &str)> {
        let mut texts = self.texts.iter().map(|(rows, text)| (*rows, text.as_str()));
        texts.find(|(rows, _)| *rows <= left)
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|(_, text)| text.as_str())
    }
}

#[derive(Clone, Debug)]
pub(super) enum Pools {
    /// One connection for writing, several for reading.
    Sqlite {
        write: Connections,
        read: Connections,
    },
    Postgres(PgPool),
}

impl Pools {
    pub(super) async fn close(&self) {
        match self {
            Self::Sqlite { write, read } => {
                read.close().await;
                write.close().await;
            }
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

/// An open database, shared by all handles of one store.
#[derive(Clone, Debug)]
pub(super) struct Db {
    pub(super) pools: Pools,
    pub(super) wake: Arc<watch::Sender<u64>>,
    /// The locked lock file. It is held while anything may still write.
    pub(super) lock: Option<Arc<File>>,
}

/// How often SQLite is asked for a write while others keep the file busy. Each time it waits for the whole busy timeout.
const BUSY_TRIES: u32 = 4;

/// When a transaction of SQLite survives a power cut. A server always flushes: it could lose an end while its worker
/// lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    /// From its commit on.
    AtCommit,
    /// From the next flushed commit on: for leases, claims of deliveries, and ends without consequences, which are then
    /// done again.
    Later,
}

/// Begins a transaction of SQLite that its commit flushes.
const BEGIN: &str = "PRAGMA synchronous = FULL; BEGIN IMMEDIATE";

impl Flush {
    /// Returns a statement that is a transaction by itself.
    fn alone(self, statement: &str) -> String {
        match self {
            Self::AtCommit => format!("PRAGMA synchronous = FULL; {statement}"),
            Self::Later => format!("PRAGMA synchronous = NORMAL; {statement}"),
        }
    }
}

/// A transaction of one statement. SQLite's thread is asked once for it, and not at its beginning and end too.
#[derive(Clone, Copy)]
pub(super) struct Single<'a> {
    pub(super) sql: &'static str,
    pub(super) args: &'a [Arg<'a>],
    pub(super) flush: Flush,
    /// The lock that a server takes first.
    pub(super) lock: Option<i64>,
    /// If `true`, there may be work afterwards, so workers are woken.
    pub(super) wakes: bool,
}

/// The result of a transaction of one statement.
pub(super) struct Written {
    pub(super) rows: Vec<Row>,
    /// The number of changed rows.
    pub(super) touched: u64,
}

/// Begins a transaction in a separate task, so that it is never given up halfway. If a caller stops waiting for the
/// answer to BEGIN, sqlx forgets the transaction, and the next user of the connection would continue in it.
async fn start(pool: PgPool, begin: &'static str) -> Result<Tx, sqlx::Error> {
    match tokio::spawn(async move { pool.begin_with(begin).await.map(Tx::Postgres) }).await {
        Ok(begun) => begun,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends.
            Err(_) => Err(sqlx::Error::PoolClosed),
        },
    }
}

impl Db {
    pub(super) fn new(pools: Pools, lock: Option<Arc<File>>) -> Self {
        let wake = Arc::new(watch::Sender::new(0));
        Self { pools, wake, lock }
    }

    /// Begins a transaction that writes, and that survives a power cut once it is committed.
    pub(super) async fn write(&self) -> Result<Tx, StoreError> {
        match &self.pools {
            Pools::Sqlite { write, .. } => unless_busy!(write.begin_later(BEGIN).await.map(Tx::Sqlite)),
            Pools::Postgres(pool) => unless_busy!(start(pool.clone(), "BEGIN").await),
        }
    }

    /// Runs a transaction of one statement.
    pub(super) async fn single(&self, single: Single<'_>) -> Result<Written, StoreError> {
        match &self.pools {
            Pools::Sqlite { write, .. } => {
                let written = unless_busy!(run_alone(write, &single).await)?;
                if single.wakes {
                    self.wake_workers();
                }
                Ok(written)
            }
            Pools::Postgres(_) => self.run_locked(&single).await,
        }
    }

    async fn run_locked(&self, single: &Single<'_>) -> Result<Written, StoreError> {
        let mut tx = self.write().await?;
        if let Some(lock) = single.lock {
            tx.alone(lock).await?;
        }
        let written = tx.write(single.sql, single.args).await?;
        if single.wakes {
            self.publish(tx).await?;
        } else {
            tx.commit().await?;
        }
        Ok(written)
    }

    fn wake_workers(&self) {
        self.wake.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Begins a read transaction that sees one state of the database, without later writes.
    pub(super) async fn snapshot(&self) -> Result<Tx, StoreError> {
        Ok(match &self.pools {
            Pools::Sqlite { read, .. } => Tx::Sqlite(read.begin().await?),
            Pools::Postgres(pool) => start(pool.clone(), "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?,
        })
    }

    pub(super) async fn rows(&self, sql: &'static str, args: &[Arg<'_>]) -> Result<Vec<Row>, StoreError> {
        Ok(match &self.pools {
            Pools::Sqlite { read, .. } => {
                let mut session = read.session().await?;
                let rows = bound!(sql, args).fetch_all(session.connection()?).await?;
                session.settle();
                wrapped(rows, Row::Sqlite)
            }
            Pools::Postgres(pool) => wrapped(bound!(sql, args).fetch_all(pool).await?, Row::Postgres),
        })
    }

    /// Reads the first row of one statement.
    pub(super) async fn row(&self, sql: &'static str, args: &[Arg<'_>]) -> Result<Option<Row>, StoreError> {
        Ok(match &self.pools {
            Pools::Sqlite { read, .. } => {
                let mut session = read.session().await?;
                let row = bound!(sql, args).fetch_optional(session.connection()?).await?;
                session.settle();
                row.map(Row::Sqlite)
            }
            Pools::Postgres(pool) => bound!(sql, args).fetch_optional(pool).await?.map(Row::Postgres),
        })
    }

    /// Runs one statement in its own transaction. Returns the number of changed rows.
    pub(super) async fn run(&self, sql: &'static str, args: &[Arg<'_>]) -> Result<u64, StoreError> {
        let single = Single { sql, args, flush: Flush::AtCommit, lock: None, wakes: false };
        Ok(self.single(single).await?.touched)
    }

    /// Commits a transaction that may have created work, and wakes the workers of this process and of others.
    pub(super) async fn publish(&self, mut tx: Tx) -> Result<(), StoreError> {
        tx.hint().await?;
        tx.commit().await?;
        self.wake_workers();
        Ok(())
    }

    /// Wakes the workers of this process and of others, after a commit that did not.
    pub(super) async fn notify(&self) -> Result<(), StoreError> {
        self.wake_workers();
        if let Pools::Postgres(pool) = &self.pools {
            sqlx::query(NOTIFY).bind(wake::CHANNEL).execute(pool).await?;
        }
        Ok(())
    }
}

/// Tells other processes after the commit that there may be work. This may be lost; workers also poll.
const NOTIFY: &str = "SELECT pg_notify($1, '')";

/// Runs a statement that is a transaction by itself. It is read to its end, since its commit can fail there.
async fn run_alone(write: &Connections, single: &Single<'_>) -> Result<Written, sqlx::Error> {
    let mut session = write.session().await?;
    let sql = AssertSqlSafe(single.flush.alone(single.sql));
    let written = query(&mut session, sql, single.args).await?;
    session.settle();
    Ok(written)
}

/// Begins a writing transaction together with its first query. Only its beginning can find the database busy.
async fn begin_with(
    session: &mut Session,
    begin: &'static str,
    sql: &'static str,
    args: &[Arg<'_>],
) -> Result<Written, StoreError> {
    let both = format!("{begin}; {sql}");
    // A query that fails, or that nobody waits for any more, may leave the transaction open.
    session.begin = None;
    let begun = unless_busy!(query(session, AssertSqlSafe(both.as_str()), args).await);
    if let Err(StoreError::Busy(_)) = &begun {
        session.begin = Some(begin);
    }
    begun
}

async fn query(session: &mut Session, sql: impl SqlSafeStr, args: &[Arg<'_>]) -> Result<Written, sqlx::Error> {
    Ok(written!(session.connection()?.fetch_many(bound!(sql, args)), Row::Sqlite))
}

/// Runs the statement that waits for the next one.
async fn run_last(session: &mut Session) -> Result<(), sqlx::Error> {
    if let Some((sql, arguments)) = session.last.take() {
        sqlx::query_with(sql, arguments).execute(session.connection()?).await?;
    }
    Ok(())
}

/// A transaction. If it is dropped, it is rolled back.
pub(super) enum Tx {
    Sqlite(Session),
    Postgres(Transaction<'static, Postgres>),
}

impl Tx {
    /// Runs a statement. Returns the number of changed rows.
    pub(super) async fn run(&mut self, sql: &'static str, args: &[Arg<'_>]) -> Result<u64, StoreError> {
        Ok(self.write(sql, args).await?.touched)
    }

    pub(super) async fn rows(&mut self, sql: &'static str, args: &[Arg<'_>]) -> Result<Vec<Row>, StoreError> {
        Ok(self.write(sql, args).await?.rows)
    }

    /// Runs a statement and returns its first row.
    pub(super) async fn row(&mut self, sql: &'static str, args: &[Arg<'_>]) -> Result<Option<Row>, StoreError> {
        Ok(self.write(sql, args).await?.rows.into_iter().next())
    }

    async fn write(&mut self, sql: &'static str, args: &[Arg<'_>]) -> Result<Written, StoreError> {
        match self {
            Self::Sqlite(session) => match session.begin {
                Some(begin) => begin_with(session, begin, sql, args).await,
                None => {
                    run_last(session).await?;
                    Ok(query(session, sql, args).await?)
                }
            },
            Self::Postgres(tx) => Ok(written!((&mut **tx).fetch_many(bound!(sql, args)), Row::Postgres)),
        }
    }

    /// Runs a statement whose result nobody needs. SQLite's thread gets it together with the commit, which fails if it
    /// fails, or before the next statement.
    pub(super) async fn run_later(&mut self, sql: &'static str, args: &[Arg<'_>]) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(session) if session.begin.is_none() => {
                let mut query: sqlx::query::Query<'_, sqlx::Sqlite, _> = bound!(sql, args);
                let arguments = query.take_arguments().map_err(sqlx::Error::Encode)?;
                run_last(session).await?;
                session.last = arguments.map(|arguments| (sql, arguments));
                Ok(())
            }
            Self::Sqlite(_) | Self::Postgres(_) => self.run(sql, args).await.map(drop),
        }
    }

    /// Runs a script of several statements without arguments.
    pub(super) async fn script(&mut self, sql: &'static str) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => self.write(sql, &[]).await.map(drop),
            Self::Postgres(tx) => Ok(sqlx::raw_sql(sql).execute(&mut **tx).await.map(drop)?),
        }
    }

    /// Waits until no other transaction holds the same lock (PostgreSQL). SQLite has only one writer anyway.
    pub(super) async fn alone(&mut self, lock: i64) -> Result<(), StoreError> {
        if let Self::Postgres(tx) = self {
            let locking = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(lock);
            locking.execute(&mut **tx).await?;
        }
        Ok(())
    }

    async fn hint(&mut self) -> Result<(), StoreError> {
        if let Self::Postgres(tx) = self {
            sqlx::query(NOTIFY).bind(wake::CHANNEL).execute(&mut **tx).await?;
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

    /// Rolls back now, so that the connection is free before the caller continues.
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
