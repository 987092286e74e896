//! Sample evidence of every Gate; all foreign text in it comes from one function.

use super::{
    snapshot, world,
    world::{Words, decent},
};
use crate::{messages, messages::MAX_CHARS};
use domain::{
    blocked::BlockReason,
    ci::{CheckState, OpenCheck},
    cost::{Cost, Spending},
    evidence::{
        Absence, Additions, Counts, Evidence, Excuse, Excused, Finding, Gate, GateReport, GateResult, TestNames, Weight,
    },
    feature::{PreFlight, TestsBefore},
    ids::{ReviewId, TaskId},
    plan::{Check, Criterion},
    problem::{ReviewItem, Severity},
    task,
    task::{Origin, Task, Turn},
};

/// Returns excused failures, one for each of the three reasons.
pub(super) fn excused(say: Words<'_>) -> Vec<Excused> {
    let excused = |test: &str, why| Excused { test: say(test), why };
    vec![
        excused("legacy::old_date", Excuse::Baseline),
        excused("net::retries", Excuse::Flaky),
        excused("auth::clock", Excuse::Waived { by: world::user("ida") }),
    ]
}

fn ran(say: Words<'_>, command: &str, code: i32, counts: Counts) -> Finding {
    Finding {
        command: say(command),
        exit_code: Some(code),
        counts,
        failing: Vec::new(),
        output: say("what it printed"),
        ..Finding::default()
    }
}

/// Returns the finding of a Gate without a command, which is one sentence.
fn says(say: Words<'_>, sentence: &str) -> Finding {
    Finding { command: String::new(), exit_code: None, output: say(sentence), ..ran(say, "", 0, Counts::Unknown) }
}

fn result(gate: Gate, weight: Weight, evidence: Evidence) -> GateResult {
    GateResult { gate, evidence, weight, items: Vec::new() }
}

fn counts(passed: u32, failed: u32, skipped: u32) -> Counts {
    Counts::Known { passed, failed, skipped }
}

/// Returns a passed result of every Gate.
pub(super) fn all_passed(say: Words<'_>) -> Vec<GateResult> {
    use Weight::{Informational, Required};
    vec![
        result(Gate::BaseTests, Required, Evidence::Passed(ran(say, "cargo test", 0, counts(9, 0, 1)))),
        result(
            Gate::RedBeforeGreen,
            Required,
            Evidence::Passed(says(say, "2 of 3 new tests fail on the code of the base commit")),
        ),
        result(
            Gate::Coverage,
            Required,
            Evidence::Passed(says(say, "91.7 % of 24 changed lines are covered; 80 % are asked for")),
        ),
        result(Gate::Integrity, Required, Evidence::Passed(says(say, "nothing was found"))),
        result(Gate::Check(1), Required, Evidence::Passed(says(say, "the test auth::refresh_once passed"))),
        result(Gate::Check(2), Required, Evidence::Passed(ran(say, "cargo run -- --help", 0, Counts::Unknown))),
        result(Gate::Probe(1), Informational, Evidence::Passed(ran(say, "cargo tree", 0, Counts::Unknown))),
        result(
            Gate::Ci,
            Informational,
            Evidence::Absent(Absence::Unfinished {
                checks: vec![OpenCheck { name: say("build"), state: CheckState::NoAnswer(say("cancelled")) }],
            }),
        ),
    ]
}

/// Returns a failed or absent result of every Gate.
#[allow(clippy::too_many_lines, reason = "one of each Gate")]
pub(super) fn broken(say: Words<'_>) -> Vec<GateResult> {
    use Weight::{Informational, Required};
    let names = TestNames {
        passed: vec![say("a::one")],
        failed: vec![say("a::two"), say("legacy::old_date")],
        skipped: vec![say("a::three")],
    };
    let base_tests = Finding { names: Some(names), ..ran(say, "cargo test", 101, counts(7, 2, 1)) };
    let skipped = ReviewItem {
        file: Some(say("src/auth.rs")),
        line: Some(40),
        ..ReviewItem::must_fix_remark("integrity", &say("test skipped: `#[ignore]` on `auth::expired`"))
    };
    let differs = ReviewItem { severity: Severity::ShouldFix, file: Some(say("src/tokens.rs")), ..skipped.clone() };
    vec![
        result(Gate::BaseTests, Required, Evidence::Failed(base_tests)),
        result(Gate::RedBeforeGreen, Informational, Evidence::Absent(Absence::NotReached)),
        result(
            Gate::Coverage,
            Required,
            Evidence::Failed(says(say, "61.5 % of 26 changed lines are covered; 80 % are asked for")),
        ),
        GateResult {
            items: vec![skipped, differs],
            ..result(
                Gate::Integrity,
                Required,
                Evidence::Failed(says(say, "1 finding sends the work back, 1 is shown")),
            )
        },
        result(Gate::Check(2), Required, Evidence::Failed(ran(say, "cargo run -- --help", 2, Counts::Unknown))),
        result(
            Gate::Smoke,
            Required,
            Evidence::Absent(Absence::TimedOut {
                command: say("cargo run -- --help"),
                seconds: 600,
                in_test: None,
                failed: vec![],
            }),
        ),
        result(Gate::Ci, Required, Evidence::Failed(says(say, "`lint` ended with failure"))),
    ]
}

