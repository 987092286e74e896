//! Deliveries: stored before they are acknowledged, once.

use crate::contract::{APP, Database, LATER, NOW, claim_at, delivery, effect};
use autobuild::store::{
    AcceptOutcome, EffectWait, Fenced, Lane, LaneLimits, MAX_EFFECT_PAYLOAD, Outcome, StoreError, WaitsOn,
};

on_both! {
    a_delivery_is_new_once_and_known_ever_after
    a_delivery_that_failed_is_done_again_when_it_is_sent_again
    deliveries_that_arrive_together_are_each_stored_once
    a_refused_delivery_does_not_take_its_neighbours_down
    what_cannot_be_stored_is_refused_before_it_joins_a_batch
    blanked_payloads_leave_the_ids
    an_acknowledged_delivery_outlives_the_store
    a_closed_store_says_so
}

async fn a_delivery_is_new_once_and_known_ever_after(db: Database) {
    let store = db.open().await;
    let ingest = effect("ingest:d1", Lane::Control, "d1");
    let first = store.accept_delivery(delivery("d1"), Some(ingest.clone())).await;
    let again = store.accept_delivery(delivery("d1"), Some(ingest)).await;
    assert_eq!(first.unwrap(), AcceptOutcome::New);
    assert_eq!(again.unwrap(), AcceptOutcome::Known);
    assert_eq!(store.unfinished_effects().await.unwrap().len(), 1);

    store.finish_delivery(APP, "d1", "taken in").await.unwrap();
    let kept = store.delivery(APP, "d1").await.unwrap().expect("it is stored");
    let sent = delivery("d1");
    assert_eq!((kept.event, kept.payload), (sent.event, Some(sent.payload.to_string())));
    assert_eq!(kept.received_at, NOW);
    assert_eq!(kept.outcome.as_deref(), Some("taken in"));
    assert_eq!(store.delivery(APP, "d2").await.unwrap(), None);
}

async fn a_delivery_that_failed_is_done_again_when_it_is_sent_again(db: Database) {
    let store = db.open().await;
    let ingest = || Some(effect("ingest:d1", Lane::Control, "d1"));
    let end = async |outcome: Outcome| {
        let claimed = claim_at(&store, "worker", LaneLimits::none(Lane::Control), LATER).await;
        let claimed = claimed.expect("it is due");
        assert_eq!((claimed.effect.attempt, claimed.effect.crashes), (0, 0));
        assert_eq!(store.finish(&claimed.hold, &outcome).await.unwrap(), Fenced::Written);
    };
    store.accept_delivery(delivery("d1"), ingest()).await.unwrap();
    let hold = claim_at(&store, "worker", LaneLimits::none(Lane::Control), NOW).await.expect("it is due").hold;
    store
        .wait_out(&hold, &EffectWait { on: &WaitsOn::Unknown, why: "who knows", now: NOW, until: NOW }, &[])
        .await
        .unwrap();
    end(Outcome::Failed { error: "GitHub said no".to_owned() }).await;
    store.finish_delivery(APP, "d1", "failed: GitHub said no").await.unwrap();
    store.blank_payloads(LATER).await.unwrap();

    let mut repeat = delivery("d1");
    repeat.received_at = LATER;
    let both =
        tokio::join!(store.accept_delivery(repeat.clone(), ingest()), store.accept_delivery(repeat.clone(), ingest()),);
    assert_eq!((both.0.unwrap(), both.1.unwrap()), (AcceptOutcome::Again, AcceptOutcome::Known));
    let kept = store.delivery(APP, "d1").await.unwrap().unwrap();
    assert_eq!((kept.payload, kept.received_at, kept.outcome), (Some(repeat.payload.to_string()), LATER, None));
    let effect = store.effect("ingest:d1").await.unwrap().expect("it is stored");
    assert_eq!(effect.waits_since(&WaitsOn::Unknown), None, "patience starts anew");
    end(Outcome::Done).await;
    store.finish_delivery(APP, "d1", "done").await.unwrap();

    let again = store.accept_delivery(repeat, ingest()).await;
    assert_eq!(again.unwrap(), AcceptOutcome::Known);
    assert!(store.unfinished_effects().await.unwrap().is_empty());
}

