//! A turn sets up once. Each of its runs starts from that state, and has the same paths.

use crate::stage::{Case, Stage, finding};
use autobuild::{
    gates::{WaveSubject, verify_wave},
    messages,
};
use domain::{
    evidence::{Baseline, Evidence, Fact, Gate, GateReport},
    ids::Sha,
    isolation::Level,
    plan::{Check, TaskType},
};
use std::{fs, os::unix::fs::PermissionsExt};
use tokio_util::sync::CancellationToken;

/// Python tests of the code in `FOLDER`.
const RUN: &str = "import sys, os\nsys.path.insert(0, 'FOLDER')\n\nimport unittest\nunittest.main(module=None, argv=['x', 'discover', '-s', 'tests', '-v'])\n";

fn lines(stage: &Stage, file: &str) -> usize {
    fs::read_to_string(stage.dir.path().join(file)).unwrap_or_default().lines().count()
}

/// Creates a repository whose set-up and tests record their runs. Set-up copies the code if the copy is tested.
fn copying(stage: &Stage, folder: &str) -> Sha {
    let noting = |what: &str| format!("echo {what} >> {}\n", stage.dir.path().join(what).display());
    let copying = if folder == "built" { "rm -rf built; cp -r src built\n" } else { "" };
    let setup = format!("{}{copying}", noting("set-ups"));
    let run = format!("{}exec python3 run.py\n", noting("runs"));
    stage.commit(
        None,
        &[
            ("setup.sh", Some(&setup)),
            ("run.sh", Some(&run)),
            ("run.py", Some(&RUN.replace("FOLDER", folder))),
            ("src/calc.py", Some("def add(a, b):\n    return a + b\n")),
            ("tests/test_calc.py", Some(&tests("add(2, 3), 5", ""))),
        ],
    )
}

fn tests(first: &str, more: &str) -> String {
    format!(
        "import unittest\nimport calc\n\n\nclass CalcTest(unittest.TestCase):\n    def test_add(self):\n        \
         self.assertEqual(calc.{first})\n{more}"
    )
}

const SETTINGS: &str = "setup: sh setup.sh\ntest: sh run.sh\n";
const MORE: &str = "\n    def test_sub(self):\n        self.assertEqual(calc.sub(7, 3), 4)\n";
const CODE: &str = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n";

/// Judges a feature; also returns how often set-up and tests ran.
async fn judged(stage: &Stage, fork: &Sha, head: &Sha) -> (GateReport, usize, usize) {
    let case = Case::new(TaskType::Feature, SETTINGS).checking(Check::Command("grep -q sub src/calc.py".to_owned()));
    let baseline = stage.baseline(fork, &case.settings).await;
    let before = (lines(stage, "set-ups"), lines(stage, "runs"));
    let report = stage.verified_on(&baseline, fork, head, &case).await;
    (report, lines(stage, "set-ups") - before.0, lines(stage, "runs") - before.1)
}

#[tokio::test]
async fn a_turn_sets_up_once() {
    let stage = Stage::without_isolation().await;
    let fork = copying(&stage, "src");
    let tests = tests("add(2, 3), 5", MORE);
    let head = stage.commit(Some(&fork), &[("src/calc.py", Some(CODE)), ("tests/test_calc.py", Some(&tests))]);
    let (report, set_ups, runs) = judged(&stage, &fork, &head).await;
    assert_eq!(report.result(Gate::RedBeforeGreen).unwrap().evidence.word(), "passed");
    assert_eq!(report.result(Gate::Check(1)).unwrap().evidence.word(), "passed");
    assert!(runs > 3, "{runs}");
    assert_eq!(set_ups, 1);
}

#[tokio::test]
async fn if_set_up_copies_the_code_it_runs_again_for_other_code() {
    let stage = Stage::without_isolation().await;
    let fork = copying(&stage, "built");
    let honest = tests("add(2, 3), 5", MORE);
    let head = stage.commit(Some(&fork), &[("src/calc.py", Some(CODE)), ("tests/test_calc.py", Some(&honest))]);
    let (report, ..) = judged(&stage, &fork, &head).await;
    assert_eq!(report.result(Gate::RedBeforeGreen).unwrap().evidence.word(), "passed");
    let integrity = report.result(Gate::Integrity).unwrap();
    assert_eq!(integrity.evidence.word(), "passed", "{:?}", integrity.items);
    // A test that checks nothing is also found there.
    let idle = tests("add(2, 3), 5", "\n    def test_sub(self):\n        self.assertIsNotNone(calc.sub)\n");
    let head = stage.commit(Some(&fork), &[("src/calc.py", Some(CODE)), ("tests/test_calc.py", Some(&idle))]);
    let (report, ..) = judged(&stage, &fork, &head).await;
    let integrity = report.result(Gate::Integrity).unwrap();
    assert_eq!(integrity.evidence.word(), "failed", "{:?}", integrity.items);
}

