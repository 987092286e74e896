//! Tests of people's reviews, of what they waive, and of CI between the Gates and the Coach.

use crate::{
    blocked::BlockReason,
    ci,
    ci::{CiPolicy, CiSays},
    effect::Effect,
    evidence::{Gate, GateReport, GateResult},
    feature::{
        command::{Refusal, review_refused},
        tests::samples::*,
    },
    ids::{ReviewId, Sha, TaskId},
    integrity::{Author, Detail, IntegrityFinding, Rule},
    plan::TaskType,
    task,
    task::{HumanReview, MergeState, PersonDid, Stage, WaivedFact},
};

fn one() -> Story {
    Story::building(plan(vec![planned_task(ONE, &[])]), rules())
}

fn with_ci() -> Story {
    let rules = crate::feature::Rules { ci: CiPolicy::Wait, ..rules() };
    Story::building(plan(vec![planned_task(ONE, &[])]), rules)
}

fn review(id: u64) -> HumanReview {
    HumanReview { id: ReviewId(id), by: person(3), items: Vec::new() }
}

fn approves(id: u64, commit: Sha) -> PersonDid {
    PersonDid::Approve { review: ReviewId(id), commit: Some(commit) }
}

/// Returns a task whose only turn ended with feedback on a commit with this evidence.
fn blocked_on(report: GateReport) -> Story {
    let tight = crate::feature::Rules { max_turns: 1, ..rules() };
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), tight);
    story.push(ONE, 20);
    story.gate(ONE, report);
    story.judge(ONE, feedback("no"));
    assert!(story.task(ONE).is_blocked());
    story
}

fn integrity(rule: Rule, by: Author) -> GateReport {
    let finding = IntegrityFinding {
        rule,
        path: "src/key.rs".to_owned(),
        line: Some(7),
        what: Detail::Code("a token".to_owned()),
        by,
    };
    let mut report = green();
    report.more.push(GateResult {
        gate: Gate::Integrity,
        items: vec![finding.item(TaskType::Feature)],
        ..ci_says(CiSays::Failed(String::new()))
    });
    report
}

impl Story {
    fn by_three(&mut self, did: PersonDid) -> Vec<Effect> {
        self.task_event(ONE, task::Event::Person { by: person(3), did })
    }

    fn ci(&mut self, result: GateResult) -> Vec<Effect> {
        let (emission, head, result) = (self.emission(ONE), self.head(ONE), Box::new(result));
        self.task_event(ONE, task::Event::CiRead { emission, head, result })
    }
}

#[test]
fn an_approving_review_overrides_only_the_commit_that_was_looked_at() {
    let mut story = blocked_on(red());
    story.by_three(approves(1, sha(19)));
    assert!(story.task(ONE).is_blocked());
    let refused = review_refused(story.task(ONE), Some(&sha(19)));
    assert_eq!(refused, Some(Refusal::StaleReview { task: ONE, head: sha(20) }));
    assert_eq!(review_refused(story.task(ONE), Some(&sha(20))), None);
    let effects = story.by_three(approves(2, sha(20)));
    assert_eq!(kinds(&effects), ["dismiss_review", "publish_check", "mark_ready", "merge", "living"]);
}

#[test]
fn what_an_override_waives_is_named_and_its_failing_tests_join_the_baseline() {
    let mut story = blocked_on(red());
    story.by_three(PersonDid::Override);
    let waived = &story.task(ONE).waived[0];
    let test = WaivedFact::Test("works".to_owned());
    assert_eq!((waived.by.clone(), waived.facts.clone()), (person(3), vec![test, objection("test", "no")]));
}

#[test]
fn a_secret_is_never_waived_and_everything_else_is() {
    let mut story = blocked_on(integrity(Rule::Secret, Author::Player));
    story.by_three(PersonDid::Override);
    story.by_three(approves(1, sha(20)));
    assert!(story.task(ONE).is_blocked());
    let place = "src/key.rs:7".to_owned();
    assert_eq!(review_refused(story.task(ONE), Some(&sha(20))), Some(Refusal::SecretFound { task: ONE, place }));
    // Turns that change nothing make no difference: the secret is still in the commit.
    let idle = crate::task::Turn {
        number: crate::ids::TurnNumber(2),
        head: None,
        gates: None,
        ..story.task(ONE).turns[0].clone()
    };
    story.feature.tasks[0].turns.push(idle);
    story.by_three(PersonDid::Override);
    assert!(story.task(ONE).is_blocked());
    for report in [
        integrity(Rule::SwallowedFailure, Author::Player),
        // A secret in a person's own lines does not send the work back, so nothing is waived.
        integrity(Rule::Secret, Author::Person),
    ] {
        let mut story = blocked_on(report);
        story.by_three(PersonDid::Override);
        assert!(!story.task(ONE).is_blocked());
    }
}

#[test]
fn approving_takes_the_own_request_back_and_leaves_that_of_others() {
    let mut story = one();
    story.push(ONE, 20);
    story.by_three(PersonDid::RequestChanges(review(1)));
    let other = HumanReview { by: person(4), ..review(2) };
    story.person(ONE, PersonDid::RequestChanges(other));
    story.by_three(approves(3, sha(20)));
    let open: Vec<ReviewId> = story.task(ONE).next.reviews.iter().map(|review| review.id).collect();
    assert_eq!(open, [ReviewId(2)]);
}

