//! Finds the first line of each failure in a runner's output.

use domain::evidence::SystemError;
use rustix::io::Errno;
use std::io;

/// The most lines between a test's name and the text of its failure.
const FARTHEST: usize = 400;

/// The place of the failures' texts in a runner's output.
pub(crate) struct Layout {
    /// Returns the failing test that a line names, and the text after the name.
    pub(super) test: fn(&str) -> Option<(&str, &str)>,
    /// Returns the text after a mark; an empty one if the text begins on the next line. `None` if the runner has no mark.
    pub(super) mark: Option<fn(&str) -> Option<&str>>,
    /// `true` if a line after the mark, or after the name, can be the text.
    pub(super) text: fn(&str) -> bool,
    /// `true` if no text of the named tests can follow a line.
    pub(super) end: fn(&str) -> bool,
}

/// The end of a failure for runners whose texts are always there.
pub(super) const NO_END: fn(&str) -> bool = |_| false;

impl Layout {
    /// The text is the first line after the name that says something.
    pub(super) const fn after(test: fn(&str) -> Option<(&str, &str)>) -> Self {
        Self {
            test,
            mark: None,
            text: is_text,
            end: NO_END,
        }
    }

    /// The text is the first line after the name that names an error of the system. For runners that show only what a
    /// test's program prints: its other lines, such as a greeting, are alike in all tests.
    pub(super) const fn system_errors(test: fn(&str) -> Option<(&str, &str)>, end: fn(&str) -> bool) -> Self {
        Self {
            test,
            mark: None,
            text: |line| system_error(line).is_some(),
            end,
        }
    }
}

/// `true` if a line has letters and does not only announce the next one.
pub(super) fn is_text(line: &str) -> bool {
    let line = line.trim();
    line.contains(char::is_alphabetic) && !line.ends_with(':')
}

/// The reader's position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// After a failing test's name.
    Named,
    /// After a name, before the mark; holds the number of lines since the name.
    Before(usize),
    /// Where the text may begin; holds the number of lines since the name.
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

/// Returns the error of the system that a line names: by its symbol, by its number, or in the system's own words.
pub(crate) fn system_error(line: &str) -> Option<SystemError> {
    let of_system = [
        (Errno::CONNREFUSED, "ECONNREFUSED", SystemError::ConnectionRefused),
        (Errno::NETUNREACH, "ENETUNREACH", SystemError::NoRoute),
        (Errno::HOSTUNREACH, "EHOSTUNREACH", SystemError::NoRoute),
        (Errno::NOENT, "ENOENT", SystemError::NotFound),
        (Errno::ACCESS, "EACCES", SystemError::NotPermitted),
        (Errno::PERM, "EPERM", SystemError::NotPermitted),
    ];
    // The resolver's numbers are those of `netdb.h`; Node has a symbol of its own for the first.
    let of_resolver = [(-2, "EAI_NONAME"), (-3, "EAI_AGAIN"), (-2, "ENOTFOUND")];
    let has_symbol = |symbol: &str| {
        line.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == symbol)
    };
    let has_number = |number: i32| {
        let forms = [
            format!("[Errno {number}]"),
            format!("(os error {number})"),
            format!("errno={number}"),
        ];
        forms.iter().any(|form| line.contains(form.as_str()))
    };
    if of_resolver
        .iter()
        .any(|(number, symbol)| has_symbol(symbol) || has_number(*number))
    {
        return Some(SystemError::NameUnresolved);
    }
    let lower = line.to_lowercase();
    let names = |errno: Errno, symbol: &str| {
        let number = errno.raw_os_error();
        has_symbol(symbol) || has_number(number) || lower.contains(&words_of(number))
    };
    let found = of_system.iter().find(|(errno, symbol, _)| names(*errno, symbol));
    found.map(|(_, _, error)| *error)
}

/// Returns the system's words for an error, in lower case.
fn words_of(number: i32) -> String {
    let whole = io::Error::from_raw_os_error(number).to_string().to_lowercase();
    whole.split(" (os error").next().unwrap_or_default().to_owned()
}
