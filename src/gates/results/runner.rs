//! The definition of a test runner: how to recognise its command, make it name its tests, and run only some of them.

use crate::gates::results::tally::Tally;
use std::fmt;

/// A test runner and its command line.
pub(crate) struct Runner {
    /// The words that call it.
    pub(crate) calls: &'static [&'static [&'static str]],
    /// A word that must occur among its arguments.
    pub(crate) with: Option<&'static str>,
    /// The arguments that make it name every test.
    pub(crate) naming: Option<Naming>,
    /// The argument that makes it build its tests and run none.
    pub(crate) build: Option<&'static str>,
    /// The arguments that make it run only some tests.
    pub(crate) select: Option<Select>,
    /// Reads its output; `None` if the output is not this runner's.
    pub(crate) read: Option<fn(&str) -> Option<Tally>>,
    /// Reads from the output of a stopped run the test that had begun and has no result.
    pub(crate) begun: Option<fn(&str) -> Option<String>>,
}

/// The arguments that make a runner name every test.
#[derive(Clone, Copy)]
pub(crate) struct Naming {
    pub(crate) arguments: &'static [&'static str],
    pub(crate) position: ArgumentPosition,
    /// Prefixes of words that make these arguments unnecessary or impossible.
    pub(crate) unless: &'static [&'static str],
}

/// Takes a runner's own words, and returns the words to add and the numbers of the words that they replace; `None` if
/// the runner cannot select these tests.
pub(crate) type Select = fn(&[&str], &Asked<'_>) -> Option<(Arguments, Vec<usize>)>;

/// The tests that are to run alone.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The tests' names, as the runner spells them.
    pub(crate) names: &'a [&'a str],
    /// The files that contain the tests, relative to the folder where the runner is called; empty unless known for each
    /// test.
    pub(crate) files: &'a [&'a str],
    /// All paths of the repository.
    pub(crate) paths: &'a [String],
    /// Whether Cargo builds a test binary from each file below `tests`, as it does unless a manifest says otherwise.
    pub(crate) has_usual_binaries: bool,
}

/// Words to add to a command.
pub(crate) struct Arguments {
    pub(crate) position: ArgumentPosition,
    pub(crate) words: Vec<String>,
}

/// The position of added words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentPosition {
    /// After the runner's words, before `--`.
    End,
    /// Directly after the runner's name, among its own options.
    Options,
    /// After `--`, for the test binaries.
    Binary,
}

/// `true` if `words` begin with the words of `with`; the program may have any path.
pub(crate) fn starts(words: &[&str], with: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let base = first.rsplit('/').next().unwrap_or(first);
    with.split_first()
        .is_some_and(|(program, more)| *program == base && rest.starts_with(more))
}

impl Runner {
    /// Creates a runner of which only the call is known.
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
        // Cargo takes a toolchain, such as `+nightly`, before everything else.
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
    /// Adds words after the runner's own and replaces none.
    pub(crate) fn at_end(words: Vec<String>) -> Option<(Self, Vec<usize>)> {
        let position = ArgumentPosition::End;
        Some((Self { position, words }, Vec::new()))
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

/// Returns a regular expression that matches exactly these texts.
pub(super) fn any_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut all: Vec<String> = texts.into_iter().map(escaped).collect();
    all.sort();
    all.dedup();
    format!("^({})$", all.join("|"))
}

/// Escapes a text for a regular expression, in the syntax that Go, JavaScript and Rust share.
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
