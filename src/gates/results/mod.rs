//! Numbers and names of tests, read from what runners print. Runners are told apart by their own words, so that
//! `make test` or a script may call several: their numbers add up.

mod go;
mod javascript;
mod python;
mod rust;
mod tap;

use crate::domain::evidence::Counts;

/// What the output says of the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) counts: Counts,
    pub(crate) failing: Vec<String>,
}

/// What one runner's reader found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u32,
    failed: u32,
    skipped: u32,
    failing: Vec<String>,
    /// Tests ran, and how many passed was not printed.
    uncounted: Uncounted,
}

/// Whether some tests ran without being counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Uncounted {
    #[default]
    None,
    Some,
}

/// A runner's reader: `None` when its words do not occur.
type Reader = fn(&str) -> Option<Tally>;

const READERS: [Reader; 10] = [
    rust::libtest,
    rust::nextest,
    python::pytest,
    python::unittest,
    javascript::jest,
    javascript::vitest,
    javascript::mocha,
    javascript::node,
    go::test,
    tap::prove,
];

/// Reads both streams of a finished command, free of colours.
pub(crate) fn read(stdout: &str, stderr: &str) -> Read {
    let text = format!("{stdout}\n{stderr}");
    let mut tallies: Vec<Tally> = READERS.iter().filter_map(|reader| reader(&text)).collect();
    // Other runners print lines of the Test Anything Protocol among their own.
    if tallies.is_empty() {
        tallies.extend(tap::plain(&text));
    }
    let Some(sum) = tallies.into_iter().reduce(Tally::plus) else {
        return Read {
            counts: Counts::Unknown,
            failing: Vec::new(),
        };
    };
    Read {
        counts: match sum.uncounted {
            Uncounted::Some => Counts::Unknown,
            Uncounted::None => Counts::Known {
                passed: sum.passed,
                failed: sum.failed,
                skipped: sum.skipped,
            },
        },
        failing: sum.failing,
    }
}

impl Tally {
    fn plus(mut self, other: Self) -> Self {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
        if other.uncounted == Uncounted::Some {
            self.uncounted = Uncounted::Some;
        }
        for name in other.failing {
            self.named(&name);
        }
        self
    }

    /// Remembers a failing test's name, once.
    fn named(&mut self, name: &str) {
        let name = name.trim();
        // Enough to show; more would make every look-up slower.
        if !name.is_empty() && self.failing.len() < 100 && !self.failing.iter().any(|known| known == name) {
            self.failing.push(name.to_owned());
        }
    }
}

/// The number that stands before `word` in `line`, as in `3 passed`.
fn before(line: &str, word: &str) -> Option<u32> {
    let words: Vec<&str> = words(line).collect();
    words.windows(2).find_map(|pair| match pair {
        [number, found] if *found == word => number.parse().ok(),
        _ => None,
    })
}

/// The number that stands after `word` in `line`, as in `failures=3`.
fn after(line: &str, word: &str) -> Option<u32> {
    let words: Vec<&str> = words(line).collect();
    words.windows(2).find_map(|pair| match pair {
        [found, number] if *found == word => number.parse().ok(),
        _ => None,
    })
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    // No summary is longer; a line of a million words is not one.
    line.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(60)
}

#[cfg(test)]
mod tests;
