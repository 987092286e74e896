//! Finds the tests of some files by the names that runners give them.

use crate::{results::is_documented, test_line::own_name};
use integrity::{
    FileContent, language,
    language::outline::{Condition, Maker},
};
use std::collections::BTreeMap;

/// The tests of some files.
#[derive(Debug, Default)]
pub struct TestIndex {
    /// The tests by their own names.
    tests: BTreeMap<String, Vec<TestSite>>,
    /// The macro calls that may make tests.
    makers: Vec<TestSite>,
    /// The files that could be parsed, each with the lines where its tests and other functions begin.
    read: BTreeMap<String, BTreeMap<u32, LineStart>>,
}

/// The kind of code that begins at a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineStart {
    Test,
    Function,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestSite {
    pub path: String,
    /// The names of the enclosing classes, modules or suites, outermost first.
    pub scope: Vec<String>,
    /// The line where it begins.
    pub line: u32,
    /// The words of its body.
    pub words: Vec<String>,
    pub origin: Origin,
    /// The conditions that may keep it from running, the nearest first.
    pub conditions: Vec<Condition>,
}

/// The origin of a test's function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A person or an agent.
    Written,
    /// A macro. The site is the call, and its words are those of all tests that it makes.
    Made,
}

impl TestIndex {
    /// Reads the files that exist and whose language is known.
    pub fn of<'a>(files: impl Iterator<Item = (&'a str, &'a FileContent)>) -> Self {
        let mut sites = Self::default();
        for (path, version) in files {
            let text = version.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok());
            let Some(outline) = text.and_then(|text| language::read(path, text)) else {
                continue;
            };
            let functions = outline.functions.iter();
            let functions = functions.map(|function| (function.line, LineStart::Function));
            let tests = outline.tests.iter().map(|test| (test.line, LineStart::Test));
            sites.read.insert(path.to_owned(), functions.chain(tests).collect());
            // Runners give tests without a title only a number, so they cannot be found by name.
            for test in outline.tests.into_iter().filter(|test| !test.name.is_empty()) {
                let site = TestSite {
                    path: path.to_owned(),
                    scope: test.scope,
                    line: test.line,
                    words: test.words,
                    origin: Origin::Written,
                    conditions: test.conditions,
                };
                sites.tests.entry(test.name).or_default().push(site);
            }
            let made = outline.makers.into_iter().map(|maker| TestSite::from_maker(path, maker));
            sites.makers.extend(made);
        }
        sites
    }

    /// Returns the first line of the test to which this line belongs.
    pub fn test_around(&self, path: &str, line: u32) -> Option<u32> {
        match self.read.get(path)?.range(..=line).next_back()? {
            (begin, LineStart::Test) => Some(*begin),
            (_, LineStart::Function) => None,
        }
    }

    /// Returns the lines of a test in its file's text.
    pub fn lines<'a>(&self, site: &TestSite, text: &'a str) -> Vec<&'a str> {
        let begins = self.read.get(&site.path);
        let next = begins.and_then(|begins| begins.range(site.line.saturating_add(1)..).next());
        let next = next.map_or(u32::MAX, |(line, _)| *line);
        lines(text, |number| (site.line..next).contains(&number))
    }

    /// `true` if this file could be parsed, so that its tests are known.
    pub fn has_read(&self, path: &str) -> bool {
        self.read.contains_key(path)
    }

    /// Returns the file and line of the first test that a runner may call `name`.
    pub fn place(&self, name: &str) -> Option<(String, u32)> {
        let found = self.find(name);
        found.first().map(|site| (site.path.clone(), site.line))
    }

    /// Returns the tests that a runner may call `name`; empty for a documentation test.
    pub fn find(&self, name: &str) -> Vec<&TestSite> {
        if is_documented(name) {
            return Vec::new();
        }
        // Text that looks like a runner's addition may belong to the title: "stops at the limit (1/2)".
        let spellings = [bare(name), own_name(name), name];
        let named = spellings.into_iter().filter_map(|spelling| {
            let mut ends = ends(spelling).filter_map(|end| self.tests.get_key_value(end));
            ends.find(|(own, sites)| {
                ends_with(spelling, own) || sites.iter().any(|site| site.is_spelled(own, spelling))
            })
        });
        let longest = named.max_by_key(|(own, _)| own.len());
        let found: Vec<&TestSite> = longest.into_iter().flat_map(|(_, sites)| sites).collect();
        let found = self.in_named_file(name, found);
        let in_scope = |site: &&&TestSite| site.scope.iter().all(|part| name.contains(part.as_str()));
        let scoped: Vec<&TestSite> = found.iter().filter(in_scope).copied().collect();
        if !scoped.is_empty() {
            return scoped;
        }
        let made: Vec<&TestSite> = self.makers.iter().filter(|maker| maker.makes(name)).collect();
        if made.is_empty() { found.into_iter().filter(|site| !site.is_elsewhere(name)).collect() } else { made }
    }

    /// Keeps the tests of the file whose path is the first part of a name. If that file was read and has none of them,
    /// it inherits the test from another.
    fn in_named_file<'a>(&'a self, name: &str, found: Vec<&'a TestSite>) -> Vec<&'a TestSite> {
        let file = name.split("::").next().and_then(|part| part.split(" › ").next());
        let Some(file) = file.filter(|file| language::language_of(file).is_some()) else {
            return found;
        };
        let is_file =
            |path: &str| path.strip_suffix(file).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'));
        let (here, elsewhere): (Vec<_>, Vec<_>) = found.into_iter().partition(|site| is_file(&site.path));
        if here.is_empty() && self.read.keys().any(|path| is_file(path)) { elsewhere } else { here }
    }

    /// Returns the tests that a runner may call `name` and that are written as functions.
    pub fn find_written(&self, name: &str) -> Vec<&TestSite> {
        let found = self.find(name).into_iter();
        found.filter(|site| site.origin == Origin::Written).collect()
    }

    /// `true` if a file has tests.
    pub fn has_tests(&self, path: &str) -> bool {
        self.words_in(path).next().is_some()
    }

    /// Returns every test with its own name.
    pub fn tests(&self) -> impl Iterator<Item = (&str, &TestSite)> {
        let all = self.tests.iter();
        all.flat_map(|(name, sites)| sites.iter().map(|site| (name.as_str(), site)))
    }

    /// Returns the words of every test's body in a file.
    pub fn words_in<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a [String]> {
        let here = self.tests().filter(move |(_, site)| site.path == path);
        here.map(|(_, site)| site.words.as_slice())
    }
}

