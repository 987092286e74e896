//! `autobuild run` in a person's own repository: the files that it leaves, where it continues, and when it refuses.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "a test that cannot go on has failed"
)]

use crate::own::{ISSUE, Own, mode, text};
use serde_json::Value;
use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, process::Output};
use tokio::io::{AsyncBufReadExt, BufReader};

const BRANCH: &str = "autobuild/notes";

impl Own {
    /// `autobuild run ../issue.md` at the top of the repository.
    pub async fn run(&self, more: &[&str]) -> Output {
        let agent = self.agent();
        let words = [&["run", "../issue.md", "--agent", &agent], more].concat();
        self.autobuild("", &words).output().await.unwrap()
    }

    /// Runs a command whose last line is JSON.
    pub async fn json(&self, words: &[&str]) -> Value {
        let output = self.autobuild("", words).output().await.unwrap();
        let said = text(&output);
        let last = said.lines().last();
        serde_json::from_str(last.unwrap_or(&format!("{output:?}"))).unwrap()
    }

    /// Counts the ended agent runs of the only Feature, by task, role and turn.
    async fn paid(&self) -> BTreeMap<String, usize> {
        let mut paid = BTreeMap::new();
        for task in ["PLAN", "TASK-001"] {
            let words = ["trace", task, "--json"];
            let output = self.autobuild("", &words).output().await.unwrap();
            let lines = text(&output);
            let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            for run in lines.filter(|line| line["event"] == "run" && line["state"] == "ended") {
                *paid.entry(format!("{task} {} {}", run["role"], run["turn"])).or_default() += 1;
            }
        }
        paid
    }
}

