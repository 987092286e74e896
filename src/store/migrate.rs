//! Numbered migrations, forward only, the same numbers for both databases.

use crate::store::{
    error::{Obstacle, OpenError, StoreError, obstacle},
    meta,
    open::FoundDatabase,
    sql::{Db, Pools, Tx, args, statements},
};

/// The ability of the previous release to work on the migrated tables. If it can, both run side by side during an
/// upgrade, and the older one can come back. A migration that only adds keeps this; one that removes comes a release
/// later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseBefore {
    Works,
    Refused,
}

#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Its number, from 1, without gaps.
    pub number: i64,
    pub name: &'static str,
    pub before: ReleaseBefore,
    pub sqlite: &'static str,
    /// Its SQL for PostgreSQL.
    pub postgres: &'static str,
}

macro_rules! migrations {
    ($($number:literal $digits:literal $name:literal $before:ident;)*) => {
        /// All migrations, oldest first.
        pub const MIGRATIONS: &[Migration] = &[$(Migration {
            number: $number,
            name: $name,
            before: ReleaseBefore::$before,
            sqlite: include_str!(concat!("../../migrations/sqlite/", $digits, "_", $name, ".sql")),
            postgres: include_str!(concat!("../../migrations/postgres/", $digits, "_", $name, ".sql")),
        }),*];
    };
}

migrations! {
    1 "0001" "initial" Refused;
    2 "0002" "accounts" Works;
}

/// The table of applied migrations. It is created before it is read.
const HISTORY: &str = "CREATE TABLE IF NOT EXISTS migration (number BIGINT PRIMARY KEY, name TEXT NOT NULL, \
                       older_works BIGINT NOT NULL)";

/// The advisory lock for migrating. Only one process migrates a database at a time.
const LOCK: i64 = 0x6175_746f_0001;

statements! {
    NEWEST = "SELECT COALESCE(MAX(number), 0) AS newest FROM migration";
    ANSWERS = "SELECT 1 AS one";
    REFUSING = "SELECT COUNT(*) AS refusing FROM migration WHERE number > $1 AND older_works = 0";
    ALL_TABLES = "SELECT 1 AS one WHERE \
                  EXISTS (SELECT 1 FROM delivery) OR EXISTS (SELECT 1 FROM feature) \
                  OR EXISTS (SELECT 1 FROM task) OR EXISTS (SELECT 1 FROM task_needs) \
                  OR EXISTS (SELECT 1 FROM turn) OR EXISTS (SELECT 1 FROM event) \
                  OR EXISTS (SELECT 1 FROM effect) OR EXISTS (SELECT 1 FROM meta) \
                  OR EXISTS (SELECT 1 FROM baseline) OR EXISTS (SELECT 1 FROM run) \
                  OR EXISTS (SELECT 1 FROM run_total) OR EXISTS (SELECT 1 FROM counter) \
                  OR EXISTS (SELECT 1 FROM departed) OR EXISTS (SELECT 1 FROM pack) \
                  OR EXISTS (SELECT 1 FROM provider) OR EXISTS (SELECT 1 FROM repository_settings) \
                  OR EXISTS (SELECT 1 FROM spent) OR EXISTS (SELECT 1 FROM refusal) \
                  OR EXISTS (SELECT 1 FROM local_order) OR EXISTS (SELECT 1 FROM account)";
    DONE = "INSERT INTO migration (number, name, older_works) VALUES ($1, $2, $3)";
}

/// Migrates the tables to the newest version that this program knows, or refuses a database that is newer.
pub(super) async fn up(db: &Db) -> Result<(), OpenError> {
    let mut tx = db.write().await?;
    take_lock(&mut tx).await?;
    tx.script(HISTORY).await?;
    let newest = tx.row(NEWEST, args![]).await?.map(|row| row.int("newest"));
    let found = newest.transpose()?.unwrap_or_default();
    let known = MIGRATIONS.last().map_or(0, |migration| migration.number);
    if found > known {
        let refusing = tx.row(REFUSING, args![known]).await?;
        let refusing = refusing.map(|row| row.count("refusing")).transpose()?.unwrap_or_default();
        if refusing > 0 {
            return Err(OpenError::Newer { found, known });
        }
        tracing::warn!("the database is of a newer version of AutoBuild; this one leaves alone what it cannot read");
    }
    apply(&mut tx, &db.pools, found).await?;
    tx.commit().await?;
    if found > known { Ok(()) } else { is_whole(db).await }
}

