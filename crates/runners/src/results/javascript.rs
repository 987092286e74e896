//! Reads jest, vitest and mocha.

use crate::results::{
    failures::{Layout, NO_END, is_text},
    numbers::{before, without_time},
    runner::{Arguments, Naming, Runner, Select, any_of, escaped},
    tally::{Outcome, Tally, joined},
};
use std::collections::BTreeSet;

pub(super) static JEST: Runner = Runner {
    naming: Some(Naming { argument: "--verbose", unless: &["--verbose", "--reporters"] }),
    select: Some(Select {
        by: |_, asked| {
            let titles = asked.names.iter().map(|name| {
                let titles = name.split_once(" › ").map_or(*name, |(_, titles)| titles);
                one_of_titles(titles, " › ")
            });
            // jest reads paths as patterns.
            let files = asked.files.iter().map(|file| escaped(file));
            Some(by_pattern(files, "-t", titles))
        },
        unless: &["-t", "--testNamePattern"],
    }),
    read: Some(jest),
    failures: Some(Layout::after(|line| {
        let name = line.trim_start().strip_prefix("● ")?;
        name.contains(" › ").then_some((name, ""))
    })),
    ..Runner::only_called(&[&["jest"]])
};

pub(super) static VITEST: Runner = Runner {
    naming: Some(Naming { argument: "--reporter=verbose", unless: &["--reporter"] }),
    select: Some(Select {
        by: |_, asked| {
            let parts: Option<Vec<(&str, &str)>> = asked.names.iter().map(|name| name.split_once(" > ")).collect();
            let parts = parts?;
            let files: BTreeSet<&str> = parts.iter().filter_map(|(file, _)| file.rsplit(' ').next()).collect();
            let titles = parts.iter().map(|(_, titles)| one_of_titles(titles, " > "));
            let is_option = files.iter().any(|file| file.starts_with('-'));
            (!is_option).then(|| by_pattern(files.into_iter().map(str::to_owned), "-t", titles))
        },
        unless: &["-t", "--testNamePattern"],
    }),
    read: Some(vitest),
    failures: Some(Layout::after(|line| {
        let name = line.trim_start().strip_prefix("FAIL ")?.trim_start();
        name.contains(" > ").then_some((name, ""))
    })),
    ..Runner::only_called(&[&["vitest"]])
};

pub(super) static MOCHA: Runner = Runner {
    naming: Some(Naming { argument: "--reporter=spec", unless: &["--reporter", "-R"] }),
    select: Some(Select {
        by: |_, asked| Some(by_pattern([], "-g", asked.names.iter().map(|name| escaped(name)))),
        unless: &["-g", "--grep", "-f", "--fgrep", "-i", "--invert"],
    }),
    read: Some(mocha),
    // The last line of a title ends with a colon.
    failures: Some(Layout {
        test: |line| numbered(line.trim_start()).map(|_| (line.trim(), "")),
        name: str::to_owned,
        mark: Some(|line| line.trim_end().ends_with(':').then_some("")),
        text: is_text,
        end: NO_END,
    }),
    ..Runner::only_called(&[&["mocha"], &["_mocha"]])
};

/// Returns a pattern that matches the titles, joined by a blank (as the runner matches them) or as it prints them.
fn one_of_titles(name: &str, separator: &str) -> String {
    escaped(name).replace(&escaped(separator), &format!("( |{separator})"))
}

/// Returns the paths of files and, after the flag, one pattern for all titles.
fn by_pattern(
    files: impl IntoIterator<Item = String>,
    flag: &str,
    titles: impl IntoIterator<Item = String>,
) -> Arguments {
    Arguments::at_end(files.into_iter().chain([flag.to_owned(), any_of(titles)]))
}

