//! Tests of the loop: turns, waves, gates, and what stops them.

use crate::{
    blocked::{BlockReason, Cost, Failure, WorkStep, report::BlockedReport},
    effect::{Effect, TaskWork},
    feature::{
        CancelledWhy, Phase, State,
        event::{DefaultMerge, Event},
        failed_acts::{FailedAct, PublicAct, Replacement},
        tests::samples::*,
    },
    ids::{PullNumber, TurnNumber},
    problem::{Problem, ReviewItem},
    task,
    task::{MergeState, PersonDid, PlayerOutcome, TurnKind},
};

fn one() -> Story {
    Story::building(plan(vec![planned_task(ONE, &[])]), rules())
}

fn is_building_tasks(story: &Story) -> bool {
    story.feature.state == (State::Building { phase: Phase::Tasks })
}

#[test]
fn one_task_goes_from_label_to_review() {
    let mut story = one();
    assert_eq!(kinds(&story.push(ONE, 20)), ["open_pull", "gates", "living"]);
    assert_eq!(kinds(&story.gate(ONE, green())), ["coach", "living"]);
    let said = story.judge(ONE, approval());
    assert_eq!(kinds(&said), ["post_review", "publish_check", "mark_ready", "merge", "living"]);
    assert_eq!(kinds(&story.merge(ONE, 20)), ["wave_gate", "living"]);
    assert_eq!(kinds(&story.wave_gate(30, green())), ["merge_default", "living"]);
    assert_eq!(kinds(&story.merge_default(30)), ["open_feature_pull", "living"]);
    let emission = story.waits_for();
    let opened = story.apply(Event::PullOpened { emission, pull: FEATURE_PULL, opened: unmoved() });
    assert_eq!(kinds(&opened), ["publish_wave_check", "read_ci", "living", "ask_person"]);
    assert_eq!(story.feature.state, State::InReview);
}

#[test]
fn a_task_starts_only_when_what_it_needs_is_merged() {
    let mut story = Story::building(three_tasks(), rules());
    story.complete(ONE, 20);
    assert_eq!(story.task(THREE).state, task::State::Pending);
    story.complete(TWO, 21);
    story.wave_gate(30, green());
    assert_eq!(story.task(THREE).state, task::State::Pending);
    story.merge_default(30);
    assert_eq!(story.task(THREE).state.word(), "player_turn");
}

#[test]
fn feedback_on_the_last_turn_blocks_the_task_and_then_the_feature() {
    let mut story = Story::building(three_tasks(), rules());
    for (n, word) in [(20, "a"), (21, "b"), (22, "c")] {
        assert!(story.task(ONE).is_in_motion());
        story.turn(ONE, n, feedback(word));
    }
    assert_eq!(story.task(ONE).state, task::State::Blocked { reason: BlockReason::OutOfTurns { turns: 3 } });
    assert!(is_building_tasks(&story), "the other task of the wave goes on");
    story.complete(TWO, 23);
    let reason = BlockReason::TasksBlocked { tasks: vec![ONE] };
    assert_eq!(story.feature.state, State::Blocked { reason, phase: Phase::Tasks });
}

#[test]
fn the_same_issues_three_turns_running_block_before_the_limit() {
    let generous = crate::feature::Rules { max_turns: 9, ..rules() };
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), generous);
    for n in 20..23 {
        story.turn(ONE, n, feedback("the same"));
    }
    assert_eq!(story.task(ONE).state, task::State::Blocked { reason: BlockReason::SameIssues });
}

#[test]
fn no_change_twice_in_a_row_blocks_and_once_is_a_used_turn() {
    let mut story = one();
    for expected in ["player_turn", "blocked"] {
        let emission = story.emission(ONE);
        let outcome =
            Box::new(PlayerOutcome::NoChange { left_out: Vec::new(), base: sha(1), head: None, report: report() });
        story.task_event(ONE, task::Event::Played { emission, outcome });
        assert_eq!(story.task(ONE).state.word(), expected);
    }
    assert_eq!(story.task(ONE).state, task::State::Blocked { reason: BlockReason::NoChangeTwice });
    assert_eq!(story.task(ONE).turns.len(), 2);
}

