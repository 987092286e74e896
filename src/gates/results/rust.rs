//! `cargo test` and `cargo nextest`.

use crate::gates::results::{
    before,
    runner::{Arguments, Naming, Place, Runner},
    tally::{Outcome, Tally, Uncounted},
};

pub(super) static CARGO_TEST: Runner = Runner {
    naming: Some(EVERY_BINARY),
    build: Some("--no-run"),
    select: Some(by_filter),
    read: Some(libtest),
    ..Runner::called(&[&["cargo", "test"], &["cargo", "t"]])
};

pub(super) static NEXTEST: Runner = Runner {
    naming: Some(EVERY_BINARY),
    build: Some("--no-run"),
    select: Some(by_expression),
    read: Some(nextest),
    ..Runner::called(&[&["cargo", "nextest", "run"], &["cargo", "nextest", "r"]])
};

/// Otherwise the other test binaries are left out when one fails.
const EVERY_BINARY: Naming = Naming {
    arguments: &["--no-fail-fast"],
    place: Place::End,
    unless: &["--no-fail-fast", "--no-run"],
};

/// Whole names, but those of documentation tests, which go on with a line.
fn by_filter(_: &[&str], names: &[&str], _: &[String]) -> Option<(Arguments, Vec<usize>)> {
    let is_documented = |name: &&str| name.contains(" - ");
    let exact = (!names.iter().any(is_documented)).then_some("--exact");
    let words = names.iter().copied().chain(exact).map(str::to_owned);
    let arguments = Arguments {
        place: Place::Binary,
        words: words.collect(),
    };
    Some((arguments, Vec::new()))
}

/// A name is that of the package or binary, and the test's own.
fn by_expression(words: &[&str], names: &[&str], _: &[String]) -> Option<(Arguments, Vec<usize>)> {
    let is_filter = |word: &&str| {
        ["-E", "--filter-expr", "--filterset"]
            .iter()
            .any(|flag| word.starts_with(flag))
    };
    if words.iter().any(is_filter) {
        return None;
    }
    let test = |name: &str| {
        let own = name.rsplit(' ').next().unwrap_or(name);
        let is_plain = own.chars().all(|c| c.is_alphanumeric() || "_:".contains(c));
        is_plain.then(|| format!("test(={own})"))
    };
    let tests: Option<Vec<String>> = names.iter().map(|name| test(name)).collect();
    Arguments::at_end(vec!["-E".to_owned(), tests?.join(" + ")])
}

/// Where in the output of a test binary we are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Outside any.
    Between,
    /// After `running 3 tests`: one line per test.
    Results,
    /// After `failures:`: what failing tests printed, whatever it looks like.
    Printed,
}

/// Adds up every `test result:` line: one per test binary and one for documentation tests.
pub(super) fn libtest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    let mut part = Part::Between;
    for line in text.lines() {
        if let Some(result) = line.strip_prefix("test result: ") {
            seen = Some(());
            part = Part::Between;
            let number = |word: &str| before(result, word).unwrap_or(0);
            tally.count(Outcome::Passed, number("passed"));
            tally.count(Outcome::Failed, number("failed"));
            tally.count(Outcome::Skipped, number("ignored"));
        } else if is_start(line) && part != Part::Printed {
            // The next binary began, and the one before never summed up.
            if part == Part::Results {
                broken_off(&mut tally);
            }
            part = Part::Results;
        } else if line == "failures:" {
            part = Part::Printed;
        } else if let (Part::Results, Some((name, outcome))) = (part, result(line)) {
            tally.test(name, outcome);
        } else if let Some(name) = printed(line).filter(|_| part == Part::Printed) {
            tally.mention(without_mark(name));
        }
    }
    if part == Part::Results {
        broken_off(&mut tally);
        seen = Some(());
    }
    seen.map(|()| tally)
}

/// Notes a test binary that ended before its tests did, whatever its exit code: some of them have no result at all.
fn broken_off(tally: &mut Tally) {
    tally.uncounted = Uncounted::Some;
    tally.mention("a test binary that ended before its tests did");
}

/// `running 3 tests`.
fn is_start(line: &str) -> bool {
    let number = line
        .strip_prefix("running ")
        .and_then(|rest| rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test")));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// `test tests::name ... ok`; the name may carry a mark such as ` - should panic`.
fn result(line: &str) -> Option<(&str, Outcome)> {
    let (name, said) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let outcome = match said {
        "ok" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        said if said.starts_with("ignored") => Outcome::Skipped,
        _ => return None,
    };
    Some((without_mark(name), outcome))
}

/// `---- tests::name stdout ----`.
fn printed(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// The name alone. The line of a documentation test says nothing of it: an edit above moves it.
fn without_mark(name: &str) -> &str {
    let name = name.split(" - should panic").next().unwrap_or(name);
    match name.split_once(" (line ") {
        Some((documented, _)) if documented.contains(" - ") || documented.ends_with(".rs") => documented,
        _ => name,
    }
}

/// `Summary [0.016s] 3 tests run: 2 passed, 1 failed, 1 skipped`.
pub(super) fn nextest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("Summary [") && (line.contains("tests run:") || line.contains("test run:")) {
            seen = Some(());
            let number = |word: &str| before(line, word).unwrap_or(0);
            tally.count(Outcome::Passed, number("passed"));
            tally.count(Outcome::Failed, number("failed").saturating_add(number("out")));
            tally.count(Outcome::Skipped, number("skipped"));
        } else if let Some((name, outcome)) = status(line) {
            match seen {
                // Failures are listed once more at the end.
                Some(()) if outcome == Outcome::Failed => tally.mention(name),
                Some(()) => {}
                None => tally.test(name, outcome),
            }
        }
    }
    seen.map(|()| tally)
}

/// `PASS [   0.003s] (1/3) crate module::name`.
fn status(line: &str) -> Option<(&str, Outcome)> {
    let (word, rest) = line.split_once(" [")?;
    let (_, name) = rest.split_once("] ")?;
    let outcome = match word {
        "PASS" | "LEAK" => Outcome::Passed,
        "FAIL" | "TIMEOUT" | "ABORT" | "LEAK-FAIL" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        word if word.starts_with("SIG") && !word.contains(' ') => Outcome::Failed,
        word if word.starts_with("FLAKY ") => Outcome::Passed,
        _ => return None,
    };
    let name = name.trim_start();
    let numbered = name.strip_prefix('(').and_then(|rest| rest.split_once(") "));
    Some((numbered.map_or(name, |(_, name)| name.trim_start()), outcome))
}
