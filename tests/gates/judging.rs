//! The judgement of a task's commit, by test name and in comparison with the results before.

use crate::stage::{Case, File, Stage, finding};
use autobuild::messages;
use domain::{
    evidence::{Absence, Evidence, Excuse, Gate, GateReport, Profile, Unmet, Weight, profile},
    feature::Mode,
    plan::{Check, TaskType},
    problem::Problem,
    question::Topic,
    test_outcome::TestOutcome,
};
use std::time::Duration;

const TESTS: &str = "test: python3 -m unittest discover -s tests\n";
const CALC: &str = "def add(a, b):\n    return a + b\n";
const CALC_TEST: &str = "import unittest\nfrom calc import add\n\n\nclass Calc(unittest.TestCase):\n    def test_adds(self):\n        \
                         self.assertEqual(add(1, 2), 3)\n";
const HALVED: &str = "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a / 2\n";
const HALF_TEST: &str = "import unittest\nfrom calc import half\n\n\nclass Half(unittest.TestCase):\n    def test_halves(self):\n        \
                         self.assertEqual(half(4), 2)\n";

fn sentences(all: &[Unmet]) -> String {
    all.iter().map(messages::unmet).collect::<Vec<_>>().join("; ")
}

fn word(report: &GateReport) -> String {
    match profile(TaskType::Feature, report) {
        Profile::Passed => "passed".to_owned(),
        Profile::Failed(why) => format!("failed: {}", sentences(&why)),
        Profile::Absent(why) => format!("absent: {}", sentences(&why)),
    }
}

fn gate(report: &GateReport, gate: Gate) -> (&'static str, Weight) {
    let result = report.result(gate).unwrap_or_else(|| panic!("no {gate}: {report:?}"));
    (result.evidence.word(), result.weight)
}

#[tokio::test]
async fn an_honest_feature_passes_every_gate() {
    let stage = Stage::new().await;
    let fork = stage.commit(None, &[("calc.py", Some(CALC)), ("tests/test_calc.py", Some(CALC_TEST))]);
    let head = stage.commit(Some(&fork), &[("calc.py", Some(HALVED)), ("tests/test_half.py", Some(HALF_TEST))]);
    let case = Case::new(TaskType::Feature, TESTS)
        .checking(Check::Test("Half.test_halves".to_owned()))
        .checking(Check::Command("python3 -c 'import calc; calc.half(2)'".to_owned()))
        .checking(Check::File("tests/test_half.py".to_owned()))
        .checking(Check::Human);
    let report = stage.verified(&fork, &head, &case).await;
    assert_eq!(word(&report), "passed");
    let names = finding(&report.tests).names.clone().unwrap();
    assert_eq!(names.passed, ["test_calc.Calc.test_adds", "test_half.Half.test_halves"]);
    assert_eq!(gate(&report, Gate::RedBeforeGreen), ("passed", Weight::Required));
    assert_eq!(gate(&report, Gate::Integrity), ("passed", Weight::Required));
    for number in 1..=3 {
        assert_eq!(gate(&report, Gate::Check(number)), ("passed", Weight::Required));
    }
    assert_eq!(report.result(Gate::Check(4)), None);
}

#[tokio::test]
async fn checks_that_do_not_hold_name_their_criterion() {
    let stage = Stage::new().await;
    let fork = stage.commit(None, &[("calc.py", Some(CALC)), ("tests/test_calc.py", Some(CALC_TEST))]);
    let head = stage.commit(Some(&fork), &[("README.md", Some("words"))]);
    let case = Case::new(TaskType::Documentation, TESTS)
        .checking(Check::Test("test_halves".to_owned()))
        .checking(Check::Command("python3 -c 'import calc; calc.half(2)'".to_owned()))
        .checking(Check::File("docs".to_owned()))
        .checking(Check::Command("no-such-program".to_owned()));
    let report = stage.verified(&fork, &head, &case).await;
    for number in 1..=3 {
        assert_eq!(gate(&report, Gate::Check(number)), ("failed", Weight::Required));
        let item = &report.result(Gate::Check(number)).unwrap().items[0];
        assert!(matches!(&item.problem, Problem::CheckFailed { number: of, .. } if *of == number), "{item:?}");
        assert_eq!(item.problem.category(), "requirement");
    }
    assert_eq!(gate(&report, Gate::Check(4)), ("absent", Weight::Required));
}

