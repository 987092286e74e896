//! Tests of the design before the first turn.

use crate::{
    blocked::{BlockReason, Failure, WorkStep},
    design::{Design, PreLoop},
    feature::{
        event::{Event, Planned},
        tests::samples::*,
    },
    ids::{Emission, TurnNumber},
    task,
    task::PersonDid,
};

/// Returns a Feature with one task and this design state.
fn building(pre_loop: PreLoop) -> Story {
    let mut story = Story::new(rules());
    let plan = plan(vec![planned_task(ONE, &[])]);
    let planned = Planned { pre_loop, ..*planned(plan, rules()) };
    story.apply(Event::Planned { emission: Emission(1), planned: Box::new(planned) });
    story.pre_flight(1);
    let emission = story.waits_for();
    story.apply(Event::IntegrationOpened { emission, base: sha(1), head: sha(2) });
    story
}

fn design() -> Box<Design> {
    Box::new(Design { plan: "do it".to_owned(), ..Design::default() })
}

fn designed(story: &mut Story, design: Option<Box<Design>>) -> Vec<crate::effect::Effect> {
    let emission = story.emission(ONE);
    story.task_event(ONE, task::Event::Designed { emission, design })
}

fn plays(story: &Story) -> bool {
    matches!(story.task(ONE).state, task::State::PlayerTurn { turn: TurnNumber::FIRST, .. })
}

#[test]
fn a_task_whose_design_is_due_is_designed_before_its_first_turn() {
    let mut story = building(PreLoop::Due);
    assert!(matches!(story.task(ONE).state, task::State::PreLoop { .. }));
    assert!(kinds(&story.effects).contains(&"design"), "{:?}", kinds(&story.effects));
    assert!(story.task(ONE).turns.is_empty());
    assert_eq!(kinds(&designed(&mut story, Some(design()))), ["play", "living"]);
    assert_eq!(story.task(ONE).pre_loop, PreLoop::Done(design()));
    assert!(plays(&story));
}

#[test]
fn a_task_that_has_a_design_or_needs_none_starts_with_its_first_turn() {
    for pre_loop in [PreLoop::Off, PreLoop::Done(design())] {
        assert!(plays(&building(pre_loop)));
    }
    let mut story = building(PreLoop::Due);
    designed(&mut story, None);
    assert_eq!(story.task(ONE).pre_loop, PreLoop::Off);
    assert!(plays(&story));
}

#[test]
fn a_late_or_repeated_design_changes_nothing() {
    let mut story = building(PreLoop::Due);
    let emission = story.emission(ONE);
    designed(&mut story, Some(design()));
    let before = story.feature.clone();
    let late = Box::new(Design::default());
    story.task_event(ONE, task::Event::Designed { emission, design: Some(late) });
    assert_eq!(story.feature, before);
}

#[test]
fn a_designer_that_is_given_up_blocks_and_resume_and_retry_ask_it_again() {
    for did in [PersonDid::Resume { guidance: None, turns: 2 }, PersonDid::Retry { turns: 2 }] {
        let mut story = building(PreLoop::Due);
        let emission = story.emission(ONE);
        let reason =
            BlockReason::Failed { step: WorkStep::Design, printed: String::new(), failure: Failure::ReportMissing };
        story.task_event(ONE, task::Event::Stuck { emission, reason });
        assert!(story.task(ONE).is_blocked() && story.task(ONE).turns.is_empty());
        story.person(ONE, did);
        story.merge_default(2);
        assert!(matches!(story.task(ONE).state, task::State::PreLoop { .. }));
        designed(&mut story, Some(design()));
        assert!(plays(&story));
    }
}

#[test]
fn a_pause_during_the_design_stops_before_the_player_and_the_design_is_kept() {
    let mut story = building(PreLoop::Due);
    story.person(ONE, PersonDid::Pause);
    designed(&mut story, Some(design()));
    assert!(story.task(ONE).is_blocked());
    assert!(story.task(ONE).turns.is_empty());
    story.resume(ONE, None, 2);
    assert!(plays(&story));
    assert_eq!(story.task(ONE).pre_loop, PreLoop::Done(design()));
}
