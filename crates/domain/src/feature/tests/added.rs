//! Tests of the tasks that AutoBuild adds, of pre-flight, and of what people's commands do to both.

use crate::{
    blocked::{BlockReason, PreFlightCause, PreFlightFault},
    ci::CiSays,
    command::Command,
    effect::Effect,
    evidence::{
        Absence, Additions, Baseline, Counts, Evidence, Finding, Gate, GateResult, StartFailure, TestNames, Weight,
    },
    feature::{
        Continuation, Doubt, Phase, PreFlight, PreFlightOutcome, State, TestsBefore, UncalledTests,
        event::{DefaultMerge, Event, Target},
        nameless, nothing_passes, obstacle,
        tests::{samples::*, table::command},
        unknown_tests, untestable,
    },
    ids::{Emission, TaskId},
    plan::{Check, Criterion, TaskType},
    problem::{Problem, ReviewItem},
    task,
    task::{DraftSubject, Goal, MergePolicy, Origin, PersonDid, TurnKind},
    test_outcome::TestOutcome,
};

const FIX: TaskId = TaskId::Fix(1);
const SYNC: TaskId = TaskId::Sync(1);
const REVIEW: TaskId = TaskId::Review(1);

fn one() -> Story {
    Story::building(plan(vec![planned_task(ONE, &[])]), rules())
}

fn gated() -> Story {
    let mut story = one();
    story.complete(ONE, 20);
    story.wave_gate(30, green());
    story
}

fn on_issue(said: Command) -> Event {
    command(said, Target::Feature)
}

fn resume() -> Event {
    on_issue(Command::Resume { guidance: None, max_turns: None })
}

fn ran(exit: i32, counts: Counts, failing: &[&str]) -> Finding {
    Finding {
        command: "t".to_owned(),
        exit_code: Some(exit),
        counts,
        failing: failing.iter().map(|name| (*name).to_owned()).collect(),
        output: "the output".to_owned(),
        ..Finding::default()
    }
}

fn counts(passed: u32, failed: u32) -> Counts {
    Counts::Known { passed, failed, skipped: 0 }
}

fn baseline(setup: Option<Evidence>, tests: Evidence) -> Baseline {
    Baseline {
        commit: sha(1),
        setup,
        tests,
        rewritten: Vec::new(),
        additions: Additions::None,
        made: std::collections::BTreeSet::new(),
    }
}

#[test]
fn no_player_starts_before_pre_flight_and_what_stops_it_blocks_the_feature() {
    let mut story = Story::new(rules());
    let effects = story
        .apply(Event::Planned { emission: Emission(1), planned: planned(plan(vec![planned_task(ONE, &[])]), rules()) });
    assert_eq!(kinds(&effects), ["pre_flight", "living"]);
    let emission = story.waits_for();
    let reason = BlockReason::BranchRule { rule: "creation".to_owned() };
    let outcome = Box::new(PreFlightOutcome::Refused(reason.clone()));
    let effects = story.apply(Event::PreFlown { emission, outcome });
    assert_eq!(kinds(&effects), ["post_feature_blocked", "living"]);
    assert!(matches!(&story.feature.state, State::Blocked { reason: said, .. } if *said == reason));
    let effects = story.apply(resume());
    assert_eq!(kinds(&effects), ["react", "pre_flight", "react", "living"]);
    assert_eq!(kinds(&story.pre_flight(1)), ["open_integration", "living"]);
    assert!(!story.effects.iter().any(|effect| effect.kind() == "play"));
}

