//! Settings of the coverage tool exclude more or require less, or code is marked as excluded.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::{
        ALL, Role,
        capture::Fact,
        outline::{Outline, Purpose, Setting, quoted},
    },
    marks::new_marks,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at, at_mark, in_file},
    settings::flatten,
};
use domain::integrity::{Detail, Rule};
use std::collections::BTreeMap;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::CoverageWeakened,
    applies: ANYWHERE,
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = new_marks(reading, &[Fact::Uncovered], &[Purpose::Product]);
    let mut found: Vec<Violation> = new.into_iter().map(at_mark).collect();
    let of_settings = reading.files.iter().filter(|file| file.role == Role::Settings);
    let sides: Vec<Sides<'_>> = of_settings.map(Sides::read).collect();
    found.extend(sides.iter().flat_map(|own| weakened(own, &sides)));
    found
}

/// The coverage settings of a file before and after, by name.
struct Sides<'f> {
    path: &'f str,
    before: BTreeMap<String, Setting>,
    after: BTreeMap<String, Setting>,
}

impl<'f> Sides<'f> {
    fn read(file: &'f ChangedFile<'_>) -> Self {
        let (before, after) = file.texts();
        let read = |text: &str, outline: &Outline| {
            let settings = flatten(file.path, text)
                .into_iter()
                .chain(outline.settings.iter().cloned());
            let of_coverage = settings.filter(|setting| is_of_coverage(&setting.name));
            of_coverage.map(|setting| (setting.name.clone(), setting)).collect()
        };
        Self {
            path: file.path,
            before: read(&before, &file.before),
            after: read(&after, &file.after),
        }
    }
}

/// `true` if a dotted name ends like one of the coverage settings of any language; `*` stands for any one part.
fn is_of_coverage(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    let is_one = |wanted: &str| {
        let wanted: Vec<&str> = wanted.split('.').collect();
        let end = parts
            .get(parts.len().saturating_sub(wanted.len())..)
            .unwrap_or_default();
        end.len() == wanted.len()
            && wanted
                .iter()
                .zip(end)
                .all(|(wanted, part)| *wanted == "*" || wanted == part)
    };
    ALL.iter()
        .flat_map(|language| language.coverage.split_whitespace())
        .any(is_one)
}

/// Finds settings that may ask for less: a number that falls, a value that goes or that is another one.
fn weakened(own: &Sides<'_>, all: &[Sides<'_>]) -> Vec<Violation> {
    let last = |setting: &Setting| setting.name.rsplit(['.', '_']).next().map(str::to_owned);
    let is_in = |there: &BTreeMap<String, Setting>, wanted: &Setting| {
        let mut there = there.values();
        there.any(|one| last(one) == last(wanted) && one.values == wanted.values)
    };
    let gone = own.before.values().filter(|old| {
        let is_moved = all.iter().any(|sides| is_in(&sides.after, old));
        !is_moved && own.after.get(&old.name).is_none_or(|new| !asks_for_more(old, new))
    });
    let found = gone.map(|old| violation(own, Some(old), own.after.get(&old.name)));
    let new = own.after.values().filter(|new| {
        let is_known = own.before.contains_key(&new.name) || all.iter().any(|sides| is_in(&sides.before, new));
        !is_known && number(new).is_none() && new.values != ["true"]
    });
    found.chain(new.map(|new| violation(own, None, Some(new)))).collect()
}

fn number(setting: &Setting) -> Option<f64> {
    let [only] = setting.values.as_slice() else { return None };
    only.trim_end_matches('%').parse().ok()
}

fn asks_for_more(old: &Setting, new: &Setting) -> bool {
    let is_raised = number(old).zip(number(new)).is_some_and(|(old, new)| new >= old);
    is_raised || new.values == ["true"]
}

fn violation(own: &Sides<'_>, old: Option<&Setting>, new: Option<&Setting>) -> Violation {
    let shown = |setting: &Setting| quoted(&setting.values.join(" "));
    let what = Detail::Setting {
        name: old.or(new).map_or("", |setting| setting.name.as_str()).to_owned(),
        from: old.map(shown),
        to: new.map(shown),
    };
    match new {
        Some(new) => at(own.path, new.line, what),
        None => in_file(own.path, what),
    }
}
