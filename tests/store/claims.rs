//! Claims: the next effect by lane, subject and order.

use crate::contract::{
    Database, Held, LATER, LEASE, NOW, cancel, claim, claim_at, claimed_id, effect, feature, key, step,
};
use autobuild::store::{
    ClaimRequest, Commit, Committed, EffectState, FeatureRow, Fenced, Lane, LaneLimits, Lease, NewEffect, Ordered,
    Outcome, Ready, Store, Tally,
};
use domain::ids::{Millis, RepoId};

on_both! {
    a_claim_holds_the_effect_alone
    an_effect_waits_for_its_time
    lanes_are_served_in_the_order_asked_for
    agents_of_a_repository_are_left_to_somebody_else
    the_lower_priority_goes_first_then_the_older
    one_subject_has_one_agent_at_a_time
    what_is_said_about_one_subject_keeps_its_order
    deliveries_of_one_issue_are_read_in_order_and_hold_back_no_other
    the_free_stand_outside_the_order_of_others
    what_waits_is_not_claimed_while_its_feature_is_held
    the_tally_tells_what_is_due_waiting_and_running
    every_change_wakes_those_who_wait
    what_is_cancelled_while_a_claim_waits_for_it_is_not_claimed
    what_is_cancelled_after_the_claim_is_told_at_the_first_look
}

const DONE: Outcome = Outcome::Done;

async fn add(store: &Store, effects: &[NewEffect]) {
    store.add_effects(effects).await.unwrap();
}

async fn a_claim_holds_the_effect_alone(db: Database) {
    let store = db.open().await;
    let wanted = NewEffect { payload: "{\"say\":\"hello\"}".to_owned(), ..effect("e1", Lane::Control, "one") };
    add(&store, std::slice::from_ref(&wanted)).await;
    assert_eq!(claim(&store, Lane::Agent).await, None);
    let claimed = claim(&store, Lane::Control).await.expect("it is ready");
    assert_eq!(claim(&store, Lane::Control).await, None);

    let (hold, held) = (claimed.hold, claimed.effect);
    assert_eq!((hold.effect.as_str(), hold.worker.as_str(), hold.fence), ("e1", "worker", 1));
    assert_eq!(held.state, EffectState::Running);
    assert_eq!((held.payload, held.feature), (wanted.payload, wanted.feature));
    assert_eq!((held.worker.as_deref(), held.lease_until), (Some("worker"), Some(NOW.plus(LEASE))));
    assert_eq!((held.attempt, held.crashes, held.fence), (0, 0, 1));
}

async fn an_effect_waits_for_its_time(db: Database) {
    let store = db.open().await;
    let waiting = NewEffect { run_at: LATER, ..effect("e1", Lane::Forge, "one") };
    add(&store, &[waiting]).await;
    assert_eq!(claim(&store, Lane::Forge).await, None);
    assert!(claim_at(&store, "w", LaneLimits::none(Lane::Forge), LATER).await.is_some());
}

async fn lanes_are_served_in_the_order_asked_for(db: Database) {
    let store = db.open().await;
    add(&store, &[effect("a", Lane::Agent, "one"), effect("c", Lane::Control, "one")]).await;
    let lanes = [Lane::Control, Lane::Agent].map(LaneLimits::none);
    let request = ClaimRequest { worker: "w", lanes: &lanes, others: &[], now: NOW, lease_until: NOW.plus(LEASE) };
    let first = store.claim(&request).await.unwrap().unwrap();
    let second = store.claim(&request).await.unwrap().unwrap();
    assert_eq!((first.effect.id.as_str(), second.effect.id.as_str()), ("c", "a"));
}

async fn agents_of_a_repository_are_left_to_somebody_else(db: Database) {
    let store = db.open().await;
    let of = |id: &str, lane, repo| NewEffect { repo: Some(RepoId(repo)), ..effect(id, lane, id) };
    let effects = [of("a", Lane::Agent, 11), of("b", Lane::Agent, 1), of("c", Lane::Forge, 11)];
    add(&store, &effects).await;
    let lanes = [Lane::Forge, Lane::Agent].map(LaneLimits::none);
    let request = |others| ClaimRequest { worker: "w", lanes: &lanes, others, now: NOW, lease_until: NOW.plus(LEASE) };
    let left = [RepoId(11), RepoId(2)];
    let mut claimed = Vec::new();
    while let Some(found) = store.claim(&request(&left)).await.unwrap() {
        claimed.push(found.effect.id);
    }
    assert_eq!(claimed, ["c", "b"]);
    assert_eq!(store.claim(&request(&[])).await.unwrap().unwrap().effect.id, "a");
}

