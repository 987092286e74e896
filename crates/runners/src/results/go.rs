//! Reads `go test`, with and without `-v`.

use crate::results::{
    failures::is_text,
    runner::{Arguments, Naming, Runner, Select, any_of, escaped},
    tally::{Outcome, Tally, joined},
};

pub(super) static GO_TEST: Runner = Runner {
    naming: Some(Naming { argument: "-v", unless: &["-v", "-test.v", "-json", "-args", "--args"] }),
    // `go test` runs the test binary through `true`, which does nothing, so the tests are only built.
    build: Some("-exec=true"),
    // A test is selected with all its subtests, whose names may depend on changed code.
    select: Some(Select {
        by: |_, asked| {
            let pattern = any_of(asked.names.iter().map(|name| escaped(function(name))));
            Some(Arguments::at_end(["-run".to_owned(), pattern]))
        },
        unless: &["-args", "--args"],
    }),
    read: Some(test),
    ..Runner::only_called(&[&["go", "test"]])
};

/// Returns the function of a test such as `example.com/x.TestAdds/one`.
fn function(name: &str) -> &str {
    let kinds = [".Test", ".Example", ".Fuzz"].into_iter();
    let dot = kinds.filter_map(|kind| name.find(kind)).min();
    let own = dot.and_then(|dot| name.get(dot.saturating_add(1)..)).unwrap_or(name);
    own.split_once('/').map_or(own, |(function, _)| function)
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
    let mut prints = TestOutput::default();
    for line in text.lines() {
        if let Some((name, outcome)) = result(line) {
            prints.end_test(name, outcome, &mut tally);
            package.push((name, outcome));
            continue;
        }
        prints.line(line, &mut tally);
        let Some((word, rest)) = end(line) else { continue };
        seen = Some(());
        let path = rest.split(['\t', ' ']).next().unwrap_or(rest);
        // A package that does not build, or that crashes, fails without naming a test.
        if word == "FAIL" && !package.iter().any(|(_, outcome)| *outcome == Outcome::Failed) {
            tally.record(&format!("{path} (did not run)"), Outcome::Failed);
        }
        has_tests |= !package.is_empty() || word == "ok" && !rest.contains("[no tests to run]");
        for (name, outcome) in package.drain(..) {
            tally.record(&joined([path].into_iter(), ".", name), outcome);
        }
    }
    tally.has_uncounted = has_tests && !is_verbose;
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

/// The output of tests. With `-v` it precedes the test's result, otherwise it follows.
#[derive(Default)]
struct TestOutput<'a> {
    /// The running test, and the last text that it printed. The reason of a fatal failure is the last text.
    running: Option<(&'a str, &'a str)>,
    /// A test that failed and whose text follows.
    failed: Option<&'a str>,
}

impl<'a> TestOutput<'a> {
    fn line(&mut self, line: &'a str, tally: &mut Tally) {
        let mut begun = ["=== RUN   ", "=== CONT  ", "=== NAME  "].into_iter();
        if let Some(name) = begun.find_map(|word| line.strip_prefix(word)) {
            (self.running, self.failed) = (Some((name, "")), None);
        } else if let Some(text) = printed(line).filter(|text| is_text(text)) {
            match (self.failed.take(), &mut self.running) {
                (Some(test), _) => tally.record_failure(test, text),
                (None, Some((_, last))) => *last = text,
                (None, None) => {}
            }
        }
    }

    fn end_test(&mut self, name: &'a str, outcome: Outcome, tally: &mut Tally) {
        let said = self.running.take_if(|(running, _)| *running == name).map(|(_, text)| text);
        self.failed = match (outcome, said.filter(|text| !text.is_empty())) {
            (Outcome::Failed, Some(text)) => {
                tally.record_failure(name, text);
                None
            }
            (Outcome::Failed, None) => Some(name),
            (Outcome::Passed | Outcome::Skipped, _) => None,
        };
    }
}

/// Returns the text after the place in a line such as `    x_test.go:12: no such host`.
fn printed(line: &str) -> Option<&str> {
    let (place, text) = line.strip_prefix("    ")?.split_once(": ")?;
    let (file, number) = place.rsplit_once(':')?;
    (file.ends_with(".go") && number.parse::<u32>().is_ok()).then_some(text)
}

/// Reads the line that ends a package's results: its first word, and the text after it.
fn end(line: &str) -> Option<(&str, &str)> {
    let (word, rest) = line.split_once('\t')?;
    ["ok  ", "FAIL", "?   "].contains(&word).then(|| (word.trim_end(), rest))
}
