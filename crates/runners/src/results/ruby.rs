//! Reads minitest, test-unit and RSpec.

use crate::results::{
    failures::{Layout, NO_END, is_text},
    numbers::before,
    runner::{Naming, Runner},
    tally::{Outcome, Tally, joined},
};

/// Rake passes the variable on to minitest and test-unit.
pub(super) static RAKE: Runner = Runner {
    naming: Some(Naming { argument: "TESTOPTS=-v", unless: &["TESTOPTS="] }),
    read: Some(minitest),
    // `PriceTest#test_adds:` precedes an error, `PriceTest#test_adds [test/a.rb:3]:` a failure.
    failures: Some(Layout {
        name: without_number,
        ..Layout::after(|line| {
            let name = line.strip_suffix(':').filter(|line| !line.starts_with(' '))?;
            name.contains("#test_").then(|| (name.split(" [").next().unwrap_or(name), ""))
        })
    }),
    ..Runner::only_called(&[&["rake"]])
};

pub(super) static RAILS: Runner = Runner {
    naming: Some(Naming { argument: "-v", unless: &["-v", "--verbose"] }),
    ..Runner::only_called(&[&["rails", "test"]])
};

/// test-unit, which Rake calls like minitest.
pub(super) static TEST_UNIT: Runner = Runner {
    read: Some(test_unit),
    failures: Some(Layout {
        name: below_its_class,
        ..Layout::after(|line| {
            let failure = line.strip_prefix("Failure: ").or_else(|| line.strip_prefix("Error: "))?;
            let (name, text) = failure.split_once("):").unwrap_or((failure, ""));
            Some((name, text.trim()))
        })
    }),
    ..Runner::only_called(&[])
};

/// RSpec. An environment variable makes it name its tests, so `naming` is not set.
pub(super) static RSPEC: Runner = Runner {
    read: Some(rspec),
    failures: Some(Layout {
        test: |line| {
            let (number, _) = line.strip_prefix("  ")?.split_once(") ")?;
            number.parse::<u32>().ok().map(|_| (line.trim(), ""))
        },
        name: |test| test.split_once(") ").map_or(test, |(_, name)| name).to_owned(),
        mark: Some(|line| line.trim_start().starts_with("Failure/Error:").then_some("")),
        text: is_text,
        end: NO_END,
    }),
    ..Runner::only_called(&[&["rspec"]])
};

/// Reads `5 runs, 3 assertions, 1 failures, 1 errors, 1 skips`; with `-v`, a line such as `PriceTest#test_adds = 0.00 s
/// = .` for each test.
fn minitest(text: &str) -> Option<Tally> {
    let mut listed = Tally::default();
    let mut sum = Tally::default();
    let mut has_summary = false;
    let mut open = None;
    let mut is_failure = false;
    for line in text.lines() {
        if is_failure {
            is_failure = false;
            sum.record_mentioned(&without_number(line.split(" [").next().unwrap_or(line).trim_end_matches(':')));
        } else if let Some((_, outcome)) = line.trim_start().split_once(") ").filter(|_| line.starts_with("  ")) {
            is_failure = ["Failure:", "Error:"].contains(&outcome);
        } else if let Some(runs) = before(line, "runs").filter(|_| line.contains(" assertions, ")) {
            has_summary = true;
            let number = |word| before(line, word).unwrap_or(0);
            let (failed, skipped) = (number("failures").saturating_add(number("errors")), number("skips"));
            sum.sum(runs.saturating_sub(failed).saturating_sub(skipped), failed, skipped);
        } else {
            open = minitest_begun(line).or(open);
            if let Some((name, outcome)) = open.zip(minitest_outcome(line)) {
                listed.record(&without_number(name), outcome);
                open = None;
            }
        }
    }
    has_summary.then(|| exact_or(listed, sum))
}

/// Returns the list of results if it holds each result that the summary counts, and the summary otherwise.
fn exact_or(listed: Tally, sum: Tally) -> Tally {
    let is_whole = listed.passed == sum.passed && listed.failed == sum.failed;
    if is_whole { listed } else { sum }
}

/// Returns the name at the beginning of `PriceTest#test_adds = `.
fn minitest_begun(line: &str) -> Option<&str> {
    let (name, _) = line.split_once(" = ")?;
    let (class, test) = name.split_once('#')?;
    (!class.is_empty() && test.starts_with("test_")).then_some(name)
}

/// Returns the outcome at the end of ` = 0.01 s = .`.
fn minitest_outcome(line: &str) -> Option<Outcome> {
    let (rest, outcome) = line.rsplit_once(" s = ")?;
    let time = rest.rsplit([' ', '=']).next()?;
    time.parse::<f64>().ok()?;
    letter(outcome.trim_end())
}

fn letter(outcome: &str) -> Option<Outcome> {
    match outcome {
        "." => Some(Outcome::Passed),
        "F" | "E" => Some(Outcome::Failed),
        "S" | "O" | "P" | "N" => Some(Outcome::Skipped),
        _ => None,
    }
}

