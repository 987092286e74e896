//! Product code that takes its answers from tests, or is made of their tools.

use crate::{
    Change, finding,
    language::{Role, folders, role},
    reading::ReadFile,
};
use domain::integrity::{IntegrityFinding, Rule};

/// Folders of what is not shipped: it may know of tests.
const HELPING: [&str; 9] = [
    "scripts",
    "tools",
    "dev",
    "bench",
    "benches",
    "benchmarks",
    "examples",
    "demo",
    "ci",
];

/// Everything that shipped code newly borrows.
pub(super) fn find(change: &Change<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let shipped = files
        .iter()
        .filter(|file| file.role == Role::Source && is_shipped(file.path));
    let mut findings = Vec::new();
    for file in shipped {
        let known = |name: &str| file.before.borrowed.iter().any(|old| old.name == name);
        for borrowed in file.after.borrowed.iter().filter(|one| !known(&one.name)) {
            if !borrowed.name.contains('/') || leads_to_tests(change, &borrowed.name) {
                findings.push(finding(
                    Rule::Stub,
                    file.path,
                    Some(borrowed.line),
                    borrowed.what.clone(),
                ));
            }
        }
    }
    findings
}

/// Whether a source file is neither a tool of the repository nor help for tests.
fn is_shipped(path: &str) -> bool {
    let small = path.to_lowercase();
    let helps = ["test", "mock", "fake", "stub", "fixture", "noxfile", "setup.py"];
    !folders(path).any(|folder| HELPING.contains(&folder)) && !helps.iter().any(|word| small.contains(word))
}

/// Whether a path, as a source file writes it, is one of a file among the tests.
fn leads_to_tests(change: &Change<'_>, path: &str) -> bool {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !matches!(*part, "." | ".." | ""))
        .collect();
    let plain = parts.join("/");
    let in_tests = parts
        .first()
        .is_some_and(|first| matches!(*first, "test" | "tests" | "__tests__" | "spec"));
    let mut there = change.head.range(plain.clone()..);
    in_tests
        && there.next().is_some_and(|found| {
            let rest = found.strip_prefix(&plain);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) && role(found) != Role::Source
        })
}