#[tokio::test]
async fn failures_that_were_there_before_are_excused_and_cover_no_new_ones() {
    let stage = Stage::new().await;
    let red = "import unittest\n\n\nclass Old(unittest.TestCase):\n    def test_red(self):\n        self.fail()\n";
    let fork = stage.commit(
        None,
        &[("calc.py", Some(CALC)), ("tests/test_calc.py", Some(CALC_TEST)), ("tests/test_old.py", Some(red))],
    );
    let fine = stage.commit(Some(&fork), &[("calc.py", Some(HALVED)), ("tests/test_half.py", Some(HALF_TEST))]);
    let case = Case::new(TaskType::Feature, TESTS);
    let report = stage.verified(&fork, &fine, &case).await;
    assert_eq!(word(&report), "passed");
    assert_eq!(report.excused.len(), 1);
    assert_eq!(report.excused[0].why, Excuse::Baseline);
    let broken = stage.commit(
        Some(&fine),
        &[("calc.py", Some("def add(a, b):\n    return 0\n\n\ndef half(a):\n    return a / 2\n"))],
    );
    let report = stage.verified(&fork, &broken, &case).await;
    assert!(
        word(&report).contains("test_calc.Calc.test_adds") && !word(&report).contains("test_red"),
        "{}",
        word(&report)
    );
}

#[tokio::test]
async fn tests_that_were_red_without_names_blame_nobody() {
    let stage = Stage::new().await;
    let fork = stage.commit(None, &[("run.sh", Some("echo broken; exit 1\n"))]);
    let head = stage.commit(Some(&fork), &[("src/x.sh", Some("true\n"))]);
    let case = Case::new(TaskType::Feature, "test: sh run.sh\n");
    let report = stage.verified(&fork, &head, &case).await;
    assert_eq!(report.tests, Evidence::Absent(Absence::Unnamed));
    let mended = stage.commit(Some(&fork), &[("run.sh", Some("printf '1..1\\nok 1 - a\\n'\n"))]);
    assert!(matches!(stage.verified(&fork, &mended, &case).await.tests, Evidence::Passed(_)));
}

#[tokio::test]
async fn new_tests_that_pass_on_the_old_code_prove_nothing() {
    let stage = Stage::new().await;
    let fork = stage.commit(None, &[("calc.py", Some(CALC)), ("tests/test_calc.py", Some(CALC_TEST))]);
    let hollow = HALF_TEST.replace("half", "add").replace("add(4), 2", "add(2, 2), 4");
    let head = stage.commit(Some(&fork), &[("calc.py", Some(HALVED)), ("tests/test_half.py", Some(&hollow))]);
    let mut case = Case::new(TaskType::Feature, TESTS);
    let report = stage.verified(&fork, &head, &case).await;
    assert_eq!(gate(&report, Gate::RedBeforeGreen), ("failed", Weight::Required));
    case.mode = Mode::Standard;
    let report = stage.verified(&fork, &head, &case).await;
    assert_eq!(gate(&report, Gate::RedBeforeGreen), ("failed", Weight::Informational));
    let untested = stage.commit(Some(&fork), &[("calc.py", Some(HALVED))]);
    case.mode = Mode::Tdd;
    let report = stage.verified(&fork, &untested, &case).await;
    assert_eq!(gate(&report, Gate::RedBeforeGreen), ("failed", Weight::Required));
    assert!(word(&report).contains("it brings no new or changed test"), "{}", word(&report));
    case.task.kind = TaskType::Scaffolding;
    let report = stage.verified(&fork, &untested, &case).await;
    assert_eq!(gate(&report, Gate::RedBeforeGreen), ("failed", Weight::Required));
    case.task.kind = TaskType::Refactoring;
    let report = stage.verified(&fork, &untested, &case).await;
    assert_eq!(report.result(Gate::RedBeforeGreen), None);
}

#[tokio::test]
async fn renamed_tests_are_not_new_and_belong_to_a_refactoring() {
    let stage = Stage::new().await;
    let fork = stage.commit(None, &[("calc.py", Some(CALC)), ("tests/test_calc.py", Some(CALC_TEST))]);
    let head = stage.commit(
        Some(&fork),
        &[
            ("calc.py", Some("def add(a, b):\n    return b + a\n")),
            ("tests/test_calc.py", None),
            ("tests/test_sums.py", Some(&CALC_TEST.replace("test_adds", "test_adds_two"))),
        ],
    );
    let report = stage.verified(&fork, &head, &Case::new(TaskType::Feature, TESTS)).await;
    assert_eq!(gate(&report, Gate::RedBeforeGreen), ("failed", Weight::Required));
    let case = Case::new(TaskType::Refactoring, TESTS);
    let report = stage.verified(&fork, &head, &case).await;
    assert_eq!(word(&report), "passed");
}

