//! Reading and writing plans: every refusal, every replaced value, and the round trip.

use crate::{
    ids::TaskId,
    plan::{
        Check, Criterion, Factors, Intent, Plan, PlannedTask, Risk, TaskType, TestEffort,
        parse::{CheckedPlan, MOST_CHARACTERS, PlanContext},
        path, plan_hash,
        yaml::{PlanHeader, PlanStatus, plan_yaml},
    },
};
use proptest::prelude::*;
use serde_json::{Value, json};
use text::{mistake::Mistakes, shell_command::ShellCommand};

/// The example in section 3 of the product description.
const EXAMPLE: &str = r#"id: FEAT-42
name: User authentication
description: Add an OAuth2 sign-in flow
created: 2026-01-15T10:30:00Z
status: planned # planned | in_progress | completed | failed
complexity: 4 # 1-10
estimated_tasks: 2
tasks:
  - id: TASK-001
    name: Create the auth service skeleton
    type: scaffolding # scaffolding | feature | refactoring | testing | documentation
    description: An AuthService with the routes wired and nothing behind them
    acceptance_criteria:
      - text: AuthService is wired into the router
        check: { test: "auth::wired" } # test | command | file | human
    files: [src/auth.rs, src/router.rs] # likely to change; may be new
    complexity: 2
    factors: { integration_points: 0, tests: unit, risks: [] }
    dependencies: []
    status: pending
  - id: TASK-002
    name: Implement the OAuth2 flow
    type: feature
    description: Authorization code flow with PKCE and token refresh
    acceptance_criteria:
      - text: A refresh token is used once
        check: { test: "auth::refresh_once" }
      - text: The consent page reads well
        check: human
    files: [src/auth.rs, src/tokens.rs]
    complexity: 4
    factors: { integration_points: 1, tests: unit, risks: [security] }
    dependencies: [TASK-001]
    status: pending
smoke: cargo run -- --help # runs on the merged result of each wave; optional
orchestration:
  parallel_groups: [[TASK-001], [TASK-002]]
"#;

/// The sentence of the issue that wants a change.
const WANTED: &str = "Orders of nothing are free.";

fn header() -> PlanHeader {
    PlanHeader::planned("FEAT-42", "2026-01-15T10:30:00Z")
}

fn protecting(path: &str) -> Option<String> {
    path.starts_with(".github/").then(|| "/.github".to_owned())
}

fn yaml(text: &str) -> Result<CheckedPlan, Mistakes> {
    let header = header();
    let file_exists = |path: &str| path == "README.md";
    Plan::parse_yaml(
        text,
        &PlanContext {
            max_tasks: 20,
            header: &header,
            file_exists: &file_exists,
            protecting: &protecting,
            words: &[WANTED],
        },
    )
}

fn answer(value: &Value) -> Result<CheckedPlan, Mistakes> {
    let header = header();
    let file_exists = |path: &str| path == "README.md";
    Plan::from_json(
        value,
        &PlanContext {
            max_tasks: 20,
            header: &header,
            file_exists: &file_exists,
            protecting: &protecting,
            words: &[WANTED],
        },
    )
}

/// A valid task with `id` and the given dependencies.
fn task(id: &str, dependencies: &[&str]) -> Value {
    json!({
        "id": id, "name": "Do it", "type": "feature",
        "acceptance_criteria": [{ "text": "it works", "check": { "test": "works" } }],
        "factors": { "integration_points": 0, "tests": "unit" }, "dependencies": dependencies
    })
}

fn with(change: impl Fn(&mut Value)) -> Value {
    let mut plan = json!({ "name": "A feature", "tasks": [task("TASK-001", &[])] });
    change(&mut plan);
    plan
}

/// A plan of one task, with one key of the task replaced.
fn with_key(key: &str, value: &Value) -> Value {
    with(|plan| plan["tasks"][0][key] = value.clone())
}

#[test]
fn the_products_example_is_a_valid_plan_and_nothing_in_it_is_replaced() {
    let checked = yaml(EXAMPLE).unwrap();
    assert_eq!(checked.notes, []);
    assert_eq!(checked.plan.tasks[1].acceptance_criteria[1].check, Check::Human);
    assert_eq!(checked.plan.smoke.as_deref(), Some("cargo run -- --help"));
    let written = plan_yaml(&checked.plan, &header());
    assert_eq!(yaml(&written), Ok(checked));
}

