//! Takes the base's tests that the change rewrites and that passed before. Runs both forms with the bodies of all
//! functions that they name emptied. If only the old form fails, the new form checks less.

use crate::gates::{
    around_tests::with_users,
    change::{Change, is_of_tests, text},
    mutation::{
        code::{Code, Put, emptied, words},
        experiment::{Experiment, Facts, Found, Material, Mutant, Mutants, Suspicious},
    },
    test_index::TestSite,
};
use domain::integrity::Rule;
use integrity::{
    FileChange, Version, language,
    language::{
        Role,
        outline::{Function, Of, Outline, Test},
        role,
    },
    loses_lines, side,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "weakened tests",
    applies: |facts| !rewritten(&facts.change).is_empty(),
    needs: |_| Material::Code,
    mutants,
    rule: Rule::WeakenedTest,
};

/// Returns the changed files of tests and test support that lost lines.
fn rewritten(change: &Change) -> BTreeSet<String> {
    let of_tests = |file: &&FileChange| is_of_tests(&file.path) || change.before.has_tests(&file.path);
    let is_rewritten =
        |file: &&FileChange| file.before.bytes().is_some() && loses_lines(file) && language::of(&file.path).is_some();
    let files = change.files.iter().filter(is_rewritten).filter(of_tests);
    files.map(|file| file.path.clone()).collect()
}

fn mutants(facts: &Facts, code: Vec<Code>) -> Option<Mutants> {
    let change = &facts.change;
    let paths = rewritten(change);
    let suspects = suspects(facts, &paths);
    let words = words(change, &paths);
    let forms: Vec<Forms> = code.iter().filter_map(|code| Forms::of(change, code, &words)).collect();
    if suspects.is_empty() || forms.iter().all(|forms| forms.emptied.is_none()) {
        return None;
    }
    let (tests, without) = old_tests(change);
    let old = |files: Vec<Put>, suspicious| Mutant {
        files: tests.iter().cloned().chain(files).collect(),
        without: without.clone(),
        suspicious,
    };
    let put = |which: &dyn Fn(&Forms) -> Option<Put>| forms.iter().filter_map(which).collect::<Vec<Put>>();
    let way = |answer: usize| {
        let emptied = put(&|forms| forms.emptied.as_ref()?.get(answer).cloned());
        let old_emptied = put(&|forms| {
            let emptied = forms.old_emptied.as_ref().or(forms.emptied.as_ref());
            emptied?.get(answer).cloned()
        });
        vec![
            Mutant::new(emptied, Suspicious::Passing),
            old(put(&|forms| forms.old.clone()), Suspicious::Passing),
            old(old_emptied, Suspicious::Failing),
        ]
    };
    let differ = |forms: &Forms| forms.emptied.as_ref().is_some_and(|[one, other]| one != other);
    let ways = if forms.iter().any(differ) { 2 } else { 1 };
    Some(Mutants {
        suspects,
        others: Vec::new(),
        found: Found::Each,
        ways: (0..ways).map(way).collect(),
        says: "passes in its new form if what it names does nothing, and failed there in its old form: it checks less"
            .to_owned(),
    })
}

/// Returns the old tests that may check less: those that changed, and those that share changed code.
fn suspects(facts: &Facts, paths: &BTreeSet<String>) -> BTreeSet<String> {
    let change = &facts.change;
    let files = change.files.iter().filter(|file| paths.contains(&file.path));
    let shared: BTreeMap<&str, Shared> = files.map(|file| (file.path.as_str(), Shared::of(file))).collect();
    let is_shared = paths.iter().any(|path| role(path) == Role::Support);
    let may = |site: &&TestSite| {
        let shared = shared.get(site.path.as_str());
        shared.is_some_and(|shared| shared.concerns(site))
    };
    let concerns = |name: &&String| is_shared || change.after.find(name).iter().any(may);
    facts.old.iter().filter(concerns).cloned().collect()
}

/// The changed code that a file's tests share.
#[derive(Debug, PartialEq, Eq)]
enum Shared {
    /// Code that any test may use.
    ByAll,
    /// Functions, by name; and the first lines of the tests that changed themselves.
    Functions(BTreeSet<String>, BTreeSet<u32>),
}

impl Shared {
    fn of(file: &FileChange) -> Self {
        let read = |version: &Version| language::read(&file.path, text(version)?);
        let (Some(before), Some(after)) = (read(&file.before), read(&file.after)) else {
            return Self::ByAll;
        };
        if !keeps_all(before.shared.iter(), after.shared.iter()) {
            return Self::ByAll;
        }
        let functions = before.functions.iter();
        let code: Vec<_> = functions.map(|one| (&one.name, one.words.iter().collect())).collect();
        let stays = |old: &&Function| {
            let mut now = after.functions.iter();
            now.any(|new| (&new.name, &new.words) == (&old.name, &old.words))
        };
        let of_tests = before.functions.iter().filter(|function| function.of == Of::Tests);
        let others = of_tests.filter(|old| !stays(old)).map(|old| old.name.clone());
        let others = with_users(others.collect(), &code);
        // The runner calls a function that no test names, such as a fixture, before each test.
        let is_named = |name: &String| before.tests.iter().any(|test| test.words.contains(name));
        if others.iter().any(|name| !is_named(name) && !is_called(&before, name)) {
            return Self::ByAll;
        }
        let is_other = |new: &&Test| !before.tests.iter().any(|old| old.whole == new.whole);
        let tests = after.tests.iter().filter(is_other).map(|test| test.line).collect();
        Self::Functions(others, tests)
    }