/// Applies the migrations after `found`.
async fn apply(tx: &mut Tx, pools: &Pools, found: i64) -> Result<(), OpenError> {
    for migration in MIGRATIONS.iter().filter(|migration| migration.number > found) {
        let script = match pools {
            Pools::Sqlite { .. } => migration.sqlite,
            Pools::Postgres(_) => migration.postgres,
        };
        match tx.script(script).await {
            Err(StoreError::Refused(cause)) if found == 0 && obstacle(&cause) == Obstacle::Other => {
                return Err(OpenError::Occupied(cause));
            }
            applied => applied?,
        }
        let older_works = i64::from(migration.before == ReleaseBefore::Works);
        tx.run(DONE, args![migration.number, migration.name, older_works]).await?;
        tracing::info!(number = migration.number, "migrated the database: {}", migration.name);
    }
    Ok(())
}

/// Fails unless every table is there. A backup of a part can be restored too, and would fail at some later effect.
async fn is_whole(db: &Db) -> Result<(), OpenError> {
    match db.row(ALL_TABLES, args![]).await {
        // Other refusals, such as a missing right, have names of their own.
        Err(StoreError::Refused(cause)) if obstacle(&cause) == Obstacle::Other => Err(OpenError::Damaged(cause)),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(()),
    }
}

async fn take_lock(tx: &mut Tx) -> Result<(), OpenError> {
    match tx.alone(LOCK).await {
        Err(StoreError::Busy(cause)) => Err(OpenError::Migrating(cause)),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(()),
    }
}

/// Fails unless [`up`] and the work after it could write a database in this state. Everything is rolled back.
pub(super) async fn rehearse(db: &Db, found: FoundDatabase) -> Result<(), OpenError> {
    let mut tx = db.write().await?;
    if let Pools::Postgres(_) = db.pools {
        meta::check_server(&mut tx).await?;
    }
    take_lock(&mut tx).await?;
    tx.script(HISTORY).await?;
    match found {
        FoundDatabase::Current => meta::probe(&mut tx).await?,
        FoundDatabase::None | FoundDatabase::ToMigrate => {
            let newest = tx.row(NEWEST, args![]).await?.map(|row| row.int("newest")).transpose()?;
            // Migrating tables with data can take long, and others may be using them.
            if newest.unwrap_or_default() == 0 {
                apply(&mut tx, &db.pools, 0).await?;
            }
        }
    }
    Ok(tx.rollback().await?)
}

/// Fails unless the database answers a query. Its tables do not matter.
pub(super) async fn answers(db: &Db) -> Result<(), OpenError> {
    db.row(ANSWERS, args![]).await?;
    Ok(())
}

/// Fails unless the tables have the version that this program knows, or a newer one on which it works.
pub(super) async fn is_current(db: &Db) -> Result<(), OpenError> {
    let known = MIGRATIONS.last().map_or(0, |migration| migration.number);
    let row = match db.row(NEWEST, args![]).await {
        // There is no such table.
        Err(StoreError::Refused(cause)) if obstacle(&cause) == Obstacle::Other => {
            return Err(OpenError::Older { found: 0, known });
        }
        row => row?,
    };
    let found = row.map(|row| row.int("newest")).transpose()?.unwrap_or_default();
    if found > known {
        let refusing = db.row(REFUSING, args![known]).await?;
        let refusing = refusing.map(|row| row.count("refusing")).transpose()?.unwrap_or_default();
        return if refusing > 0 { Err(OpenError::Newer { found, known }) } else { Ok(()) };
    }
    if found < known {
        return Err(OpenError::Older { found, known });
    }
    is_whole(db).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_of_the_migrations_is_looked_for() {
        for migration in MIGRATIONS {
            for script in [migration.sqlite, migration.postgres] {
                let created = script.lines().filter_map(|line| line.strip_prefix("CREATE TABLE "));
                for table in created.filter_map(|rest| rest.split_whitespace().next()) {
                    assert!(ALL_TABLES.contains(&format!("FROM {table})")), "{table}");
                }
            }
        }
    }
}