/// Reads `Tests:       1 failed, 1 skipped, 2 passed, 4 total`; with `--verbose` one line per test below its file. The
/// order of files varies, so a test's name begins with its file.
pub(super) fn jest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    let mut file: Option<&str> = None;
    let mut titles: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some(summary) = trimmed.strip_prefix("Tests:").filter(|rest| rest.contains(" total")) {
            seen = Some(());
            add(&mut tally, summary);
        } else if trimmed.starts_with("No tests found, exiting with code") {
            seen = Some(());
        } else if let Some(path) = line.strip_prefix("PASS ").or_else(|| line.strip_prefix("FAIL ")) {
            file = Some(path.split(" (").next().unwrap_or(path));
            titles.clear();
        } else if trimmed.starts_with("● Test suite failed to run") {
            // jest counts it as a suite, not as a test.
            tally.record(&format!("{} (did not run)", file.unwrap_or("a test file")), Outcome::Failed);
        } else if let Some(name) = trimmed.strip_prefix("● ").filter(|name| name.contains(" › ")) {
            tally.record_mentioned(&joined(file.into_iter(), " › ", name));
        } else if let Some(file) = file.filter(|_| !trimmed.is_empty()) {
            verbose(line, trimmed, file, &mut titles, &mut tally);
        }
    }
    seen.map(|()| tally)
}

/// Reads a line such as `    ✓ adds (2 ms)` below the titles of its groups.
fn verbose<'a>(line: &'a str, trimmed: &'a str, file: &str, titles: &mut Vec<(usize, &'a str)>, tally: &mut Tally) {
    let depth = line.len().saturating_sub(trimmed.len());
    titles.retain(|(outer, _)| *outer < depth);
    let mut chars = trimmed.chars();
    let outcome = match chars.next() {
        Some('✓' | '√') => Outcome::Passed,
        Some('✕' | '×') => Outcome::Failed,
        Some('○' | '✎') => Outcome::Skipped,
        _ if depth > 0 && depth <= 40 => return titles.push((depth, trimmed)),
        _ => return,
    };
    let title = chars.as_str().trim_start();
    let title = match outcome {
        Outcome::Skipped => title.strip_prefix("skipped ").or_else(|| title.strip_prefix("todo ")),
        Outcome::Passed | Outcome::Failed => None,
    }
    .unwrap_or(title);
    let groups = titles.iter().map(|(_, title)| *title);
    let groups = [file].into_iter().chain(groups);
    tally.record_name(&joined(groups, " › ", without_time(title, "s)")), outcome);
}

/// Reads `Tests  1 failed | 2 passed | 1 skipped (4)`; with the verbose reporter, one line per test before it.
pub(super) fn vitest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    for line in text.lines().map(str::trim) {
        let summary = line
            .strip_prefix("Tests ")
            .map(str::trim_start)
            .filter(|rest| rest.ends_with(')') && rest.starts_with(|c: char| c.is_ascii_digit()));
        if let Some(summary) = summary {
            seen = Some(());
            add(&mut tally, summary);
        } else if line.starts_with("No test files found, exiting with code") {
            seen = Some(());
        } else if let Some(name) = line.strip_prefix("FAIL ").map(str::trim_start) {
            match name.split_once(" [ ") {
                // vitest counts a file that it could not load as a file, not as a test.
                Some((path, _)) if !name.contains(" > ") => {
                    tally.record(&format!("{path} (did not run)"), Outcome::Failed);
                }
                _ if name.contains(" > ") => tally.record_mentioned(name),
                _ => {}
            }
        } else if let Some((name, outcome)) = vitest_line(line) {
            tally.record_name(name, outcome);
        }
    }
    seen.map(|()| tally)
}

/// Reads a line such as `✓ test/sum.test.ts > sum > adds 2ms`.
fn vitest_line(line: &str) -> Option<(&str, Outcome)> {
    let mut chars = line.chars();
    let outcome = match chars.next()? {
        '✓' | '✔' => Outcome::Passed,
        '×' | '✗' | '❯' => Outcome::Failed,
        '↓' => Outcome::Skipped,
        _ => return None,
    };
    let mut name = chars.as_str().trim_start();
    name = name.strip_suffix(" [skipped]").unwrap_or(name);
    if let Some((title, time)) = name.rsplit_once(' ') {
        let number = time.trim_end_matches("ms").trim_end_matches('s');
        let is_time = time.ends_with('s') && number.parse::<f64>().is_ok();
        name = if is_time { title } else { name };
    }
    // Files and groups are listed too, followed by their numbers of tests.
    (name.contains(" > ") && !has_number_of_tests(name)).then_some((name, outcome))
}

