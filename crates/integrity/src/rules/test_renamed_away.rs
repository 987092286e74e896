//! A test has a name or place with which its runner does not find it.

use super::unknown_language;
use crate::{
    changed_file::{ChangedFile, LocatedTest, Reading},
    language,
    language::{Role, role},
    rules::rule::{ANYWHERE, ReadingRule, Violation, at, in_file},
    words::likeness,
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::TestRenamedAway,
    applies: ANYWHERE,
    refuses: &[(
        "tests/test_sum.py",
        "def test_adds():\n    assert add(1, 2) == 3\n",
        "def check_adds():\n    assert add(1, 2) == 3\n",
    )],
    accepts: &[(
        "tests/test_sum.py",
        "def test_adds():\n    assert add(1, 2) == 3\n",
        "def test_sum():\n    assert add(1, 2) == 3\n",
    )],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let settings_changed = reading.files.iter().any(|file| file.role == Role::Settings);
    let both = reading.pairs.both.iter();
    let unmarked = both.filter(|(one, other)| is_marked(one.path) && !is_marked(other.path) && !settings_changed);
    let violation = |(_, other): &(_, LocatedTest<'_>)| at(other.path, other.test.line, Detail::Test(other.title()));
    let mut found: Vec<Violation> = unmarked.map(violation).collect();
    found.extend(reading.gone().filter_map(|one| {
        let (path, line) = hidden(reading, one)?;
        Some(at(path, line, Detail::Test(one.title())))
    }));
    found.extend(reading.files.iter().flat_map(|file| orphans(reading, file)));
    let not_source = reading.files.iter().filter(|file| file.role != Role::Source);
    found.extend(not_source.flat_map(hidden_by_name));
    found.extend(unknown_language::renamed(reading));
    found
}

/// `true` if the file's name marks it as a test file for every runner of its language.
fn is_marked(path: &str) -> bool {
    [".test.", ".spec."].iter().any(|mark| path.contains(mark))
}

/// Returns the place where a removed test still exists in a form, or in a file, that the runner does not find.
pub(super) fn hidden<'a>(reading: &Reading<'a>, one: LocatedTest<'a>) -> Option<(&'a str, u32)> {
    let plain = |name: &str| name.to_lowercase().replace("test", "").replace(['_', '-', ' '], "");
    let own = plain(&one.test.name);
    let alike = |words: &[String], name: &str| {
        let is_named = plain(name) == own && !own.is_empty();
        likeness(words, &one.test.words) > if is_named { 0.3 } else { 0.85 }
    };
    let mut moved = reading.uncollected.iter();
    let moved = moved.find(|other| alike(&other.test.words, &other.test.name));
    let mut helpers = reading.helpers();
    moved.map(|other| (other.path, other.test.line)).or_else(|| {
        let (path, helper) = helpers.find(|(_, helper)| alike(&helper.words, &helper.name))?;
        Some((path, helper.line))
    })
}

/// Finds tests that a later one of the same name hides.
fn hidden_by_name(file: &ChangedFile<'_>) -> Vec<Violation> {
    let is_old = |name: &String| file.before.hidden.iter().any(|(old, _)| old == name);
    let new = file.after.hidden.iter().filter(|(name, _)| !is_old(name));
    new.map(|(name, line)| at(file.path, *line, Detail::Test(name.clone())))
        .collect()
}

/// Finds test files that still exist but are no longer included in the program, because their `mod` is gone.
fn orphans(reading: &Reading<'_>, file: &ChangedFile<'_>) -> Vec<Violation> {
    let is_still = |name: &String| reading.files.iter().any(|file| file.after.includes.contains(name));
    let lost = file.before.includes.iter().filter(|name| !is_still(name));
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let stem = language::file_name(file.path).split('.').next().unwrap_or_default();
    let places = |name: &String| {
        let bases = [folder.to_owned(), format!("{folder}/{stem}")];
        let paths = bases.map(|base| format!("{base}/{name}").trim_start_matches('/').to_owned());
        paths
            .into_iter()
            .flat_map(|path| [format!("{path}.rs"), format!("{path}/mod.rs")])
    };
    let found = lost.filter_map(|name| places(name).find(|path| reading.change.head.contains(path)));
    let tests = found.filter(|path| role(path) == Role::Test);
    tests.map(|path| in_file(file.path, Detail::Path(path))).collect()
}
