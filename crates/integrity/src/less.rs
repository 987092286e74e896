//! Tests in languages that have no file of their own: what a file of them no longer tries, and failures that it no longer
//! tells. Compared line by line: only what is lost without anything in its place says something.

use crate::{
    finding,
    language::{Role, outline::quoted},
    reading::ReadFile,
    words::added,
};
use domain::integrity::{IntegrityFinding, Rule};

/// The first thing that the file does less.
pub(super) fn find(
    file: &ReadFile<'_>,
    (before, after): (&str, &str),
    files: &[ReadFile<'_>],
) -> Vec<IntegrityFinding> {
    let is_shell = [".sh", ".bash", ".bats"].iter().any(|end| file.path.ends_with(end));
    let mut findings = Vec::new();
    findings.extend(fewer_values(file, (before, after), files));
    findings.extend(on_condition(file, before, after));
    if is_shell {
        findings.extend(silent(file, before, after));
        findings.extend(left_early(file, before, after));
        findings.extend(left_on_condition(file, before, after));
        findings.extend(with_itself(file, before, after));
    }
    findings
}

/// The lines without comments and blanks, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let said = (1_u32..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
    said.filter(|(_, line)| {
        let is_comment = ["#", "//", "--", ";", "/*", "*"]
            .iter()
            .any(|mark| line.starts_with(mark));
        !line.is_empty() && (!is_comment || line.starts_with("#["))
    })
}

/// Texts in quotes.
fn values(text: &str) -> Vec<String> {
    let said = lines(text).flat_map(|(_, line)| of_line(line).into_iter().chain(bare_value(line)));
    said.collect()
}

/// What a condition of a shell compares with, where it stands without quotes: `[ "$(slug A)" = a ]`.
fn bare_value(line: &str) -> Option<String> {
    let (_, right) = sides(line)?;
    let is_plain = right.chars().all(|c| c.is_alphanumeric() || "-_./:+".contains(c));
    (is_plain && !right.is_empty()).then(|| right.to_owned())
}

/// Both sides of `[ one = other ]`.
fn sides(line: &str) -> Option<(&str, &str)> {
    let inner = line
        .strip_prefix("[ ")
        .or_else(|| line.split_once(" [ ").map(|(_, rest)| rest))?;
    let (inner, _) = inner.rsplit_once(" ]")?;
    let operator = [" = ", " == ", " -eq "]
        .into_iter()
        .find(|operator| inner.contains(operator))?;
    let (one, other) = inner.rsplit_once(operator)?;
    Some((one.trim_start_matches("[ ").trim(), other.trim()))
}

/// A condition of a shell script that compares something with itself.
fn with_itself(file: &ReadFile<'_>, before: &str, after: &str) -> Option<IntegrityFinding> {
    let same = |line: &str| sides(line).is_some_and(|(one, other)| one == other);
    let (number, line) = lines(after).find(|(_, line)| same(line) && !before.contains(line))?;
    let what = format!("{} compares something with itself", quoted(line));
    Some(finding(Rule::AssertionTrivial, file.path, Some(number), what))
}

fn of_line(line: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let after = rest.get(at..).unwrap_or_default();
        let mark = after.chars().next().unwrap_or('"');
        let inner = after.get(mark.len_utf8()..).unwrap_or_default();
        let Some(end) = inner.find(mark) else { break };
        values.extend(inner.get(..end).filter(|value| !value.is_empty()).map(str::to_owned));
        rest = inner.get(end.saturating_add(mark.len_utf8())..).unwrap_or_default();
    }
    values
}

