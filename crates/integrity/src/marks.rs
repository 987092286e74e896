//! Suspicious places that are new: stubs, exits, skips of whole files, other meanings of assertions, and the like.

use crate::{
    finding,
    language::{Role, outline::Mark},
    reading::ReadFile,
};
use domain::integrity::IntegrityFinding;

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
    new.retain(|(_, mark)| !is_filled_in(mark, files));
    for (path, mark) in new {
        match dropped.iter().position(|old| is_same(old, mark)) {
            Some(at) => drop(dropped.swap_remove(at)),
            None => findings.push(finding(mark.rule, path, Some(mark.line), mark.what.clone())),
        }
    }
    findings
}

/// Whether a method does nothing because others fill it in: the product calls it, and a class of the change fills in one
/// of its class; or it says that others must, and a class of the change is derived from its own.
fn is_filled_in(mark: &Mark, files: &[ReadFile<'_>]) -> bool {
    let Some(open) = &mark.open else { return false };
    if let Some(class) = open.strip_suffix('*') {
        let mut overrides = files.iter().flat_map(|file| file.after.overrides.iter());
        return overrides.any(|method| method.starts_with(class));
    }
    let Some((class, name)) = open.rsplit_once('.') else {
        return false;
    };
    let of_class = |method: &String| method.rsplit_once('.').is_some_and(|(own, _)| own == class);
    let overridden = files.iter().any(|file| file.after.overrides.iter().any(of_class));
    let mut sources = files.iter().filter(|file| file.role == Role::Source);
    let called = sources.any(|file| {
        let mut functions = file.after.functions.iter();
        functions.any(|function| function.words.iter().any(|word| word == name))
    });
    overridden && called
}

fn is_same(one: &Mark, other: &Mark) -> bool {
    one.rule == other.rule && one.key == other.key
}
