use super::*;
use std::io::{Error, ErrorKind};

fn fault(error: EffectError) -> Fault {
    match error {
        EffectError::Later { fault, .. } | EffectError::Failed(fault) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failure_of_our_own_machine_is_never_githubs() {
    let full = || Error::from(ErrorKind::StorageFull);
    assert!(matches!(fault(full().into()), Fault::DiskFull { .. }));
    assert!(matches!(
        fault(Error::from(ErrorKind::PermissionDenied).into()),
        Fault::Machine { .. }
    ));
    let git = |error: GitError| fault(error.into());
    let what = "making a quarantine".to_owned();
    assert!(matches!(
        git(GitError::Io { what, source: full() }),
        Fault::DiskFull { .. }
    ));
    assert!(matches!(git(GitError::NoSpace("x".to_owned())), Fault::DiskFull { .. }));
    let source = Error::from(ErrorKind::NotFound);
    match git(GitError::NotStarted { source }) {
        Fault::NoProgram { program, .. } => assert_eq!(program, "git"),
        other => panic!("{other:?}"),
    }
    let failed = GitError::Failed {
        command: "merge-tree".to_owned(),
        code: 128,
        stderr: "fatal: bad object".to_owned(),
    };
    assert!(matches!(git(failed), Fault::Git { .. }));
    assert!(matches!(fault(StoreError::Closed.into()), Fault::Database { .. }));
    let value = StoreError::Unreadable {
        column: "data",
        problem: "x".to_owned(),
    };
    assert!(matches!(fault(value.into()), Fault::Unreadable { .. }));
}

#[test]
fn only_github_and_the_way_to_it_are_waited_out() {
    let waits = |error: EffectError| fault(error).passes_by_itself();
    let said = || "x".to_owned();
    assert!(waits(GitError::Transient(said()).into()));
    let source: crate::github::Cause = said().into();
    assert!(waits(
        GithubError::Uncertain {
            source,
            retry_after: None
        }
        .into()
    ));
    assert!(!waits(GitError::Denied(said()).into()));
    assert!(!waits(GitError::History(said()).into()));
    assert!(!waits(GitError::NoSpace(said()).into()));
    assert!(!waits(GithubError::NotFound.into()));
}

#[test]
fn git_that_takes_too_long_is_told_by_what_it_works_with() {
    let timed_out = |over| {
        fault(
            GitError::TimedOut {
                command: "fetch".to_owned(),
                over,
                after: Duration::from_secs(900),
            }
            .into(),
        )
    };
    assert!(matches!(timed_out(Over::Network), Fault::Unreachable { .. }));
    assert!(matches!(timed_out(Over::Disk), Fault::Git { .. }));
}
