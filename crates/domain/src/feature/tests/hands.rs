//! Tests of people's acts, one per row of the product's table, and of reviews.

use crate::{
    blocked::BlockReason,
    effect::{Effect, Reply},
    feature::{
        CancelledWhy, State,
        command::Refusal,
        event::{Event, NewerRun},
        tests::samples::*,
    },
    ids::{ReviewId, TurnNumber},
    task,
    task::{HumanReview, MergedBy, PersonDid, TurnKind},
};

fn one() -> Story {
    Story::building(plan(vec![planned_task(ONE, &[])]), rules())
}

fn review(id: u64) -> PersonDid {
    PersonDid::RequestChanges(HumanReview { id: ReviewId(id), by: person(3), items: Vec::new() })
}

#[test]
fn removing_the_label_cancels_unless_in_review() {
    let removed = || Event::Cancelled(CancelledWhy::LabelRemoved(person(2)));
    let mut story = one();
    story.push(ONE, 20);
    let effects = story.apply(removed());
    assert_eq!(kinds(&effects), ["close_pull", "living"]);
    assert_eq!(story.task(ONE).state, task::State::Cancelled);
    let mut story = Story::in_review();
    assert!(story.apply(removed()).is_empty());
    assert_eq!(story.feature.state, State::InReview);
}

#[test]
fn removing_the_app_cancels_in_silence() {
    let mut story = one();
    story.push(ONE, 20);
    assert!(story.apply(Event::Cancelled(CancelledWhy::InstallationRemoved)).is_empty());
    assert_eq!(story.feature.state.word(), "cancelled");
}

#[test]
fn closing_a_tasks_pull_request_cancels_it_and_blocks_those_that_need_it() {
    let mut story = Story::building(three_tasks(), rules());
    story.push(ONE, 20);
    story.person(ONE, PersonDid::ClosePull { pull: pull(ONE) });
    assert_eq!(story.task(ONE).state, task::State::Cancelled);
    let reason = BlockReason::NeedGone { task: ONE };
    assert_eq!(story.task(THREE).state, task::State::Blocked { reason });
}

#[test]
fn reopening_a_tasks_pull_request_resumes_it_and_frees_those_that_need_it() {
    let mut story = Story::building(three_tasks(), rules());
    story.push(ONE, 20);
    story.person(ONE, PersonDid::ClosePull { pull: pull(ONE) });
    let effects = story.person(ONE, PersonDid::ReopenPull { pull: pull(ONE), turns: 3 });
    assert_eq!(kinds(&effects), ["gates", "living"]);
    assert_eq!(story.task(THREE).state, task::State::Pending);
}

#[test]
fn merging_a_tasks_pull_request_by_hand_completes_it_without_the_coachs_approval() {
    let mut story = one();
    story.push(ONE, 20);
    let effects = story.person(ONE, PersonDid::MergePull { commit: Some(sha(21)), head: None });
    let by = MergedBy::PersonWithoutApproval(person(2));
    assert_eq!(story.task(ONE).state, task::State::Completed { commit: Some(sha(21)), by });
    assert_eq!(kinds(&effects), ["wave_gate", "living"]);
}

#[test]
fn merging_an_approved_task_by_hand_is_no_merge_without_approval() {
    let mut story = one();
    story.turn(ONE, 20, approval());
    story.person(ONE, PersonDid::MergePull { commit: None, head: None });
    let by = MergedBy::Person(person(2));
    assert_eq!(story.task(ONE).state, task::State::Completed { commit: None, by });
}

#[test]
fn an_approval_is_of_the_commit_that_was_judged() {
    for (merged, by) in [(20, MergedBy::Person(person(2))), (30, MergedBy::PersonWithoutApproval(person(2)))] {
        let mut story = one();
        story.turn(ONE, 20, approval());
        story.person(ONE, PersonDid::MergePull { commit: None, head: Some(sha(merged)) });
        assert_eq!(story.task(ONE).state, task::State::Completed { commit: None, by });
    }
}

#[test]
fn a_push_while_the_player_runs_redoes_its_turn_from_that_commit() {
    let mut story = one();
    let late = story.emission(ONE);
    let effects = story.person(ONE, PersonDid::Push { head: sha(30) });
    assert_eq!(kinds(&effects), ["play", "living"]);
    let turn = story.task(ONE).last_turn().unwrap();
    assert_eq!((turn.number, turn.base.clone()), (TurnNumber(1), Some(sha(30))));
    let played = task::Event::Played { emission: late, outcome: Box::new(pushed(sha(31))) };
    assert!(story.task_event(ONE, played).is_empty(), "the Player that ran does not overwrite it");
}

#[test]
fn a_push_while_the_coach_looks_is_where_the_next_turn_starts() {
    let mut story = one();
    story.push(ONE, 20);
    story.person(ONE, PersonDid::Push { head: sha(30) });
    story.gate(ONE, green());
    story.judge(ONE, feedback("more"));
    assert_eq!(story.task(ONE).last_turn().unwrap().base, Some(sha(30)));
}

#[test]
fn an_approval_of_an_older_commit_is_not_posted_and_the_head_is_verified() {
    let mut story = one();
    story.push(ONE, 20);
    story.person(ONE, PersonDid::Push { head: sha(30) });
    story.gate(ONE, green());
    assert_eq!(kinds(&story.judge(ONE, approval())), ["publish_check", "gates", "living"]);
    let turn = story.task(ONE).last_turn().unwrap();
    assert_eq!((turn.kind, turn.head.clone()), (TurnKind::VerifyOnly, Some(sha(30))));
}

