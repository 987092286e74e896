//! Places that may have taken in what tests checked elsewhere.

use crate::{
    language::outline::{Check, Strength},
    words::{names, occurrences, values},
};

/// A place that may have taken in what was checked elsewhere.
pub(super) struct Grown<'a> {
    pub(super) kind: Kind,
    pub(super) before: &'a [String],
    pub(super) after: &'a [String],
    pub(super) old_checks: &'a [Check],
    pub(super) checks: &'a [Check],
}

/// What a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A test.
    Test,
    /// A function that tests call.
    Helper,
    /// A list that tests go through.
    Table,
}

/// Words by which a test goes through rows.
pub(super) const THROUGH: [&str; 7] = ["parametrize", "each", "for", "forEach", "case", "test_case", "values"];

impl Grown<'_> {
    /// Whether what the check checked is a row of the place now, or an argument of a helper, and was not before.
    pub(super) fn gained(&self, check: &[String]) -> bool {
        let through = self.kind != Kind::Test || self.after.iter().any(|word| THROUGH.contains(&word.as_str()));
        let (wanted, there) = (names(check), names(self.after));
        let shared = wanted.iter().filter(|name| there.contains(*name)).count();
        let about = self.kind == Kind::Table || shared.saturating_mul(2) >= wanted.len();
        through && about && occurrences(check, self.after) > occurrences(check, self.before)
    }

    /// Whether the place makes the very check now, more often than before.
    pub(super) fn has_new_check(&self, words: &[String]) -> bool {
        let count = |checks: &[Check]| checks.iter().filter(|check| check.words == words).count();
        count(self.checks) > count(self.old_checks)
    }

    /// Whether the place is a part of a test of these words: it speaks of nothing else.
    pub(super) fn is_part_of(&self, words: &[String]) -> bool {
        names(self.after).is_subset(&names(words))
    }

    /// Whether the place took a test of these words in, besides something else.
    fn holds_all(&self, words: &[String]) -> bool {
        let several = self
            .checks
            .iter()
            .filter(|check| check.strength == Strength::Strong)
            .count()
            > 1;
        several
            && names(words).is_subset(&names(self.after))
            && values(words).iter().all(|value| values(self.after).contains(value))
    }

    /// Whether a check of a test that is gone is made here.
    pub(super) fn took(&self, check: &[String], test: &[String]) -> bool {
        self.gained(check)
            || self.has_new_check(check) && (self.is_part_of(test) || self.holds_all(test))
            || self.kind == Kind::Test && (self.goes_through(check) || self.says_in_words(check))
    }

    /// Whether the same is asked here of each of several rows, and a row has what the check gave, and in words what it
    /// expected: `Missing("value")` beside `"missing value"`.
    fn says_in_words(&self, check: &[String]) -> bool {
        let through = self.after.iter().any(|word| THROUGH.contains(&word.as_str()));
        let is_new = |new: &&Check| {
            let known = self.old_checks.iter().any(|old| old.words == new.words);
            new.strength == Strength::Strong && !known
        };
        let (wanted, rows) = (values(check), values(self.after));
        let is_called = |name: &&str| name.starts_with(char::is_lowercase) && !wanted.contains(name);
        let called: Vec<&str> = names(check).into_iter().filter(is_called).collect();
        let asks = |new: &Check| {
            let there = names(&new.words);
            !called.is_empty() && called.iter().all(|name| there.contains(name))
        };
        let is_here = |value: &&str| rows.contains(value);
        let is_told = |value: &&str| {
            let has_word = |row: &&str| row.split(|c: char| !c.is_alphanumeric()).any(|word| word == *value);
            value.len() > 2 && rows.iter().any(has_word)
        };
        through
            && self.checks.iter().filter(is_new).any(asks)
            && wanted.iter().any(is_here)
            && wanted.iter().all(|value| is_here(value) || is_told(value))
    }

    /// Whether a new check here is made of each of several values, among them those of the check.
    fn goes_through(&self, check: &[String]) -> bool {
        let is_new = |new: &&Check| self.old_checks.iter().all(|old| old.words != new.words);
        let mut new = self.checks.iter().filter(is_new);
        new.any(|new| is_gone_through(check, new, self.after))
    }
}

/// Whether a check is made of each of several values, among them those of an old one: in a loop, or in a function of the
/// test's own.
pub(super) fn is_gone_through(old: &[String], new: &Check, test: &[String]) -> bool {
    // Between patterns the sign says that either will do; elsewhere it begins a closure.
    let by_patterns = new.words.iter().any(|word| word == "matches");
    let through = test.iter().map(String::as_str).any(|word| {
        THROUGH.contains(&word) || word == "|" && !by_patterns || matches!(word, "=>" | "lambda" | "def" | "fn")
    });
    let (own, there) = (values(&new.words), values(test));
    let (wanted, asked) = (names(old), names(&new.words));
    let missing: Vec<&str> = values(old).into_iter().filter(|value| !own.contains(value)).collect();
    through
        && new.strength == Strength::Strong
        && missing.len() < values(old).len()
        && missing.iter().all(|value| there.contains(value))
        && wanted.is_subset(&asked)
}