#[test]
fn what_cannot_start_is_an_obstacle_and_what_is_red_or_absent_is_not() {
    let could_not_start =
        || Evidence::Absent(Absence::CouldNotStart { command: "t".to_owned(), reason: StartFailure::NoShell });
    let timed_out =
        Evidence::Absent(Absence::TimedOut { command: "t".to_owned(), seconds: 5, in_test: None, failed: vec![] });
    let not_reached = || Evidence::Absent(Absence::NotReached);
    let passed = || Evidence::Passed(ran(0, counts(3, 0), &[]));
    let table = [
        (baseline(None, passed()), false),
        (baseline(None, Evidence::Absent(Absence::NoCommand)), false),
        (baseline(Some(Evidence::Absent(Absence::NoCommand)), passed()), false),
        (baseline(None, Evidence::Failed(ran(1, counts(3, 1), &["a"]))), false),
        (baseline(None, Evidence::Failed(ran(1, Counts::Unknown, &[]))), false),
        (baseline(None, Evidence::Failed(ran(1, counts(0, 6), &["a"]))), false),
        (baseline(None, Evidence::Failed(ran(5, counts(0, 0), &[]))), false),
        (baseline(None, could_not_start()), true),
        (baseline(None, timed_out), true),
        (baseline(None, Evidence::Failed(ran(127, Counts::Unknown, &[]))), true),
        (baseline(None, Evidence::Failed(ran(127, counts(1, 1), &["a"]))), false),
        (baseline(Some(Evidence::Failed(ran(1, Counts::Unknown, &[]))), not_reached()), true),
        (baseline(Some(could_not_start()), not_reached()), true),
    ];
    for (baseline, expected) in table {
        assert_eq!(obstacle(&baseline).is_some(), expected, "{baseline:?}");
    }
    let passing = |passed| nothing_passes(&baseline(None, Evidence::Failed(ran(1, counts(passed, 6), &["a"]))));
    assert_eq!((passing(0).is_some(), passing(1)), (true, None));
    let failed = Evidence::Failed(ran(3, Counts::Unknown, &[]));
    let Some(BlockReason::PreFlightFailed { what, output, .. }) = obstacle(&baseline(Some(failed), not_reached()))
    else {
        panic!("a failed set-up is an obstacle");
    };
    let mut brief = ran(3, Counts::Unknown, &[]);
    brief.output.clear();
    assert_eq!(*what, PreFlightCause::SetUp(Evidence::Failed(brief)));
    assert_eq!(output, "the output");
}

#[test]
fn a_criterion_that_names_a_test_is_told_of_before_it_costs_anything() {
    let named = |passed: &[&str]| {
        let mut finding = ran(0, counts(u32::try_from(passed.len()).unwrap(), 0), &[]);
        finding.names =
            Some(TestNames { passed: passed.iter().map(|name| (*name).to_owned()).collect(), ..TestNames::default() });
        baseline(None, Evidence::Passed(finding))
    };
    let mut asked = planned_task(ONE, &[]);
    asked.acceptance_criteria =
        vec![Criterion { text: "It logs in".to_owned(), check: Check::Test("auth::refresh_one".to_owned()) }];
    let plan = plan(vec![asked.clone()]);
    let without_names = baseline(None, Evidence::Passed(Finding { names: None, ..ran(0, counts(3, 0), &[]) }));
    assert!(matches!(
        nameless(&without_names, &plan),
        Some(BlockReason::PreFlightFailed { fault: PreFlightFault::NoNames, .. })
    ));
    assert_eq!(nameless(&named(&["a::b"]), &plan), None);
    let is_called = |name: &str, wanted: &str| name.ends_with(wanted);
    let doubts = |known: &[&str]| unknown_tests(&named(known), &plan, is_called);
    assert_eq!(doubts(&["auth::refresh_one"]), []);
    assert_eq!(doubts(&["other::thing"]), [], "a task may bring it");
    let nearly = |nearest: &[&str]| {
        vec![Doubt::UnknownTest {
            task: asked.id,
            test: "auth::refresh_one".to_owned(),
            nearest: nearest.iter().map(|name| (*name).to_owned()).collect(),
        }]
    };
    let known = ["x::refresh_once", "auth::refresh_one_two", "other::thing"];
    assert_eq!(doubts(&known), nearly(&["x::refresh_once", "auth::refresh_one_two"]));
}