#[test]
fn a_dismissal_takes_back_no_later_request() {
    let mut story = one();
    story.push(ONE, 20);
    for id in [1, 2] {
        story.by_three(PersonDid::RequestChanges(review(id)));
    }
    story.by_three(PersonDid::WithdrawChanges { until: ReviewId(1) });
    assert_eq!(story.task(ONE).next.reviews, [review(2)]);
    story.by_three(PersonDid::WithdrawChanges { until: ReviewId(2) });
    assert!(story.task(ONE).next.reviews.is_empty());
}

#[test]
fn an_approving_review_may_be_what_the_rule_asked_for_that_refused_the_merge() {
    let mut story = one();
    story.turn(ONE, 20, approval());
    let emission = story.emission(ONE);
    let rule = "At least 1 approving review is required".to_owned();
    story.task_event(ONE, task::Event::MergeRefused { emission, rule });
    let effects = story.by_three(approves(1, sha(20)));
    assert_eq!(kinds(&effects), ["mark_ready", "merge", "living"]);
    let due = matches!(story.task(ONE).state, task::State::Approved { merge: MergeState::Due { .. }, .. });
    assert!(due);
}

#[test]
fn remarks_go_to_the_next_coach_once_and_change_nothing_else() {
    let mut story = one();
    assert!(story.by_three(PersonDid::Remark(review(1))).is_empty());
    story.push(ONE, 20);
    assert!(story.by_three(PersonDid::Remark(review(2))).is_empty());
    story.gate(ONE, green());
    assert!(story.by_three(PersonDid::Remark(review(3))).is_empty());
    assert!(story.by_three(PersonDid::Remark(review(1))).is_empty(), "once");
    let told = |story: &Story, turn: usize| story.task(ONE).turns[turn].input.remarks.clone();
    assert_eq!(told(&story, 0), [review(1), review(2)]);
    story.judge(ONE, feedback("no"));
    assert_eq!(told(&story, 1), [review(3)]);
    story.turn(ONE, 21, feedback("nope"));
    assert!(told(&story, 2).is_empty());
}

#[test]
fn strangers_cannot_fill_a_task_with_remarks() {
    let mut story = one();
    for id in 1..=100 {
        story.by_three(PersonDid::Remark(review(id)));
    }
    assert_eq!(story.task(ONE).turns[0].input.remarks.len(), 20);
}

#[test]
fn ci_is_waited_for_between_green_gates_and_the_coach() {
    let mut story = with_ci();
    story.push(ONE, 20);
    assert_eq!(kinds(&story.gate(ONE, green())), ["ci", "living"]);
    assert_eq!(kinds(&story.ci(ci_says(CiSays::Passed))), ["coach", "living"]);
    let gates = story.task(ONE).turns[0].gates.clone().unwrap();
    assert!(gates.result(Gate::Ci).is_some());
    assert_eq!(story.task(ONE).turns[0].ci_since, Some(AT));
}

#[test]
fn ci_is_not_waited_for_when_the_gates_are_red_already() {
    let mut story = with_ci();
    story.push(ONE, 20);
    assert_eq!(kinds(&story.gate(ONE, red())), ["coach", "living"]);
    let gates = story.task(ONE).turns[0].gates.clone().unwrap();
    assert_eq!(gates.result(Gate::Ci), Some(&ci::not_reached()));
}

#[test]
fn ci_without_an_answer_blocks_and_a_late_answer_changes_nothing() {
    let mut story = with_ci();
    story.push(ONE, 20);
    story.gate(ONE, green());
    let late = (story.emission(ONE), story.head(ONE));
    story.ci(ci_says(CiSays::NoAnswer("cancelled".to_owned())));
    assert!(matches!(story.task(ONE).state, task::State::Blocked { reason: BlockReason::GatesAbsent { .. } }));
    let before = story.feature.clone();
    let (emission, head) = late;
    let result = Box::new(ci_says(CiSays::Passed));
    assert!(story.task_event(ONE, task::Event::CiRead { emission, head, result }).is_empty());
    assert_eq!(story.feature, before);
}

#[test]
fn a_pause_holds_before_ci_and_cancelling_stops_it() {
    let mut story = with_ci();
    story.push(ONE, 20);
    story.person(ONE, PersonDid::Pause);
    let effects = story.gate(ONE, green());
    assert!(!kinds(&effects).contains(&"ci"), "{effects:?}");
    let mut story = with_ci();
    story.push(ONE, 20);
    story.gate(ONE, green());
    let stage = |story: &Story, id: TaskId| match story.task(id).state {
        task::State::CoachTurn { stage, .. } => Some(stage),
        _ => None,
    };
    assert_eq!(stage(&story, ONE), Some(Stage::Ci));
    story.person(ONE, PersonDid::Cancel);
    assert_eq!(story.task(ONE).state, task::State::Cancelled);
}
