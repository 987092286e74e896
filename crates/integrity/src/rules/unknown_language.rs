//! Compares tests in languages without a vocabulary, mainly shell scripts, line by line. Only a loss without a
//! replacement counts.

use crate::{
    change::Version,
    changed_file::{ChangedFile, Reading},
    language,
    language::Role,
    rules::rule::{Violation, at, at_line, in_file},
};
use domain::integrity::Detail;

/// Marks that skip a test in one of the usual languages.
const SKIPS: [&str; 10] = [
    "@Disabled",
    "@Ignore",
    "@Test(enabled = false",
    "[Ignore",
    "Skip = \"",
    "markTestSkipped(",
    "pending ",
    "xit ",
    "xdescribe ",
    "@tag :skip",
];

/// Returns the test files whose language is unknown, with both versions of their text.
fn files<'r>(reading: &'r Reading<'_>) -> impl Iterator<Item = (&'r ChangedFile<'r>, String, String)> {
    let is_test = |file: &&ChangedFile<'_>| file.role == Role::Test && language::of(file.path).is_none();
    reading.files.iter().filter(is_test).map(|file| {
        let (before, after) = file.texts();
        (file, before, after)
    })
}

/// Returns those that exist before and after.
fn kept<'r>(reading: &'r Reading<'_>) -> impl Iterator<Item = (&'r ChangedFile<'r>, String, String)> {
    files(reading).filter(|(file, _, _)| file.is_kept())
}

fn is_shell(path: &str) -> bool {
    [".sh", ".bash", ".bats"].iter().any(|end| path.ends_with(end))
}

/// Returns the lines without comments and blank lines, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let said = (1_u32..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
    said.filter(|(_, line)| {
        let marks = ["#", "//", "--", ";", "/*", "*"];
        let is_comment = marks.iter().any(|mark| line.starts_with(mark));
        !line.is_empty() && (!is_comment || line.starts_with("#["))
    })
}

/// Finds deleted test files whose content was not moved.
pub(super) fn deleted(reading: &Reading<'_>) -> Vec<Violation> {
    let gone = files(reading).filter(|(_, before, after)| !before.trim().is_empty() && after.trim().is_empty());
    let gone = gone.filter(|(file, before, _)| {
        let is_named = reading.explained.names(file.path) || reading.explained.names(language::file_name(file.path));
        moved(reading, file, before).is_none() && !is_named
    });
    gone.map(|(file, _, _)| in_file(file.path, Detail::Nothing)).collect()
}

/// Finds test files that were moved to a name that their runner does not find.
pub(super) fn renamed(reading: &Reading<'_>) -> Vec<Violation> {
    let gone = files(reading).filter(|(file, _, _)| file.file.after == Version::Absent);
    let moved = gone.filter_map(|(file, before, _)| {
        let to = moved(reading, file, &before)?;
        let hidden = is_marked(file.path) && !is_marked(to);
        hidden.then(|| at(to, 1, Detail::Path(file.path.to_owned())))
    });
    moved.collect()
}

/// Returns the test file that contains most lines of a deleted one.
fn moved<'r>(reading: &'r Reading<'_>, file: &ChangedFile<'_>, before: &str) -> Option<&'r str> {
    let mine: Vec<&str> = before.lines().map(str::trim).filter(|line| line.len() > 2).collect();
    let is_much = |after: &str| {
        let is_shared = |line: &&&str| after.lines().any(|other| other.trim() == **line);
        mine.iter().filter(is_shared).count().saturating_mul(2) > mine.len()
    };
    let mut others = files(reading).filter(|(other, _, _)| other.path != file.path);
    let (other, _, _) = others.find(|(_, _, after)| is_much(after))?;
    Some(other.path)
}

