//! Reads PHPUnit, and Pest, which is built on it.

use crate::results::{
    junit,
    numbers::{after, before},
    runner::{Arguments, Naming, Runner, Select, any_of, escaped},
    tally::Tally,
};

pub(super) static PHPUNIT: Runner = Runner {
    // The report precedes the summary, so the failures remain at the end.
    naming: Some(Naming { argument: "--log-junit=php://stdout", unless: &["--log-junit"] }),
    // A filter matches `a\B::testAdds with data set #0`; a method is selected with all its data.
    select: Some(Select {
        by: |_, asked| {
            let methods: Option<Vec<String>> = asked.names.iter().map(|name| Some(escaped(method(name)?))).collect();
            let methods = any_of(methods?);
            let methods = methods.trim_start_matches('^').trim_end_matches('$');
            Some(Arguments::at_end([format!("--filter=/::{methods}( with data set .*)?$/")]))
        },
        unless: &["--filter", "--testsuite"],
    }),
    read: Some(phpunit),
    ..Runner::only_called(&[&["phpunit"]])
};

pub(super) static PEST: Runner = Runner {
    naming: Some(Naming { argument: "--log-junit=php://stdout", unless: &["--log-junit"] }),
    ..Runner::only_called(&[&["pest"]])
};

/// Returns the method of a test such as `a.B.testAdds with data set "one"`.
fn method(name: &str) -> Option<&str> {
    let name = name.split(" with data set ").next()?;
    let method = name.rsplit('.').next()?;
    method.chars().all(|c| c.is_alphanumeric() || c == '_').then_some(method)
}

/// Reads the reports in the output; without one, `OK (3 tests, 5 assertions)` or `Tests: 5, Assertions: 4, Failures: 1.`
fn phpunit(text: &str) -> Option<Tally> {
    let reports = junit::printed(text);
    if reports.is_some() {
        return reports;
    }
    let is_its = |line: &str| line.starts_with("PHPUnit ") && line.contains(" by Sebastian Bergmann");
    if !text.lines().any(is_its) {
        return None;
    }
    let mut tally = Tally::default();
    let mut has_summary = false;
    for line in text.lines() {
        if line.starts_with("No tests executed!") {
            has_summary = true;
        } else if line.starts_with("OK (") {
            has_summary = true;
            tally.sum(before(line, "tests").or_else(|| before(line, "test")).unwrap_or(0), 0, 0);
        } else if line.starts_with("Tests: ") && line.contains(", Assertions: ") {
            has_summary = true;
            let number = |word| after(line, word).unwrap_or(0);
            let failed = number("Failures").saturating_add(number("Errors"));
            let skipped = number("Skipped").saturating_add(number("Incomplete"));
            let passed = number("Tests").saturating_sub(failed).saturating_sub(skipped);
            tally.sum(passed, failed, skipped);
        } else if let Some((number, name)) = line.split_once(") ")
            && number.parse::<u32>().is_ok()
            && let Some((class, method)) = name.split_once("::")
        {
            tally.record_mentioned(&format!("{}.{method}", class.replace('\\', ".")));
        }
    }
    has_summary.then_some(tally)
}