#[test]
fn a_turn_without_a_change_leaves_what_there_is_to_mend() {
    let mut story = one();
    story.turn(ONE, 20, feedback("the button is blue"));
    let unchanged = |story: &mut Story| {
        let emission = story.emission(ONE);
        let outcome = Box::new(PlayerOutcome::NoChange {
            left_out: Vec::new(),
            base: sha(20),
            head: Some(sha(20)),
            report: report(),
        });
        story.task_event(ONE, task::Event::Played { emission, outcome });
    };
    unchanged(&mut story);
    let now = story.task(ONE).last_turn().unwrap().number;
    let told = story.task(ONE).to_mend(now);
    assert_eq!(told[0].problem, Problem::NoChange);
    let blue = |item: &ReviewItem| item.problem.words().is_some_and(|words| words.contains("the button is blue"));
    assert!(told.iter().any(blue), "{told:?}");
    unchanged(&mut story);
    let blocked = BlockedReport::of_task(story.task(ONE), Cost::default()).unwrap();
    assert_eq!(blocked.reason, BlockReason::NoChangeTwice);
    assert!(blue(&blocked.last_feedback[0]), "{blocked:?}");
    let asks = |wanted: &TaskWork| {
        let mut effects = story.effects.iter();
        effects.any(|effect| matches!(effect, Effect::Task { work, .. } if work == wanted))
    };
    let judged = TaskWork::PublishCheck { turn: TurnNumber(1) };
    assert!(asks(&judged), "this commit was judged at its first turn");
    assert!(!asks(&TaskWork::PublishBlocked { head: sha(20) }), "nobody judged it");
}

#[test]
fn a_turn_without_a_change_has_a_head_judged_that_was_not_judged_last() {
    let mut story = one();
    story.turn(ONE, 20, feedback("the button is blue"));
    story.turn(ONE, 21, feedback("the button is green"));
    let emission = story.emission(ONE);
    // Somebody put the branch back.
    let outcome = Box::new(PlayerOutcome::NoChange {
        base: sha(21),
        head: Some(sha(20)),
        report: report(),
        left_out: Vec::new(),
    });
    let effects = story.task_event(ONE, task::Event::Played { emission, outcome });
    assert!(kinds(&effects).contains(&"gates"), "{effects:?}");
}

#[test]
fn a_turn_without_a_change_has_a_head_judged_that_nobody_judged() {
    let mut story = one();
    let emission = story.emission(ONE);
    let outcome =
        Box::new(PlayerOutcome::NoChange { base: sha(1), head: Some(sha(20)), report: report(), left_out: Vec::new() });
    let effects = story.task_event(ONE, task::Event::Played { emission, outcome });
    assert_eq!(kinds(&effects), ["open_pull", "gates", "living"]);
    story.gate(ONE, green());
    story.judge(ONE, approval());
    assert_eq!(story.task(ONE).state.word(), "approved");
}

/// Ends the Player of the task's turn badly, after it left `n` on the branch.
fn cut(story: &mut Story, n: u64) -> Vec<Effect> {
    let emission = story.emission(ONE);
    let outcome = Box::new(PlayerOutcome::Stopped { reason: spent(), partial: Some(sha(n)) });
    story.task_event(ONE, task::Event::Played { emission, outcome })
}

fn spent() -> BlockReason {
    BlockReason::Failed { step: WorkStep::Play, failure: Failure::TimedOut { seconds: 60 }, printed: String::new() }
}

#[test]
fn work_that_a_failed_player_finished_is_judged_before_a_person_is_asked() {
    let mut story = one();
    assert_eq!(kinds(&cut(&mut story, 20)), ["open_pull", "gates", "living"]);
    story.gate(ONE, green());
    story.judge(ONE, approval());
    assert_eq!(story.task(ONE).state.word(), "approved");

    let mut story = one();
    cut(&mut story, 20);
    story.gate(ONE, green());
    story.judge(ONE, feedback("the button is blue"));
    assert_eq!(story.task(ONE).state.word(), "player_turn");
    assert_eq!(story.task(ONE).turns.len(), 2);
    assert!(story.task(ONE).has_verdict_on(&sha(20)));
}

