//! The demo from outside, on a person's own repository: its output at start and end, and the files that it leaves.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, reason = "a test that cannot go on has failed")]

use crate::own::{Own, mode, text};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Output,
};
use tokio::process::Command;

const SENT_BACK: &str = "
- role: player
  write: { notes.md: \"# Notes\\n\" }
  answer: { summary: Notes, files_modified: [], files_created: [notes.md], ready_for_validation: true }
- role: coach
  answer:
    decision: feedback
    summary: Not yet
    issues:
      - severity: must_fix
        category: correctness
        description: It is a heading and no note, and whoever reads it learns nothing from it
        file: notes.md
        line: 1
";

/// Fails if it cannot read the key beside a program on `PATH`.
const READING_SETUP: &str = "#!/bin/sh\ngrep -q secret \"$(dirname \"$(command -v beside-a-key)\")/key\"\n";
const FAILING_SETUP: &str = "#!/bin/sh\necho 'the tool chain is not there' >&2\nexit 3\n";

/// The demo on a person's repository.
trait Demo {
    async fn demo(&self, more: &[&str]) -> Output;
    fn command(&self, more: &[&str]) -> Command;
    fn transcript(&self) -> String;
    fn leftovers(&self) -> Vec<PathBuf>;
}

impl Demo for Own {
    async fn demo(&self, more: &[&str]) -> Output {
        self.command(more).output().await.unwrap()
    }

    fn command(&self, more: &[&str]) -> Command {
        let agent = self.agent();
        let mut command = Command::new(env!("CARGO_BIN_EXE_autobuild"));
        command
            .args(["demo", "--once", "--agent", &agent, "--repo"])
            .arg(&self.repository)
            .arg("--issue")
            .arg(self.folder.path().join("issue.md"))
            .args(more);
        command.env("HOME", self.folder.path()).env("TMPDIR", self.folder.path().join("tmp"));
        command
    }

    /// The file that the demo left.
    fn transcript(&self) -> String {
        let [folder] = &self.leftovers()[..] else { unreachable!("one folder") };
        fs::read_to_string(folder.join("transcript.txt")).unwrap()
    }

    /// Returns the files that the demo left.
    fn leftovers(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path().join("tmp")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_result_comes_into_the_own_repository_with_the_line_that_is_printed() {
    let own = Own::new(None).await;
    fs::write(own.repository.join("README.md"), "# Mine, changed\n").unwrap();
    fs::write(own.repository.join("draft.md"), "").unwrap();
    let demo = own.demo(&[]).await;
    let said = text(&demo);
    assert!(demo.status.success(), "{said}{}", String::from_utf8_lossy(&demo.stderr));
    assert!(said.contains("The work starts from your last commit. Not included: "), "{said}");
    assert!(said.contains("README.md, draft.md (new)"), "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains('\r'), "no terminal, no control characters");
    let fetch = said.lines().find_map(|line| line.trim().strip_prefix("git -C ")).unwrap();
    own.git(&format!("-C {fetch}")).await;
    assert_eq!(own.git("show FETCH_HEAD:notes.md").await, "# Notes\n");

    let [folder] = &own.leftovers()[..] else { unreachable!("one folder") };
    assert_eq!(mode(folder), 0o700);
    assert!(!folder.join("data").exists(), "checkouts and mirrors are gone");
    let trace = said.lines().find_map(|line| line.trim().strip_prefix("agents      autobuild ")).unwrap();
    let words = format!("{} {trace}", env!("CARGO_BIN_EXE_autobuild"));
    let traced = Command::new("sh").args(["-c", &words]).output().await.unwrap();
    assert!(text(&traced).contains("player"), "{trace}: {traced:?}");
    for named in ["repository", "transcript"] {
        let place = said.lines().find_map(|line| line.trim().strip_prefix(named)).unwrap().trim();
        assert!(Path::new(place).exists(), "{place}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn why_it_is_blocked_and_what_to_do_stands_in_the_end_and_in_the_transcript() {
    let own = Own::new(Some(FAILING_SETUP)).await;
    let demo = own.demo(&[]).await;
    let said = text(&demo);
    assert_eq!(demo.status.code(), Some(1), "{said}");
    let (before, end) = said.rsplit_once("FEAT-1 is blocked (set-up fails on the default branch).").unwrap();
    for part in [before, end] {
        assert!(part.contains("the tool chain is not there"), "{said}");
    }
    assert!(end.contains("What you can do:\n  1. "), "{end}");
    let transcript = own.transcript();
    assert!(transcript.contains("the tool chain is not there"), "{transcript}");

    let json = text(&own.demo(&["--json"]).await);
    let last: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(last["ok"], false);
    assert_eq!(last["trace"], serde_json::Value::Null, "no agent ran");
    assert!(last["why"][0].as_str().unwrap().contains("the tool chain is not there"), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_a_secret_that_a_variable_names_is_hidden_also_beside_programs() {
    for (variable, is_hidden) in
        [("AUTOBUILD_ANTHROPIC_API_KEY_FILE", true), ("AUTOBUILD_CONFIG", true), ("ANOTHER_FILE", false)]
    {
        let own = Own::new(Some(READING_SETUP)).await;
        let bin = own.folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        fs::write(bin.join("key"), "a secret\n").unwrap();
        fs::write(bin.join("beside-a-key"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(bin.join("beside-a-key"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let demo = own.command(&[]).env("PATH", path).env(variable, bin.join("key")).output().await.unwrap();
        assert_eq!(text(&demo).contains("Set-up does not work"), is_hidden, "{variable}: {}", text(&demo));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_coach_says_on_a_line_is_shown_and_kept() {
    let own = Own::new(None).await;
    own.commits_settings("max_turns: 1\n").await;
    own.agents(SENT_BACK);
    let demo = own.demo(&[]).await;
    let said = text(&demo);
    assert_eq!(demo.status.code(), Some(1), "{said}");
    let finding = "It is a heading and no note, and whoever reads it learns nothing from it";
    let on_line = format!("- [correctness] `notes.md`, line 1: {finding}");
    let (before, end) = said.rsplit_once("FEAT-1 is blocked (out of turns).").unwrap();
    assert!(before.contains(&on_line), "{said}");
    assert!(end.contains(finding), "{end}");
    let (pages, end) = own
        .transcript()
        .rsplit_once("FEAT-1 is blocked (out of turns).")
        .map(|(pages, end)| (pages.to_owned(), end.to_owned()))
        .unwrap();
    assert!(pages.contains(finding) && pages.contains("<summary>"), "what is posted is kept word for word: {pages}");
    assert!(end.contains(finding), "{end}");
    let fetched: Vec<&str> = said.lines().filter(|line| line.starts_with("  git -C ")).collect();
    assert!(
        fetched.len() == 1 && fetched[0].ends_with("autobuild/1/task-001-write-the-notes"),
        "the integration branch holds the plan alone: {said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_printed_last_is_shown_and_traced() {
    let own = Own::new(None).await;
    own.agents(&"- { role: player, fail: garbage }\n".repeat(2));
    let said = text(&own.demo(&[]).await);
    let printed = "no answer, as scripted";
    let (before, end) = said.rsplit_once("FEAT-1 is blocked (the Player gave no usable answer).").unwrap();
    assert!(before.contains(printed) && end.contains(printed), "{said}");
    let transcript = own.transcript();
    let (_, did) = transcript.rsplit_once("What the agents did").unwrap();
    assert!(did.contains(&format!("prints   {printed}")), "{did}");
}

#[tokio::test(flavor = "multi_thread")]
async fn approved_work_that_a_person_merges_is_named() {
    let own = Own::new(None).await;
    own.commits_settings("merge: human\n").await;
    let said = text(&own.demo(&[]).await);
    let fetches: Vec<&str> = said.lines().filter_map(|line| line.trim().strip_prefix("git -C ")).collect();
    let [fetch] = fetches[..] else { panic!("one branch holds work: {said}") };
    own.git(&format!("-C {fetch}")).await;
    assert_eq!(own.git("show FETCH_HEAD:notes.md").await, "# Notes\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_that_is_closed_leaves_no_checkouts() {
    let own = Own::new(Some("#!/bin/sh\nsleep 600\n")).await;
    let command = own.command(&[]);
    // The tests may have been started so that they outlive their terminal, and programs inherit that.
    let mut demo = Command::new("env");
    demo.arg("--default-signal=HUP")
        .arg(command.as_std().get_program())
        .args(command.as_std().get_args())
        .env("HOME", own.folder.path())
        .env("TMPDIR", own.folder.path().join("tmp"))
        .stdout(std::process::Stdio::piped());
    let mut demo = demo.spawn().unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(demo.stdout.take().unwrap()));
    // The demo has started, and listens.
    let first = lines.next_line().await.unwrap();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("reacted to #1") {
            break;
        }
    }
    let process = rustix::process::Pid::from_raw(demo.id().unwrap().cast_signed()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::HUP).unwrap();
    while lines.next_line().await.unwrap().is_some() {}
    let ended = demo.wait().await.unwrap();
    assert_eq!(ended.code(), Some(130), "{first:?}");
    assert_eq!(own.leftovers(), Vec::<PathBuf>::new(), "there is no work yet");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_in_use_is_told_with_what_to_do() {
    let own = Own::new(None).await;
    let used = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = used.local_addr().unwrap().port().to_string();
    let demo = own.demo(&["--port", &port]).await;
    let said = String::from_utf8(demo.stderr).unwrap();
    assert!(said.contains("choose another with --port") && said.contains(&port), "{said}");
    assert_eq!(own.leftovers(), Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_not_work_is_told_with_the_option_that_chooses_another() {
    let own = Own::new(None).await;
    let programs = own.folder.path().join("bin");
    fs::create_dir(&programs).unwrap();
    let broken = "#!/bin/sh\necho 'node: not found' >&2\nexit 127\n";
    fs::write(programs.join("claude"), broken).unwrap();
    fs::set_permissions(programs.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut demo = Command::new(env!("CARGO_BIN_EXE_autobuild"));
    demo.args(["demo", "--once", "--agent", "claude", "--repo"])
        .arg(&own.repository)
        .arg("--issue")
        .arg(own.folder.path().join("issue.md"));
    demo.env("HOME", own.folder.path()).env("TMPDIR", own.folder.path().join("tmp"));
    let demo = demo.env("PATH", path).env("AUTOBUILD_ANTHROPIC_API_KEY", "a-key").output();
    let said = String::from_utf8(demo.await.unwrap().stderr).unwrap();
    for part in ["(--agent chooses another)", "exit code 127", "node: not found", "on the PATH"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_where_the_demo_cannot_begin() {
    let own = Own::new(None).await;
    fs::write(own.folder.path().join("agents.yml"), "- nonsense\n").unwrap();
    let demo = own.demo(&[]).await;
    assert_eq!(demo.status.code(), Some(1), "{demo:?}");
    assert_eq!(own.leftovers(), Vec::<PathBuf>::new());
}