#[tokio::test]
async fn unchanged_tests_run_with_what_the_base_gave_them() {
    let stage = Stage::new().await;
    let test = "import unittest\nimport helpers\n\n\nclass Calc(unittest.TestCase):\n    def test_adds(self):\n        \
                helpers.check_add(self)\n";
    let helpers = "from calc import add\n\n\ndef check_add(case):\n    case.assertEqual(add(1, 2), 3)\n";
    let fork = stage.commit(
        None,
        &[("calc.py", Some(CALC)), ("tests/test_calc.py", Some(test)), ("tests/helpers.py", Some(helpers))],
    );
    let head = stage.commit(
        Some(&fork),
        &[
            ("calc.py", Some("def add(a, b):\n    return 4\n\n\ndef half(a):\n    return a / 2\n")),
            ("tests/helpers.py", Some(&helpers.replace("3)", "add(1, 2))"))),
            ("tests/test_half.py", Some(HALF_TEST)),
        ],
    );
    let report = stage.verified(&fork, &head, &Case::new(TaskType::Feature, TESTS)).await;
    assert_eq!(gate(&report, Gate::BaseTests), ("failed", Weight::Required));
    assert!(word(&report).contains("test_calc.Calc.test_adds"), "{}", word(&report));
}

#[tokio::test]
async fn what_an_earlier_task_brought_must_hold() {
    let stage = Stage::new().await;
    let base = stage.commit(None, &[("calc.py", Some(CALC)), ("tests/test_calc.py", Some(CALC_TEST))]);
    let fork = stage.commit(Some(&base), &[("calc.py", Some(HALVED)), ("tests/test_half.py", Some(HALF_TEST))]);
    let quarter = "\n\ndef quarter(a):\n    return a / 4\n";
    let quarter_test = HALF_TEST
        .replace("half", "quarter")
        .replace("halves", "quarters")
        .replace("Half", "Quarter")
        .replace("(4)", "(8)");
    let code = format!("{CALC}{quarter}\n\ndef half(a):\n    return a\n");
    let head = stage.commit(
        Some(&fork),
        &[("calc.py", Some(&code)), ("tests/test_half.py", None), ("tests/test_quarter.py", Some(&quarter_test))],
    );
    let case = Case::new(TaskType::Feature, TESTS);
    let report = stage.verified_after(&base, &fork, &head, &case).await;
    assert_eq!(gate(&report, Gate::BaseTests), ("failed", Weight::Required));
    assert!(word(&report).contains("test_half.Half.test_halves"), "{}", word(&report));
}

#[tokio::test]
async fn a_changed_test_is_shown_as_it_was() {
    let stage = Stage::new().await;
    let fork = stage.commit(None, &[("calc.py", Some(CALC)), ("tests/test_calc.py", Some(CALC_TEST))]);
    let head = stage.commit(
        Some(&fork),
        &[
            ("calc.py", Some("def add(a, b):\n    return [a + b]\n")),
            ("tests/test_calc.py", Some(&CALC_TEST.replace(", 3)", ", [3])"))),
        ],
    );
    let report = stage.verified(&fork, &head, &Case::new(TaskType::Feature, TESTS)).await;
    assert_eq!(gate(&report, Gate::BaseTests), ("passed", Weight::Required));
    let [question] = report.questions.as_slice() else {
        panic!("{:?}", report.questions);
    };
    assert_eq!(question.topic, Topic::Outcome(TestOutcome::ChangedOnPurpose));
    assert!(question.about[0].contains("test_adds"), "{question:?}");
    let (old, new) = ("self.assertEqual(add(1, 2), 3)", "self.assertEqual(add(1, 2), [3])");
    assert!(question.material.contains(old) && question.material.contains(new), "{question:?}");
    assert_eq!(gate(&report, Gate::RedBeforeGreen), ("passed", Weight::Required));
}