fn big_task(criteria: usize) -> (domain::feature::Feature, Task, Turn) {
    let mut feature = world::busy(&decent);
    let task = &mut feature.tasks[1];
    task.plan.acceptance_criteria = (0..criteria)
        .map(|number| Criterion {
            text: format!("Criterion {number} holds"),
            check: Check::Test(format!("a::test_{number}")),
        })
        .collect();
    let mut report = world::gates(&decent, 101);
    report.more = (1..=criteria)
        .map(|number| result(Gate::Check(number), Weight::Required, Evidence::Passed(says(&decent, "passed"))))
        .collect();
    task.turns[0].gates = Some(report);
    let task = task.clone();
    let turn = task.turns[0].clone();
    (feature, task, turn)
}

fn review_of(feature: &domain::feature::Feature, task: &Task, turn: &Turn) -> String {
    let shown = messages::ReviewedDiff { in_diff: &|_, _| false, files: &[] };
    messages::review(feature, task, turn, None, &world::links(), shown).unwrap().body
}

#[test]
fn huge_tables_are_folded_with_counts_and_fit() {
    let (feature, task, turn) = big_task(60);
    let said = review_of(&feature, &task, &turn);
    assert!(said.contains("<summary>61 Gates: 60 passed, 1 failed; 3 failing tests excused</summary>"), "{said}");
    assert!(said.contains("<summary>60 criteria: 1 not met, 59 not looked at</summary>"), "{said}");
    let (feature, task, turn) = big_task(4_000);
    let said = review_of(&feature, &task, &turn);
    assert!(said.chars().count() <= MAX_CHARS);
    assert_eq!(said.matches("<details>").count(), said.matches("</details>").count());
    assert!(said.contains("more |"), "rows are counted");
}

#[test]
fn what_failed_and_is_excused_is_no_plain_failure() {
    let mut report = world::gates(&decent, 101);
    let Evidence::Failed(finding) = &mut report.tests else {
        panic!("the tests failed");
    };
    finding.names = Some(TestNames { failed: vec!["legacy::old_date".to_owned()], ..TestNames::default() });
    let (feature, task, turn) = big_task(1);
    let turn = Turn { gates: Some(report), ..turn };
    let said = review_of(&feature, &task, &turn);
    assert!(said.contains("| failed, but only what is excused below |"), "{said}");
    assert!(!said.contains("Failing in tests:"), "{said}");
    assert!(said.contains("- waived by `ida`: `auth::clock`"), "{said}");
}

#[test]
fn the_review_of_a_turn_says_what_changed_since_the_one_before() {
    let mut feature = world::busy(&decent);
    let task = &mut feature.tasks[1];
    let (first, second) = (0, 1);
    task.turns[second].gates = Some(world::gates(&decent, 0));
    let mut items = world::items(&decent);
    items.remove(0);
    items.push(ReviewItem::must_fix_remark("test", "The new test proves nothing"));
    if let Some(verdict) = &mut task.turns[second].verdict {
        verdict.items = items;
    }
    let task = task.clone();
    let files = ["src/auth.rs".to_owned(), "tests/auth.rs".to_owned()];
    let shown = messages::ReviewedDiff { in_diff: &|_, _| false, files: &files };
    let said = |turn: usize| {
        let review = messages::review(&feature, &task, &task.turns[turn], None, &world::links(), shown).unwrap();
        review.body
    };
    assert!(!said(first).contains("Since the last turn"));
    let said = said(second);
    let (_, since) = said.split_once("<summary>Since the last turn</summary>").unwrap();
    snapshot!("review_since", since.trim());
}

#[test]
fn annotations_stand_on_lines_that_exist() {
    let feature = world::busy(&decent);
    let task = &feature.tasks[1];
    let turn = &task.turns[0];
    assert_eq!(messages::annotated_files(task, turn), ["src/auth.rs"]);
    let found = messages::annotations(task, turn, &|path| (path == "src/auth.rs").then_some(100));
    let placed: Vec<(u32, Severity, &str)> =
        found.iter().map(|found| (found.line, found.severity, found.title.as_str())).collect();
    // The second item is about line 900, which does not exist; the last one is about no line.
    assert_eq!(
        placed,
        [(12, Severity::MustFix, "must_fix: correctness"), (12, Severity::ShouldFix, "should_fix: design"),]
    );
    assert_eq!(messages::annotations(task, turn, &|_| None), []);
}

