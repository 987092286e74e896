//! What is known of programming languages: a folder per language with its queries and one [`Vocabulary`].
//!
//! [`of`] finds the language of a path, [`role`] says what a path is to tests and their runner, also where the language
//! is unknown. A language is added by a folder and a line in [`ALL`]. Nothing here compares versions or judges.

mod assertions;
pub mod bodies;
pub mod capture;
mod go;
mod javascript;
pub mod otherwise;
pub mod outline;
mod python;
mod reachability;
mod role;
mod rust;
pub mod settings;
pub mod syntax;

pub use role::{Role, file_name, folders, in_support_folder, in_test_folder, role};

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

/// The languages.
pub static ALL: [&Vocabulary; 4] = [&rust::RUST, &python::PYTHON, &javascript::JAVASCRIPT, &go::GO];

/// What a file holds; `None` where the language is unknown or the file cannot be parsed within limits.
#[must_use]
pub fn read(path: &str, text: &str) -> Option<outline::Outline> {
    parsed(path, text, |vocabulary, grammar, source, tree| {
        let compile = || capture::compile(&(grammar.language)(), &grammar.queries.join("\n")).ok();
        let compiled = grammar.compiled.get_or_init(compile).as_ref()?;
        let mut outline = outline::outline(source, &capture::find(compiled, tree), vocabulary);
        outline.settings = settings::of_code(source);
        Some(outline)
    })?
}

/// What a file does; `None` as for [`read`].
#[must_use]
pub fn doing(path: &str, text: &str) -> Option<bodies::Doing> {
    parsed(path, text, |vocabulary, _, source, _| (vocabulary.doing)(source))
}

/// A file whose functions of these names give another value of the same kind, and one where they give none; `None` as for
/// [`read`], and where there is no such function.
#[must_use]
pub fn otherwise(path: &str, text: &str, names: &BTreeSet<String>) -> Option<[String; 2]> {
    let made = parsed(path, text, |vocabulary, _, source, _| {
        (vocabulary.otherwise)(source, names)
    })?;
    made?.of(text)
}

fn parsed<T>(
    path: &str,
    text: &str,
    look: impl FnOnce(&Vocabulary, &'static Grammar, &outline::Source<'_>, &syntax::Syntax<'_>) -> T,
) -> Option<T> {
    let (vocabulary, grammar) = grammar_of(path)?;
    let language = (grammar.language)();
    let tree = syntax::parse(&language, text)?;
    let source = outline::Source {
        path,
        role: role::role(path),
        root: tree.root(),
    };
    Some(look(vocabulary, grammar, &source, &tree))
}

/// The language that a file of this path is written in.
#[must_use]
pub fn of(path: &str) -> Option<&'static Vocabulary> {
    grammar_of(path).map(|(vocabulary, _)| vocabulary)
}

fn grammar_of(path: &str) -> Option<(&'static Vocabulary, &'static Grammar)> {
    let (stem, extension) = role::file_name(path).rsplit_once('.')?;
    let grammars = ALL
        .iter()
        .flat_map(|vocabulary| vocabulary.grammars.iter().map(move |grammar| (*vocabulary, grammar)));
    let mut known = grammars.filter(|(_, grammar)| grammar.extensions.contains(&extension));
    known.next().filter(|_| !stem.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{ALL, capture};

    #[test]
    fn every_query_fits_its_grammar_and_captures_what_is_known() {
        for vocabulary in ALL {
            for grammar in vocabulary.grammars {
                for text in grammar.queries {
                    let compiled = capture::compile(&(grammar.language)(), text);
                    assert_eq!(
                        compiled.err(),
                        None,
                        "{} {:?}:\n{text}",
                        vocabulary.name,
                        grammar.extensions
                    );
                }
            }
        }
    }
}
