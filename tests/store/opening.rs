//! Opening: tables are made once and never downgraded.

use crate::contract::{Database, delivery, execute};
use autobuild::store::{FoundDatabase, Obstacle, OpenError, OpenOptions, Store};

on_both! {
    an_opened_database_opens_again_with_all_it_holds
    a_try_finds_what_opening_would_find_and_leaves_nothing_behind
    a_database_that_lacks_a_table_is_damaged
    a_database_with_tables_of_others_is_refused_before_a_start
}

async fn an_opened_database_opens_again_with_all_it_holds(db: Database) {
    let store = db.open().await;
    store.accept_delivery(delivery("d1"), None).await.unwrap();
    store.close().await;
    let store = db.open().await;
    assert!(store.delivery(crate::contract::APP, "d1").await.unwrap().is_some());
}

#[tokio::test]
async fn a_reader_makes_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("autobuild.db");
    let url = format!("sqlite:{}", file.display());
    let refused = Store::open_to_read(&url, OpenOptions::default()).await;
    assert!(matches!(refused, Err(OpenError::File { .. })), "{refused:?}");
    std::fs::write(&file, "").unwrap();
    let refused = Store::open_to_read(&url, OpenOptions::default()).await;
    assert!(refused.is_err(), "there are no tables");
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 0);
}

#[tokio::test]
async fn an_address_of_no_database_is_refused() {
    for url in ["", "autobuild.db", "mysql://localhost/x", "sqlite::memory:"] {
        let refused = Store::open(url, OpenOptions::default()).await;
        assert!(matches!(refused, Err(OpenError::Address(_))), "{url}: {refused:?}");
    }
}

async fn a_try_finds_what_opening_would_find_and_leaves_nothing_behind(db: Database) {
    let tried = async || Store::try_opening(&db.url, OpenOptions::default()).await.unwrap();
    let before = tried().await;
    assert_ne!(before, FoundDatabase::Current);
    assert_eq!(tried().await, before);
    let store = db.open().await;
    assert_eq!(tried().await, FoundDatabase::Current, "a service runs");
    store.close().await;
    assert_eq!(tried().await, FoundDatabase::Current);
}

async fn a_database_that_lacks_a_table_is_damaged(db: Database) {
    db.open().await.close().await;
    execute(&db.url, "DROP TABLE baseline").await;
    let (tried, read, opened) = (
        Store::try_opening(&db.url, OpenOptions::default()).await.map(drop),
        Store::open_to_read(&db.url, OpenOptions::default()).await.map(drop),
        Store::open(&db.url, OpenOptions::default()).await.map(drop),
    );
    for refused in [tried, read, opened] {
        assert_eq!(refused.unwrap_err().obstacle(), Obstacle::Damaged);
    }
}

async fn a_database_with_tables_of_others_is_refused_before_a_start(db: Database) {
    db.open().await.close().await;
    execute(&db.url, "DROP TABLE migration").await;
    for refused in [
        Store::try_opening(&db.url, OpenOptions::default()).await.map(drop),
        Store::open(&db.url, OpenOptions::default()).await.map(drop),
    ] {
        assert!(matches!(refused, Err(OpenError::Occupied(_))), "{refused:?}");
    }
}
