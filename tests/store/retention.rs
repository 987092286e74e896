//! Old data is deleted, and only old data.

use crate::contract::{APP, Database, INSTALLATION, LATER, NOW, delivery, effect, feature, key, step};
use autobuild::store::{Commit, Lane, MoreToDelete, NewEffect, Store};
use domain::ids::InstallationId;

on_both! {
    deliveries_and_what_they_caused_go_when_they_are_old
    an_ended_feature_loses_its_steps_and_stays
    an_installation_that_is_gone_leaves_nothing
    a_repository_that_another_installation_has_is_not_gone
    an_ended_feature_is_counted_once
    lost_leases_are_counted
}

async fn deliveries_and_what_they_caused_go_when_they_are_old(db: Database) {
    let store = db.open().await;
    let ingest = |id: &str| NewEffect { feature: None, ..effect(id, Lane::Control, id) };
    store.accept_delivery(delivery("old"), Some(ingest("old"))).await.unwrap();
    let mut new = delivery("new");
    new.received_at = LATER;
    store.accept_delivery(new, Some(ingest("new"))).await.unwrap();
    assert_eq!(store.forget_deliveries(LATER).await.unwrap(), MoreToDelete::No);
    assert!(store.delivery(APP, "old").await.unwrap().is_none());
    assert!(store.delivery(APP, "new").await.unwrap().is_some());
    store.forget_loose_effects(LATER).await.unwrap();
    assert_eq!(store.unfinished_effects().await.unwrap().len(), 2, "nobody performed them yet");
    store.give_back_room().await.unwrap();
}

/// Stores a Feature in this state, with an effect that is done.
async fn stored(store: &Store, issue: u64, state: &str) {
    let id = format!("effect of {issue}");
    let commit = Commit {
        feature: feature(key(issue, 1), state),
        effects: vec![NewEffect { feature: Some(key(issue, 1)), ..effect(&id, Lane::Forge, &id) }],
        ..step(key(issue, 1), None, "labelled")
    };
    store.commit(&commit).await.unwrap();
}

async fn count(store: &Store) -> usize {
    store.unfinished_effects().await.unwrap().len()
}

async fn an_ended_feature_loses_its_steps_and_stays(db: Database) {
    let store = db.open().await;
    for (issue, state) in [(1, "completed"), (2, "building")] {
        stored(&store, issue, state).await;
    }
    assert_eq!(store.trim_ended_features(NOW).await.unwrap(), MoreToDelete::No);
    assert_eq!(count(&store).await, 2, "it is not older than that");
    store.trim_ended_features(LATER).await.unwrap();
    assert_eq!(count(&store).await, 1);
    assert!(store.feature(&key(1, 1)).await.unwrap().is_some());
    let body = async |issue| store.events(&key(issue, 1)).await.unwrap().remove(0).event.body;
    assert_eq!(body(1).await, "{}", "it may hold a report of the Gates");
    assert_ne!(body(2).await, "{}");
}

async fn an_installation_that_is_gone_leaves_nothing(db: Database) {
    let store = db.open().await;
    stored(&store, 1, "cancelled").await;
    store.accept_delivery(delivery("d"), None).await.unwrap();
    store.depart(INSTALLATION, NOW).await.unwrap();
    store.depart(InstallationId(99), NOW).await.unwrap();
    assert_eq!(store.purge_departed(NOW).await.unwrap(), 0, "it is not gone for that long");
    assert_eq!(store.purge_departed(LATER).await.unwrap(), 2);
    assert!(store.feature(&key(1, 1)).await.unwrap().is_none());
    assert!(store.delivery(APP, "d").await.unwrap().is_none());
    assert_eq!(count(&store).await, 0);
    assert_eq!(store.departed_repos().await.unwrap(), [key(1, 1).repo]);
    store.forget_departed(LATER).await.unwrap();
    assert_eq!(store.departed_repos().await.unwrap(), []);
}

async fn a_repository_that_another_installation_has_is_not_gone(db: Database) {
    let store = db.open().await;
    stored(&store, 1, "completed").await;
    store.accept_delivery(delivery("d"), None).await.unwrap();
    let mut elsewhere = step(key(2, 1), None, "labelled");
    elsewhere.feature.installation = InstallationId(99);
    store.commit(&elsewhere).await.unwrap();
    store.depart(INSTALLATION, NOW).await.unwrap();
    assert_eq!(store.purge_departed(LATER).await.unwrap(), 1);
    assert!(store.feature(&key(1, 1)).await.unwrap().is_none());
    assert!(store.feature(&key(2, 1)).await.unwrap().is_some());
    assert_eq!(store.departed_repos().await.unwrap(), []);
}

async fn an_ended_feature_is_counted_once(db: Database) {
    let store = db.open().await;
    stored(&store, 1, "completed").await;
    stored(&store, 2, "building").await;
    assert_eq!(store.uncounted_features().await.unwrap(), [key(1, 1)]);
    for _ in 0..2 {
        store.count_feature(&key(1, 1), &[("turns", 3), ("refusals", 0)]).await.unwrap();
    }
    assert_eq!(store.uncounted_features().await.unwrap(), []);
    assert_eq!(store.counters().await.unwrap(), [("turns".to_owned(), 3)]);
}

async fn lost_leases_are_counted(db: Database) {
    let store = db.open().await;
    store.add_effects(&[effect("e", Lane::Agent, "x")]).await.unwrap();
    crate::contract::claim(&store, Lane::Agent).await.unwrap();
    store.reap(LATER).await.unwrap();
    store.reap(LATER).await.unwrap();
    assert_eq!(store.counters().await.unwrap(), [("leases_lost".to_owned(), 1)]);
}