#[test]
fn unfinished_work_of_a_failed_player_asks_a_person_without_a_coach() {
    let mut story = one();
    cut(&mut story, 20);
    story.gate(ONE, red());
    assert_eq!(story.task(ONE).state.word(), "player_turn", "it goes on once");
    assert_eq!(story.task(ONE).turns.len(), 1);
    cut(&mut story, 21);
    story.gate(ONE, red());
    assert_eq!(story.task(ONE).state, task::State::Blocked { reason: spent() });
    let branch = story.task(ONE).branch.clone();
    story.task_event(ONE, task::Event::PullOpened { pull: pull(ONE), branch });
    assert!(story.task(ONE).can_be_overridden());
    let mut resumed = story.clone();
    resumed.resume(ONE, None, 3);
    assert_eq!(resumed.task(ONE).state.word(), "player_turn");
    assert_eq!(resumed.task(ONE).turns.len(), 1);
    story.person(ONE, PersonDid::Override);
    assert_eq!(story.task(ONE).state.word(), "approved");
}

#[test]
fn a_commit_that_gates_could_not_judge_is_verified_again_without_a_player() {
    let mut story = one();
    story.push(ONE, 20);
    story.gate(ONE, absent());
    let effects = story.resume(ONE, None, 3);
    assert_eq!(kinds(&effects), ["gates", "living"]);
    assert_eq!(story.task(ONE).turns.len(), 1);
    assert!(is_building_tasks(&story));
}

#[test]
fn what_was_mended_in_the_default_branch_comes_before_a_task_that_goes_on() {
    for did in [PersonDid::Resume { guidance: None, turns: 3 }, PersonDid::Retry { turns: 3 }] {
        let mut story = one();
        story.push(ONE, 20);
        story.gate(ONE, absent());
        let effects = story.person(ONE, did);
        assert!(kinds(&effects).contains(&"merge_default"), "{effects:?}");
        assert_eq!(story.task(ONE).state, task::State::Pending);
        let emission = story.waits_for();
        let (head, other) = (sha(30), sha(31));
        let outcome = DefaultMerge::Merged { head, other };
        let effects = story.apply(Event::DefaultMerged { emission, outcome });
        assert_eq!(kinds(&effects), ["pre_flight", "living"]);
        story.pre_flight(31);
        assert!(is_building_tasks(&story));
        assert!(story.task(ONE).is_in_motion());
    }
}

#[test]
fn a_person_may_push_while_a_resumed_task_waits() {
    let mut story = one();
    story.push(ONE, 20);
    story.gate(ONE, absent());
    let (guidance, turns) = (None, 3);
    story.person(ONE, PersonDid::Resume { guidance, turns });
    story.person(ONE, PersonDid::Push { head: sha(25) });
    assert_eq!(story.task(ONE).head, Some(sha(25)));
    story.person(ONE, PersonDid::ForcePush { head: sha(26) });
    assert!(story.task(ONE).is_blocked());
}

#[test]
fn a_branch_that_took_up_the_integration_branch_is_verified_in_the_same_turn() {
    let mut story = one();
    story.push(ONE, 20);
    let (emission, head) = (story.emission(ONE), sha(21));
    let effects = story.task_event(ONE, task::Event::CaughtUp { emission, head });
    assert_eq!(kinds(&effects), ["gates", "living"]);
    assert_eq!((story.head(ONE), story.task(ONE).turns.len()), (sha(21), 1));
    let emission = story.emission(ONE);
    let files = vec!["a.rs".to_owned()];
    let effects = story.task_event(ONE, task::Event::MergeConflict { emission, files });
    assert_eq!(kinds(&effects), ["play", "living"]);
    let turn = story.task(ONE).last_turn().unwrap();
    assert_eq!((turn.kind, turn.number), (TurnKind::Conflict, TurnNumber(1)));
}

