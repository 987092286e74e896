//! Decides whether a change only renames and moves code. Lines that move or differ only in names do not count, nor do
//! comments and imports.

use crate::gates::change::{Change, is_code_or_test, lossy};
use integrity::{FileChange, Version};
use std::collections::BTreeMap;

/// Lines, with how often each occurs.
type Lines = BTreeMap<String, usize>;

/// `true` if no line of code or tests is new, apart from names. Lines may be removed.
pub(crate) fn only_renames(change: &Change) -> bool {
    let is_code = |file: &&FileChange| is_code_or_test(&file.path);
    let code: Vec<&FileChange> = change.files.iter().filter(is_code).collect();
    let is_unread = code.iter().any(|file| matches!(file.after, Version::Unread(_)));
    let of = |side: fn(&FileChange) -> &Version| {
        let texts: Vec<_> = code.iter().map(|file| lossy(side(file))).collect();
        effective(texts.iter().flat_map(|text| text.lines()))
    };
    !code.is_empty() && !is_unread && !has_more(&of(|file| &file.before), &of(|file| &file.after))
}

/// `true` if each old test still exists, apart from its name and the names in it. The arguments are the words of the
/// test bodies.
pub(crate) fn keeps_tests<'a>(
    before: impl Iterator<Item = &'a [String]>,
    after: impl Iterator<Item = &'a [String]>,
) -> bool {
    let shape_of = |body: &[String]| shape(&body.join(" "));
    keeps_all(before.map(shape_of), after.map(shape_of))
}

/// `true` if each item is still there, as often as before.
pub(crate) fn keeps_all<T: Ord>(before: impl Iterator<Item = T>, after: impl Iterator<Item = T>) -> bool {
    let after = counted(after);
    let is_kept = |(item, times): (&T, &usize)| after.get(item).is_some_and(|now| now >= times);
    counted(before).iter().all(is_kept)
}

fn counted<T: Ord>(items: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counted = BTreeMap::new();
    for item in items {
        let times: &mut usize = counted.entry(item).or_default();
        *times = times.saturating_add(1);
    }
    counted
}

/// `true` if some lines are new in more than names and imports.
pub(crate) fn is_more(before: &[String], after: &[String]) -> bool {
    let of = |lines: &[String]| effective(lines.iter().map(String::as_str).filter(|line| !lists_names(line)));
    has_more(&of(before), &of(after))
}

/// `true` if a line contains only names, as in an import of several lines.
fn lists_names(line: &str) -> bool {
    let is_name = |word: &str| !word.starts_with(|c: char| c.is_ascii_digit()) && !VALUES.contains(&word);
    line.chars().all(|c| c.is_alphanumeric() || "_,{}:* ".contains(c))
        && line.split(|c: char| !c.is_alphanumeric() && c != '_').all(is_name)
}

/// Counts the lines that have an effect.
fn effective<'a>(lines: impl Iterator<Item = &'a str>) -> Lines {
    let effective = lines.map(str::trim).filter(|line| does_something(line));
    counted(effective.map(str::to_owned))
}

/// `true` if a line has an effect: it is not a comment, an import or mere punctuation.
fn does_something(line: &str) -> bool {
    let begins_with = |line: &str, words: &[&str]| words.iter().any(|word| line.starts_with(word));
    let is_comment = begins_with(line, &["//", "#", "/*", "*", "\"\"\""]) && !line.starts_with("#[");
    let plain = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ");
    let imports = ["use ", "mod ", "import ", "from ", "export * from", "} from "];
    let is_import = begins_with(plain, &imports) || plain.contains(" = require(");
    line.chars().any(char::is_alphanumeric) && !is_comment && !is_import
}

/// `true` if a line is new and no removed line differs from it only by names.
fn has_more(before: &Lines, after: &Lines) -> bool {
    let gone = shapes(before, after);
    let is_new = |(shape, times): (&String, &usize)| times > gone.get(shape).unwrap_or(&0);
    shapes(after, before).iter().any(is_new)
}

/// Returns the shapes of the lines that occur more often in `one` than in `other`.
fn shapes(one: &Lines, other: &Lines) -> Lines {
    let mut shapes = Lines::new();
    for (line, times) in one {
        let more = times.saturating_sub(other.get(line).copied().unwrap_or(0));
        let count = shapes.entry(shape(line)).or_default();
        *count = count.saturating_add(more);
    }
    shapes
}

/// Words that are values, not names.
const VALUES: [&str; 9] = [
    "true",
    "false",
    "True",
    "False",
    "None",
    "null",
    "nil",
    "undefined",
    "NaN",
];

/// Replaces every name in a line by `x`; quoted text and values stay.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    let (mut name, mut quote) = (String::new(), None);
    for c in line.chars().chain(['\n']) {
        let goes_on = !name.is_empty() && (c.is_alphanumeric() || c == '_');
        if quote.is_none() && (goes_on || c.is_alphabetic() || c == '_') {
            name.push(c);
            continue;
        }
        match std::mem::take(&mut name) {
            name if name.is_empty() => {}
            value if VALUES.contains(&value.as_str()) => shape.push_str(&value),
            _ => shape.push('x'),
        }
        quote = match (quote, c) {
            (Some(open), c) if open == c => None,
            (None, '"' | '\'' | '`') => Some(c),
            (quote, _) => quote,
        };
        shape.push(c);
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_or_is_renamed_adds_nothing() {
        let table: [(&[&str], &[&str], bool); 9] = [
            (&["let a = f(1);"], &["let a = f(1);"], false),
            (&["is_open = True"], &["is_open = False"], true),
            (&["return Some(a)"], &["return None"], true),
            (&["open(true, a)"], &["start(true, b)"], false),
            (&["let a = f(1);", "b()"], &["b()"], false),
            (&["let a = f(1);"], &["let amount = fee(1);"], false),
            (&["let a = f(1);"], &["let a = f(2);"], true),
            (&["b()"], &["b()", "b()"], true),
            (&["say(\"a\")"], &["say(\"b\")"], true),
        ];
        for (before, after, expected) in table {
            let of = |lines: &[&str]| counted(lines.iter().map(|line| (*line).to_owned()));
            assert_eq!(has_more(&of(before), &of(after)), expected, "{before:?} {after:?}");
        }
    }

    #[test]
    fn tests_stay_if_only_names_in_them_change() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let table = [
            ("assert add ( 1 ) == 2", "assert plus ( 1 ) == 2", true),
            ("assert add ( 1 ) == 2", "assert add ( 1 ) == 3", false),
            ("assert is_open is True", "assert is_open is False", false),
            ("assert add ( 1 ) == 2", "assert add ( 1 )", false),
        ];
        for (before, after, expected) in table {
            let (before, after) = ([words(before)], [words(after), words("assert new ( )")]);
            let kept = keeps_tests(before.iter().map(Vec::as_slice), after.iter().map(Vec::as_slice));
            assert_eq!(kept, expected, "{before:?} {after:?}");
        }
    }
}
