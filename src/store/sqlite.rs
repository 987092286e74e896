//! Connections to an SQLite database. With sqlx's own pool and transactions, a write would wait twice as often for the
//! connection's thread: at each return, and at each beginning and end.

use parking_lot::Mutex;
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, SqliteConnection,
    sqlite::{SqliteArguments, SqliteConnectOptions},
};
use std::{path::Path, sync::Arc, time::Duration};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// A limited number of connections, each opened when it is first needed.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    options: Arc<SqliteConnectOptions>,
    /// How long to wait for a connection that others use.
    patience: Duration,
    most: u32,
    free: Arc<Semaphore>,
    idle: IdleConnections,
}

impl Connections {
    pub(super) fn new(options: SqliteConnectOptions, most: u32, patience: Duration) -> Self {
        Self {
            options: Arc::new(options),
            patience,
            most,
            free: Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(1))),
            idle: IdleConnections::default(),
        }
    }

    pub(super) fn file(&self) -> &Path {
        self.options.get_filename()
    }

    /// Takes a connection. It is used again after [`Session::settle`], [`Session::commit`] or [`Session::rollback`].
    pub(super) async fn session(&self) -> Result<Session, sqlx::Error> {
        let free = Arc::clone(&self.free).acquire_owned();
        let permit = match timeout(self.patience, free).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) => return Err(sqlx::Error::PoolClosed),
            Err(_) => return Err(sqlx::Error::PoolTimedOut),
        };
        let connection = match self.idle.take() {
            Some(connection) => connection,
            None => self.options.connect().await?,
        };
        Ok(Session {
            connection: Some(connection),
            begin: None,
            last: None,
            idle: self.idle.clone(),
            permit: Some(permit),
        })
    }

    pub(super) async fn begin(&self) -> Result<Session, sqlx::Error> {
        let mut session = self.session().await?;
        sqlx::raw_sql("BEGIN").execute(session.connection()?).await?;
        Ok(session)
    }

    /// Takes a connection whose first query begins a transaction with this statement.
    pub(super) async fn begin_later(&self, begin: &'static str) -> Result<Session, sqlx::Error> {
        let mut session = self.session().await?;
        session.begin = Some(begin);
        Ok(session)
    }

    /// Waits until no connection is in use, and closes all. Every later call fails.
    pub(super) async fn close(&self) {
        let _all = self.free.acquire_many(self.most).await;
        self.free.close();
        while let Some(connection) = self.idle.take() {
            if let Err(error) = connection.close().await {
                tracing::warn!(%error, "a connection to the database did not close");
            }
        }
    }
}

/// The unused connections, which are in no transaction.
#[derive(Clone, Debug, Default)]
struct IdleConnections(Arc<Mutex<Vec<SqliteConnection>>>);

impl IdleConnections {
    fn take(&self) -> Option<SqliteConnection> {
        self.0.lock().pop()
    }

    fn put(&self, connection: SqliteConnection) {
        self.0.lock().push(connection);
    }
}

/// A connection for exclusive use. If it is dropped before it is settled, its transaction is rolled back.
pub(super) struct Session {
    connection: Option<SqliteConnection>,
    /// The beginning of the transaction, until a query takes it along.
    pub(super) begin: Option<&'static str>,
    /// A statement that is run with the commit, or before another query.
    pub(super) last: Option<(&'static str, SqliteArguments)>,
    idle: IdleConnections,
    permit: Option<OwnedSemaphorePermit>,
}

impl Session {
    pub(super) fn connection(&mut self) -> Result<&mut SqliteConnection, sqlx::Error> {
        self.connection.as_mut().ok_or(sqlx::Error::PoolClosed)
    }

    /// Gives the connection back, which is in no transaction any more.
    pub(super) fn settle(mut self) {
        if let Some(connection) = self.connection.take() {
            self.idle.put(connection);
        }
    }

    pub(super) async fn commit(mut self) -> Result<(), sqlx::Error> {
        let Some((sql, arguments)) = self.last.take() else {
            return self.end("COMMIT").await;
        };
        let both = AssertSqlSafe(format!("{sql}; COMMIT"));
        sqlx::query_with(both, arguments).execute(self.connection()?).await?;
        self.settle();
        Ok(())
    }

    pub(super) async fn rollback(self) -> Result<(), sqlx::Error> {
        self.end("ROLLBACK").await
    }

    async fn end(mut self, sql: &'static str) -> Result<(), sqlx::Error> {
        if self.begin.is_none() {
            sqlx::raw_sql(sql).execute(self.connection()?).await?;
        }
        self.settle();
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.take() else {
            return;
        };
        if self.begin.is_some() {
            self.idle.put(connection);
            return;
        }
        let (idle, permit) = (self.idle.clone(), self.permit.take());
        // Without a runtime the connection closes, which rolls back.
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(async move {
            // This fails outside of a transaction: after a full disk or a failed write, SQLite has ended it by itself. Such a
            // connection is closed, and the next caller opens another one.
            if sqlx::raw_sql("ROLLBACK").execute(&mut connection).await.is_ok() {
                idle.put(connection);
            }
            drop(permit);
        });
    }
}
