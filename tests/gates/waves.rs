//! The wave gate, and the search for the merge that broke it.

use crate::stage::{Case, Stage};
use autobuild::{
    config::{Offer, RepositorySettings},
    gates::{WaveSubject, WholeFeature, blame, verify_wave},
};
use domain::{
    evidence::{Evidence, Gate},
    feature::flow::HeldCheck,
    plan::{Check, Criterion, TaskType},
    problem::{Problem, ReviewItem},
    test_outcome::TestOutcome,
};
use tokio_util::sync::CancellationToken;

const RUN: &str =
    "if [ -f broken ]; then echo 'not ok 1 - whole'; else echo 'ok 1 - whole'; fi; echo 1..1; [ ! -f broken ]\n";

#[tokio::test]
async fn the_commit_that_broke_the_tests_is_found_by_halving() {
    let stage = Stage::new().await;
    let settings = RepositorySettings::parse("test: sh run.sh\n", &Offer::default()).unwrap();
    let green = stage.commit(None, &[("run.sh", Some(RUN))]);
    let mut commits = vec![green.clone()];
    for name in ["one", "two", "broken", "three", "four"] {
        commits.push(stage.commit(commits.last(), &[(name, Some("x"))]));
    }
    let head = commits.last().unwrap().clone();
    let baseline = stage.baseline(&green, &settings).await;
    let cancel = CancellationToken::new();
    let subject = WaveSubject {
        mirror: &stage.mirror,
        head: &head,
        smoke: Some("test -f three"),
        whole: None,
        baseline: &baseline,
        settings: &settings,
        waived: &[],
    };
    let report = verify_wave(&stage.context, &subject, &cancel).await.unwrap();
    assert!(matches!(report.tests, Evidence::Failed(_)) && report.excused.is_empty());
    assert_eq!(report.result(Gate::Smoke).unwrap().evidence.word(), "passed");
    let (tests, failing) = (WaveSubject { smoke: None, ..subject }, ["whole".to_owned()]);
    let broke = blame(&stage.context, &tests, &green, &failing, &cancel);
    assert_eq!(broke.await.unwrap().as_ref(), commits.get(3));
    let nothing = blame(&stage.context, &tests, &head, &failing, &cancel);
    assert_eq!(nothing.await.unwrap(), None);
}

#[tokio::test]
async fn two_tasks_together_may_not_do_what_one_may_not() {
    const TESTS: &str = "test: python3 -m unittest discover -s tests\n";
    let test = |expected: &str| {
        format!(
            "import unittest\nfrom calc import add\n\n\nclass Calc(unittest.TestCase):\n    def test_adds(self):\n        \
             self.assertIn(add(1, 2), {expected})\n"
        )
    };
    let stage = Stage::new().await;
    let case = Case::new(TaskType::Feature, TESTS);
    let (add, subtract) = ("def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a - b\n");
    let fork = stage.commit(None, &[("calc.py", Some(add)), ("tests/test_calc.py", Some(&test("[3]")))]);
    // The first task makes the test accept more, and the second makes a change that the test no longer notices.
    let first = stage.commit(Some(&fork), &[("tests/test_calc.py", Some(&test("[3, -1]")))]);
    let second = stage.commit(Some(&first), &[("calc.py", Some(subtract))]);
    let baseline = stage.baseline(&fork, &case.settings).await;
    let whole = WholeFeature { fork: &fork, task: &case.task, is_one_task: false, checks: &[] };
    let subject = WaveSubject {
        mirror: &stage.mirror,
        head: &second,
        smoke: None,
        whole: Some(&whole),
        baseline: &baseline,
        settings: &case.settings,
        waived: &[],
    };
    let report = verify_wave(&stage.context, &subject, &CancellationToken::new()).await.unwrap();
    let result = report.result(Gate::BaseTests).unwrap();
    assert_eq!(result.evidence.word(), "failed");
    let weakened = |item: &ReviewItem| matches!(&item.problem, Problem::Outcome { outcome, .. } if *outcome == TestOutcome::Weakened);
    assert!(weakened(&result.items[0]), "{:?}", result.items);
    let before = WaveSubject { whole: None, ..subject };
    let report = verify_wave(&stage.context, &before, &CancellationToken::new()).await.unwrap();
    assert_eq!(report.result(Gate::BaseTests), None);
}

#[tokio::test]
async fn what_held_when_a_task_was_finished_has_to_hold_on_the_result_of_all() {
    let stage = Stage::new().await;
    let case = Case::new(TaskType::Feature, "test: 'true'\n");
    let fork = stage.commit(None, &[("a", Some("1"))]);
    let first = stage.commit(Some(&fork), &[("a", Some("2")), ("b", Some("1"))]);
    let second = stage.commit(Some(&first), &[("a", Some("3")), ("b", None)]);
    let baseline = stage.baseline(&fork, &case.settings).await;
    let held = |number: usize, check: Check| HeldCheck {
        task: "TASK-001".parse().unwrap(),
        number,
        criterion: Criterion { text: "It holds".to_owned(), check },
    };
    let checks = [
        held(1, Check::Command("grep -q 2 a".to_owned())),
        held(2, Check::File("b".to_owned())),
        held(3, Check::Command("test -f a".to_owned())),
    ];
    let whole = WholeFeature { fork: &fork, task: &case.task, is_one_task: false, checks: &checks };
    let wave = |head| WaveSubject {
        mirror: &stage.mirror,
        head,
        smoke: None,
        whole: Some(&whole),
        baseline: &baseline,
        settings: &case.settings,
        waived: &[],
    };
    for (head, expected) in [(&first, &[][..]), (&second, &[1, 2])] {
        let report = verify_wave(&stage.context, &wave(head), &CancellationToken::new()).await.unwrap();
        let failed = report.more.iter().filter(|result| result.evidence.failure().is_some());
        let numbers: Vec<usize> = failed
            .filter_map(|result| match result.gate {
                Gate::Check(number) => Some(number),
                _ => None,
            })
            .collect();
        assert_eq!(numbers, expected, "{:?}", report.more);
    }
}
