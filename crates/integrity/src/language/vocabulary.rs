//! What is known of one language: kinds of nodes, words, settings, roles of paths.

use crate::language::{assertions, bodies, capture, otherwise, outline, reachability, role::Role, settings};
use std::{collections::BTreeSet, sync::OnceLock};

/// Everything that is known of one language.
pub struct Vocabulary {
    /// Its name, as people write it.
    pub name: &'static str,
    /// Its grammars, with the queries for each.
    pub grammars: &'static [Grammar],
    /// Whether tests may stand in the same file as the code that they test.
    pub inline_tests: bool,
    /// What a path is to tests and their runner; `None` where the language has nothing to say about it.
    pub role: fn(&str) -> Option<Role>,
    /// Whether the runner looks into a file of this path, where other files of the change include these names.
    pub is_collected: fn(&str, &[String]) -> bool,
    /// What a parsed file does, tests left out.
    pub doing: for<'a> fn(&outline::Source<'a>) -> bodies::Doing,
    /// How a parsed file is made to give something else where functions of these names give something.
    pub otherwise: for<'a> fn(&outline::Source<'a>, &BTreeSet<String>) -> Option<otherwise::Otherwise>,
    /// Values of its settings files that decide what is run, what is asked, and what imports lead to.
    pub settings: &'static [settings::Watched],
    /// What decides over the flow of a program.
    pub flow: reachability::Flow,
    /// The words by which it asks.
    pub asking: assertions::Asking,
    /// How an assertion is made to fail.
    pub made_to_fail: assertions::MadeToFail,
    /// Nodes that are written-out values.
    pub literals: &'static [&'static str],
    /// Values without anything in them, as they are written.
    pub empties: &'static [&'static str],
    /// Nodes that are nothing but an expression as a statement, and other statements that assert.
    pub statements: &'static [&'static str],
    /// Statements of a test that do nothing, as they are written.
    pub nothing: &'static [&'static str],
    /// What two tests of one name are.
    pub repeated_names: outline::RepeatedNames,
    /// Modules that programs and tests take for granted, where a file of that name would be found first.
    pub modules: &'static [&'static str],
    /// Folders of installed packages.
    pub installed: &'static [&'static str],
}

/// A grammar of a language.
pub struct Grammar {
    /// Ends of the names of its source files, without the dot.
    pub extensions: &'static [&'static str],
    /// The grammar itself.
    pub language: fn() -> tree_sitter::Language,
    /// The queries.
    pub queries: &'static [&'static str],
    /// The queries, compiled once.
    pub compiled: OnceLock<Option<capture::Compiled>>,
}
