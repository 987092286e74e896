//! Tests of the base that the change rewrites, and that would still hold as they were, run in both forms with the bodies
//! of all functions that they name emptied. If only the old form fails there, the new one checks less.

use crate::gates::{
    change::Change,
    inline_tests,
    mutation::{
        code::{Code, Put, emptied, words},
        experiment::{Experiment, Facts, Found, Material, Mutant, Mutants, Suspicious},
    },
    test_index::Site,
};
use domain::integrity::Rule;
use integrity::{
    FileChange, Version, language,
    language::{Role, role},
    loses_lines,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "weakened tests",
    applies: |facts| !rewritten(&facts.change).is_empty(),
    needs: |_| Material::Code,
    mutants,
    rule: Rule::WeakenedTest,
};

/// Files with tests or for tests that lost lines.
fn rewritten(change: &Change) -> BTreeSet<String> {
    let is_of_tests = |file: &&FileChange| {
        let of_tests = matches!(role(&file.path), Role::Test | Role::Support);
        of_tests || !change.before.names_in(&file.path).is_empty()
    };
    let is_rewritten =
        |file: &&FileChange| file.before.bytes().is_some() && loses_lines(file) && language::of(&file.path).is_some();
    let files = change.files.iter().filter(is_rewritten).filter(is_of_tests);
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
        vec![
            Mutant::new(
                put(&|forms| forms.emptied.as_ref()?.get(answer).cloned()),
                Suspicious::Passing,
            ),
            old(put(&|forms| forms.old.clone()), Suspicious::Passing),
            old(
                put(&|forms| {
                    forms
                        .old_emptied
                        .as_ref()
                        .or(forms.emptied.as_ref())?
                        .get(answer)
                        .cloned()
                }),
                Suspicious::Failing,
            ),
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

/// The tests of the base that may check less: those that say something else, and those that share what does.
fn suspects(facts: &Facts, paths: &BTreeSet<String>) -> BTreeSet<String> {
    let change = &facts.change;
    let shared = shared(change, paths);
    let is_shared = paths.iter().any(|path| role(path) == Role::Support);
    let may = |site: &&Site| shared.contains(&site.path) || paths.contains(&site.path) && is_other(change, site);
    let concerns = |name: &&String| is_shared || change.after.find(name).iter().any(may);
    facts.old.iter().filter(concerns).cloned().collect()
}

/// Whether a test says something else than before.
fn is_other(change: &Change, site: &Site) -> bool {
    !change.before.words_in(&site.path).any(|words| words == site.words)
}

/// The files of these that lost something outside of their tests, which any test in them may share.
fn shared(change: &Change, paths: &BTreeSet<String>) -> BTreeSet<String> {
    let files = change.files.iter().filter(|file| paths.contains(&file.path));
    let lost = files.filter(|file| !keeps_what_tests_share(file));
    lost.map(|file| file.path.clone()).collect()
}

fn keeps_what_tests_share(file: &FileChange) -> bool {
    let shared = |version: &Version| {
        let outline = language::read(&file.path, std::str::from_utf8(version.bytes()?).ok()?)?;
        let mut words: BTreeMap<String, usize> = BTreeMap::new();
        for word in outline.shared {
            let times = words.entry(word).or_default();
            *times = times.saturating_add(1);
        }
        Some(words)
    };
    let (Some(before), Some(after)) = (shared(&file.before), shared(&file.after)) else {
        return false;
    };
    let is_kept = |(word, times): (&String, &usize)| after.get(word).is_some_and(|now| now >= times);
    before.iter().all(is_kept)
}

/// A file of code in the forms that are run.
struct Forms {
    /// With the tests inside it as they were, where they differ.
    old: Option<Put>,
    /// The functions that the rewritten tests name do nothing: with either answer.
    emptied: Option<[Put; 2]>,
    /// The same with the tests as they were.
    old_emptied: Option<[Put; 2]>,
}

impl Forms {
    /// None where nothing in the file has to do with the tests.
    fn of(change: &Change, code: &Code, words: &BTreeSet<String>) -> Option<Self> {
        let changed = change.files.iter().find(|file| file.path == code.path);
        let before = changed.and_then(|file| std::str::from_utf8(file.before.bytes()?).ok());
        let old = before.and_then(|before| inline_tests::with_tests_of(&code.path, &code.text, before));
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

/// The files of tests as they were, and those that were not there.
fn old_tests(change: &Change) -> (Vec<Put>, Vec<String>) {
    let is_of_tests = |file: &&FileChange| {
        matches!(role(&file.path), Role::Test | Role::Support) && language::of(&file.path).is_some()
    };
    let (mut old, mut without) = (Vec::new(), Vec::new());
    for file in change.files.iter().filter(is_of_tests) {
        match (file.before.bytes(), change.old_mode(&file.path)) {
            (Some(bytes), Some(mode)) => old.push((file.path.clone(), bytes.to_vec(), mode)),
            (None, _) | (_, None) => without.push(file.path.clone()),
        }
    }
    (old, without)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_share_what_stands_outside_of_them() {
        let base = "LIMIT = 3\n\ndef test_a():\n    assert a() == LIMIT\n\ndef test_b():\n    assert b()\n";
        for (after, expected) in [
            (base.replace("assert b()", "assert b() == 2"), true),
            (base.replace("assert b()", "assert 1"), true),
            (format!("import os\n{base}"), true),
            (
                "LIMIT = 3\n\ndef test_c(tmp_path):\n    assert c() == LIMIT\n".to_owned(),
                true,
            ),
            (base.replace("LIMIT = 3", "LIMIT = 4"), false),
            (base.replace("LIMIT = 3", ""), false),
        ] {
            let file = FileChange {
                path: "tests/test_a.py".to_owned(),
                before: Version::Bytes(base.as_bytes().to_vec()),
                after: Version::Bytes(after.clone().into_bytes()),
            };
            assert_eq!(keeps_what_tests_share(&file), expected, "{after}");
        }
    }
}
