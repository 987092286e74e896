//! Deceptions and honest changes, row by row: files before and after, and what must be found.

#![allow(clippy::too_many_lines, reason = "tables of cases")]

mod javascript;
mod python;
mod rust;
mod settings;

use crate::{Change, FileChange, Version, inspect};
use domain::{
    ids::TaskId,
    integrity::{IntegrityFinding, Rule},
    plan::{Check, Criterion, Factors, PlannedTask, TaskType, TestEffort},
    secret::Secrets,
};
use std::collections::BTreeSet;

/// A file before and after; an empty text is no file.
type File<'a> = (&'a str, &'a str, &'a str);

fn task(words: &str) -> PlannedTask {
    PlannedTask {
        id: "TASK-001".parse::<TaskId>().unwrap(),
        name: words.to_owned(),
        kind: TaskType::Feature,
        description: words.to_owned(),
        acceptance_criteria: vec![Criterion {
            text: words.to_owned(),
            check: Check::Human,
        }],
        files: Vec::new(),
        factors: Factors {
            integration_points: 0,
            tests: TestEffort::Unit,
            risks: Vec::new(),
        },
        removes: Vec::new(),
        dependencies: Vec::new(),
    }
}

fn version(text: &str) -> Version {
    if text.is_empty() {
        Version::Absent
    } else {
        Version::Bytes(text.as_bytes().to_vec())
    }
}

fn inspected(words: &str, files: &[File<'_>], others: &[&str]) -> Vec<IntegrityFinding> {
    let change = |(path, before, after): &File<'_>| FileChange {
        path: (*path).to_owned(),
        before: version(before),
        after: version(after),
    };
    let paths = |side: fn(&FileChange) -> &Version, files: &[FileChange]| -> BTreeSet<String> {
        let there = files
            .iter()
            .filter(|file| *side(file) != Version::Absent)
            .map(|file| file.path.clone());
        there.chain(others.iter().map(|path| (*path).to_owned())).collect()
    };
    let files: Vec<FileChange> = files.iter().map(change).collect();
    let (base, head) = (paths(|file| &file.before, &files), paths(|file| &file.after, &files));
    inspect(&Change {
        files: &files,
        base: &base,
        head: &head,
        task: &task(words),
        protected: &[".github/workflows/**".to_owned(), "CLAUDE.md".to_owned()],
        known_secrets: &Secrets::default(),
        results: &["out/junit.xml".to_owned()],
        max_file_bytes: 1 << 20,
    })
}

/// Rows of deceptions: what it is, the files, the rule and the line.
fn all_caught(rows: &[(&str, &[File<'_>], Rule, Option<u32>)]) {
    let mut wrong = Vec::new();
    for (what, files, rule, line) in rows {
        let found = inspected("Add the thing", files, &[]);
        if !found
            .iter()
            .any(|finding| finding.rule == *rule && finding.line == *line)
        {
            wrong.push(format!("{what}: wanted {rule:?} at {line:?}, found {}", listed(&found)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rows of honest changes: the task's words, the files. What is only shown may be found.
fn all_honest(rows: &[(&str, &[File<'_>])]) {
    let mut wrong = Vec::new();
    for (words, files) in rows {
        let found = inspected(words, files, &[]);
        let found: Vec<_> = found
            .into_iter()
            .filter(|finding| finding.item(TaskType::Feature).severity == domain::decision::Severity::MustFix)
            .collect();
        if !found.is_empty() {
            wrong.push(format!("{words}: found {}", listed(&found)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn listed(found: &[IntegrityFinding]) -> String {
    let one = |finding: &IntegrityFinding| {
        format!(
            "{:?} {}:{:?} {}",
            finding.rule, finding.path, finding.line, finding.what
        )
    };
    if found.is_empty() {
        "nothing".to_owned()
    } else {
        found.iter().map(one).collect::<Vec<_>>().join(" | ")
    }
}
