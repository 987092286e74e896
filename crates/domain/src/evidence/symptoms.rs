//! The common signs of a test run's failures: the same failure text, and the hosts that it was refused.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use text::{shorten, words};

/// The most texts that are kept.
const MOST_TEXTS: usize = 5;
/// The most characters of a text that are kept.
const LONGEST_TEXT: usize = 300;
/// A text with fewer words, such as `AssertionError: 1 != 2`, says that something differs but not why.
const FEWEST_WORDS: usize = 2;

/// The signs that the failures of a test run share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symptoms {
    /// The texts with which more than one test failed, the most frequent first.
    pub shared: Vec<SharedFailure>,
    /// The hosts that the proxy refused during the run.
    pub refused: Vec<String>,
}

/// A text with which several tests failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedFailure {
    /// The first line of the failure, as the first of the tests printed it.
    pub line: String,
    pub tests: usize,
    /// The system error that explains it: the line names it, or else the output names it at least once for each test.
    pub error: Option<SystemError>,
    /// The first line of the output that names the error, if the failure's own line does not.
    pub beside: Option<String>,
}

/// An error that lines of a run's output name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorLines {
    pub error: SystemError,
    pub first: String,
    pub lines: usize,
}

words! {
    /// An error that the system, its libraries or git report if a machine or a repository lacks something.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SystemError {
        /// A host name has no address.
        NameUnresolved = "name_unresolved",
        /// Nothing listens at an address.
        ConnectionRefused = "connection_refused",
        NoRoute = "no_route",
        /// A file or program does not exist.
        NotFound = "not_found",
        /// The user may not do this.
        NotPermitted = "not_permitted",
        /// A user or a group does not exist.
        NoUser = "no_user",
        /// A locale is not installed.
        NoLocale = "no_locale",
        /// The history has no such tag or revision.
        NoRevision = "no_revision",
    }
}

impl Symptoms {
    /// Finds the texts that several tests share. Each test comes with the first line of its failure. Numbers, paths and
    /// addresses do not count, since they differ from test to test.
    pub fn new<'a>(
        failures: impl IntoIterator<Item = (&'a str, &'a str)>,
        error: impl Fn(&str) -> Option<SystemError>,
    ) -> Self {
        let mut groups: BTreeMap<String, (&str, BTreeSet<&str>)> = BTreeMap::new();
        for (test, line) in failures {
            let key = normalized(line);
            if number_of_words(&key) >= FEWEST_WORDS {
                groups.entry(key).or_insert((line, BTreeSet::new())).1.insert(test);
            }
        }
        let several = groups.into_values().filter(|(_, tests)| tests.len() > 1);
        let mut shared: Vec<SharedFailure> = several
            .map(|(line, tests)| SharedFailure {
                line: shorten::middle(line.trim(), LONGEST_TEXT),
                tests: tests.len(),
                error: error(line),
                beside: None,
            })
            .collect();
        shared.sort_by_key(|failure| std::cmp::Reverse(failure.tests));
        shared.truncate(MOST_TEXTS);
        Self { shared, refused: Vec::new() }
    }

    /// `true` if a shared text does not name an error.
    pub fn has_unexplained(&self) -> bool {
        self.shared.iter().any(|shared| shared.error.is_none())
    }

    /// Explains each text that names no error, such as `Command 'chown' returned 1`, by an error that the output names
    /// at least once for each of its tests. The rarest such error is the most specific.
    pub fn explain(&mut self, named: &[ErrorLines]) {
        for shared in self.shared.iter_mut().filter(|shared| shared.error.is_none()) {
            let often = named.iter().filter(|named| named.lines >= shared.tests);
            if let Some(named) = often.min_by_key(|named| named.lines) {
                shared.error = Some(named.error);
                shared.beside = Some(shorten::middle(named.first.trim(), LONGEST_TEXT));
            }
        }
    }
}