#[test]
fn guidance_starts_the_turn_again_with_the_player() {
    let mut story = one();
    story.push(ONE, 20);
    story.gate(ONE, absent());
    let effects = story.resume(ONE, Some("use make"), 3);
    assert_eq!(kinds(&effects), ["play", "living"]);
    let turn = story.task(ONE).last_turn().unwrap();
    assert_eq!((turn.number, turn.input.guidance[0].text.as_str()), (TurnNumber(1), "use make"));
}

#[test]
fn resuming_grants_exactly_the_turns_asked_for() {
    let mut story = one();
    for (n, word) in [(20, "a"), (21, "b"), (22, "c")] {
        story.turn(ONE, n, feedback(word));
    }
    story.resume(ONE, None, 2);
    story.turn(ONE, 23, feedback("d"));
    assert!(story.task(ONE).is_in_motion());
    story.turn(ONE, 24, feedback("e"));
    assert_eq!(story.task(ONE).state, task::State::Blocked { reason: BlockReason::OutOfTurns { turns: 5 } });
}

#[test]
fn a_conflict_is_a_turn_beyond_the_limit() {
    let tight = crate::feature::Rules { max_turns: 1, ..rules() };
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), tight);
    story.turn(ONE, 20, approval());
    let emission = story.emission(ONE);
    story.task_event(ONE, task::Event::MergeConflict { emission, files: vec!["a.rs".to_owned()] });
    let turn = story.task(ONE).last_turn().unwrap();
    assert_eq!((turn.kind, turn.number), (TurnKind::Conflict, TurnNumber(2)));
    assert_eq!(turn.input.conflict.as_ref().unwrap().files, ["a.rs"]);
}

#[test]
fn a_pull_request_that_cannot_be_opened_blocks_on_the_issue_and_is_asked_for_again() {
    let mut story = one();
    let emission = story.emission(ONE);
    story.task_event(ONE, task::Event::Played { emission, outcome: Box::new(pushed(sha(20))) });
    let opening = story.task(ONE).opening.unwrap();
    let reason = BlockReason::failed(WorkStep::OpenPull, Failure::GitHubRefused { message: "no".to_owned() });
    let effects = story.task_event(ONE, task::Event::Stuck { emission: opening, reason });
    assert_eq!(kinds(&effects), ["publish_check", "post_blocked", "living"]);
    assert!(story.task(ONE).is_blocked());
    let effects = story.resume(ONE, None, 3);
    assert_eq!(kinds(&effects), ["open_pull", "gates", "living"]);
}

#[test]
fn the_report_of_a_failed_player_waits_for_the_pull_request_of_its_partial_work() {
    let mut story = one();
    assert_eq!(kinds(&cut(&mut story, 20)), ["open_pull", "gates", "living"]);
    assert_eq!(kinds(&story.gate(ONE, red())), ["play", "living"]);
    assert_eq!(kinds(&cut(&mut story, 21)), ["gates", "living"]);
    assert_eq!(kinds(&story.gate(ONE, red())), ["publish_check", "living"]);
    let branch = story.task(ONE).branch.clone();
    let effects = story.task_event(ONE, task::Event::PullOpened { pull: pull(ONE), branch });
    assert_eq!(kinds(&effects), ["post_blocked", "living"]);
}

#[test]
fn a_pull_request_opened_after_the_feature_was_cancelled_is_closed() {
    let mut story = one();
    let emission = story.emission(ONE);
    story.task_event(ONE, task::Event::Played { emission, outcome: Box::new(pushed(sha(20))) });
    story.apply(Event::Cancelled(CancelledWhy::IssueClosed(person(2))));
    let branch = story.task(ONE).branch.clone();
    let effects = story.task_event(ONE, task::Event::PullOpened { pull: pull(ONE), branch });
    assert_eq!(kinds(&effects), ["close_pull", "living"]);
}

