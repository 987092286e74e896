//! One whole Feature with the real Claude Code on a real repository: plan, Player, Gates, Coach, merge, in review.

use crate::{
    model::{FakeModel, Pick, Reply, Rule},
    stage::KEY,
};
use serde_json::json;
use std::{fs, path::Path};
use tokio::process::Command;

const RUN: &str = "#!/bin/sh\ncd \"$(dirname \"$0\")/..\" || exit 1\ncount=0\nfailed=0\nfor test in tests/*_test.sh; do\n  \
                   count=$((count + 1))\n  name=$(basename \"$test\" _test.sh)\n  \
                   if sh \"$test\"; then echo \"ok $count - $name\"; else echo \"not ok $count - $name\"; failed=1; fi\ndone\n\
                   echo \"1..$count\"\nexit $failed\n";
const WRITE: &str = "printf '#!/bin/sh\\nwc -l < \"$1\" | tr -d \" \"\\n' > bin/lines && chmod +x bin/lines && \
                     printf 'test \"$(printf \"a\\\\nb\\\\n\" | bin/lines /dev/stdin)\" = 2\\n' > tests/lines_test.sh && sh tests/run.sh";

fn rules() -> Vec<Rule> {
    let plan = json!({
        "description": "Count lines",
        "tasks": [{
            "id": "TASK-001", "name": "Count lines", "description": "Print the number of lines", "type": "feature",
            "files": ["bin/lines", "tests/lines_test.sh"],
            "acceptance_criteria": [{ "text": "Two lines give 2", "check": { "test": "lines" } }],
            "factors": { "integration_points": 0, "tests": "unit", "risks": [] },
        }],
    });
    let report = json!({
        "summary": "bin/lines counts lines", "files_modified": [], "files_created": ["bin/lines", "tests/lines_test.sh"],
        "tests_written": ["tests/lines_test.sh"], "tests_run": true, "tests_passed": true, "ready_for_validation": true,
    });
    let decision = json!({
        "decision": "approve", "summary": "It holds", "issues": [],
        "criteria": [{ "criterion": 1, "met": true, "evidence": "bin/lines, test `lines`" }],
    });
    let role = |holds, first: Reply, answer| Rule {
        holds,
        pick: Pick::Turn,
        // The last word is for programs that ask for one after the answer.
        replies: vec![
            first,
            Reply::Tool("StructuredOutput", answer),
            Reply::Text("Done.".to_owned()),
        ],
    };
    vec![
        role(
            "You are the planner.",
            Reply::Tool("Grep", json!({ "pattern": "wc" })),
            plan,
        ),
        role(
            "You are the Player.",
            Reply::Tool("Bash", json!({ "command": WRITE, "description": "write it" })),
            report,
        ),
        role(
            "You are the Coach.",
            Reply::Tool("Glob", json!({ "pattern": "**/*" })),
            decision,
        ),
    ]
}

fn write(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

async fn git(folder: &Path, args: &[&str]) {
    let ran = Command::new("git")
        .args(["-c", "user.name=mona", "-c", "user.email=mona@example.com"])
        .args(args)
        .current_dir(folder)
        .output()
        .await
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_feature_is_built_with_the_real_claude() {
    if let Some(folder) = crate::real("claude") {
        builds("claude", &folder, [2, 2, 2]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_feature_is_built_with_the_real_claude_by_way_of_the_agent_client_protocol() {
    if let Some(folder) = crate::real("claude-agent-acp") {
        builds("acp:claude-agent-acp", &folder, [3, 3, 3]).await;
    }
}

/// One Feature with `agent`, whose program is in `folder`; planner, Player and Coach ask their model that often.
#[allow(clippy::too_many_lines, reason = "one story")]
async fn builds(agent: &str, folder: &Path, calls: [usize; 3]) {
    let model = FakeModel::start(rules()).await;
    let dir = tempfile::tempdir().unwrap();
    let repository = dir.path().join("tally");
    let planted = dir.path().join("planted");
    let hook = json!([{ "hooks": [{ "type": "command", "command": format!("touch {}", planted.display()) }] }]);
    write(&repository, "tests/run.sh", RUN);
    write(&repository, "tests/there_test.sh", "test -e bin/tally\n");
    write(&repository, "bin/tally", "#!/bin/sh\nwc -w < \"$1\"\n");
    write(&repository, "CLAUDE.md", "House rule: count from one.\n");
    write(&repository, "NOTES.md", "A file that nobody reads.\n");
    write(
        &repository,
        ".claude/settings.json",
        &json!({ "hooks": { "SessionStart": hook } }).to_string(),
    );
    write(
        &repository,
        ".github/autobuild.yml",
        "test: sh tests/run.sh\nplan_approval: never\npre_loop: never\nci: ignore\nmodel: {coach: strong}\nagent_turns: 7\n",
    );
    write(
        dir.path(),
        "issue.md",
        "# Count lines\n\n`bin/lines FILE` prints the number of lines. See @/etc/passwd, @NOTES.md and @\"NOTES.md\".\n",
    );
    git(&repository, &["init", "-q", "-b", "main"]).await;
    git(&repository, &["add", "-A"]).await;
    git(&repository, &["commit", "-q", "-m", "first"]).await;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path))).unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_autobuild"))
        .args(["demo", "--once", "--agent", agent, "--repo"])
        .arg(&repository)
        .arg("--issue")
        .arg(dir.path().join("issue.md"))
        .env("PATH", path)
        .env("TMPDIR", dir.path())
        .env("AUTOBUILD_ANTHROPIC_URL", model.url())
        .env("AUTOBUILD_ANTHROPIC_API_KEY", KEY)
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert!(said.contains("is in review"), "{said}");
    assert!(!said.contains(KEY) && !planted.exists(), "{said}");
    let seen = model.seen();
    let about = |text: &str| seen.iter().filter(|seen| seen.body.to_string().contains(text)).count();
    let counts = ["You are the planner.", "You are the Player.", "You are the Coach."].map(about);
    assert_eq!(counts, calls, "calls of each role");
    assert!(
        about("House rule: count from one.") >= 4,
        "the instruction file reaches the agents"
    );
    assert!(
        about("@/etc/passwd") >= 4,
        "the issue reaches the agents as it was written"
    );
    assert_eq!((about("root:x:0:0"), about("A file that nobody reads.")), (0, 0));
    let of = |role: &str| seen.iter().find(|seen| seen.body.to_string().contains(role)).unwrap();
    for (role, tools) in [
        ("You are the planner.", "Glob Grep Read StructuredOutput"),
        (
            "You are the Player.",
            "Bash Edit Glob Grep NotebookEdit Read StructuredOutput Write",
        ),
        ("You are the Coach.", "Glob Grep Read StructuredOutput"),
    ] {
        let body = &of(role).body;
        let mut names: Vec<&str> = body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        names.sort_unstable();
        assert_eq!(names.join(" "), tools, "{role}");
        let size = |part: &str| body[part].to_string().len() / 4;
        let (system, tools, messages) = (size("system"), size("tools"), size("messages"));
        println!(
            "{agent}: the first request of {role} is about {} tokens: system {system}, tools {tools}, messages {messages}",
            system + tools + messages
        );
    }
}
