//! Collects the results of one runner: counts, and the names of tests if the runner prints them.

use domain::evidence::{Counts, TestNames};
use std::collections::{HashMap, HashSet};
use text::shorten;

/// The results of the tests according to the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunResults {
    /// The numbers of passed, failed and skipped tests.
    pub counts: Counts,
    /// The failing tests for people, each once.
    pub failing: Vec<String>,
    /// The names that the runner prints; `None` if no runner was recognised.
    pub names: Option<TestNames>,
    /// Failing tests, each with the first line of its failure.
    pub texts: Vec<(String, String)>,
}

/// The most failing names that are kept, more than people see.
const MOST_FAILING: usize = 100;

/// The most characters of a failure's first line, and of its test, that are kept.
const LONGEST_TEXT: usize = 500;

/// The most bytes of the titles of groups in a test's name.
const LONGEST_GROUPS: usize = 1_000;

/// Counts and names of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(super) passed: u32,
    pub(super) failed: u32,
    pub(super) skipped: u32,
    /// Each named test in the order of the output. Several tests may share a name.
    tests: Vec<(String, Outcome)>,
    /// Failing tests that are only mentioned, by runners that do not list every result.
    mentioned: Vec<String>,
    /// Failing tests, each with the first line of its failure.
    texts: Vec<(String, String)>,
    /// `true` if some tests ran without being counted.
    pub(super) has_uncounted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

impl Tally {
    /// Records a test's result by name without counting it.
    pub(super) fn record_name(&mut self, name: &str, outcome: Outcome) {
        let name = name.trim();
        if !name.is_empty() && self.tests.len() < 3 * TestNames::MOST {
            self.tests.push((name.to_owned(), outcome));
        }
    }

    /// Records a test's result by name and counts it.
    pub(super) fn record(&mut self, name: &str, outcome: Outcome) {
        self.count(outcome, 1);
        self.record_name(name, outcome);
    }

    pub(super) fn count(&mut self, outcome: Outcome, number: u32) {
        let of = match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed => &mut self.failed,
            Outcome::Skipped => &mut self.skipped,
        };
        *of = of.saturating_add(number);
    }

    pub(super) fn sum(&mut self, passed: u32, failed: u32, skipped: u32) {
        self.count(Outcome::Passed, passed);
        self.count(Outcome::Failed, failed);
        self.count(Outcome::Skipped, skipped);
    }

    /// Records a failing test that the output mentions outside a list of results.
    pub(super) fn record_mentioned(&mut self, name: &str) {
        let name = name.trim();
        if !name.is_empty() && self.mentioned.len() < MOST_FAILING && !self.mentioned.iter().any(|known| known == name)
        {
            self.mentioned.push(name.to_owned());
        }
    }

    /// Records the first line of a test's failure.
    pub(super) fn record_failure(&mut self, test: &str, line: &str) {
        if self.texts.len() < TestNames::MOST {
            let short = |text: &str| shorten::start(text, LONGEST_TEXT);
            self.texts.push((short(test), short(line)));
        }
    }

    /// `true` if every counted test is also named.
    pub(super) fn names_all(&self) -> bool {
        let named = |outcome| self.tests.iter().filter(|(_, found)| *found == outcome).count();
        u32::try_from(named(Outcome::Passed)) == Ok(self.passed)
            && u32::try_from(named(Outcome::Failed)) == Ok(self.failed)
    }

    pub(super) fn names_of(&self, outcome: Outcome) -> impl Iterator<Item = &str> {
        let of = move |(_, found): &&(String, Outcome)| *found == outcome;
        self.tests.iter().filter(of).map(|(name, _)| name.as_str())
    }

    /// Adds up the tallies of several runners; `None` if there are none.
    pub(super) fn sum_of(tallies: Vec<Self>) -> Option<Self> {
        let mut tallies = tallies.into_iter();
        let first = tallies.next()?;
        if tallies.len() == 0 {
            return Some(first);
        }
        let mut sum = Self::default();
        for tally in [first].into_iter().chain(tallies) {
            // One runner may name all its failures while another only mentions them: only the mentions contain both.
            for name in tally.failing() {
                sum.record_mentioned(&name);
            }
            sum.sum(tally.passed, tally.failed, tally.skipped);
            sum.has_uncounted |= tally.has_uncounted;
            sum.tests.extend(tally.tests);
            sum.texts.extend(tally.texts);
        }
        Some(sum)
    }

    /// Returns the failing tests for people, each once.
    fn failing(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let listed = self.names_of(Outcome::Failed);
        let all = listed.chain(self.mentioned.iter().map(String::as_str));
        all.filter(|name| seen.insert(*name)).take(MOST_FAILING).map(str::to_owned).collect()
    }

    /// Converts the tally into counts and names for evidence.
    pub(super) fn into_results(self) -> RunResults {
        let failing = self.failing();
        let counts = if self.has_uncounted {
            Counts::Unknown
        } else {
            Counts::Known { passed: self.passed, failed: self.failed, skipped: self.skipped }
        };
        // Each test gets a unique name: the second of a name becomes `name ⟨2⟩`, and so on, in the runner's order. No
        // runner writes such brackets.
        let mut seen: HashMap<String, u32> = HashMap::new();
        let mut names = TestNames::default();
        for (name, outcome) in self.tests {
            let times = seen.entry(name.clone()).or_insert(0);
            *times = times.saturating_add(1);
            let name = match *times {
                1 => name,
                times => format!("{name} ⟨{times}⟩"),
            };
            let list = match outcome {
                Outcome::Passed => &mut names.passed,
                Outcome::Failed => &mut names.failed,
                Outcome::Skipped => &mut names.skipped,
            };
            if list.len() < TestNames::MOST {
                list.push(name);
            }
        }
        // Mentioned failures that are not in the list, such as a file that could not be loaded, also count.
        for name in self.mentioned {
            if !names.failed.contains(&name) {
                names.failed.push(name);
            }
        }
        RunResults { counts, failing, names: Some(names), texts: self.texts }
    }
}

/// Joins a test's title with those of its groups, outermost first. The groups are left out if the whole would be longer
/// than any real name, so that one long title is not repeated in a million names.
pub(super) fn joined<'a>(groups: impl Iterator<Item = &'a str> + Clone, separator: &str, title: &'a str) -> String {
    let length: usize = groups.clone().map(|group| group.len().saturating_add(separator.len())).sum();
    if length > LONGEST_GROUPS {
        return title.to_owned();
    }
    groups.chain([title]).collect::<Vec<_>>().join(separator)
}