#[test]
fn what_the_default_branch_brought_is_tested_before_the_pull_request() {
    let mut story = one();
    story.complete(ONE, 20);
    story.wave_gate(30, green());
    let emission = story.waits_for();
    let outcome = DefaultMerge::Merged { head: sha(31), other: sha(40) };
    assert_eq!(kinds(&story.apply(Event::DefaultMerged { emission, outcome })), ["pre_flight", "living"]);
    assert_eq!(kinds(&story.pre_flight(40)), ["wave_gate", "living"]);
    assert_eq!(kinds(&story.wave_gate(31, green())), ["open_feature_pull", "living"]);
}

#[test]
fn what_came_with_a_wave_without_merges_is_tested_before_the_pull_request() {
    let mut story = Story::building(three_tasks(), rules());
    story.complete(ONE, 20);
    story.complete(TWO, 21);
    story.wave_gate(30, green());
    let emission = story.waits_for();
    story.apply(Event::DefaultMerged { emission, outcome: DefaultMerge::Merged { head: sha(31), other: sha(1) } });
    story.person(THREE, PersonDid::Skip);
    let effects = story.merge_default(31);
    assert_eq!(kinds(&effects), ["wave_gate", "living"]);
}

#[test]
fn a_feature_without_a_completed_task_is_cancelled() {
    let mut story = one();
    story.person(ONE, PersonDid::Skip);
    assert_eq!(story.feature.state, State::Cancelled { why: CancelledWhy::NothingCompleted });
    assert_eq!(kinds(&story.effects).iter().filter(|kind| **kind == "open_feature_pull").count(), 0);
}

#[test]
fn a_refused_merge_waits_for_a_person_and_resume_tries_it_again() {
    let mut story = one();
    story.turn(ONE, 20, approval());
    let emission = story.emission(ONE);
    story.task_event(ONE, task::Event::MergeRefused { emission, rule: "two reviews".to_owned() });
    assert!(matches!(
        &story.task(ONE).state,
        task::State::Approved { merge: MergeState::Refused { rule }, .. } if rule == "two reviews"
    ));
    let effects = story.person(ONE, PersonDid::Resume { guidance: None, turns: 3 });
    assert_eq!(kinds(&effects), ["mark_ready", "merge", "living"]);
}

#[test]
fn a_feature_blocked_by_two_tasks_goes_on_when_one_is_resumed() {
    let mut story = Story::building(three_tasks(), rules());
    for id in [ONE, TWO] {
        story.push(id, 20);
        story.gate(id, absent());
    }
    assert_eq!(story.feature.state.word(), "blocked");
    story.resume(TWO, None, 3);
    assert!(is_building_tasks(&story));
    story.gate(TWO, green());
    story.judge(TWO, approval());
    story.merge(TWO, 21);
    let reason = BlockReason::TasksBlocked { tasks: vec![ONE] };
    assert_eq!(story.feature.state, State::Blocked { reason, phase: Phase::Tasks });
}

#[test]
fn nothing_new_edits_no_comment() {
    let mut story = one();
    let head = sha(20);
    story.push(ONE, 20);
    assert!(story.person(ONE, PersonDid::Push { head }).is_empty());
    assert!(story.apply(Event::Suspended).is_empty());
    assert!(story.apply(Event::LivingShown { comment: crate::ids::CommentId(5), version: Some(1), at: AT }).is_empty());
}

#[test]
fn a_turn_that_blocks_is_one_review_also_while_its_pull_request_is_being_opened() {
    let rules = crate::feature::Rules { max_turns: 1, ..rules() };
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), rules);
    let emission = story.emission(ONE);
    story.task_event(ONE, task::Event::Played { emission, outcome: Box::new(pushed(sha(20))) });
    story.gate(ONE, green());
    let said = story.judge(ONE, feedback("a"));
    assert_eq!(kinds(&said), ["post_blocked_review", "publish_check", "living"]);
    let branch = story.task(ONE).branch.clone();
    let opened = story.task_event(ONE, task::Event::PullOpened { pull: pull(ONE), branch });
    assert_eq!(kinds(&opened), ["living"]);
}

fn failed_act(what: PublicAct, task: Option<crate::ids::TaskId>, instead: Replacement) -> Event {
    Event::FailedAct(FailedAct { what, task, instead, why: "403".to_owned() })
}

