//! Models that are unavailable: work waits without using up a try or a turn, or is given up at once if waiting does not
//! help.

use crate::world::{ISSUE, Plan, SHORT, Setup, World};
use autobuild::{
    config::{Allowance, ModelWords},
    store::{EffectState, StoredRun},
};
use domain::routing::ApiWaits;
use serde_json::json;
use std::time::Duration;

const HOUR: i64 = 3_600_000;

/// Waits of hours, as providers announce them.
const LONG: ApiWaits =
    ApiWaits { first: HOUR, most: HOUR, longest: 6 * HOUR, in_all: 24 * HOUR, unknown: 24 * HOUR, ..SHORT };

/// A strong model, and the fallback model of the settings.
const OWN: &str = "claude-opus-4-8";
const FALLBACK: &str = "claude-haiku-4-5";

async fn with_a_fallback(waits: ApiWaits) -> World {
    let models = ModelWords {
        fast: OWN.parse().unwrap(),
        strong: OWN.parse().unwrap(),
        fallback: FALLBACK.parse().unwrap(),
        ..ModelWords::default()
    };
    let allowance = Allowance { models, ..Allowance::default() };
    Setup::new().allowance(allowance).waits(waits).build().await
}

async fn runs(world: &World) -> Vec<StoredRun> {
    let key = world.feature().await.key;
    world.engine.store.runs_of(&key, None).await.unwrap()
}

/// Labels the issue and waits until nothing is due, including edits of the living comment.
async fn begin(world: &World) {
    world.open_issue(crate::world::WRITER, "Say hello in files");
    world.by(crate::world::WRITER).label(crate::world::REPO, ISSUE, "autobuild").unwrap();
    world.idle().await;
    while !effects(world, "living").await.is_empty() {
        tokio::task::yield_now().await;
    }
}

