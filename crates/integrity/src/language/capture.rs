//! What the queries of the languages may capture. A name means the same in each language; a name that begins with `_` is
//! the query's own.

use crate::language::syntax::{At, Syntax};
use std::collections::BTreeMap;
use tree_sitter::{Language, Query};

/// What a place in a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capture {
    /// A test, its name, its body, and the rows that it is run with.
    Test,
    /// See [`Capture::Test`].
    TestName,
    /// See [`Capture::Test`].
    TestBody,
    /// See [`Capture::Test`].
    TestRows,
    /// Code that is only compiled for tests.
    TestCode,
    /// What tests stand in, and its name.
    Suite,
    /// See [`Capture::Suite`].
    SuiteName,
    /// What stands in it is no test to the runner, though it looks like one.
    Uncollected,
    /// A name that is taken from the runner.
    UncollectedName,
    /// A function, its name and its body.
    Function,
    /// See [`Capture::Function`].
    FunctionName,
    /// See [`Capture::Function`].
    FunctionBody,
    /// The only thing that a function does is to give this value.
    FunctionValue,
    /// A class, its name and what it is derived from.
    Class,
    /// See [`Capture::Class`].
    ClassName,
    /// See [`Capture::Class`].
    ClassBase,
    /// The name of something that the file defines besides functions and classes.
    Definition,
    /// The name of a file that this one makes part of the program.
    Include,
    /// An assertion.
    Assertion,
    /// What it asks to be true.
    AssertionCondition,
    /// What it compares.
    AssertionActual,
    /// What it compares with.
    AssertionExpected,
    /// It only asks whether something is there, or is no error.
    AssertionWeak,
    /// It always holds.
    AssertionTrivial,
    /// It says that its place is not to be reached.
    AssertionGuard,
    /// Methods in it are there to be filled in by others.
    Abstract,
    /// The message that comes with a [`Fact::Stub`]: only one that promises the work makes it a stub.
    StubMessage,
    /// Something that a rule may ask for where it is new.
    Fact(Fact),
}

/// Something that a rule may ask for where it is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// It keeps a test from running.
    Skip,
    /// It keeps a test from running on a condition.
    ConditionalSkip,
    /// It ends the process.
    Exit,
    /// It stands where the work should be.
    Stub,
    /// A function that does nothing.
    Empty,
    /// It gives the tools of tests, or a module, another meaning.
    Shadow,
    /// It decides which tests run, or what counts as a failure.
    Runner,
    /// It keeps code out of the coverage.
    Uncovered,
    /// It lets the code behave differently under test.
    Differs,
    /// It brings what belongs to tests into the code.
    Borrowed,
}

/// Each name that a query may use.
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

/// One match of a query: what it captured, in the order of the text.
#[derive(Clone)]
pub struct Found<'t> {
    places: Vec<(Capture, At<'t>)>,
}

impl<'t> Found<'t> {
    /// The first place that was captured so.
    #[must_use]
    pub fn first(&self, wanted: Capture) -> Option<At<'t>> {
        self.all(wanted).next()
    }

    /// All places that were captured so.
    pub fn all(&self, wanted: Capture) -> impl Iterator<Item = At<'t>> {
        let places = self.places.iter();
        places.filter(move |(capture, _)| *capture == wanted).map(|(_, at)| *at)
    }

    /// The facts among them.
    pub fn facts(&self) -> impl Iterator<Item = (Fact, At<'t>)> {
        self.places.iter().filter_map(|(capture, at)| {
            let Capture::Fact(fact) = capture else { return None };
            Some((*fact, *at))
        })
    }
}

/// The queries of a language for one of its grammars, compiled.
pub struct Compiled {
    query: Query,
    captures: Vec<Option<Capture>>,
}

/// Compiles queries; an unknown node or capture is a mistake in a query, and says where.
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

/// Everything that the queries find in a file; what is the same place of the same kind is one.
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

/// The matches that capture `main`, one for each place: what several of them capture of it is put together.
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