#[test]
fn a_plan_without_a_name_is_read_as_it_is_written() {
    let nameless = answer(&with(|plan| drop(plan.as_object_mut().unwrap().remove("name")))).unwrap();
    let written = plan_yaml(&nameless.plan, &header());
    assert!(written.contains("name: \"\""), "{written}");
    assert_eq!(yaml(&written).unwrap().plan, nameless.plan);
}

#[test]
fn a_plan_is_written_in_the_order_of_the_product() {
    let keys: Vec<String> = plan_yaml(&yaml(EXAMPLE).unwrap().plan, &header())
        .lines()
        .filter_map(|line| line.split_once(':').map(|(key, _)| key.trim_start_matches(['-', ' ']).to_owned()))
        .collect();
    let expected: Vec<String> = EXAMPLE
        .lines()
        .filter_map(|line| line.split_once(':').map(|(key, _)| key.trim_start_matches(['-', ' ']).to_owned()))
        .collect();
    assert_eq!(keys, expected);
}

#[test]
fn a_plan_without_a_name_takes_the_title_of_its_issue() {
    let plan = |name: &str| Plan { name: name.to_owned(), description: String::new(), tasks: Vec::new(), smoke: None };
    let table = [
        ("", "Three", "Three"),
        (" ", "Add\ta parser\n", "Add a parser"),
        ("Change", "Three", "Change"),
        ("", "../up", "Do ../up"),
        ("", "", "The issue"),
    ];
    for (name, title, expected) in table {
        assert_eq!(plan(name).or_named(title).name, expected, "{name:?} {title:?}");
    }
}

#[test]
fn what_autobuild_computes_is_replaced_and_named() {
    let text = EXAMPLE
        .replace("id: FEAT-42", "id: FEAT-7")
        .replace("created: 2026", "created: 2025")
        .replace("status: planned", "status: completed")
        .replace("complexity: 4 # 1-10", "complexity: easy")
        .replace("estimated_tasks: 2", "estimated_tasks: 9")
        .replace("    complexity: 2", "    complexity: 1")
        .replace("status: pending\n  - id", "status: approved\n  - id")
        .replace("[[TASK-001], [TASK-002]]", "[[TASK-001, TASK-002]]");
    let checked = yaml(&text).unwrap();
    assert_eq!(checked.plan, yaml(EXAMPLE).unwrap().plan);
    let notes: Vec<String> = checked.notes.iter().map(ToString::to_string).collect();
    let expected = [
        "id: FEAT-42 instead of FEAT-7",
        "created: 2026-01-15T10:30:00Z instead of 2025-01-15T10:30:00Z",
        "status: planned instead of completed",
        "complexity: 4 instead of easy",
        "estimated_tasks: 2 instead of 9",
        "parallel_groups: [[TASK-001], [TASK-002]] instead of [[TASK-001, TASK-002]]",
        "TASK-001 complexity: 2 instead of 1",
        "TASK-001 status: pending instead of approved",
    ];
    assert_eq!(notes, expected);
}

#[test]
fn an_order_that_follows_from_a_shared_file_is_named() {
    let plan = with(|plan| {
        plan["tasks"] = json!([task("TASK-002", &[]), task("TASK-001", &[])]);
        plan["tasks"][0]["files"] = json!(["./src//a.rs", "src/a.rs"]);
        plan["tasks"][1]["files"] = json!(["src/a.rs"]);
    });
    let checked = answer(&plan).unwrap();
    let ids: Vec<String> = checked.plan.tasks.iter().map(|task| task.id.to_string()).collect();
    assert_eq!(ids, ["TASK-001", "TASK-002"]);
    assert_eq!(checked.plan.tasks[1].files, ["src/a.rs"]);
    assert_eq!(checked.plan.tasks[1].dependencies, []);
    let notes: Vec<String> = checked.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["TASK-002 waits for TASK-001, because both name src/a.rs"]);
}

#[test]
fn missing_keys_are_empty_and_missing_factors_count_as_the_product_says() {
    let least = json!({ "tasks": [{
        "id": "TASK-001", "name": "n", "type": "documentation",
        "acceptance_criteria": [{ "text": "t", "check": { "file": "README.md" } }], "files": null
    }] });
    let plan = answer(&least).unwrap().plan;
    let factors = Factors { integration_points: 1, tests: TestEffort::Integration, risks: Vec::new() };
    assert_eq!(plan.tasks[0].factors, factors);
    assert_eq!((plan.name.as_str(), plan.smoke.as_deref(), plan.tasks[0].files.len()), ("", None, 0));
    let part = answer(&with_key("factors", &json!({ "risks": ["security", "security"] }))).unwrap().plan;
    assert_eq!(part.tasks[0].factors, Factors { risks: vec![Risk::Security], ..factors });
}