#[tokio::test]
async fn a_test_that_fails_once_is_flaky_only_where_the_change_does_not_touch_it() {
    let stage = Stage::without_isolation().await;
    let runs = stage.dir.path().join("runs");
    // Fails in the third run: the first two are pre-flight's, without and with the options that name the tests.
    let flaky = format!(
        "import unittest\nimport pathlib\n\n\nclass Flaky(unittest.TestCase):\n    def test_now_and_then(self):\n        \
         runs = pathlib.Path('{}')\n        runs.write_text((runs.read_text() if runs.exists() else '') + 'x')\n        \
         self.assertNotEqual(runs.read_text(), 'xxx')\n",
        runs.display()
    );
    let fork = stage.commit(None, &[("calc.py", Some(CALC)), ("tests/test_flaky.py", Some(&flaky))]);
    let head = stage.commit(Some(&fork), &[("calc.py", Some(HALVED)), ("tests/test_half.py", Some(HALF_TEST))]);
    let case = Case::new(TaskType::Feature, TESTS);
    let report = stage.verified(&fork, &head, &case).await;
    assert_eq!(report.excused.len(), 1, "{report:?}");
    assert_eq!(report.excused[0].why, Excuse::Flaky);
    assert_eq!(word(&report), "passed");
    // From now on, the result with additions is known.
    std::fs::write(&runs, "x").unwrap();
    let touched =
        stage.commit(Some(&head), &[("tests/test_flaky.py", Some(&flaky.replace("runs.exists()", "(runs.exists())")))]);
    let report = stage.verified(&fork, &touched, &case).await;
    assert_eq!(report.excused, []);
    assert!(word(&report).contains("test_now_and_then"), "{}", word(&report));
}

#[tokio::test]
async fn a_test_that_is_still_there_and_does_not_run_has_vanished() {
    let stage = Stage::new().await;
    let two = CALC_TEST.to_owned() + "\n    def test_adds_more(self):\n        self.assertEqual(add(2, 2), 4)\n";
    let fork = stage.commit(None, &[("calc.py", Some(CALC)), ("tests/test_calc.py", Some(&two))]);
    let hiding = two.clone()
        + "\n\ndef load_tests(loader, tests, pattern):\n    suite = unittest.TestSuite()\n    \
                                suite.addTest(Calc('test_adds'))\n    return suite\n";
    let head = stage.commit(
        Some(&fork),
        &[("calc.py", Some("def add(a, b):\n    return 3\n")), ("tests/test_calc.py", Some(&hiding))],
    );
    let report = stage.verified(&fork, &head, &Case::new(TaskType::Feature, TESTS)).await;
    assert_eq!(gate(&report, Gate::BaseTests), ("failed", Weight::Required));
    assert!(word(&report).contains("test_adds_more"), "{}", word(&report));
}

#[tokio::test]
async fn a_results_file_is_believed_only_if_the_run_wrote_it() {
    let stage = Stage::new().await;
    let green = "<testsuite><testcase classname='a' name='adds'/></testsuite>";
    let settings = "test: sh run.sh\ntest_report: out/junit.xml\n";
    let writing = format!("mkdir -p out; echo \"{green}\" > out/junit.xml\n");
    let fork = stage.commit(None, &[("run.sh", Some(&writing))]);
    let case = Case::new(TaskType::Testing, settings);
    let baseline = stage.baseline(&fork, &case.settings).await;
    assert_eq!(finding(&baseline.tests).names.as_ref().unwrap().passed, ["a.adds"]);
    let silent = stage.commit(Some(&fork), &[("run.sh", Some("true\n")), ("out/junit.xml", Some(green))]);
    let report = stage.verified_on(&baseline, &fork, &silent, &case).await;
    assert!(
        matches!(&report.tests, Evidence::Absent(Absence::Unreadable { path, .. }) if path == "out/junit.xml"),
        "{report:?}"
    );
    let linked = stage.commit(
        Some(&fork),
        &[("run.sh", Some("mkdir -p out; ln -s ../kept.xml out/junit.xml\n")), ("kept.xml", Some(green))],
    );
    let report = stage.verified_on(&baseline, &fork, &linked, &case).await;
    assert!(matches!(&report.tests, Evidence::Absent(Absence::Unreadable { .. })), "{report:?}");
    let red = stage.commit(Some(&fork), &[("run.sh", Some("exit 3\n"))]);
    let report = stage.verified_on(&baseline, &fork, &red, &case).await;
    assert!(matches!(&report.tests, Evidence::Failed(_)), "{report:?}");
}

#[tokio::test]
async fn coverage_is_of_changed_lines_and_never_of_a_file_that_was_committed() {
    let stage = Stage::new().await;
    let settings = "test: sh run.sh\ncoverage: {file: lcov.info, threshold: 80}\n";
    let lcov = "SF:src/a.py\\nDA:1,1\\nDA:2,1\\nDA:3,0\\nend_of_record\\n";
    let run = |lcov: &str| format!("printf '{lcov}' > lcov.info; printf '1..1\\nok 1 - a\\n'\n");
    let fork = stage.commit(None, &[("run.sh", Some(&run(lcov))), ("src/a.py", Some("a = 1\n"))]);
    let mut case = Case::new(TaskType::Feature, settings);
    case.mode = Mode::Standard;
    let half = stage.commit(Some(&fork), &[("src/a.py", Some("a = 1\nb = 2\nc = 3\n"))]);
    let report = stage.verified(&fork, &half, &case).await;
    assert_eq!(gate(&report, Gate::Coverage), ("failed", Weight::Required));
    let result = report.result(Gate::Coverage).unwrap();
    assert_eq!(
        messages::output(finding(&result.evidence)),
        "50.0 % of the changed lines are covered (1 of 2), 80 % are asked for"
    );
    assert_eq!(result.items[0].line, Some(3));
    let green = "SF:src/a.py\nDA:2,1\nDA:3,1\nend_of_record\n";
    let by_hand =
        stage.commit(Some(&half), &[("run.sh", Some("printf '1..1\\nok 1 - a\\n'\n")), ("lcov.info", Some(green))]);
    let report = stage.verified(&fork, &by_hand, &case).await;
    assert_eq!(gate(&report, Gate::Coverage), ("absent", Weight::Required));
}

