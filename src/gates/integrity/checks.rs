//! What a test checked and what it checks now.

use crate::domain::integrity::IntegrityFinding;
use crate::domain::integrity::Rule;
use crate::gates::integrity::finding;
use crate::gates::integrity::gone::Gone;
use crate::gates::integrity::reading::Helper;
use crate::gates::integrity::reading::Placed;
use crate::gates::integrity::words::likeness;
use crate::gates::integrity::words::names;
use crate::gates::integrity::words::occurrences;
use crate::gates::integrity::words::values;
use crate::gates::language::outline::Check;
use crate::gates::language::outline::Strength;
use crate::gates::language::outline::quoted;

/// What is needed to weigh two versions of a test against each other.
pub(super) struct Weighing<'a> {
    pub(super) gone: &'a Gone,
    /// Where tests gained something.
    pub(super) grown: &'a [Grown<'a>],
    pub(super) old_helpers: &'a [Helper<'a>],
    pub(super) new_helpers: &'a [Helper<'a>],
}

/// A place that may have taken in what was checked elsewhere.
pub(super) struct Grown<'a> {
    pub(super) kind: GrownKind,
    pub(super) before: &'a [String],
    pub(super) after: &'a [String],
}

/// What such a place is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GrownKind {
    /// Code, which names what it checks.
    Code,
    /// Data, whose code stands elsewhere.
    Table,
}

impl Grown<'_> {
    /// Whether the place has what the check checked more often than before. A value alone is no sign: every other test
    /// has a 1, so most names must be the same, and data must have more than one value of it.
    pub(super) fn gained(&self, check: &[String]) -> bool {
        let is_about_it = match self.kind {
            GrownKind::Code => {
                let (asked, there) = (names(check), names(self.after));
                asked.intersection(&there).count() * 2 > asked.len() || asked.is_empty()
            }
            GrownKind::Table => values(check).len() > 1,
        };
        is_about_it && occurrences(check, self.after) > occurrences(check, self.before)
    }
}

impl<'a> Weighing<'a> {
    /// The checks of a test and of the helpers that it calls.
    pub(super) fn all_checks(
        &self,
        words: &'a [String],
        own: &'a [Check],
        helpers: &'a [Helper<'a>],
    ) -> Vec<&'a Check> {
        let called = helpers
            .iter()
            .filter(|helper| helper.function.name.len() > 1 && words.contains(&helper.function.name));
        own.iter()
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
        findings
    }

    /// A check that took the place of another.
    fn weaker(
        &self,
        old: &Check,
        new: &Check,
        one: Placed<'_>,
        other: Placed<'_>,
        enough: bool,
    ) -> Option<IntegrityFinding> {
        let widened = old
            .tolerance
            .zip(new.tolerance)
            .is_some_and(|(old, new)| new > old * 1.000_001);
        let name = &other.test.name;
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
            Strength::Weak if old.strength == Strength::Strong && !enough => (
                Rule::AssertionRemoved,
                format!("`{name}` asserted {}, and now only {}", shown(old), shown(new)),
            ),
            Strength::Strong if widened => (
                Rule::AssertionRemoved,
                format!("`{name}` lets a number be further off: {}", shown(new)),
            ),
            Strength::Weak | Strength::Strong => return None,
        };
        let excused = self.is_elsewhere(old, other) || self.gone.explains(&old.words, &one.test.name);
        (!excused).then(|| finding(rule, other.path, Some(new.line), what))
    }

    /// A check that nothing took the place of.
    fn removed(&self, old: &Check, one: Placed<'a>, other: Placed<'a>) -> Option<IntegrityFinding> {
        let excused = self.is_elsewhere(old, other)
            || self.is_kept(old, one, other)
            || self.gone.explains(&old.words, &one.test.name);
        let what = format!("`{}` no longer asserts {}", other.test.name, shown(old));
        (!excused).then(|| finding(Rule::AssertionRemoved, other.path, Some(other.test.line), what))
    }

    /// Whether what was checked is checked by another test or helper, or stands in a table.
    fn is_elsewhere(&self, old: &Check, other: Placed<'_>) -> bool {
        let others = self
            .grown
            .iter()
            .filter(|place| !std::ptr::eq(place.after, other.test.words.as_slice()));
        others.into_iter().any(|place| place.gained(&old.words))
    }

    /// Whether the test still says all that the check said, in another form.
    fn is_kept(&self, old: &Check, one: Placed<'a>, other: Placed<'a>) -> bool {
        let after = self.all_checks(&other.test.words, &other.test.checks, self.new_helpers);
        let checks_something = after.iter().any(|check| check.strength == Strength::Strong);
        checks_something
            && occurrences(&old.words, &other.test.words) >= occurrences(&old.words, &one.test.words).max(1)
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
