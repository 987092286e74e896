//! Reads Elixir's ExUnit.

use crate::results::{
    failures::{Layout, NO_END, is_text},
    numbers::before,
    runner::{Naming, Runner},
    tally::{Outcome, Tally, joined},
};
use std::collections::BTreeSet;

pub(super) static MIX: Runner = Runner {
    naming: Some(Naming { argument: "--trace", unless: &["--trace", "--formatter"] }),
    read: Some(exunit),
    // The test's place follows its name.
    failures: Some(Layout {
        test: |line| failure(line).map(|_| (line.trim(), "")),
        name: |test| failure(test).unwrap_or_default(),
        mark: None,
        text: |line| is_text(line) && !is_place(line),
        end: NO_END,
    }),
    ..Runner::only_called(&[&["mix", "test"]])
};

/// Reads `4 tests, 1 failure, 1 skipped`; with `--trace`, a line such as ` * test adds (0.1ms) [L#3]` for each test
/// below `ShopTest [test/shop_test.exs]`. Such a line does not show a failure; ` 1) test adds (ShopTest)` does.
fn exunit(text: &str) -> Option<Tally> {
    let summary = text.lines().rev().find(|line| is_summary(line))?;
    let number = |word| before(summary, word).unwrap_or(0);
    let all = ["test", "tests", "doctest", "doctests", "property", "properties"].map(number);
    let all = all.into_iter().fold(0, u32::saturating_add);
    let failed = ["failure", "failures", "invalid"].map(number);
    let failed = failed.into_iter().fold(0, u32::saturating_add);
    let skipped = number("skipped").saturating_add(number("excluded"));
    let mut sum = Tally::default();
    sum.sum(all.saturating_sub(failed).saturating_sub(skipped), failed, skipped);
    let failures: BTreeSet<String> = text.lines().filter_map(failure).collect();
    let mut module = "";
    let mut has_failures = false;
    for line in text.lines() {
        if let Some((name, _)) = line.strip_suffix(']').and_then(|line| line.split_once(" [")) {
            match name.strip_prefix("  * ") {
                Some(test) => {
                    let (test, end) = test.rsplit_once(" (").unwrap_or((test, ""));
                    let name = joined([module].into_iter(), ".", test);
                    let outcome = match end {
                        "skipped)" | "excluded)" => Outcome::Skipped,
                        _ if failures.contains(&name) => Outcome::Failed,
                        _ => Outcome::Passed,
                    };
                    has_failures |= outcome == Outcome::Failed;
                    sum.record_name(&name, outcome);
                }
                None if !name.contains(' ') => module = name,
                None => {}
            }
        }
    }
    if !has_failures {
        failures.iter().for_each(|name| sum.record_mentioned(name));
    }
    Some(sum)
}

fn is_summary(line: &str) -> bool {
    let words = ["test", "tests", "doctest", "doctests", "property", "properties"];
    let first = line.split(", ").next().and_then(|part| part.split_once(' '));
    let is_counted = first.is_some_and(|(number, word)| number.parse::<u32>().is_ok() && words.contains(&word));
    is_counted && (line.contains(" failure") || line.ends_with(" excluded")) && !line.contains(" assertions, ")
}

/// `true` for a line such as `     test/shop_test.exs:3`.
fn is_place(line: &str) -> bool {
    let place = line.trim().rsplit_once(':');
    place.is_some_and(|(file, number)| file.contains(".ex") && number.parse::<u32>().is_ok())
}

/// Returns the test of a line such as `  1) test adds (ShopTest)`.
fn failure(line: &str) -> Option<String> {
    let (number, rest) = line.trim_start().split_once(") ")?;
    number.parse::<u32>().ok()?;
    let (test, module) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    Some(joined([module].into_iter(), ".", test))
}