    /// `true` if a test may check less because of the changed code.
    fn concerns(&self, site: &TestSite) -> bool {
        match self {
            Self::ByAll => true,
            Self::Functions(names, tests) => {
                tests.contains(&site.line) || site.words.iter().any(|word| names.contains(word))
            }
        }
    }
}

/// `true` if another function names it.
fn is_called(outline: &Outline, name: &String) -> bool {
    let mut others = outline.functions.iter().filter(|function| function.name != *name);
    others.any(|function| function.words.contains(name))
}

/// The forms of a source file that are run.
struct Forms {
    /// The file with its old inline tests, if they differ.
    old: Option<Put>,
    /// The file with the functions that the rewritten tests name emptied, once for each of two return values.
    emptied: Option<[Put; 2]>,
    /// The same with the old inline tests.
    old_emptied: Option<[Put; 2]>,
}

impl Forms {
    /// Creates the forms; `None` if nothing in the file concerns the tests.
    fn of(change: &Change, code: &Code, words: &BTreeSet<String>) -> Option<Self> {
        let before = change.file(&code.path).and_then(|file| text(&file.before));
        let old = before.and_then(|before| side::with_inline_tests_of(&code.path, &code.text, before));
        let old = old.filter(|old| *old != code.text);
        let both = |text: &str| emptied(&code.path, text, words).map(|both| both.map(|text| code.put(&text)));
        let forms = Self {
            emptied: both(&code.text),
            old_emptied: old.as_deref().and_then(both),
            old: old.as_deref().map(|old| code.put(old)),
        };
        (forms.old.is_some() || forms.emptied.is_some()).then_some(forms)
    }
}

/// Returns the old versions of the changed test files, and the paths of test files that did not exist.
fn old_tests(change: &Change) -> (Vec<Put>, Vec<String>) {
    let of_tests = |file: &&FileChange| is_of_tests(&file.path) && language::of(&file.path).is_some();
    let (mut old, mut without) = (Vec::new(), Vec::new());
    for file in change.files.iter().filter(of_tests) {
        match (file.before.bytes(), change.old_mode(&file.path)) {
            (Some(bytes), Some(mode)) => old.push((file.path.clone(), bytes.to_vec(), mode)),
            (None, _) | (_, None) => without.push(file.path.clone()),
        }
    }
    (old, without)
}

/// `true` if each item is still there, as often as before.
fn keeps_all<T: Ord>(before: impl Iterator<Item = T>, after: impl Iterator<Item = T>) -> bool {
    let after = counted(after);
    let is_kept = |(item, times): (&T, &usize)| after.get(item).is_some_and(|now| now >= times);
    counted(before).iter().all(is_kept)
}

fn counted<T: Ord>(items: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counted = BTreeMap::new();
    for item in items {
        let times: &mut usize = counted.entry(item).or_default();
        *times = times.saturating_add(1);
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_share_what_stands_outside_of_them() {
        let base = "LIMIT = 3\n\ndef check(x):\n    assert x\n\ndef twice(x):\n    check(x)\n\ndef setup():\n    go()\n\n\
                    def test_a():\n    check(a() == LIMIT)\n    twice(a())\n\ndef test_b():\n    assert b()\n";
        let functions = |names: &[&str], tests: &[u32]| {
            let names = names.iter().map(|name| (*name).to_owned());
            Shared::Functions(names.collect(), tests.iter().copied().collect())
        };
        for (after, expected) in [
            (base.replace("assert b()", "assert b() == 2"), functions(&[], &[16])),
            (base.replace("assert b()", "assert 1"), functions(&[], &[16])),
            (base.replace("def test_b()", "def test_b(b=str)"), functions(&[], &[16])),
            (base.replace("def test_b():\n    assert b()\n", ""), functions(&[], &[])),
            (format!("import os\n{base}"), functions(&[], &[])),
            (
                base.replace("def check(x):\n    assert x", "def check(x):\n    pass"),
                functions(&["check", "twice"], &[]),
            ),
            (base.replace("go()", "pass"), Shared::ByAll),
            (base.replace("LIMIT = 3", "LIMIT = 4"), Shared::ByAll),
            (base.replace("LIMIT = 3", ""), Shared::ByAll),
        ] {
            let file = FileChange {
                path: "tests/test_a.py".to_owned(),
                before: Version::Bytes(base.as_bytes().to_vec()),
                after: Version::Bytes(after.clone().into_bytes()),
            };
            assert_eq!(Shared::of(&file), expected, "{after}");
        }
    }
}
