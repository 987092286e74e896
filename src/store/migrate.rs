//! Numbered migrations, forward only, the same numbers for both databases.

use crate::store::{
    error::{OpenError, StoreError},
    sql::{Db, Pools, args, statements},
};

/// One step of the tables' history.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Its number, from 1, without gaps.
    pub number: i64,
    /// What it brings.
    pub name: &'static str,
    /// Its text for SQLite.
    pub sqlite: &'static str,
    /// Its text for PostgreSQL.
    pub postgres: &'static str,
}

macro_rules! migrations {
    ($($number:literal $name:literal;)*) => {
        /// All migrations, oldest first.
        pub const MIGRATIONS: &[Migration] = &[$(Migration {
            number: $number,
            name: $name,
            sqlite: include_str!(concat!("../../migrations/sqlite/000", $number, "_", $name, ".sql")),
            postgres: include_str!(concat!("../../migrations/postgres/000", $number, "_", $name, ".sql")),
        }),*];
    };
}

migrations! {
    1 "initial";
    2 "baseline";
    3 "run";
    4 "progress";
    5 "repository_settings";
    6 "calls";
    7 "queue";
    8 "dashboard";
    9 "most_of_a_run";
}

/// Where the history itself is kept; made before anything can be asked of it.
const HISTORY: &str = "CREATE TABLE IF NOT EXISTS migration (number BIGINT PRIMARY KEY, name TEXT NOT NULL)";

/// No two processes migrate one database at once.
const LOCK: i64 = 0x6175_746f_0001;

statements! {
    NEWEST = "SELECT COALESCE(MAX(number), 0) AS newest FROM migration";
    ANSWERS = "SELECT 1 AS one";
    DONE = "INSERT INTO migration (number, name) VALUES ($1, $2)";
}

/// Brings the tables to the newest version that this program knows, or refuses a database that is newer.
pub(super) async fn up(db: &Db) -> Result<(), OpenError> {
    let mut tx = db.write().await.map_err(opening)?;
    tx.alone(LOCK).await?;
    tx.script(HISTORY).await.map_err(opening)?;
    let newest = tx.row(NEWEST, args![]).await?.map(|row| row.int("newest"));
    let found = newest.transpose()?.unwrap_or_default();
    let known = MIGRATIONS.last().map_or(0, |migration| migration.number);
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    for migration in MIGRATIONS.iter().filter(|migration| migration.number > found) {
        tx.script(match &db.pools {
            Pools::Sqlite { .. } => migration.sqlite,
            Pools::Postgres(_) => migration.postgres,
        })
        .await?;
        tx.run(DONE, args![migration.number, migration.name]).await?;
        tracing::info!(number = migration.number, "migrated the database: {}", migration.name);
    }
    tx.commit().await?;
    Ok(())
}

/// Whether there is a database at all, whatever its tables.
pub(super) async fn answers(db: &Db) -> Result<(), OpenError> {
    db.row(ANSWERS, args![]).await.map_err(opening)?;
    Ok(())
}

/// Whether the tables are exactly those that this program knows.
pub(super) async fn is_current(db: &Db) -> Result<(), OpenError> {
    let row = db.row(NEWEST, args![]).await.map_err(opening)?;
    let found = row.map(|row| row.int("newest")).transpose()?.unwrap_or_default();
    match MIGRATIONS.last().map_or(0, |migration| migration.number) {
        known if found > known => Err(OpenError::Newer { found, known }),
        known if found < known => Err(OpenError::Older { found, known }),
        _ => Ok(()),
    }
}

/// A file that is no database shows it at the first real read.
fn opening(error: StoreError) -> OpenError {
    match error {
        StoreError::Refused(cause) => match std::sync::Arc::try_unwrap(cause) {
            Ok(cause) => cause.into(),
            Err(cause) => OpenError::Store(StoreError::Refused(cause)),
        },
        error @ (StoreError::Busy(_)
        | StoreError::Unavailable(_)
        | StoreError::CannotWrite(_)
        | StoreError::Unreadable { .. }
        | StoreError::TooLarge(_)
        | StoreError::TooLong { .. }
        | StoreError::Closed) => error.into(),
    }
}
