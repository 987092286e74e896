//! `go test`, with and without `-v`.

use crate::gates::results::{
    runner::{Arguments, Naming, Place, Runner, any_of},
    tally::{Outcome, Tally, Uncounted},
};

pub(super) static GO_TEST: Runner = Runner {
    naming: Some(Naming {
        arguments: &["-v"],
        place: Place::End,
        unless: &["-v", "-test.v", "-json", "-args", "--args"],
    }),
    select: Some(by_function),
    read: Some(test),
    ..Runner::called(&[&["go", "test"]])
};

/// A test with all its subtests: their names may follow from code that is another.
fn by_function(words: &[&str], names: &[&str], _: &[String]) -> Option<(Arguments, Vec<usize>)> {
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
    let functions: Vec<String> = names.iter().map(|name| function(name)).collect();
    let pattern = any_of(functions.iter().map(String::as_str));
    Arguments::at_end(vec!["-run".to_owned(), pattern])
}

/// Names of tests stand on `--- FAIL: TestX (0.00s)` lines; without `-v` those that pass are not printed at all, and a
/// package that passes is one line: `ok  <TAB>pkg<TAB>0.01s`.
pub(super) fn test(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    let mut packages_with_tests = 0u32;
    for line in text.lines() {
        let outcome = |word: &str| {
            let rest = line.strip_prefix("--- ")?.strip_prefix(word)?;
            Some(rest.split(' ').next().unwrap_or(rest))
        };
        if let Some(name) = outcome("PASS: ") {
            tally.counted(name, Outcome::Passed);
        } else if let Some(name) = outcome("FAIL: ") {
            tally.counted(name, Outcome::Failed);
        } else if let Some(name) = outcome("SKIP: ") {
            tally.counted(name, Outcome::Skipped);
        } else if let Some(rest) = line.strip_prefix("ok  \t") {
            seen = Some(());
            if !rest.contains("[no tests to run]") {
                packages_with_tests = packages_with_tests.saturating_add(1);
            }
        } else if line.starts_with("FAIL\t") {
            seen = Some(());
            // A package that does not build or that crashes fails without naming a test.
            if let Some(package) = line.split('\t').nth(1).filter(|_| line.contains("[")) {
                tally.mention(package);
            }
        } else if line.starts_with("?   \t") && line.contains("[no test files]") {
            seen = Some(());
        }
    }
    if packages_with_tests > 0 && tally.passed == 0 {
        tally.uncounted = Uncounted::Some;
    }
    seen.map(|()| tally)
}