#[test]
fn tests_that_no_command_runs_wait_for_a_person_if_a_task_needs_tests() {
    let there = || UncalledTests {
        files: vec!["spec/a_spec.lua".to_owned()],
        commands: Vec::new(),
        mentioned: Vec::new(),
        looked_for: "Cargo".to_owned(),
    };
    let plan_of = |kind| {
        let mut task = planned_task(ONE, &[]);
        task.kind = kind;
        plan(vec![task])
    };
    let none = baseline(None, Evidence::Absent(Absence::NoCommand));
    let waits = |kind| untestable(&none, &plan_of(kind), there()).is_some();
    let table = [
        (TaskType::Feature, true),
        (TaskType::Testing, true),
        (TaskType::Scaffolding, false),
        (TaskType::Refactoring, false),
        (TaskType::Documentation, false),
    ];
    for (kind, expected) in table {
        assert_eq!(waits(kind), expected, "{kind:?}");
    }
    assert_eq!(
        untestable(&baseline(None, Evidence::Passed(ran(0, counts(3, 0), &[]))), &plan_of(TaskType::Feature), there()),
        None
    );
}

#[test]
fn people_are_told_what_was_so_before() {
    let found = |tests: Evidence| PreFlight::of(&baseline(None, tests), Vec::new()).before;
    let none = found(Evidence::Absent(Absence::NoCommand));
    assert!(matches!(none, TestsBefore::NoTests { .. }), "{none:?}");
    let empty = found(Evidence::Failed(ran(5, counts(0, 0), &[])));
    assert!(matches!(empty, TestsBefore::NoTests { .. }), "{empty:?}");
    let green = found(Evidence::Passed(ran(0, counts(3, 0), &[])));
    assert!(matches!(green, TestsBefore::Green { .. }), "{green:?}");
    let names: Vec<String> = (0..25).map(|n| format!("t{n}")).collect();
    let mut finding = ran(1, counts(0, 25), &[]);
    finding.names = Some(TestNames { failed: names.clone(), ..TestNames::default() });
    let TestsBefore::Red { failing, more, .. } = found(Evidence::Failed(finding)) else {
        panic!("25 tests fail");
    };
    assert_eq!((failing.as_slice(), more), (&names[..20], 5));
    let mut unnamed = ran(1, Counts::Unknown, &[]);
    unnamed.output = "npm error Unknown command: \"tset\"".to_owned();
    let TestsBefore::Red { output, .. } = found(Evidence::Failed(unnamed.clone())) else {
        panic!("nothing says which tests fail");
    };
    assert_eq!(output, unnamed.output, "what it printed is all that tells why");
}

#[test]
fn the_branches_with_work_are_what_is_merged_and_each_task_that_is_not() {
    let two = vec![planned_task(ONE, &[]), planned_task(TaskId::Planned(2), &[])];
    let mut feature = Story::building(plan(two), rules()).feature;
    let integration = feature.key.integration_branch();
    for task in &mut feature.tasks {
        task.head = Some(sha(7));
        task.state = task::State::Pending;
    }
    let tasks: Vec<String> = feature.tasks.iter().map(|task| task.branch.clone()).collect();
    assert_eq!(feature.branches_with_work(), tasks, "nothing is merged: the branch holds the plan alone");
    feature.tasks[0].state = task::State::Completed { commit: None, by: task::MergedBy::AutoBuild };
    let merged: Vec<String> = std::iter::once(integration).chain(tasks.into_iter().skip(1)).collect();
    assert_eq!(feature.branches_with_work(), merged);
    feature.tasks.truncate(1);
    feature.tasks[0].state = task::State::Pending;
    feature.tasks[0].head = None;
    assert_eq!(feature.branches_with_work(), Vec::<String>::new(), "nothing is pushed");
}