#[test]
fn an_approval_that_stands_nowhere_is_not_merged_and_one_that_stands_elsewhere_is() {
    let mut story = one();
    story.turn(ONE, 20, approval());
    let elsewhere = failed_act(PublicAct::Review, Some(ONE), Replacement::CommentReview);
    assert_eq!(kinds(&story.apply(elsewhere.clone())), ["living"]);
    assert!(story.apply(elsewhere).is_empty(), "said once");
    assert_eq!(story.task(ONE).state.word(), "approved");
    story.apply(failed_act(PublicAct::Review, Some(ONE), Replacement::Nothing));
    assert_eq!(story.task(ONE).state.word(), "blocked");
}

#[test]
fn a_living_comment_that_cannot_be_written_is_not_tried_for_ever() {
    let mut story = one();
    let living = failed_act(PublicAct::Living, None, Replacement::Nothing);
    assert_eq!(kinds(&story.apply(living.clone())), ["living"]);
    assert!(story.apply(living).is_empty());
}

#[test]
fn a_failed_act_on_a_pull_request_is_reported_once_also_after_the_end() {
    let mut story = one();
    let closing = |number| failed_act(PublicAct::Close { pull: PullNumber(number) }, Some(ONE), Replacement::Nothing);
    story.turn(ONE, 20, approval());
    assert_eq!(kinds(&story.apply(failed_act(PublicAct::Ready, Some(ONE), Replacement::Nothing))), ["living"]);
    assert_eq!(story.task(ONE).state.word(), "approved", "GitHub itself merges no draft");
    story.apply(Event::Cancelled(CancelledWhy::BranchDeleted));
    assert_eq!(story.feature.state.word(), "cancelled");
    assert_eq!(kinds(&story.apply(closing(7))), ["living"]);
    assert!(story.apply(closing(7)).is_empty(), "said once");
    assert_eq!(kinds(&story.apply(closing(8))), ["living"], "another pull request");
    assert!(
        story.apply(failed_act(PublicAct::Review, Some(ONE), Replacement::Nothing)).is_empty(),
        "a review says nothing any more"
    );
}

/// Returns a Feature of two tasks. The first is merged; the second was approved and skipped while it was being merged.
fn skipped_while_merged() -> (Story, task::Event) {
    let mut story = Story::building(plan(vec![planned_task(ONE, &[]), planned_task(TWO, &[])]), rules());
    story.complete(ONE, 20);
    story.turn(TWO, 21, approval());
    let merged = task::Event::Merged { emission: story.emission(TWO), commit: sha(22) };
    story.person(TWO, PersonDid::Skip);
    (story, merged)
}

#[test]
fn a_task_that_is_merged_after_its_wave_is_tested_with_the_others() {
    let (mut gating, merged) = skipped_while_merged();
    let old = gating.waits_for();
    let mut opening = gating.clone();
    assert_eq!(kinds(&gating.task_event(TWO, merged.clone())), ["wave_gate", "living"]);
    gating.apply(Event::WaveGated { emission: old, head: sha(30), report: Box::new(green()), broke: None });
    assert!(gating.feature.gates.is_empty(), "the gate that ran did not include it");
    assert_eq!(kinds(&gating.wave_gate(31, green())), ["merge_default", "living"]);

    opening.wave_gate(30, green());
    opening.merge_default(30);
    let mut in_review = opening.clone();
    let open = |story: &mut Story| {
        let emission = story.waits_for();
        story.apply(Event::PullOpened { emission, pull: FEATURE_PULL, opened: unmoved() })
    };
    opening.task_event(TWO, merged.clone());
    assert!(kinds(&open(&mut opening)).contains(&"wave_gate"));

    assert!(!kinds(&open(&mut in_review)).contains(&"wave_gate"));
    assert_eq!(kinds(&in_review.task_event(TWO, merged)), ["wave_gate", "living"]);
    in_review.wave_gate(31, red());
    assert!(in_review.feature.has_open_tasks(), "a task mends what the late merge broke");
}
