//! Tests of CI that waits for a person.

use crate::{
    ci::{CiPolicy, CiRelease, CiTreatment},
    command::Command,
    evidence::Gate,
    exposure::{Exposure, Grant, Trigger, WorkflowExposure},
    feature::{
        ApprovalWhy, Phase, State, Wait,
        event::{Event, OpenedOn, Target},
        tests::{samples::*, table::command},
    },
    ids::Emission,
};

/// A workflow that gives a secret to every branch that is created.
pub fn harmful() -> Exposure {
    let workflow = WorkflowExposure {
        path: ".github/workflows/ci.yml".to_owned(),
        triggers: [Trigger::Create].into(),
        grants: [Grant::AllSecrets].into(),
        doubts: [].into(),
        takes_work: false,
    };
    Exposure { workflows: vec![workflow], others: Vec::new() }
}

fn asking() -> crate::feature::Rules {
    crate::feature::Rules { ci: CiPolicy::Ask, ..rules() }
}

/// Returns a Feature whose only task is merged, and whose CI is held.
pub fn story_with_held_ci() -> Story {
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), asking());
    story.complete(ONE, 20);
    story.wave_gate(30, green());
    story.merge_default(30);
    story
}

fn run_ci(story: &mut Story) -> Vec<String> {
    let effects = story.apply(command(Command::Ci, Target::Feature));
    kinds(&effects).into_iter().map(|kind| (*kind).to_owned()).collect()
}

#[test]
fn finished_work_waits_for_a_person_and_then_goes_on_to_the_pull_request() {
    let mut story = story_with_held_ci();
    assert_eq!(story.feature.state, State::Building { phase: Phase::HeldCi });
    assert_eq!(story.feature.waits(), [Wait::Ci]);
    assert!(run_ci(&mut story).contains(&"merge_default".to_owned()));
    assert_eq!(story.feature.ci.release, CiRelease::By(person(2)));
    assert!(kinds(&story.merge_default(30)).contains(&"open_feature_pull"));
    let emission = story.waits_for();
    let opened = OpenedOn {
        known: Some(sha(30)),
        head: sha(31),
        gated: Some(sha(30)),
        branch: Some("autobuild/42/feature".to_owned()),
    };
    story.apply(Event::PullOpened { emission, pull: FEATURE_PULL, opened });
    assert_eq!(story.feature.state, State::InReview);
    assert_eq!(story.feature.integration_branch(), "autobuild/42/feature");
    assert_eq!(story.feature.checking, None, "the gate holds for the same tree");
}

#[test]
fn a_person_lets_ci_run_once_and_only_while_it_is_held() {
    let mut story = story_with_held_ci();
    run_ci(&mut story);
    assert!(run_ci(&mut story).contains(&"reply".to_owned()));
    let mut other = Story::in_review();
    assert!(run_ci(&mut other).contains(&"reply".to_owned()));
}

#[test]
fn a_paused_feature_goes_on_when_it_is_resumed() {
    let mut story = story_with_held_ci();
    story.apply(command(Command::Pause, Target::Feature));
    run_ci(&mut story);
    let resume = Command::Resume { guidance: None, max_turns: None };
    let effects = story.apply(command(resume, Target::Feature));
    assert!(kinds(&effects).contains(&"merge_default"), "{effects:?}");
}

#[test]
fn a_task_is_judged_without_held_ci_and_its_report_says_so() {
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), asking());
    story.push(ONE, 20);
    let effects = story.gate(ONE, green());
    assert!(kinds(&effects).contains(&"coach"), "{effects:?}");
    let gates = story.task(ONE).turns[0].gates.clone().unwrap();
    assert_eq!(gates.result(Gate::Ci), Some(&crate::ci::result_while_held()));
}

#[test]
fn what_a_pushed_tree_shows_holds_ci_from_then_on() {
    let automatic = crate::feature::Rules { ci: CiPolicy::Auto, ..rules() };
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), automatic);
    assert_eq!(story.feature.ci_treatment(), CiTreatment::Wait);
    story.apply(Event::CiExposed { exposure: harmful() });
    assert_eq!(story.feature.ci_treatment(), CiTreatment::Hold);
}

#[test]
fn a_harmful_workflow_that_no_instruction_holds_makes_the_plan_wait() {
    let mut story = Story::new(rules());
    let single = plan(vec![planned_task(ONE, &[])]);
    let mut exposed = planned(single, asking());
    exposed.exposure = harmful();
    story.apply(Event::Planned { emission: Emission(1), planned: exposed });
    let workflows = vec![".github/workflows/ci.yml".to_owned()];
    let waits = story.feature.plan.clone().unwrap().waits;
    assert_eq!(waits, [ApprovalWhy::UnheldCi { workflows }]);
}
