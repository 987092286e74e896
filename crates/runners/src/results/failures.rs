//! Finds the first line of each failure in a runner's output, and its meaning.

use crate::results::tally::Outcome;
use domain::evidence::{ErrorLines, SystemError};
use rustix::io::Errno;
use std::{collections::BTreeMap, sync::LazyLock};

/// The most lines between a test's name and the text of its failure.
const FARTHEST: usize = 400;

/// The layout of failures' texts in a runner's output.
pub(crate) struct Layout {
    /// Returns the failing test that a line names, and the text after the name.
    pub(super) test: fn(&str) -> Option<(&str, &str)>,
    /// Returns the name of a failing test as the lines of results have it.
    pub(super) name: fn(&str) -> String,
    /// Returns the text after a mark; an empty one if the text begins on the next line. `None` if the runner has no mark.
    pub(super) mark: Option<fn(&str) -> Option<&str>>,
    /// `true` if a line after the mark, or after the name, can be the text.
    pub(super) text: fn(&str) -> bool,
    /// `true` if no text of the named tests can follow a line.
    pub(super) end: fn(&str) -> bool,
}

/// The end of a failure for runners that always print a text.
pub(super) const NO_END: fn(&str) -> bool = |_| false;

impl Layout {
    /// The text is the first line after the name that has words.
    pub(super) const fn after(test: fn(&str) -> Option<(&str, &str)>) -> Self {
        Self { test, name: str::to_owned, mark: None, text: is_text, end: NO_END }
    }

    /// The text is the first line after the name that names an error of the system. For runners that show only the
    /// output of a test's program, whose other lines, such as a greeting, are the same in all tests.
    pub(super) const fn system_errors(test: fn(&str) -> Option<(&str, &str)>, end: fn(&str) -> bool) -> Self {
        Self { test, name: str::to_owned, mark: None, text: |line| system_error(line).is_some(), end }
    }
}

/// Returns the name of a failing test, without a text.
pub(super) fn failed(result: Option<(&str, Outcome)>) -> Option<(&str, &str)> {
    result.and_then(|(name, outcome)| (outcome == Outcome::Failed).then_some((name, "")))
}

/// `true` if a line has letters and does not only announce the next one.
pub(super) fn is_text(line: &str) -> bool {
    let line = line.trim();
    line.contains(char::is_alphabetic) && !line.ends_with(':')
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// After a failing test's name.
    Named,
    /// After a name, before the mark; holds the number of lines since the name.
    Before(usize),
    /// At a place where the text may begin; holds the number of lines since the name.
    Text(usize),
    /// Outside a failure.
    Outside,
}

/// Passes each failing test with the first line of its failure to `take`. A runner may name several tests before one
/// text.
pub(super) fn find(output: &str, layout: &Layout, mut take: impl FnMut(&str, &str)) {
    let mut tests: Vec<&str> = Vec::new();
    let mut position = Position::Outside;
    for line in output.lines() {
        if (layout.end)(line) {
            position = Position::Outside;
        }
        if let Some((test, rest)) = (layout.test)(line) {
            if position != Position::Named {
                tests.clear();
            }
            tests.push(test);
            position = Position::Named;
            if !rest.is_empty() {
                take(test, rest);
                position = Position::Outside;
            }
            continue;
        }
        let marked = |line| layout.mark.map_or(Some(line), |mark| mark(line));
        let (lines, text) = match position {
            Position::Outside => continue,
            Position::Named => (0, marked(line)),
            Position::Before(lines) => (lines, marked(line)),
            Position::Text(lines) => (lines, Some(line)),
        };
        let next = lines.saturating_add(1);
        position = match text {
            _ if lines >= FARTHEST => Position::Outside,
            Some(text) if (layout.text)(text) => {
                tests.iter().for_each(|test| take(test, text.trim()));
                Position::Outside
            }
            Some(_) => Position::Text(next),
            None => Position::Before(next),
        };
    }
}

struct FailureSigns {
    error: SystemError,
    /// Names of constants, functions and classes, compared as whole words.
    symbols: &'static [&'static str],
    /// The errors' numbers and words, in lower case.
    phrases: Vec<String>,
}

/// The signs of each error. The system and its resolver have a symbol, a number and words for each of theirs; its libraries
/// and git only words.
static SIGNS: LazyLock<[FailureSigns; 8]> = LazyLock::new(|| {
    let row = |error, symbols, phrases| FailureSigns { error, symbols, phrases };
    // The resolver's numbers are those of `netdb.h`; Node has a symbol of its own for the first.
    let resolver = [-2, -3].into_iter().flat_map(number_forms).collect();
    [
        row(SystemError::NameUnresolved, &["EAI_NONAME", "EAI_AGAIN", "ENOTFOUND"], resolver),
        row(SystemError::NoUser, &NO_USER.0, words(&NO_USER.1)),
        row(SystemError::NoLocale, &NO_LOCALE.0, words(&NO_LOCALE.1)),
        row(SystemError::NoRevision, &[], words(&NO_REVISION)),
        row(SystemError::ConnectionRefused, &["ECONNREFUSED"], forms(&[Errno::CONNREFUSED])),
        row(SystemError::NoRoute, &["ENETUNREACH", "EHOSTUNREACH"], forms(&[Errno::NETUNREACH, Errno::HOSTUNREACH])),
        row(SystemError::NotFound, &["ENOENT"], forms(&[Errno::NOENT])),
        row(SystemError::NotPermitted, &["EACCES", "EPERM"], forms(&[Errno::ACCESS, Errno::PERM])),
    ]
});