#[test]
fn a_push_to_an_approved_task_is_verified_beyond_the_limit_without_a_player() {
    let tight = crate::feature::Rules { max_turns: 1, ..rules() };
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), tight);
    story.turn(ONE, 20, approval());
    let effects = story.person(ONE, PersonDid::Push { head: sha(30) });
    assert_eq!(kinds(&effects), ["gates", "living"]);
    assert_eq!(story.task(ONE).last_turn().unwrap().number, TurnNumber(2));
}

#[test]
fn a_force_push_off_the_history_blocks() {
    let mut story = one();
    story.turn(ONE, 20, approval());
    story.person(ONE, PersonDid::ForcePush { head: sha(30) });
    let reason = BlockReason::ForcePushed { by: person(2) };
    assert_eq!(story.task(ONE).state, task::State::Blocked { reason });
}

#[test]
fn deleting_the_branch_or_losing_the_repository_or_issue_cancels() {
    for why in [CancelledWhy::BranchDeleted, CancelledWhy::RepositoryGone, CancelledWhy::IssueGone] {
        let mut story = one();
        story.apply(Event::Cancelled(why.clone()));
        assert_eq!(story.feature.state, State::Cancelled { why });
    }
}

#[test]
fn a_suspended_installation_holds_the_work_and_asks_for_nothing_twice() {
    let mut story = one();
    assert!(story.apply(Event::Suspended).is_empty());
    assert!(story.feature.is_held());
    assert!(story.apply(Event::Unsuspended).is_empty());
    assert!(!story.feature.is_held());
}

#[test]
fn closing_the_feature_pull_request_cancels_and_reopening_goes_back_to_review() {
    let mut story = Story::in_review();
    story.apply(Event::Cancelled(CancelledWhy::PullClosed(person(2))));
    assert_eq!(story.feature.state.word(), "cancelled");
    let effects = story.apply(Event::PullReopened { pull: FEATURE_PULL, newer: NewerRun::None });
    assert_eq!(kinds(&effects), ["wave_gate", "read_ci", "living", "ask_person"]);
    assert_eq!(story.feature.state, State::InReview);
}

#[test]
fn reopening_is_refused_with_a_link_while_there_is_a_newer_run() {
    let mut story = Story::in_review();
    story.apply(Event::Cancelled(CancelledWhy::PullClosed(person(2))));
    let effects = story.apply(Event::PullReopened { pull: FEATURE_PULL, newer: NewerRun::Exists(key()) });
    assert!(matches!(
        effects.as_slice(),
        [Effect::Reply { reply: Reply::Refused(Refusal::NewerRun { run }), .. }] if *run == key()
    ));
    assert_eq!(story.feature.state.word(), "cancelled");
}

#[test]
fn a_feature_pull_request_merged_before_its_number_was_known_completes() {
    let mut story = one();
    story.complete(ONE, 20);
    story.wave_gate(30, green());
    story.merge_default(30);
    let effects = story.apply(Event::PullMerged { pull: FEATURE_PULL });
    assert_eq!(kinds(&effects), ["clean_up", "living"]);
    assert_eq!(story.feature.state, State::Completed);
}

#[test]
fn a_push_in_review_runs_the_gate_again_and_only_the_newest_counts() {
    let mut story = Story::in_review();
    story.apply(Event::IntegrationPushed { head: sha(31) });
    let first = story.feature.checking.unwrap();
    assert_eq!(kinds(&story.apply(Event::IntegrationPushed { head: sha(32) })), ["wave_gate", "read_ci"]);
    let late = Event::WaveGated { emission: first, head: sha(31), report: Box::new(green()), broke: None };
    assert!(story.apply(late).is_empty());
    assert_eq!(kinds(&story.wave_gate(32, green())), ["publish_wave_check", "living"]);
    assert_eq!(story.feature.state, State::InReview);
}

#[test]
fn a_request_for_changes_starts_a_turn_beyond_the_limit() {
    let mut story = one();
    for (n, word) in [(20, "a"), (21, "b"), (22, "c")] {
        story.turn(ONE, n, feedback(word));
    }
    story.person(ONE, review(1));
    let turn = story.task(ONE).last_turn().unwrap();
    assert_eq!((turn.number, turn.input.reviews.len()), (TurnNumber(4), 1));
    story.turn(ONE, 23, feedback("d"));
    assert!(story.task(ONE).is_blocked(), "it grants one turn, not more");
}

#[test]
fn a_request_for_changes_during_a_turn_counts_for_the_next_and_over_an_approval() {
    let mut story = one();
    story.push(ONE, 20);
    story.person(ONE, review(1));
    story.gate(ONE, green());
    assert_eq!(kinds(&story.judge(ONE, approval())), ["play", "living"]);
    story.push(ONE, 21);
    story.gate(ONE, green());
    assert_eq!(kinds(&story.judge(ONE, approval())), ["publish_check", "post_blocked", "living"]);
    let reason = BlockReason::OpenReview { by: person(3) };
    assert_eq!(story.task(ONE).state, task::State::Blocked { reason });
    let withdrawn = task::Event::Person { by: person(3), did: PersonDid::WithdrawChanges { until: ReviewId(1) } };
    let effects = story.task_event(ONE, withdrawn);
    assert_eq!(kinds(&effects), ["post_review", "publish_check", "mark_ready", "merge", "living"]);
}
