//! Reads the Test Anything Protocol, and the summary of `prove`.

use crate::results::{
    failures::{Layout, failed},
    numbers::after,
    runner::{Arguments, Naming, Runner, Select},
    tally::{Outcome, Tally},
};

/// ava. Its output is read as plain Test Anything Protocol.
pub(super) static AVA: Runner = Runner {
    naming: Some(Naming { argument: "--tap", unless: &["--tap", "-t"] }),
    // A title is a pattern that matches itself, except that a leading `!` would negate it.
    select: Some(Select {
        by: |_, asked| {
            let pattern = |name: &&str| {
                let title = name.rsplit(" › ").next().unwrap_or(name);
                match title.strip_prefix('!') {
                    Some(rest) => format!("--match=*{rest}"),
                    None => format!("--match={title}"),
                }
            };
            let files = asked.files.iter().map(|file| (*file).to_owned());
            Some(Arguments::at_end(asked.names.iter().map(pattern).chain(files)))
        },
        unless: &["-m", "--match"],
    }),
    ..Runner::only_called(&[&["ava"]])
};

pub(super) static PROVE: Runner = Runner { read: Some(prove), ..Runner::only_called(&[&["prove"]]) };

/// Reads `Files=2, Tests=5, …` after `Failed 1/5 subtests` and `(Wstat: 256 Tests: 5 Failed: 1)`.
pub(super) fn prove(text: &str) -> Option<Tally> {
    let summary = text.lines().rev().find(|line| line.starts_with("Files="))?;
    let tests = after(summary, "Tests")?;
    let mut tally = Tally::default();
    for line in text.lines().filter(|line| line.contains("(Wstat: ")) {
        tally.count(Outcome::Failed, after(line, "Failed").unwrap_or(0));
        tally.record_mentioned(line.split("(Wstat: ").next().unwrap_or_default());
    }
    tally.passed = tests.saturating_sub(tally.failed);
    Some(tally)
}

/// Plain TAP. The texts of failures are the program's output after `not ok`.
pub(super) static PLAIN: Runner = Runner {
    read: Some(plain),
    failures: Some(Layout::system_errors(|line| failed(result(line)), |line| result(line).is_some())),
    ..Runner::only_called(&[])
};

/// Reads lines such as `ok 1 - name` and `not ok 2 - name`, if there is a plan such as `1..2`.
fn plain(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut planned = None;
    for line in text.lines() {
        if let Some(count) = line.strip_prefix("1..") {
            let count = count.split(' ').next().unwrap_or(count);
            planned = planned.or_else(|| count.parse::<u32>().ok());
        } else if let Some((title, outcome)) = result(line) {
            tally.record(&unescaped(title), outcome);
        }
    }
    planned.map(|_| tally)
}

/// Returns the title after the number, without a directive, and the outcome.
fn result(line: &str) -> Option<(&str, Outcome)> {
    let (rest, outcome, mark) = match line.strip_prefix("not ok") {
        Some(rest) => (rest, Outcome::Failed, "TODO"),
        None => (line.strip_prefix("ok")?, Outcome::Passed, "SKIP"),
    };
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let whole = rest.trim_start_matches(|c: char| c.is_ascii_digit() || " -".contains(c));
    let (title, remark) = split_remark(whole);
    let outcome = match directive(remark) {
        Some(found) if found == mark => Outcome::Skipped,
        Some(_) | None => outcome,
    };
    Some((title, outcome))
}

/// Splits a description from the directive or remark, such as `time=12ms`, after a blank and a `#`. `\#` is a part of
/// the description.
pub(super) fn split_remark(whole: &str) -> (&str, &str) {
    let is_mark =
        |at: &usize| whole.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']));
    match whole.match_indices('#').map(|(at, _)| at).find(is_mark).and_then(|at| whole.split_at_checked(at)) {
        Some((title, remark)) => (title.trim_end(), remark),
        None => (whole, ""),
    }
}

/// Returns the directive of a remark, one of the two that TAP has, in any case.
pub(super) fn directive(remark: &str) -> Option<&'static str> {
    let remark = remark.trim_start_matches(['#', ' ', '\t']);
    let begins = |word: &&&str| remark.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    ["SKIP", "TODO"].iter().find(begins).copied()
}

/// Returns a description without its escapes, `\#` and `\\`.
pub(super) fn unescaped(title: &str) -> String {
    title.replace("\\#", "#").replace("\\\\", "\\")
}
