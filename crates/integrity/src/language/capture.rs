//! The captures that a language's queries may use. A name means the same in each language; a name that begins with `_`
//! is private to the query.

use crate::language::syntax::{At, Syntax};
use std::collections::BTreeMap;
use tree_sitter::{Language, Query};

/// The meaning of a captured node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capture {
    /// A test, with its name, its body, and the rows of its parameters.
    Test,
    /// See [`Capture::Test`].
    TestName,
    /// See [`Capture::Test`].
    TestBody,
    /// See [`Capture::Test`].
    TestRows,
    /// Code that is only compiled for tests.
    TestCode,
    /// A suite that contains tests, and its name.
    Suite,
    /// See [`Capture::Suite`].
    SuiteName,
    /// Code whose tests the runner does not collect, although they look like tests.
    Uncollected,
    /// A name that the module removes, so that the runner does not collect it.
    UncollectedName,
    /// A function, with its name and its body.
    Function,
    /// See [`Capture::Function`].
    FunctionName,
    /// See [`Capture::Function`].
    FunctionBody,
    /// The value that a function returns, if it does nothing else.
    FunctionValue,
    /// A class, with its name and its base classes.
    Class,
    /// See [`Capture::Class`].
    ClassName,
    /// See [`Capture::Class`].
    ClassBase,
    /// The name of another definition in the file.
    Definition,
    /// The name of a file that this one includes in the program.
    Include,
    /// An assertion.
    Assertion,
    /// The condition that must be true.
    AssertionCondition,
    /// The actual value.
    AssertionActual,
    /// The expected value.
    AssertionExpected,
    /// It only asks whether something exists, or is not an error.
    AssertionWeak,
    /// It always holds.
    AssertionTrivial,
    /// It marks code that must not be reached.
    AssertionGuard,
    /// A block whose methods others implement, such as an abstract class.
    Abstract,
    /// The message of a [`Fact::Stub`]: it is only a stub if the message promises the work.
    StubMessage,
    /// A fact that a rule may look for in new code.
    Fact(Fact),
}

/// A fact that a rule may look for in new code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// It keeps a test from running.
    Skip,
    /// It keeps a test from running under a condition.
    ConditionalSkip,
    /// It ends the process.
    Exit,
    /// It stands in for missing work.
    Stub,
    /// A function that does nothing.
    Empty,
    /// It replaces a test tool or a module.
    Shadow,
    /// It decides which tests run, or what counts as a failure.
    Runner,
    /// It excludes code from coverage.
    Uncovered,
    /// It makes code behave differently under test.
    Differs,
    /// It uses test code in the product.
    Borrowed,
}

/// The names that a query may use.
const NAMES: [(&str, Capture); 37] = [
    ("test", Capture::Test),
    ("test.name", Capture::TestName),
    ("test.body", Capture::TestBody),
    ("test.rows", Capture::TestRows),
    ("test.code", Capture::TestCode),
    ("suite", Capture::Suite),
    ("suite.name", Capture::SuiteName),
    ("uncollected", Capture::Uncollected),
    ("uncollected.name", Capture::UncollectedName),
    ("function", Capture::Function),
    ("function.name", Capture::FunctionName),
    ("function.body", Capture::FunctionBody),
    ("function.value", Capture::FunctionValue),
    ("class", Capture::Class),
    ("class.name", Capture::ClassName),
    ("class.base", Capture::ClassBase),
    ("definition", Capture::Definition),
    ("include", Capture::Include),
    ("assertion", Capture::Assertion),
    ("assertion.condition", Capture::AssertionCondition),
    ("assertion.actual", Capture::AssertionActual),
    ("assertion.expected", Capture::AssertionExpected),
    ("assertion.weak", Capture::AssertionWeak),
    ("assertion.trivial", Capture::AssertionTrivial),
    ("assertion.guard", Capture::AssertionGuard),
    ("abstract", Capture::Abstract),
    ("stub.message", Capture::StubMessage),
    ("skip", Capture::Fact(Fact::Skip)),
    ("skip.conditional", Capture::Fact(Fact::ConditionalSkip)),
    ("exit", Capture::Fact(Fact::Exit)),
    ("stub", Capture::Fact(Fact::Stub)),
    ("empty", Capture::Fact(Fact::Empty)),
    ("shadow", Capture::Fact(Fact::Shadow)),
    ("runner", Capture::Fact(Fact::Runner)),
    ("uncovered", Capture::Fact(Fact::Uncovered)),
    ("differs", Capture::Fact(Fact::Differs)),
    ("borrowed", Capture::Fact(Fact::Borrowed)),
];

/// One match of a query: its captures in text order.
#[derive(Clone)]
pub struct Found<'t> {
    places: Vec<(Capture, At<'t>)>,
}

impl<'t> Found<'t> {
    /// Returns the first node with this capture.
    #[must_use]
    pub fn first(&self, wanted: Capture) -> Option<At<'t>> {
        self.all(wanted).next()
    }

    /// Returns all nodes with this capture.
    pub fn all(&self, wanted: Capture) -> impl Iterator<Item = At<'t>> {
        let places = self.places.iter();
        places.filter(move |(capture, _)| *capture == wanted).map(|(_, at)| *at)
    }

    /// Returns all captured facts.
    pub fn facts(&self) -> impl Iterator<Item = (Fact, At<'t>)> {
        self.places.iter().filter_map(|(capture, at)| {
            let Capture::Fact(fact) = capture else { return None };
            Some((*fact, *at))
        })
    }
}

/// The compiled queries of a language for one of its grammars.
pub struct Compiled {
    query: Query,
    captures: Vec<Option<Capture>>,
}

/// Compiles queries; the error names an unknown node or capture and its place.
pub fn compile(grammar: &Language, text: &str) -> Result<Compiled, String> {
    let query = Query::new(grammar, text).map_err(|error| error.to_string())?;
    let known = |name: &&str| -> Result<Option<Capture>, String> {
        let found = NAMES.iter().find(|(known, _)| known == name);
        match (found, name.starts_with('_')) {
            (Some((_, capture)), _) => Ok(Some(*capture)),
            (None, true) => Ok(None),
            (None, false) => Err(format!("no capture is called {name}")),
        }
    };
    let captures = query.capture_names().iter().map(known).collect::<Result<_, _>>()?;
    Ok(Compiled { query, captures })
}

/// Returns all matches of the queries in a file.
pub fn find<'t>(compiled: &Compiled, tree: &'t Syntax<'t>) -> Vec<Found<'t>> {
    let named = |(number, at): (u32, At<'t>)| {
        let number = usize::try_from(number).ok()?;
        Some((compiled.captures.get(number).copied().flatten()?, at))
    };
    let matches = tree.matches(&compiled.query).into_iter();
    matches
        .map(|captures| Found {
            places: captures.into_iter().filter_map(named).collect(),
        })
        .collect()
}

/// Returns one match per node with the capture `main`; the captures of several matches of that node are combined.
pub fn merged<'t>(found: &[Found<'t>], main: Capture) -> Vec<(At<'t>, Found<'t>)> {
    let mut by_place: BTreeMap<usize, (At<'t>, Found<'t>)> = BTreeMap::new();
    for one in found {
        let Some(at) = one.first(main) else { continue };
        let places = &mut by_place
            .entry(at.index())
            .or_insert_with(|| (at, Found { places: Vec::new() }))
            .1
            .places;
        for (capture, place) in &one.places {
            let is_known = |(known, other): &(Capture, At<'t>)| known == capture && other.is_same(*place);
            if !places.iter().any(is_known) {
                places.push((*capture, *place));
            }
        }
    }
    by_place.into_values().collect()
}