/// Returns a name without the number that minitest gives to `it "…"`, which changes when a test is added before it.
fn without_number(name: &str) -> String {
    let numbered = name.split_once("#test_").and_then(|(class, test)| {
        let (number, title) = test.split_once('_')?;
        let is_number = number.len() == 4 && number.chars().all(|c| c.is_ascii_digit());
        is_number.then(|| format!("{class}#{title}"))
    });
    numbered.unwrap_or_else(|| name.to_owned())
}

/// Reads `3 tests, 2 assertions, 1 failures, 0 errors, 0 pendings, 1 omissions, 0 notifications`. With `-v`, also a
/// line such as ` test_adds:<TAB>.: (0.000097)` for each test below its class.
fn test_unit(text: &str) -> Option<Tally> {
    let mut listed = Tally::default();
    let mut sum = Tally::default();
    let mut has_summary = false;
    let mut class = "";
    for line in text.lines() {
        if let Some(tests) = before(line, "tests").filter(|_| line.contains(" pendings, ")) {
            has_summary = true;
            let number = |word| before(line, word).unwrap_or(0);
            let failed = number("failures").saturating_add(number("errors"));
            let skipped = number("pendings").saturating_add(number("omissions"));
            sum.sum(tests.saturating_sub(failed).saturating_sub(skipped), failed, skipped);
        } else if let Some((test, rest)) = line.strip_prefix("  ").and_then(|line| line.split_once(":\t")) {
            let mark = rest.trim_start().get(..1).unwrap_or_default();
            if let Some(outcome) = letter(mark) {
                listed.record(&joined([class].into_iter(), "#", test.trim()), outcome);
            }
        } else if let Some(name) = line.strip_suffix(": ") {
            class = name.trim();
        } else if let Some(failure) = line.strip_prefix("Failure: ").or_else(|| line.strip_prefix("Error: ")) {
            sum.record_mentioned(&below_its_class(failure));
        }
    }
    has_summary.then(|| exact_or(listed, sum))
}

/// Returns the name of a test from `test_adds(PriceTest)`.
fn below_its_class(printed: &str) -> String {
    let (test, class) = printed.rsplit_once('(').unwrap_or((printed, ""));
    format!("{}#{test}", class.trim_end_matches(')'))
}

/// Reads `4 examples, 1 failure, 1 pending`; with the documentation format, the tests' titles below those of their
/// groups.
fn rspec(text: &str) -> Option<Tally> {
    let summary = text.lines().rev().find(|line| is_rspec_summary(line))?;
    let number = |one, many| before(summary, one).or_else(|| before(summary, many)).unwrap_or(0);
    let failed = number("failure", "failures").saturating_add(number("error", "errors"));
    let pending = number("pending", "pending");
    let all = number("example", "examples");
    let mut sum = Tally::default();
    sum.sum(all.saturating_sub(failed).saturating_sub(pending), failed, pending);
    for line in text.lines().filter(|line| line.starts_with("rspec ")) {
        sum.record_mentioned(line.split_once(" # ").map_or("", |(_, name)| name));
    }
    Some(exact_or(documented(text), sum))
}

fn is_rspec_summary(line: &str) -> bool {
    let mut parts = line.split(", ");
    let is_counted = |part: Option<&str>, words: [&str; 2]| {
        let counted = part.and_then(|part| part.split_once(' '));
        counted.is_some_and(|(number, word)| number.parse::<u32>().is_ok() && words.contains(&word))
    };
    is_counted(parts.next(), ["example", "examples"]) && is_counted(parts.next(), ["failure", "failures"])
}

/// Reads the documentation format: a title is a group's if a deeper one follows. Outermost groups follow an empty line;
/// any other line without indentation is a test's own output.
fn documented(text: &str) -> Tally {
    let mut tally = Tally::default();
    let mut titles: Vec<(usize, &str)> = Vec::new();
    let mut last: Option<(usize, &str)> = None;
    let mut is_after_blank = true;
    for line in text.lines() {
        let title = line.trim_start();
        let depth = line.len().saturating_sub(title.len());
        if depth == 0
            && (title.starts_with("Finished in ") || ["Failures:"].contains(&title) || title.starts_with("Pending: "))
        {
            break;
        }
        let is_title = !title.is_empty() && depth % 2 == 0 && (depth > 0 || is_after_blank);
        is_after_blank = title.is_empty();
        if !is_title {
            continue;
        }
        if let Some((above, name)) = last.take() {
            if depth > above { titles.push((above, name)) } else { documented_test(&titles, name, &mut tally) }
        }
        titles.retain(|(outer, _)| *outer < depth);
        last = Some((depth, title));
    }
    if let Some((_, name)) = last {
        documented_test(&titles, name, &mut tally);
    }
    tally
}

fn documented_test(groups: &[(usize, &str)], title: &str, tally: &mut Tally) {
    // A group without tests is no test.
    if groups.is_empty() {
        return;
    }
    let marked = |mark: &str| title.rsplit_once(mark).filter(|(_, rest)| rest.ends_with(')'));
    let (title, outcome) = match (marked(" (FAILED - "), marked(" (PENDING: ")) {
        (Some((title, _)), _) => (title, Outcome::Failed),
        (None, Some((title, _))) => (title, Outcome::Skipped),
        (None, None) => (title, Outcome::Passed),
    };
    let groups = groups.iter().map(|(_, name)| *name);
    tally.record(&joined(groups, " ", title), outcome);
}