async fn the_lower_priority_goes_first_then_the_older(db: Database) {
    let store = db.open().await;
    let of = |id: &str, priority: i64, run_at: i64| NewEffect {
        priority,
        run_at: Millis(run_at),
        ..effect(id, Lane::Control, id)
    };
    add(&store, &[of("d", 2, 1), of("c", 1, 8), of("b", 1, 5), of("a", 1, 5)]).await;
    let mut order = Vec::new();
    while let Some(id) = claimed_id(&store, Lane::Control).await {
        order.push(id);
    }
    assert_eq!(order, ["b", "a", "c", "d"]);
}

async fn one_subject_has_one_agent_at_a_time(db: Database) {
    let store = db.open().await;
    let (player, coach) = (effect("player", Lane::Agent, "task"), effect("coach", Lane::Agent, "task"));
    add(&store, &[player, coach, effect("other", Lane::Agent, "other task")]).await;
    let first = claim(&store, Lane::Agent).await.unwrap();
    assert_eq!(first.effect.id, "player");
    assert_eq!(claimed_id(&store, Lane::Agent).await.as_deref(), Some("other"));
    assert_eq!(claim(&store, Lane::Agent).await, None);
    assert_eq!(store.finish(&first.hold, &DONE).await.unwrap(), Fenced::Written);
    assert_eq!(claimed_id(&store, Lane::Agent).await.as_deref(), Some("coach"));
}

async fn what_is_said_about_one_subject_keeps_its_order(db: Database) {
    let store = db.open().await;
    let review = effect("review", Lane::Forge, "task");
    let merge = NewEffect { priority: 0, ..effect("merge", Lane::Forge, "task") };
    add(&store, &[review, merge, effect("agent", Lane::Agent, "task")]).await;
    let first = claim(&store, Lane::Forge).await.unwrap();
    assert_eq!(first.effect.id, "review");
    assert_eq!(claim(&store, Lane::Forge).await, None, "the merge waits while the review is posted");
    assert_eq!(claimed_id(&store, Lane::Agent).await.as_deref(), Some("agent"));

    let postponed = store.postpone(&first.hold, LATER, "limited").await.unwrap();
    assert_eq!(postponed, Fenced::Written);
    assert_eq!(claim(&store, Lane::Forge).await, None, "and while the review waits for its time");

    let late = |id| claim_at(&store, id, LaneLimits::none(Lane::Forge), LATER);
    let again = late("w").await.unwrap();
    assert_eq!(again.effect.id, "review");
    assert_eq!(store.finish(&again.hold, &DONE).await.unwrap(), Fenced::Written);
    assert_eq!(late("w").await.unwrap().effect.id, "merge");
}

async fn deliveries_of_one_issue_are_read_in_order_and_hold_back_no_other(db: Database) {
    let store = db.open().await;
    let ingest = |id: &str, issue: &str| effect(id, Lane::Control, issue);
    add(&store, &[ingest("first", "one"), ingest("second", "one"), ingest("other", "two")]).await;
    let first = claim(&store, Lane::Control).await.unwrap();
    assert_eq!(first.effect.id, "first");
    assert_eq!(claimed_id(&store, Lane::Control).await.as_deref(), Some("other"));
    assert_eq!(claim(&store, Lane::Control).await, None, "while the first is read");
    let hour = NOW.plus(3_600_000);
    let postponed = store.postpone(&first.hold, hour.plus(1), "down").await.unwrap();
    assert_eq!(postponed, Fenced::Written);
    let at = |now| claim_at(&store, "w", LaneLimits::none(Lane::Control), now);
    assert_eq!(at(hour.plus(-1)).await, None, "and while it is tried again");
    assert_eq!(at(hour).await.unwrap().effect.id, "second", "but not for ever");
}

async fn the_free_stand_outside_the_order_of_others(db: Database) {
    let store = db.open().await;
    let living = |id: &str| NewEffect {
        ordered: Ordered::Free,
        kind: "Living".to_owned(),
        ..effect(id, Lane::Forge, "feature")
    };
    add(&store, &[effect("say", Lane::Forge, "feature"), living("l1"), living("l2")]).await;
    add(&store, &[effect("check", Lane::Forge, "feature")]).await;
    assert_eq!(claimed_id(&store, Lane::Forge).await.as_deref(), Some("say"));
    let first = claim(&store, Lane::Forge).await.unwrap();
    assert_eq!(first.effect.id, "l1");
    assert_eq!(claim(&store, Lane::Forge).await, None, "an older edit is not overtaken by a newer one");
    assert_eq!(store.finish(&first.hold, &DONE).await.unwrap(), Fenced::Written);
    assert_eq!(claimed_id(&store, Lane::Forge).await.as_deref(), Some("l2"));
}

