//! Gates with real commands on small checkouts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use autobuild::domain::evidence::Absence;
use autobuild::domain::evidence::Counts;
use autobuild::domain::evidence::Evidence;
use autobuild::domain::evidence::Finding;
use autobuild::domain::evidence::GateReport;
use autobuild::gates::GateError;
use autobuild::gates::GateSpec;
use autobuild::gates::run;
use autobuild::sandbox::Sandbox;
use autobuild::sandbox::SandboxOptions;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

struct Stage {
    dir: TempDir,
    sandbox: Sandbox,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("checkout")).unwrap();
        let launcher = PathBuf::from(env!("CARGO_BIN_EXE_autobuild"));
        Self {
            dir,
            sandbox: Sandbox::new(SandboxOptions { launcher }),
        }
    }

    fn spec(&self, setup: Option<&str>, test: Option<&str>) -> GateSpec {
        GateSpec {
            checkout: self.dir.path().join("checkout"),
            setup: setup.map(|command| command.parse().unwrap()),
            test: test.map(|command| command.parse().unwrap()),
            setup_deadline: Duration::from_secs(60),
            test_deadline: Duration::from_secs(60),
            folder: self.dir.path().join("homes"),
            secrets: vec!["own-secret-value".to_owned().into()],
        }
    }

    async fn report(&self, setup: Option<&str>, test: Option<&str>) -> GateReport {
        let spec = self.spec(setup, test);
        run(&spec, &self.sandbox, &CancellationToken::new()).await.unwrap()
    }

    async fn tests(&self, test: &str) -> Evidence {
        self.report(None, Some(test)).await.tests
    }
}

fn finding(command: &str, exit_code: i32, output: &str) -> Finding {
    Finding {
        command: command.to_owned(),
        exit_code: Some(exit_code),
        counts: Counts::Unknown,
        failing: vec![],
        output: output.to_owned(),
        names: None,
    }
}

#[tokio::test]
async fn set_up_prepares_what_the_tests_find() {
    let stage = Stage::new();
    let report = stage
        .report(
            Some("sh -c 'echo ready > made; touch $HOME/x'"),
            Some("sh -c 'cat made; ls $HOME; echo $CI$USER'"),
        )
        .await;
    let setup = finding("sh -c 'echo ready > made; touch $HOME/x'", 0, "");
    let tests = finding("sh -c 'cat made; ls $HOME; echo $CI$USER'", 0, "ready\nx\ntrue");
    assert_eq!(
        report,
        GateReport {
            setup: Some(Evidence::Passed(setup)),
            tests: Evidence::Passed(tests),
            excused: Vec::new(),
            more: Vec::new()
        }
    );
}

#[tokio::test]
async fn tests_do_not_run_after_a_failed_set_up() {
    let stage = Stage::new();
    let report = stage
        .report(Some("sh -c 'echo no >&2; exit 4'"), Some("touch ran"))
        .await;
    assert_eq!(
        report.setup,
        Some(Evidence::Failed(finding("sh -c 'echo no >&2; exit 4'", 4, "no")))
    );
    assert_eq!(report.tests, Evidence::Absent(Absence::NotReached));
    assert!(!stage.dir.path().join("checkout/ran").exists());
}

#[tokio::test]
async fn a_red_run_names_numbers_and_tests() {
    let stage = Stage::new();
    let script = "printf '1..2\\nok 1 - adds\\n\\033[31mnot ok 2 - halves\\033[0m\\n'; exit 1";
    fs::write(stage.dir.path().join("checkout/t.sh"), script).unwrap();
    let Evidence::Failed(found) = stage.tests("sh t.sh").await else {
        panic!("not failed")
    };
    assert_eq!(found.exit_code, Some(1));
    assert_eq!(found.failing, ["halves"]);
    assert_eq!(
        found.counts,
        Counts::Known {
            passed: 1,
            failed: 1,
            skipped: 0
        }
    );
    assert_eq!(found.output, "1..2\nok 1 - adds\nnot ok 2 - halves");
}

#[tokio::test]
async fn what_cannot_start_is_absent() {
    let stage = Stage::new();
    let could_not_start = |command: &str, reason: &str| {
        Evidence::Absent(Absence::CouldNotStart {
            command: command.to_owned(),
            reason: reason.to_owned(),
        })
    };
    assert_eq!(
        stage.tests("no-such-runner --all").await,
        could_not_start("no-such-runner --all", "program not found: no-such-runner")
    );
    assert_eq!(
        stage.tests("python3 -m no_such_runner").await,
        could_not_start("python3 -m no_such_runner", "No module named no_such_runner")
    );
    let report = stage.report(Some("no-such-setup"), Some("true")).await;
    assert_eq!(
        report.setup,
        Some(could_not_start("no-such-setup", "program not found: no-such-setup"))
    );
    assert_eq!(report.tests, Evidence::Absent(Absence::NotReached));
    assert_eq!(
        stage.report(None, None).await.tests,
        Evidence::Absent(Absence::NoCommand)
    );
}

#[tokio::test]
async fn an_endless_run_is_absent_and_a_killed_one_failed() {
    let stage = Stage::new();
    let mut spec = stage.spec(None, Some("sleep 600"));
    spec.test_deadline = Duration::from_millis(300);
    let report = run(&spec, &stage.sandbox, &CancellationToken::new()).await.unwrap();
    assert_eq!(
        report.tests,
        Evidence::Absent(Absence::TimedOut {
            command: "sleep 600".to_owned(),
            seconds: 0
        })
    );
    let Evidence::Failed(found) = stage.tests("sh -c 'kill -9 $$'").await else {
        panic!("not failed")
    };
    assert_eq!(found.exit_code, None);
}

#[tokio::test]
async fn output_is_short_and_holds_no_secret() {
    let stage = Stage::new();
    let Evidence::Passed(found) = stage
        .tests("sh -c 'echo own-secret-value; seq 1 200000; echo the end'")
        .await
    else {
        panic!("not passed")
    };
    assert!(found.output.chars().count() <= 8_000);
    assert!(found.output.starts_with("[masked]\n1\n") && found.output.ends_with("200000\nthe end"));
}

#[tokio::test]
async fn a_cancelled_run_is_no_evidence() {
    let stage = Stage::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let ended = run(&stage.spec(None, Some("sleep 600")), &stage.sandbox, &cancel).await;
    assert!(matches!(ended, Err(GateError::Cancelled)));
}
