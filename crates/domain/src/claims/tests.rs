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
        names: Some(TestNames {
            passed: strings(passed),
            failed: strings(failed),
            skipped: Vec::new(),
        }),
        ..Finding::default()
    }
}

fn green() -> GateReport {
    GateReport::new(
        None,
        Evidence::Passed(ran(0, &["parse::tests::empty", "adds two numbers"], &[])),
    )
}

fn changed() -> ChangedPaths {
    ChangedPaths {
        modified: strings(&["src/a.rs", "c.rs"]),
        created: strings(&["src/new.rs", "docs/deep/x.md"]),
        deleted: strings(&["old.rs", "gone.rs"]),
    }
}

fn earlier() -> ChangedPaths {
    ChangedPaths {
        modified: strings(&["src/before.rs"]),
        ..ChangedPaths::default()
    }
}

fn found_in(report: &PlayerReport, gates: &GateReport, criteria: &[Criterion]) -> Vec<String> {
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
        .into_iter()
        .map(|found| format!("{}: {}", found.claim, found.fact))
        .collect()
}

fn found(report: &PlayerReport) -> Vec<String> {
    found_in(report, &green(), &[])
}

#[test]
fn another_spelling_an_ignored_file_and_an_earlier_turn_are_no_lie_and_an_invention_is() {
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
    assert_eq!(
        found(&report),
        [
            "files_modified names `a.rs`: this turn did not change it",
            "files_modified names `/etc/xc.rs`: this turn did not change it",
            "files_created names `c.rs`: it was there before, and this turn changed it",
            "files_created names `gone.rs`: this turn deleted it",
            "files_created names `made/up.rs`: this turn did not create it",
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
    let fact = "this commit has no such test and no such file";
    let invented = ["refuses_nonsense", "src/a.rs::refuses_nonsense", "tests/other_test.sh"];
    let expected = invented.map(|name| format!("tests_written names `{name}`: {fact}"));
    assert_eq!(found(&report), expected);
}

#[test]
fn what_the_gates_say_of_the_tests_contradicts_the_claim() {
    let claims = PlayerReport {
        tests_run: true,
        tests_passed: true,
        ..PlayerReport::default()
    };
    let red = GateReport::new(None, Evidence::Failed(ran(1, &["a"], &["b"])));
    assert_eq!(
        found_in(&claims, &red, &[]),
        ["tests_passed is true: `t` exited with 1, 1 passed, 1 failed: b"]
    );
    let none = GateReport::new(None, Evidence::Passed(ran(0, &[], &[])));
    assert_eq!(
        found_in(&claims, &none, &[]),
        ["tests_passed is true: no test ran: `t` exited with 0, 0 passed, 0 failed"]
    );
    let mut excused = red.clone();
    excused.excused.push(Excused {
        test: "b".to_owned(),
        why: Excuse::Baseline,
    });
    let absent = GateReport::new(None, Evidence::Absent(Absence::NoCommand));
    for gates in [excused, absent, green()] {
        assert_eq!(found_in(&claims, &gates, &[]), Vec::<String>::new());
    }
    assert_eq!(found_in(&PlayerReport::default(), &red, &[]), Vec::<String>::new());
}

fn criteria() -> Vec<Criterion> {
    let criterion = |text: &str, check| Criterion {
        text: text.to_owned(),
        check,
    };
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
    for claim in [
        "It waves",
        "it  waves.",
        "2",
        "Criterion 2: done",
        "AC-2",
        "#2",
        "now it waves at all",
    ] {
        let report = PlayerReport {
            requirements_addressed: strings(&["It parses", claim]),
            ..PlayerReport::default()
        };
        assert_eq!(
            found_in(&report, &gates, &criteria()),
            [
                "requirements_addressed names criterion 2, `It waves`: its check failed: `t` exited with 1, 0 passed, 1 failed: waves"
            ],
            "{claim}"
        );
    }
    for claim in ["It parses", "1", "22", "2nd try", "99999999999999999999999", ""] {
        let report = PlayerReport {
            requirements_addressed: strings(&[claim]),
            ..PlayerReport::default()
        };
        assert_eq!(found_in(&report, &gates, &criteria()), Vec::<String>::new(), "{claim}");
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
        assert_eq!(
            found_in(&ready(none), &green(), &criteria()),
            Vec::<String>::new(),
            "{none:?}"
        );
    }
    assert_eq!(
        found_in(
            &ready(&["It waves", "the docs", "It reads well"]),
            &green(),
            &criteria()
        ),
        ["ready_for_validation is true: requirements_remaining of the same report names `It waves` and 1 more"]
    );
    let honest = PlayerReport {
        ready_for_validation: false,
        ..ready(&["It waves"])
    };
    assert_eq!(found_in(&honest, &green(), &criteria()), Vec::<String>::new());
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

#[test]
fn files_that_were_left_out_contradict_that_the_work_is_complete() {
    let left = LeftOut {
        rule: "data/.gitignore:3".to_owned(),
        pattern: "*.json".to_owned(),
        files: vec!["data/a.json".to_owned(), "data/b.json".to_owned()],
        count: 9,
    };
    let fact = "`data/a.json`, `data/b.json` and 7 more were left out of the commit because of data/.gitignore:3: \
                `*.json`; a file that files_created or the plan names is taken all the same";
    assert_eq!(left_out(std::slice::from_ref(&left))[0].fact, fact);
    let items: Vec<Issue> = left_out_items(&[left]).collect();
    assert_eq!(
        (items[0].severity, items[0].description.as_str()),
        (Severity::ShouldFix, fact)
    );
}