#[tokio::test]
async fn a_test_that_failed_before_is_no_reason_to_set_up_again() {
    let stage = Stage::without_isolation().await;
    let first = copying(&stage, "built");
    let red = tests("add(2, 3), 5", "\n    def test_red(self):\n        self.assertEqual(calc.add(1, 1), 3)\n");
    let fork = stage.commit(Some(&first), &[("tests/test_calc.py", Some(&red))]);
    let head = stage.commit(
        Some(&fork),
        &[
            ("src/calc.py", Some("def add(a, b):\n    return b + a\n")),
            ("tests/test_calc.py", Some(&format!("# Of the calculator.\n{red}"))),
        ],
    );
    let case = Case::new(TaskType::Refactoring, SETTINGS);
    let baseline = stage.baseline(&fork, &case.settings).await;
    let before = (lines(&stage, "set-ups"), lines(&stage, "runs"));
    let report = stage.verified_on(&baseline, &fork, &head, &case).await;
    assert_eq!(report.result(Gate::BaseTests).unwrap().evidence.word(), "passed");
    assert_eq!(lines(&stage, "set-ups") - before.0, 1);
    // Both forms of the tests, and the experiments on the emptied function.
    assert_eq!(lines(&stage, "runs") - before.1, 4);
}

async fn waved(stage: &Stage, head: &Sha, baseline: &Baseline, case: &Case) -> GateReport {
    let subject = WaveSubject {
        mirror: &stage.mirror,
        head,
        smoke: None,
        whole: None,
        baseline,
        settings: &case.settings,
        waived: &[],
    };
    verify_wave(&stage.based_on(baseline), &subject, &CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn a_wave_of_one_task_a_commit_of_records_and_the_same_turn_again_cost_no_run() {
    let stage = Stage::without_isolation().await;
    let fork = copying(&stage, "src");
    let tests = tests("add(2, 3), 5", MORE);
    let head = stage.commit(Some(&fork), &[("src/calc.py", Some(CODE)), ("tests/test_calc.py", Some(&tests))]);
    let (first, ..) = judged(&stage, &fork, &head).await;
    let case = Case::new(TaskType::Feature, SETTINGS);
    let baseline = stage.baseline(&fork, &case.settings).await;
    let before = (lines(&stage, "set-ups"), lines(&stage, "runs"));
    let records = stage.commit(Some(&head), &[(".autobuild/plan.json", Some("{}"))]);
    for commit in [&head, &records] {
        let report = waved(&stage, commit, &baseline, &case).await;
        let kept = finding(&report.tests);
        assert!(kept.facts.contains(&Fact::FromEarlierRun), "{:?}", kept.facts);
        assert_eq!(kept.names, finding(&first.tests).names);
    }
    let (again, set_ups, runs) = judged(&stage, &fork, &head).await;
    let outcomes = |report: &GateReport| {
        report.more.iter().map(|result| (result.gate, result.evidence.word())).collect::<Vec<_>>()
    };
    assert_eq!(outcomes(&again), outcomes(&first));
    let kept = finding(&again.result(Gate::Check(1)).unwrap().evidence);
    assert!(kept.facts.contains(&Fact::FromEarlierRun), "{:?}", kept.facts);
    // The runs of pre-flight are not counted.
    assert_eq!((set_ups, runs), (0, 0));
    assert_eq!(lines(&stage, "set-ups") - before.0, 1, "pre-flight alone");
}

#[tokio::test]
async fn what_failed_is_run_again() {
    let stage = Stage::without_isolation().await;
    let fork = copying(&stage, "src");
    let head = stage.commit(Some(&fork), &[("src/calc.py", Some("def add(a, b):\n    return 0\n"))]);
    let case = Case::new(TaskType::Feature, SETTINGS);
    let baseline = stage.baseline(&fork, &case.settings).await;
    for _ in 0..2 {
        let before = lines(&stage, "runs");
        let report = waved(&stage, &head, &baseline, &case).await;
        assert!(matches!(report.tests, Evidence::Failed(_)));
        assert!(lines(&stage, "runs") > before);
    }
}

#[tokio::test]
async fn every_run_finds_everything_at_the_same_place() {
    for stage in [Stage::new().await, Stage::without_isolation().await] {
        let run = "echo $PWD $HOME $TMPDIR\nprintf '1..1\\nok 1 - a\\n'\n";
        let fork = stage.commit(None, &[("run.sh", Some(run)), ("setup.sh", Some("echo \"$PWD\"\n"))]);
        let case = Case::new(TaskType::Scaffolding, SETTINGS);
        let baseline = stage.baseline(&fork, &case.settings).await;
        let head = stage.commit(Some(&fork), &[("README.md", Some("words"))]);
        let report = stage.verified_on(&baseline, &fork, &head, &case).await;
        let said = |evidence: &Evidence| messages::output(finding(evidence)).into_owned();
        assert_eq!(said(&baseline.tests), said(&report.tests));
        let (before, now) = (said(baseline.setup.as_ref().unwrap()), said(report.setup.as_ref().unwrap()));
        assert_eq!(before, now.lines().next().unwrap());
    }
}

const APP: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\nmembers = [\"one\", \"two\"]\n\n[dependencies]\none = { path = \"one\" }\n";

/// Creates a workspace in which each start of the compiler is recorded.
fn workspace(stage: &Stage) -> Sha {
    let wrapper = stage.dir.path().join("wrapper.sh");
    let log = stage.dir.path().join("compiled");
    let script = format!(
        "#!/bin/sh\nname=; for word in \"$@\"; do [ \"$last\" = --crate-name ] && name=$word; last=$word; done\n\
         [ \"$name\" = ___ ] || echo \"$name\" >> {}\nexec \"$@\"\n",
        log.display()
    );
    fs::write(&wrapper, script).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!("[build]\nrustc-wrapper = \"{}\"\n", wrapper.display());
    let package = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    stage.commit(
        None,
        &[
            (".gitignore", Some("target\n")),
            (".cargo/config.toml", Some(&config)),
            ("Cargo.toml", Some(APP)),
            ("Cargo.lock", Some("version = 3\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"one\",\n]\n\n[[package]]\nname = \"one\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"two\"\nversion = \"0.1.0\"\n")),
            ("src/lib.rs", Some("pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n")),
            ("tests/add.rs", Some("#[test]\nfn adds() {\n    assert_eq!(app::add(2, 3), 5);\n}\n")),
            ("one/Cargo.toml", Some(&package("one"))),
            ("one/src/lib.rs", Some("pub fn one() -> u32 {\n    1\n}\n")),
            ("two/Cargo.toml", Some(&package("two"))),
            ("two/src/lib.rs", Some("pub fn two() -> u32 {\n    2\n}\n")),
        ],
    )
}

#[tokio::test]
async fn a_dependency_that_a_change_brings_is_built_once_for_all_runs_of_its_turn() {
    let stage = Stage::without_isolation().await;
    let fork = workspace(&stage);
    let case = Case::new(TaskType::Feature, "test: cargo test --offline\n");
    let baseline = stage.baseline(&fork, &case.settings).await;
    assert_eq!(finding(&baseline.tests).exit_code, Some(0), "{:?}", baseline.tests);
    let manifest = format!("{APP}two = {{ path = \"two\" }}\n");
    let lock = "version = 3\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"one\",\n \"two\",\n]\n\n[[package]]\nname = \"one\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"two\"\nversion = \"0.1.0\"\n";
    let head = stage.commit(
        Some(&fork),
        &[
            ("Cargo.toml", Some(&manifest)),
            ("Cargo.lock", Some(lock)),
            (
                "src/lib.rs",
                Some("pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n\npub fn twice(a: u32) -> u32 {\n    two::two() * a\n}\n"),
            ),
            ("tests/twice.rs", Some("#[test]\nfn doubles() {\n    assert_eq!(app::twice(4), 8);\n}\n")),
        ],
    );
    let log = stage.dir.path().join("compiled");
    fs::write(&log, "").unwrap();
    let report = stage.verified_on(&baseline, &fork, &head, &case).await;
    assert_eq!(finding(&report.tests).exit_code, Some(0), "{:?}", report.tests);
    assert_eq!(report.result(Gate::RedBeforeGreen).unwrap().evidence.word(), "passed");
    let compiled = fs::read_to_string(&log).unwrap();
    let times = |name: &str| compiled.lines().filter(|line| *line == name).count();
    assert!(times("twice") > 1, "experiments ran: {compiled}");
    assert_eq!(times("two"), 1, "{compiled}");
}

#[tokio::test]
async fn a_virtual_environment_that_set_up_makes_serves_every_run() {
    let stage = Stage::new().await;
    if stage.context.sandbox.level() < Level::L2 {
        println!("skipped: only bubblewrap gives every run the same path ({:?})", stage.context.sandbox.missing());
        return;
    }
    let setup = "[ -d .venv ] && echo there || echo new\npython3 -m venv --without-pip .venv\n\
                 echo 'OFFSET = 1' > .venv/offset.py\n";
    let run = ".venv/bin/python -c 'import sys; assert sys.prefix.endswith(\"work/.venv\"), sys.prefix'\n\
               PYTHONPATH=src:.venv .venv/bin/python -m unittest discover -s tests -v\n";
    let test = |name: &str, call: &str| {
        format!(
            "import unittest\nimport offset\nimport calc\n\n\nclass {name}(unittest.TestCase):\n    def test_it(self):\n        \
             self.assertEqual(calc.{call} + offset.OFFSET, 6)\n"
        )
    };
    let (old, new) = (test("AddTest", "add(2, 3)"), test("SubTest", "sub(8, 3)"));
    let fork = stage.commit(
        None,
        &[
            ("setup.sh", Some(setup)),
            ("run.sh", Some(run)),
            ("src/calc.py", Some("def add(a, b):\n    return a + b\n")),
            ("tests/test_add.py", Some(&old)),
        ],
    );
    let case = Case::new(TaskType::Feature, SETTINGS);
    let baseline = stage.baseline(&fork, &case.settings).await;
    assert_eq!(baseline.tests.word(), "passed", "{:?}", baseline.tests);
    let head = stage.commit(Some(&fork), &[("src/calc.py", Some(CODE)), ("tests/test_sub.py", Some(&new))]);
    let report = stage.verified_on(&baseline, &fork, &head, &case).await;
    let ran_before = format!("new\nIt ran on {}: the change touches nothing that set-up reads.", fork.short());
    assert_eq!(messages::output(finding(report.setup.as_ref().unwrap())), ran_before);
    assert_eq!(report.tests.word(), "passed", "{:?}", report.tests);
    let red = report.result(Gate::RedBeforeGreen).unwrap();
    assert_eq!(red.evidence.word(), "passed", "{red:?}");
    // A file that set-up may read differs, so set-up runs again on its own result.
    let head = stage.commit(Some(&head), &[("pyproject.toml", Some("[tool.x]\n"))]);
    let report = stage.verified_on(&baseline, &fork, &head, &case).await;
    assert_eq!(finding(report.setup.as_ref().unwrap()).output, "there");
    assert_eq!(report.tests.word(), "passed", "{:?}", report.tests);
}

#[tokio::test]
async fn what_a_run_leaves_is_gone_in_the_next() {
    let stage = Stage::new().await;
    let run = "for left in .left src/left.py ~/left .venv/left \"$TMPDIR/left\"; do\n    [ ! -e \"$left\" ] || exit 3\n\
               echo 1 > \"$left\"\ndone\ngrep -q 'return a + b' src/calc.py && [ \"$(cat .venv/kept)\" = kept ] || exit 4\n\
               echo changed > .venv/kept\nexec python3 run.py\n";
    let run_py = RUN.replace("FOLDER", "src");
    let old = tests("add(2, 3), 5", "");
    let fork = stage.commit(
        None,
        &[
            ("setup.sh", Some("mkdir -p .venv && echo kept > .venv/kept\n")),
            ("run.sh", Some(run)),
            ("run.py", Some(&run_py)),
            ("src/calc.py", Some("def add(a, b):\n    return a + b\n")),
            ("tests/test_calc.py", Some(&old)),
        ],
    );
    let case = Case::new(TaskType::Feature, SETTINGS);
    let baseline = stage.baseline(&fork, &case.settings).await;
    assert_eq!(baseline.tests.word(), "passed", "{:?}", baseline.tests);
    // Because of the changed test, the base's test runs besides the new one.
    let new = tests("add(4, 3), 7", MORE);
    let head = stage.commit(Some(&fork), &[("src/calc.py", Some(CODE)), ("tests/test_calc.py", Some(&new))]);
    let report = stage.verified_on(&baseline, &fork, &head, &case).await;
    assert_eq!(report.tests.word(), "passed", "{:?}", report.tests);
    let base = report.result(Gate::BaseTests).unwrap();
    assert_eq!(base.evidence.word(), "passed", "{base:?}");
    let red = report.result(Gate::RedBeforeGreen).unwrap();
    assert_eq!(red.evidence.word(), "passed", "{red:?}");
    assert!(messages::finding(finding(&red.evidence)).contains("test_sub"), "{red:?}");
}
