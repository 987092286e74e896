//! Additions to a test command are tried in pre-flight, and left out if they change a result.

use crate::stage::{Case, Stage, finding};
use autobuild::gates::{WaveSubject, verify_wave};
use domain::{
    evidence::{Additions, Counts, Evidence},
    plan::TaskType,
};
use std::{fs, os::unix::fs::PermissionsExt};
use tokio_util::sync::CancellationToken;

/// A test that records each run, and one that sees the additions.
const TESTS: &str = "import os, sys, unittest\n\n\nclass Seen(unittest.TestCase):\n    def test_runs(self):\n        \
                     open(r'COUNT', 'a').write('run\\n')\n\n    def test_sees(self):\n        CHECK\n";

fn runs(stage: &Stage) -> usize {
    let text = fs::read_to_string(stage.dir.path().join("runs")).unwrap_or_default();
    text.lines().count()
}

/// Runs pre-flight with a test that checks this; also returns how often the tests ran.
async fn find_additions(stage: &Stage, check: &str) -> (Evidence, Additions, usize) {
    let count = stage.dir.path().join("runs");
    let text = TESTS.replace("CHECK", check).replace("COUNT", &count.display().to_string());
    let head = stage.commit(None, &[("tests/test_seen.py", Some(&text)), ("tests/__init__.py", Some(""))]);
    let case = Case::new(TaskType::Feature, "test: python3 -m unittest\nsetup: 'true'\n");
    let before = runs(stage);
    let baseline = stage.baseline(&head, &case.settings).await;
    (baseline.tests, baseline.additions, runs(stage) - before)
}

#[tokio::test]
async fn what_changes_a_result_is_not_added_and_what_changes_none_names_the_tests() {
    let stage = Stage::without_isolation().await;
    let two = Counts::Known { passed: 2, failed: 0, skipped: 0 };
    let (tests, additions, ran) = find_additions(&stage, "self.assertNotIn('-v', sys.argv)").await;
    // A difference counts if it occurs again.
    assert_eq!((additions, ran), (Additions::Refused, 4));
    assert_eq!(finding(&tests).counts, two);
    assert!(matches!(tests, Evidence::Passed(_)), "{tests:?}");
    let (tests, additions, ran) = find_additions(&stage, "self.assertNotIn('--nothing-of-ours', sys.argv)").await;
    assert_eq!((additions, ran), (Additions::Harmless, 2));
    let names = finding(&tests).names.clone().unwrap();
    assert_eq!(names.passed.len(), 2, "{names:?}");
}

#[tokio::test]
async fn a_test_that_varies_costs_no_names() {
    let stage = Stage::without_isolation().await;
    let fails_at_first = "self.assertGreater(len(open(r'COUNT').readlines()), 1)";
    let (tests, additions, ran) = find_additions(&stage, fails_at_first).await;
    assert_eq!((additions, ran), (Additions::Harmless, 4));
    assert_eq!(finding(&tests).names.as_ref().unwrap().passed.len(), 2);
}

#[tokio::test]
async fn the_first_tests_have_names_unless_they_fail_with_what_is_added() {
    let stage = Stage::without_isolation().await;
    let fork = stage.commit(None, &[("calc.py", Some("def one():\n    return 1\n"))]);
    let named = async |check: &str| {
        let text = format!(
            "import sys, unittest\nfrom calc import two\n\n\nclass Two(unittest.TestCase):\n    def test_two(self):\n        \
             {check}\n        self.assertEqual(two(), 2)\n"
        );
        let code = "def one():\n    return 1\n\n\ndef two():\n    return 2\n";
        let files = [("calc.py", Some(code)), ("tests/test_two.py", Some(text.as_str()))];
        let head = stage.commit(Some(&fork), &files);
        let case = Case::new(TaskType::Feature, "");
        let report = stage.verified(&fork, &head, &case).await;
        assert!(matches!(report.tests, Evidence::Passed(_)), "{report:?}");
        let tests = finding(&report.tests);
        tests.names.as_ref().is_some_and(|names| names.names_all(tests.counts))
    };
    assert!(named("self.assertNotIn('--nothing-of-ours', sys.argv)").await);
    assert!(!named("self.assertNotIn('-v', sys.argv)").await);
}

/// A program that prints its version or runs one test.
const TOOL: &str = "#!/bin/sh\nif [ \"$1\" = --version ]; then cat DIR/version; exit; fi\n\
                    echo run >> DIR/runs\nprintf '1..1\\nok 1 - a\\n'\n";

#[tokio::test]
async fn another_version_of_a_program_behind_the_same_name_is_asked_again() {
    let stage = Stage::without_isolation().await;
    let tool = stage.dir.path().join("tool");
    fs::write(&tool, TOOL.replace("DIR", &stage.dir.path().display().to_string())).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let version = |text: &str| fs::write(stage.dir.path().join("version"), text).unwrap();
    version("1\n");
    let head = stage.commit(None, &[("a", Some("a"))]);
    let case = Case::new(TaskType::Feature, &format!("test: {} all\n", tool.display()));
    let baseline = stage.baseline(&head, &case.settings).await;
    let judged = async || {
        let before = runs(&stage);
        let subject = WaveSubject {
            mirror: &stage.mirror,
            head: &head,
            smoke: None,
            whole: None,
            baseline: &baseline,
            settings: &case.settings,
            waived: &[],
        };
        verify_wave(&stage.context, &subject, &CancellationToken::new()).await.unwrap();
        runs(&stage) - before
    };
    assert_eq!((judged().await, judged().await), (1, 0));
    version("2\n");
    assert_eq!((judged().await, judged().await), (1, 0));
}
