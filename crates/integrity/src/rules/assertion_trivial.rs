//! A test checks something that always holds or is never reached, so it cannot fail.

use super::unknown_language;
use crate::{
    changed_file::{LocatedTest, Reading},
    language::outline::{Check, Strength, quoted},
    rules::rule::{ANYWHERE, ReadingRule, Violation, at},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::AssertionTrivial,
    applies: ANYWHERE,
    refuses: &[("tests/sum.rs", "", "#[test]\nfn adds() { add(1, 2); assert!(true); }\n")],
    accepts: &[("tests/sum.rs", "", "#[test]\nfn adds() { assert!(add(1, 2) == 3); }\n")],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let violation = |other: LocatedTest<'_>, check: &Check| {
        let what = Detail::InTest {
            test: other.title(),
            code: quoted(&check.words.join(" ")),
        };
        at(other.path, check.line, what)
    };
    let new = reading.pairs.new.iter().filter_map(|other| {
        let checks = &other.test.checks;
        let first = checks.iter().find(|check| check.strength < Strength::Same)?;
        let calls_helper = reading.helpers().any(|(_, helper)| {
            !helper.checks.is_empty() && helper.name.len() > 1 && other.test.words.contains(&helper.name)
        });
        let is_all = checks.iter().all(|check| check.strength < Strength::Same) && !calls_helper;
        (is_all || is_let_off(first)).then(|| violation(*other, first))
    });
    let both = reading.pairs.both.iter().filter_map(|(one, other)| {
        let is_new = |check: &&Check| {
            let mut old = one.test.checks.iter();
            !old.any(|old| old.words == check.words && old.strength == check.strength)
        };
        let is_trivial = |check: &&Check| check.strength == Strength::Trivial;
        let first = other.test.checks.iter().filter(is_trivial).find(is_new)?;
        (other.test.strong() < one.test.strong() || is_let_off(first)).then(|| violation(*other, first))
    });
    let mut found: Vec<Violation> = new.chain(both).collect();
    found.extend(unknown_language::trivial(reading));
    found
}

/// `true` for a check such as `… or True`: it looks like a check, and no honest test needs it.
fn is_let_off(check: &Check) -> bool {
    let truths = [["or", "True"], ["||", "true"]];
    let mut pairs = check.words.windows(2);
    check.strength == Strength::Trivial && pairs.any(|pair| truths.iter().any(|truth| pair == truth))
}
