//! Decides to which side of a change a file belongs. For a file with both sides, combines the product of one version
//! with the tests of another.
//!
//! Paths and keys of each ecosystem are a table of its own. A file that cannot be parsed is not split: it counts as
//! product.

mod ecosystem;
mod gemfile;
mod ini;
mod inline;
mod json;
mod make;
mod script;
mod sections;
mod single_tests;
mod toml;

pub(crate) use ecosystem::{is_data_of_tests, is_shadow};
pub use inline::with_inline_tests_of;
pub use single_tests::{with_single_tests_of, without_tests_at};

use crate::{
    language,
    language::{Role, folders, in_test_folder, role},
};
use ecosystem::{Format, SharedFile};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Tests, and everything that only their runs read.
    Tests,
    /// Everything else.
    Product,
    /// The file has tests and product, and they can be separated.
    Both,
}

/// The repository in which a path has a side.
#[derive(Clone, Copy, Debug)]
pub struct Repository<'a> {
    /// All paths of the base.
    pub base: &'a BTreeSet<String>,
    /// All paths of the head.
    pub head: &'a BTreeSet<String>,
    /// The command that runs the tests, if it is known.
    pub test_command: &'a str,
}

impl Repository<'_> {
    /// Returns the side of a file. `versions` are its texts before and after, without those that do not exist.
    pub fn side(&self, path: &str, versions: &[&str]) -> Side {
        if self.is_of_tests(path) {
            return Side::Tests;
        }
        let has_tests = |text: &&str| self.with_tests_of(path, text, "").is_some_and(|bare| bare != **text);
        if versions.iter().any(has_tests) { Side::Both } else { Side::Product }
    }

    /// Returns the side on which two versions of a file differ; `None` if they are equal.
    pub fn changed_side(&self, path: &str, before: Option<&str>, after: Option<&str>) -> Option<Side> {
        if before == after {
            return None;
        }
        let versions: Vec<&str> = before.into_iter().chain(after).collect();
        let (Side::Both, [old, new]) = (self.side(path, &versions), versions.as_slice()) else {
            return Some(self.side(path, &versions));
        };
        // Merging may change the order of parts, so both are compared with the old version after it was merged with
        // itself.
        let same = self.with_tests_of(path, old, old);
        let differs = |product: &str, tests: &str| {
            let mixed = self.with_tests_of(path, product, tests);
            mixed.is_none() || mixed != same
        };
        let (of_tests, of_product) = (differs(old, new), differs(new, old));
        match (of_tests, of_product) {
            (true, false) => Some(Side::Tests),
            (false, _) => Some(Side::Product),
            (true, true) => Some(Side::Both),
        }
    }

    /// Returns a file as it is in a tree with the product of one version and the tests of another; `None` if it does
    /// not exist there.
    pub fn mixed(&self, path: &str, product: Option<&str>, tests: Option<&str>) -> Option<String> {
        let versions: Vec<&str> = product.into_iter().chain(tests).collect();
        match self.side(path, &versions) {
            Side::Tests => tests.map(str::to_owned),
            Side::Product => product.map(str::to_owned),
            Side::Both => {
                let product = product?;
                let mixed = self.with_tests_of(path, product, tests.unwrap_or_default());
                mixed.or_else(|| Some(product.to_owned()))
            }
        }
    }

    /// Returns the product of one version of a file with the tests of another; `None` if they cannot be separated.
    /// An empty text has no tests.
    pub fn with_tests_of(&self, path: &str, product: &str, tests: &str) -> Option<String> {
        let Some(file) = ecosystem::shared_file(path) else {
            return inline::with_inline_tests_of(path, product, tests);
        };
        let mut keys: Vec<&str> = file.tests.split_whitespace().collect();
        if file.format == Format::Make {
            keys.extend(self.test_command.split_whitespace());
        }
        merged(file, product, tests, &keys)
    }

    fn is_of_tests(&self, path: &str) -> bool {
        let by_role = match role(path) {
            Role::Test => true,
            Role::Support => is_code_or_stored(path) || self.has_tests_beside(path),
            Role::Source => folders(path).any(|folder| matches!(folder, "test" | "tests")),
            Role::Settings | Role::Other => in_test_folder(path) && self.has_tests_beside(path),
        };
        by_role
            || ecosystem::is_of_tests(path)
            || ecosystem::is_shadow(path, self.base, self.head)
            || script::is_called(path, self.test_command)
    }

    /// `true` if the outermost folder for tests around a file contains tests. A folder `spec` may hold specifications.
    fn has_tests_beside(&self, path: &str) -> bool {
        let names: Vec<&str> = folders(path).collect();
        let is_plain = |folder: &&str| matches!(*folder, "test" | "tests" | "__tests__");
        if names.iter().any(is_plain) {
            return true;
        }
        let above = (1..=names.len()).map(|depth| names.iter().take(depth).copied().collect::<Vec<_>>().join("/"));
        let around = above.map(|folder| format!("{folder}/")).find(|folder| in_test_folder(folder));
        let Some(around) = around else { return false };
        let is_test_inside = |paths: &BTreeSet<String>| {
            let inside = paths.range(around.clone()..).take_while(|path| path.starts_with(&around));
            inside.into_iter().any(|path| role(path) == Role::Test)
        };
        is_test_inside(self.base) || is_test_inside(self.head)
    }
}

/// `true` for code, and for data that is stored for tests in any folder.
fn is_code_or_stored(path: &str) -> bool {
    let is_stored = folders(path).any(|folder| matches!(folder, "__snapshots__" | "testdata" | "__fixtures__"));
    is_stored || language::language_of(path).is_some() || crate::is_snapshot(path)
}

fn merged(file: &SharedFile, product: &str, tests: &str, keys: &[&str]) -> Option<String> {
    let is_of_tests = |path: &[String]| keys.iter().any(|key| ecosystem::is_below(key, path));
    let read = match file.format {
        Format::Json => return json::merged(product, tests, keys),
        Format::Toml => toml::sections,
        Format::Ini => ini::sections,
        Format::Make => make::sections,
        Format::Gemfile => gemfile::sections,
    };
    let merged = sections::merged(&read(product)?, &read(tests)?, &is_of_tests);
    read(&merged).is_some().then_some(merged)
}

#[cfg(test)]
mod tests;