async fn effects(world: &World, kind: &str) -> Vec<autobuild::store::StoredEffect> {
    let effects = world.engine.store.unfinished_effects().await.unwrap();
    effects.into_iter().filter(|effect| effect.kind == kind).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_and_overload_use_up_no_try_and_no_turn() {
    let world = World::new().await;
    world.script.plans(&Plan::one());
    for how in ["rate_limited", "unavailable", "rate_limited", "unavailable", "rate_limited"] {
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
    let world = Setup::new().waits(LONG).build().await;
    world.script.plans(&Plan::one()).fails("player", "rate_limited");
    begin(&world).await;
    let parked = effects(&world, "play").await;
    assert_eq!(parked.len(), 1);
    assert_eq!((parked[0].state, parked[0].attempt), (EffectState::Ready, 0));
    assert!(parked[0].run_at > world.engine.now(), "{parked:?}");
    let living = world.comments(ISSUE).await.remove(0).1;
    assert!(living.contains("TASK-001 goes on at 20"), "{living}");
    assert!(!living.contains("as scripted"), "{living}");

    // The provider serves another run, so waiting work continues.
    world.script.succeeds(1);
    let provider = parked[0].waits_for.clone().unwrap();
    world.engine.store.provider_served(&provider, "another", world.engine.now()).await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_wait_that_the_api_asks_for_stays_short_also_the_second_time() {
    let waits = ApiWaits { spacing: HOUR, ..LONG };
    let world = Setup::new().waits(waits).build().await;
    world.script.plans(&Plan::one());
    for _ in 0..2 {
        world.script.step(json!({"role": "player", "fail": "rate_limited", "retry_after": 1}));
    }
    world.script.succeeds(1);
    let ended = tokio::time::timeout(Duration::from_secs(120), world.start());
    assert!(ended.await.is_ok(), "it waits for an hour");
    assert_eq!(world.state().await, "in_review");
    let feature = world.feature().await;
    let effects = world.engine.store.effects_of(&feature.key).await.unwrap();
    let player = effects.iter().find(|effect| effect.kind == "play").unwrap();
    assert_eq!((player.attempt, player.parked), (0, 2));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waited_long_enough_asks_a_person() {
    let waits = ApiWaits { in_all: 0, ..SHORT };
    let world = Setup::new().waits(waits).build().await;
    world.script.plans(&Plan::one()).fails("player", "unavailable");
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let said = world.answers(ISSUE).await;
    assert!(said.contains("waited for its model, and AutoBuild gave up"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_credentials_stop_at_once_and_their_detail_is_the_operators() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).fails("player", "not_authorised");
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let key = world.feature().await.key;
    assert_eq!(world.engine.store.runs_of(&key, None).await.unwrap().len(), 2, "no other try");
    let said = world.answers(ISSUE).await;
    assert!(said.contains("refuses the account that AutoBuild uses"), "{said}");
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

#[tokio::test(flavor = "multi_thread")]
async fn a_planner_that_waits_says_so_though_there_is_no_plan_yet() {
    let world = Setup::new().waits(LONG).build().await;
    world.script.fails("planner", "unavailable");
    begin(&world).await;
    let living = world.comments(ISSUE).await.remove(0).1;
    assert!(living.contains("**State: planning.**"), "{living}");
    assert!(living.contains("The Feature goes on at 20"), "{living}");
    assert!(!living.contains("as scripted"), "{living}");

    world.script.plans(&Plan::one()).succeeds(1);
    let provider = effects(&world, "plan").await[0].waits_for.clone().unwrap();
    let store = &world.engine.store;
    store.provider_served(&provider, "another", world.engine.now()).await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    let said = world.comments(ISSUE).await;
    let living = said.iter().filter(|(_, body)| body.contains("**State: in review.**"));
    assert_eq!(living.count(), 1, "it is the comment that shows the plan now: {said:?}");
    assert!(!said[0].1.contains("goes on at"), "{said:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn overload_is_waited_for_as_long_as_it_asks_and_its_words_are_the_operators() {
    let world = Setup::new().waits(LONG).build().await;
    world.script.plans(&Plan::one());
    world.script.step(json!({"role": "player", "fail": "unavailable", "retry_after": 4 * 3_600}));
    begin(&world).await;
    let parked = effects(&world, "play").await.remove(0);
    let waits = parked.run_at.0 - world.engine.now().0;
    assert!(waits > 3 * HOUR, "{waits}");
    assert!(parked.last_error.unwrap().contains("as scripted"), "the operator is told");
    let living = world.comments(ISSUE).await.remove(0).1;
    assert!(living.contains("goes on at 20") && !living.contains("as scripted"), "{living}");
    world.say(crate::world::WRITER, ISSUE, "/autobuild cancel").await;
    assert_eq!(world.state().await, "cancelled");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_long_from_the_start_is_asked_once() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).fails("player", "prompt_too_long");
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    assert_eq!(runs(&world).await.len(), 2, "the planner's and one of the Player");
    let said = world.answers(ISSUE).await;
    assert!(said.contains("another try would not help: the work is too long"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fallback_answers_until_a_limited_model_serves_again() {
    let world = with_a_fallback(LONG).await;
    world.script.plans(&Plan::one());
    world
        .script
        .step(json!({"role": "player", "fail": "rate_limited", "retry_after": 7_200}))
        .plays_for(1, 0.25)
        .approves(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let runs = runs(&world).await;
    let models: Vec<(&str, Option<&str>)> = runs.iter().map(|run| (run.role.as_str(), run.model.as_deref())).collect();
    assert_eq!(models, [("planner", Some(OWN)), ("player", Some(FALLBACK)), ("coach", Some(FALLBACK))]);
    assert!(runs.iter().all(|run| run.failure.is_none()), "{runs:?}");
    let trouble = world.engine.store.troubled_providers().await.unwrap();
    assert_eq!(trouble.len(), 1, "{trouble:?}");
    assert_eq!(trouble[0].name, format!("scripted/{OWN}"));
    let left = trouble[0].until.0 - world.engine.now().0;
    assert!(left > HOUR, "as long as it asked for: {left}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_both_models_are_limited_the_work_waits_for_the_one_that_serves_first() {
    let world = with_a_fallback(LONG).await;
    world.script.plans(&Plan::one());
    for (how, seconds) in [("rate_limited", 4 * 3_600), ("unavailable", 7_200)] {
        world.script.step(json!({"role": "player", "fail": how, "retry_after": seconds}));
    }
    begin(&world).await;
    let parked = effects(&world, "play").await.remove(0);
    assert_eq!(parked.waits_for, Some(format!("scripted/{FALLBACK}")));
    let waits = parked.run_at.0 - world.engine.now().0;
    assert!(waits > HOUR && waits < 3 * HOUR, "{waits}");
    let trouble = world.engine.store.troubled_providers().await.unwrap();
    let failures: Vec<u32> = trouble.iter().map(|trouble| trouble.failures).collect();
    assert_eq!(failures, [1, 1], "{trouble:?}");
    world.say(crate::world::WRITER, ISSUE, "/autobuild cancel").await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fallback_that_is_not_there_changes_nothing() {
    let world = with_a_fallback(SHORT).await;
    world.script.plans(&Plan::one());
    world.script.fails("player", "rate_limited").fails("player", "no_such_model").succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review", "it waited for its own model");
    world.end().await;
}
