//! Functions that always answer the same, where something was to be computed.

use crate::{
    Change, finding,
    gone::Gone,
    language::{
        Role,
        outline::{Constant, Function, is_promise},
    },
    reading::ReadFile,
};
use domain::integrity::{IntegrityFinding, Rule};

/// A function of the product that is new or another than before.
struct Changed<'a> {
    path: &'a str,
    now: &'a Function,
    /// What it was, if it was there.
    before: Option<&'a Function>,
    /// Whether it always answers the same, and did not before.
    constant: Option<&'a Constant>,
}

/// Functions that computed something and now always answer the same; and all functions of a change in which not one does
/// anything with what it is given.
pub(super) fn find(change: &Change<'_>, files: &[ReadFile<'_>], gone: &Gone) -> Vec<IntegrityFinding> {
    let changed: Vec<Changed<'_>> = files
        .iter()
        .filter(|file| file.role == Role::Source)
        .flat_map(changed)
        .collect();
    let mut answering = changed.iter().filter(|one| one.now.name != "constructor");
    let only_ignore = answering.all(|one| one.constant.is_some_and(|constant| constant.ignores));
    let computes_elsewhere = |one: &Changed<'_>| {
        let mut others = changed.iter();
        others.any(|other| other.constant.is_none() && other.now.name == one.now.name)
    };
    // What a task is about may become simpler; its tests say whether it is right.
    let said = format!("{} {}", change.task.name, change.task.description).to_lowercase();
    let is_meant = |one: &Changed<'_>| {
        let words = one.now.name.split('_').map(str::to_lowercase);
        let spoken_of = words.filter(|word| word.len() > 2).any(|word| said.contains(&word));
        spoken_of && change.task.files.iter().any(|file| file == one.path)
    };
    let fell = |one: &Changed<'_>| {
        one.constant.is_some()
            && one
                .before
                .is_some_and(|before| !is_unfinished(before) && !gone.explains(&before.words, &before.name))
            && !computes_elsewhere(one)
            && !is_meant(one)
    };
    let promised = |one: &Changed<'_>| one.constant.is_some_and(|constant| constant.promised);
    let wrong = changed
        .iter()
        .filter(|one| only_ignore && one.before.is_none() || fell(one) || promised(one));
    let found = wrong.map(|one| {
        let name = &one.now.name;
        let what = match one.before {
            Some(_) => format!("`{name}` computed its answer before, and now always gives the same"),
            None if promised(one) => format!("`{name}` always gives the same, until the real thing comes"),
            None => format!("`{name}` gives the same whatever it is given, and the change brings nothing else"),
        };
        finding(Rule::Stub, one.path, Some(one.now.line), what)
    });
    found.collect()
}

/// Whether a function was only a promise: what takes its place computes no less.
fn is_unfinished(function: &Function) -> bool {
    function.words.iter().any(|word| is_promise(word))
}

fn changed<'a>(file: &'a ReadFile<'_>) -> impl Iterator<Item = Changed<'a>> {
    let named = |list: &'a [Constant], name: &str| list.iter().find(|constant| constant.name == name);
    let is_new = |now: &&Function| {
        let mut before = file.before.functions.iter();
        !before.any(|old| old.name == now.name && old.words == now.words)
    };
    file.after.functions.iter().filter(is_new).map(move |now| {
        let before = file.before.functions.iter().find(|old| old.name == now.name);
        let was_constant = named(&file.before.constants, &now.name).is_some();
        Changed {
            path: file.path,
            now,
            before,
            constant: named(&file.after.constants, &now.name).filter(|_| !was_constant),
        }
    })
}