/// Returns a line without its paths and addresses, and with `#` for each number.
fn normalized(line: &str) -> String {
    let words = line
        .split_whitespace()
        .map(|word| if word.contains(['/', '\\']) { "/".to_owned() } else { without_numbers(word) });
    words.collect::<Vec<_>>().join(" ")
}

/// Replaces each run of letters, digits, dots and colons that has a digit in it: a number, a time, an address.
fn without_numbers(word: &str) -> String {
    let is_sign = |c: char| !c.is_alphanumeric() && !matches!(c, '.' | ':');
    let parts = word.split_inclusive(is_sign).map(|part| {
        let run = part.trim_end_matches(is_sign);
        if run.contains(char::is_numeric) { part.replacen(run, "#", 1) } else { part.to_owned() }
    });
    parts.collect()
}

fn number_of_words(line: &str) -> usize {
    let words = line.split(|c: char| !c.is_alphabetic());
    words.filter(|word| word.chars().nth(1).is_some()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(failures: &[(&str, &str)]) -> Vec<(String, usize)> {
        let found = Symptoms::new(failures.iter().copied(), |_| None).shared;
        found.into_iter().map(|failure| (failure.line, failure.tests)).collect()
    }

    #[test]
    fn numbers_paths_and_addresses_do_not_make_two_failures_differ() {
        let alike = [
            ("no socket at /tmp/a1/s", "no socket at /var/run/b/s"),
            ("port 8081 is taken", "port 9 is taken"),
            ("<Pool object at 0x7f12ab> is closed", "<Pool object at 0x55dd01> is closed"),
            ("connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 10.1.2.3:80"),
            ("database test_1 does not exist", "database test_22 does not exist"),
            ("waited 3.5s for it", "waited 12s for it"),
            ("run deadbeef01 is gone", "run 12ab is gone"),
        ];
        for (one, other) in alike {
            assert_eq!(shared(&[("a", one), ("b", other)]), [(one.to_owned(), 2)], "{one}");
        }
        let apart = [
            ("KeyError: 'HOME_A'", "KeyError: 'HOME_B'"),
            ("No module named 'yaml'", "No module named 'toml'"),
            ("AssertionError: 1 != 2", "AssertionError: 3 != 4"),
            ("assert 1 == 2", "assert 3 == 4"),
            ("", ""),
            ("#", "#"),
        ];
        for (one, other) in apart {
            assert_eq!(shared(&[("a", one), ("b", other)]), [], "{one}");
        }
    }

    #[test]
    fn a_text_without_an_error_is_explained_by_the_rarest_that_is_named_for_each_test() {
        let lines = |error, first: &str, lines| ErrorLines { error, first: first.to_owned(), lines };
        let named = [
            lines(SystemError::NotFound, "No such file", 9),
            lines(SystemError::NoUser, "chown: invalid user", 3),
            lines(SystemError::NoRoute, "no route", 1),
        ];
        let failed = ["a", "b", "c"].map(|test| (test, "Command returned 1"));
        let mut found = Symptoms::new(failed, |_| None);
        found.explain(&named);
        let explained = found.shared.first().map(|shared| (shared.error, shared.beside.as_deref()));
        assert_eq!(explained, Some((Some(SystemError::NoUser), Some("chown: invalid user"))));
        let mut found = Symptoms::new(failed, |_| Some(SystemError::NoRoute));
        found.explain(&named);
        assert_eq!(found, Symptoms::new(failed, |_| Some(SystemError::NoRoute)));
    }

    #[test]
    fn tests_are_counted_and_not_lines() {
        let name = "Name or service not known";
        assert_eq!(shared(&[("a", name), ("a", name), ("b", name)]), [(name.to_owned(), 2)]);
        assert_eq!(shared(&[("a", name), ("a", name)]), []);
        let two = [("a", "no db"), ("b", "no db"), ("c", "no net"), ("d", "no net"), ("e", "no net")];
        assert_eq!(shared(&two), [("no net".to_owned(), 3), ("no db".to_owned(), 2)]);
    }
}
