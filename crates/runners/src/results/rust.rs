//! Reads `cargo test` and `cargo nextest`.

use crate::results::{
    failures::{Layout, NO_END, is_text},
    numbers::before,
    runner::{ArgumentPosition, Arguments, Naming, Runner, Select, SelectedTests},
    tally::{Outcome, Tally},
};
use std::collections::{BTreeSet, HashSet};

pub(super) static CARGO_TEST: Runner = Runner {
    naming: Some(EVERY_BINARY),
    build: Some("--no-run"),
    select: Some(Select { by: by_filter, unless: &[] }),
    read: Some(libtest),
    failures: Some(Layout {
        test: |line| Some((printed(line)?, "")),
        name: str::to_owned,
        mark: Some(|line| panicked(line).map(|_| "").or_else(|| line.strip_prefix("Error: "))),
        text: is_text,
        end: NO_END,
    }),
    ..Runner::only_called(&[&["cargo", "test"], &["cargo", "t"]])
};

pub(super) static NEXTEST: Runner = Runner {
    naming: Some(EVERY_BINARY),
    build: Some("--no-run"),
    select: Some(Select { by: by_expression, unless: &["-E", "--filter-expr", "--filterset"] }),
    read: Some(nextest),
    failures: Some(Layout::after(|line| Some((panicked(line)?, "")))),
    ..Runner::only_called(&[&["cargo", "nextest", "run"], &["cargo", "nextest", "r"]])
};

/// Without this, Cargo skips the remaining test binaries after a failure.
const EVERY_BINARY: Naming = Naming { argument: "--no-fail-fast", unless: &["--no-fail-fast", "--no-run"] };

/// Selects tests by whole name, except documentation tests, whose names continue with a line number. Builds only the
/// targets that hold them, unless the command chooses targets itself.
fn by_filter(words: &[&str], asked: &SelectedTests<'_>) -> Option<Arguments> {
    let documented = asked.names.iter().filter(|name| is_documented(name)).count();
    let exact = (documented == 0).then_some("--exact");
    let names = asked.names.iter().copied().chain(exact).map(str::to_owned);
    let targets = if documented == asked.names.len() && !chooses(words) {
        vec!["--doc".to_owned()]
    } else {
        targets(words, asked)
    };
    if targets.is_empty() {
        return Some(Arguments::at(ArgumentPosition::Binary, names));
    }
    let words = targets.into_iter().chain(["--".to_owned()]).chain(names);
    Some(Arguments::at_end(words))
}

/// `true` if the command chooses the targets that Cargo builds.
fn chooses(words: &[&str]) -> bool {
    const CHOICES: [&str; 9] =
        ["--", "--test", "--tests", "--lib", "--bin", "--bins", "--doc", "--example", "--all-targets"];
    let mut words = words.iter().map(|word| word.split('=').next().unwrap_or(word));
    words.any(|word| CHOICES.contains(&word))
}

/// Returns the options for the targets of these files, if Cargo makes one from each by default and the command chooses
/// none.
fn targets(words: &[&str], asked: &SelectedTests<'_>) -> Vec<String> {
    if chooses(words) {
        return Vec::new();
    }
    let paths: HashSet<&str> = asked.paths.iter().copied().collect();
    let target = |file: &&str| target(file, asked, &paths);
    let options: Option<Vec<Vec<String>>> = asked.files.iter().map(target).collect();
    let options: BTreeSet<String> = options.into_iter().flatten().flatten().collect();
    options.into_iter().collect()
}

/// Returns the options for the target of a file: a binary of its own below `tests`, else the package's library and
/// programs. Documentation tests, examples and the other binaries are then not built.
fn target(file: &str, asked: &SelectedTests<'_>, paths: &HashSet<&str>) -> Option<Vec<String>> {
    let has = |path: String| paths.contains(path.as_str());
    let folders = file.match_indices('/').filter_map(|(at, _)| file.get(..=at));
    let mut packages = folders.rev().filter(|folder| has(format!("{folder}Cargo.toml")));
    let package = packages.next().unwrap_or_default();
    let own = file.strip_prefix(package)?;
    if let Some(test) = own.strip_prefix("tests/").filter(|_| asked.has_usual_binaries) {
        let name = match test.split_once('/') {
            None => test.strip_suffix(".rs"),
            Some((name, _)) => {
                let ends = [".rs", "/main.rs"];
                let is_one = ends.iter().any(|end| has(format!("{package}tests/{name}{end}")));
                is_one.then_some(name)
            }
        };
        return name.map(|name| vec![format!("--test={name}")]);
    }
    own.strip_prefix("src/")?;
    let own: &[&str] = match (has(format!("{package}src/lib.rs")), has(format!("{package}src/main.rs"))) {
        (true, _) => &["--bins", "--lib"],
        (false, true) => &["--bins"],
        (false, false) => return None,
    };
    Some(own.iter().map(|option| (*option).to_owned()).collect())
}

/// `true` if the name is that of a documentation test: the file and the item that it documents.
pub(crate) fn is_documented(name: &str) -> bool {
    let file = name.split_once(" - ").map(|(file, _)| file);
    file.is_some_and(|file| (file.ends_with(".rs") || file.ends_with(".md")) && !file.contains(' '))
}

