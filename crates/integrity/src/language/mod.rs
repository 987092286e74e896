//! What the Gates know of programming languages: one value per language, all of it in that language's own file.
//!
//! [`of`] finds the language of a path, [`role`] says what a path is to tests and their runner, also where the language
//! is unknown. A language is added by one file and one line in [`ALL`]. Nothing here compares versions or judges.

pub mod bodies;
mod flow;
mod glance;
mod javascript;
pub mod otherwise;
pub mod outline;
mod python;
mod role;
mod rust;
pub mod settings;
pub mod syntax;

pub use glance::{Glance, Shadow};
pub use role::{Role, file_name, folders, in_support_folder, in_test_folder, role};

use std::collections::BTreeSet;

/// Everything that the Gates know of one language.
pub struct Language {
    /// Its name, as people write it.
    pub name: &'static str,
    /// Ends of the names of its source files, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether tests may stand in the same file as the code that they test.
    pub inline_tests: bool,
    /// What a path is to tests and their runner; `None` where the language has nothing to say about it.
    pub role: fn(&str) -> Option<Role>,
    /// The grammar for a path.
    pub grammar: fn(&str) -> tree_sitter::Language,
    /// What a parsed file holds.
    pub outline: for<'a> fn(&outline::Source<'a>) -> outline::Outline,
    /// What a parsed file does, tests left out.
    pub doing: for<'a> fn(&outline::Source<'a>) -> bodies::Doing,
    /// How a parsed file is made to give something else where functions of these names give something.
    pub otherwise: for<'a> fn(&outline::Source<'a>, &BTreeSet<String>) -> Option<otherwise::Otherwise>,
    /// Whether the runner looks into a file of this path, where other files of the change include these names.
    pub is_collected: fn(&str, &[String]) -> bool,
    /// Values of its settings files that decide what is run and what is asked.
    pub watched: &'static [settings::Watched],
    /// What a changed file puts in the place of something real.
    pub shadows: fn(&Glance<'_>) -> Vec<Shadow>,
}

/// What a file holds; `None` where the language is unknown or the file cannot be parsed within limits.
#[must_use]
pub fn read(path: &str, text: &str) -> Option<outline::Outline> {
    parsed(path, text, |language, source| (language.outline)(source))
}

/// What a file does; `None` as for [`read`].
#[must_use]
pub fn doing(path: &str, text: &str) -> Option<bodies::Doing> {
    parsed(path, text, |language, source| (language.doing)(source))
}

/// A file whose functions of these names give another value of the same kind, and one where they give none; `None` as for
/// [`read`], and where there is no such function.
#[must_use]
pub fn otherwise(path: &str, text: &str, names: &BTreeSet<String>) -> Option<[String; 2]> {
    let made = parsed(path, text, |language, source| (language.otherwise)(source, names))?;
    made?.of(text)
}

fn parsed<T>(path: &str, text: &str, look: impl Fn(&Language, &outline::Source<'_>) -> T) -> Option<T> {
    let language = of(path)?;
    let grammar = (language.grammar)(path);
    let tree = syntax::parse(&grammar, text)?;
    let source = outline::Source {
        path,
        role: role::role(path),
        root: tree.root(),
    };
    Some(look(language, &source))
}

/// The languages.
pub static ALL: [&Language; 3] = [&rust::RUST, &python::PYTHON, &javascript::JAVASCRIPT];

/// The language that a file of this path is written in.
#[must_use]
pub fn of(path: &str) -> Option<&'static Language> {
    let (stem, extension) = role::file_name(path).rsplit_once('.')?;
    let known = |language: &&&'static Language| language.extensions.contains(&extension);
    (!stem.is_empty()).then(|| ALL.iter().find(known).copied()).flatten()
}