async fn the_tally_tells_what_is_due_waiting_and_running(db: Database) {
    let store = db.open().await;
    assert_eq!(store.ready(NOW).await.unwrap().next_due, None);
    let later = NewEffect { run_at: LATER, ..effect("later", Lane::Control, "x") };
    let elsewhere = NewEffect { feature: None, ..effect("elsewhere", Lane::Control, "x") };
    add(&store, &[effect("now", Lane::Agent, "x"), effect("due", Lane::Forge, "x"), later, elsewhere]).await;
    claim(&store, Lane::Agent).await.unwrap();
    let of = |due, waiting, running| Tally { due, waiting, running };
    assert_eq!(store.tally(None, NOW).await.unwrap(), of(2, 1, 1));
    let feature = crate::contract::key(1, 1);
    assert_eq!(store.tally(Some(&feature), NOW).await.unwrap(), of(1, 1, 1));
    assert_eq!(store.tally(Some(&feature), LATER).await.unwrap(), of(2, 0, 1));
    let ready = |lanes: &[Lane], next_due| Ready { lanes: lanes.to_vec(), next_due };
    let now = [Lane::Control, Lane::Forge];
    assert_eq!(store.ready(NOW).await.unwrap(), ready(&now, Some(LATER)));
    assert_eq!(store.ready(LATER).await.unwrap(), ready(&now, None));
}

async fn every_change_wakes_those_who_wait(db: Database) {
    let store = db.open().await;
    let mut wakeups = store.wakeups();
    add(&store, &[effect("e1", Lane::Agent, "x")]).await;
    wakeups.next().await;
    let hold = claim(&store, Lane::Agent).await.unwrap().hold;
    assert_eq!(store.release(&hold).await.unwrap(), Fenced::Written);
    wakeups.next().await;
}

async fn what_waits_is_not_claimed_while_its_feature_is_held(db: Database) {
    let store = db.open().await;
    let held = |expected, held, cause: &str| Commit {
        feature: FeatureRow { held, ..feature(key(1, 1), "building") },
        ..step(key(1, 1), expected, cause)
    };
    assert_eq!(store.commit(&held(None, true, "paused")).await.unwrap(), Committed::Done);
    let waits = NewEffect { waits: true, ..effect("player", Lane::Agent, "task") };
    add(&store, &[waits, effect("review", Lane::Forge, "task")]).await;
    assert_eq!(claim(&store, Lane::Agent).await, None);
    assert_eq!(claimed_id(&store, Lane::Forge).await.as_deref(), Some("review"));
    assert_eq!(store.tally(None, NOW).await.unwrap(), Tally { due: 0, waiting: 0, running: 1 });

    assert_eq!(store.commit(&held(Some(1), false, "resumed")).await.unwrap(), Committed::Done);
    assert_eq!(claimed_id(&store, Lane::Agent).await.as_deref(), Some("player"));
}

async fn what_is_cancelled_while_a_claim_waits_for_it_is_not_claimed(db: Database) {
    let store = db.open().await;
    add(&store, &[effect("cancelled", Lane::Agent, "one")]).await;
    let cancelling = Held::by(&db, "UPDATE effect SET state = 'cancelled' WHERE id = 'cancelled'").await;
    let (claimed, ()) = tokio::join!(claim(&store, Lane::Agent), async {
        cancelling.until_somebody_waits().await;
        cancelling.commit().await;
    });
    assert_eq!(claimed, None);
    let kept = store.effect("cancelled").await.unwrap().unwrap();
    assert_eq!((kept.state, kept.fence), (EffectState::Cancelled, 0));

    add(&store, &[effect("next", Lane::Agent, "two")]).await;
    assert_eq!(claimed_id(&store, Lane::Agent).await.as_deref(), Some("next"));
}

async fn what_is_cancelled_after_the_claim_is_told_at_the_first_look(db: Database) {
    let store = db.open().await;
    add(&store, &[effect("e", Lane::Agent, "one")]).await;
    let hold = claim(&store, Lane::Agent).await.unwrap().hold;
    assert_eq!(store.look(&hold).await.unwrap(), Lease::Mine);
    cancel(&store).await;
    assert_eq!(store.look(&hold).await.unwrap(), Lease::CancelRequested);
    assert_eq!(store.finish(&hold, &Outcome::Cancelled).await.unwrap(), Fenced::Written);
    assert_eq!(store.look(&hold).await.unwrap(), Lease::Lost);
}
