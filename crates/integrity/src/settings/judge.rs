//! Whether one changed value of a settings file does less than before.

use super::{command::runs_less, options::weak_options};
use crate::{
    Change, Version, finding,
    language::{
        Role, file_name,
        outline::{Setting, quoted},
        role,
        settings::{Less, Watched},
    },
    reading::ReadFile,
};
use domain::integrity::{IntegrityFinding, Rule};
use ignore::gitignore::GitignoreBuilder;
use std::path::Path;

/// The finding about a value that was `old` and is `new`.
pub(super) fn judge(
    change: &Change<'_>,
    file: &ReadFile<'_>,
    watched: &Watched,
    old: Option<&Setting>,
    new: Option<&Setting>,
) -> Option<IntegrityFinding> {
    let (before, after) = (values(old), values(new));
    let what = match watched.how {
        Less::Lowered => lowered(before, after),
        Less::LeavesOut => leaves_out(change, watched, before, after),
        Less::LooksAt => looks_at(change, watched.rule, old, new),
        Less::SwitchedOn => {
            (is(after, "true") && !is(before, "true")).then(|| "is switched on, which lets failures pass".to_owned())
        }
        // What is new had nothing that could be left out; a test that ran before is looked for by its name.
        Less::SwitchedOff if file.file.before == Version::Absent && file_name(file.path) == "Cargo.toml" => None,
        Less::SwitchedOff => (is(after, "false") && !is(before, "false") || new.is_none() && is(before, "true"))
            .then(|| "is switched off".to_owned()),
        Less::Options => weak_options(before, after),
        Less::Command => runs_less(
            old.map(|_| before.join(" && ")).as_deref(),
            new.map(|_| after.join(" && ")).as_deref(),
        ),
        Less::Program => own_program(change, after),
        Less::Present => new.map(|_| {
            format!(
                "is {} now, which decides what is run and what counts",
                quoted(&after.join(" "))
            )
        }),
    }?;
    let name = new.or(old).map_or("", |setting| setting.name.as_str());
    let line = new.map(|setting| setting.line);
    let rule = if what.contains("--cov-fail-under") {
        Rule::CoverageWeakened
    } else {
        watched.rule
    };
    Some(finding(rule, file.path, line, format!("`{name}` {what}")))
}

/// A program that stands in the repository.
fn own_program(change: &Change<'_>, after: &[String]) -> Option<String> {
    let stands_here = |word: &&str| change.head.contains(word.trim_start_matches("./"));
    let words = after.iter().flat_map(|value| value.split([' ', '=']));
    let program = words.into_iter().find(stands_here)?;
    Some(format!("is {} now, which takes part in every run", quoted(program)))
}

fn values(setting: Option<&Setting>) -> &[String] {
    setting.map_or(&[], |setting| setting.values.as_slice())
}

fn is(values: &[String], wanted: &str) -> bool {
    let truth = |value: &String| {
        matches!(
            (value.to_lowercase().as_str(), wanted),
            ("true" | "1" | "yes" | "on", "true") | ("false" | "0" | "no" | "off", "false")
        )
    };
    values.len() == 1 && values.iter().all(truth)
}

fn lowered(before: &[String], after: &[String]) -> Option<String> {
    let number = |values: &[String]| {
        values
            .first()
            .and_then(|value| value.trim_end_matches('%').parse::<f64>().ok())
    };
    let (old, new) = (number(before)?, number(after));
    new.is_none_or(|new| new < old).then(|| match new {
        Some(new) => format!("asked for {old} and asks for {new} now"),
        None => format!("asked for {old} and is gone"),
    })
}

/// Lines that every project leaves out of its coverage.
const USUAL: [&str; 12] = [
    "pragma: no cover",
    "TYPE_CHECKING",
    "__main__",
    "NotImplementedError",
    "abstractmethod",
    "AssertionError",
    "__repr__",
    "Protocol",
    "overload",
    "...",
    "assert_never",
    "no cover",
];

fn leaves_out(change: &Change<'_>, watched: &Watched, before: &[String], after: &[String]) -> Option<String> {
    let rule = watched.rule;
    let wanted = if rule == Rule::CoverageWeakened {
        Role::Source
    } else {
        Role::Test
    };
    let usual = |value: &&String| USUAL.iter().any(|usual| value.replace('\\', "").contains(usual));
    let new = after
        .iter()
        .filter(|value| !before.contains(value))
        .filter(|value| !usual(value));
    let there = |value: &&String| {
        let by_lines = watched.name.contains("exclude_") || rule == Rule::CoverageWeakened && value.contains(' ');
        by_lines
            || change
                .head
                .union(change.base)
                .any(|path| role(path) == wanted && matches(value, path))
    };
    let out = new.filter(there).map(|value| quoted(value)).next()?;
    Some(format!("leaves {out} out"))
}

/// What was looked at on the base and is there, but is not looked at any more.
fn looks_at(change: &Change<'_>, rule: Rule, old: Option<&Setting>, new: Option<&Setting>) -> Option<String> {
    let new = new?;
    let wanted = if rule == Rule::CoverageWeakened {
        Role::Source
    } else {
        Role::Test
    };
    let looked_at = |path: &str| old.is_none_or(|old| old.values.iter().any(|value| matches(value, path)));
    let still = |path: &str| {
        let out = new
            .values
            .iter()
            .filter_map(|value| value.strip_prefix('!'))
            .any(|value| matches(value, path));
        !out && new
            .values
            .iter()
            .any(|value| !value.starts_with('!') && matches(value, path))
    };
    if rule == Rule::CoverageWeakened && old.is_none() {
        let excludes = new.values.iter().any(|value| value.starts_with('!'));
        let is_file =
            |value: &String| !value.contains('*') && value.rsplit('/').next().is_some_and(|name| name.contains('.'));
        if !excludes && !new.values.iter().all(is_file) {
            return None;
        }
    }
    let members = new.name.ends_with("members");
    let concerned = |path: &&String| {
        if members {
            path.ends_with("/Cargo.toml")
        } else {
            role(path) == wanted && is_run(path)
        }
    };
    let lost = change
        .head
        .iter()
        .filter(concerned)
        .find(|path| looked_at(path) && !still(path))?;
    Some(format!(
        "is {} now, and no longer takes in `{lost}`",
        quoted(&new.values.join(" "))
    ))
}

/// Files of a language that no setting of another language is about.
fn is_run(path: &str) -> bool {
    crate::language::of(path).is_some_and(|language| language.name != "Rust")
}

/// Whether a pattern of any of the usual kinds takes in a path: glob, folder, or regular expression.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let plain = pattern.replace("<rootDir>", "").replace('\\', "");
    let plain = plain
        .trim_start_matches('!')
        .trim_start_matches("./")
        .trim_start_matches('/');
    if plain.is_empty() || plain == "." {
        return true;
    }
    let mut builder = GitignoreBuilder::new(Path::new(""));
    let read = builder.add_line(None, plain).is_ok();
    let built = builder.build().ok().filter(|_| read);
    let by_glob = built.is_some_and(|built| built.matched_path_or_any_parents(path, false).is_ignore());
    let fragment = plain
        .split(['*', '^', '$', '(', ')', '|', '[', ']', '{', '}', '+', '?'])
        .max_by_key(|part| part.len())
        .unwrap_or_default()
        .trim_matches('/');
    let is_regex = pattern.contains(['\\', '$', '^', '(']) || !pattern.contains(['*', '{']);
    by_glob || is_regex && !fragment.is_empty() && format!("/{path}").contains(fragment)
}
