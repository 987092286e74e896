//! Tests of the base that the change rewrites, and that would still hold as they were, run in both forms with the bodies
//! of all functions that they name emptied. If only the old form fails there, the new one checks less.

use crate::gates::{
    change::Change,
    inline_tests,
    mutation::{
        code::{Code, Put, emptied, words},
        experiment::{Experiment, Facts, Found, Material, Mutant, Mutants, Suspicious},
    },
};
use domain::integrity::Rule;
use integrity::{
    FileChange, language,
    language::{Role, role},
    loses_lines,
};
use std::collections::BTreeSet;

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
    let is_shared = paths.iter().any(|path| role(path) == Role::Support);
    let concerns = |name: &&String| is_shared || change.after.find(name).iter().any(|site| paths.contains(&site.path));
    let suspects: BTreeSet<String> = facts.old.iter().filter(concerns).cloned().collect();
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
