//! What a file holds, as far as integrity asks: the same shape for every language.

use crate::language::{Role, syntax::At};
use domain::integrity::Rule;
use std::ops::Range;

/// A file to be read.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Its path.
    pub path: &'a str,
    /// What it is to tests.
    pub role: Role,
    /// Its syntax.
    pub root: At<'a>,
}

/// What a file holds.
#[derive(Debug, Default)]
pub struct Outline {
    /// Tests that the runner finds, if it looks into the file.
    pub tests: Vec<Test>,
    /// Other functions.
    pub functions: Vec<Function>,
    /// Functions that always answer the same.
    pub constants: Vec<Constant>,
    /// Functions that run what they are given, and go on without a word whatever comes of it.
    pub forgiving: Vec<(String, u32)>,
    /// What it takes from tests, or from their tools: a path, a module.
    pub borrowed: Vec<Replaced>,
    /// What its classes put in the place of a method of another class: `Listener.started`.
    pub overrides: Vec<String>,
    /// Names of what the file defines.
    pub defines: Vec<String>,
    /// Names of files that this one makes part of the program.
    pub includes: Vec<String>,
    /// Places that are suspicious if they are new.
    pub marks: Vec<Mark>,
    /// What it puts other things in the place of.
    pub replaced: Vec<Replaced>,
    /// Lists outside of tests, which tests may go through, and loops that make tests.
    pub tables: Vec<Table>,
    /// Names that it takes from other files.
    pub imports: Vec<Import>,
    /// Functions and mocks of a test file's own that it calls by name.
    pub stand_ins: Vec<StandIn>,
    /// What it sets, where it is a settings file written in the language.
    pub settings: Vec<Setting>,
    /// Code in its documentation.
    pub examples: Vec<Example>,
}

/// A function that always answers the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Whether it is given something, and makes nothing of it; or gives nothing back.
    pub ignores: bool,
    /// Whether the words about it say that the real thing is still to come.
    pub promised: bool,
}

/// Code in documentation, which some runners run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Where it begins.
    pub line: u32,
    /// Its lines.
    pub text: String,
    /// What the runner does with it.
    pub how: Use,
}

/// What a runner does with code in documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It runs it.
    Run,
    /// It runs it not.
    Shown,
}

/// A name that a file takes from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// How the file calls it.
    pub name: String,
    /// Where it is from, as the language writes it.
    pub from: String,
    /// Where that is said.
    pub line: u32,
}

/// A function or a mock that a test file makes and calls by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandIn {
    /// Its name.
    pub name: String,
    /// Where it is made.
    pub line: u32,
    /// Whether its answers are written there: it calls nothing but methods of what it is given.
    pub canned: bool,
}

/// A list outside of tests, which tests may go through, or a loop that makes tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Where it begins.
    pub line: u32,
    /// Its words.
    pub words: Vec<String>,
}

impl Table {
    /// The table at `at`.
    #[must_use]
    pub fn at(at: At<'_>) -> Self {
        Self {
            line: at.line(),
            words: at.words(),
        }
    }
}

/// One value of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name, below the names of what it stands in: `test.coverage.thresholds.lines`.
    pub name: String,
    /// Its values; one, or those of a list.
    pub values: Vec<String>,
    /// Where it stands; 1 where the format does not say.
    pub line: u32,
}

/// Something that a test, or what tests need, puts another thing in the place of.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// What is replaced: a dotted name, or a path relative to the file.
    pub name: String,
    /// Where that is done.
    pub line: u32,
    /// How it is done, in one sentence.
    pub what: String,
}

/// A test.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its own name.
    pub name: String,
    /// The names of what it stands in, outermost first.
    pub scope: Vec<String>,
    /// Where it begins.
    pub line: u32,
    /// The words of its body.
    pub words: Vec<String>,
    /// Whether the body does anything.
    pub work: Work,
    /// What keeps it from running, or from counting.
    pub skips: Vec<Mark>,
    /// What it checks.
    pub checks: Vec<Check>,
}

