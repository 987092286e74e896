//! An older program beside a newer one: it leaves rows alone that it cannot read, and works on tables with additions.

use crate::contract::{Database, claim, effect, execute, feature, key, step};
use autobuild::store::{Commit, Committed, Lane, NewEffect, OpenError, OpenOptions, Scope, Store, StoreError};

on_both! {
    an_effect_of_a_newer_program_is_left_to_it
    a_feature_of_a_newer_program_is_left_to_it
    a_feature_is_left_to_the_release_before_unless_it_holds_words_that_are_new
    a_database_that_a_newer_program_added_to_is_used
    a_database_that_a_newer_program_took_from_is_refused
}

async fn an_effect_of_a_newer_program_is_left_to_it(db: Database) {
    let store = db.open().await;
    let effects = ["newer", "ours"].map(|id| effect(id, Lane::Agent, id));
    store.add_effects(&effects).await.unwrap();
    execute(&db.url, "UPDATE effect SET format = 3 WHERE id = 'newer'").await;
    assert_eq!(claim(&store, Lane::Agent).await.unwrap().effect.id, "ours");
    assert!(claim(&store, Lane::Agent).await.is_none());
}

async fn a_feature_of_a_newer_program_is_left_to_it(db: Database) {
    let store = db.open().await;
    let commit = Commit {
        feature: feature(key(1, 1), "building"),
        effects: vec![NewEffect { feature: Some(key(1, 1)), ..effect("e", Lane::Agent, "e") }],
        ..step(key(1, 1), None, "labelled")
    };
    assert_eq!(store.commit(&commit).await.unwrap(), Committed::Done);
    execute(&db.url, "UPDATE feature SET format = 3").await;
    assert!(claim(&store, Lane::Agent).await.is_none());
    let read = store.feature(&key(1, 1)).await;
    assert!(matches!(read, Err(StoreError::Newer { format: 3, known: 2 })), "{read:?}");
    let rows = store.unfinished(Scope::Repo(key(1, 1).repo)).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.key).collect::<Vec<_>>(), [key(1, 1)], "it can be told from others");
    execute(&db.url, "UPDATE feature SET format = 1").await;
    assert!(store.feature(&key(1, 1)).await.unwrap().is_some());
    assert!(claim(&store, Lane::Agent).await.is_some());
}

async fn a_feature_is_left_to_the_release_before_unless_it_holds_words_that_are_new(db: Database) {
    let store = db.open().await;
    let (old, new) = (r#"{"why":"an old word"}"#, r#"{"why":{"no_programs":["jest"]}}"#);
    for (expected, data, is_of_before) in [(None, old, true), (Some(1), new, false), (Some(2), old, false)] {
        let commit = Commit { data: data.to_owned(), ..step(key(1, 1), expected, &format!("after {expected:?}")) };
        assert_eq!(store.commit(&commit).await.unwrap(), Committed::Done);
        execute(&db.url, "UPDATE feature SET format = format + 1").await;
        assert_eq!(store.feature(&key(1, 1)).await.is_ok(), is_of_before, "after {expected:?}");
        execute(&db.url, "UPDATE feature SET format = format - 1").await;
    }
}

async fn a_database_that_a_newer_program_added_to_is_used(db: Database) {
    db.open().await.close().await;
    execute(&db.url, "ALTER TABLE feature ADD COLUMN later TEXT").await;
    execute(&db.url, "INSERT INTO migration (number, name, older_works) VALUES (99, 'later', 1)").await;
    let store = db.open().await;
    store.add_effects(&[effect("e", Lane::Agent, "e")]).await.unwrap();
    store.close().await;
    Store::open_to_read(&db.url, OpenOptions::default()).await.unwrap();
}

async fn a_database_that_a_newer_program_took_from_is_refused(db: Database) {
    db.open().await.close().await;
    execute(&db.url, "INSERT INTO migration (number, name, older_works) VALUES (98, 'added', 1)").await;
    execute(&db.url, "INSERT INTO migration (number, name, older_works) VALUES (99, 'taken', 0)").await;
    let refused = |opened: Result<Store, OpenError>| matches!(opened, Err(OpenError::Newer { found: 99, .. }));
    assert!(refused(Store::open(&db.url, OpenOptions::default()).await));
    assert!(refused(Store::open_to_read(&db.url, OpenOptions::default()).await));
}