/// The functions that look up users and groups, and the words of coreutils, sudo, Go and Ruby.
const NO_USER: ([&str; 6], [&str; 9]) = (
    ["getpwnam", "getpwuid", "getgrnam", "getgrgid", "uv_os_get_passwd", "UserPrincipalNotFoundException"],
    [
        "chown: invalid user",
        "chown: invalid group",
        "chgrp: invalid group",
        "install: invalid user",
        "sudo: unknown user",
        "user: unknown user",
        "user: unknown group",
        "can't find user for",
        "can't find group for",
    ],
);

/// The variables and functions of locales, and the words of Python, Perl and PostgreSQL.
const NO_LOCALE: ([&str; 4], [&str; 3]) = (
    ["setlocale", "_S_create_c_locale", "LC_ALL", "LC_CTYPE"],
    ["unsupported locale setting", "setting locale failed", "invalid locale name"],
);

/// The words of git and of setuptools-scm.
const NO_REVISION: [&str; 8] = [
    "git describe",
    "'git', 'describe'",
    "cannot describe anything",
    "no tags can describe",
    "no annotated tags can describe",
    "no tag exactly matches",
    "unknown revision or path not in the working tree",
    "setuptools-scm was unable to detect version",
];

fn words(phrases: &[&str]) -> Vec<String> {
    phrases.iter().map(|phrase| (*phrase).to_owned()).collect()
}

fn number_forms(number: i32) -> [String; 3] {
    [format!("[errno {number}]"), format!("(os error {number})"), format!("errno={number}")]
}

fn forms(errors: &[Errno]) -> Vec<String> {
    let of = |errno: &Errno| number_forms(errno.raw_os_error()).into_iter().chain([words_of(*errno)]);
    errors.iter().flat_map(of).collect()
}

/// Returns the error that a line names: by a symbol, by its number, or in the words of the program that reports it.
pub fn system_error(line: &str) -> Option<SystemError> {
    let lower = line.to_lowercase();
    let has_symbol =
        |symbols: &[&str]| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| symbols.contains(&word));
    let signs = SIGNS
        .iter()
        .find(|signs| has_symbol(signs.symbols) || signs.phrases.iter().any(|phrase| lower.contains(phrase.as_str())));
    signs.map(|signs| signs.error)
}

/// Returns the errors that the lines of an output name.
pub fn error_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<ErrorLines> {
    let mut named: BTreeMap<SystemError, ErrorLines> = BTreeMap::new();
    for line in lines {
        if let Some(error) = system_error(line) {
            let first = || ErrorLines { error, first: line.to_owned(), lines: 0 };
            named.entry(error).or_insert_with(first).lines += 1;
        }
    }
    named.into_values().collect()
}

/// Returns the system's words for an error, in lower case.
fn words_of(errno: Errno) -> String {
    let whole = errno.to_string().to_lowercase();
    whole.split(" (os error").next().unwrap_or_default().to_owned()
}

/// The words of failures of tests that use something that the code lacks, as each language's runtime or runner prints
/// them. In a run of one version's tests on another version's code, such a failure means that the two do not fit. It
/// shows nothing about behaviour.
const PHRASES: [&str; 22] = [
    // Python
    "ImportError",
    "ModuleNotFoundError",
    "NameError",
    "has no attribute",
    "unexpected keyword argument",
    "required positional argument",
    "positional arguments but",
    "required keyword-only argument",
    "fixture '",
    // JavaScript
    "is not a function",
    "is not defined",
    "is not a constructor",
    "does not provide an export",
    "Cannot find module",
    // Ruby
    "NoMethodError",
    "undefined local variable",
    "uninitialized constant",
    "wrong number of arguments",
    // PHP
    "Call to undefined",
    "Too few arguments",
    "Unknown named parameter",
    // Elixir
    "UndefinedFunctionError",
];

/// Returns the failing tests whose first line of failure is one of these. Each test comes with that line.
pub fn unfit(texts: &[(String, String)]) -> Vec<String> {
    let is_unfit = |(_, line): &&(String, String)| PHRASES.iter().any(|phrase| line.contains(phrase));
    texts.iter().filter(is_unfit).map(|(test, _)| test.clone()).collect()
}
