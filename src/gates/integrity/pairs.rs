//! Finds each test of the base again: where it was, moved, renamed, or rewritten.

use crate::gates::integrity::reading::Placed;
use crate::gates::integrity::words::likeness;
use std::collections::BTreeSet;

/// Tests of both sides, paired.
pub(super) struct Pairs<'a> {
    /// The same test before and after.
    pub(super) both: Vec<(Placed<'a>, Placed<'a>)>,
    /// Tests that are not there any more.
    pub(super) gone: Vec<Placed<'a>>,
    /// Tests that are new.
    pub(super) new: Vec<Placed<'a>>,
}

/// Comparing every gone test with every new one is not worth more than this.
const MOST_COMPARED: usize = 40_000;

/// Pairs the tests of both sides: the surest way first.
pub(super) fn pair<'a>(before: Vec<Placed<'a>>, after: Vec<Placed<'a>>) -> Pairs<'a> {
    let mut pairs = Pairs {
        both: Vec::new(),
        gone: before,
        new: after,
    };
    pairs.take(|one, other| {
        one.path == other.path && one.test.scope == other.test.scope && one.test.name == other.test.name
    });
    pairs.take(|one, other| one.path == other.path && one.test.name == other.test.name);
    pairs.take(|one, other| one.test.scope == other.test.scope && one.test.name == other.test.name);
    pairs.take(|one, other| one.test.name == other.test.name);
    pairs.take(|one, other| one.test.words.len() > 4 && one.test.words == other.test.words);
    pairs.take_alike();
    pairs
}

impl<'a> Pairs<'a> {
    fn take(&mut self, is_same: fn(&Placed<'a>, &Placed<'a>) -> bool) {
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

    /// Pairs what is alike: more than half of the words, or a third in a file that keeps its path and place.
    fn take_alike(&mut self) {
        if self.gone.len().saturating_mul(self.new.len()) > MOST_COMPARED {
            return;
        }
        let mut ranked = Vec::new();
        for (left, one) in self.gone.iter().enumerate() {
            for (right, other) in self.new.iter().enumerate() {
                let same_place = one.path == other.path;
                let alike = likeness(&one.test.words, &other.test.words);
                if alike > if same_place { 0.5 } else { 0.6 } {
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

fn without<'a>(list: &[Placed<'a>], taken: &BTreeSet<usize>) -> Vec<Placed<'a>> {
    list.iter()
        .enumerate()
        .filter(|(at, _)| !taken.contains(at))
        .map(|(_, placed)| *placed)
        .collect()
}