impl TestSite {
    fn from_maker(path: &str, maker: Maker) -> Self {
        Self {
            path: path.to_owned(),
            scope: maker.scope,
            line: maker.line,
            words: maker.words,
            origin: Origin::Made,
            conditions: Vec::new(),
        }
    }

    /// `true` if a macro call in this module may make a test of this name. A runner may put a program's name before it.
    fn makes(&self, name: &str) -> bool {
        let name = own_name(name).rsplit(' ').next().unwrap_or_default();
        let mut parts = name.split("::");
        let modules = modules(&self.path).into_iter();
        let mut own = modules.chain(self.scope.iter().map(String::as_str));
        !self.scope.is_empty() && own.all(|module| parts.next() == Some(module)) && parts.next().is_some()
    }

    /// `true` if the name consists of the titles of all suites and of the test, with or without the file before them.
    fn is_spelled(&self, own: &str, name: &str) -> bool {
        let name = match name.split_once(" › ") {
            Some((file, titles)) if self.path.ends_with(file) => titles,
            _ => name,
        };
        let rest = self.scope.iter().try_fold(name, |rest, part| rest.strip_prefix(part.as_str())?.strip_prefix(' '));
        !self.scope.is_empty() && rest == Some(own)
    }

    /// `true` if the name lacks a multi-word title of a suite around this test, and therefore means another test.
    fn is_elsewhere(&self, name: &str) -> bool {
        let is_title = |part: &&String| part.contains(' ') && !part.contains(['$', '%', '+', '(']);
        let mut titles = self.scope.iter().filter(is_title);
        titles.any(|title| !name.contains(title.as_str()))
    }
}

/// Returns the modules, from the crate's root, of a Rust source file.
fn modules(path: &str) -> Vec<&str> {
    let file = path.strip_suffix(".rs").unwrap_or(path);
    let inside = file.rsplit_once("/src/").map_or(file, |(_, inside)| inside);
    let mut parts: Vec<&str> = inside.strip_prefix("src/").unwrap_or(inside).split('/').collect();
    match (parts.first(), parts.len()) {
        (Some(&"bin"), 2) => parts.clear(),
        (Some(&"bin"), 3..) => drop(parts.drain(..2)),
        _ => {}
    }
    if let Some(&("lib" | "main" | "mod")) = parts.last() {
        parts.pop();
    }
    parts
}

