//! The examples of a change, with which each rule tests itself.

use super::{ALL, ReadingRule};
use crate::{
    change::{Change, FileChange, FileContent},
    inspect,
};
use domain::{
    integrity::{IntegrityFinding, Rule},
    plan::{Factors, PlannedTask, TaskType, TestEffort},
    protected_paths::ProtectedPaths,
};
use std::{collections::BTreeSet, fs};
use text::secret::Secrets;

/// Files with their texts before and after; empty if the file does not exist. `{deep}` stands for brackets nested
/// deeper than in any real code.
pub(crate) type Example<'e> = &'e [(&'e str, &'e str, &'e str)];

pub(crate) fn task() -> PlannedTask {
    PlannedTask {
        id: "TASK-001".parse().unwrap(),
        name: "Do it".to_owned(),
        kind: TaskType::Feature,
        description: String::new(),
        acceptance_criteria: Vec::new(),
        files: vec!["station.py".to_owned()],
        factors: Factors { integration_points: 0, tests: TestEffort::Unit, risks: Vec::new() },
        changes: Vec::new(),
        removes: Vec::new(),
        dependencies: Vec::new(),
    }
}

/// Returns the findings of all rules in an example.
fn findings(task: &PlannedTask, example: Example<'_>) -> Vec<IntegrityFinding> {
    let version = |text: &str| match text {
        "" => FileContent::Absent,
        text => {
            FileContent::Bytes(text.replace("{deep}", &format!("{}{}", "[".repeat(900), "]".repeat(900))).into_bytes())
        }
    };
    let file = |(path, before, after): &(&str, &str, &str)| FileChange {
        path: (*path).to_owned(),
        before: version(before),
        after: version(after),
    };
    let files: Vec<FileChange> = example.iter().map(file).collect();
    let there = |side: fn(&FileChange) -> &FileContent| -> BTreeSet<String> {
        let files = files.iter().filter(|file| *side(file) != FileContent::Absent);
        files.map(|file| file.path.clone()).collect()
    };
    inspect(&Change {
        files: &files,
        base: &there(|file| &file.before),
        head: &there(|file| &file.after),
        task,
        protected: &ProtectedPaths::new(&["AGENTS.md".to_owned()]).unwrap(),
        known_secrets: &Secrets::default(),
        results: &["results.xml".to_owned()],
        max_file_bytes: 100_000,
    })
}

/// Asserts that a rule finds something in the first change, and nothing in the second one, which is honest.
pub(super) fn check_examples(rule: &ReadingRule, broken: Example<'_>, honest: Example<'_>) {
    check_examples_in(&task(), rule, broken, honest);
}

/// Does the same in this task.
pub(super) fn check_examples_in(task: &PlannedTask, rule: &ReadingRule, broken: Example<'_>, honest: Example<'_>) {
    let finds = |example| findings(task, example).iter().any(|finding| finding.rule == rule.rule);
    assert!(finds(broken), "nothing in {broken:?}");
    assert!(!finds(honest), "something in {honest:?}");
}

#[test]
fn each_rule_has_examples() {
    for entry in fs::read_dir("src/rules").unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let is_rule = text.contains("\npub(super) static RULE: ReadingRule");
        assert!(!is_rule || text.contains("check_examples"), "{} has no examples", path.display());
    }
}

#[test]
fn each_rule_stands_in_the_table_once() {
    let rules: BTreeSet<Rule> = ALL.iter().map(|rule| rule.rule).collect();
    assert_eq!(rules.len(), ALL.len());
}

#[test]
fn go_is_read_as_the_others_are() {
    let table: [(Rule, &str, &str, &str); 2] = [
        (Rule::Stub, "sum.go", "", "package sum\n\nfunc Add(a, b int) int {\n\tpanic(\"not implemented\")\n}\n"),
        (Rule::ExitInTest, "sum_test.go", "", "package sum\n\nfunc TestAdds(t *testing.T) {\n\tos.Exit(0)\n}\n"),
    ];
    for (rule, path, before, after) in table {
        let file = FileChange {
            path: path.to_owned(),
            before: if before.is_empty() { FileContent::Absent } else { FileContent::Bytes(before.into()) },
            after: FileContent::Bytes(after.into()),
        };
        let there = BTreeSet::from([path.to_owned()]);
        let found = inspect(&Change {
            files: &[file],
            base: &there,
            head: &there,
            task: &task(),
            protected: &ProtectedPaths::new(&[]).unwrap(),
            known_secrets: &Secrets::default(),
            results: &[],
            max_file_bytes: 100_000,
        });
        assert!(found.iter().any(|finding| finding.rule == rule), "{rule:?}: {found:?}");
    }
}
