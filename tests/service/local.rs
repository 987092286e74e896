//! `run` and related commands in unusual repositories, and with files that somebody left beside the work.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, reason = "a test that cannot go on has failed")]

use crate::{
    own::{Own, mode, text},
    run::whole,
};
use std::{fs, os::unix::fs::symlink, process::Stdio};

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_called_autobuild_is_no_dead_end() {
    let own = Own::new(None).await;
    own.git("switch -qc autobuild").await;
    let done = own.run(&["--json"]).await;
    let last = text(&done).lines().last().unwrap().to_owned();
    assert!(done.status.success(), "{}", whole(&done));
    assert!(last.contains("\"branch\":\"autobuild-notes\""), "{last}");
    assert_eq!(own.git("show autobuild-notes:notes.md").await, "# Notes\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_came_in_the_way_meanwhile_is_no_dead_end() {
    let own = Own::new(None).await;
    own.git("switch -qc autobuild/1").await;
    let agent = own.agent();
    let planned = own.json(&["plan", "../issue.md", "--json", "--agent", &agent]).await;
    assert_eq!(planned["ok"], true, "{planned}");
    own.git("switch -qc work && git branch -q -D autobuild/1 && git branch autobuild").await;
    let built = own.json(&["feature", "FEAT-1", "--json"]).await;
    assert_eq!(built["branch"], "autobuild-notes", "{built}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_issue_is_said_in_one_line() {
    let own = Own::new(None).await;
    own.types("mkfifo ../pipe").await;
    let agent = own.agent();
    for (words, remedy) in [
        (["run", "../pipe"], "save the issue as a Markdown file"),
        (["run", "/dev/zero"], "save the issue as a Markdown file"),
        (["plan", ""], "the issue is empty"),
        (["task", "  "], "the issue is empty"),
    ] {
        let output = own.autobuild("", &[&words[..], &["--agent", &agent]].concat()).output().await.unwrap();
        let said = whole(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(remedy) && said.lines().count() == 1, "{words:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_cannot_be_copied_gets_no_order() {
    let own = Own::new(None).await;
    own.commits_settings("max_turns: 2\n").await;
    own.git("clone -q --depth 1 \"file://$PWD\" ../shallow").await;
    own.git("config uploadpack.allowFilter true").await;
    own.git("clone -q --filter=tree:0 \"file://$PWD\" ../partial").await;
    own.types("git init -q --object-format=sha256 ../other && cd ../other && git -c user.name=me -c user.email=m@e commit -q --allow-empty -m x").await;
    let agent = own.agent();
    for (folder, remedy) in [
        ("../shallow", "git fetch --unshallow"),
        ("../partial", "git fetch --refetch --no-filter"),
        ("../other", "by sha256"),
        (".git/objects", "git's own folder"),
    ] {
        let mut run = own.autobuild(folder, &["run", "../issue.md", "--agent", &agent]);
        if folder.starts_with(".git") {
            run = own.autobuild(folder, &["status"]);
        }
        let output = run.output().await.unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(whole(&output).contains(remedy), "{}", whole(&output));
        assert!(!own.repository.join(folder).join(".git/autobuild").exists(), "nothing is ordered");
    }
    own.types("cd ../partial && git fetch -q --refetch --no-filter").await;
    let completed = own.autobuild("../partial", &["run", "../issue.md", "--agent", &agent]).output();
    let completed = completed.await.unwrap();
    assert!(completed.status.success(), "{}", whole(&completed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_whose_branch_is_gone_is_made_again_or_said_to_be_merged() {
    let own = Own::new(None).await;
    assert!(own.run(&[]).await.status.success());
    own.git("branch -q -D autobuild/notes && git reflog expire --expire=now --all && git gc -q --prune=now").await;
    let status = own.autobuild("", &["status"]).output().await.unwrap();
    assert!(text(&status).contains("its branch is gone"), "{}", whole(&status));
    let again = own.run(&[]).await;
    assert!(again.status.success(), "{}", whole(&again));
    assert_eq!(own.git("show autobuild/notes:notes.md").await, "# Notes\n");
    own.git("merge -q autobuild/notes && git branch -q -d autobuild/notes").await;
    let merged = own.run(&[]).await;
    let said = whole(&merged);
    assert!(said.contains("what is checked out holds the result") && !said.contains("git merge"), "{said}");
    let completed = own.json(&["complete", "FEAT-1", "--json"]).await;
    assert_eq!(
        (&completed["completed"], &completed["ok"], &completed["commands"]),
        (&true.into(), &true.into(), &serde_json::json!([])),
        "{completed}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_given_up_is_called_so() {
    let own = Own::new(None).await;
    own.agents(&"- { role: player, fail: garbage }\n".repeat(8));
    assert_eq!(own.run(&[]).await.status.code(), Some(1));
    let discarded = own.json(&["complete", "FEAT-1", "--discard", "--json"]).await;
    assert_eq!((&discarded["state"], &discarded["completed"]), (&"given_up".into(), &false.into()), "{discarded}");
    let status = own.autobuild("", &["status"]).output().await.unwrap();
    assert!(text(&status).contains("given up"), "{}", whole(&status));
    let resumed = own.autobuild("", &["resume", "FEAT-1"]).output().await.unwrap();
    assert!(whole(&resumed).contains("FEAT-1 is given up"), "{}", whole(&resumed));
}

#[tokio::test(flavor = "multi_thread")]
async fn why_it_could_not_be_worked_on_is_still_known_later() {
    let own = Own::new(None).await;
    let folder = own.state();
    fs::create_dir_all(folder.join("forge")).unwrap();
    fs::write(folder.join("forge/forge.json"), "{").unwrap();
    assert_eq!(own.run(&[]).await.status.code(), Some(2));
    let status = own.autobuild("", &["status"]).output().await.unwrap();
    assert!(text(&status).contains("is not a forge's memory"), "{}", whole(&status));
    fs::remove_file(folder.join("forge/forge.json")).unwrap();
    let done = own.json(&["resume", "FEAT-1", "--json"]).await;
    assert_eq!((&done["ok"], &done["error"]), (&true.into(), &serde_json::Value::Null), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_named_in_one_line_with_what_to_do() {
    let own = Own::new(None).await;
    assert!(own.run(&[]).await.status.success());
    own.types("cp -a .git/autobuild ../saved && sed '1s/.*/# Other/' ../issue.md > ../other.md").await;
    let agent = own.agent();
    let kept = ".git/autobuild";
    for (file, damage, what_to_do) in [
        ("forge/forge.json", "head -c 100", "move"),
        ("forge/forge.json", "true", "move"),
        ("forge/forge.json", "folder", "move"),
        ("autobuild.db", "head -c 5000", "restore it from a backup, or move it away"),
        ("autobuild.db", "folder", "move it away"),
        ("lock", "folder", "or missing"),
    ] {
        let at = format!("{kept}/{file}");
        let breaks = match damage {
            "folder" => format!("rm -rf {at} && mkdir {at}"),
            part => format!("{part} {at} > ../part && cat ../part > {at}"),
        };
        own.types(&format!("rm -rf {kept} && cp -a ../saved {kept} && {breaks}")).await;
        let mut run = own.autobuild("", &["run", "../other.md", "--agent", &agent]);
        let output = run.output().await.unwrap();
        let said = whole(&output);
        assert_eq!(output.status.code(), Some(2), "{file} {damage}: {said}");
        for part in [file, what_to_do] {
            assert!(said.contains(part), "{file} {damage}: {part}: {said}");
        }
        assert_eq!(said.trim().lines().count(), 1, "{file} {damage}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_a_plan_says_how_to_make_one() {
    let own = Own::new(None).await;
    let said = async |words: &[&str]| {
        let output = own.autobuild("", words).output().await.unwrap();
        let said = whole(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert_eq!(said.trim().lines().count(), 1, "{words:?}: {said}");
        said
    };
    let nothing = "nothing is planned in this repository yet: `autobuild plan ISSUE.md` plans an issue";
    for words in [["feature", "FEAT-1"], ["feature", "TASK-001"], ["task", "TASK-001"]] {
        let said = said(&words).await;
        assert!(said.contains(nothing), "{words:?}: {said}");
    }
    for command in ["plan", "task"] {
        let said = said(&[command, "FEAT-1"]).await;
        assert!(said.contains("`autobuild feature FEAT-1` builds"), "{command}: {said}");
    }
    let file = said(&["feature", "../issue.md"]).await;
    assert!(file.contains("`autobuild plan ../issue.md` plans it"), "{file}");

    own.commits_settings("max_turn: 3\n").await;
    assert_eq!(own.run(&[]).await.status.code(), Some(1), "no plan can be made");
    for more in [&["--dry-run"][..], &["--max-turns", "3"]] {
        let said = said(&[&["feature", "FEAT-1"], more].concat()).await;
        assert!(said.contains("FEAT-1 has no plan yet"), "{more:?}: {said}");
    }
    let status = own.autobuild("", &["status"]).output().await.unwrap();
    assert!(text(&status).contains("\n  not started · no tasks yet"), "{}", text(&status));
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_not_followed_and_nobody_else_reads_anything() {
    let own = Own::new(None).await;
    let folder = own.state();
    let elsewhere = own.folder.path().join("elsewhere");
    fs::write(&elsewhere, "mine").unwrap();
    symlink(&elsewhere, folder.join("port")).unwrap();
    let output = own.run(&[]).await;
    assert!(output.status.success(), "{}", whole(&output));
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine");
    for entry in ["", "features", "forge"] {
        assert_eq!(mode(&folder.join(entry)), 0o700, "{entry}");
    }
    for entry in ["port", "lock", "autobuild.db", "features/1.txt", "forge/forge.json"] {
        assert_eq!(mode(&folder.join(entry)), 0o600, "{entry}");
    }
    assert_eq!(mode(&own.folder.path().join(".cache/autobuild")), 0o700);
    fs::remove_file(folder.join("lock")).unwrap();
    symlink(&elsewhere, folder.join("lock")).unwrap();
    let refused = own.autobuild("", &["complete", "FEAT-1"]).output().await.unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", whole(&refused));
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_behind_the_output_is_no_success() {
    let own = Own::new(None).await;
    assert!(own.run(&[]).await.status.success());
    for words in [&["status", "--json"][..], &["status"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut status = own.autobuild("", words);
        status.stdout(full).stderr(Stdio::piped());
        let output = status.spawn().unwrap().wait_with_output().await.unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(whole(&output).contains("standard output cannot be written"), "{}", whole(&output));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_beside_the_issue_is_found_again_from_another_folder() {
    let own = Own::new(None).await;
    own.types("mkdir sub && printf '#!/bin/sh\\nexit 1\\n' > ../agent.sh && chmod +x ../agent.sh").await;
    let words = ["run", "../issue.md", "--agent", "command:../agent.sh --fast"];
    let output = own.autobuild("", &words).output().await.unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", whole(&output));
    let again = own.autobuild("sub", &["resume", "FEAT-1", "--json"]).output().await.unwrap();
    assert_eq!(again.status.code(), Some(1), "{}", whole(&again));
    let last: serde_json::Value = serde_json::from_str(text(&again).lines().last().unwrap()).unwrap();
    let why = last["why"].to_string();
    assert!(why.contains("exit code 1") && !why.contains("not found"), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_names_the_person_and_the_repository_and_states_are_plain_words() {
    let own = Own::new(None).await;
    own.git("config user.name 'Vera Nowak'").await;
    let said = whole(&own.run(&[]).await);
    assert!(said.contains("vera-nowak") && said.contains("/local/a-repository-1/issues/1"), "{said}");
    for never in ["mona", "acme", "player_turn", "coach_turn", "in_review", "/autobuild "] {
        assert!(!said.contains(never), "{never}: {said}");
    }
    let nameless = Own::new(None).await;
    nameless.git("config user.name 'Łukasz'").await;
    let said = whole(&nameless.run(&[]).await);
    assert!(said.contains("s  you  "), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tests_that_do_not_run_are_said_before_any_agent_is_paid() {
    let own = Own::new(None).await;
    fs::write(own.folder.path().join("issue.md"), "# Notes\n\nWrite notes.\n").unwrap();
    own.commits_settings("test: ./no-such-runner\n").await;
    let output = own.run(&["--json"]).await;
    assert_eq!(output.status.code(), Some(1), "{}", whole(&output));
    let last: serde_json::Value = serde_json::from_str(text(&output).lines().last().unwrap()).unwrap();
    assert_eq!((&last["state"], &last["all"]["agent_runs"]), (&"blocked".into(), &0.into()), "{last}");
    assert!(last["why"][0].as_str().unwrap().contains("The tests do not run"), "{last}");
    assert_eq!(last["commands"][0], "autobuild resume FEAT-1", "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_the_settings_are_the_reason_as_long_as_they_stand() {
    let own = Own::new(Some("#!/bin/sh\nexit 3\n")).await;
    let blocked = whole(&own.run(&[]).await);
    assert!(blocked.contains("Set-up does not work"), "{blocked}");
    own.commits_settings("setup: 'true'\nmax_turn: 3\n").await;
    let resumed = own.json(&["resume", "FEAT-1", "--json"]).await;
    let why = resumed["why"].to_string();
    assert!(why.contains("did you mean `max_turns`?"), "{resumed}");
    assert!(why.contains("What you can do") && !why.contains("Set-up"), "{resumed}");
    own.commits_settings("setup: 'true'\nmax_turns: 3\n").await;
    let done = own.json(&["resume", "FEAT-1", "--json"]).await;
    assert_eq!((&done["ok"], &done["why"]), (&true.into(), &serde_json::json!([])), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_discarded_is_said_in_one_line() {
    let own = Own::new(None).await;
    own.agents(&"- { role: player, fail: garbage }\n".repeat(8));
    let blocked = own.run(&[]).await;
    assert!(!whole(&blocked).contains("--approve"), "{}", whole(&blocked));
    let discarded = own.autobuild("", &["complete", "FEAT-1", "--discard"]).output().await.unwrap();
    let said = text(&discarded);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("Giving up FEAT-1 (Notes), 0 of 1 task approved."), "{said}");
    assert_eq!(lines[1], "FEAT-1 is given up.");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_begin_has_no_runs_to_read() {
    let own = Own::new(None).await;
    own.agents("[");
    assert_eq!(own.run(&[]).await.status.code(), Some(2));
    for (words, expected) in
        [(&["effects"][..], "No step failed, and none waits"), (&["trace", "TASK-001"], "no agent has run here yet")]
    {
        let output = own.autobuild("", words).output().await.unwrap();
        assert!(whole(&output).contains(expected), "{words:?}: {output:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_misspelt_name_is_answered_with_the_nearest_also_as_json() {
    let own = Own::new(None).await;
    assert!(own.run(&[]).await.status.success());
    for (words, expected) in [
        (&["status", "FAET-1"][..], "did you mean FEAT-1?"),
        (&["resume", "TASK-01"], "did you mean TASK-001?"),
        (&["complete", "nothing like it"], "the Features are FEAT-1"),
        (&["trace", "TASK-009"], "agents ran for TASK-001 of FEAT-1"),
        (&["trace", "T"], "name one as TASK-001"),
        (&["status", "--jsno"], "a similar argument exists"),
        (&["resume"], "required arguments"),
    ] {
        let words = [words, &["--json"]].concat();
        let output = own.autobuild("", &words).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(expected), "{words:?}: {said}");
        let printed: serde_json::Value = serde_json::from_str(text(&output).trim()).unwrap();
        assert_eq!(printed["ok"], false, "{words:?}: {printed}");
        assert!(!output.status.success());
    }
}

/// A feature task; without tests, nothing can prove it.
const LOUD: &str = "# Greet loudly

```yaml
tasks:
  - id: TASK-001
    name: Greet loudly
    type: feature
    acceptance_criteria:
      - text: There is a loud greeting
        check: { file: loud.sh }
    files: [loud.sh]
    dependencies: []
```
";

fn shouts(word: &str) -> String {
    format!(
        "
- role: player
  write: {{ loud.sh: \"echo {word}\\n\" }}
  answer: {{ summary: Loud, files_modified: [], files_created: [loud.sh], ready_for_validation: true }}
- role: coach
  answer: {{ decision: approve, summary: Fine, criteria: [{{ criterion: 1, met: true, evidence: loud.sh }}] }}
"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn tests_that_were_committed_since_are_there_when_a_task_goes_on_or_starts_again() {
    for words in [&["resume", "FEAT-1", "--json"][..], &["resume", "TASK-001", "--retry", "--json"]] {
        let own = Own::new(None).await;
        fs::write(own.folder.path().join("issue.md"), LOUD).unwrap();
        own.agents(&(shouts("HI") + &shouts("HELLO")));
        own.commits_settings("max_turns: 1\n").await;
        let blocked = own.run(&["--json"]).await;
        assert_eq!(blocked.status.code(), Some(1), "{}", whole(&blocked));
        fs::create_dir(own.repository.join("tests")).unwrap();
        fs::write(own.repository.join("tests/run.sh"), "echo 1..1; echo ok 1 - greets\n").unwrap();
        own.commits_settings("test: sh tests/run.sh\nmode: standard\n").await;
        let done = own.json(words).await;
        assert_eq!(done["ok"], true, "{done}");
        let branch = done["branch"].as_str().unwrap();
        let test = own.git(&format!("show {branch}:tests/run.sh")).await;
        assert!(test.contains("greets"), "{test}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_which_nobody_may_say_what_must_hold_is_not_ordered() {
    let own = Own::new(None).await;
    fs::write(own.folder.path().join("issue.md"), "# Greet\n\n- [ ] It greets\n").unwrap();
    let words = ["task", "../issue.md", "--no-pre-loop", "--agent", &own.agent()];
    let refused = own.autobuild("", &words).output().await.unwrap();
    let said = whole(&refused);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    for part in ["`It greets` names no check", "leave --no-pre-loop out"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    own.commits_settings("pre_loop: never\n").await;
    let words = ["task", "../issue.md", "--agent", &own.agent()];
    let refused = own.autobuild("", &words).output().await.unwrap();
    assert!(whole(&refused).contains("name --pre-loop"), "{}", whole(&refused));
    assert_eq!(own.json(&["status", "--json"]).await["features"], serde_json::json!([]));
    let asked = own.autobuild("", &[&words[..], &["--pre-loop"]].concat()).output().await;
    let said = whole(&asked.unwrap());
    assert!(!said.contains("names no check"), "{said}");
    let known = own.json(&["status", "--json"]).await;
    assert_eq!(known["features"].as_array().unwrap().len(), 1, "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_plan_writes_nothing_into_the_file_for_the_plan() {
    let own = Own::new(Some("#!/bin/sh\nsleep 600\n")).await;
    let agent = own.agent();
    let mut plan = own.autobuild("", &["plan", "../issue.md", "--structured", "--agent", &agent]);
    plan.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let plan = plan.spawn().unwrap();
    let process = plan.id().unwrap();
    let lock = own.repository.join(".git/autobuild/lock");
    while !fs::read_to_string(&lock).is_ok_and(|holder| holder.contains(&process.to_string())) {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let process = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let ended = plan.wait_with_output().await.unwrap();
    assert_eq!((ended.status.code(), text(&ended)), (Some(130), String::new()), "{ended:?}");
    assert!(whole(&ended).contains("autobuild resume FEAT-1"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_that_is_set_counts_also_for_what_is_known() {
    let own = Own::new(None).await;
    own.agents(&"- { role: player, fail: garbage }\n".repeat(8));
    assert_eq!(own.run(&[]).await.status.code(), Some(1));
    let other = own.folder.path().join("other.yml");
    fs::write(&other, crate::own::AGENTS).unwrap();
    let mut resume = own.autobuild("", &["resume", "FEAT-1", "--json"]);
    let done = resume.env("AUTOBUILD_AGENT", format!("scripted:{}", other.display()));
    let done = done.output().await.unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", whole(&done));
}