/// `true` if a file's name marks it as a test file, by the convention of most languages.
fn is_marked(path: &str) -> bool {
    let name = language::file_name(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_lowercase();
    let marks = ["test", "spec"];
    marks.iter().any(|mark| stem.starts_with(mark) || stem.ends_with(mark))
}

/// Finds new lines that skip a test, and lines that ran always and now run under a condition.
pub(super) fn skips(reading: &Reading<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for (file, before, after) in files(reading) {
        let is_skip = |line: &str| {
            let begins = SKIPS.iter().any(|skip| line.trim_start().starts_with(skip));
            begins || SKIPS.iter().any(|skip| !skip.ends_with(' ') && line.contains(skip))
        };
        let new = lines(&after).filter(|(_, line)| is_skip(line) && !before.contains(line));
        found.extend(new.map(|(number, line)| at_line(file.path, number, line)));
    }
    for (file, before, after) in kept(reading) {
        found.extend(on_condition(file.path, &before, &after));
        let conditional = |line: &str| {
            let ends = ["|| exit 0", "&& exit 0", "&& exit"];
            let for_tool = ["command -v", "which ", "type ", "hash "];
            let leaves = ends.iter().any(|end| line.ends_with(end));
            leaves && !for_tool.iter().any(|word| line.contains(word)) && is_shell(file.path)
        };
        found.extend(left_early(file.path, (&before, &after), conditional));
    }
    found
}

/// Returns the place of a line that ran always and now runs under a condition.
fn on_condition(path: &str, before: &str, after: &str) -> Option<Violation> {
    let kept: Vec<&str> = lines(after).map(|(_, line)| line).collect();
    let old = lines(before).map(|(_, line)| line);
    let lost: Vec<&str> = old.filter(|line| line.len() > 3 && !kept.contains(line)).collect();
    let is_guarded = |line: &str| {
        lost.iter().any(|old| {
            let guard = line.strip_suffix(old).map(str::trim_end);
            guard.is_some_and(|guard| guard.ends_with("||") || guard.ends_with("&&"))
        })
    };
    let (number, line) = lines(after).find(|(_, line)| is_guarded(line))?;
    Some(at_line(path, number, line))
}

/// Finds shell scripts that now exit before the lines that they ran.
pub(super) fn exits(reading: &Reading<'_>) -> Vec<Violation> {
    let ends = |line: &str| matches!(line, "exit 0" | "exit" | "return 0" | "return" | "exec true");
    let shell = kept(reading).filter(|(file, _, _)| is_shell(file.path));
    let found = shell.filter_map(|(file, before, after)| left_early(file.path, (&before, &after), ends));
    found.collect()
}

/// Returns the place of a new exit outside of functions, before lines that already existed.
fn left_early(path: &str, (before, after): (&str, &str), leaves: impl Fn(&str) -> bool) -> Option<Violation> {
    let known: Vec<&str> = before.lines().map(str::trim_end).collect();
    let outside: Vec<&str> = after.lines().filter(|line| !line.starts_with([' ', '\t'])).collect();
    let is_new = |line: &str| leaves(line) && outside.contains(&line) && !known.contains(&line);
    let (number, line) = lines(after).find(|(_, line)| is_new(line))?;
    let follows = lines(after).any(|(later, line)| later > number && before.contains(line));
    follows.then(|| at_line(path, number, line))
}

/// Finds values that tests no longer try, and failures that scripts no longer report, if nothing replaces them.
pub(super) fn fewer(reading: &Reading<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for (file, before, after) in kept(reading) {
        let said = |text: &str| lines(text).flat_map(|(_, line)| values(line)).collect::<Vec<_>>();
        let (old, new) = (said(&before), said(&after));
        let gained = new.iter().any(|value| !old.contains(value));
        let lost = old.iter().find(|value| !new.contains(value));
        let is_shorter = lines(&after).count() <= lines(&before).count();
        let lost = lost.filter(|_| !gained && is_shorter);
        found.extend(lost.map(|value| at_line(file.path, 1, value)));
        let told = |text: &str| lines(text).filter(|(_, line)| tells(line)).count();
        let silent = lines(&before).find(|(_, line)| tells(line) && !after.contains(line));
        let silent = silent.filter(|_| is_shell(file.path) && told(&after) < told(&before));
        found.extend(silent.map(|(_, line)| at_line(file.path, 1, line)));
    }
    found
}

/// Returns the quoted texts, and the value that a condition such as `[ "$(slug A)" = a ]` compares with.
fn values(line: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let after = rest.get(at..).unwrap_or_default();
        let mark = after.chars().next().unwrap_or('"');
        let Some((value, behind)) = after.get(1..).unwrap_or_default().split_once(mark) else {
            break;
        };
        values.extend(Some(value).filter(|value| !value.is_empty()).map(str::to_owned));
        rest = behind;
    }
    let bare = sides(line).map(|(_, right)| right.to_owned());
    values.extend(bare.filter(|right| !right.is_empty() && !right.contains(['"', '\'', '$'])));
    values
}

/// Returns both sides of `[ one = other ]`.
fn sides(line: &str) -> Option<(&str, &str)> {
    let after = || line.split_once(" [ ").map(|(_, rest)| rest);
    let inner = line.strip_prefix("[ ").or_else(after)?;
    let (inner, _) = inner.rsplit_once(" ]")?;
    let operators = [" = ", " == ", " -eq "];
    let operator = operators.into_iter().find(|operator| inner.contains(operator))?;
    let (one, other) = inner.rsplit_once(operator)?;
    Some((one.trim_start_matches("[ ").trim(), other.trim()))
}

/// `true` if a line of a shell script reports a failure: it exits with an error code, or makes the first failure end
/// the script.
fn tells(line: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '{' | '}' | '(' | ')');
    let words: Vec<&str> = line.split(ends).collect();
    let leaves = |pair: &[&str]| match pair {
        ["exit" | "return", code] => !matches!(*code, "0" | "" | "&&" | "||"),
        ["set", flags] => flags.starts_with('-') && flags.contains('e'),
        _ => false,
    };
    let is_status = |word: &str| word.split_once('=').is_some_and(|(_, value)| value == "1");
    let fails = |word: &&str| matches!(*word, "false" | "die" | "fail") || is_status(word);
    words.windows(2).any(leaves) || words.iter().any(fails)
}

/// Finds conditions in shell scripts that compare something with itself.
pub(super) fn trivial(reading: &Reading<'_>) -> Vec<Violation> {
    let same = |line: &str| sides(line).is_some_and(|(one, other)| one == other);
    let found = kept(reading).filter_map(|(file, before, after)| {
        let (number, line) = lines(&after).find(|(_, line)| same(line) && !before.contains(line))?;
        Some(at_line(file.path, number, line))
    });
    found.collect()
}