#[test]
fn annotations_stay_under_the_limits_whatever_was_found() {
    let mut feature = world::busy(&decent);
    let task = &mut feature.tasks[1];
    let issue = |line: u32| {
        let words = "@ada fixes #1 \u{202e}".repeat(if line == 1 { 20_000 } else { 200 });
        ReviewItem {
            suggestion: Some(words.clone()),
            line: Some(line),
            file: Some("./src/auth.rs".to_owned()),
            ..ReviewItem::must_fix_remark(&words, &words)
        }
    };
    if let Some(verdict) = &mut task.turns[0].verdict {
        verdict.items = (1..=5_000).map(issue).collect();
    }
    let found = messages::annotations(task, &task.turns[0], &|_| Some(u32::MAX));
    assert_eq!(found.len(), 200);
    for one in &found {
        assert_eq!(one.path, "src/auth.rs");
        assert!(one.title.chars().count() <= 255 && one.message.len() <= 64_000);
        assert!(!one.message.contains(['\u{202e}']) && !one.message.contains("@ada"));
    }
}

#[test]
fn a_blocked_report_lists_an_approval_only_where_there_is_something_to_approve() {
    let feature = world::busy(&decent);
    let pushed = Task {
        state: task::State::Blocked { reason: BlockReason::OutOfTurns { turns: 1 } },
        ..feature.tasks[1].clone()
    };
    let nowhere = Task { pull: None, ..pushed.clone() };
    let said = |task: &Task| messages::blocked_report(&feature, task, Cost::default(), &world::links()).unwrap();
    assert!(said(&pushed).contains("`/autobuild approve`") && said(&pushed).contains("approve it"));
    assert!(!said(&nowhere).contains("approve"), "{}", said(&nowhere));
    assert!(said(&pushed).contains("Its one turn ended with feedback"));
}

#[test]
fn a_report_of_nothing_but_tests_needs_no_more_rows() {
    let report = GateReport::new(None, Evidence::Absent(Absence::NoCommand));
    let (feature, task, turn) = big_task(1);
    let turn = Turn { gates: Some(report), ..turn };
    let said = review_of(&feature, &task, &turn);
    assert!(
        said.contains("| tests | required | without result | – | – | no command is set and none could be detected |"),
        "{said}"
    );
}

#[test]
fn tasks_that_autobuild_added_say_why() {
    let mut feature = world::busy(&decent);
    let origins = [
        Origin::Fix { broke: Some(world::sha('e')) },
        Origin::Sync { other: world::sha('f') },
        Origin::Review { id: ReviewId(5), by: world::user("ida") },
    ];
    let ids = [TaskId::Fix(1), TaskId::Sync(1), TaskId::Review(1)];
    for (id, origin) in ids.into_iter().zip(origins) {
        let task = feature.tasks[0].clone();
        feature.tasks.push(Task { id, origin, ..task });
    }
    feature.tasks.push(Task { id: TaskId::Fix(2), origin: Origin::Fix { broke: None }, ..feature.tasks[0].clone() });
    let said = messages::living(&feature, &Spending::default(), &world::links());
    let (_, rest) = said.split_once("### Tasks that AutoBuild added").unwrap();
    let (section, _) = rest.split_once("### ").unwrap();
    snapshot!("living_added", section.trim());
    let pull = messages::feature_pull(&feature, &Spending::default(), &world::links(), &[]).body;
    assert!(pull.contains(section.trim()), "{pull}");
}

#[test]
fn the_living_comment_says_what_was_so_before() {
    let said = |before: TestsBefore| {
        let mut feature = world::busy(&decent);
        feature.preflight = Some(PreFlight {
            commit: world::sha('c'),
            setup: Some(Evidence::Passed(ran(&decent, "npm ci", 0, Counts::Unknown))),
            before,
            notes: vec!["Submodules are not supported: `vendor/lib` is left out.".to_owned()],
            doubts: vec![],
            additions: Additions::None,
        });
        let said = messages::living(&feature, &Spending::default(), &world::links());
        let (_, rest) = said.split_once("### Before the work began").unwrap();
        rest.split_once("### ").unwrap().0.trim().to_owned()
    };
    let tests = || Evidence::Failed(ran(&decent, "npm test", 1, counts(7, 2, 0)));
    let all = [
        said(TestsBefore::NoTests { tests: Evidence::Absent(Absence::NoCommand) }),
        said(TestsBefore::Green { tests: tests() }),
        said(TestsBefore::Red { tests: tests(), failing: vec!["a | b".to_owned()], more: 1, output: String::new() }),
    ];
    snapshot!("living_before", all.join("\n\n----\n\n"));
}