#[test]
fn an_unknown_key_is_a_mistake_in_yaml_and_ignored_in_an_answer() {
    let plan = with(|plan| {
        plan["priority"] = json!(1);
        plan["tasks"][0]["depends_on"] = json!([]);
        plan["tasks"][0]["factors"]["size"] = json!(1);
        plan["tasks"][0]["acceptance_criteria"][0]["note"] = json!(1);
    });
    let notes: Vec<String> = answer(&plan).unwrap().notes.iter().map(ToString::to_string).collect();
    let expected = [
        "unknown key, ignored: `TASK-001: acceptance_criteria[0].note`",
        "unknown key, ignored: `TASK-001: factors.size`",
        "unknown key, ignored: `TASK-001: depends_on`",
        "unknown key, ignored: `priority`",
    ];
    assert_eq!(notes, expected);
    let refused = yaml(&plan.to_string()).unwrap_err().to_string();
    assert!(refused.contains("unknown key `TASK-001: depends_on`; known here are"), "{refused}");
    assert!(refused.contains("unknown key `priority`; known here are id, created, status"), "{refused}");
}

/// Asserts that a plan is refused with `rule`, both as an answer and as YAML; for YAML, the error also names the place.
fn assert_refused(plan: &Value, rule: &str) {
    let refused = answer(plan).unwrap_err().to_string();
    assert!(refused.contains(rule), "{rule:?}: {refused}");
    assert!(refused.chars().count() < 1_000, "{refused}");
    let refused = yaml(&plan.to_string()).unwrap_err().to_string();
    assert!(refused.contains(rule), "{rule:?}: {refused}");
    assert!(refused.contains("(line 1, column "), "{refused}");
}

