use super::*;
use crate::{
    contract::{CheckoutState, FileLines},
    decision::DecisionKind,
    evidence::{Counts, GateReport, GateResult, TestNames, Weight},
    plan::TaskType,
    question::QuoteFacts,
};
use proptest::prelude::*;

fn ran(command: &str, output: &str, names: Option<TestNames>) -> Finding {
    Finding {
        command: command.to_owned(),
        exit_code: Some(0),
        counts: Counts::Unknown,
        failing: names.as_ref().map(|names| names.failed.clone()).unwrap_or_default(),
        output: output.to_owned(),
        names,
        ..Finding::default()
    }
}

fn names(passed: &[&str], failed: &[&str], skipped: &[&str]) -> TestNames {
    let own = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
    TestNames { passed: own(passed), failed: own(failed), skipped: own(skipped) }
}

fn with_names() -> GateReport {
    let passed = ["tests::parses_empty", "readme", "adds two numbers", "tests/test_a.py::test_b"];
    let known = names(&passed, &["tests::parses_full"], &["tests::parses_later"]);
    GateReport::new(None, Evidence::Passed(ran("cargo test", "", Some(known))))
}

fn with(mut gates: GateReport, gate: Gate, evidence: Evidence) -> GateReport {
    gates.more.push(GateResult { gate, evidence, weight: Weight::Informational, items: Vec::new() });
    gates
}

fn wired() -> Criterion {
    Criterion { text: "t".to_owned(), check: Check::Test("auth::wired".to_owned()) }
}

fn lines_of(path: &str) -> Option<FileLines> {
    match path {
        "src/lib.rs" => Some(FileLines::Counted(40)),
        "Makefile" | "gradlew" | "docs/two words.md" | "run" => Some(FileLines::Counted(3)),
        _ => None,
    }
}

fn is_on_base(path: &str) -> bool {
    path != "run"
}

fn facts<'a>(criteria: &'a [Criterion], gates: &'a GateReport) -> TurnFacts<'a> {
    TurnFacts {
        kind: TaskType::Feature,
        criteria,
        gates,
        lines_of: &lines_of,
        is_on_base: &is_on_base,
        quotes: QuoteFacts { words: &[], in_diff: &|_, _| false },
        checkout: &CheckoutState::Unchanged,
    }
}

fn check(gates: &GateReport, table: &[(&str, bool)]) {
    let criteria = [wired()];
    for (evidence, expected) in table {
        let real = is_real(evidence, &facts(&criteria, gates));
        assert_eq!(real, *expected, "{evidence:?}");
    }
}

#[test]
fn a_file_is_real_in_its_own_spelling_and_within_its_lines() {
    check(
        &with_names(),
        &[
            ("see src/lib.rs", true),
            ("(`./src/lib.rs:12`).", true),
            ("src/lib.rs:12:3 and more", true),
            ("src/lib.rs:30-40", true),
            ("src/lib.rs#L12-L40 does it", true),
            ("Makefile.", true),
            ("`docs/two words.md` says it", true),
            ("`gradlew` says so", true),
            ("gradlew, line 2", true),
            ("gradlew:3", true),
            ("src/lib.rs:41", false),
            ("src/lib.rs:0", false),
            ("src/lib.rs#L12-L99", false),
            ("SRC/lib.rs", false),
            ("src/Lib.rs", false),
            ("makefile", false),
            ("gradlew:4", false),
            ("it works, I promise", false),
            ("src", false),
            ("src/", false),
            ("src/other.rs", false),
            ("the files in . and ./ and ..", false),
            ("everything", false),
            ("ok", false),
            ("", false),
        ],
    );
}

#[test]
fn a_plain_word_is_a_file_only_if_the_file_is_older_than_the_change() {
    check(
        &with_names(),
        &[
            ("all tests run", false),
            ("run: it works", false),
            ("Does it run?", false),
            ("`run` does it", true),
            ("'run' does it", true),
            ("./run does it", true),
            ("run:2 does it", true),
            ("run:4 does it", false),
        ],
    );
}

#[test]
fn a_test_is_real_if_it_passed_on_this_commit() {
    check(
        &with_names(),
        &[
            ("`tests::parses_empty` passes", true),
            ("parses_empty", true),
            ("test `readme` passes", true),
            ("it adds two numbers, as the test says", true),
            ("tests/test_a.py::test_b", true),
            ("test_b()", true),
            ("tests::parses_full passes", false),
            ("tests::parses_later passes", false),
            ("empty", false),
            ("the readme is fine", false),
            ("tests::parses_anything", false),
        ],
    );
    let unnamed = GateReport::new(None, Evidence::Passed(ran("cargo test", "test tests::parses_empty ... ok", None)));
    check(&unnamed, &[("tests::parses_empty", true), ("tests::parses_full", false)]);
}

