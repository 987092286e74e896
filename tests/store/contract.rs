//! Runs each promise on both databases, and makes the rows for it.

use autobuild::store::{
    CancelRule, ClaimRequest, Claimed, Commit, Committed, DeliverySource, FeatureRow, Lane, LaneLimits, NewDelivery,
    NewEffect, NewEvent, OpenOptions, Ordered, Store, TaskRow,
};
use domain::ids::{AppId, FeatureKey, InstallationId, IssueNumber, Millis, RepoId, TaskId};
use sqlx::{
    ConnectOptions, Executor, PgConnection, SqliteConnection, postgres::PgConnectOptions, sqlite::SqliteConnectOptions,
};
use tempfile::TempDir;

/// Defines tests of each named promise for both databases.
macro_rules! on_both {
    ($($promise:ident)*) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $promise() {
                super::$promise($crate::contract::Database::sqlite()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test]
            async fn $promise() {
                super::$promise($crate::contract::Database::postgres().await).await;
            })*
        }
    };
}

/// The database of one test.
pub struct Database {
    pub url: String,
    _folder: Option<TempDir>,
}

impl Database {
    pub fn sqlite() -> Self {
        let folder = support::folder::folder("autobuild-store-");
        Self { url: format!("sqlite:{}", folder.path().join("autobuild.db").display()), _folder: Some(folder) }
    }

    pub async fn postgres() -> Self {
        Self { url: crate::postgres::database().await, _folder: None }
    }

    pub async fn open(&self) -> Store {
        Store::open(&self.url, OpenOptions::default()).await.expect("the store opens")
    }
}

pub const NOW: Millis = Millis(1_000_000);
pub const LATER: Millis = Millis(2_000_000);
pub const LEASE: i64 = 60_000;
pub const APP: AppId = AppId(7);
pub const INSTALLATION: InstallationId = InstallationId(30);

pub fn key(issue: u64, run: u32) -> FeatureKey {
    FeatureKey { repo: RepoId(500), issue: IssueNumber(issue), run }
}

pub fn delivery(id: &str) -> NewDelivery {
    NewDelivery {
        app: APP,
        id: id.to_owned(),
        event: "issues".to_owned(),
        installation: Some(INSTALLATION),
        repo: Some(RepoId(500)),
        payload: format!("{{\"delivery\":\"{id}\"}}").into(),
        received_at: NOW,
        source: DeliverySource::Webhook,
    }
}

pub fn effect(id: &str, lane: Lane, subject: &str) -> NewEffect {
    NewEffect {
        id: id.to_owned(),
        kind: "Kind".to_owned(),
        lane,
        subject: subject.to_owned(),
        feature: Some(key(1, 1)),
        feature_limit: None,
        ordered: Ordered::InOrder,
        waits: false,
        installation: INSTALLATION,
        repo: Some(RepoId(500)),
        payload: "{}".to_owned(),
        priority: 10,
        run_at: NOW,
    }
}

pub fn feature(key: FeatureKey, state: &str) -> FeatureRow {
    FeatureRow { key, installation: INSTALLATION, state: state.to_owned(), branch: None, pull: None, held: false }
}

pub fn task(number: u16) -> TaskRow {
    TaskRow {
        id: TaskId::Planned(number),
        wave: 1,
        state: "pending".to_owned(),
        branch: None,
        head: None,
        pull: None,
        data: "{}".to_owned(),
        needs: Vec::new(),
    }
}

/// Returns a step with only an event and a state.
pub fn step(key: FeatureKey, expected: Option<i64>, cause: &str) -> Commit {
    Commit {
        expected,
        event: NewEvent {
            kind: "Happened".to_owned(),
            body: "{\"it\":\"happened\"}".to_owned(),
            cause: cause.to_owned(),
            actor: "mona".to_owned(),
            at: NOW,
        },
        feature: feature(key, "building"),
        data: "{}".to_owned(),
        tasks: Vec::new(),
        removed: Vec::new(),
        turns: Vec::new(),
        cancel: Vec::new(),
        effects: Vec::new(),
        finish: None,
    }
}

pub async fn claim_at(store: &Store, worker: &str, limits: LaneLimits, now: Millis) -> Option<Claimed> {
    let request = ClaimRequest { worker, lanes: &[limits], others: &[], now, lease_until: now.plus(LEASE) };
    store.claim(&request).await.expect("claiming works")
}

pub async fn claim(store: &Store, lane: Lane) -> Option<Claimed> {
    claim_at(store, "worker", LaneLimits::none(lane), NOW).await
}

/// Claims the next effect; returns its id.
pub async fn claimed_id(store: &Store, lane: Lane) -> Option<String> {
    claim(store, lane).await.map(|claimed| claimed.effect.id)
}

/// Runs SQL without the store.
pub async fn execute(url: &str, sql: &'static str) {
    if let Some(path) = url.strip_prefix("sqlite:") {
        let options = SqliteConnectOptions::new().filename(path);
        options.connect().await.unwrap().execute(sql).await.unwrap();
    } else {
        let options: PgConnectOptions = url.parse().unwrap();
        options.connect().await.unwrap().execute(sql).await.unwrap();
    }
}

/// A transaction outside of the store that has written and is not committed yet.
pub enum Held {
    Sqlite(SqliteConnection),
    /// With the address of the server, for queries of waiting transactions.
    Postgres(PgConnection, String),
}

impl Held {
    pub async fn by(db: &Database, sql: &'static str) -> Self {
        if let Some(path) = db.url.strip_prefix("sqlite:") {
            let mut connection = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
            connection.execute("BEGIN IMMEDIATE").await.unwrap();
            connection.execute(sql).await.unwrap();
            Self::Sqlite(connection)
        } else {
            let mut connection = db.url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
            connection.execute("BEGIN").await.unwrap();
            connection.execute(sql).await.unwrap();
            Self::Postgres(connection, db.url.clone())
        }
    }

    /// Returns when another transaction of this database waits for a lock. SQLite does not show that; there, a writer
    /// waits before it reads anything.
    pub async fn until_somebody_waits(&self) {
        let Self::Postgres(_, url) = self else { return };
        let mut looking = url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
        let waiting = "SELECT COUNT(*) FROM pg_stat_activity \
                       WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut looking).await.unwrap() == 0 {
            tokio::task::yield_now().await;
        }
    }

    pub async fn commit(self) {
        match self {
            Self::Sqlite(mut connection) => drop(connection.execute("COMMIT").await.unwrap()),
            Self::Postgres(mut connection, _) => drop(connection.execute("COMMIT").await.unwrap()),
        }
    }
}

/// Cancels the effects of the Feature that [`effect`] makes, by their kind.
pub async fn cancel(store: &Store) {
    let known = store.feature(&key(1, 1)).await.unwrap();
    let version = known.map(|known| known.version);
    let mut stop = step(key(1, 1), version, &format!("stop {version:?}"));
    stop.cancel = vec![CancelRule::Kind("Kind".to_owned())];
    assert_eq!(store.commit(&stop).await.unwrap(), Committed::Done);
}
