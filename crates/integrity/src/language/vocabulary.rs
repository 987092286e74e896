//! The description of one language: kinds of syntax nodes, words, settings, roles of paths.

use crate::language::{assertions, bodies, capture, outline, reachability, return_values, role::Role, settings};
use std::{collections::BTreeSet, sync::OnceLock};

/// The description of one language.
pub struct Vocabulary {
    /// The language's name for people.
    pub name: &'static str,
    /// Its grammars, with the queries for each.
    pub grammars: &'static [Grammar],
    /// Whether tests may be in the same file as the code that they test.
    pub inline_tests: bool,
    /// Returns the role of a path; `None` if the language does not define it.
    pub role: fn(&str) -> Option<Role>,
    /// `true` if the runner reads a file of this path; the names are those that other files of the change include.
    pub is_collected: fn(&str, &[String]) -> bool,
    /// Returns the functions and values of a parsed file, without tests.
    pub executable_code: for<'a> fn(&outline::Source<'a>) -> bodies::ExecutableCode,
    /// Makes the functions of these names in a parsed file return something else.
    pub return_values: for<'a> fn(&outline::Source<'a>, &BTreeSet<String>) -> Option<return_values::ReturnValueChanges>,
    /// The settings that decide what runs, what is required, and where imports lead.
    pub settings: &'static [settings::Watched],
    /// The language's control flow.
    pub flow: reachability::Flow,
    /// The language's words for comparisons.
    pub comparison: assertions::ComparisonWords,
    /// The way to make an assertion fail.
    pub made_to_fail: assertions::FailureTemplate,
    /// The kinds of nodes that are literals.
    pub literals: &'static [&'static str],
    /// Empty values, as they are written.
    pub empties: &'static [&'static str],
    /// The kinds of nodes that are expression statements or assertion statements.
    pub statements: &'static [&'static str],
    /// Statements of a test that do nothing, as they are written.
    pub nothing: &'static [&'static str],
    /// The meaning of two tests with the same name.
    pub repeated_names: outline::RepeatedNames,
    /// Modules that programs and tests expect; a file of such a name could be imported instead.
    pub modules: &'static [&'static str],
    /// Folders of installed packages.
    pub installed: &'static [&'static str],
}

/// A grammar of a language.
pub struct Grammar {
    /// Extensions of its source files, without the dot.
    pub extensions: &'static [&'static str],
    /// Returns the grammar itself.
    pub language: fn() -> tree_sitter::Language,
    /// The queries.
    pub queries: &'static [&'static str],
    /// The queries, compiled at first use.
    pub compiled: OnceLock<Option<capture::Compiled>>,
}
