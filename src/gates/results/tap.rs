//! Reads the Test Anything Protocol, and the summary of `prove`.

use crate::gates::results::{
    numbers::after,
    runner::{ArgumentPosition, Arguments, Asked, Naming, Runner},
    tally::{Outcome, Tally},
};

/// ava. Its output is read as plain Test Anything Protocol.
pub(super) static AVA: Runner = Runner {
    naming: Some(Naming {
        arguments: &["--tap"],
        position: ArgumentPosition::End,
        unless: &["--tap", "-t"],
    }),
    select: Some(by_glob),
    ..Runner::called(&[&["ava"]])
};

pub(super) static PROVE: Runner = Runner {
    read: Some(prove),
    ..Runner::called(&[&["prove"]])
};

/// Selects tests by title. A title is a pattern that matches itself, except that a leading `!` would negate it.
fn by_glob(words: &[&str], asked: &Asked<'_>) -> Option<(Arguments, Vec<usize>)> {
    if words
        .iter()
        .any(|word| word.starts_with("-m") || word.starts_with("--match"))
    {
        return None;
    }
    let pattern = |name: &&str| {
        let title = name.rsplit(" › ").next().unwrap_or(name);
        let title = title
            .strip_prefix('!')
            .map_or_else(|| title.to_owned(), |rest| format!("*{rest}"));
        format!("--match={title}")
    };
    let files = asked.files.iter().map(|file| (*file).to_owned());
    Arguments::at_end(asked.names.iter().map(pattern).chain(files).collect())
}

/// Reads `Files=2, Tests=5, …` after `Failed 1/5 subtests` and `(Wstat: 256 Tests: 5 Failed: 1)`.
pub(super) fn prove(text: &str) -> Option<Tally> {
    let summary = text.lines().rev().find(|line| line.starts_with("Files="))?;
    let tests = after(summary, "Tests")?;
    let mut tally = Tally::default();
    for line in text.lines().filter(|line| line.contains("(Wstat: ")) {
        tally.count(Outcome::Failed, after(line, "Failed").unwrap_or(0));
        tally.mention(line.split("(Wstat: ").next().unwrap_or_default());
    }
    tally.passed = tests.saturating_sub(tally.failed);
    Some(tally)
}

/// Reads lines such as `ok 1 - name` and `not ok 2 - name`, if there is a plan such as `1..2`.
pub(super) fn plain(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut planned = None;
    for line in text.lines() {
        if let Some(count) = line.strip_prefix("1..") {
            let count = count.split(' ').next().unwrap_or(count);
            planned = planned.or_else(|| count.parse::<u32>().ok());
        } else if let Some(rest) = test_line(line, "ok") {
            match is_marked(rest, "SKIP") {
                true => tally.counted(title(rest), Outcome::Skipped),
                false => tally.counted(title(rest), Outcome::Passed),
            }
        } else if let Some(rest) = test_line(line, "not ok") {
            match is_marked(rest, "TODO") {
                true => tally.counted(title(rest), Outcome::Skipped),
                false => tally.counted(title(rest), Outcome::Failed),
            }
        }
    }
    planned.map(|_| tally)
}

fn test_line<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(word)?;
    (rest.is_empty() || rest.starts_with(' ')).then_some(rest)
}

/// Returns the title after the number, without a directive.
fn title(rest: &str) -> &str {
    let title = rest.trim_start_matches(|c: char| c.is_ascii_digit() || " -".contains(c));
    match title.split_once('#') {
        Some((title, directive)) if is_directive(directive) => title.trim_end(),
        _ => title,
    }
}

fn is_directive(words: &str) -> bool {
    let words = words.trim_start().to_uppercase();
    words.starts_with("SKIP") || words.starts_with("TODO")
}

fn is_marked(rest: &str, mark: &str) -> bool {
    rest.split_once('#')
        .is_some_and(|(_, words)| words.trim_start().to_uppercase().starts_with(mark))
}
