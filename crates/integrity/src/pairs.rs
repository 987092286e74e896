//! Finds the counterpart of each test of the base: unchanged, moved, renamed, or rewritten.

use crate::{changed_file::LocatedTest, language::outline::Strength, words::likeness};
use std::collections::BTreeSet;

/// The tests of both sides, paired.
pub(crate) struct Pairs<'a> {
    /// The tests that exist on both sides.
    pub(crate) both: Vec<(LocatedTest<'a>, LocatedTest<'a>)>,
    /// The tests that no longer exist.
    pub(crate) gone: Vec<LocatedTest<'a>>,
    /// The new tests.
    pub(crate) new: Vec<LocatedTest<'a>>,
}

/// The most comparisons of a removed test with a new one that are worth the time.
const MOST_COMPARED: usize = 40_000;

/// Pairs the tests of both sides, by the most reliable criterion first.
pub(crate) fn pair<'a>(before: Vec<LocatedTest<'a>>, after: Vec<LocatedTest<'a>>) -> Pairs<'a> {
    let mut pairs = Pairs {
        both: Vec::new(),
        gone: before,
        new: after,
    };
    for (same_path, same_scope) in [(true, true), (true, false), (false, true), (false, false)] {
        pairs.take(|one, other| {
            one.test.name == other.test.name
                && (!same_path || one.path == other.path)
                && (!same_scope || one.test.scope == other.test.scope)
        });
    }
    pairs.take(|one, other| one.test.words.len() > 4 && one.test.words == other.test.words);
    pairs.take_alike();
    pairs
}

impl<'a> Pairs<'a> {
    fn take(&mut self, is_same: impl Fn(&LocatedTest<'a>, &LocatedTest<'a>) -> bool) {
        if self.gone.len().saturating_mul(self.new.len()) > MOST_COMPARED.saturating_mul(100) {
            return;
        }
        let gone = std::mem::take(&mut self.gone);
        for one in gone {
            match self.new.iter().position(|other| is_same(&one, other)) {
                Some(at) => self.both.push((one, self.new.remove(at))),
                None => self.gone.push(one),
            }
        }
    }

    /// Pairs tests that are nearly the same, and similar ones whose names or checks match.
    fn take_alike(&mut self) {
        if self.gone.len().saturating_mul(self.new.len()) > MOST_COMPARED {
            return;
        }
        let mut ranked = Vec::new();
        for (left, one) in self.gone.iter().enumerate() {
            for (right, other) in self.new.iter().enumerate() {
                let alike = likeness(&one.test.words, &other.test.words);
                if alike > 0.5 && (alike > 0.85 || is_rewritten(*one, *other)) {
                    ranked.push((alike, left, right));
                }
            }
        }
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        let (mut lefts, mut rights) = (BTreeSet::new(), BTreeSet::new());
        for (_, left, right) in ranked {
            if lefts.contains(&left) || rights.contains(&right) {
                continue;
            }
            if let (Some(one), Some(other)) = (self.gone.get(left), self.new.get(right)) {
                self.both.push((*one, *other));
                lefts.insert(left);
                rights.insert(right);
            }
        }
        self.gone = without(&self.gone, &lefts);
        self.new = without(&self.new, &rights);
    }
}

/// `true` if two similar tests are the same one: only names changed, or the checks stayed, or the titles are similar.
fn is_rewritten(one: LocatedTest<'_>, other: LocatedTest<'_>) -> bool {
    let strong = |test: LocatedTest<'_>| -> Vec<Vec<String>> {
        let checks = test.test.checks.iter();
        let strong = checks.filter(|check| check.strength == Strength::Strong);
        strong.map(|check| check.words.clone()).collect()
    };
    let (old, new) = (strong(one), strong(other));
    let kept = !old.is_empty()
        && old.iter().all(|words| new.contains(words))
        && one.test.words.len() <= other.test.words.len();
    is_renaming(&one.test.words, &other.test.words)
        || kept && old.len() > 1
        || are_akin(&one.test.name, &other.test.name)
}

/// `true` if two bodies differ only by a few words that are renamed consistently.
fn is_renaming(one: &[String], other: &[String]) -> bool {
    let differing = one.iter().zip(other).filter(|(one, other)| one != other);
    let differing: BTreeSet<(&str, &str)> = differing.map(|(one, other)| (one.as_str(), other.as_str())).collect();
    let lefts: BTreeSet<&str> = differing.iter().map(|pair| pair.0).collect();
    let rights: BTreeSet<&str> = differing.iter().map(|pair| pair.1).collect();
    let named = |word: &&str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    one.len() == other.len()
        && differing.len() <= 4
        && lefts.len() == differing.len()
        && rights.len() == differing.len()
        && lefts.iter().chain(&rights).all(named)
}

/// `true` if most words of one title are in the other.
fn are_akin(one: &str, other: &str) -> bool {
    let words = |name: &str| -> BTreeSet<String> {
        let words = name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        let says = |word: &String| word.len() > 2 && !matches!(word.as_str(), "test" | "the" | "and");
        words.filter(says).collect()
    };
    let (one, other) = (words(one), words(other));
    let shared = one.intersection(&other).count();
    shared > 0
        && shared.saturating_mul(2) > one.len().min(other.len())
        && shared.saturating_mul(3) >= one.len().max(other.len())
}

fn without<'a>(list: &[LocatedTest<'a>], taken: &BTreeSet<usize>) -> Vec<LocatedTest<'a>> {
    let left = list.iter().enumerate().filter(|(at, _)| !taken.contains(at));
    left.map(|(_, test)| *test).collect()
}
