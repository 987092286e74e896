//! The abilities of a server: several processes, and a setting that refuses writes.

use crate::contract::{Database, LEASE, NOW, claim, delivery, effect, execute, key};
use autobuild::store::{ClaimRequest, Lane, LaneLimits, Obstacle, OpenError, OpenOptions, Store, StoreError};
use futures_util::future::join_all;
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, postgres::PgConnectOptions};
use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    thread::ThreadId,
    time::Duration,
};
use support::relay::Relay;
use tokio::runtime::Runtime;

#[tokio::test]
async fn processes_that_start_together_make_the_tables_once() {
    let db = Database::postgres().await;
    let (first, second, third) = tokio::join!(db.open(), db.open(), db.open());
    first.accept_delivery(delivery("d1"), None).await.unwrap();
    for store in [second, third] {
        assert!(store.delivery(crate::contract::APP, "d1").await.unwrap().is_some());
    }
}

/// Polls a read until the server has begun its transaction, and then drops it. A read that meanwhile got further is
/// repeated.
async fn give_up_at_begin(store: &Store, url: &str) {
    let mut looking = url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    let begun = "SELECT COUNT(*) FROM pg_stat_activity \
                 WHERE datname = current_database() AND query LIKE 'BEGIN ISOLATION%' AND state LIKE 'idle in%'";
    let wanted = key(1, 1);
    loop {
        let mut reading = std::pin::pin!(store.feature(&wanted));
        while futures_util::poll!(reading.as_mut()).is_pending() {
            let count: i64 = sqlx::query_scalar(begun).fetch_one(&mut looking).await.unwrap();
            if count > 0 {
                return;
            }
        }
    }
}

#[tokio::test]
async fn a_reader_that_gives_up_leaves_no_transaction_behind() {
    let db = Database::postgres().await;
    let store = db.open().await;
    give_up_at_begin(&store, &db.url).await;
    for number in 0..20 {
        let effect = effect(&format!("e{number}"), Lane::Agent, "x");
        store.add_effects(&[effect]).await.unwrap();
    }
}

/// Polls claims until one has the lock for claiming but got no further, and returns it, as if its process were frozen.
/// If the lock were not its last statement, the end of its transaction might already be on its way to the server.
async fn frozen_claim<'a>(store: &'a Store, lanes: &'a [LaneLimits], url: &str) -> Frozen<'a> {
    let mut looking = url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    let holds = "SELECT COUNT(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
                 WHERE a.datname = current_database() AND l.locktype = 'advisory' AND l.granted \
                 AND a.state = 'idle in transaction' AND a.query LIKE '%pg_advisory_xact_lock%'";
    loop {
        let request = ClaimRequest { worker: "frozen", lanes, others: &[], now: NOW, lease_until: NOW.plus(LEASE) };
        let mut claiming: Frozen<'a> = Box::pin(async move { store.claim(&request).await.map(drop) });
        while futures_util::poll!(claiming.as_mut()).is_pending() {
            let count: i64 = sqlx::query_scalar(holds).fetch_one(&mut looking).await.unwrap();
            if count > 0 {
                return claiming;
            }
        }
    }
}

type Frozen<'a> = Pin<Box<dyn Future<Output = Result<(), StoreError>> + 'a>>;

#[tokio::test]
async fn a_frozen_process_that_holds_the_lock_for_claiming_stops_nobody_for_long() {
    let db = Database::postgres().await;
    let options = OpenOptions { stall: Duration::from_millis(300), ..OpenOptions::default() };
    let frozen = Store::open(&db.url, options).await.unwrap();
    let other = db.open().await;
    let lanes = [LaneLimits::none(Lane::Agent)];
    let claiming = frozen_claim(&frozen, &lanes, &db.url).await;
    other.add_effects(&[effect("e", Lane::Agent, "x")]).await.unwrap();
    assert!(claim(&other, Lane::Agent).await.is_some());
    other.check_writable().await.unwrap();
    assert!(claiming.await.is_err(), "its transaction was ended");
}

#[tokio::test]
async fn one_process_wakes_the_other() {
    let db = Database::postgres().await;
    let (one, other) = (db.open().await, db.open().await);
    let mut wakeups = other.wakeups();
    // Listening begins some time after opening. Until then, commits may be missed.
    let woken = async { wakeups.next().await };
    let working = async {
        for n in 0.. {
            one.add_effects(&[effect(&format!("e{n}"), Lane::Agent, "x")]).await.unwrap();
        }
    };
    tokio::select! {
        () = woken => {}
        () = working => {}
    }
}

