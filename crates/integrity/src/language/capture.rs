//! The captures that a language's queries may use. A name means the same in each language; a name that begins with `_`
//! is private to the query.

use crate::language::syntax::{At, Syntax};
use std::collections::BTreeMap;
use tree_sitter::{Language, Query};

/// Declares [`Capture`] and the names that a query may use.
macro_rules! captures {
    ($($capture:ident $name:literal)*; $($fact:ident $fact_name:literal)*) => {
        /// The meaning of a captured node.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Capture {
            $($capture,)*
            /// A fact that a rule may look for in new code.
            Fact(Fact),
        }

        const NAMES: &[(&str, Capture)] = &[
            $(($name, Capture::$capture),)*
            $(($fact_name, Capture::Fact(Fact::$fact)),)*
        ];
    };
}

captures! {
    // A test, with its name, its body, and the rows of its parameters.
    Test "test" TestName "test.name" TestBody "test.body" TestRows "test.rows"
    // A macro call in a module, which may make tests, and a macro's definition.
    TestMaker "test.maker" TestMacro "test.macro"
    // Code that is compiled on a condition.
    Condition "condition"
    // Code that is only compiled for tests.
    TestCode "test.code"
    // A suite that contains tests, and its name.
    Suite "suite" SuiteName "suite.name"
    // Code whose tests the runner does not collect, although they look like tests; a name that the module removes.
    Uncollected "uncollected" UncollectedName "uncollected.name"
    // A function, with its name, its body, and the value that it returns, if it does nothing else.
    Function "function" FunctionName "function.name" FunctionBody "function.body" FunctionValue "function.value"
    // A class, with its name, its base classes and its fields.
    Class "class" ClassName "class.name" ClassBase "class.base" ClassField "class.field"
    // A fixed result for a fixed input, such as an entry of a table or a case of a switch.
    Answer "answer" AnswerInput "answer.input" AnswerResult "answer.result"
    // The name of a module's variable that holds data.
    Variable "variable"
    // The name of another definition in the file.
    Definition "definition"
    // An assertion, with the condition that must be true, or the actual and the expected value.
    Assertion "assertion" AssertionCondition "assertion.condition"
    AssertionActual "assertion.actual" AssertionExpected "assertion.expected"
    // The assertion only checks that something exists, or is not an error; always holds; marks code that must not be
    // reached.
    AssertionWeak "assertion.weak" AssertionTrivial "assertion.trivial" AssertionGuard "assertion.guard"
    // The assertion expects that the test stops with an error.
    AssertionReversed "assertion.reversed"
    // A block whose methods others implement, such as an abstract class.
    Abstract "abstract"
    // The message of a `Fact::Stub`: it is only a stub if the message promises the work.
    StubMessage "stub.message";

    Skip "skip" ConditionalSkip "skip.conditional" Exit "exit" Stub "stub" Empty "empty" Shadow "shadow"
    Runner "runner" Uncovered "uncovered" Differs "differs" Borrowed "borrowed"
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
    /// It is a placeholder for missing work.
    Stub,
    /// A function that does nothing.
    Empty,
    /// It replaces a test tool or a module.
    Shadow,
    /// It decides which tests run, or which results count as failures.
    Runner,
    /// It excludes code from coverage.
    Uncovered,
    /// It makes code behave differently under test.
    Differs,
    /// It uses test code in the product.
    Borrowed,
}

/// One match of a query: its captures in text order.
#[derive(Clone)]
pub(crate) struct QueryMatch<'t> {
    places: Vec<(Capture, At<'t>)>,
}

impl<'t> QueryMatch<'t> {
    pub(crate) fn first(&self, wanted: Capture) -> Option<At<'t>> {
        self.all(wanted).next()
    }

    pub(crate) fn all(&self, wanted: Capture) -> impl Iterator<Item = At<'t>> {
        let places = self.places.iter();
        places.filter(move |(capture, _)| *capture == wanted).map(|(_, at)| *at)
    }

    pub(crate) fn facts(&self) -> impl Iterator<Item = (Fact, At<'t>)> {
        self.places.iter().filter_map(|(capture, at)| {
            let Capture::Fact(fact) = capture else { return None };
            Some((*fact, *at))
        })
    }
}

/// The compiled queries of a language for one of its grammars.
pub struct CompiledQueries {
    query: Query,
    captures: Vec<Option<Capture>>,
}

/// Compiles queries; the error names an unknown node or capture and its place.
pub(crate) fn compile(grammar: &Language, text: &str) -> Result<CompiledQueries, String> {
    let query = Query::new(grammar, text).map_err(|error| error.to_string())?;
    let known = |name: &&str| match NAMES.iter().find(|(known, _)| known == name) {
        Some((_, capture)) => Ok(Some(*capture)),
        None if name.starts_with('_') => Ok(None),
        None => Err(format!("no capture is called {name}")),
    };
    let captures = query.capture_names().iter().map(known).collect::<Result<_, _>>()?;
    Ok(CompiledQueries { query, captures })
}

pub(crate) fn find<'t>(compiled: &CompiledQueries, tree: &'t Syntax<'t>) -> Vec<QueryMatch<'t>> {
    let named = |(number, at): (u32, At<'t>)| {
        let number = usize::try_from(number).ok()?;
        Some((compiled.captures.get(number).copied().flatten()?, at))
    };
    let places = |captures: Vec<_>| captures.into_iter().filter_map(named).collect();
    let matches = tree.matches(&compiled.query).into_iter();
    matches.map(|captures| QueryMatch { places: places(captures) }).collect()
}

/// Returns one match per node with the capture `main`; the captures of several matches of that node are combined.
pub(crate) fn merged<'t>(found: &[QueryMatch<'t>], main: Capture) -> Vec<(At<'t>, QueryMatch<'t>)> {
    let mut by_place: BTreeMap<usize, (At<'t>, QueryMatch<'t>)> = BTreeMap::new();
    for one in found {
        let Some(at) = one.first(main) else { continue };
        let empty = || (at, QueryMatch { places: Vec::new() });
        let (_, all) = by_place.entry(at.index()).or_insert_with(empty);
        for (capture, place) in &one.places {
            if !all.all(*capture).any(|known| known.is_same(*place)) {
                all.places.push((*capture, *place));
            }
        }
    }
    by_place.into_values().collect()
}
