//! Suspicious places that are new: stubs, exits, skips of whole files, other meanings of assertions, and the like.

use crate::domain::integrity::IntegrityFinding;
use crate::gates::integrity::finding;
use crate::gates::integrity::reading::ReadFile;
use crate::gates::language::outline::Mark;

/// Every mark that the change adds; one that only moved to another file is not new.
pub(super) fn find(files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let mut new: Vec<(&str, &Mark)> = Vec::new();
    let mut dropped: Vec<&Mark> = Vec::new();
    for file in files {
        let mut known: Vec<&Mark> = file.before.marks.iter().collect();
        for mark in &file.after.marks {
            match known.iter().position(|known| is_same(known, mark)) {
                Some(at) => drop(known.swap_remove(at)),
                None => new.push((file.path, mark)),
            }
        }
        dropped.extend(known);
    }
    let mut findings = Vec::new();
    for (path, mark) in new {
        match dropped.iter().position(|old| is_same(old, mark)) {
            Some(at) => drop(dropped.swap_remove(at)),
            None => findings.push(finding(mark.rule, path, Some(mark.line), mark.what.clone())),
        }
    }
    findings
}

fn is_same(one: &Mark, other: &Mark) -> bool {
    one.rule == other.rule && one.key == other.key
}