#[tokio::test]
async fn a_start_leaves_to_others_what_they_hold() {
    let db = Database::postgres().await;
    let (one, other) = (db.open().await, db.open().await);
    one.add_effects(&[effect("e", Lane::Agent, "task")]).await.unwrap();
    claim(&one, Lane::Agent).await.unwrap();
    assert_eq!(other.take_back(NOW).await.unwrap(), Vec::<String>::new());
    assert_eq!(other.take_back(NOW.plus(LEASE)).await.unwrap(), Vec::<String>::new());
    assert_eq!(other.reap(NOW.plus(LEASE)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_server_that_takes_no_writes_is_told_apart() {
    let db = Database::postgres().await;
    let store = db.open().await;
    execute(
        &db.url,
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); \
         PERFORM pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid(); END $$",
    )
    .await;
    // Closed connections are noticed one by one.
    let refused = loop {
        match store.accept_delivery(delivery("d1"), None).await {
            Err(StoreError::Unavailable(_)) => {}
            other => break other,
        }
    };
    assert!(matches!(refused, Err(StoreError::CannotWrite(_))), "{refused:?}");
    assert!(matches!(store.check_writable().await, Err(StoreError::CannotWrite(_))));
    let clock = store.clock().await;
    assert!(matches!(clock, Err(StoreError::CannotWrite(_))), "leases cannot be renewed now: {clock:?}");
    assert_eq!(store.delivery(crate::contract::APP, "d1").await.unwrap(), None);
}

#[tokio::test]
async fn a_server_that_may_forget_is_refused() {
    let db = Database::postgres().await;
    execute(
        &db.url,
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$",
    )
    .await;
    let refused = Store::open(&db.url, OpenOptions::default()).await;
    assert!(matches!(refused, Err(OpenError::NotDurable(_))), "{refused:?}");
}

#[tokio::test]
async fn a_try_finds_a_server_or_a_role_that_may_not_write() {
    for (setting, obstacle) in
        [("default_transaction_read_only = on", Obstacle::ReadOnly), ("role = pg_read_all_data", Obstacle::NoRights)]
    {
        for is_made in [true, false] {
            let db = Database::postgres().await;
            if is_made {
                db.open().await.close().await;
            }
            let mut server = db.url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
            let order =
                format!("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET {setting}', current_database()); END $$");
            server.execute(AssertSqlSafe(order)).await.unwrap();
            let tried = Store::try_opening(&db.url, OpenOptions::default()).await;
            assert_eq!(tried.unwrap_err().obstacle(), obstacle, "{setting}");
        }
    }
}

#[tokio::test]
async fn a_lock_for_migrating_that_is_not_given_back_is_named() {
    let db = Database::postgres().await;
    db.open().await.close().await;
    let mut other = db.url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    other.execute("SELECT pg_advisory_lock(x'6175746f0001'::bigint)").await.unwrap();
    let hurried = || OpenOptions { patience: Duration::from_millis(100), ..OpenOptions::default() };
    let opened = Store::open(&db.url, hurried()).await.map(drop);
    let tried = Store::try_opening(&db.url, hurried()).await.map(drop);
    for refused in [opened, tried] {
        assert_eq!(refused.unwrap_err().obstacle(), Obstacle::Migrating);
    }
    other.execute("SELECT pg_advisory_unlock_all()").await.unwrap();
    Store::try_opening(&db.url, hurried()).await.unwrap();
}

/// Keeps the targets of a thread's events.
struct Targets(ThreadId, Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Targets {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::Id {
        tracing::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::Id, _: &tracing::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        if std::thread::current().id() == self.0 {
            self.1.lock().unwrap().push(event.metadata().target().to_owned());
        }
    }

    fn enter(&self, _: &tracing::Id) {}

    fn exit(&self, _: &tracing::Id) {}
}

#[tokio::test]
async fn a_start_on_a_database_that_is_made_logs_no_notice() {
    let db = Database::postgres().await;
    db.open().await.close().await;
    let targets = Arc::new(Mutex::new(Vec::new()));
    // For the whole process: one of a thread misses events that other threads cause at the same time for the first time.
    tracing::subscriber::set_global_default(Targets(std::thread::current().id(), Arc::clone(&targets))).unwrap();
    db.open().await.close().await;
    let targets = targets.lock().unwrap();
    assert!(!targets.iter().any(|target| target == "sqlx::postgres::notice"), "{targets:?}");
}

#[tokio::test]
async fn a_server_that_is_gone_does_not_answer_and_is_not_asked_for_each_delivery() {
    let db = Database::postgres().await;
    let (runtime, url) = (Runtime::new().unwrap(), db.url.clone());
    let relay = runtime.spawn(async move { Relay::to_database(&url).await });
    let options = OpenOptions { patience: Duration::from_millis(200), ..OpenOptions::default() };
    let store = Store::open(&relay.await.unwrap().1, options).await.unwrap();
    // From here on its address refuses connections.
    runtime.shutdown_background();
    // The first answers come from the connections that it had.
    for _ in 0..3 {
        let both = [store.accept_delivery(delivery("d1"), None), store.accept_delivery(delivery("d2"), None)];
        for refused in join_all(both).await {
            let error = refused.unwrap_err();
            assert!(matches!(&error, StoreError::Unavailable(_)), "{error:?}");
            assert!(error.to_string().starts_with("the database does not answer: "), "{error}");
        }
    }
}
