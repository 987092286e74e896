//! The queue as people see it: the obstacles of each effect, and retries of effects that were given up.

use crate::contract::{Database, LATER, NOW, claim, claimed_id, effect, feature, key, step};
use autobuild::store::{
    Commit, EffectState, EffectWait, FeatureRow, Fenced, HeldBy, Lane, NewEffect, Outcome, Store, WaitsOn,
};
use domain::ids::Millis;

on_both! {
    each_effect_tells_what_holds_it_back
    what_was_given_up_is_tried_again_once
    the_waits_of_work_alone_are_shown
    the_wait_of_work_that_is_held_is_shown_until_it_ends
}

async fn holds(store: &Store) -> Vec<(String, EffectState, Option<HeldBy>)> {
    let queue = store.queue(10).await.unwrap();
    queue.into_iter().map(|one| (one.id, one.state, one.held_by)).collect()
}

async fn each_effect_tells_what_holds_it_back(db: Database) {
    let store = db.open().await;
    let of_feature = |id: &str, subject: &str| NewEffect { feature_limit: Some(1), ..effect(id, Lane::Agent, subject) };
    let held = NewEffect { waits: true, ..effect("held", Lane::Control, "three") };
    let commit = Commit {
        feature: FeatureRow { held: true, ..feature(key(1, 1), "paused") },
        effects: vec![of_feature("runs", "one"), of_feature("limit", "two"), held],
        ..step(key(1, 1), None, "label")
    };
    store.commit(&commit).await.unwrap();
    let more = [
        effect("agent", Lane::Agent, "one"),
        effect("first", Lane::Forge, "one"),
        effect("earlier", Lane::Forge, "one"),
        NewEffect { run_at: LATER, ..effect("later", Lane::Control, "one") },
    ];
    store.add_effects(&more).await.unwrap();
    assert_eq!(claimed_id(&store, Lane::Agent).await.as_deref(), Some("runs"));
    let ready = EffectState::Ready;
    assert_eq!(
        holds(&store).await,
        [
            ("runs".to_owned(), EffectState::Running, None),
            ("limit".to_owned(), ready, Some(HeldBy::Limit)),
            ("held".to_owned(), ready, Some(HeldBy::Feature)),
            ("agent".to_owned(), ready, Some(HeldBy::Agent)),
            ("first".to_owned(), ready, None),
            ("earlier".to_owned(), ready, Some(HeldBy::Earlier)),
            ("later".to_owned(), ready, None),
        ]
    );
    let queue = store.queue(10).await.unwrap();
    assert_eq!((queue[0].first_due, queue[6].first_due), (NOW, LATER));
}

async fn what_was_given_up_is_tried_again_once(db: Database) {
    let store = db.open().await;
    store.add_effects(&[effect("say", Lane::Forge, "one")]).await.unwrap();
    let hold = claim(&store, Lane::Forge).await.unwrap().hold;
    assert!(!store.try_again("say", NOW).await.unwrap(), "it runs");
    let error = "refused".to_owned();
    store.finish(&hold, &Outcome::Failed { error }).await.unwrap();
    let failed = store.failed_effects(10).await.unwrap();
    assert_eq!((failed.len(), failed[0].last_error.as_deref()), (1, Some("refused")));
    let again = Millis(NOW.0 + 1);
    assert!(store.try_again("say", again).await.unwrap());
    assert!(!store.try_again("say", again).await.unwrap(), "twice is once");
    let queue = store.queue(10).await.unwrap();
    assert_eq!((queue.len(), queue[0].run_at, queue[0].attempt), (1, again, 0));
    assert_eq!(store.failed_effects(10).await.unwrap(), []);
}

async fn the_waits_of_work_alone_are_shown(db: Database) {
    let store = db.open().await;
    let work = NewEffect { waits: true, ..effect("merge", Lane::Forge, "one") };
    store.add_effects(&[work, effect("close", Lane::Forge, "two")]).await.unwrap();
    for _ in 0..2 {
        let hold = claim(&store, Lane::Forge).await.unwrap().hold;
        let waits =
            store.wait_out(&hold, &EffectWait { on: &WaitsOn::GitHub, why: "502", now: NOW, until: LATER }, &[]);
        assert_eq!(waits.await.unwrap(), Fenced::Written);
    }
    assert_eq!(shown(&store, NOW).await, ["one"]);
}

async fn the_wait_of_work_that_is_held_is_shown_until_it_ends(db: Database) {
    let store = db.open().await;
    store.add_effects(&[NewEffect { waits: true, ..effect("play", Lane::Agent, "one") }]).await.unwrap();
    let hold = claim(&store, Lane::Agent).await.unwrap().hold;
    let full = EffectWait { on: &WaitsOn::Machine, why: "the disk is full", now: NOW, until: LATER };
    assert_eq!(store.stall(&hold, &full, &[]).await.unwrap(), Fenced::Written);
    let step = &store.queue(1).await.unwrap()[0];
    assert_eq!((step.state, step.last_error.as_deref()), (EffectState::Running, Some("the disk is full")));
    assert_eq!((shown(&store, NOW).await, shown(&store, LATER).await), (vec!["one".to_owned()], vec![]));
}

async fn shown(store: &Store, now: Millis) -> Vec<String> {
    let parked = store.parked(&key(1, 1), now).await.unwrap();
    parked.into_iter().map(|parked| parked.subject).collect()
}
