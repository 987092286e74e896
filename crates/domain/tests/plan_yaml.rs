//! PyYAML reads every text of a written plan unchanged.
//!
//! PyYAML's result for the awkward plan is in `tests/data/plan_pyyaml.json`, next to its YAML, so that this can be
//! checked without Python. With Python, PyYAML reads the plan again.

#![allow(clippy::expect_used)]

use autobuild_domain::plan::{
    Plan,
    parse::PlanContext,
    yaml::{PlanHeader, plan_yaml},
};
use serde_json::{Value, json};
use std::{
    io::Write,
    process::{Command, Stdio},
};

const WRITTEN: &str = include_str!("data/plan_pyyaml.yaml");
const READ_BY_PYYAML: &str = include_str!("data/plan_pyyaml.json");

/// Texts that YAML readers are known to misread or to refuse.
const AWKWARD: &[&str] = &[
    "yes",
    "No",
    "on",
    "OFF",
    "y",
    "~",
    "null",
    "true",
    "1",
    "-1",
    "1e3",
    "0x1F",
    "0o17",
    "017",
    "1_000",
    ".5",
    ".inf",
    "12:30:45",
    "2026-01-15",
    "2026-01-15T10:30:00Z",
    "=",
    "<<",
    "- a",
    "a: b",
    "a #b",
    "# a",
    "? x",
    "[x]",
    "{x}",
    "*x",
    "&x",
    "!x",
    "|",
    ">",
    "%x",
    "@x",
    "`x`",
    "'",
    "\"",
    "\\",
    "a\\",
    "---",
    "...",
    " lead",
    "trail ",
    "two\nlines",
    "crlf\r\n",
    "\ttab",
    "é 漢 🎉",
    "nel\u{85}x",
    "ls\u{2028}ps\u{2029}x",
    "\u{feff}bom",
    "del\u{7f}",
    "esc\u{1b}[31m",
    "rlo\u{202e}",
    "bell\u{7}",
    "not a character \u{ffff} \u{1fffe}",
    "private \u{e000} \u{10fffd}",
    "nbsp\u{a0}",
    "```",
    "${HOME}",
    "{{ x }}",
];

fn awkward_plan() -> Value {
    let criteria: Vec<Value> = AWKWARD
        .iter()
        .map(|text| json!({ "text": text, "check": { "test": text.replace(char::is_control, "_") } }))
        .collect();
    let (first, second) = criteria.split_at(criteria.len() / 2);
    let task = |id: &str, criteria: &[Value]| {
        json!({
            "id": id, "name": "yes", "type": "feature", "description": "a: b\n- c # d\u{85}",
            "acceptance_criteria": criteria, "files": ["no", "file: b # c", "1", "é 🎉"], "dependencies": [],
        })
    };
    json!({
        "name": "on", "description": "2026-01-15", "smoke": "null",
        "tasks": [task("TASK-001", first), task("TASK-002", second)],
    })
}

fn written() -> (Plan, String) {
    let header = PlanHeader::planned("FEAT-42", "2026-01-15T10:30:00Z");
    let nothing_exists = |_: &str| false;
    let context =
        PlanContext { max_tasks: 20, header: &header, file_exists: &nothing_exists, protecting: &|_| None, words: &[] };
    let plan = Plan::from_json(&awkward_plan(), &context).expect("the awkward plan is valid").plan;
    let text = plan_yaml(&plan, &header);
    (plan, text)
}

/// Reads a plan with PyYAML, as JSON; `None` without Python or PyYAML.
fn pyyaml(text: &str) -> Option<Value> {
    let program = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin.buffer.read()), sys.stdout)";
    let mut python = Command::new("python3")
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = python.stdin.take()?;
    let _closed_early = input.write_all(text.as_bytes());
    drop(input);
    let output = python.wait_with_output().ok()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    if complaint.contains("No module named 'yaml'") {
        return None;
    }
    assert!(output.status.success(), "PyYAML refuses the plan: {complaint}");
    Some(serde_json::from_slice(&output.stdout).expect("Python prints JSON"))
}

#[test]
fn pyyaml_reads_every_text_of_a_plan_as_it_was_written() {
    let (plan, text) = written();
    let kept: Value = serde_json::from_str(READ_BY_PYYAML).expect("the kept answer is JSON");
    let read = pyyaml(&text).unwrap_or_else(|| kept.clone());
    if std::env::var_os("UPDATE_PLAN_PYYAML").is_some() {
        std::fs::write("tests/data/plan_pyyaml.yaml", &text).expect("the plan is kept");
        std::fs::write("tests/data/plan_pyyaml.json", format!("{read:#}\n")).expect("the answer is kept");
        return;
    }
    assert_eq!(text, WRITTEN, "the kept answer of PyYAML is about another text; UPDATE_PLAN_PYYAML=1 asks it again");
    assert_eq!(read, kept);
    let told: Plan = serde_json::from_value(read.clone()).expect("PyYAML's answer has the plan's types");
    assert_eq!(told, plan);
    assert_eq!(read["created"], "2026-01-15T10:30:00Z");
    assert_eq!(read["orchestration"]["parallel_groups"], json!([["TASK-001"], ["TASK-002"]]));
}
