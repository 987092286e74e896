//! Tests of GitHub's _Re-run_: what is checked again, and what is only published again.

use crate::{
    effect::Effect,
    feature::{
        Rules, State,
        event::{Event, OpenedOn},
        tests::samples::*,
    },
    ids::TurnNumber,
    task,
    task::{MergePolicy, PersonDid, TurnKind},
};

fn one(rules: Rules) -> Story {
    Story::building(plan(vec![planned_task(ONE, &[])]), rules)
}

fn tight() -> Rules {
    Rules { max_turns: 1, ..rules() }
}

fn rerun(story: &mut Story, n: u64) -> Vec<&'static str> {
    let event = Event::Rerun { head: sha(n), by: person(2) };
    let effects: Vec<Effect> = story.apply(event);
    kinds(&effects)
}

#[test]
fn a_blocked_head_is_looked_at_again_without_a_player_and_beyond_the_limit() {
    let mut story = one(tight());
    story.turn(ONE, 20, feedback("a"));
    assert!(story.task(ONE).is_blocked());
    assert_eq!(rerun(&mut story, 20), ["gates", "living"]);
    let turn = story.task(ONE).last_turn().unwrap();
    assert_eq!((turn.number, turn.kind, turn.head.clone()), (TurnNumber(2), TurnKind::VerifyOnly, Some(sha(20))));
    assert!(matches!(story.feature.state, State::Building { .. }));
    assert!(rerun(&mut story, 20).is_empty(), "its check run is on its way");
    story.gate(ONE, green());
    story.judge(ONE, feedback("a"));
    assert!(story.task(ONE).is_blocked(), "no Player works for it");
}

#[test]
fn a_turn_without_a_verdict_goes_on_and_is_no_new_one() {
    let mut story = one(rules());
    story.push(ONE, 20);
    story.gate(ONE, absent());
    assert!(story.task(ONE).is_blocked());
    assert_eq!(rerun(&mut story, 20), ["gates", "living"]);
    assert_eq!(story.task(ONE).turns.len(), 1);
}

#[test]
fn what_waits_for_its_human_is_verified_again_and_what_is_being_merged_is_not() {
    let mut story = one(Rules { merge: MergePolicy::Human, ..rules() });
    story.turn(ONE, 20, approval());
    assert_eq!(rerun(&mut story, 20), ["gates", "living"]);
    let mut story = one(rules());
    story.turn(ONE, 20, approval());
    assert_eq!(rerun(&mut story, 20), ["publish_check"]);
}

#[test]
fn an_older_commit_gets_its_verdict_said_again() {
    let mut story = one(rules());
    story.turn(ONE, 20, feedback("a"));
    assert_eq!(rerun(&mut story, 20), ["publish_check"]);
    assert!(matches!(story.task(ONE).state, task::State::PlayerTurn { .. }));
    assert!(rerun(&mut story, 99).is_empty());
}

#[test]
fn guidance_waits_for_the_player() {
    let mut story = one(rules());
    story.turn(ONE, 20, feedback("a"));
    story.person(ONE, PersonDid::Pause);
    story.push(ONE, 21);
    assert!(story.task(ONE).is_blocked());
    story.resume(ONE, Some("use it"), 1);
    story.push(ONE, 22);
    story.gate(ONE, absent());
    rerun(&mut story, 22);
    let told: Vec<_> = story.task(ONE).turns.iter().flat_map(|turn| &turn.input.guidance).collect();
    assert_eq!(told.len(), 1, "once");
}

#[test]
fn the_wave_gate_runs_again_in_review_and_once_at_a_time() {
    let mut story = Story::in_review();
    assert_eq!(rerun(&mut story, 30), ["wave_gate"]);
    assert!(rerun(&mut story, 30).is_empty());
    assert_eq!(kinds(&story.wave_gate(30, green())), ["publish_wave_check", "living"]);
    assert_eq!(story.feature.state, State::InReview);
    assert_eq!(story.feature.gates.len(), 2);
}

/// Returns a story in review on commit 31, which differs from the gated commit 30 only in records.
fn shown_on_31() -> Story {
    let mut story = one(rules());
    story.complete(ONE, 20);
    story.wave_gate(30, green());
    story.merge_default(30);
    let emission = story.waits_for();
    story.apply(Event::PullOpened {
        emission,
        pull: FEATURE_PULL,
        opened: OpenedOn { known: Some(sha(30)), head: sha(31), gated: Some(sha(30)), branch: None },
    });
    assert_eq!(story.feature.gates[0].newest(), &sha(31));
    story
}

fn said_again(story: &mut Story, n: u64) {
    assert!(story.feature.checks(&sha(n)));
    let effects = story.apply(Event::Rerun { head: sha(n), by: person(2) });
    let on: Vec<_> = effects
        .iter()
        .map(|effect| match effect {
            Effect::PublishWaveCheck { on, .. } => on.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(on, [Some(sha(n))]);
}

#[test]
fn every_commit_that_a_gate_passed_gets_its_check_again_also_behind_a_newer_head() {
    let mut story = shown_on_31();
    story.apply(Event::ReviewRequested(review_of_feature(7)));
    for n in [30, 31] {
        said_again(&mut story, n);
    }
    let mut story = shown_on_31();
    story.apply(Event::IntegrationPushed { head: sha(32) });
    for n in [30, 31] {
        said_again(&mut story, n);
    }
    assert!(rerun(&mut story, 32).is_empty(), "its gate runs");
    story.wave_gate(32, green());
    said_again(&mut story, 31);
    assert_eq!(rerun(&mut story, 32), ["wave_gate"]);
}

#[test]
fn a_blocked_wave_gate_runs_again() {
    let mut story = one(rules());
    story.complete(ONE, 20);
    story.wave_gate(30, absent());
    assert_eq!(story.feature.state.word(), "blocked");
    assert_eq!(rerun(&mut story, 30), ["wave_gate", "living"]);
    assert_eq!(story.feature.state.word(), "building");
}

#[test]
fn an_ended_run_says_nothing() {
    let mut story = Story::in_review();
    story.apply(Event::PullMerged { pull: FEATURE_PULL });
    assert!(rerun(&mut story, 30).is_empty());
}
