//! Reads `go test`, with and without `-v`.

use crate::gates::results::{
    runner::{ArgumentPosition, Arguments, Asked, Naming, Runner, any_of},
    tally::{Outcome, Tally, Uncounted},
};

pub(super) static GO_TEST: Runner = Runner {
    naming: Some(Naming {
        arguments: &["-v"],
        position: ArgumentPosition::End,
        unless: &["-v", "-test.v", "-json", "-args", "--args"],
    }),
    // `go test` runs the test binary through `true`, which does nothing, so the tests are only built.
    build: Some("-exec=true"),
    select: Some(by_function),
    read: Some(test),
    ..Runner::called(&[&["go", "test"]])
};

/// Selects a test with all its subtests, whose names may depend on changed code.
fn by_function(words: &[&str], asked: &Asked<'_>) -> Option<(Arguments, Vec<usize>)> {
    if words.iter().any(|word| word.ends_with("-args")) {
        return None;
    }
    let function = |name: &'_ str| {
        let kinds = [".Test", ".Example", ".Fuzz"]
            .into_iter()
            .filter_map(|kind| name.find(kind));
        let at = kinds.min().map_or(0, |dot| dot.saturating_add(1));
        name.get(at..)
            .unwrap_or(name)
            .split('/')
            .next()
            .unwrap_or(name)
            .to_owned()
    };
    let functions: Vec<String> = asked.names.iter().map(|name| function(name)).collect();
    let pattern = any_of(functions.iter().map(String::as_str));
    Arguments::at_end(vec!["-run".to_owned(), pattern])
}

/// Reads result lines such as `--- FAIL: TestX (0.00s)`, indented for subtests. Without `-v`, passing tests have no
/// line. A package ends with a line such as `ok  <TAB>pkg<TAB>0.01s`, the only one that names it.
pub(super) fn test(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    // Without `-v` a test that passes has no line.
    let is_verbose = text.lines().any(|line| line.starts_with("=== RUN "));
    let mut has_tests = false;
    let mut package: Vec<(&str, Outcome)> = Vec::new();
    for line in text.lines() {
        if let Some(result) = result(line) {
            package.push(result);
            continue;
        }
        let Some(end) = End::of(line) else { continue };
        seen = Some(());
        // A package that does not build, or that crashes, fails without naming a test.
        if end.is_failed && !package.iter().any(|(_, outcome)| *outcome == Outcome::Failed) {
            tally.counted(&format!("{} (did not run)", end.package), Outcome::Failed);
        }
        has_tests |= end.has_tests || !package.is_empty();
        for (name, outcome) in package.drain(..) {
            tally.counted(&format!("{}.{name}", end.package), outcome);
        }
    }
    if has_tests && !is_verbose {
        tally.uncounted = Uncounted::Some;
    }
    seen.map(|()| tally)
}

/// Reads `--- PASS: TestX (0.00s)` or, indented, `    --- FAIL: TestX/sub (0.00s)`.
fn result(line: &str) -> Option<(&str, Outcome)> {
    let line = line.trim_start_matches([' ', '\u{16}']);
    let (said, rest) = line.strip_prefix("--- ")?.split_once(": ")?;
    let (name, time) = rest.rsplit_once(" (")?;
    let outcome = match said {
        "PASS" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    time.ends_with("s)").then_some((name, outcome))
}

/// The line that ends a package's results.
struct End<'a> {
    package: &'a str,
    is_failed: bool,
    has_tests: bool,
}

impl<'a> End<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let is_failed = line.starts_with("FAIL\t");
        let rest = ["ok  \t", "FAIL\t", "?   \t"]
            .iter()
            .find_map(|word| line.strip_prefix(word))?;
        let has_tests = line.starts_with("ok") && !rest.contains("[no tests to run]");
        let package = rest.split(['\t', ' ']).next()?;
        Some(Self {
            package,
            is_failed,
            has_tests,
        })
    }
}