#[test]
fn a_new_commit_of_the_default_branch_is_looked_at_once() {
    let mut story = gated();
    let merged = |story: &Story, other: u64| Event::DefaultMerged {
        emission: story.waits_for(),
        outcome: DefaultMerge::Merged { head: sha(31), other: sha(other) },
    };
    let event = merged(&story, 40);
    assert_eq!(kinds(&story.apply(event)), ["pre_flight", "living"]);
    assert!(matches!(
        story.effects.iter().rev().find(|effect| effect.kind() == "pre_flight"),
        Some(Effect::PreFlight { commit: Some(commit), .. }) if *commit == sha(40)
    ));
    story.pre_flight(40);
    story.wave_gate(31, red());
    story.complete(FIX, 32);
    story.wave_gate(33, green());
    let event = merged(&story, 40);
    assert_eq!(kinds(&story.apply(event)), ["wave_gate", "living"]);
}

#[test]
fn what_stands_against_a_merged_commit_may_be_mended_in_a_newer_one() {
    let mut story = gated();
    let emission = story.waits_for();
    let outcome = DefaultMerge::Merged { head: sha(31), other: sha(40) };
    story.apply(Event::DefaultMerged { emission, outcome });
    let emission = story.waits_for();
    let reason = BlockReason::PreFlightFailed {
        fault: PreFlightFault::NotRun,
        what: Box::new(PreFlightCause::SetUp(Evidence::Failed(ran(3, Counts::Unknown, &[])))),
        output: String::new(),
    };
    let outcome = Box::new(PreFlightOutcome::Refused(reason));
    story.apply(Event::PreFlown { emission, outcome });
    assert_eq!(kinds(&story.apply(resume())), ["react", "merge_default", "react", "living"]);
}

#[test]
fn a_red_wave_gate_opens_a_repair_with_the_failing_tests_as_its_criteria() {
    let mut story = one();
    story.complete(ONE, 20);
    let merged = story.task(ONE).merged_as().cloned();
    let effects = story.wave_gate_after(30, red(), merged.clone());
    assert_eq!(kinds(&effects), ["play", "living"]);
    let fix = story.task(FIX);
    assert_eq!((fix.wave, &fix.origin), (1, &Origin::Fix { broke: merged }));
    assert_eq!(fix.plan.acceptance_criteria[0].check, Check::Test("works".to_owned()));
    assert_eq!(fix.plan.dependencies, [ONE]);
    let draft = fix.draft.as_ref().unwrap();
    assert!(matches!(&draft.subject, DraftSubject::Fix { culprit: Some(task), .. } if *task == ONE), "{draft:?}");
    assert_eq!(draft.criteria, [Goal::Test("works".to_owned())]);
    assert_eq!(fix.branch, "autobuild/42/task-fix-1-mend-the-broken-wave");
    story.complete(FIX, 31);
    assert_eq!(kinds(&story.wave_gate(32, green())), ["merge_default", "living"]);
}

#[test]
fn the_third_red_gate_of_a_wave_blocks_and_resume_allows_two_repairs_more() {
    let mut story = one();
    story.complete(ONE, 20);
    for round in 0..2 {
        for k in [round * 2 + 1, round * 2 + 2] {
            assert_eq!(kinds(&story.wave_gate(30, red())), ["play", "living"], "repair {k}");
            story.complete(TaskId::Fix(k), 40 + u64::from(k));
        }
        assert_eq!(kinds(&story.wave_gate(30, red())), ["post_feature_blocked", "living"]);
        let reason = matches!(
            &story.feature.state,
            State::Blocked {
                reason: BlockReason::WaveGateRed { .. },
                phase: Phase::Gate { then: Continuation::Wave, .. }
            }
        );
        assert!(reason, "{:?}", story.feature.state);
        assert_eq!(kinds(&story.apply(resume())), ["react", "merge_default", "react", "living"]);
        assert_eq!(kinds(&story.merge_default(30)), ["wave_gate", "living"]);
    }
}

