use super::*;
use crate::evidence::{Absence, Counts, Evidence, Excuse, Excused, Finding, GateResult, TestNames, Weight};
use proptest::prelude::*;

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn ran(exit_code: i32, passed: &[&str], failed: &[&str]) -> Finding {
    Finding {
        command: "t".to_owned(),
        exit_code: Some(exit_code),
        counts: Counts::Known {
            passed: u32::try_from(passed.len()).unwrap(),
            failed: u32::try_from(failed.len()).unwrap(),
            skipped: 0,
        },
        failing: strings(failed),
        output: String::new(),
        names: Some(TestNames { passed: strings(passed), failed: strings(failed), skipped: Vec::new() }),
        ..Finding::default()
    }
}

fn green() -> GateReport {
    GateReport::new(None, Evidence::Passed(ran(0, &["parse::tests::empty", "adds two numbers"], &[])))
}

fn changed() -> ChangedPaths {
    ChangedPaths {
        modified: strings(&["src/a.rs", "c.rs"]),
        created: strings(&["src/new.rs", "docs/deep/x.md"]),
        deleted: strings(&["old.rs", "gone.rs"]),
    }
}

fn earlier() -> ChangedPaths {
    ChangedPaths { modified: strings(&["src/before.rs"]), ..ChangedPaths::default() }
}

fn found_in(report: &PlayerReport, gates: &GateReport, criteria: &[Criterion]) -> Vec<Discrepancy> {
    let files = ["src/a.rs", "c.rs", "src/new.rs", "tests/new_test.sh"];
    let known = CommitFacts {
        turn: &changed(),
        task: &earlier(),
        has_file: &|path| files.contains(&path.to_lowercase().as_str()),
        is_ignored: &|path| path.starts_with("target/"),
        is_written: &|words| "fn handles_empty() {}".contains(words),
        gates,
        criteria,
    };
    discrepancies(report, &known)
}

fn find_on_green(report: &PlayerReport) -> Vec<Discrepancy> {
    found_in(report, &green(), &[])
}

#[test]
fn only_an_invented_file_is_a_false_claim() {
    let report = PlayerReport {
        files_modified: strings(&[
            "./src//a.rs",
            "src\\a.rs",
            "/tmp/w/src/a.rs",
            "SRC/A.rs",
            "src/a.rs:12",
            "docs/",
            "src/new.rs",
            "old.rs",
            "src/before.rs",
            "target/debug/x",
            "a.rs",
            "/etc/xc.rs",
        ]),
        files_created: strings(&["src/new.rs", "target/out", "c.rs", "gone.rs", "made/up.rs"]),
        ..PlayerReport::default()
    };
    let not_created = |path: &str, instead| Discrepancy::NotCreated { path: path.to_owned(), instead };
    assert_eq!(
        find_on_green(&report),
        [
            Discrepancy::NotModified("a.rs".to_owned()),
            Discrepancy::NotModified("/etc/xc.rs".to_owned()),
            not_created("c.rs", InsteadOfCreating::Changed),
            not_created("gone.rs", InsteadOfCreating::Deleted),
            not_created("made/up.rs", InsteadOfCreating::Nothing),
        ]
    );
}

#[test]
fn tests_are_known_by_name_by_file_or_by_the_changed_lines() {
    let report = PlayerReport {
        tests_written: strings(&[
            "empty",
            "tests::empty",
            "parse::tests::empty()",
            "adds two numbers",
            "math > adds two numbers",
            "tests/new_test.sh",
            "handles_empty",
            "src/a.rs::handles_empty",
            "",
            "refuses_nonsense",
            "src/a.rs::refuses_nonsense",
            "tests/other_test.sh",
        ]),
        ..PlayerReport::default()
    };
    let invented = ["refuses_nonsense", "src/a.rs::refuses_nonsense", "tests/other_test.sh"];
    let expected = invented.map(|name| Discrepancy::NoSuchTest(name.to_owned()));
    assert_eq!(find_on_green(&report), expected);
}

