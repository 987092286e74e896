//! The same files are not judged again if the result was in favour of the work, and always if it was not.

use crate::stage::{Case, Stage};
use domain::{evidence::Gate, ids::Sha, plan::TaskType};
use std::fs;

const TESTS: &str = "test: sh run.sh\n";

/// Records that it runs, then runs every test.
const RUN: &str = r#"echo run >> COUNTER
count=0 code=0
for test in tests/*_test.sh; do
  count=$((count + 1))
  if sh "$test"; then echo "ok $count - $test"; else echo "not ok $count - $test"; code=1; fi
done
echo "1..$count"
exit $code
"#;

/// Judges a change; also returns how often the tests ran.
async fn runs(stage: &Stage, fork: &Sha, head: &Sha, red: &str) -> usize {
    let count = || fs::read_to_string(stage.dir.path().join("runs")).unwrap().lines().count();
    let case = Case::new(TaskType::Feature, TESTS);
    let baseline = stage.baseline(fork, &case.settings).await;
    let before = count();
    let report = stage.verified_on(&baseline, fork, head, &case).await;
    let gate = report.result(Gate::RedBeforeGreen).unwrap();
    assert_eq!(gate.evidence.word(), red);
    count() - before
}

#[tokio::test]
async fn a_turn_that_changes_the_code_alone_shows_red_before_green_without_another_run() {
    let stage = Stage::without_isolation().await;
    let run = RUN.replace("COUNTER", &stage.dir.path().join("runs").display().to_string());
    let fork = stage.commit(None, &[("run.sh", Some(&run)), ("tests/run_test.sh", Some("true\n"))]);
    let test = ("tests/tool_test.sh", Some("grep -q tool tool.sh\n"));
    let first = stage.commit(Some(&fork), &[("tool.sh", Some("echo tool\n")), test]);
    assert_eq!(runs(&stage, &fork, &first, "passed").await, 2, "the commit, and the old code");
    let second = stage.commit(Some(&first), &[("tool.sh", Some("echo a tool\n"))]);
    assert_eq!(runs(&stage, &fork, &second, "passed").await, 1, "the commit alone");
    let third = stage.commit(Some(&second), &[("tests/tool_test.sh", Some("grep -q a.tool tool.sh\n"))]);
    assert_eq!(runs(&stage, &fork, &third, "passed").await, 2, "these tests have not been run on the old code");
}

#[tokio::test]
async fn what_speaks_against_the_work_is_run_each_time() {
    let stage = Stage::without_isolation().await;
    let run = RUN.replace("COUNTER", &stage.dir.path().join("runs").display().to_string());
    let fork = stage.commit(None, &[("run.sh", Some(&run)), ("tests/run_test.sh", Some("true\n"))]);
    let test = ("tests/tool_test.sh", Some("true\n"));
    let head = stage.commit(Some(&fork), &[("tool.sh", Some("echo tool\n")), test]);
    assert_eq!(runs(&stage, &fork, &head, "failed").await, 2);
    assert_eq!(runs(&stage, &fork, &head, "failed").await, 1, "the old code alone");
}
