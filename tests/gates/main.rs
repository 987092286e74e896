//! Gates with real commands on small checkouts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod additions;
mod caches;
mod judging;
mod lines;
mod network;
mod once;
mod remembering;
mod rewriting;
mod stage;
mod waves;

use autobuild::{
    config::RepositorySettings,
    gates::{GateError, preflight},
};
use domain::evidence::{Absence, Baseline, Counts, Evidence, Finding, StartFailure};
use stage::{Stage, finding};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Runs pre-flight on an empty repository with one script; returns the evidence of set-up and tests.
async fn fly_script(stage: &Stage, script: &str, setup: Option<&str>, test: Option<&str>) -> Baseline {
    let head = stage.commit(None, &[("t.sh", Some(script))]);
    let settings = RepositorySettings {
        setup: setup.map(|command| command.parse().unwrap()),
        test: test.map(|command| command.parse().unwrap()),
        ..RepositorySettings::default()
    };
    stage.baseline(&head, &settings).await
}

async fn tests(stage: &Stage, test: &str) -> Evidence {
    fly_script(stage, "", None, Some(test)).await.tests
}

fn command_left(command: &str, exit_code: i32, output: &str) -> Finding {
    Finding {
        command: command.to_owned(),
        exit_code: Some(exit_code),
        counts: Counts::Unknown,
        failing: vec![],
        output: output.to_owned(),
        ..Finding::default()
    }
}

#[tokio::test]
async fn set_up_prepares_what_the_tests_find() {
    let stage = Stage::new().await;
    let setup = "sh -c 'echo ready > made; touch $HOME/x'";
    let test = "sh -c 'cat made; ls $HOME; echo $CI$USER'";
    let baseline = fly_script(&stage, "", Some(setup), Some(test)).await;
    assert_eq!(baseline.setup, Some(Evidence::Passed(command_left(setup, 0, ""))));
    assert_eq!(baseline.tests, Evidence::Passed(command_left(test, 0, "ready\nx\ntruebuilder")));
}

#[tokio::test]
async fn tests_do_not_run_after_a_failed_set_up() {
    let stage = Stage::new().await;
    let setup = "sh -c 'echo no >&2; exit 4'";
    let marker = stage.dir.path().join("ran");
    let test = format!("touch {}", marker.display());
    let baseline = fly_script(&stage, "", Some(setup), Some(&test)).await;
    assert_eq!(baseline.setup, Some(Evidence::Failed(command_left(setup, 4, "no"))));
    assert_eq!(baseline.tests, Evidence::Absent(Absence::NotReached));
    assert!(!marker.exists());
}

#[tokio::test]
async fn a_red_run_names_numbers_and_tests() {
    let stage = Stage::new().await;
    let script = "printf '1..2\\nok 1 - adds\\n\\033[31mnot ok 2 - halves\\033[0m\\n'; exit 1";
    let baseline = fly_script(&stage, script, None, Some("sh t.sh")).await;
    let found = finding(&baseline.tests);
    assert_eq!((found.exit_code, found.failing.as_slice()), (Some(1), ["halves".to_owned()].as_slice()));
    let counts = Counts::Known { passed: 1, failed: 1, skipped: 0 };
    assert_eq!(found.counts, counts);
    assert_eq!(found.output, "1..2\nok 1 - adds\nnot ok 2 - halves");
}

#[tokio::test]
async fn what_cannot_start_is_absent() {
    let stage = Stage::new().await;
    let could_not_start = |command: &str, reason: StartFailure| {
        Evidence::Absent(Absence::CouldNotStart { command: command.to_owned(), reason })
    };
    let no_program = |name: &str| StartFailure::NoPrograms(vec![name.to_owned()]);
    assert_eq!(
        tests(&stage, "no-such-runner --all").await,
        could_not_start("no-such-runner --all", no_program("no-such-runner"))
    );
    assert_eq!(
        tests(&stage, "python3 -m no_such_runner").await,
        could_not_start(
            "python3 -m no_such_runner",
            StartFailure::Message("No module named no_such_runner".to_owned())
        )
    );
    let baseline = fly_script(&stage, "", Some("no-such-setup"), Some("true")).await;
    assert_eq!(baseline.setup, Some(could_not_start("no-such-setup", no_program("no-such-setup"))));
    assert_eq!(baseline.tests, Evidence::Absent(Absence::NotReached));
    let nothing = fly_script(&stage, "", None, None).await;
    assert_eq!(nothing.tests, Evidence::Absent(Absence::NoCommand));
}

#[tokio::test]
async fn an_endless_run_is_absent_and_a_killed_one_failed() {
    let mut stage = Stage::new().await;
    assert_eq!(finding(&tests(&stage, "sh -c 'kill -9 $$'").await).exit_code, None);
    stage.context.deadlines.test = Duration::from_millis(300);
    let timed_out = Absence::TimedOut { command: "sleep 600".to_owned(), seconds: 0, in_test: None, failed: vec![] };
    assert_eq!(tests(&stage, "sleep 600").await, Evidence::Absent(timed_out));
}

#[tokio::test]
async fn output_is_short_and_holds_no_secret() {
    let stage = Stage::new().await;
    let ran = tests(&stage, "sh -c 'echo own-secret-value; seq 1 200000; echo the end'").await;
    let output = &finding(&ran).output;
    assert!(output.chars().count() <= 8_000);
    assert!(output.starts_with("[masked]\n1\n") && output.ends_with("200000\nthe end"));
}

#[tokio::test]
async fn a_cancelled_run_is_no_evidence() {
    let stage = Stage::new().await;
    let head = stage.commit(None, &[("x", Some("x"))]);
    let settings = RepositorySettings { test: Some("sleep 600".parse().unwrap()), ..RepositorySettings::default() };
    let cancel = CancellationToken::new();
    cancel.cancel();
    let ended = preflight(&stage.context, &stage.mirror, &head, &settings, &cancel).await;
    assert!(matches!(ended, Err(GateError::Cancelled)));
}