#[test]
fn what_the_gates_say_of_the_tests_contradicts_the_claim() {
    let claims = PlayerReport { tests_run: true, tests_passed: true, ..PlayerReport::default() };
    let red = GateReport::new(None, Evidence::Failed(ran(1, &["a"], &["b"])));
    let told = |finding: Finding| Discrepancy::Tests { claim: TestClaim::Passed, finding: finding.without_output() };
    assert_eq!(found_in(&claims, &red, &[]), [told(ran(1, &["a"], &["b"]))]);
    let none = GateReport::new(None, Evidence::Passed(ran(0, &[], &[])));
    assert_eq!(found_in(&claims, &none, &[]), [told(ran(0, &[], &[]))]);
    let mut excused = red.clone();
    excused.excused.push(Excused { test: "b".to_owned(), why: Excuse::Baseline });
    let absent = GateReport::new(None, Evidence::Absent(Absence::NoCommand));
    for gates in [excused, absent, green()] {
        assert_eq!(found_in(&claims, &gates, &[]), []);
    }
    assert_eq!(found_in(&PlayerReport::default(), &red, &[]), []);
}

fn criteria() -> Vec<Criterion> {
    let criterion = |text: &str, check| Criterion { text: text.to_owned(), check };
    vec![
        criterion("It parses.", Check::File("a".to_owned())),
        criterion("It waves", Check::Test("waves".to_owned())),
        criterion("It reads well", Check::Human),
    ]
}

#[test]
fn a_criterion_whose_check_failed_was_not_addressed() {
    let mut gates = green();
    gates.more.push(GateResult {
        gate: Gate::Check(2),
        evidence: Evidence::Failed(ran(1, &[], &["waves"])),
        weight: Weight::Required,
        items: Vec::new(),
    });
    for claim in ["It waves", "it  waves.", "2", "Criterion 2: done", "AC-2", "#2", "now it waves at all"] {
        let report = PlayerReport { requirements_addressed: strings(&["It parses", claim]), ..PlayerReport::default() };
        assert_eq!(
            found_in(&report, &gates, &criteria()),
            [Discrepancy::CheckFailed {
                number: 2,
                text: "It waves".to_owned(),
                finding: ran(1, &[], &["waves"]).without_output(),
            }],
            "{claim}"
        );
    }
    for claim in ["It parses", "1", "22", "2nd try", "99999999999999999999999", ""] {
        let report = PlayerReport { requirements_addressed: strings(&[claim]), ..PlayerReport::default() };
        assert_eq!(found_in(&report, &gates, &criteria()), [], "{claim}");
    }
}

#[test]
fn what_remains_contradicts_readiness_unless_only_a_person_can_judge_it() {
    let ready = |remaining: &[&str]| PlayerReport {
        ready_for_validation: true,
        requirements_remaining: strings(remaining),
        ..PlayerReport::default()
    };
    for none in [&[][..], &["none"], &["-", ""], &["It reads well"], &["3"]] {
        assert_eq!(found_in(&ready(none), &green(), &criteria()), [], "{none:?}");
    }
    assert_eq!(
        found_in(&ready(&["It waves", "the docs", "It reads well"]), &green(), &criteria()),
        [Discrepancy::NotReady { first: "It waves".to_owned(), more: 1 }]
    );
    let honest = PlayerReport { ready_for_validation: false, ..ready(&["It waves"]) };
    assert_eq!(found_in(&honest, &green(), &criteria()), []);
}

proptest! {
    #[test]
    fn no_claim_makes_the_comparison_fail(claims in proptest::collection::vec("[a2#/.\\\\é :>\\[]{0,8}", 0..60)) {
        let report = PlayerReport {
            files_modified: claims.clone(),
            files_created: claims.clone(),
            tests_written: claims.clone(),
            requirements_addressed: claims.clone(),
            requirements_remaining: claims,
            tests_passed: true,
            ready_for_validation: true,
            ..PlayerReport::default()
        };
        prop_assert!(found_in(&report, &green(), &criteria()).len() <= MOST_DISCREPANCIES);
    }
}