#[tokio::test]
async fn tests_inside_source_files_are_told_apart_by_syntax() {
    let stage = Stage::new().await;
    let code = "pub fn add(a: u8, b: u8) -> u8 { a + b }\n";
    let tests = |more: &str| {
        format!(
            "#[cfg(test)]\nmod tests {{\n    use super::*;\n    #[test]\n    fn adds() {{ assert_eq!(add(1, 2), 3); }}\n{more}}}\n"
        )
    };
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let fork =
        stage.commit(None, &[("Cargo.toml", Some(manifest)), ("src/lib.rs", Some(&(code.to_owned() + &tests(""))))]);
    let half = "pub fn half(a: u8) -> u8 { a / 2 }\n";
    let more = "    #[test]\n    fn halves() { assert_eq!(half(4), 2); }\n";
    let head = stage.commit(Some(&fork), &[("src/lib.rs", Some(&(code.to_owned() + half + &tests(more))))]);
    let case = Case::new(TaskType::Feature, "").checking(Check::Test("tests::halves".to_owned()));
    let report = stage.verified(&fork, &head, &case).await;
    let mut names = finding(&report.tests).names.clone().unwrap();
    names.passed.sort();
    assert_eq!(names.passed, ["tests::adds", "tests::halves"]);
    assert_eq!(gate(&report, Gate::RedBeforeGreen), ("passed", Weight::Required));
    assert_eq!(word(&report), "passed");
}

/// A function that does not end for a number above three, until the change, and the only test of it.
const ENDLESS: &str =
    "import threading\n\n\ndef half(a):\n    if a > 3:\n        threading.Event().wait()\n    return a / 2\n";

fn halves(number: u8) -> String {
    format!(
        "import unittest\nfrom calc import half\n\n\nclass Half(unittest.TestCase):\n    def test_halves(self):\n        \
         self.assertEqual(half({number}), {number} / 2)\n"
    )
}

/// Returns the evidence of red before green for these files after [`ENDLESS`], with a time limit of ten seconds per
/// run.
async fn red_before_green_of(files: &[File<'_>]) -> Evidence {
    let mut stage = Stage::new().await;
    let test = halves(2);
    let fork = stage.commit(None, &[("calc.py", Some(ENDLESS)), ("tests/test_half.py", Some(&test))]);
    let head = stage.commit(Some(&fork), files);
    let case = Case::new(TaskType::Feature, TESTS);
    let baseline = stage.baseline(&fork, &case.settings).await;
    stage.context.deadlines.test = Duration::from_secs(10);
    let report = stage.verified_on(&baseline, &fork, &head, &case).await;
    report.result(Gate::RedBeforeGreen).unwrap().evidence.clone()
}

#[tokio::test]
async fn a_test_that_does_not_end_on_the_base_is_red_there() {
    let files = [("calc.py", Some("def half(a):\n    return a / 2\n")), ("tests/test_half.py", Some(&*halves(4)))];
    let red = red_before_green_of(&files).await;
    assert_eq!(
        messages::output(finding(&red)),
        "1 new or changed tests fail without the change, among them test_half.Half.test_halves"
    );
}

#[tokio::test]
async fn where_something_else_does_not_end_on_the_base_nobody_knows_of_the_test() {
    let hidden = "import threading, calc\nif not hasattr(calc, 'DONE'):\n    threading.Event().wait()\n";
    let test = format!("{hidden}{}", halves(4));
    let files =
        [("calc.py", Some("DONE = 1\n\n\ndef half(a):\n    return a / 2\n")), ("tests/test_half.py", Some(&*test))];
    let red = red_before_green_of(&files).await;
    assert!(matches!(&red, Evidence::Absent(Absence::TimedOut { in_test: None, .. })), "{red:?}");
}
