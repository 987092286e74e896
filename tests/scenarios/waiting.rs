//! Models that do not serve: waited for without a try or a turn, or given up at once where waiting is no use.

use crate::world::ISSUE;
use crate::world::Plan;
use crate::world::SHORT;
use crate::world::Setup;
use crate::world::World;
use autobuild::domain::routing::Waits;
use autobuild::store::EffectState;

async fn effects(world: &World, kind: &str) -> Vec<autobuild::store::StoredEffect> {
    let effects = world.engine.store.unfinished_effects().await.unwrap();
    effects.into_iter().filter(|effect| effect.kind == kind).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_and_overload_use_up_no_try_and_no_turn() {
    let world = World::new().await;
    world.script.plans(&Plan::one());
    for how in [
        "rate_limited",
        "unavailable",
        "rate_limited",
        "unavailable",
        "rate_limited",
    ] {
        world.script.fails("player", how);
    }
    world.script.plays(1).fails("coach", "unavailable").approves(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let feature = world.feature().await;
    assert_eq!(feature.tasks[0].turns.len(), 1);
    let effects = world.engine.store.effects_of(&feature.key).await.unwrap();
    let player = effects.iter().find(|effect| effect.kind == "play").unwrap();
    assert_eq!((player.attempt, player.parked, player.state), (0, 5, EffectState::Done));
    assert!(world.engine.store.troubled_providers().await.unwrap().is_empty());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_is_said_in_the_living_comment_and_holds_no_worker() {
    let hour = 3_600_000;
    let waits = Waits {
        first: hour,
        most: hour,
        longest: hour,
        in_all: 24 * hour,
        ..SHORT
    };
    let world = Setup::new().waits(waits).build().await;
    world.script.plans(&Plan::one()).fails("player", "rate_limited");
    world.open_issue(crate::world::WRITER, "Say hello in files");
    world
        .by(crate::world::WRITER)
        .label(crate::world::REPO, ISSUE, "autobuild")
        .unwrap();
    world.idle().await;
    let parked = effects(&world, "play").await;
    assert_eq!(parked.len(), 1);
    assert_eq!((parked[0].state, parked[0].attempt), (EffectState::Ready, 0));
    assert!(parked[0].run_at > world.engine.now(), "{parked:?}");
    // The living comment is edited in its own time.
    while !effects(&world, "living").await.is_empty() {
        tokio::task::yield_now().await;
    }
    let living = world.comments(ISSUE).await.remove(0).1;
    assert!(living.contains("TASK-001 goes on at 20"), "{living}");
    assert!(!living.contains("as scripted"), "{living}");

    // The provider serves someone else: what waits goes on.
    world.script.succeeds(1);
    let provider = parked[0].waits_for.clone().unwrap();
    world
        .engine
        .store
        .provider_served(&provider, "another", world.engine.now())
        .await
        .unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waited_long_enough_asks_a_person() {
    let waits = Waits { in_all: 0, ..SHORT };
    let world = Setup::new().waits(waits).build().await;
    world.script.plans(&Plan::one()).fails("player", "unavailable");
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let said = world.answers(ISSUE).await;
    assert!(said.contains("waited for its model as long as it may"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_credentials_stop_at_once_and_their_detail_is_the_operators() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).fails("player", "not_authorised");
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let key = world.feature().await.key;
    assert_eq!(
        world.engine.store.runs_of(&key, None).await.unwrap().len(),
        2,
        "no other try"
    );
    let said = world.answers(ISSUE).await;
    assert!(said.contains("refuses the service's account"), "{said}");
    assert!(!said.contains("as scripted"), "{said}");
    let troubles = world.engine.store.troubled_providers().await.unwrap();
    assert_eq!(troubles[0].said, "as scripted", "the operator is told");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_refuses_the_work_is_not_asked_again() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).fails("player", "model_refused");
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    world.end().await;
}