/// `true` if the name ends with a number of tests, such as `(3 tests | 1 failed)`.
fn has_number_of_tests(name: &str) -> bool {
    let behind = name.rsplit_once(" (").and_then(|(_, rest)| rest.split_once(' '));
    behind.is_some_and(|(number, rest)| number.parse::<u32>().is_ok() && rest.starts_with("test"))
}

fn add(tally: &mut Tally, summary: &str) {
    let number = |word: &str| before(summary, word).unwrap_or(0);
    let skipped = number("skipped").saturating_add(number("todo"));
    tally.sum(number("passed"), number("failed"), skipped);
}

/// Reads `2 passing (5ms)`, `1 failing`, `1 pending`, each on its own line. Before them, the spec reporter names every
/// test below the titles of its suites.
pub(super) fn mocha(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    let mut titles: Vec<(usize, &str)> = Vec::new();
    let mut failure: Vec<&str> = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        let mut words = trimmed.split(' ');
        match (words.next().and_then(|number| number.parse::<u32>().ok()), words.next()) {
            (Some(number), Some("passing")) if trimmed.ends_with("s)") => {
                seen = Some(());
                tally.count(Outcome::Passed, number);
            }
            (Some(number), Some("failing")) if seen.is_some() => tally.count(Outcome::Failed, number),
            (Some(number), Some("pending")) if seen.is_some() => tally.count(Outcome::Skipped, number),
            _ if seen.is_none() => spec(line, &mut titles, &mut tally),
            _ if tally.failed > 0 => read_listed(trimmed, &mut failure, &mut tally),
            _ => {}
        }
    }
    seen.map(|()| tally)
}

/// Reads `    ✔ adds (12ms)`, `    1) halves` and `    - waits` below the titles of their suites, indented by two
/// columns per level.
fn spec<'a>(line: &'a str, titles: &mut Vec<(usize, &'a str)>, tally: &mut Tally) {
    let trimmed = line.trim_start();
    let depth = line.len().saturating_sub(trimmed.len());
    if trimmed.is_empty() || depth == 0 || depth % 2 == 1 || depth > 80 {
        return;
    }
    titles.retain(|(outer, _)| *outer < depth);
    let mut chars = trimmed.chars();
    let (outcome, title) = match chars.next() {
        Some('✔' | '✓' | '√') => (Outcome::Passed, chars.as_str().trim()),
        Some('-') if trimmed.starts_with("- ") => (Outcome::Skipped, chars.as_str().trim()),
        _ => match numbered(trimmed) {
            Some(title) => (Outcome::Failed, title.trim()),
            None => return titles.push((depth, trimmed.trim_end())),
        },
    };
    let suites = titles.iter().map(|(_, title)| *title);
    tally.record_name(&joined(suites, " ", without_time(title, "ms)")), outcome);
}

/// Reads a listed failure: `1) suite`, then each inner title on its own line, the last one with a colon.
fn read_listed<'a>(line: &'a str, failure: &mut Vec<&'a str>, tally: &mut Tally) {
    match (numbered(line), failure.is_empty()) {
        (Some(first), _) => *failure = vec![first],
        (None, false) if line.is_empty() || failure.len() > 40 => return failure.clear(),
        (None, false) => failure.push(line),
        (None, true) => return,
    }
    let whole = failure.last().and_then(|last| last.strip_suffix(':'));
    if let (Some(last), Some((_, suites))) = (whole, failure.split_last()) {
        tally.record_mentioned(&suites.iter().copied().chain([last]).collect::<Vec<_>>().join(" "));
        failure.clear();
    }
}

fn numbered(line: &str) -> Option<&str> {
    let (number, title) = line.split_once(") ")?;
    number.parse::<u32>().ok().map(|_| title)
}