/// Returns the lines with these numbers, counted from 1, without the empty ones.
fn lines(text: &str, is_wanted: impl Fn(u32) -> bool) -> Vec<&str> {
    let wanted = (1..).zip(text.lines()).filter(|(number, _)| is_wanted(*number));
    let lines = wanted.map(|(_, line)| line.trim());
    lines.filter(|line| !line.is_empty()).collect()
}

/// Returns the ends of a runner's name that may be a test's own name, the longest first. Each end is looked up; with
/// hundreds of thousands of names, searching all tests for each would be too slow.
fn ends(name: &str) -> impl Iterator<Item = &str> {
    let separators = name.match_indices(|c: char| c.is_whitespace() || SEPARATORS.contains(&c));
    let behind = separators.filter_map(|(at, separator)| name.get(at.saturating_add(separator.len())..));
    std::iter::once(name).chain(behind)
}

/// The characters that separate the parts of runners' names.
const SEPARATORS: [char; 5] = [':', '.', '>', '›', '/'];

/// `true` if the last part or parts of a runner's name are `own`. A title of several words never matches the end of a
/// longer title. If a runner puts a program's name before it, `own` must be an identifier.
pub fn ends_with(name: &str, own: &str) -> bool {
    let is_identifier = || own.chars().all(|c| c.is_alphanumeric() || c == '_');
    match name.strip_suffix(own) {
        _ if own.is_empty() => false,
        Some("") => true,
        Some(before) => before.trim_end().ends_with(SEPARATORS) || before.ends_with(' ') && is_identifier(),
        None => false,
    }
}