#[test]
fn a_command_is_real_if_it_ran_here() {
    let probed = with(with_names(), Gate::Probe(1), Evidence::Passed(ran("true", "", None)));
    check(
        &probed,
        &[
            ("cargo test is green", true),
            ("`true` says so", true),
            ("cargo testing", false),
            ("this is true", false),
            ("cargo nextest", false),
        ],
    );
}

#[test]
fn a_criterion_whose_check_passed_needs_no_other_evidence() {
    let criteria = [wired()];
    let unproven = |gates: &GateReport, evidence: &[&str]| doubt(&approving(evidence), &facts(&criteria, gates), 1);
    let passed = with(with_names(), Gate::Check(1), Evidence::Passed(ran("", "", None)));
    for evidence in ["", "it works, I promise", "src/other.rs", "auth::wired passes"] {
        assert_eq!(unproven(&passed, &[evidence]), None, "{evidence}");
        let reason = if evidence.is_empty() { Doubt::WithoutEvidence } else { Doubt::NothingReal };
        assert_eq!(unproven(&with_names(), &[evidence]), Some(reason), "{evidence}");
    }
    assert_eq!(unproven(&passed, &[]), Some(Doubt::NotLookedAt));
    assert_eq!(unproven(&with_names(), &["src/lib.rs"]), None);
}

#[test]
fn what_the_work_lacks_is_not_asked_of_the_coach() {
    let criteria = [wired()];
    let failed = with(with_names(), Gate::Check(1), Evidence::Failed(ran("", "not found", None)));
    let decision = approving(&["src/lib.rs"]);
    let open = open_criteria(&decision, &facts(&criteria, &failed));
    let reason = Doubt::CheckFailed(ran("", "not found", None).without_output());
    let one = |doubt| {
        let text = "t".to_owned();
        vec![OpenCriterion { number: 1, text, doubt }]
    };
    assert_eq!(open, one(reason));
    assert!(!open[0].doubt.is_of_review());
    let not_reached = with(with_names(), Gate::Check(1), Evidence::Absent(Absence::NotReached));
    for decision in [approving(&["src/lib.rs"]), approving(&[])] {
        let open = open_criteria(&decision, &facts(&criteria, &not_reached));
        assert_eq!(open, one(Doubt::NotReached));
        assert_eq!(open[0].item(&not_reached), None);
        assert!(!open[0].doubt.is_of_review());
    }
    let mut denied = approving(&["no"]);
    denied.criteria[0].met = CriterionMet::NotMet;
    let words = "no".to_owned();
    let open = open_criteria(&denied, &facts(&criteria, &with_names()));
    assert_eq!(open, one(Doubt::NotMet { words }));
    assert!(!open[0].doubt.is_of_review());
}

fn approving(evidence: &[&str]) -> CoachDecision {
    let finding =
        |evidence: &&str| CriterionFinding { criterion: 1, met: CriterionMet::Met, evidence: (*evidence).to_owned() };
    CoachDecision {
        decision: DecisionKind::Approve,
        summary: String::new(),
        criteria: evidence.iter().map(finding).collect(),
        tests: None,
        issues: Vec::new(),
        feedback: String::new(),
        answers: Vec::new(),
        commands: Vec::new(),
        ignored: Vec::new(),
    }
}

#[test]
fn nonsense_numbers_are_named_once_and_not_all() {
    let mut decision = approving(&["x"]);
    for number in [7, 7, 0, usize::MAX] {
        decision.criteria[0].criterion = number;
        let more = decision.criteria[0].clone();
        decision.criteria.push(more);
    }
    decision.criteria.remove(0);
    assert_eq!(wrong_numbers(&decision, &[wired()]), [0, 7, usize::MAX]);
}

#[test]
fn lines_are_asked_for_only_where_evidence_names_them() {
    let decision = approving(&["src/lib.rs:4 and `a b.md#L3`", "src/main.rs", "a.py::test_x"]);
    let cited: Vec<String> = cited_with_lines(&decision).into_iter().collect();
    assert_eq!(cited, ["a b.md", "b.md", "src/lib.rs"]);
}

proptest! {
    #[test]
    fn no_evidence_makes_the_reader_fail(evidence in "[a./:#L19`'\\- é_()]{0,60}") {
        let criteria = [wired()];
        let gates = with_names();
        let _ = is_real(&evidence, &facts(&criteria, &gates));
        let _ = cited_with_lines(&approving(&[&evidence]));
    }
}