/// Whether a body does anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It has statements that do something.
    Some,
    /// It has none.
    None,
}

/// A function that is no test.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its own name.
    pub name: String,
    /// Where it begins.
    pub line: u32,
    /// The words of its body.
    pub words: Vec<String>,
    /// What it checks.
    pub checks: Vec<Check>,
}

/// One check in a test.
#[derive(Clone, Debug)]
pub struct Check {
    /// Where it stands.
    pub line: u32,
    /// Its words.
    pub words: Vec<String>,
    /// How much it checks.
    pub strength: Strength,
    /// How far off a number may be, where it says so.
    pub tolerance: Option<f64>,
    /// What would fail in its place, whatever it is about; none where that cannot be said.
    pub failing: Option<Failing>,
}

/// A place in a file, and what would fail there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The bytes that give way.
    pub range: Range<usize>,
    /// What stands there then.
    pub text: String,
}

/// How much a check checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Nothing: it always holds.
    Trivial,
    /// Nothing: it is never reached, or its failure is swallowed.
    Silenced,
    /// That something is as itself, that what is imported is there, or that anything is there where a value was meant:
    /// alone, that is no test.
    Same,
    /// That something is there, or is no error; or a value, but on a condition.
    Weak,
    /// A value.
    Strong,
}

/// A place that is suspicious if it is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The rule that it breaks.
    pub rule: Rule,
    /// Where it is.
    pub line: u32,
    /// What is there, in one sentence.
    pub what: String,
    /// What makes it the same mark in another version of the file.
    pub key: String,
    /// The method, as `Class.method`, that a class may put another in the place of: then nothing is wrong with it. As
    /// `Class.*` where any class derived from its own will do.
    pub open: Option<String>,
}

impl Mark {
    /// A mark at `at`; the words of `at` are its key.
    #[must_use]
    pub fn at(rule: Rule, at: At<'_>, what: impl Into<String>) -> Self {
        Self {
            rule,
            line: at.line(),
            what: what.into(),
            key: shorten(&at.phrase(), 400),
            open: None,
        }
    }
}

/// The beginning of a text.
#[must_use]
pub fn shorten(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// The text for a sentence: one line, short, in code marks.
#[must_use]
pub fn quoted(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    format!("`{}`", shorten(&line.join(" "), 80).replace('`', "'"))
}

/// Whether two of the words are equal that a check compares: `a == a`, `1 == 1`.
#[must_use]
pub fn is_number(text: &str) -> bool {
    text.replace('_', "").parse::<f64>().is_ok()
}

/// Whether a message says that something is still to be done.
#[must_use]
pub fn is_promise(message: &str) -> bool {
    let text = message.to_lowercase();
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    let anywhere = [
        "not implemented",
        "not yet implemented",
        "unimplemented",
        "to be implemented",
        "implement me",
        "notimplemented",
        "not_implemented",
        "coming soon",
        "will be implemented",
        "needs to be implemented",
        "implementation pending",
        "placeholder implementation",
        "next iteration",
        "next sprint",
        "next milestone",
        "follow-up pr",
        "lands in the next",
        "yet to come",
    ];
    anywhere.iter().any(|words| text.contains(words))
        || text
            .split(|c: char| !c.is_alphanumeric())
            .next()
            .is_some_and(|first| matches!(first, "todo" | "fixme"))
        || text == "stub"
}

/// Whether the words about a function that always answers the same say that the real thing is still to come.
#[must_use]
pub fn is_makeshift(words: &str, ignores: bool) -> bool {
    let text = words.to_lowercase();
    let always = [
        "real implementation",
        "mock implementation",
        "placeholder",
        "mock data",
        "dummy data",
        "fake data",
        "sample data",
        "simulat",
        "not implemented",
    ];
    let of_what_ignores = ["for now", "hard-coded", "hardcoded", "todo", "fixme", "in production"];
    always.iter().any(|phrase| text.contains(phrase))
        || ignores && of_what_ignores.iter().any(|phrase| text.contains(phrase))
}