/// Selects tests by a filter expression. A name consists of the package or binary, a blank, and the test's own name.
fn by_expression(words: &[&str], asked: &SelectedTests<'_>) -> Option<Arguments> {
    let test = |name: &str| {
        let own = name.rsplit(' ').next().unwrap_or(name);
        let is_plain = own.chars().all(|c| c.is_alphanumeric() || "_:".contains(c));
        is_plain.then(|| format!("test(={own})"))
    };
    let tests: Option<Vec<String>> = asked.names.iter().map(|name| test(name)).collect();
    let mut words = targets(words, asked);
    words.extend(["-E".to_owned(), tests?.join(" + ")]);
    Some(Arguments::at_end(words))
}

/// The reader's position in a test binary's output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutputPart {
    /// Outside any binary's output.
    Between,
    /// After `running 3 tests`: one line per test; holds the announced number.
    Results(u32),
    /// After `failures:`, in the output of failing tests, which may contain anything.
    Printed(u32),
}

/// Adds up every `test result:` line: one per test binary and one for documentation tests. If a line's total is not the
/// announced number of tests, a test printed the line itself, so it is not relied on.
pub(super) fn libtest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    let mut part = OutputPart::Between;
    let mut printed_sum = None;
    for line in text.lines() {
        if let Some(sum) = line.strip_prefix("test result: ").map(sum) {
            match part {
                OutputPart::Results(announced) if all(sum) != announced => {
                    printed_sum = Some(sum);
                    continue;
                }
                OutputPart::Printed(announced) if all(sum) != announced => tally.has_uncounted = true,
                OutputPart::Results(_) | OutputPart::Printed(_) | OutputPart::Between => {}
            }
            (seen, printed_sum) = (Some(()), None);
            part = OutputPart::Between;
            add(&mut tally, sum);
        } else if let (Some(announced), OutputPart::Between | OutputPart::Results(_)) = (announced(line), part) {
            // The next binary began, and the one before printed no summary.
            if part != OutputPart::Between {
                broken_off(&mut tally, printed_sum.take());
            }
            part = OutputPart::Results(announced);
        } else if let (OutputPart::Results(announced), "failures:") = (part, line) {
            part = OutputPart::Printed(announced);
        } else if let (OutputPart::Results(_), Some((name, outcome))) = (part, result(line)) {
            tally.record_name(name, outcome);
        } else if let (OutputPart::Printed(_), Some(name)) = (part, printed(line)) {
            tally.record_mentioned(without_mark(name));
        }
    }
    if matches!(part, OutputPart::Results(_)) {
        broken_off(&mut tally, printed_sum);
        seen = Some(());
    }
    seen.map(|()| tally)
}

/// The numbers of passed, failed, ignored and measured tests in a `test result:` line.
type Sum = [u32; 4];

fn sum(line: &str) -> Sum {
    ["passed", "failed", "ignored", "measured"].map(|word| before(line, word).unwrap_or(0))
}

fn all(sum: Sum) -> u32 {
    sum.into_iter().fold(0, u32::saturating_add)
}

fn add(tally: &mut Tally, [passed, failed, ignored, _]: Sum) {
    tally.sum(passed, failed, ignored);
}

/// Records a test binary that ended before its tests, whatever its exit code, so that some tests have no result. If it
/// printed a summary, it may count differently, so its numbers are used.
fn broken_off(tally: &mut Tally, printed: Option<Sum>) {
    tally.has_uncounted = true;
    match printed {
        Some(sum) => add(tally, sum),
        None => tally.record_mentioned("a test binary (did not finish)"),
    }
}

/// Returns the number of tests that a line such as `running 3 tests` announces.
fn announced(line: &str) -> Option<u32> {
    let rest = line.strip_prefix("running ")?;
    let number = rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test"))?;
    number.parse().ok()
}

/// Reads `test tests::name ... ok`; a mark such as ` - should panic` may follow the name.
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

/// Reads `---- tests::name stdout ----`.
fn printed(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// Returns the thread of a line such as `thread 'tests::name' (12) panicked at src/lib.rs:9:9:`.
fn panicked(line: &str) -> Option<&str> {
    let (thread, rest) = line.trim_start().strip_prefix("thread '")?.split_once('\'')?;
    rest.contains(" panicked at ").then_some(thread)
}

/// Returns the name alone. The line number of a documentation test is dropped, since any edit above changes it.
fn without_mark(name: &str) -> &str {
    let name = name.split(" - should panic").next().unwrap_or(name);
    match name.split_once(" (line ") {
        Some((documented, _)) if documented.contains(" - ") || documented.ends_with(".rs") => documented,
        _ => name,
    }
}

/// Reads `Summary [0.016s] 3 tests run: 2 passed, 1 failed, 1 skipped`.
pub(super) fn nextest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("Summary [") && (line.contains("tests run:") || line.contains("test run:")) {
            seen = Some(());
            let number = |word: &str| before(line, word).unwrap_or(0);
            let failed = number("failed").saturating_add(number("out"));
            tally.sum(number("passed"), failed, number("skipped"));
        } else if let Some((name, outcome)) = status(line) {
            match seen {
                // Failures are listed again at the end.
                Some(()) if outcome == Outcome::Failed => tally.record_mentioned(name),
                Some(()) => {}
                None => tally.record_name(name, outcome),
            }
        }
    }
    seen.map(|()| tally)
}

/// Reads `PASS [   0.003s] (1/3) crate module::name`.
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
