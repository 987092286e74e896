//! The start of `serve` and `demo`, from outside: the versions of git that they accept, the output of `serve --check`,
//! and `health`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, reason = "a test that cannot go on has failed")]

use std::{
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::Output,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
};

/// Creates a git that only prints this as its version, and leaves a mark if it is called for anything else.
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

/// Returns the only line of standard error.
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
    // Neither a folder nor a file that is not executable counts as git.
    std::fs::write(folder.path().join("git"), "").unwrap();
    for command in ["serve", "demo"] {
        let said = said(&autobuild(folder.path(), &[command]).await);
        assert!(said.contains(": git is not on PATH, and git 2.43 or newer is needed: install a newer one"), "{said}");
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
    // It continues with the next check.
    assert!(lines[1].contains("--repo /nowhere cannot be opened"), "{text}");
}

/// Returns the rows that `serve --check` prints: state and topic.
fn lines(output: &Output) -> Vec<(String, String)> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let read = |line: &str| {
        let (status, rest) = line.split_at(9);
        (status.trim().to_owned(), rest[..16].trim().to_owned())
    };
    text.lines().take_while(|line| !line.is_empty()).map(read).collect()
}

#[tokio::test]
async fn a_check_says_everything_that_a_start_lacks_and_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    answers(folder.path(), "git version 2.39.5");
    let output = autobuild(folder.path(), &["serve", "--check"]).await;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let lines = lines(&output);
    let of = |what: &str| lines.iter().find(|(_, known)| known == what).map(|(status, _)| status.as_str());
    assert_eq!(of("git"), Some("broken"), "{lines:?}");
    assert_eq!((of("settings"), of("database"), of("data folder")), (Some("ok"), Some("ok"), Some("ok")));
    assert_eq!((of("App"), of("Coach App")), (Some("warning"), None));
    let made: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(made.len(), 1, "{made:?}");
}

/// Starts `serve --check` with these words, and returns its row about isolation; `None` if it did not start.
async fn isolation(starter: &[&str], data: &Path) -> Option<String> {
    let mut words = starter.to_vec();
    words.extend([env!("CARGO_BIN_EXE_autobuild"), "serve", "--check"]);
    let (program, arguments) = words.split_first().unwrap();
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", std::env::var_os("PATH")?);
    command.env("HOME", data).env("AUTOBUILD_DATA_DIR", data.join("none"));
    let text = String::from_utf8(command.output().await.unwrap().stdout).unwrap();
    text.lines().find(|line| line.contains(" isolation ")).map(str::to_owned)
}

#[tokio::test]
async fn the_first_processes_of_a_container_get_the_isolation_of_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let usual = isolation(&[], folder.path()).await.unwrap();
    let own_list = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    let can = Command::new("unshare").args(&own_list[1..]).arg("true").output().await;
    if !can.is_ok_and(|done| done.status.success()) {
        eprintln!("not tried here: no namespace of processes can be made");
        return;
    }
    let child = ["sh", "-c", "\"$@\"; true", "sh"];
    for parents in [&[][..], &child[..], &[child, child].concat()[..]] {
        let found = isolation(&[&own_list[..], parents].concat(), folder.path()).await;
        assert_eq!(found.as_ref(), Some(&usual), "{parents:?}");
    }
}

/// The user `nobody`.
const NOBODY: u32 = 65_534;

/// Returns the owner of the files in `/proc` of a program that waits until somebody reads its output. The system gives
/// them to root if no other program of its user may read its memory.
async fn owner_in_proc(program: &str, arguments: &[&str], user: u32) -> u32 {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    rustix::pipe::fcntl_setpipe_size(&writer, 4_096).unwrap();
    let mut command = Command::new(program);
    command.args(arguments).env_clear().stdout(std::process::Stdio::from(writer)).uid(user).kill_on_drop(true);
    let waiting = command.spawn().unwrap();
    assert_eq!(rustix::io::read(&reader, &mut [0]), Ok(1), "it runs");
    std::fs::metadata(format!("/proc/{}/environ", waiting.id().unwrap())).unwrap().uid()
}

#[tokio::test]
async fn no_other_program_of_its_user_reads_its_memory() {
    let own = rustix::process::getuid();
    let user = if own.is_root() { NOBODY } else { own.as_raw() };
    assert_eq!(owner_in_proc(env!("CARGO_BIN_EXE_autobuild"), &["completions", "bash"], user).await, 0);
    assert_eq!(owner_in_proc("yes", &[], user).await, user, "without the defence");
}

#[tokio::test]
async fn a_check_that_nobody_reads_ends_without_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    answers(folder.path(), "git version 2.99.0");
    let unread = async |stdout: std::process::Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autobuild"));
        command.args(["serve", "--check"]).env_clear().env("PATH", folder.path());
        command.env("HOME", folder.path()).current_dir(folder.path());
        command.stdout(stdout).stderr(std::process::Stdio::piped());
        let mut check = command.spawn().unwrap();
        drop(check.stdout.take());
        let output = check.wait_with_output().await.unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(unread(std::process::Stdio::piped()).await, (Some(1), String::new()));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let (code, said) = unread(full.into()).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("standard output cannot be written") && said.lines().count() == 1, "{said}");
}

#[tokio::test]
async fn a_check_of_wrong_settings_names_them() {
    let folder = tempfile::tempdir().unwrap();
    answers(folder.path(), "git version 2.99.0");
    let output = autobuild(folder.path(), &["serve", "--check", "--listen", "nowhere"]).await;
    assert_eq!(output.status.code(), Some(1));
    let expected = [
        ("ok", "AutoBuild"),
        ("ok", "git"),
        ("broken", "settings"),
        // The rest waits until the settings can be read.
        ("warning", "settings"),
    ];
    let expected = expected.map(|(status, what)| (status.to_owned(), what.to_owned()));
    assert_eq!(lines(&output), expected);
}

/// Starts a listener that answers every request like this; returns its address.
async fn answering(answer: &'static str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = [0; 1024];
            let _ = stream.read(&mut asked).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    address
}

#[tokio::test]
async fn health_answers_by_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let alive = answering("HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nok\n").await;
    let draining = answering("HTTP/1.1 503 No\r\ncontent-length: 9\r\nconnection: close\r\n\r\ndraining\n").await;
    let output = autobuild(folder.path(), &["health", "--listen", &alive]).await;
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"ok\n".as_slice()));
    let said_by = |output: Output| (output.status.code(), String::from_utf8(output.stderr).unwrap());
    let (code, said) = said_by(autobuild(folder.path(), &["health", "--ready", "--listen", &draining]).await);
    assert!(code == Some(1) && said.contains("/readyz answers 503") && said.contains("draining"), "{said}");
    let (code, said) = said_by(autobuild(folder.path(), &["health", "--listen", "127.0.0.1:1"]).await);
    assert!(code == Some(1) && said.contains("http://127.0.0.1:1/healthz does not answer"), "{said}");
}
