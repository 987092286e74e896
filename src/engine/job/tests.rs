use super::*;
use domain::blocked::FailureClass;
use std::io::{Error, ErrorKind};

fn fault(error: EffectError) -> Failure {
    match error {
        EffectError::Failed { failure, .. } => failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failure_of_our_own_machine_is_never_githubs() {
    let full = || Error::from(ErrorKind::StorageFull);
    assert!(matches!(fault(full().into()), Failure::DiskFull { .. }));
    assert!(matches!(fault(Error::from(ErrorKind::PermissionDenied).into()), Failure::Machine { .. }));
    let git = |error: GitError| fault(error.into());
    let what = "making a quarantine".to_owned();
    assert!(matches!(git(GitError::Io { what, source: full() }), Failure::DiskFull { .. }));
    assert!(matches!(git(GitError::NoSpace("x".to_owned())), Failure::DiskFull { .. }));
    let source = Error::from(ErrorKind::NotFound);
    match git(GitError::NotStarted { source }) {
        Failure::NoProgram { program, .. } => assert_eq!(program, "git"),
        other => panic!("{other:?}"),
    }
    let failed =
        GitError::Failed { command: "merge-tree".to_owned(), code: 128, stderr: "fatal: bad object".to_owned() };
    assert!(matches!(git(failed), Failure::Git { .. }));
    assert!(matches!(fault(StoreError::Closed.into()), Failure::Database { .. }));
    let value = StoreError::Unreadable { column: "data", problem: "x".to_owned() };
    assert!(matches!(fault(value.into()), Failure::Unreadable { .. }));
}

#[test]
fn the_table_says_which_failures_pass() {
    let class = |error: EffectError| fault(error).rule().class;
    let said = || "x".to_owned();
    let source: crate::github::Cause = said().into();
    let uncertain = GithubError::Uncertain { source, retry_after: None };
    let full = Error::from(ErrorKind::StorageFull);
    let contended = StoreError::Closed;
    for passes in [
        GitError::Transient(said()).into(),
        uncertain.into(),
        GitError::NoSpace(said()).into(),
        full.into(),
        contended.into(),
    ] {
        assert_eq!(class(passes), FailureClass::Passes);
    }
    for unknown in [
        GitError::Denied(said()).into(),
        GitError::NoCredentials.into(),
        GithubError::Unauthorized.into(),
        GitError::Missing(said()).into(),
        Error::from(ErrorKind::PermissionDenied).into(),
    ] {
        assert_eq!(class(unknown), FailureClass::Unknown);
    }
    for lasts in [GitError::History(said()).into(), GithubError::NotFound.into()] {
        assert_eq!(class(lasts), FailureClass::Lasts);
    }
}

#[test]
fn git_that_takes_too_long_is_told_by_what_it_works_with() {
    let timed_out = |reach| {
        fault(GitError::TimedOut { command: "fetch".to_owned(), reach, after: Duration::from_secs(900) }.into())
    };
    assert!(matches!(timed_out(CallReach::Network), Failure::GitHubUnreachable { .. }));
    assert!(matches!(timed_out(CallReach::Disk), Failure::Git { .. }));
}
