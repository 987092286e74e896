//! The description of one language: kinds of syntax nodes, words, settings, roles of paths.

use crate::language::{assertions, bodies, capture, outline, reachability, return_values, role::Role, test_parts};
use serde::Deserialize;
use std::{
    collections::BTreeSet,
    sync::{LazyLock, OnceLock},
};

/// The description of one language.
pub struct Vocabulary {
    /// The language's name for people.
    pub name: &'static str,
    /// Its grammars, with the queries for each.
    pub grammars: &'static [Grammar],
    /// Returns the tests that are in the same file as the code that they test, if the language has such tests.
    pub test_parts: Option<for<'a> fn(&outline::Source<'a>) -> test_parts::TestParts>,
    /// Returns the role of a path; `None` if the language does not define it.
    pub role: fn(&str) -> Option<Role>,
    /// Returns the functions and values of a parsed file, without tests.
    pub executable_code: for<'a> fn(&outline::Source<'a>) -> bodies::ExecutableCode,
    /// Makes the functions of these names in a parsed file return something else.
    pub return_values: for<'a> fn(&outline::Source<'a>, &BTreeSet<String>) -> Option<return_values::ReturnValueChanges>,
    pub words: LazyLock<Words>,
}

/// The words of one language: kinds of syntax nodes, names, and parts of lines.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Words {
    /// Beginnings of values in settings that are paths of the repository.
    pub local: Vec<String>,
    /// Keys in settings below which imports are redirected, between blanks.
    pub redirects: String,
    /// Parts of a line that writes a file.
    pub writes: Vec<String>,
    /// Parts of a line that reads a variable of the environment.
    pub environment: Vec<String>,
    /// Parts of a line that imports a module.
    pub imports: Vec<String>,
    /// The language's control flow.
    pub flow: reachability::Flow,
    pub comparison: assertions::ComparisonWords,
    /// The way to make an assertion fail.
    pub made_to_fail: assertions::FailureTemplate,
    /// The kinds of nodes that are literals, between blanks.
    pub literals: String,
    /// Empty values, as they are written, with commas between them.
    pub empties: String,
    /// The beginnings of comments that compilers and tools obey.
    #[serde(default)]
    pub obeyed_comments: Vec<String>,
    /// The kinds of nodes that are expression statements or assertion statements, between blanks.
    pub statements: String,
    /// `true` if a test hides an earlier one of the same name. If not, both run, or the code does not compile.
    pub last_test_wins: bool,
    /// The folder of installed packages.
    pub installed: Option<Installed>,
}

impl Words {
    pub(super) fn read(table: &str) -> Self {
        toml::from_str(table).unwrap_or_default()
    }
}

/// The folder in which a language's tools look for installed packages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Installed {
    /// The folder's name.
    pub folder: String,
    /// The file beside the folder that lists the packages to install into it.
    pub manifest: String,
    /// A file inside the folder that distinguishes it from other folders of the same name.
    pub index: Option<String>,
}

impl Installed {
    /// Returns the folder around the packages, with its `/`; `None` if the path is not in a folder of packages.
    fn around<'p>(&self, path: &'p str) -> Option<&'p str> {
        let is_inside = path.starts_with(&format!("{}/", self.folder));
        let nested = || path.find(&format!("/{}/", self.folder)).map(|slash| slash + 1);
        let start = if is_inside { Some(0) } else { nested() };
        start.and_then(|start| path.get(..start))
    }

    /// `true` if a new file takes the place of a package that was installed from elsewhere.
    pub(crate) fn is_replaced_by(&self, path: &str, base: &BTreeSet<String>, head: &BTreeSet<String>) -> bool {
        let Some(around) = self.around(path) else { return false };
        let folder = format!("{around}{}/", self.folder);
        let is_committed = base.range(folder.clone()..).next().is_some_and(|first| first.starts_with(&folder));
        let is_used = self.index.as_ref().is_none_or(|index| head.contains(&format!("{folder}{index}")));
        base.contains(&format!("{around}{}", self.manifest)) && is_used && !is_committed
    }
}

pub struct Grammar {
    /// Extensions of its source files, without the dot.
    pub extensions: &'static [&'static str],
    pub language: fn() -> tree_sitter::Language,
    pub queries: &'static [&'static str],
    /// The queries, compiled at first use.
    pub compiled: OnceLock<Option<capture::CompiledQueries>>,
}

/// Builds a grammar with all queries of the language's folder, and one of its own if it has one.
macro_rules! grammar {
    ([$($extension:literal),+], $language:expr $(, $own:literal)?) => {
        $crate::language::vocabulary::Grammar {
            extensions: &[$($extension),+],
            language: || $language.into(),
            queries: &[
                $(include_str!($own),)?
                include_str!("tests.scm"),
                include_str!("functions.scm"),
                include_str!("assertions.scm"),
                include_str!("skips.scm"),
                include_str!("stubs.scm"),
                include_str!("exits.scm"),
                include_str!("tools.scm"),
                include_str!("coverage.scm"),
            ],
            compiled: std::sync::OnceLock::new(),
        }
    };
}
pub(super) use grammar;
