//! A set-up that rewrites the tests of the work: everything is restored before the tests run, and reported.

use crate::stage::{Case, Stage, finding};
use autobuild::messages;
use domain::{
    evidence::{Evidence, Gate, GateReport},
    plan::TaskType,
};

const SETTINGS: &str = "setup: sh setup.sh\ntest: sh tests/run.sh\n";
const RUN: &str = "echo 1..2; . tests/lib/say.sh; grep -q works f && say 'ok 1 - works' || say 'not ok 1 - works'; \
                   say 'ok 2 - old'; grep -q works f\n";
const SAY: &str = "say() { echo \"$1\"; }\n";
/// A test command that reports success for every test.
const FAKE: &str = "echo 1..2; echo ok 1 - works; echo ok 2 - old";

fn integrity(report: &GateReport) -> (&'static str, Vec<String>) {
    let result = report.result(Gate::Integrity).unwrap();
    let items = result.items.iter().map(|item| messages::problem(item).into_owned()).collect();
    (result.evidence.word(), items)
}

/// Returns the report of the Gates on a commit whose set-up runs `script`; the base's does nothing.
async fn judged(script: &str) -> GateReport {
    let stage = Stage::new().await;
    let fork = stage.commit(
        None,
        &[
            ("f", Some("broken\n")),
            ("setup.sh", Some("true\n")),
            ("tests/run.sh", Some(RUN)),
            ("tests/lib/say.sh", Some(SAY)),
            ("notes.txt", Some("n\n")),
        ],
    );
    let head = stage.commit(Some(&fork), &[("setup.sh", Some(script)), ("f", Some("still broken\n"))]);
    let case = Case::new(TaskType::Feature, SETTINGS);
    stage.verified(&fork, &head, &case).await
}

#[tokio::test]
async fn tests_that_set_up_rewrites_judge_as_the_commit_has_them() {
    let ways = [
        format!("echo '{FAKE}' > tests/run.sh"),
        format!("rm tests/run.sh; echo '{FAKE}' > tests/run.sh; touch -r f tests/run.sh"),
        format!("mkdir x; echo '{FAKE}' > x/run.sh; cp -r tests/lib x; rm -r tests; ln -s x tests"),
        format!("echo '{FAKE}' > fake; ln -sf ../fake tests/run.sh"),
        format!("rm -r tests; mkdir -p tests/lib; echo '{FAKE}' > tests/run.sh; chmod 000 tests/lib"),
        "echo 'echo ok 1 - works; echo ok 2 - old; exit 0' > tests/lib/say.sh".to_owned(),
    ];
    for way in ways {
        let report = judged(&way).await;
        let Evidence::Failed(found) = &report.tests else { panic!("{way}: {:?}", report.tests) };
        assert!(found.output.contains("not ok 1 - works"), "{way}: {}", found.output);
        let (word, items) = integrity(&report);
        assert_eq!(word, "failed", "{way}: {items:?}");
        assert!(
            items.iter().any(|item| item.starts_with("rewritten by set-up: set-up rewrites `tests/")),
            "{way}: {items:?}"
        );
    }
}

#[tokio::test]
async fn other_files_that_set_up_rewrites_are_put_back_and_shown() {
    let report = judged("echo other > notes.txt; rm -f f; mkdir f; touch new.txt").await;
    assert!(matches!(report.tests, Evidence::Failed(_)), "{:?}", report.tests);
    let (_, items) = integrity(&report);
    for path in ["notes.txt", "f"] {
        let expected = format!("set-up rewrites `{path}`; it was put back");
        assert!(items.iter().any(|item| item.starts_with(&expected)), "{items:?}");
    }
    assert!(!items.iter().any(|item| item.contains("new.txt") || item.contains("rewritten by set-up")), "{items:?}");
}

#[tokio::test]
async fn a_set_up_that_always_rewrites_is_nobodys_deception_and_touching_is_not_rewriting() {
    let stage = Stage::new().await;
    let script = "echo '# generated' >> tests/run.sh; touch f";
    let fork = stage.commit(
        None,
        &[
            ("f", Some("broken\n")),
            ("setup.sh", Some(script)),
            ("tests/run.sh", Some(RUN)),
            ("tests/lib/say.sh", Some(SAY)),
        ],
    );
    let head = stage.commit(Some(&fork), &[("f", Some("works\n"))]);
    let case = Case::new(TaskType::Feature, SETTINGS);
    let report = stage.verified(&fork, &head, &case).await;
    assert!(!finding(&report.tests).output.contains("not ok"), "{:?}", report.tests);
    let (_, items) = integrity(&report);
    assert!(!items.iter().any(|item| item.contains("rewritten by set-up")), "{items:?}");
    assert!(items.iter().any(|item| item.starts_with("set-up rewrites `tests/run.sh`")), "{items:?}");
    assert!(!items.iter().any(|item| item.contains("`f`")), "{items:?}");
}