pub fn whole(output: &Output) -> String {
    format!("{}{}", text(output), String::from_utf8_lossy(&output.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_no_log_in_can_be_lent_to_is_named() {
    let own = Own::new(None).await;
    let agent = own.agent();
    let words = ["plan", "../issue.md", "--agent", &agent, "--use-my-login"];
    let said = whole(&own.autobuild("", &words).output().await.unwrap());
    assert!(said.contains("This agent gets nothing") && !said.contains("your own log-in of"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_becomes_a_branch_and_the_work_tree_stays_as_it_is() {
    let own = Own::new(None).await;
    fs::create_dir(own.repository.join("sub")).unwrap();
    fs::write(own.repository.join("draft.md"), "mine").unwrap();
    let head = own.git("rev-parse HEAD").await;
    let agent = own.agent();
    let words = ["run", "../../issue.md", "--agent", &agent];
    let output = own.autobuild("sub", &words).output().await.unwrap();
    let said = whole(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("The work starts from your last commit. Not included: ") && said.contains("draft.md (new)"),
        "{said}"
    );
    assert!(!said.contains('\u{1b}') && !said.contains('\r'), "no terminal: {said}");
    assert!(said.contains("TASK-001  1      approved"), "{said}");
    assert!(said.contains("checks run, turn 1") && !said.contains("waiting for CI"), "no CI runs here: {said}");
    assert!(said.contains(&format!("git merge --squash {BRANCH}")), "{said}");

    assert_eq!(own.git(&format!("show {BRANCH}:notes.md")).await, "# Notes\n");
    assert_eq!(own.git(&format!("diff --name-only main {BRANCH}")).await, "notes.md\n");
    assert_eq!(own.git("rev-parse HEAD").await, head);
    assert_eq!(own.git("symbolic-ref HEAD").await, "refs/heads/main\n");
    assert_eq!(own.git("status --porcelain").await, "?? draft.md\n");
    assert_eq!(mode(&own.repository.join(".git/autobuild")), 0o700);

    let again = own.run(&[]).await;
    assert!(again.status.success() && text(&again).contains(BRANCH), "{again:?}");
    assert_eq!(own.git("branch --format='%(refname:short)'").await, format!("{BRANCH}\nmain\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_anywhere_it_goes_on_and_no_agent_is_paid_twice() {
    let calm = Own::new(None).await;
    assert!(calm.run(&[]).await.status.success());
    let expected = (calm.git(&format!("rev-parse {BRANCH}^{{tree}}")).await, calm.paid().await);
    assert_eq!(expected.1.values().sum::<usize>(), 2, "{expected:?}");
    let own = Own::new(None).await;
    let mut kills = 0;
    // Each start gets a little further.
    for lines in (1..).step_by(2) {
        let agent = own.agent();
        let words = ["run", "../issue.md", "--json", "--agent", &agent];
        let mut run = own.autobuild("", &words);
        let mut run = run.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut shown = BufReader::new(run.stdout.take().unwrap()).lines();
        let mut seen = 0;
        while seen < lines && shown.next_line().await.unwrap().is_some() {
            seen += 1;
        }
        if seen < lines {
            assert!(run.wait().await.unwrap().success());
            break;
        }
        run.kill().await.unwrap();
        kills += 1;
    }
    assert!(kills > 3, "{kills} kills");
    let found = (own.git(&format!("rev-parse {BRANCH}^{{tree}}")).await, own.paid().await);
    assert_eq!(found, expected);
    assert_eq!(own.git("branch --format='%(refname:short)'").await, format!("{BRANCH}\nmain\n"));
}

/// A Player that writes everything and then never ends; in its next run, nothing is left to do.
const ENDLESS: &str = r##"#!/bin/sh
case "$AUTOBUILD_ROLE" in
coach) echo '{"decision": "approve", "summary": "Fine", "criteria": [{"criterion": 1, "met": true, "evidence": "notes.md"}]}';;
*)
  if [ ! -e notes.md ]; then echo '# Notes' > notes.md; sleep 4711; fi
  echo '{"summary": "Nothing is left to do", "files_modified": [], "files_created": [], "ready_for_validation": true}';;
esac
"##;

#[tokio::test(flavor = "multi_thread")]
async fn what_a_player_wrote_before_the_process_was_killed_is_judged() {
    let own = Own::new(None).await;
    let agent = own.folder.path().join("agent.sh");
    fs::write(&agent, ENDLESS).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let agent = format!("command:'{}'", agent.display());
    let words = ["run", "../issue.md", "--json", "--agent", &agent];
    let mut run = own.autobuild("", &words).spawn().unwrap();
    let written = "find .. -name notes.md -size +0c | grep -q . && echo yes || echo no";
    while own.types(written).await.trim() != "yes" {
        assert!(run.try_wait().unwrap().is_none(), "it ended by itself");
    }
    run.kill().await.unwrap();
    let again = own.autobuild("", &words).output().await.unwrap();
    assert!(again.status.success(), "{}", whole(&again));
    assert_eq!(own.git(&format!("show {BRANCH}:notes.md")).await, "# Notes\n");
    let kept = "find .. -path '*/unsettled/*' -o -path '*/checkouts/*' -prune | wc -l";
    assert_eq!(own.types(kept).await.trim(), "0", "nothing is kept longer than it is needed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_of_that_name_is_left_alone() {
    let own = Own::new(None).await;
    own.git(&format!("branch {BRANCH}")).await;
    let before = own.git(&format!("rev-parse {BRANCH}")).await;
    let output = own.run(&["--json"]).await;
    let last: Value = serde_json::from_str(text(&output).lines().last().unwrap()).unwrap();
    assert_eq!((&last["ok"], &last["branch"]), (&true.into(), &"autobuild/notes-2".into()), "{last}");
    assert_eq!(own.git(&format!("rev-parse {BRANCH}")).await, before);
}

/// The person's folder, the words after `run`, and a part of the answer.
type Refused<'a> = (&'a str, &'a [&'a str], &'a str);

const REFUSED: [Refused<'_>; 10] = [
    ("tmp", &["../issue.md", "--agent", "scripted:../agents.yml"], "git init"),
    ("bare.git", &["../issue.md", "--agent", "scripted:../agents.yml"], "is a bare repository"),
    ("fresh", &["../issue.md", "--agent", "scripted:../agents.yml"], "has no commit yet"),
    ("a repository", &["none.md", "--agent", "scripted:../agents.yml"], "none.md: cannot be read"),
    (
        "a repository",
        &["Greet people by name", "--agent", "scripted:../agents.yml"],
        "`autobuild plan` and `autobuild task` also take the issue's words",
    ),
    ("a repository", &["../empty.md", "--agent", "scripted:../agents.yml"], "is empty"),
    ("a repository", &["../untitled.md", "--agent", "scripted:../agents.yml"], "begin it with a line `# Title`"),
    ("a repository", &["../issue.md"], "claude and codex were looked for"),
    ("a repository", &["../issue.md", "--agent", "gpt"], "valid: claude, codex"),
    ("a repository", &["../issue.md", "--agent", "scripted:none.yml"], "none.yml"),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_begin_is_said_in_one_line_with_its_remedy() {
    let own = Own::new(None).await;
    own.git("init -q --bare ../bare.git && git init -q ../fresh").await;
    fs::write(own.folder.path().join("empty.md"), "\n").unwrap();
    fs::write(own.folder.path().join("untitled.md"), "Add notes\n").unwrap();
    // There is git, but no agent.
    own.types("mkdir ../bin && ln -s \"$(command -v git)\" ../bin/").await;
    let programs = own.folder.path().join("bin");
    for (folder, words, remedy) in REFUSED {
        let mut command = own.autobuild("", &[&["run"], words].concat());
        command.current_dir(own.folder.path().join(folder)).env("PATH", &programs);
        let output = command.output().await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(remedy) && said.trim_end().lines().count() == 1, "{words:?}: {said}");
        let orders = own.repository.join(".git/autobuild/features");
        assert!(!orders.exists(), "nothing is ordered");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_terminals_work_on_two_features() {
    let own = Own::new(Some("#!/bin/sh\nsleep 2\n")).await;
    own.agents(&crate::own::AGENTS.repeat(2));
    fs::write(own.folder.path().join("other.md"), ISSUE.replace("# Notes\n", "# Other notes\n")).unwrap();
    let agent = own.agent();
    let words = ["run", "../issue.md", "--agent", &agent];
    let mut first = own.autobuild("", &words);
    let first = first.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let process = first.id().unwrap();
    let lock = own.repository.join(".git/autobuild/lock");
    while !fs::read_to_string(&lock).is_ok_and(|holder| holder.contains(&process.to_string())) {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let words = ["run", "../other.md", "--agent", &agent];
    let second = own.autobuild("", &words).output().await.unwrap();
    let said = whole(&second);
    assert_eq!(second.status.code(), Some(0), "{said}");
    assert!(said.contains(&format!("(process {process}) works on this repository")), "{said}");
    assert!(said.contains("git merge --squash autobuild/other-notes"), "{said}");
    let first = first.wait_with_output().await.unwrap();
    assert!(first.status.success() && text(&first).contains("FEAT-2 (Other notes) goes on here too"), "{first:?}");
    for branch in ["autobuild/notes", "autobuild/other-notes"] {
        assert_eq!(own.git(&format!("show {branch}:notes.md")).await, "# Notes\n");
    }
}

const DESIGN: &str = "
- role: designer
  answer:
    plan: Write notes.md
    pattern: none
    architecture_review: { score: 91, findings: [] }
    complexity: 1
";

const SENT_BACK: &str = "
- role: player
  turn: 1
  write: { draft.md: \"# Draft\\n\" }
  answer: { summary: Notes, files_modified: [], files_created: [draft.md], ready_for_validation: true }
- role: coach
  turn: 1
  answer:
    decision: feedback
    summary: Not yet
    issues:
      - { severity: must_fix, category: correctness, description: It is called notes.md, file: draft.md, line: 1 }
- role: player
  turn: 2
  write: { notes.md: \"# Notes\\n\" }
  answer: { summary: Notes, files_modified: [], files_created: [notes.md], ready_for_validation: true }
- role: coach
  turn: 2
  answer: { decision: approve, summary: Fine, criteria: [{ criterion: 1, met: true, evidence: notes.md }] }
";

#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_feature_goes_on_with_guidance_and_is_completed() {
    let own = Own::new(None).await;
    own.agents(SENT_BACK);
    own.commits_settings("max_turns: 1\n").await;
    assert_eq!(own.json(&["status", "--json"]).await["features"].as_array().unwrap().len(), 0);
    let blocked = own.run(&[]).await;
    let said = whole(&blocked);
    assert_eq!(blocked.status.code(), Some(1), "{said}");
    assert!(said.contains("TASK-001  1      blocked"), "{said}");
    let resume = "autobuild resume FEAT-1 'what to do'";
    assert!(said.contains(resume), "{said}");
    let status = own.json(&["status", "--json"]).await;
    let [feature] = &status["features"].as_array().unwrap()[..] else { panic!("{status}") };
    assert_eq!((&feature["state"], &feature["ok"]), (&"blocked".into(), &false.into()), "{status}");
    let refused = own.autobuild("", &["complete", "FEAT-1"]).output().await.unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");

    let words = ["resume", "TASK-001", "call it notes.md", "--max-turns", "2", "--json"];
    let resumed = own.json(&words).await;
    assert_eq!((&resumed["ok"], &resumed["branch"]), (&true.into(), &BRANCH.into()), "{resumed}");
    assert_eq!(resumed["tasks"][0]["turns"], 2, "{resumed}");
    let completed = own.json(&["complete", "FEAT-1", "--json"]).await;
    assert_eq!(completed["completed"], true, "{completed}");
    assert_eq!(own.git(&format!("show {BRANCH}:notes.md")).await, "# Notes\n");
    let left = own.types("ls .git/autobuild/forge/repositories ../.cache/autobuild/*/git/mirrors").await;
    assert!(!left.contains(".git\n"), "{left}");
    assert!(own.paid().await.len() == 4, "what happened is still known");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_task_is_taken_as_it_is_when_a_person_says_so() {
    let own = Own::new(None).await;
    own.agents(SENT_BACK);
    own.commits_settings("max_turns: 1\n").await;
    let blocked = own.run(&[]).await;
    assert_eq!(blocked.status.code(), Some(1), "{blocked:?}");
    assert!(whole(&blocked).contains("autobuild resume TASK-001 --approve"));
    let again = own.run(&[]).await;
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    assert!(whole(&again).contains("Nothing ran now"), "{again:?}");
    let unnamed = own.autobuild("", &["resume", "FEAT-1", "--skip"]).output().await.unwrap();
    assert_eq!(unnamed.status.code(), Some(2), "{unnamed:?}");
    let paid = own.paid().await.len();
    let taken = own.json(&["resume", "TASK-001", "--approve", "--json"]).await;
    assert_eq!((&taken["ok"], &taken["branch"]), (&true.into(), &BRANCH.into()), "{taken}");
    assert_eq!(own.paid().await.len(), paid, "nobody worked again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_built_when_that_is_asked_for_with_settings_for_this_once() {
    let own = Own::new(None).await;
    own.agents(SENT_BACK);
    let agent = own.agent();
    let plan = own.autobuild("", &["plan", "../issue.md", "--structured", "--agent", &agent]);
    let plan = { plan }.output().await.unwrap();
    let said = whole(&plan);
    assert_eq!(plan.status.code(), Some(0), "{said}");
    assert!(said.contains("autobuild feature FEAT-1") && text(&plan).contains("id: TASK-001"), "{said}");
    let is_yaml = !text(&plan).contains("FEAT-1 is planned") && !text(&plan).contains("labeled");
    assert!(is_yaml, "a file that it is sent to holds the plan alone: {said}");
    assert_eq!(own.paid().await, BTreeMap::new());
    let dry = own.autobuild("", &["feature", "FEAT-1", "--dry-run"]).output().await.unwrap();
    assert!(dry.status.success() && text(&dry).contains("id: TASK-001"), "{dry:?}");
    let built = own.json(&["feature", "feat-1", "--max-turns", "1", "--json"]).await;
    assert_eq!((&built["ok"], &built["state"]), (&false.into(), &"blocked".into()), "{built}");
    assert_eq!(built["tasks"][0]["turns"], 1, "{built}");
    let discarded = own.json(&["complete", "FEAT-1", "--discard", "--json"]).await;
    assert_eq!(discarded["state"], "given_up", "{discarded}");
    assert_eq!(own.git("branch --format='%(refname:short)'").await, "main\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_mended_in_the_repository_is_taken_in() {
    let own = Own::new(Some("#!/bin/sh\nexit 3\n")).await;
    let blocked = own.run(&[]).await;
    assert_eq!(blocked.status.code(), Some(1), "{blocked:?}");
    own.commits_settings("setup: 'true'\n").await;
    let went_on = own.run(&[]).await;
    assert_eq!(went_on.status.code(), Some(0), "{}", whole(&went_on));
    assert_eq!(own.git(&format!("diff --name-only main {BRANCH}")).await, "notes.md\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_task_needs_no_planner() {
    let own = Own::new(None).await;
    own.agents(&format!("{DESIGN}{}", crate::own::AGENTS));
    let task = "# Notes\n\n- [ ] There are notes (`file: notes.md`)\n";
    fs::write(own.folder.path().join("task.md"), task).unwrap();
    let agent = own.agent();
    let done = own.json(&["task", "../task.md", "--json", "--agent", &agent]).await;
    assert_eq!(done["tasks"].as_array().map(Vec::len), Some(1), "{done}");
    assert_eq!(own.paid().await.keys().filter(|run| run.contains("planner")).count(), 0);
}