#[test]
fn a_red_gate_before_the_pull_request_runs_again_when_resumed() {
    let mut story = one();
    story.complete(ONE, 20);
    story.wave_gate(30, green());
    assert_eq!(kinds(&story.merge_default(31)), ["wave_gate", "living"]);
    story.wave_gate(31, absent());
    story.apply(resume());
    assert_eq!(kinds(&story.merge_default(31)), ["wave_gate", "living"]);
    assert_eq!(kinds(&story.wave_gate(31, green())), ["open_feature_pull", "living"]);
}

#[test]
fn absent_evidence_at_a_wave_gate_blocks_and_never_opens_a_repair() {
    let mut story = one();
    story.complete(ONE, 20);
    assert_eq!(kinds(&story.wave_gate(30, absent())), ["post_feature_blocked", "living"]);
    assert!(story.feature.task(FIX).is_none());
}

#[test]
fn a_red_gate_in_review_goes_back_to_building_with_a_repair() {
    let mut story = Story::in_review();
    story.apply(Event::IntegrationPushed { head: sha(31) });
    let effects = story.wave_gate(31, red());
    assert_eq!(kinds(&effects), ["publish_wave_check", "play", "living"]);
    story.complete(FIX, 32);
    story.wave_gate(33, green());
    story.merge_default(33);
    let emission = story.waits_for();
    story.apply(Event::PullOpened { emission, pull: FEATURE_PULL, opened: unmoved() });
    assert_eq!(story.feature.state, State::InReview);
}

/// CI ends on the commit in review; returns the kinds of the effects.
fn ci_ends(story: &mut Story, says: CiSays) -> Vec<&'static str> {
    let event = Event::CiRead {
        emission: story.feature.reading_ci.unwrap(),
        head: story.feature.reviewed_head().unwrap().clone(),
        result: Box::new(ci_says(says)),
    };
    kinds(&story.apply(event))
}

fn failed() -> CiSays {
    CiSays::Failed("line 3 is too long".to_owned())
}

/// The repair is merged, the gate passes, and the pull request shows the new commit.
fn repaired(story: &mut Story, k: u16) -> Vec<&'static str> {
    let n = 40 + u64::from(k) * 10;
    story.complete(TaskId::Fix(k), n);
    story.wave_gate(n + 1, green());
    story.merge_default(n + 1);
    let emission = story.waits_for();
    let (pull, opened) = (FEATURE_PULL, unmoved());
    kinds(&story.apply(Event::PullOpened { emission, pull, opened }))
}

#[test]
fn failed_ci_on_the_feature_pull_request_opens_repairs_and_then_blocks() {
    let mut story = Story::in_review();
    assert_eq!(ci_ends(&mut story, failed()), ["publish_wave_check", "play", "living"]);
    let fix = story.task(FIX);
    let goals = &fix.draft.as_ref().unwrap().criteria;
    assert!(
        matches!(goals.as_slice(), [Goal::Remark(ReviewItem { problem: Problem::Ci { check, output }, .. })]
            if check == "build" && output == "line 3 is too long"),
        "{goals:?}"
    );
    assert!(repaired(&mut story, 1).contains(&"read_ci"));
    assert_eq!(story.feature.state, State::InReview);
    ci_ends(&mut story, failed());
    repaired(&mut story, 2);
    assert_eq!(ci_ends(&mut story, failed()), ["publish_wave_check", "post_feature_blocked", "living"]);
    assert!(matches!(story.feature.state, State::Blocked { reason: BlockReason::WaveGateRed { .. }, .. }));
    story.apply(resume());
    story.merge_default(61);
    assert!(kinds(&story.wave_gate(61, green())).contains(&"open_feature_pull"));
}

