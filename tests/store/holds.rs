//! Holds: the operations that only the holder of an effect may use.

use crate::contract::{Database, LATER, LEASE, NOW, cancel, claim, claim_at, effect};
use autobuild::store::{
    EffectState, EffectWait, Fenced, Hold, Lane, LaneLimits, Lease, Outcome, ParkCause, ParkTimes, Store, StoredEffect,
    WaitsOn,
};

on_both! {
    a_lost_lease_may_not_write
    a_postponed_effect_waits_and_counts_nothing
    a_failed_attempt_is_counted_and_tried_again
    a_wait_for_github_counts_nothing_and_is_told_from_one_for_a_model
    a_released_effect_is_as_it_was
    an_effect_ends_as_it_is_said
    what_was_made_outside_is_remembered_over_attempts
    a_lease_that_is_over_is_a_crash
    what_panicked_is_given_back_one_crash_older
    a_renewed_lease_is_not_taken_away
    a_cancelled_effect_is_not_tried_again
    a_long_explanation_is_shortened
}

async fn hold_effect(store: &Store) -> Hold {
    store.add_effects(&[effect("e", Lane::Agent, "task")]).await.unwrap();
    claim(store, Lane::Agent).await.expect("it is ready").hold
}

async fn load_effect(store: &Store) -> StoredEffect {
    store.effect("e").await.unwrap().expect("it is stored")
}

async fn a_wait_for_github_counts_nothing_and_is_told_from_one_for_a_model(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store).await;
    let fenced = store
        .wait_out(&hold, &EffectWait { on: &WaitsOn::GitHub, why: "error: 502", now: NOW, until: LATER }, &[])
        .await;
    assert_eq!(fenced.unwrap(), Fenced::Written);
    let waiting = load_effect(&store).await;
    assert_eq!((waiting.state, waiting.attempt), (EffectState::Ready, 0));
    assert_eq!((waiting.waits_since(&WaitsOn::GitHub), waiting.waits_for_provider_since()), (Some(NOW), None));
    assert_eq!(waiting.last_error.as_deref(), Some("error: 502"));
    assert!(claim(&store, Lane::Agent).await.is_none());
    // It began to wait once, for any number of tries.
    let hold = claim_at(&store, "worker", LaneLimits::none(Lane::Agent), LATER).await.unwrap().hold;
    let again = store
        .wait_out(&hold, &EffectWait { on: &WaitsOn::GitHub, why: "error: 503", now: LATER, until: LATER }, &[])
        .await;
    assert_eq!(again.unwrap(), Fenced::Written);
    assert_eq!(load_effect(&store).await.waits_since(&WaitsOn::GitHub), Some(NOW));
    // A later reason to wait is another wait.
    let hold = claim_at(&store, "worker", LaneLimits::none(Lane::Agent), LATER).await.unwrap().hold;
    let times = ParkTimes { now: LATER, until: LATER, spacing: 0, lease: None };
    let parked = store.park(&hold, "claude", &ParkCause::Closed, &times, &[]).await;
    assert_eq!(parked.unwrap(), Fenced::Written);
    let parked = load_effect(&store).await;
    assert_eq!((parked.waits_since(&WaitsOn::GitHub), parked.waits_for_provider_since()), (None, Some(LATER)));
}

async fn a_lost_lease_may_not_write(db: Database) {
    let store = db.open().await;
    let old = hold_effect(&store).await;
    assert_eq!(store.reap(NOW.plus(LEASE)).await.unwrap().len(), 1);
    let new = claim(&store, Lane::Agent).await.unwrap().hold;
    assert_eq!((old.fence, new.fence), (1, 2), "even the same worker gets another fence");

    let stranger = Hold { worker: "stranger".to_owned(), ..new.clone() };
    let before = load_effect(&store).await;
    for lost in [&old, &stranger] {
        assert_eq!(store.renew(lost, LATER).await.unwrap(), Lease::Lost);
        assert_eq!(store.postpone(lost, LATER, "").await.unwrap(), Fenced::Lost);
        assert_eq!(store.fail_attempt(lost, LATER, "").await.unwrap(), Fenced::Lost);
        assert_eq!(store.crash(lost, LATER, "", NOW).await.unwrap(), Fenced::Lost);
        assert_eq!(store.release(lost).await.unwrap(), Fenced::Lost);
        assert_eq!(store.record_external(lost, "1").await.unwrap(), Fenced::Lost);
        assert_eq!(store.finish(lost, &Outcome::Cancelled).await.unwrap(), Fenced::Lost);
    }
    assert_eq!(load_effect(&store).await, before);
    assert_eq!(store.renew(&new, LATER).await.unwrap(), Lease::Mine);
    assert_eq!(load_effect(&store).await.lease_until, Some(LATER));
}

async fn a_postponed_effect_waits_and_counts_nothing(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store).await;
    let done = store.postpone(&hold, LATER, "secondary rate limit").await;
    assert_eq!(done.unwrap(), Fenced::Written);
    let now = load_effect(&store).await;
    assert_eq!((now.state, now.run_at, now.attempt, now.crashes), (EffectState::Ready, LATER, 0, 0));
    assert_eq!(now.last_error.as_deref(), Some("secondary rate limit"));
    assert_eq!((now.worker, now.lease_until), (None, None));
}

