//! The definition of a test runner: its command, the arguments that make it name its tests, and the selection of some
//! of them.

use crate::results::{failures::Layout, tally::Tally};
use std::{collections::BTreeSet, fmt};

/// A test runner and its command line.
pub(crate) struct Runner {
    pub(crate) calls: &'static [&'static [&'static str]],
    /// A word that must occur among its arguments.
    pub(crate) with: Option<&'static str>,
    pub(crate) naming: Option<Naming>,
    /// The argument that makes it build its tests and run none.
    pub(crate) build: Option<&'static str>,
    /// The way to run only some tests.
    pub(crate) select: Option<Select>,
    /// Reads its output; `None` if the output is not this runner's.
    pub(crate) read: Option<fn(&str) -> Option<Tally>>,
    /// Reads from the output of a stopped run the test that had begun and has no result.
    pub(crate) begun: Option<fn(&str) -> Option<String>>,
    pub(crate) failures: Option<Layout>,
    /// Returns the file that a line of its output names as the output of the failing tests, which it does not print.
    pub(crate) log: Option<fn(&str) -> Option<&str>>,
}

/// The argument that makes a runner name every test.
pub(crate) struct Naming {
    pub(crate) argument: &'static str,
    /// Prefixes of words that make the argument unnecessary or impossible.
    pub(crate) unless: &'static [&'static str],
}

/// The way in which a runner runs only some tests.
pub(crate) struct Select {
    /// Takes the runner's own words; `None` if the runner cannot select these tests.
    pub(crate) by: fn(&[&str], &SelectedTests<'_>) -> Option<Arguments>,
    /// Prefixes of words that select tests already.
    pub(crate) unless: &'static [&'static str],
}

#[derive(Clone, Copy)]
pub(crate) struct SelectedTests<'a> {
    pub(crate) names: &'a [&'a str],
    /// The files that contain the tests, relative to the folder where the runner is called; empty unless known for each
    /// test.
    pub(crate) files: &'a [&'a str],
    /// All paths of the folder where the runner is called, relative to it.
    pub(crate) paths: &'a [&'a str],
    /// `true` if Cargo builds a test binary from each file below `tests`, as it does unless a manifest says otherwise.
    pub(crate) has_usual_binaries: bool,
}

/// Words to add to a command.
pub(crate) struct Arguments {
    pub(crate) position: ArgumentPosition,
    pub(crate) words: Vec<String>,
    /// The numbers of the runner's own words that they replace.
    pub(crate) replaced: Vec<usize>,
}

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
    let (Some((first, rest)), Some((program, more))) = (words.split_first(), with.split_first()) else {
        return false;
    };
    first.rsplit('/').next() == Some(program) && rest.starts_with(more)
}

impl Runner {
    /// Creates a runner that is only recognised by its command.
    pub(super) const fn only_called(calls: &'static [&'static [&'static str]]) -> Self {
        Self {
            calls,
            with: None,
            naming: None,
            build: None,
            select: None,
            read: None,
            begun: None,
            failures: None,
            log: None,
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
    /// Adds words at this position and replaces none.
    pub(super) fn at(position: ArgumentPosition, words: impl IntoIterator<Item = String>) -> Self {
        Self { position, words: words.into_iter().collect(), replaced: Vec::new() }
    }

    /// Adds words after the runner's own and replaces none.
    pub(crate) fn at_end(words: impl IntoIterator<Item = String>) -> Self {
        Self::at(ArgumentPosition::End, words)
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

/// Returns a regular expression that matches a whole text if one of these expressions does.
pub(super) fn any_of(expressions: impl IntoIterator<Item = String>) -> String {
    let all: BTreeSet<String> = expressions.into_iter().collect();
    format!("^({})$", Vec::from_iter(all).join("|"))
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
