//! The problems of a file: locked, damaged, busy.

use crate::contract::{Database, Held, LEASE, NOW, claim, delivery, effect};
use autobuild::store::{AcceptOutcome, FoundDatabase, Lane, Obstacle, OpenError, OpenOptions, Store, StoreError};
use sqlx::{ConnectOptions, Executor, sqlite::SqliteConnectOptions};
use std::{os::unix::fs::PermissionsExt, path::PathBuf, time::Duration};

fn file(db: &Database) -> PathBuf {
    PathBuf::from(db.url.strip_prefix("sqlite:").unwrap())
}

#[tokio::test]
async fn a_second_process_is_refused_whatever_it_calls_the_file() {
    let db = Database::sqlite();
    let store = db.open().await;
    let link = file(&db).with_file_name("link.db");
    std::os::unix::fs::symlink(file(&db), &link).unwrap();
    for url in [db.url.clone(), format!("sqlite://{}", link.display())] {
        let refused = Store::open(&url, OpenOptions::default()).await;
        assert!(matches!(refused, Err(OpenError::InUse(_))), "{url}: {refused:?}");
    }
    store.accept_delivery(delivery("d1"), None).await.unwrap();
    store.close().await;
    db.open().await;
}

#[tokio::test]
async fn a_damaged_file_is_refused_and_left_as_it_is() {
    let db = Database::sqlite();
    let text = "this is no database ".repeat(1_000);
    std::fs::write(file(&db), &text).unwrap();
    let refused = Store::open(&db.url, OpenOptions::default()).await;
    assert!(matches!(refused, Err(OpenError::Damaged(_))), "{refused:?}");
    assert_eq!(std::fs::read_to_string(file(&db)).unwrap(), text);
}

#[tokio::test]
async fn a_try_of_a_damaged_or_busy_file_tells_these_apart() {
    let db = Database::sqlite();
    db.open().await.close().await;
    let hurried = || OpenOptions { busy_timeout: Duration::from_millis(1), ..OpenOptions::default() };
    let held = Held::by(&db, "DELETE FROM meta").await;
    assert_eq!(Store::try_opening(&db.url, hurried()).await.unwrap(), FoundDatabase::Current, "another writes");
    held.commit().await;
    let length = std::fs::metadata(file(&db)).unwrap().len();
    std::fs::write(file(&db), "x".repeat(usize::try_from(length).unwrap())).unwrap();
    let tried = Store::try_opening(&db.url, hurried()).await;
    assert_eq!(tried.unwrap_err().obstacle(), Obstacle::Damaged);
}

#[tokio::test]
async fn a_folder_in_place_of_the_file_is_refused() {
    let db = Database::sqlite();
    std::fs::create_dir(file(&db)).unwrap();
    let refused = Store::open(&db.url, OpenOptions::default()).await;
    assert!(matches!(refused, Err(OpenError::File { .. })), "{refused:?}");
}

#[tokio::test]
async fn missing_folders_are_made_and_the_file_is_its_owners_alone() {
    let db = Database::sqlite();
    let path = file(&db).with_file_name("a").join("b").join("deep.db");
    let store = Store::open(&format!("sqlite:{}", path.display()), OpenOptions::default()).await;
    let store = store.unwrap();
    store.accept_delivery(delivery("d1"), None).await.unwrap();
    for name in ["deep.db", "deep.db-wal"] {
        let mode = std::fs::metadata(path.with_file_name(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
}

#[tokio::test]
async fn files_that_all_could_read_are_closed_to_them_at_the_next_start() {
    let db = Database::sqlite();
    let first = db.open().await;
    let files = ["", "-wal", "-shm", ".lock"].map(|end| PathBuf::from(format!("{}{end}", file(&db).display())));
    for file in &files {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o664)).unwrap();
    }
    // The files beside the database are still there after a crash.
    let copy = tempfile::tempdir().unwrap();
    for file in &files {
        std::fs::copy(file, copy.path().join(file.file_name().unwrap())).unwrap();
    }
    let database = copy.path().join(files[0].file_name().unwrap());
    let second = Store::open(&format!("sqlite:{}", database.display()), OpenOptions::default()).await.unwrap();
    for file in files {
        let name = file.file_name().unwrap();
        let mode = std::fs::metadata(copy.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o660, "{name:?}");
    }
    second.close().await;
    first.close().await;
}

#[tokio::test]
async fn a_busy_file_is_waited_for_and_then_an_error_that_may_pass() {
    let db = Database::sqlite();
    let hurried = OpenOptions { busy_timeout: Duration::from_millis(1), ..OpenOptions::default() };
    let store = Store::open(&db.url, hurried).await.unwrap();
    let mut other = SqliteConnectOptions::new().filename(file(&db)).connect().await.unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let refused = store.accept_delivery(delivery("d1"), None).await;
    assert!(matches!(&refused, Err(StoreError::Busy(_))), "{refused:?}");
    assert!(store.delivery(crate::contract::APP, "d1").await.unwrap().is_none());
    other.execute("ROLLBACK").await.unwrap();
    let again = store.accept_delivery(delivery("d1"), None).await;
    assert_eq!(again.unwrap(), AcceptOutcome::New);
}

#[tokio::test]
async fn a_transaction_that_sqlite_ends_by_itself_leaves_a_store_that_writes() {
    let db = Database::sqlite();
    let store = db.open().await;
    let mut other = SqliteConnectOptions::new().filename(file(&db)).connect().await.unwrap();
    // Ends the transaction as a full disk does.
    let ends =
        "CREATE TRIGGER full BEFORE INSERT ON delivery WHEN NEW.id = 'd1' BEGIN SELECT RAISE(ROLLBACK, 'full'); END";
    other.execute(ends).await.unwrap();
    assert!(store.accept_delivery(delivery("d1"), None).await.is_err());
    other.execute("DROP TRIGGER full").await.unwrap();
    for id in ["d1", "d2"] {
        let accepted = store.accept_delivery(delivery(id), None).await;
        assert_eq!(accepted.unwrap(), AcceptOutcome::New, "{id}");
    }
}

#[tokio::test]
async fn a_start_takes_back_what_the_process_before_held() {
    let db = Database::sqlite();
    let store = db.open().await;
    store.add_effects(&[effect("e", Lane::Agent, "task")]).await.unwrap();
    let old = claim(&store, Lane::Agent).await.unwrap().hold;
    store.close().await;

    let store = db.open().await;
    let taken = store.take_back(NOW).await.unwrap();
    assert_eq!(taken.len(), 1, "though its lease lasts until {:?}", NOW.plus(LEASE));
    let again = claim(&store, Lane::Agent).await.unwrap();
    assert_eq!(again.effect.crashes, 1);
    assert!(again.hold.fence > old.fence);
}