async fn a_failed_attempt_is_counted_and_tried_again(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store).await;
    let done = store.fail_attempt(&hold, LATER, "502").await;
    assert_eq!(done.unwrap(), Fenced::Written);
    assert_eq!(claim(&store, Lane::Agent).await, None);
    let again = claim_at(&store, "w", LaneLimits::none(Lane::Agent), LATER).await;
    let again = again.expect("its time has come").effect;
    assert_eq!((again.attempt, again.crashes, again.fence), (1, 0, 2));
    assert_eq!(again.last_error.as_deref(), Some("502"));
}

async fn what_panicked_is_given_back_one_crash_older(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store).await;
    assert_eq!(store.crash(&hold, LATER, "panicked", NOW).await.unwrap(), Fenced::Written);
    let now = load_effect(&store).await;
    assert_eq!((now.state, now.run_at, now.attempt, now.crashes), (EffectState::Ready, LATER, 0, 1));
    assert_eq!(now.last_error.as_deref(), Some("panicked"));
    let again = claim_at(&store, "w", LaneLimits::none(Lane::Agent), LATER).await;
    let again = again.expect("its time has come").hold;
    cancel(&store).await;
    assert_eq!(store.crash(&again, LATER, "panicked", NOW).await.unwrap(), Fenced::Written);
    assert_eq!(load_effect(&store).await.state, EffectState::Cancelled);
}

async fn a_released_effect_is_as_it_was(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store).await;
    assert_eq!(store.release(&hold).await.unwrap(), Fenced::Written);
    let now = load_effect(&store).await;
    assert_eq!((now.state, now.run_at, now.attempt, now.crashes), (EffectState::Ready, NOW, 0, 0));
}

async fn an_effect_ends_as_it_is_said(db: Database) {
    let store = db.open().await;
    let failed = Outcome::Failed { error: "422".to_owned() };
    for (id, outcome, state) in [
        ("made", Outcome::Done, EffectState::Done),
        ("failed", failed, EffectState::Failed),
        ("cancelled", Outcome::Cancelled, EffectState::Cancelled),
    ] {
        store.add_effects(&[effect(id, Lane::Forge, id)]).await.unwrap();
        let hold = claim(&store, Lane::Forge).await.unwrap().hold;
        assert_eq!(store.finish(&hold, &outcome).await.unwrap(), Fenced::Written);
        assert_eq!(store.finish(&hold, &outcome).await.unwrap(), Fenced::Lost, "{id} ends once");
        assert_eq!(store.effect(id).await.unwrap().unwrap().state, state);
    }
    let error = store.effect("failed").await.unwrap().unwrap().last_error;
    assert_eq!(error.as_deref(), Some("422"));
    assert_eq!(store.unfinished_effects().await.unwrap(), vec![]);
}

async fn what_was_made_outside_is_remembered_over_attempts(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store).await;
    assert_eq!(store.record_external(&hold, "comment 5").await.unwrap(), Fenced::Written);
    assert_eq!(store.fail_attempt(&hold, NOW, "no reply").await.unwrap(), Fenced::Written);
    let again = claim(&store, Lane::Agent).await.unwrap();
    assert_eq!(again.effect.external_id.as_deref(), Some("comment 5"));
    let done = Outcome::Done;
    assert_eq!(store.finish(&again.hold, &done).await.unwrap(), Fenced::Written);
    assert_eq!(load_effect(&store).await.external_id.as_deref(), Some("comment 5"));
}

async fn a_lease_that_is_over_is_a_crash(db: Database) {
    let store = db.open().await;
    hold_effect(&store).await;
    assert_eq!(store.reap(NOW).await.unwrap(), Vec::<String>::new());
    for crashes in 1..=3 {
        let taken = store.reap(NOW.plus(LEASE)).await.unwrap();
        assert_eq!(taken, ["e"]);
        let again = claim(&store, Lane::Agent).await.expect("it is ready again");
        assert_eq!((again.effect.crashes, again.effect.attempt), (crashes, 0));
    }
}

async fn a_renewed_lease_is_not_taken_away(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store).await;
    assert_eq!(store.renew(&hold, NOW.plus(2 * LEASE)).await.unwrap(), Lease::Mine);
    assert_eq!(store.reap(NOW.plus(LEASE)).await.unwrap(), Vec::<String>::new());
    assert_eq!(store.reap(NOW.plus(2 * LEASE)).await.unwrap().len(), 1);
}

async fn a_cancelled_effect_is_not_tried_again(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store).await;
    cancel(&store).await;
    assert_eq!(store.fail_attempt(&hold, NOW, "killed").await.unwrap(), Fenced::Written);
    assert_eq!(load_effect(&store).await.state, EffectState::Cancelled);
    assert_eq!(claim(&store, Lane::Agent).await, None);

    store.add_effects(&[effect("f", Lane::Agent, "task")]).await.unwrap();
    claim(&store, Lane::Agent).await.unwrap();
    cancel(&store).await;
    assert_eq!(store.reap(NOW.plus(LEASE)).await.unwrap().len(), 1);
    assert_eq!(store.effect("f").await.unwrap().unwrap().state, EffectState::Cancelled);
}

async fn a_long_explanation_is_shortened(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store).await;
    let endless = "\0é".repeat(100_000);
    assert_eq!(store.fail_attempt(&hold, NOW, &endless).await.unwrap(), Fenced::Written);
    let error = load_effect(&store).await.last_error.unwrap();
    assert!(error.starts_with("\u{fffd}é") && error.len() <= 4_000, "{} bytes", error.len());
}