#[test]
fn ci_that_passed_ran_on_another_commit_or_was_read_before_changes_nothing() {
    let mut story = Story::in_review();
    let emission = story.feature.reading_ci.unwrap();
    let late = |head| Event::CiRead { emission, head, result: Box::new(ci_says(failed())) };
    assert!(story.apply(late(sha(77))).is_empty());
    assert!(ci_ends(&mut story, CiSays::Passed).is_empty());
    assert_eq!(story.feature.state, State::InReview);
    assert!(story.apply(late(sha(30))).is_empty());
    story.apply(Event::IntegrationPushed { head: sha(31) });
    assert!(ci_ends(&mut story, failed()).is_empty(), "no gate ran on this commit yet");
}

#[test]
fn a_conflict_with_the_default_branch_becomes_a_task_and_then_the_step_goes_on() {
    let mut story = gated();
    let effects = story.default_conflict(&["a.rs"], 40);
    assert_eq!(kinds(&effects), ["play", "living"]);
    let sync = story.task(SYNC);
    assert_eq!(sync.origin, Origin::Sync { other: sha(40) });
    let turn = sync.last_turn().unwrap();
    assert_eq!(turn.kind, TurnKind::Conflict);
    assert_eq!(turn.input.conflict.as_ref().unwrap().files, ["a.rs"]);
    story.complete(SYNC, 41);
    assert!(matches!(story.feature.phase(), Some(Phase::MergingDefault { then: Continuation::Pull, .. })));
}

#[test]
fn no_other_task_starts_while_a_conflict_is_resolved() {
    let mut story = Story::building(three_tasks(), rules());
    story.complete(ONE, 20);
    story.complete(TWO, 21);
    story.wave_gate(30, green());
    story.default_conflict(&["a.rs"], 40);
    assert_eq!(story.task(THREE).state, task::State::Pending);
    story.complete(SYNC, 41);
    assert_eq!(story.task(THREE).state, task::State::Pending);
    story.merge_default(41);
    assert_eq!(story.task(THREE).state.word(), "player_turn");
}

#[test]
fn a_resolved_merge_is_verified_again_if_the_branch_moved() {
    let by_hand = crate::feature::Rules { merge: MergePolicy::Human, ..rules() };
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), by_hand);
    story.turn(ONE, 20, approval());
    story.person(ONE, PersonDid::MergePull { commit: Some(sha(21)), head: None });
    story.wave_gate(30, green());
    story.default_conflict(&["a.rs"], 40);
    story.turn(SYNC, 41, approval());
    let emission = story.emission(SYNC);
    let effects = story.task_event(SYNC, task::Event::CaughtUp { emission, head: sha(42) });
    assert_eq!(kinds(&effects), ["gates", "living"]);
    assert_eq!(story.head(SYNC), sha(42));
}

#[test]
fn a_conflict_that_nobody_resolves_waits_for_a_person_and_retry_takes_it_up_again() {
    let mut story = gated();
    story.default_conflict(&["a.rs"], 40);
    story.person(SYNC, PersonDid::Skip);
    let blocked = |story: &Story| {
        matches!(
            &story.feature.state,
            State::Blocked { reason: BlockReason::DefaultConflict { files, given_up: Some(SYNC) }, .. } if *files == ["a.rs"]
        )
    };
    assert!(blocked(&story), "{:?}", story.feature.state);
    story.apply(on_issue(Command::Retry { task: Some(SYNC) }));
    assert_eq!(story.task(SYNC).state.word(), "player_turn");
    story.person(SYNC, PersonDid::Cancel);
    assert!(blocked(&story), "{:?}", story.feature.state);
    story.apply(resume());
    story.default_conflict(&["a.rs"], 43);
    assert_eq!(story.task(TaskId::Sync(2)).state.word(), "player_turn");
}