/// A whole plan as JSON, and the rule that it breaks.
const WRONG_PLANS: &[(&str, &str)] = &[
    ("[]", "a plan must be a map with keys, not a list"),
    ("\"tasks\"", "a plan must be a map with keys, not the text `tasks`"),
    ("{}", "tasks is missing"),
    (r#"{"tasks": null}"#, "tasks is missing"),
    (r#"{"tasks": {}}"#, "tasks must be a list, not a map"),
    (r#"{"tasks": []}"#, "tasks is empty; a plan has at least one task"),
    (r#"{"tasks": ["x"]}"#, "tasks[0] must be a map with keys, not the text `x`"),
    (r#"{"name": ["x"]}"#, "name must be text, not a list"),
    (
        r#"{"smoke": "a\nb"}"#,
        "smoke cannot be run: a command is one line: join several with `&&`, or put them into a script in the \
         repository and name that, as in `sh ci/setup.sh`",
    ),
    (r#"{"orchestration": []}"#, "orchestration must be a map with keys, not a list"),
];

/// A key of TASK-001, its value as JSON, and the rule that it breaks.
const WRONG_KEYS: &[(&str, &str, &str)] = &[
    ("id", "null", "tasks[0].id is missing"),
    ("id", r#""TASK-1""#, "tasks[0].id is `TASK-1`, which is not a task id"),
    ("id", r#""../TASK-001""#, "tasks[0].id is `../TASK-001`, which is not a task id"),
    ("id", r#""TASK-FIX-1""#, "tasks[0].id is `TASK-FIX-1`, which is not a task id"),
    ("id", "1", "tasks[0].id must be text, not the number 1; put it in quotes"),
    ("name", "null", "TASK-001: name is missing"),
    ("name", r#""  ""#, "TASK-001: name is empty"),
    ("name", "7", "TASK-001: name must be text, not the number 7; put it in quotes"),
    ("name", r#""a\nb""#, "TASK-001: name has control characters or more than one line"),
    ("name", r#""../../etc/passwd""#, "TASK-001: name is `../../etc/passwd`, which leaves the repository"),
    ("type", "null", "TASK-001: type is missing"),
    (
        "type",
        r#""bug""#,
        "TASK-001: type must be scaffolding, feature, refactoring, testing or documentation, not the text `bug`",
    ),
    ("description", r#"["x"]"#, "TASK-001: description must be text, not a list"),
    ("description", r#""a\u0000b""#, "TASK-001: description has a NUL character"),
    ("files", r#""a""#, "TASK-001: files must be a list, not the text `a`"),
    ("files", r#"["/etc/passwd"]"#, "TASK-001: files[0] is `/etc/passwd`, which leaves the repository: it is absolute"),
    ("files", r#"["a", ".git/hooks/x"]"#, "TASK-001: files[1] is `.git/hooks/x`, which is inside .git"),
    (
        "files",
        r#"["src/a.rs", ".github/workflows/ci.yml"]"#,
        "TASK-001: files names `.github/workflows/ci.yml`, which the pattern `/.github` protects",
    ),
    ("files", r#"["a\\b"]"#, "TASK-001: files[0] is `a\\b`, which has a backslash"),
    ("files", r#"["a\u0000b"]"#, "TASK-001: files[0] is `a b`, which has control characters"),
    ("factors", r#""hard""#, "TASK-001: factors must be a map with keys, not the text `hard`"),
    (
        "factors",
        r#"{"integration_points": 4}"#,
        "TASK-001: factors.integration_points must be a whole number from 0 to 3",
    ),
    ("factors", r#"{"tests": "e2e"}"#, "TASK-001: factors.tests must be none, unit, integration or end-to-end"),
    ("factors", r#"{"risks": ["fire"]}"#, "TASK-001: factors.risks[0] must be security, data_migration"),
    ("dependencies", r#""TASK-001""#, "TASK-001: dependencies must be a list"),
    ("dependencies", r#"["two"]"#, "TASK-001: dependencies[0] is `two`, which is not a task id"),
    ("dependencies", r#"["TASK-002"]"#, "TASK-001: dependencies names TASK-002, which is not a task of this plan"),
    ("dependencies", r#"["TASK-001"]"#, "TASK-001: dependencies names the task itself"),
];

/// Criteria of TASK-001 as JSON, and the rule that they break.
const WRONG_CRITERIA: &[(&str, &str)] = &[
    ("null", "TASK-001: acceptance_criteria is missing"),
    ("[]", "TASK-001: there is no acceptance criterion, and each task needs one"),
    (r#"["it works"]"#, "TASK-001: acceptance_criteria[0] is a bare string"),
    (r#""it works""#, "TASK-001: acceptance_criteria must be a list"),
    (r#"[{"check": "human"}]"#, "TASK-001: acceptance_criteria[0].text is missing"),
    (r#"[{"text": " ", "check": "human"}]"#, "TASK-001: acceptance_criteria[0].text is empty"),
    (r#"[{"text": "t"}]"#, "TASK-001: acceptance_criteria[0].check is missing"),
    (r#"[{"text": "t", "check": "human"}]"#, "TASK-001: every criterion is for a person (human)"),
    (r#"[{"text": "t", "check": "test"}]"#, "TASK-001: acceptance_criteria[0].check must be human, or one of"),
    (r#"[{"text": "t", "check": {}}]"#, "TASK-001: acceptance_criteria[0].check must be human, or one of"),
    (r#"[{"text": "t", "check": {"test": "a", "file": "README.md"}}]"#, "check must be human, or one of"),
    (r#"[{"text": "t", "check": {"test": " "}}]"#, "TASK-001: acceptance_criteria[0].check.test is empty"),
    (
        r#"[{"text": "t", "check": {"command": "a\nb"}}]"#,
        "check.command cannot be run: a command is one line: join several with `&&`",
    ),
    (
        r#"[{"text": "t", "check": {"command": "echo 'x"}}]"#,
        "check.command cannot be run: a quote in the command is never closed",
    ),
    (r#"[{"text": "t", "check": {"file": "../x"}}]"#, "check.file is `../x`, which leaves the repository"),
    (r#"[{"text": "t", "check": {"file": "new.rs"}}]"#, "TASK-001: the checked file `new.rs` neither exists nor"),
];

#[test]
fn every_rule_is_refused_with_task_rule_and_place() {
    for (plan, rule) in WRONG_PLANS {
        assert_refused(&serde_json::from_str(plan).unwrap(), rule);
    }
    for (key, value, rule) in WRONG_KEYS {
        assert_refused(&with_key(key, &serde_json::from_str(value).unwrap()), rule);
    }
    for (criteria, rule) in WRONG_CRITERIA {
        assert_refused(&with_key("acceptance_criteria", &serde_json::from_str(criteria).unwrap()), rule);
    }
}

#[test]
fn tasks_that_contradict_each_other_are_refused() {
    let plan = |tasks: &[(&str, &[&str])]| json!({ "tasks": tasks.iter().map(|(id, needs)| task(id, needs)).collect::<Vec<_>>() });
    let twice = plan(&[("TASK-001", &[]), ("TASK-001", &[])]);
    assert_refused(&twice, "TASK-001: this id is used more than once");
    let around = plan(&[("TASK-001", &["TASK-002"]), ("TASK-002", &["TASK-003"]), ("TASK-003", &["TASK-001"])]);
    assert_refused(&around, "the dependencies form a cycle: TASK-001 → TASK-002 → TASK-003 → TASK-001");
    let behind = plan(&[("TASK-001", &["TASK-003"]), ("TASK-002", &["TASK-003"]), ("TASK-003", &["TASK-002"])]);
    assert_refused(&behind, "the dependencies form a cycle: TASK-002 → TASK-003 → TASK-002");
}

#[test]
fn what_is_too_much_is_refused() {
    let many: Vec<Value> = (1..=21).map(|n| task(&format!("TASK-{n:03}"), &[])).collect();
    assert_refused(&json!({ "tasks": many }), "tasks has 21 tasks, and at most 20 are allowed (max_tasks)");
    assert_refused(&with_key("name", &json!("x".repeat(201))), "TASK-001: name is longer than 200 characters");
    let long = "TASK-001: description is longer than 20000 characters";
    assert_refused(&with_key("description", &json!("x".repeat(20_001))), long);
    assert_refused(&with_key("files", &json!(vec!["f"; 301])), "TASK-001: files names more than 300 files");
    let criteria = json!(vec![json!({ "text": "t", "check": "human" }); 51]);
    assert_refused(
        &with_key("acceptance_criteria", &criteria),
        "TASK-001: acceptance_criteria has more than 50 criteria",
    );
}

#[test]
fn all_mistakes_are_named_at_once_with_their_places() {
    let text = "tasks:\n  - id: TASK-001\n    name: a\n    type: bug\n    acceptance_criteria: [works]\n    files:\n      - ../x\n  - id: TASK-002\n    nam: b\n";
    let expected = [
        "TASK-001: type must be scaffolding, feature, refactoring, testing or documentation, not the text `bug` (line 4, column 11)",
        "TASK-001: acceptance_criteria[0] is a bare string; a criterion has `text` and `check`, which is human, or one of {test: name}, {command: line} or {file: path} (line 5, column 27)",
        "TASK-001: files[0] is `../x`, which leaves the repository: it has .. (line 7, column 9)",
        "TASK-002: name is missing (line 8, column 5)",
        "TASK-002: type is missing (line 8, column 5)",
        "TASK-002: acceptance_criteria is missing (line 8, column 5)",
        "unknown key `TASK-002: nam`; known here are complexity, status, id, name, type, description, acceptance_criteria, files, changes, removes, factors, dependencies (line 9, column 5)",
    ];
    assert_eq!(yaml(text).unwrap_err().to_string().lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_checked_file_may_come_from_the_task_or_from_what_it_needs() {
    let plan = |files: &[&str], needs: &[&str]| {
        let mut first = task("TASK-001", &[]);
        first["files"] = json!(files);
        let mut third = task("TASK-003", needs);
        third["acceptance_criteria"][0]["check"] = json!({ "file": "./new.rs" });
        json!({ "tasks": [first, task("TASK-002", &["TASK-001"]), third] })
    };
    assert!(answer(&plan(&["new.rs"], &["TASK-002"])).is_ok());
    assert!(answer(&plan(&["new.rs"], &[])).is_err());
    assert!(answer(&plan(&["other.rs"], &["TASK-002"])).is_err());
}

#[test]
fn a_plan_that_is_too_long_or_not_yaml_is_refused() {
    let padded = |length: usize| format!("{EXAMPLE}# {}", "é".repeat(length - EXAMPLE.chars().count() - 2));
    assert!(yaml(&padded(MOST_CHARACTERS)).is_ok());
    let refused = yaml(&padded(MOST_CHARACTERS + 1)).unwrap_err().to_string();
    assert_eq!(refused, "the plan has 40001 characters, and at most 40000 are read");
    let grown = json!({ "tasks": (1..=20).map(|n| {
        let mut task = task(&format!("TASK-{n:03}"), &[]);
        task["description"] = json!("x".repeat(2_000));
        task
    }).collect::<Vec<_>>() });
    assert!(answer(&grown).unwrap_err().to_string().starts_with("the plan, written out, has 4"));
    for text in ["", "tasks: [", "\t", "a: &x [*x]", "--- 1\n--- 2", "tasks: !!python/object:os.system ls", "\u{0}"] {
        assert!(yaml(text).is_err(), "{text:?}");
    }
}

#[test]
fn the_hash_follows_what_a_plan_says_and_not_its_status() {
    let plan = yaml(EXAMPLE).unwrap().plan;
    let hash = plan_hash(&plan);
    assert_eq!((hash.len(), &hash), (64, &plan_hash(&yaml(&plan_yaml(&plan, &header())).unwrap().plan)));
    let mut other = plan.clone();
    other.tasks[0].acceptance_criteria[0].text.push('.');
    assert_ne!(plan_hash(&other), hash);
}

/// Texts that some YAML readers take for something other than text.
const AWKWARD: &[&str] = &[
    "yes",
    "no",
    "on",
    "Off",
    "~",
    "null",
    "1",
    "1e3",
    "0x1F",
    "1_000",
    "2026-01-15",
    "12:30:45",
    "=",
    "<<",
    "- a",
    "a: b",
    "a #b",
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
    "é",
    "🎉",
    "\u{85}x",
    "x\u{2028}",
    "\u{feff}x",
    "\u{7f}",
    "\u{1b}[31m",
    "\u{202e}x",
    "\u{ffff}",
    "${HOME}",
    "$(x)",
    "{{ x }}",
    " lead",
    "trail ",
];

fn any_text() -> impl Strategy<Value = String> {
    let any_chars = proptest::collection::vec(any::<char>().prop_filter("no NUL", |c| *c != '\0'), 1..12);
    prop_oneof![
        prop::sample::select(AWKWARD).prop_map(str::to_owned),
        any_chars.prop_map(String::from_iter),
        Just("two\nlines\r\n\ttab".to_owned()),
    ]
}

fn any_line() -> impl Strategy<Value = String> {
    let fine = |text: String| {
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        let text = text.trim().to_owned();
        let path_like = text.contains('/') || text.contains('\\');
        if text.is_empty() || path_like { "plain".to_owned() } else { text }
    };
    any_text().prop_map(fine)
}

fn any_command() -> impl Strategy<Value = String> {
    any_line().prop_map(|line| match line.parse::<ShellCommand>() {
        Ok(_) => line,
        Err(_) => shell_words::join(["run", &line]),
    })
}

fn any_path() -> impl Strategy<Value = String> {
    any_line().prop_map(|line| path::within_repository(&format!("d/{line}")).unwrap_or_else(|_| "d/f".to_owned()))
}

fn any_intent() -> impl Strategy<Value = Intent> {
    any_line().prop_map(|line| Intent { name: format!("a.py::{}*", line.trim()), because: Some(WANTED.to_owned()) })
}

prop_compose! {
    fn any_task()(
        words in (any_line(), any_text(), any_text(), any_line(), any_command()),
        kind in prop::sample::select(vec![TaskType::Scaffolding, TaskType::Feature, TaskType::Refactoring, TaskType::Testing, TaskType::Documentation]),
        check in 0..3u8,
        human in any::<bool>(),
        changes in proptest::collection::vec(any_intent(), 0..2),
        removes in proptest::collection::btree_set(any_line(), 0..3),
        files in proptest::collection::btree_set(any_path(), 0..4),
        points in 0..4u8,
        tests in prop::sample::select(vec![TestEffort::None, TestEffort::Unit, TestEffort::Integration, TestEffort::EndToEnd]),
        risks in prop::sample::subsequence(vec![Risk::Security, Risk::DataMigration, Risk::Concurrency, Risk::PublicApi, Risk::ExternalService], 0..5),
        needs in proptest::collection::btree_set(1..20u16, 0..3),
    ) -> PlannedTask {
        let (name, description, text, line, command) = words;
        let text = if text.trim().is_empty() { "t".to_owned() } else { text };
        let check = match check {
            0 => Check::Test(line),
            1 => Check::Command(command),
            _ => Check::File("README.md".to_owned()),
        };
        let mut acceptance_criteria = vec![Criterion { text: text.clone(), check }];
        if human {
            acceptance_criteria.push(Criterion { text, check: Check::Human });
        }
        PlannedTask {
            id: TaskId::Planned(1),
            name,
            kind,
            description,
            acceptance_criteria,
            files: files.into_iter().collect(),
            factors: Factors { integration_points: points, tests, risks },
            removes: removes.iter().map(|name| Intent::to_remove(&format!("n{}", name.replace('*', "").trim_end()))).chain(changes.clone()).collect(),
            changes,
            dependencies: needs.into_iter().map(TaskId::Planned).collect(),
        }
    }
}

prop_compose! {
    fn any_plan()(
        name in any_line(),
        description in any_text(),
        mut tasks in proptest::collection::vec(any_task(), 1..8),
        smoke in proptest::option::of(any_command()),
    ) -> Plan {
        for (number, task) in (1u16..).zip(&mut tasks) {
            task.id = TaskId::Planned(number);
            task.dependencies.retain(|needed| *needed < TaskId::Planned(number));
        }
        Plan { name, description, tasks, smoke }
    }
}

proptest! {
    #[test]
    fn a_written_plan_reads_as_the_same_plan_and_nothing_is_replaced(plan in any_plan()) {
        let mut header = header();
        header.status = PlanStatus::InProgress;
        header.task_words.insert(TaskId::Planned(1), "player_turn".to_owned());
        let text = plan_yaml(&plan, &header);
        let file_exists = |path: &str| path == "README.md";
        let checked = Plan::parse_yaml(&text, &PlanContext { max_tasks: 20, header: &header, file_exists: &file_exists, protecting: &|_| None, words: &[] });
        let checked = checked.map_err(|mistakes| TestCaseError::fail(format!("{mistakes}\n{text}")))?;
        prop_assert_eq!(&checked.plan, &plan);
        let replaced = checked.notes.iter().filter(|note| !note.to_string().contains(" waits for ")).count();
        prop_assert_eq!(replaced, 0);
        let from_answer: Value = serde_json::to_value(&plan).unwrap();
        prop_assert_eq!(answer(&from_answer).unwrap().plan, plan);
    }

    #[test]
    fn no_text_makes_the_reader_fail(text in "[a-z:\\[\\]{}&*!|>'\"%#\\-?, \n\t~é0-9]{0,80}") {
        let _ = yaml(&text);
        let _ = yaml(&format!("tasks:\n  - id: TASK-001\n    name: {text}\n    type: feature\n"));
    }
}

#[test]
fn changes_and_removes_quote_the_issue_and_name_one_file() {
    let wanted = json!({ "name": "a.py::test_*", "because": "orders of nothing\n are “free”" });
    let checked = answer(&with_key("changes", &json!([wanted]))).unwrap();
    let changes = &checked.plan.tasks[0].changes;
    assert_eq!(changes[0].because.as_deref(), Some("orders of nothing are “free”"));
    let removes = json!(["old.py", "old.py", { "name": "test_old" }, { "name": "b.py", "because": WANTED }]);
    let checked = answer(&with_key("removes", &removes)).unwrap();
    let names: Vec<&str> = checked.plan.tasks[0].removes.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["old.py", "test_old", "b.py"]);
    let refused = [
        (json!(["a"]), "TASK-001: changes[0] must be a map with keys, not the text `a`"),
        (json!([{ "name": "a" }]), "TASK-001: changes[0].because is missing"),
        (json!([{ "name": "a", "because": " \n" }]), "TASK-001: changes[0].because is empty"),
        (
            json!([{ "name": "test_*", "because": WANTED }]),
            "TASK-001: changes[0] is `test_*`, a pattern without its file; write `path::name*`",
        ),
        (
            json!([{ "name": "a", "because": "Orders of something are free." }]),
            "TASK-001: changes names `a` because of `Orders of something are free.`, which stands neither in the issue \
             nor in a maintainer's comment; quote it word for word",
        ),
    ];
    for (changes, expected) in refused {
        let mistakes = answer(&with_key("changes", &changes)).unwrap_err().to_string();
        assert_eq!(mistakes, expected);
    }
}

#[test]
fn a_persons_plan_is_a_reason_by_itself() {
    let task = "changes: [{ name: t, because: \"I want it so\" }]\n    status: pending";
    let text = EXAMPLE.replacen("status: pending", task, 1);
    let checked = yaml(&text).unwrap();
    assert_eq!(checked.plan.tasks[0].changes[0].because.as_deref(), Some("I want it so"));
}
