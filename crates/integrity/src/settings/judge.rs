//! Decides whether a changed setting is weaker than before.

use super::{
    command::runs_less,
    moved::Sides,
    options::{lowered, weak_options, words},
};
use crate::{
    change::Change,
    language::{
        ALL, Role, file_name,
        outline::{Setting, quoted},
        role,
        settings::{Purpose, Watched, Weakening},
    },
    rules::rule::{Violation, at, in_file},
    words::is_one_of,
};
use domain::integrity::{Detail, SettingChange};
use ignore::gitignore::GitignoreBuilder;
use std::path::Path;

/// Returns the place of a setting that was `old` and is `new`, if it is weaker.
pub(super) fn judge(
    change: &Change<'_>,
    file: &Sides<'_>,
    watched: &Watched,
    old: Option<&Setting>,
    new: Option<&Setting>,
) -> Option<Violation> {
    let (before, after) = (values(old), values(new));
    let less = match watched.how {
        Weakening::Lowered => lower(before, after),
        Weakening::LeavesOut => leaves_out(change, watched, before, after),
        Weakening::LooksAt => looks_at(change, watched.purpose, old, new),
        Weakening::SwitchedOn => (is(after, "true") && !is(before, "true")).then_some(SettingChange::SwitchedOn),
        // A new manifest excludes nothing that existed; a test that ran before is looked for by name.
        Weakening::SwitchedOff if file.is_new && file_name(file.path) == "Cargo.toml" => None,
        Weakening::SwitchedOff => (is(after, "false") && !is(before, "false") || new.is_none() && is(before, "true"))
            .then_some(SettingChange::SwitchedOff),
        Weakening::Options => weak_options(before, after).or_else(|| own_plugin(change, before, after)),
        Weakening::Command => runs_less(
            old.map(|_| before.join(" && ")).as_deref(),
            new.map(|_| after.join(" && ")).as_deref(),
        ),
        Weakening::Program => own_program(change, after),
        Weakening::Present => new.map(|_| SettingChange::Is(quoted(&after.join(" ")))),
        Weakening::LeadsInside => leads_inside(change, file.path, (new.map_or("", |new| &new.name), before), after),
    }?;
    let name = new.or(old).map_or("", |setting| setting.name.as_str()).to_owned();
    let what = Detail::Setting { name, change: less };
    Some(match new {
        Some(setting) => at(file.path, setting.line, what),
        None => in_file(file.path, what),
    })
}

/// Returns the first program of the command that is in the repository.
fn own_program(change: &Change<'_>, after: &[String]) -> Option<SettingChange> {
    let stands_here = |word: &&str| change.head.contains(word.trim_start_matches("./"));
    let words = after.iter().flat_map(|value| value.split([' ', '=']));
    let program = words.into_iter().find(stands_here)?;
    Some(SettingChange::Is(quoted(program)))
}

/// Returns a new plugin of the runner that is in the repository.
fn own_plugin(change: &Change<'_>, before: &[String], after: &[String]) -> Option<SettingChange> {
    let plugins = |values: &[String]| -> Vec<String> {
        let words: Vec<String> = values.iter().flat_map(|value| words(value)).collect();
        let next = words.iter().skip(1).map(String::as_str).chain([""]);
        let named = words.iter().zip(next).filter_map(|(word, next)| {
            let name = word.strip_prefix("-p")?;
            Some(if name.is_empty() { next } else { name })
        });
        named.map(str::to_owned).collect()
    };
    let known = plugins(before);
    let stands_here = |name: &String| {
        let ends = ["", "/__init__"].map(|end| format!("{}{end}.py", name.replace('.', "/")));
        let is = |path: &str, end: &str| path == end || path.ends_with(&format!("/{end}"));
        change.head.iter().any(|path| ends.iter().any(|end| is(path, end)))
    };
    let mut new = plugins(after).into_iter().filter(|name| !known.contains(name));
    let plugin = new.find(stands_here)?;
    Some(SettingChange::Is(quoted(&format!("-p {plugin}"))))
}

/// Parts of paths that suggest a fake.
const FAKES: &str = "test tests __tests__ spec mock mocks __mocks__ stub stubs";

