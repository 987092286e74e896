//! Reads CTest, meson and automake.

use crate::results::{
    failures::{Layout, failed},
    numbers::after,
    runner::{Naming, Runner},
    tally::{Outcome, Tally},
};

pub(super) static CTEST: Runner = Runner {
    read: Some(ctest),
    failures: Some(Layout::system_errors(
        |line| failed(ctest_result(line)),
        |line| ctest_result(line).is_some() || line.contains("% tests passed, "),
    )),
    ..Runner::only_called(&[&["ctest"]])
};

pub(super) static MESON: Runner = Runner {
    read: Some(meson),
    failures: Some(Layout::system_errors(
        |line| failed(meson_result(line)),
        |line| meson_result(line).is_some() || line.starts_with(SUMMARY),
    )),
    naming: Some(Naming { argument: "--print-errorlogs", unless: &["--print-errorlogs", "--verbose", "-v"] }),
    ..Runner::only_called(&[&["meson", "test"]])
};

/// The line before meson's list of failing tests.
const SUMMARY: &str = "Summary of Failures:";

/// `make check` of automake's parallel harness. It writes the output of failing tests to `test-suite.log`, which it
/// prints only with `VERBOSE`.
pub(super) static AUTOMAKE: Runner = Runner {
    read: Some(automake),
    failures: Some(Layout::system_errors(
        |line| failed(automake_result(line)),
        |line| automake_result(line).is_some() || line.contains(" (exit status: ") || line.starts_with("# TOTAL: "),
    )),
    log: Some(|line| line.strip_prefix("See ").filter(|file| file.ends_with("/test-suite.log"))),
    ..Runner::only_called(&[])
};

/// Reads `2/6 Test #2: halves ......***Failed    0.01 sec`, if the output has a summary.
fn ctest(text: &str) -> Option<Tally> {
    let is_summary = |line: &str| {
        line.starts_with("No tests were found!!!") || line.contains("% tests passed, ") && line.contains(" out of ")
    };
    let mut tally = Tally::default();
    for (name, outcome) in text.lines().filter_map(ctest_result) {
        tally.record(name, outcome);
    }
    text.lines().any(is_summary).then_some(tally)
}

fn ctest_result(line: &str) -> Option<(&str, Outcome)> {
    let (place, rest) = line.trim_start().split_once(" Test ")?;
    let (number, all) = place.split_once('/')?;
    number.parse::<u32>().ok().and(all.trim().parse::<u32>().ok())?;
    let (_, rest) = rest.trim_start().strip_prefix('#')?.split_once(": ")?;
    // Dots fill the line up to the result.
    let (name, result) = rest.strip_suffix(" sec")?.rsplit_once("..")?;
    let name = name.trim_end_matches('.').trim_end();
    let result = result.trim_start_matches(['.', ' ']);
    let outcome = match result {
        _ if result.starts_with("Passed") => Outcome::Passed,
        _ if result.contains("***Skipped") || result.contains("(Disabled)") => Outcome::Skipped,
        _ => Outcome::Failed,
    };
    Some((name, outcome))
}

/// Reads `2/4 unit / halves  FAIL   0.01s   exit status 1`, if the output has the summary's counts.
fn meson(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    // The summary repeats the results of failing tests.
    let results = text.lines().take_while(|line| !line.starts_with(SUMMARY));
    for (name, outcome) in results.filter_map(meson_result) {
        tally.record(name, outcome);
    }
    let has = |start: &str| text.lines().any(|line| line.starts_with(start));
    (has("Ok: ") && has("Timeout: ")).then_some(tally)
}

fn meson_result(line: &str) -> Option<(&str, Outcome)> {
    const WORDS: [(&str, Outcome); 8] = [
        (" OK ", Outcome::Passed),
        (" FAIL ", Outcome::Failed),
        (" ERROR ", Outcome::Failed),
        (" TIMEOUT ", Outcome::Failed),
        (" INTERRUPT ", Outcome::Failed),
        (" UNEXPECTEDPASS ", Outcome::Failed),
        (" EXPECTEDFAIL ", Outcome::Passed),
        (" SKIP ", Outcome::Skipped),
    ];
    let (place, rest) = line.trim_start().split_once(' ')?;
    let (number, all) = place.split_once('/')?;
    number.parse::<u32>().ok().and(all.parse::<u32>().ok())?;
    let is_time = |rest: &str| {
        let time = rest.split_whitespace().next().and_then(|time| time.strip_suffix('s'));
        time.is_some_and(|time| time.parse::<f64>().is_ok())
    };
    let results = WORDS.iter().filter_map(|(word, outcome)| {
        let (name, after) = rest.rsplit_once(word)?;
        is_time(after).then(|| (name.trim(), *outcome))
    });
    results.min_by_key(|(name, _)| name.len())
}

/// Reads `PASS: name`, if the output has a summary such as `# TOTAL: 3`.
fn automake(text: &str) -> Option<Tally> {
    let total = |line: &str| line.strip_prefix("# TOTAL: ").and_then(|_| after(line, "TOTAL"));
    let totals: Vec<u32> = text.lines().filter_map(total).collect();
    if totals.is_empty() {
        return None;
    }
    // In the log, the names are headings, underlined to their end.
    let is_heading = |line: &str, next: Option<&&str>| {
        next.is_some_and(|next| next.chars().all(|c| c == '=') && next.chars().count() == line.chars().count())
    };
    let mut tally = Tally::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some((name, outcome)) = automake_result(line).filter(|_| !is_heading(line, lines.peek())) {
            tally.record(name, outcome);
        }
    }
    Some(tally)
}

fn automake_result(line: &str) -> Option<(&str, Outcome)> {
    let (word, name) = line.split_once(": ")?;
    let outcome = match word {
        "PASS" | "XFAIL" => Outcome::Passed,
        "FAIL" | "XPASS" | "ERROR" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    Some((name, outcome))
}