/// Returns the name without additions that vary by runner: parameters, and the number of a further test of the same
/// name.
pub fn bare(name: &str) -> &str {
    let name = own_name(name);
    // PHPUnit's form for a row of a data provider.
    let name = name.split_once(" with data set ").map_or(name, |(before, _)| before);
    let name = match name.rsplit_once(" (") {
        Some((before, inside)) if inside.ends_with(')') => before,
        _ => name,
    };
    match name.split_once('[') {
        Some((before, inside)) if inside.ends_with(']') && before.contains("::") => before,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::{TestIndex, bare, modules};
    use integrity::FileContent;

    fn index(files: &[(&str, &str)]) -> TestIndex {
        let versions: Vec<(&str, FileContent)> =
            files.iter().map(|(path, text)| (*path, FileContent::Bytes(text.as_bytes().to_vec()))).collect();
        TestIndex::of(versions.iter().map(|(path, version)| (*path, version)))
    }

    #[test]
    fn a_row_of_a_data_provider_has_the_name_of_its_test() {
        let table = [
            ("tests/test_a.py::test_b[1-2]", "tests/test_a.py::test_b"),
            ("SubTest::testSub with data set \"small\"", "SubTest::testSub"),
            ("SubTest::testSub with data set #0", "SubTest::testSub"),
            ("adds() (2)", "adds()"),
        ];
        for (name, expected) in table {
            assert_eq!(bare(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_that_begins_with_a_path_means_a_test_of_that_file_or_one_that_it_inherits() {
        let base = "class BaseTest(TestCase):\n    def test_one(self): pass\n    def test_two(self): pass\n";
        let own = "class OwnTest(BaseTest):\n    def test_two(self): pass\n";
        let all = index(&[("back/tests/test_base.py", base), ("back/tests/test_own.py", own)]);
        let table = [
            ("tests/test_base.py::BaseTest::test_one", &["back/tests/test_base.py"][..]),
            ("tests/test_own.py::OwnTest::test_two", &["back/tests/test_own.py"]),
            ("tests/test_own.py::OwnTest::test_one", &["back/tests/test_base.py"]),
            ("tests/test_unread.py::OwnTest::test_two", &[]),
            ("test_own.OwnTest.test_one", &["back/tests/test_base.py"]),
        ];
        for (name, expected) in table {
            let found: Vec<&str> = all.find(name).into_iter().map(|site| site.path.as_str()).collect();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn tests_of_a_macro_are_found_by_the_module_that_calls_it() {
        let inside = "#[cfg(test)]\nmod tests {\n    macro_rules! cases { ($($name:ident: $n:expr,)*) => { $(#[test] fn $name() { \
                      assert_eq!($n, $n); })* } }\n    cases! { one: 1, two: 2, }\n}\n";
        let all = index(&[
            ("src/a/mod.rs", inside),
            ("crates/b/src/lib.rs", inside),
            ("src/c.rs", "fn f() {}\nlazy! { static ref A: u8 = 1; }\n"),
        ]);
        let table = [
            ("a::tests::one", &["src/a/mod.rs"][..]),
            ("app a::tests::one ⟨2⟩", &["src/a/mod.rs"]),
            ("a::tests::more::one", &["src/a/mod.rs"]),
            ("tests::one", &["crates/b/src/lib.rs"]),
            ("a::tests", &[]),
            ("x::a::tests::one", &[]),
            ("c::one", &[]),
            ("one", &[]),
        ];
        for (name, expected) in table {
            let found = all.find(name);
            let paths: Vec<&str> = found.iter().map(|site| site.path.as_str()).collect();
            assert_eq!(paths, expected, "{name}");
            assert!(all.find_written(name).is_empty(), "{name}");
        }
        let bins = ["src/bin/x.rs", "src/bin/x/main.rs", "src/bin/x/a.rs", "src/main.rs", "src/a/b.rs"].map(modules);
        assert_eq!(bins, [vec![], vec![], vec!["a"], vec![], vec!["a", "b"]]);
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn tests_are_found_however_runners_spell_them() {
        let all = index(&[
            ("src/a.rs", "mod tests {\n    #[test]\n    fn adds() { assert_eq!(1, 1 + 0); }\n}\n"),
            (
                "tests/test_b.py",
                "import unittest\n\n\nclass B(unittest.TestCase):\n    def test_b(self):\n        self.assertTrue(f())\n",
            ),
            (
                "tests/test_mixed.py",
                "class ReadsMixin:\n    def test_reads(self):\n        self.assertTrue(f())\n\n\nclass Helper:\n    \
                 def test_nothing(self):\n        pass\n\n\nclass User(Helper):\n    pass\n\n\nclass FilesTest(TestCase, ReadsMixin):\n    pass\n",
            ),
            (
                "c.test.js",
                "describe('sum', () => { it('adds two numbers', () => { expect(add(1, 1)).toBe(2); });\n it('adds (1/2)', () => { \
                 expect(add(1)).toBe(1); }); });\n",
            ),
            (
                "d.test.js",
                "describe('with a limit', () => { it('stays', () => { expect(f()).toBe(2); }); });\n\
                 describe(KIND, () => { it('stays', () => { expect(f()).toBe(2); }); });\n\
                 describe('with a limit', () => { it('goes', () => { expect(g()).toBe(2); }); });\n",
            ),
        ]);
        let table = [
            ("tests::adds", Some("src/a.rs")),
            ("demo a::tests::adds (2)", Some("src/a.rs")),
            ("test_b.B.test_b", Some("tests/test_b.py")),
            ("tests/test_b.py::B::test_b[1-x]", Some("tests/test_b.py")),
            ("tests/test_mixed.py::FilesTest::test_reads", Some("tests/test_mixed.py")),
            ("tests/test_mixed.py::Helper::test_nothing", None),
            ("sum > adds two numbers", Some("c.test.js")),
            ("c.test.js > sum > adds two numbers", Some("c.test.js")),
            ("tests::subtracts", None),
            ("xadds", None),
            ("sums of adds two numbers", None),
            ("demo adds", Some("src/a.rs")),
            ("sum adds two numbers", Some("c.test.js")),
            ("c.test.js › sum adds two numbers", Some("c.test.js")),
            ("c.test.js › sum adds two numbers ⟨2⟩", Some("c.test.js")),
            ("sum adds (1/2)", Some("c.test.js")),
            ("d.test.js › sum adds two numbers", None),
            ("sum up adds two numbers", None),
            ("with a limit > stays", Some("d.test.js")),
            ("Grown > stays", Some("d.test.js")),
            // A test in another file, with the same title in another group.
            ("without one > goes", None),
            // A documentation test of an item that has the same name as a test.
            ("src/a.rs - a::adds", None),
        ];
        for (name, expected) in table {
            let found = all.find(name);
            assert_eq!(found.first().map(|site| site.path.as_str()), expected, "{name}");
        }
        assert!(all.has_read("src/a.rs") && !all.has_read("README.md"));
    }
}
