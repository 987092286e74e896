//! Checks the database: that it can be opened, written and grow. Each cause has its own remedy.

use crate::{
    cli::{
        assemble,
        doctor::look::{DoctorInput, PATIENCE},
    },
    store::{FoundDatabase, Obstacle, OpenError, OpenOptions, Store},
};
use domain::diagnosis::{Row, Topic};
use secrecy::ExposeSecret;
use std::time::Duration;

/// How long each try waits for SQLite's lock. The few tries together take less than [`PATIENCE`].
const BUSY: Duration = Duration::from_millis(500);

/// How long each try waits for a server, or for a lock of it. This leaves time within [`PATIENCE`] to say which.
const SERVER: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    Sqlite,
    Postgres,
}

pub(super) async fn row(input: &DoctorInput<'_>) -> Row {
    let url = input.settings.database_url.expose_secret();
    let engine = if url.starts_with("sqlite:") { Engine::Sqlite } else { Engine::Postgres };
    let tried = async {
        match input.running {
            Some(running) => {
                running.store.check_writable().await.map(|()| FoundDatabase::Current).map_err(OpenError::from)
            }
            None => {
                let options = OpenOptions { busy_timeout: BUSY, patience: SERVER, ..OpenOptions::default() };
                Store::try_opening(url, options).await
            }
        }
    };
    match tokio::time::timeout(PATIENCE, tried).await {
        Ok(Ok(found)) => Row::ok(Topic::Database, describe(found)),
        Ok(Err(error)) => {
            let remedy = remedy(error.obstacle(), engine);
            let error = anyhow::Error::from(error).context(assemble::opening(url));
            Row::broken(Topic::Database, format!("{error:#}"), remedy)
        }
        Err(_) => {
            let remedy = remedy(Obstacle::Unreachable, engine);
            Row::broken(Topic::Database, "the database does not answer within 5 seconds", remedy)
        }
    }
}

fn describe(found: FoundDatabase) -> &'static str {
    match found {
        FoundDatabase::Current => "can be written, with the tables of this version",
        FoundDatabase::ToMigrate => "can be written; the next start brings its tables up to date",
        FoundDatabase::None => "none yet; the first start makes it",
    }
}

fn remedy(obstacle: Obstacle, engine: Engine) -> &'static str {
    match obstacle {
        Obstacle::Address => "correct AUTOBUILD_DATABASE_URL (see docs/server-settings.md)",
        Obstacle::InUse => "stop the other process, or name another database with AUTOBUILD_DATABASE_URL",
        Obstacle::Newer => "start the newer version, or restore a backup of this one (docs/restore.md)",
        Obstacle::Damaged => "restore a backup (docs/restore.md)",
        Obstacle::Full => "make room on the disk of the database",
        Obstacle::NotDurable => "change that, then look again",
        Obstacle::Migrating => {
            "wait until it is done; if it hangs, end its session: pg_locks shows the pid that holds an advisory lock"
        }
        Obstacle::Other => "see the log of the database, or name another with AUTOBUILD_DATABASE_URL",
        Obstacle::ReadOnly => {
            "lead AUTOBUILD_DATABASE_URL to the primary server, or end this one's recovery or default_transaction_read_only"
        }
        Obstacle::Credentials => {
            "correct the user, the password and the database's name in AUTOBUILD_DATABASE_URL, or the server's pg_hba.conf"
        }
        Obstacle::NoRights if engine == Engine::Postgres => {
            "let the role of AUTOBUILD_DATABASE_URL create tables in its schema, and read and write them"
        }
        Obstacle::Unreachable if engine == Engine::Postgres => {
            "see that the database runs, and that AUTOBUILD_DATABASE_URL leads to it"
        }
        Obstacle::NoRights | Obstacle::Unreachable => {
            "let the user that runs AutoBuild read and write that file, those beside it and its folder, or name another \
             with AUTOBUILD_DATABASE_URL"
        }
    }
}
