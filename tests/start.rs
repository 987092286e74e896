//! The start of `serve` and `demo`, from outside: which git they accept.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test that cannot go on has failed"
)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use tokio::process::Command;

/// A git that does nothing but answer this, and leaves a mark at anything else that it is asked.
fn answers(folder: &Path, answer: &str) {
    let program = folder.join("git");
    let script = format!(
        "#!/bin/sh\nfor last; do :; done\nif [ \"$last\" = version ]; then echo '{answer}'; else touch {}; fi\n",
        folder.join("asked").display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

async fn autobuild(path: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_autobuild"));
    command.args(arguments).env_clear().env("PATH", path);
    command.env("HOME", path).env("TMPDIR", path).current_dir(path);
    command.output().await.unwrap()
}

/// The one line of standard error.
fn said(output: &Output) -> String {
    assert!(!output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[tokio::test]
async fn an_old_git_ends_the_start_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    answers(folder.path(), "git version 2.39.5 (Apple Git-154)");
    for (command, name) in [("serve", "autobuild"), ("demo", "autobuild demo")] {
        let said = said(&autobuild(folder.path(), &[command]).await);
        let program = folder.path().join("git");
        let start = format!(
            "{name}: {} is git 2.39.5 (Apple Git-154), and git 2.43 or newer is needed: install a newer one",
            program.display()
        );
        assert!(said.starts_with(&start), "{said}");
    }
    assert!(!folder.path().join("asked").exists());
}

#[tokio::test]
async fn a_missing_git_ends_the_start_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    // Neither a folder nor a file that cannot be started is a git.
    std::fs::write(folder.path().join("git"), "").unwrap();
    for command in ["serve", "demo"] {
        let said = said(&autobuild(folder.path(), &[command]).await);
        assert!(
            said.contains(": git is not on PATH, and git 2.43 or newer is needed: install a newer one"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn an_unpatched_git_is_warned_of_and_worked_with() {
    let folder = tempfile::tempdir().unwrap();
    answers(folder.path(), "git version 2.43.0");
    let output = autobuild(folder.path(), &["demo", "--repo", "/nowhere", "--agent", "claude"]).await;
    let text = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("may lack the security fixes of git 2.43.7"), "{text}");
    // It goes on to the next question.
    assert!(lines[1].contains("--repo /nowhere cannot be opened"), "{text}");
}
