//! What a test checked and what it checks now.

use crate::{
    finding,
    gone::Gone,
    language::outline::{Check, Strength, quoted},
    loosened::{asks_less, is_count, is_wider},
    places::{Grown, Kind, is_gone_through},
    reading::{Helper, Placed},
    words::{likeness, occurrences, values},
};
use domain::integrity::{IntegrityFinding, Rule};

/// What is needed to weigh two versions of a test against each other.
pub(super) struct Weighing<'a> {
    pub(super) gone: &'a Gone,
    /// Where tests gained something.
    pub(super) grown: &'a [Grown<'a>],
    /// Tests that are as they were.
    pub(super) unchanged: &'a [Grown<'a>],
    pub(super) old_helpers: &'a [Helper<'a>],
    pub(super) new_helpers: &'a [Helper<'a>],
}

impl<'a> Weighing<'a> {
    /// The checks of a test and of the helpers that it calls; a call that is named like a check counts once.
    pub(super) fn all_checks(
        &self,
        words: &'a [String],
        own: &'a [Check],
        helpers: &'a [Helper<'a>],
    ) -> Vec<&'a Check> {
        let by_own = |helper: &Helper<'_>| {
            own.iter()
                .any(|check| check.words.first() == Some(&helper.function.name))
        };
        let called = helpers
            .iter()
            .filter(|helper| helper.function.name.len() > 1 && words.contains(&helper.function.name))
            .filter(|helper| !by_own(helper));
        let says_nothing = |check: &&Check| {
            let mut same = helpers
                .iter()
                .filter(|helper| check.words.first() == Some(&helper.function.name))
                .peekable();
            same.peek().is_some()
                && same.all(|helper| {
                    let checks = &helper.function.checks;
                    !checks.is_empty() && checks.iter().all(|check| check.strength < Strength::Weak)
                })
        };
        own.iter()
            .filter(|check| !says_nothing(check))
            .chain(called.flat_map(|helper| helper.function.checks.iter()))
            .collect()
    }

    /// A test that did not change, but whose helpers check nothing any more.
    pub(super) fn silenced_helpers(&self, one: Placed<'a>, other: Placed<'a>) -> Option<IntegrityFinding> {
        let effective = |checks: &[&Check]| checks.iter().filter(|check| check.strength == Strength::Strong).count();
        let before = self.all_checks(&one.test.words, &[], self.old_helpers);
        let after = self.all_checks(&other.test.words, &[], self.new_helpers);
        let fell = effective(&before) > 0 && effective(&after) == 0 && self.calls_changed(one);
        let line = after.iter().map(|check| check.line).next();
        let what = format!(
            "what the test `{}` calls to check something checks less now",
            one.test.name
        );
        fell.then(|| finding(Rule::AssertionRemoved, other.path, line.or(Some(other.test.line)), what))
    }

    /// Helpers of tests that checked something and check nothing now.
    pub(super) fn hollow_helpers(&self) -> Vec<IntegrityFinding> {
        let strong = |checks: &[&Check]| checks.iter().any(|check| check.strength == Strength::Strong);
        let mut findings = Vec::new();
        for old in self.old_helpers {
            let same = |new: &&Helper<'_>| new.path == old.path && new.function.name == old.function.name;
            // Which of several of one name is which is not to be told.
            let is_one = |helpers: &[Helper<'_>]| helpers.iter().filter(same).count() == 1;
            if !is_one(self.old_helpers) || !is_one(self.new_helpers) {
                continue;
            }
            let Some(new) = self
                .new_helpers
                .iter()
                .find(same)
                .filter(|_| !old.function.name.is_empty())
            else {
                continue;
            };
            let before = self.all_checks(&old.function.words, &old.function.checks, &[]);
            let after = self.all_checks(&new.function.words, &new.function.checks, self.new_helpers);
            let wider = |new: &&Check| before.iter().all(|old| is_wider(old, new));
            let less = !strong(&after) || after.iter().any(wider);
            if strong(&before) && less && new.function.words != old.function.words {
                let what = format!(
                    "`{}` checked something for tests, and checks less or nothing now",
                    old.function.name
                );
                findings.push(finding(Rule::AssertionRemoved, new.path, Some(new.function.line), what));
            }
        }
        findings
    }

    /// Whether a helper of the test is there on both sides and differs.
    fn calls_changed(&self, one: Placed<'a>) -> bool {
        let named = |helper: &&Helper<'_>| one.test.words.contains(&helper.function.name);
        self.old_helpers.iter().filter(named).any(|helper| {
            self.new_helpers.iter().any(|other| {
                other.function.name == helper.function.name && other.function.words != helper.function.words
            })
        })
    }

    /// Two versions of one test.
    pub(super) fn compare(&self, one: Placed<'a>, other: Placed<'a>) -> Vec<IntegrityFinding> {
        let mut before = self.all_checks(&one.test.words, &one.test.checks, self.old_helpers);
        let mut after = self.all_checks(&other.test.words, &other.test.checks, self.new_helpers);
        before.retain(|check| check.strength >= Strength::Weak);
        let strong = |checks: &[&Check]| checks.iter().filter(|check| check.strength == Strength::Strong).count();
        let effective = after.iter().filter(|check| check.strength >= Strength::Weak).count();
        let enough = strong(&after) >= strong(&before);
        let mut findings = Vec::new();
        let (mut before, after) = remove_kept(&mut before, &mut after);
        let mut left: Vec<&Check> = after;
        before.sort_by_key(|check| std::cmp::Reverse(check.strength));
        for check in before {
            let place = nearest(check, &left);
            let paired = place.map(|at| left.remove(at));
            let verdict = match paired {
                Some(new) => self.weaker(check, new, one, other, enough),
                None if check.strength == Strength::Weak && effective > 0 => None,
                None if enough && effective > 0 => None,
                None => self.removed(check, one, other),
            };
            findings.extend(verdict);
        }
        if !findings.is_empty() {
            let trivial = left.iter().filter(|check| check.strength == Strength::Trivial);
            findings.extend(trivial.map(|check| {
                let what = format!("`{}` now asserts {}, which always holds", other.test.name, shown(check));
                finding(Rule::AssertionTrivial, other.path, Some(check.line), what)
            }));
        }
        findings
    }

    /// A check that took the place of another.
    fn weaker(
        &self,
        old: &Check,
        new: &Check,
        one: Placed<'a>,
        other: Placed<'a>,
        enough: bool,
    ) -> Option<IntegrityFinding> {
        let widened = is_wider(old, new);
        let name = &other.test.name;
        let only_counts = is_count(new) && !is_count(old) && values(&new.words).len() < values(&old.words).len();
        let (rule, what) = match new.strength {
            Strength::Trivial => (
                Rule::AssertionTrivial,
                format!("`{name}` now asserts {}, which always holds", shown(new)),
            ),
            Strength::Silenced => (
                Rule::AssertionRemoved,
                format!(
                    "`{name}` still asserts {}, but the failure is not reached or not heard",
                    shown(new)
                ),
            ),
            Strength::Same | Strength::Weak if old.strength == Strength::Strong && !enough => (
                Rule::AssertionRemoved,
                format!("`{name}` asserted {}, and now only {}", shown(old), shown(new)),
            ),
            Strength::Strong if only_counts && !self.is_kept(old, one, other) => (
                Rule::AssertionRemoved,
                format!(
                    "`{name}` asserted {}, and now only how many: {}",
                    shown(old),
                    shown(new)
                ),
            ),
            Strength::Strong if self.is_repeated(new, other) && !self.is_kept(old, one, other) => (
                Rule::AssertionRemoved,
                format!(
                    "`{name}` asserted {}, and now only what another test does: {}",
                    shown(old),
                    shown(new)
                ),
            ),
            Strength::Strong if asks_less(old, new) && !self.is_made_of_each(old, one, other) => (
                Rule::AssertionRemoved,
                format!("`{name}` asserted {}, and now only {}", shown(old), shown(new)),
            ),
            Strength::Strong if widened => (
                Rule::AssertionRemoved,
                format!("`{name}` lets a number be further off: {}", shown(new)),
            ),
            Strength::Same | Strength::Weak | Strength::Strong => return None,
        };
        let excused = self.is_elsewhere(old, one, other) || self.gone.explains(&old.words, &one.test.name);
        (!excused).then(|| finding(rule, other.path, Some(new.line), what))
    }

    /// Whether another test already made the very check before.
    fn is_repeated(&self, new: &Check, other: Placed<'_>) -> bool {
        let mut others = self
            .grown
            .iter()
            .chain(self.unchanged)
            .filter(|place| place.kind == Kind::Test && !std::ptr::eq(place.after, other.test.words.as_slice()));
        others.any(|place| {
            let made = |checks: &[Check]| checks.iter().any(|check| check.words == new.words);
            made(place.old_checks) && made(place.checks)
        })
    }

    /// A check that nothing took the place of.
    fn removed(&self, old: &Check, one: Placed<'a>, other: Placed<'a>) -> Option<IntegrityFinding> {
        let excused = self.is_elsewhere(old, one, other)
            || self.is_kept(old, one, other)
            || self.gone.explains(&old.words, &one.test.name);
        let what = format!("`{}` no longer asserts {}", other.test.name, shown(old));
        (!excused).then(|| finding(Rule::AssertionRemoved, other.path, Some(other.test.line), what))
    }

    /// Whether what was checked is checked by another test or helper, or stands in a table.
    fn is_elsewhere(&self, old: &Check, one: Placed<'_>, other: Placed<'_>) -> bool {
        let others = self
            .grown
            .iter()
            .filter(|place| !std::ptr::eq(place.after, other.test.words.as_slice()));
        let has = |place: &Grown<'_>| {
            place.gained(&old.words) || place.has_new_check(&old.words) && place.is_part_of(&one.test.words)
        };
        others.into_iter().any(has)
    }

    /// Whether the test still says all that the check said, in another form.
    fn is_kept(&self, old: &Check, one: Placed<'a>, other: Placed<'a>) -> bool {
        let after = self.all_checks(&other.test.words, &other.test.checks, self.new_helpers);
        let checks_something = after.iter().any(|check| check.strength == Strength::Strong);
        let again = occurrences(&old.words, &other.test.words) >= occurrences(&old.words, &one.test.words).max(1);
        checks_something && (again || self.is_made_of_each(old, one, other))
    }

    /// Whether a new check of the test is made of each of several values, among them those of the old one.
    fn is_made_of_each(&self, old: &Check, one: Placed<'a>, other: Placed<'a>) -> bool {
        let after = self.all_checks(&other.test.words, &other.test.checks, self.new_helpers);
        let is_new = |new: &&&Check| !one.test.checks.iter().any(|known| known.words == new.words);
        let mut new = after.iter().filter(is_new);
        new.any(|new| is_gone_through(&old.words, new, &other.test.words))
    }
}

fn shown(check: &Check) -> String {
    quoted(&check.words.join(" "))
}

/// Takes out of both lists what stayed as it was.
fn remove_kept<'c>(before: &mut Vec<&'c Check>, after: &mut Vec<&'c Check>) -> (Vec<&'c Check>, Vec<&'c Check>) {
    let mut lost = Vec::new();
    for check in before.drain(..) {
        let same = after
            .iter()
            .position(|new| new.words == check.words && new.strength >= check.strength);
        match same {
            Some(at) => drop(after.remove(at)),
            None => lost.push(check),
        }
    }
    (lost, std::mem::take(after))
}

/// The new check that is most like an old one, if any is a little.
fn nearest(check: &Check, list: &[&Check]) -> Option<usize> {
    let ranked = list
        .iter()
        .enumerate()
        .map(|(at, new)| (likeness(&check.words, &new.words), at));
    let best = ranked.max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)))?;
    let only_trivial = list.get(best.1).is_some_and(|new| new.strength == Strength::Trivial);
    (best.0 > 0.1 || only_trivial || list.len() == 1).then_some(best.1)
}
