//! New tests that check nothing, do nothing or never run.

use crate::domain::integrity::IntegrityFinding;
use crate::domain::integrity::Rule;
use crate::gates::integrity::checks::Weighing;
use crate::gates::integrity::finding;
use crate::gates::integrity::pairs::Pairs;
use crate::gates::integrity::reading::Placed;
use crate::gates::integrity::tests_changed::titled;
use crate::gates::language::outline::Mark;
use crate::gates::language::outline::Strength;
use crate::gates::language::outline::Work;

/// New tests of which not one checks anything: they only run what they call.
pub(super) fn nothing_checked(pairs: &Pairs<'_>, weighing: &Weighing<'_>) -> Vec<IntegrityFinding> {
    let hears = |placed: &Placed<'_>| {
        let by_words = placed
            .test
            .words
            .iter()
            .any(|word| matches!(word.as_str(), "?" | "Err" | "raises"));
        let by_mark = !placed.test.skips.is_empty() || placed.test.work == Work::None;
        by_words
            || by_mark
            || weighing
                .all_checks(&placed.test.words, &placed.test.checks, weighing.new_helpers)
                .iter()
                .any(|check| check.strength > Strength::Same)
    };
    if pairs.new.iter().any(hears) {
        return Vec::new();
    }
    let found = |placed: &Placed<'_>| {
        let what = format!("no new test checks anything, `{}` neither", titled(*placed));
        finding(Rule::AssertionTrivial, placed.path, Some(placed.test.line), what)
    };
    pairs.new.iter().map(found).collect()
}

/// A new test that cannot fail is no test.
pub(super) fn fresh_test(other: Placed<'_>, weighing: &Weighing<'_>) -> Vec<IntegrityFinding> {
    let title = titled(other);
    let at = |rule, line, what: String| vec![finding(rule, other.path, Some(line), what)];
    let skips = other
        .test
        .skips
        .iter()
        .filter(|mark| mark.rule == Rule::SkipAdded && !is_for_elsewhere(mark));
    let skips: Vec<_> = skips
        .map(|mark| {
            finding(
                mark.rule,
                other.path,
                Some(mark.line),
                format!("{} (new test `{title}`)", mark.what),
            )
        })
        .collect();
    if !skips.is_empty() {
        return skips;
    }
    if other.test.work == Work::None {
        return at(
            Rule::TestEmptied,
            other.test.line,
            format!("the new test `{title}` does nothing"),
        );
    }
    let checks = weighing.all_checks(&other.test.words, &other.test.checks, weighing.new_helpers);
    match checks.iter().find(|check| check.strength < Strength::Same) {
        Some(check) if checks.iter().all(|check| check.strength < Strength::Same) => {
            let why = match check.strength {
                Strength::Trivial => "checks nothing that could fail",
                _ => "has its only assertions where their failure is not reached or not heard",
            };
            at(
                Rule::AssertionTrivial,
                check.line,
                format!("the new test `{title}` {why}"),
            )
        }
        _ => Vec::new(),
    }
}

/// Whether a condition of a new test keeps it only from other systems than the one that the Gates run on, or from
/// places that lack a tool.
fn is_for_elsewhere(mark: &Mark) -> bool {
    let what = mark.what.to_lowercase();
    let negated = ["!=", "not(windows", "!windows", "not (windows"]
        .iter()
        .any(|word| what.contains(word))
        || what.contains("linux");
    let names = ["win32", "windows", "darwin", "macos", "version_info", "os.name"]
        .iter()
        .any(|word| what.contains(word));
    names && !negated
        || what.contains("importorskip")
        || what.contains("returns before")
        || what.contains("only some of its rows")
        || what.contains("target_pointer_width")
}
