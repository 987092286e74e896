//! Reads the service's database, on both engines.

use sqlx::{AssertSqlSafe, Connection, FromRow, PgConnection, SqliteConnection, postgres::PgRow, sqlite::SqliteRow};

/// A connection that reads.
pub enum Database {
    /// A file beside the service.
    Sqlite(SqliteConnection),
    /// A server.
    Postgres(PgConnection),
}

impl Database {
    /// Reads all rows of a query.
    pub async fn rows<T>(&mut self, sql: &str) -> Result<Vec<T>, sqlx::Error>
    where
        T: Send + Unpin + for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow>,
    {
        let sql = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(connection) => sqlx::query_as(sql).fetch_all(connection).await,
            Self::Postgres(connection) => sqlx::query_as(sql).fetch_all(connection).await,
        }
    }

    /// Closes the connection.
    pub async fn close(self) {
        let closed = match self {
            Self::Sqlite(connection) => connection.close().await,
            Self::Postgres(connection) => connection.close().await,
        };
        drop(closed);
    }
}