/// Returns the new import target if it is inside the repository and either the old one was not, or the name is a
/// well-known module, or the path suggests a fake.
fn leads_inside(
    change: &Change<'_>,
    path: &str,
    (name, before): (&str, &[String]),
    after: &[String],
) -> Option<SettingChange> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let target = |value: &String| -> Option<String> {
        let starts = ["file:", "link:", "portal:", "<rootDir>/", "./"].iter();
        let plain = starts.fold(value.as_str(), |text, start| text.trim_start_matches(start));
        let plain = plain.trim_end_matches("/*").trim_end_matches('/');
        let whole = format!("{folder}/{plain}");
        let whole = whole.trim_start_matches('/').to_owned();
        let below = format!("{whole}/");
        let stands_here = change.head.iter().any(|head| {
            let rest = head.strip_prefix(&whole);
            head.starts_with(&below) || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        (!whole.is_empty() && stands_here && !plain.starts_with("..")).then_some(whole)
    };
    let is_fake_part = |part: &str| is_one_of(FAKES, part) || part.starts_with("fake");
    let is_fake = |path: &str| path.split('/').any(is_fake_part);
    let is_outside = |value: &String| target(value).is_none() && !value.starts_with("workspace:");
    let was_real = !before.is_empty() && before.iter().all(is_outside);
    let module = name.split_once('.').map_or(name, |(_, last)| last);
    let is_tool = ALL.iter().any(|language| language.expects_module(module));
    let new = after.iter().filter(|value| !before.contains(value));
    let mut leading = new.filter_map(|value| target(value).map(|path| (value, path)));
    let (value, _) = leading.find(|(_, path)| was_real || is_tool || is_fake(path))?;
    Some(SettingChange::Is(quoted(value)))
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

fn lower(before: &[String], after: &[String]) -> Option<SettingChange> {
    let number = |values: &[String]| -> Option<f64> { values.first()?.trim_end_matches('%').parse().ok() };
    let (old, new) = (number(before)?, number(after));
    new.is_none_or(|new| new < old).then(|| lowered(old, new))
}

/// Lines that every project excludes from its coverage, with commas between them.
const USUAL: &str = "\
    pragma: no cover, TYPE_CHECKING, __main__, NotImplementedError, abstractmethod, AssertionError, __repr__, \
    Protocol, overload, ..., assert_never, no cover";

/// The role of the files that a setting is about.
fn concerned(purpose: Purpose) -> Role {
    match purpose {
        Purpose::Coverage => Role::Source,
        Purpose::Run | Purpose::Imports => Role::Test,
    }
}

fn leaves_out(change: &Change<'_>, watched: &Watched, before: &[String], after: &[String]) -> Option<SettingChange> {
    let wanted = concerned(watched.purpose);
    let usual = |value: &str| USUAL.split(", ").any(|usual| value.replace('\\', "").contains(usual));
    let there = |value: &&String| {
        let by_lines = watched.names.contains("exclude_") || wanted == Role::Source && value.contains(' ');
        let mut paths = change.head.union(change.base);
        by_lines || paths.any(|path| role(path) == wanted && matches(value, path))
    };
    let mut new = after.iter().filter(|value| !before.contains(value) && !usual(value));
    Some(SettingChange::LeavesOut(quoted(new.find(there)?)))
}

/// Returns a path that exists, was included before, and is no longer included.
fn looks_at(
    change: &Change<'_>,
    purpose: Purpose,
    old: Option<&Setting>,
    new: Option<&Setting>,
) -> Option<SettingChange> {
    let new = new?;
    let looked_at = |path: &str| old.is_none_or(|old| old.values.iter().any(|value| matches(value, path)));
    let (out, inside): (Vec<&str>, Vec<&str>) = new
        .values
        .iter()
        .map(String::as_str)
        .partition(|value| value.starts_with('!'));
    let any_matches = |values: &[&str], path: &str| values.iter().any(|value| matches(value, path));
    let still = |path: &str| !any_matches(&out, path) && any_matches(&inside, path);
    if purpose == Purpose::Coverage && old.is_none() {
        let is_file = |value: &&str| !value.contains('*') && file_name(value).contains('.');
        if out.is_empty() && !inside.iter().all(is_file) {
            return None;
        }
    }
    let is_meant = |path: &&String| match new.name.ends_with("members") {
        true => path.ends_with("/Cargo.toml"),
        false => role(path) == concerned(purpose) && is_run(path),
    };
    let mut meant = change.head.iter().filter(is_meant);
    let lost = meant.find(|path| looked_at(path) && !still(path))?;
    Some(SettingChange::NoLongerTakesIn(quoted(lost)))
}

/// `true` if the runner finds the file by patterns; it does not if the language has tests beside the code.
fn is_run(path: &str) -> bool {
    crate::language::of(path).is_some_and(|language| !(language.is_collected)("src/other.any", &[]))
}

/// `true` if a pattern of any usual kind matches a path: glob, folder, or regular expression.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let plain = pattern.replace("<rootDir>", "").replace('\\', "");
    let starts = ["!", "./", "/"].iter();
    let plain = starts.fold(plain.as_str(), |text, start| text.trim_start_matches(start));
    if plain.is_empty() || plain == "." {
        return true;
    }
    let mut builder = GitignoreBuilder::new(Path::new(""));
    let read = builder.add_line(None, plain).is_ok();
    let built = builder.build().ok().filter(|_| read);
    let by_glob = built.is_some_and(|built| built.matched_path_or_any_parents(path, false).is_ignore());
    let parts = plain.split(['*', '^', '$', '(', ')', '|', '[', ']', '{', '}', '+', '?']);
    let longest = parts.max_by_key(|part| part.len()).unwrap_or_default();
    let fragment = longest.trim_matches('/');
    let is_regex = pattern.contains(['\\', '$', '^', '(']) || !pattern.contains(['*', '{']);
    by_glob || is_regex && !fragment.is_empty() && format!("/{path}").contains(fragment)
}