async fn deliveries_that_arrive_together_are_each_stored_once(db: Database) {
    let store = db.open().await;
    let mut sending = Vec::new();
    for sender in 0..300 {
        // Every delivery is sent three times at once.
        let id = format!("d{}", sender % 100);
        let ingest = effect(&format!("ingest:{id}"), Lane::Control, &id);
        let store = store.clone();
        sending.push(tokio::spawn(async move { store.accept_delivery(delivery(&id), Some(ingest)).await }));
    }
    let mut new = 0;
    for sent in sending {
        if sent.await.unwrap().unwrap() == AcceptOutcome::New {
            new += 1;
        }
    }
    assert_eq!(new, 100);
    assert_eq!(store.unfinished_effects().await.unwrap().len(), 100);
}

async fn a_refused_delivery_does_not_take_its_neighbours_down(db: Database) {
    let store = db.open().await;
    let mut odd = delivery("odd");
    odd.payload = "a text with \0, which PostgreSQL refuses".into();
    let (before, odd, after) = tokio::join!(
        store.accept_delivery(delivery("before"), None),
        store.accept_delivery(odd, None),
        store.accept_delivery(delivery("after"), None),
    );
    assert_eq!((before.unwrap(), after.unwrap()), (AcceptOutcome::New, AcceptOutcome::New));
    assert!(matches!(odd, Ok(AcceptOutcome::New) | Err(StoreError::Refused(_))));
}

async fn what_cannot_be_stored_is_refused_before_it_joins_a_batch(db: Database) {
    let store = db.open().await;
    let mut huge = effect("huge", Lane::Control, "d1");
    huge.payload = "x".repeat(MAX_EFFECT_PAYLOAD + 1);
    let refused = store.accept_delivery(delivery("d1"), Some(huge)).await;
    assert!(matches!(refused, Err(StoreError::TooLong { .. })), "{refused:?}");

    let mut far = delivery("d2");
    far.app.0 = u64::MAX;
    let refused = store.accept_delivery(far, None).await;
    assert!(matches!(refused, Err(StoreError::TooLarge(u64::MAX))), "{refused:?}");
}

async fn blanked_payloads_leave_the_ids(db: Database) {
    let store = db.open().await;
    let mut recent = delivery("recent");
    recent.received_at = LATER;
    store.accept_delivery(delivery("old"), None).await.unwrap();
    store.accept_delivery(recent, None).await.unwrap();

    assert_eq!(store.blank_payloads(LATER).await.unwrap(), 1);
    assert_eq!(store.blank_payloads(LATER).await.unwrap(), 0);
    assert_eq!(store.delivery(APP, "old").await.unwrap().unwrap().payload, None);
    assert!(store.delivery(APP, "recent").await.unwrap().unwrap().payload.is_some());
    let again = store.accept_delivery(delivery("old"), None).await;
    assert_eq!(again.unwrap(), AcceptOutcome::Known);
}

async fn an_acknowledged_delivery_outlives_the_store(db: Database) {
    let store = db.open().await;
    store.accept_delivery(delivery("d1"), None).await.unwrap();
    store.close().await;
    let store = db.open().await;
    let again = store.accept_delivery(delivery("d1"), None).await;
    assert_eq!(again.unwrap(), AcceptOutcome::Known);
}

async fn a_closed_store_says_so(db: Database) {
    let store = db.open().await;
    store.close().await;
    let refused = store.accept_delivery(delivery("d1"), None).await;
    assert!(matches!(refused, Err(StoreError::Closed)), "{refused:?}");
    assert!(matches!(store.check_writable().await, Err(StoreError::Closed)));
}
