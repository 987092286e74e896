//! Checks the database: that it can be opened, written and grow. Each cause has its own remedy.

use crate::{
    cli::{
        assemble,
        doctor::look::{DoctorInput, PATIENCE},
    },
    engine,
    store::{FoundDatabase, LaneTally, Obstacle, OpenError, OpenOptions, Store},
};
use domain::{
    diagnosis::{Row, Topic},
    ids::Millis,
};
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

/// The longest that a step waits where processes take steps, in milliseconds.
const LONG_WAIT_MS: i64 = 10 * 60 * 1_000;

/// Returns the row of the steps that wait for a process, such as those of agents without a worker.
pub(super) async fn steps(engine: &engine::Engine) -> Row {
    let now = engine.now();
    match engine.store.tally_lanes("", now).await {
        Ok(lanes) => row_of_lanes(&lanes, now),
        Err(error) => Row::warning(Topic::Steps, format!("not counted: {error}"), "look at the database's row"),
    }
}

fn row_of_lanes(lanes: &[LaneTally], now: Millis) -> Row {
    let waits = |lane: &LaneTally| lane.oldest_due.map_or(0, |since| now.0.saturating_sub(since.0));
    let left = lanes.iter().filter(|lane| lane.tally.running == 0 && waits(lane) > LONG_WAIT_MS);
    let Some(left) = left.max_by_key(|lane| waits(lane)) else {
        let due: u64 = lanes.iter().map(|lane| lane.tally.due).sum();
        return Row::ok(Topic::Steps, format!("{due} wait for their turn"));
    };
    let (due, lane, minutes) = (left.tally.due, left.lane.word(), waits(left) / 60_000);
    Row::warning(
        Topic::Steps,
        format!("{due} of the lane `{lane}` wait, the oldest for {minutes} minutes, and no process works on one"),
        "start a process that takes them (for agents `autobuild worker`), or see in its log why it rests",
    )
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

#[cfg(test)]
mod tests {
    use super::{LONG_WAIT_MS, row_of_lanes};
    use crate::store::{LaneTally, Tally};
    use domain::{diagnosis::RowStatus, effect::Lane, ids::Millis};

    #[test]
    fn steps_that_wait_long_without_a_process_are_a_warning() {
        let lane = |lane, running, waited: i64| LaneTally {
            lane,
            tally: Tally { due: 3, waiting: 0, running },
            oldest_due: Some(Millis(-waited)),
            oldest_of_kind: None,
        };
        let long = LONG_WAIT_MS + 60_000;
        let table = [
            (vec![], RowStatus::Ok, "0 wait"),
            (vec![lane(Lane::Agent, 0, 60_000)], RowStatus::Ok, "3 wait"),
            (vec![lane(Lane::Agent, 1, long)], RowStatus::Ok, "3 wait"),
            (
                vec![lane(Lane::Forge, 1, 1), lane(Lane::Agent, 0, long)],
                RowStatus::Warning,
                "`agent` wait, the oldest for 11",
            ),
        ];
        for (lanes, status, part) in table {
            let row = row_of_lanes(&lanes, Millis(0));
            assert!(row.status == status && row.found.contains(part), "{row:?}");
        }
    }
}
