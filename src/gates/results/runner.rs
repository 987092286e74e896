//! What a test runner is: how its command is known, what makes it name its tests, and how it runs some of them alone.

use crate::gates::results::tally::Tally;
use std::fmt;

/// A test runner, as its command line is written.
pub(crate) struct Runner {
    /// The words that it is called by.
    pub(crate) calls: &'static [&'static [&'static str]],
    /// A word that must stand somewhere among its own.
    pub(crate) with: Option<&'static str>,
    /// What makes it name every test.
    pub(crate) naming: Option<Naming>,
    /// What makes it build its tests and run none.
    pub(crate) build: Option<&'static str>,
    /// What makes it run only some tests.
    pub(crate) select: Option<Select>,
    /// Reads its output: nothing where its words do not occur.
    pub(crate) read: Option<fn(&str) -> Option<Tally>>,
    /// From the output of a run that was stopped: the test that had begun and has no result.
    pub(crate) begun: Option<fn(&str) -> Option<String>>,
}

/// What makes a runner name every test.
#[derive(Clone, Copy)]
pub(crate) struct Naming {
    pub(crate) arguments: &'static [&'static str],
    pub(crate) place: Place,
    /// Words that begin so settle it already.
    pub(crate) unless: &'static [&'static str],
}

/// From a runner's own words: what is added, and the numbers of the words that it takes the place of; `None` where that
/// cannot be said.
pub(crate) type Select = fn(&[&str], &Asked<'_>) -> Option<(Arguments, Vec<usize>)>;

/// The tests that are to be run alone.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// As the runner spells them.
    pub(crate) names: &'a [&'a str],
    /// The files that they all stand in, from where the runner is called; none where that is not known of each.
    pub(crate) files: &'a [&'a str],
    /// The paths of the repository.
    pub(crate) paths: &'a [String],
    /// Whether Cargo makes a test binary of each file below `tests`, as it does unless a manifest says otherwise.
    pub(crate) has_usual_binaries: bool,
}

/// More words for a command.
pub(crate) struct Arguments {
    pub(crate) place: Place,
    pub(crate) words: Vec<String>,
}

/// Where more words go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Behind the runner's words, before `--`.
    End,
    /// Right behind the runner, where its own options stand.
    Options,
    /// Behind `--`: for the test programs.
    Binary,
}

/// Whether words begin with these, the first of them as a program at any path.
pub(crate) fn starts(words: &[&str], with: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let base = first.rsplit('/').next().unwrap_or(first);
    with.split_first()
        .is_some_and(|(program, more)| *program == base && rest.starts_with(more))
}

impl Runner {
    /// A runner of which no more is known than how it is called.
    pub(super) const fn called(calls: &'static [&'static [&'static str]]) -> Self {
        Self {
            calls,
            with: None,
            naming: None,
            build: None,
            select: None,
            read: None,
            begun: None,
        }
    }

    pub(crate) fn is_called_by(&self, words: &[&str]) -> bool {
        // Cargo takes a tool chain before everything else.
        let without: Vec<&str> = match words {
            [first, toolchain, rest @ ..] if toolchain.starts_with('+') => {
                [first].into_iter().chain(rest).copied().collect()
            }
            words => words.to_vec(),
        };
        self.calls.iter().any(|call| starts(&without, call)) && self.with.is_none_or(|word| words.contains(&word))
    }
}

impl Arguments {
    /// Words behind the runner's own, in place of none.
    pub(crate) fn at_end(words: Vec<String>) -> Option<(Self, Vec<usize>)> {
        let place = Place::End;
        Some((Self { place, words }, Vec::new()))
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Runner").field(&self.calls).finish()
    }
}

impl PartialEq for Runner {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Runner {}

/// A regular expression that matches one of these texts and nothing else.
pub(super) fn any_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut all: Vec<String> = texts.into_iter().map(escaped).collect();
    all.sort();
    all.dedup();
    format!("^({})$", all.join("|"))
}

/// A text as a regular expression that matches it alone, in the syntax that Go, JavaScript and Rust share.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$/".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
