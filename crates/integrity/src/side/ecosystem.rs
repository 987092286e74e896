//! Matches paths and keys with the tables of all ecosystems.

use crate::{language, make};
use serde::Deserialize;
use std::{collections::BTreeSet, sync::LazyLock};

/// The paths of tests in one ecosystem, besides those that [`language::role`] knows. Lists have blanks between their
/// items.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ecosystem {
    /// Paths of the tests' side. A pattern with `/` at its end is a folder, one with `/` at its start is at the root;
    /// `*` stands for any part of a name.
    paths: String,
    /// Lists of packages for tests.
    #[serde(default)]
    packages: String,
    /// Modules of test tools, which a file of the root, of `src` or `lib` would shadow.
    #[serde(default)]
    modules: String,
    /// Files with keys of both sides.
    #[serde(default)]
    shared: Vec<SharedFile>,
}

/// A file whose keys belong to both sides.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SharedFile {
    paths: String,
    pub(super) format: Format,
    /// Keys of the tests' side, with dots between their parts; `*` stands for any part of a name.
    pub(super) tests: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    Toml,
    Json,
    Ini,
    Make,
    Gemfile,
}

const TABLES: [&str; 8] = [
    include_str!("ecosystems/rust.toml"),
    include_str!("ecosystems/python.toml"),
    include_str!("ecosystems/javascript.toml"),
    include_str!("ecosystems/go.toml"),
    include_str!("ecosystems/php.toml"),
    include_str!("ecosystems/ruby.toml"),
    include_str!("ecosystems/jvm.toml"),
    include_str!("ecosystems/other.toml"),
];

static ALL: LazyLock<Vec<Ecosystem>> =
    LazyLock::new(|| TABLES.iter().filter_map(|table| toml::from_str(table).ok()).collect());

pub(super) fn is_of_tests(path: &str) -> bool {
    patterns().any(|pattern| is_match(pattern, path))
}

/// `true` for data and packages that only tests need and that do not configure a runner.
pub(crate) fn is_data_of_tests(path: &str) -> bool {
    let folders = patterns().filter(|pattern| pattern.ends_with('/'));
    folders.chain(packages()).any(|pattern| is_match(pattern, path))
}

fn patterns() -> impl Iterator<Item = &'static str> {
    let paths = ALL.iter().flat_map(|ecosystem| ecosystem.paths.split_whitespace());
    paths.chain(packages())
}

fn packages() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|ecosystem| ecosystem.packages.split_whitespace())
}

pub(super) fn shared_file(path: &str) -> Option<&'static SharedFile> {
    let mut files = ALL.iter().flat_map(|ecosystem| &ecosystem.shared);
    files.find(|file| file.paths.split_whitespace().any(|pattern| is_match(pattern, path)))
}

/// `true` if a file is new and would be found in place of a test tool or of an installed package.
pub(crate) fn is_shadow(path: &str, base: &BTreeSet<String>, head: &BTreeSet<String>) -> bool {
    let mut installed = language::ALL.iter().filter_map(|language| language.words.installed.as_ref());
    if installed.any(|installed| installed.is_replaced_by(path, base, head)) || make::is_shadow(path, base) {
        return true;
    }
    let parts: Vec<&str> = path.split('/').collect();
    let (around, rest) = match parts.as_slice() {
        [folder @ ("src" | "lib"), rest @ ..] => (format!("{folder}/"), rest),
        rest => (String::new(), rest),
    };
    let Some(first) = rest.first() else { return false };
    let module = first.split('.').next().unwrap_or(first);
    let is_module = |ecosystem: &Ecosystem| ecosystem.modules.split_whitespace().any(|name| name == module);
    let start = format!("{around}{module}");
    let stands = |path: &String| {
        let rest = path.strip_prefix(start.as_str());
        rest.is_some_and(|rest| rest.starts_with(['.', '/']))
    };
    let is_own = || base.range(start.clone()..).take_while(|path| path.starts_with(&start)).any(stands);
    ALL.iter().any(is_module) && !is_own()
}

/// `true` if a dotted pattern names a key or one of its parents.
pub(super) fn is_below(pattern: &str, key: &[String]) -> bool {
    let parts: Vec<&str> = pattern.split('.').collect();
    parts.len() <= key.len() && parts.iter().zip(key).all(|(pattern, part)| is_alike(pattern, part))
}

/// `true` if a dotted pattern may name keys below this one.
pub(super) fn is_above(pattern: &str, key: &[String]) -> bool {
    let parts: Vec<&str> = pattern.split('.').collect();
    key.len() < parts.len() && parts.iter().zip(key).all(|(pattern, part)| is_alike(pattern, part))
}

fn is_match(pattern: &str, path: &str) -> bool {
    let mut path: Vec<&str> = path.split('/').collect();
    let is_rooted = pattern.starts_with('/');
    let is_folder = pattern.ends_with('/');
    let wanted: Vec<&str> = pattern.trim_matches('/').split('/').collect();
    if is_folder {
        path.pop();
    }
    let fits = |parts: &[&str]| wanted.iter().zip(parts).all(|(pattern, part)| is_alike(pattern, part));
    let mut places = path.windows(wanted.len());
    match (is_rooted, is_folder) {
        (true, true) => places.next().is_some_and(fits),
        (true, false) => path.len() == wanted.len() && fits(&path),
        (false, true) => places.any(fits),
        (false, false) => places.next_back().is_some_and(fits),
    }
}

/// `true` if a name fits a pattern, in which `*` stands for any text.
fn is_alike(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(start) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = name.split_once(part) else {
            return false;
        };
        name = after;
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::{Ecosystem, TABLES};

    #[test]
    fn every_table_is_read() {
        for table in TABLES {
            let read: Result<Ecosystem, _> = toml::from_str(table);
            assert!(read.is_ok_and(|read| !read.paths.is_empty()), "{table}");
        }
    }
}