/// Values that tests tried and try no longer, where no others came in their place.
fn fewer_values(
    file: &ReadFile<'_>,
    (before, after): (&str, &str),
    files: &[ReadFile<'_>],
) -> Option<IntegrityFinding> {
    let (old, new) = (values(before), values(after));
    let lost = added(&new, &old);
    let mut gained = added(&old, &new);
    // A value that stands for two that were compared says nothing new.
    gained.retain(|value| !old.contains(value));
    let is_elsewhere = |value: &String| {
        let others = files
            .iter()
            .filter(|other| other.path != file.path && other.role != Role::Source);
        others.into_iter().any(|other| {
            let bytes = other.file.after.bytes().unwrap_or_default();
            String::from_utf8_lossy(bytes).contains(value.as_str())
        })
    };
    let first = lost.iter().find(|value| !new.contains(value))?;
    let is_less = gained.is_empty() && !lost.iter().all(is_elsewhere) && lines(after).count() <= lines(before).count();
    let what = format!("the tests of this file no longer say {}", quoted(first));
    is_less.then(|| finding(Rule::AssertionRemoved, file.path, Some(1), what))
}

/// A line that ran always and runs on a condition now.
fn on_condition(file: &ReadFile<'_>, before: &str, after: &str) -> Option<IntegrityFinding> {
    let kept: Vec<&str> = lines(after).map(|(_, line)| line).collect();
    let lost: Vec<&str> = lines(before)
        .map(|(_, line)| line)
        .filter(|line| line.len() > 3 && !kept.contains(line))
        .collect();
    let is_guarded = |line: &str| {
        lost.iter().any(|old| {
            let guard = line.strip_suffix(old).map(str::trim_end);
            guard.is_some_and(|guard| guard.ends_with("||") || guard.ends_with("&&"))
        })
    };
    let (number, line) = lines(after).find(|(_, line)| is_guarded(line))?;
    let what = format!("what ran always runs on a condition now: {}", quoted(line));
    Some(finding(Rule::SkipAdded, file.path, Some(number), what))
}

/// Whether a line of a shell script tells or keeps a failure.
fn tells(line: &str) -> bool {
    let words: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || matches!(c, ';' | '{' | '}' | '(' | ')'))
        .collect();
    let leaves = words.windows(2).any(|pair| match pair {
        ["exit" | "return", code] => !matches!(*code, "0" | "" | "&&" | "||"),
        _ => false,
    });
    let keeps = words.iter().any(|word| {
        let Some((name, value)) = word.split_once('=') else {
            return false;
        };
        let name = name.to_lowercase();
        let is_status = ["fail", "status", "rc", "err", "bad", "result", "code"]
            .iter()
            .any(|part| name.contains(part));
        is_status && !matches!(value, "0" | "" | "\"\"") && !name.starts_with('$')
    });
    let stops = words
        .windows(2)
        .any(|pair| matches!(pair, ["set", flags] if flags.starts_with('-') && flags.contains('e')));
    leaves || keeps || stops || words.iter().any(|word| matches!(*word, "false" | "die" | "fail"))
}

/// A shell script that tells fewer failures than before.
fn silent(file: &ReadFile<'_>, before: &str, after: &str) -> Option<IntegrityFinding> {
    let times = |text: &str| lines(text).filter(|(_, line)| tells(line)).count();
    let lost = lines(before).find(|(_, line)| tells(line) && !after.contains(line))?.1;
    let what = format!("failures are no longer told as by {}", quoted(lost));
    (times(after) < times(before)).then(|| finding(Rule::AssertionRemoved, file.path, Some(1), what))
}

/// A shell script that ends well before what it did.
fn left_early(file: &ReadFile<'_>, before: &str, after: &str) -> Option<IntegrityFinding> {
    let ends = |line: &str| matches!(line, "exit 0" | "exit" | "return 0" | "return" | "exec true");
    let known: Vec<&str> = before.lines().map(str::trim_end).collect();
    let at_once = |number: u32| {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        after
            .lines()
            .nth(at.saturating_sub(1))
            .is_some_and(|line| !line.starts_with([' ', '\t']))
    };
    let (number, line) = lines(after).find(|(number, line)| ends(line) && at_once(*number) && !known.contains(line))?;
    let follows = lines(after).any(|(later, line)| later > number && before.contains(line));
    let what = format!("{} ends the tests before they begin", quoted(line));
    follows.then(|| finding(Rule::ExitInTest, file.path, Some(number), what))
}

/// A shell script that ends well before what it did, unless something is set; a tool that is not there is no such thing.
fn left_on_condition(file: &ReadFile<'_>, before: &str, after: &str) -> Option<IntegrityFinding> {
    let leaves = |line: &str| {
        ["|| exit 0", "&& exit 0", "&& exit"]
            .iter()
            .any(|end| line.ends_with(end))
    };
    let asks_for_tool = |line: &str| {
        ["command -v", "which ", "type ", "hash "]
            .iter()
            .any(|word| line.contains(word))
    };
    let is_new = |line: &str| leaves(line) && !asks_for_tool(line) && !before.contains(line);
    let (number, line) = lines(after).find(|(_, line)| is_new(line))?;
    let what = format!("{} ends the tests before they begin", quoted(line));
    let follows = lines(after).any(|(later, line)| later > number && before.contains(line));
    follows.then(|| finding(Rule::SkipAdded, file.path, Some(number), what))
}