#[test]
fn a_conflict_in_review_goes_back_to_building_and_comes_again() {
    let mut story = Story::in_review();
    assert_eq!(kinds(&story.apply(Event::DefaultPushed { head: sha(40) })), ["compare_default"]);
    let conflicts = || Event::DefaultConflicts { files: vec!["a.rs".to_owned()], other: sha(40) };
    assert_eq!(kinds(&story.apply(conflicts())), ["play", "living"]);
    assert!(story.apply(conflicts()).is_empty(), "it is in hand");
    story.complete(SYNC, 41);
    let emission = story.waits_for();
    let outcome = DefaultMerge::UpToDate { head: sha(41), other: sha(40) };
    story.apply(Event::DefaultMerged { emission, outcome });
    story.pre_flight(40);
    story.wave_gate(41, green());
    assert!(matches!(story.feature.phase(), Some(Phase::OpeningPull { .. })));
}

#[test]
fn a_request_for_changes_on_the_feature_pull_request_is_a_task_in_a_wave_of_its_own() {
    let mut story = Story::in_review();
    let effects = story.apply(Event::ReviewRequested(review_of_feature(7)));
    assert_eq!(kinds(&effects), ["merge_default", "living"]);
    assert!(story.apply(Event::ReviewRequested(review_of_feature(7))).is_empty());
    story.merge_default(30);
    let review = story.task(REVIEW);
    assert_eq!((review.wave, review.state.word()), (2, "player_turn"));
    let criterion = &review.plan.acceptance_criteria[0];
    let remarks = review_of_feature(7).items;
    assert_eq!(review.draft.as_ref().unwrap().criteria, [Goal::Remark(remarks[0].clone())]);
    assert_eq!(criterion.check, Check::Test("works".to_owned()));
    story.complete(REVIEW, 50);
    story.wave_gate(51, green());
    story.merge_default(51);
    let emission = story.waits_for();
    assert_eq!(
        kinds(&story.apply(Event::PullOpened { emission, pull: FEATURE_PULL, opened: unmoved() })),
        ["publish_wave_check", "read_ci", "living", "ask_person"]
    );
    assert_eq!(story.feature.state, State::InReview);
}

#[test]
fn a_second_review_while_the_first_is_answered_waits_for_its_own_wave() {
    let mut story = Story::in_review();
    story.apply(Event::ReviewRequested(review_of_feature(7)));
    story.apply(Event::ReviewRequested(review_of_feature(8)));
    story.merge_default(30);
    assert_eq!(story.task(TaskId::Review(2)).wave, 3);
    story.complete(REVIEW, 50);
    story.wave_gate(51, green());
    story.merge_default(51);
    assert_eq!(story.task(TaskId::Review(2)).state.word(), "player_turn");
}

#[test]
fn numbers_of_added_tasks_count_per_feature_and_kind() {
    let mut story = one();
    story.complete(ONE, 20);
    story.wave_gate(30, red());
    story.person(FIX, PersonDid::Skip);
    story.wave_gate(31, red());
    assert_eq!(story.task(TaskId::Fix(2)).wave, 1);
    let ids: Vec<String> = story.feature.tasks.iter().map(|task| task.id.to_string()).collect();
    assert_eq!(ids, ["TASK-001", "TASK-FIX-1", "TASK-FIX-2"]);
}

#[test]
fn a_test_of_the_base_that_the_whole_feature_weakened_is_a_criterion_of_the_repair() {
    let weakened = ReviewItem::must_fix(Problem::Outcome { outcome: TestOutcome::Weakened, test: "adds".to_owned() });
    let mut report = green();
    report.more.push(GateResult {
        gate: Gate::BaseTests,
        evidence: Evidence::Failed(Finding::default()),
        weight: Weight::Required,
        items: vec![weakened.clone()],
    });
    let mut story = one();
    story.complete(ONE, 20);
    story.wave_gate(30, report);
    let fix = story.task(FIX);
    let checks: Vec<&Check> = fix.plan.acceptance_criteria.iter().map(|criterion| &criterion.check).collect();
    assert_eq!(checks, [&Check::Test("adds".to_owned())]);
    assert_eq!(fix.draft.as_ref().unwrap().criteria, [Goal::Restored(weakened)]);
}
