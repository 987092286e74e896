//! Extreme mutation: the new tests run with the body of every function that the change brings emptied, or, in a task for
//! tests, of every function that they name. If all of them still pass, they are pseudo-tested.

use crate::gates::{
    change::{Change, is_document},
    mutation::{
        code::{Code, Put, emptied},
        experiment::{Experiment, Facts, Found, Material, Mutant, Mutants, Suspicious, Witness, files_of},
    },
};
use domain::{integrity::Rule, plan::TaskType};
use integrity::{
    FileChange, Version, language,
    language::{
        Role,
        bodies::{Body, Doing, hollowed},
        role,
    },
};
use std::collections::BTreeSet;

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "empty bodies",
    applies: |facts| facts.asks_for_tests() && !facts.tests.new.is_empty(),
    needs: |facts| match facts.kind {
        TaskType::Testing => Material::Code,
        TaskType::Scaffolding | TaskType::Feature | TaskType::Refactoring | TaskType::Documentation => Material::Change,
    },
    mutants: |facts, code| match facts.kind {
        TaskType::Testing => of_named(facts, code),
        TaskType::Scaffolding | TaskType::Feature | TaskType::Refactoring | TaskType::Documentation => {
            of_brought(facts)
        }
    },
    rule: Rule::PseudoTested,
};

/// The functions that the change brings do nothing.
fn of_brought(facts: &Facts) -> Option<Mutants> {
    let change = &facts.change;
    let brought = Brought::of(change)?;
    let mut suspects: BTreeSet<String> = facts.tests.new.iter().cloned().collect();
    match facts.witness {
        Witness::Seen => {}
        // None of them is about the change, and that is said already.
        Witness::NotSeen => return None,
        // They ran on nothing older: only those that name what the change brings are sure to be about it.
        Witness::Unknown => suspects.retain(|name| brought.is_named_in(change, name)),
    }
    let others = facts
        .tests
        .changed
        .iter()
        .chain(&facts.tests.unplaced)
        .cloned()
        .collect();
    let what = match brought.names.len() {
        1 => "the function that this change brings",
        _ => "every function that this change brings",
    };
    let says = format!(
        "passes even if {what} does nothing ({}): it checks nothing of it",
        brought.first
    );
    mutants(suspects, others, brought.versions, says)
}

/// The functions that the tests name do nothing.
fn of_named(facts: &Facts, code: Vec<Code>) -> Option<Mutants> {
    let sites = facts.tests.new.iter().flat_map(|name| facts.change.after.find(name));
    let words: BTreeSet<String> = sites.flat_map(|site| site.words.iter().cloned()).collect();
    let (mut both, mut files) = ([Vec::new(), Vec::new()], Vec::new());
    for file in code {
        if let Some(texts) = emptied(&file.path, &file.text, &words) {
            for (version, text) in both.iter_mut().zip(&texts) {
                version.push(file.put(text));
            }
            files.push(file);
        }
    }
    let says = format!(
        "passes even if every function that the new tests name in {} does nothing",
        files_of(&files)
    );
    let suspects = facts.tests.new.iter().cloned().collect();
    (!files.is_empty()).then(|| mutants(suspects, Vec::new(), both.into(), says))?
}

fn mutants(
    suspects: BTreeSet<String>,
    others: Vec<String>,
    mut versions: Vec<Vec<Put>>,
    says: String,
) -> Option<Mutants> {
    versions.dedup();
    let way = versions
        .into_iter()
        .map(|files| Mutant::new(files, Suspicious::Passing));
    (!suspects.is_empty()).then(|| Mutants {
        suspects,
        others,
        found: Found::All,
        ways: vec![way.collect()],
        says,
    })
}

/// What a change brings.
struct Brought {
    /// The changed files with emptied functions, once with each of two answers.
    versions: Vec<Vec<Put>>,
    /// The names of these functions.
    names: BTreeSet<String>,
    /// The first of them and where it is, for a sentence.
    first: String,
}

impl Brought {
    /// Empties what the change brings; none where that cannot be done with all of it.
    fn of(change: &Change) -> Option<Self> {
        let sources: Vec<&FileChange> = change.of_role(Role::Source).collect();
        if change.of_role(Role::Other).any(|file| !is_read_by_no_code(&file.path)) {
            return None;
        }
        let before = sources.iter().map(|file| doing(&file.path, &file.before));
        let before: Vec<Doing> = before.collect::<Option<_>>()?;
        let after = sources.iter().map(|file| doing(&file.path, &file.after));
        let after: Vec<Doing> = after.collect::<Option<_>>()?;
        if !says_only_to_itself(change, (&before, &after)) {
            return None;
        }
        let known: BTreeSet<&[String]> = before
            .iter()
            .flat_map(|doing| &doing.bodies)
            .map(|body| body.words.as_slice())
            .collect();
        let is_new = |body: &&Body| !known.contains(body.words.as_slice());
        let brought: Vec<(&FileChange, Vec<&Body>)> = sources
            .into_iter()
            .zip(&after)
            .map(|(file, doing)| (file, doing.bodies.iter().filter(is_new).collect()))
            .filter(|(_, bodies): &(_, Vec<&Body>)| !bodies.is_empty())
            .collect();
        let (file, bodies) = brought.first()?;
        let body = bodies.first()?;
        Some(Self {
            versions: vec![version(change, &brought, 0)?, version(change, &brought, 1)?],
            first: format!("`{}`, {}:{}", body.name, file.path, body.line),
            names: brought
                .iter()
                .flat_map(|(_, bodies)| bodies.iter().map(|body| body.name.clone()))
                .filter(|name| !name.is_empty())
                .collect(),
        })
    }

    /// Whether a test's own words name a function that the change brings.
    fn is_named_in(&self, change: &Change, test: &str) -> bool {
        let sites = change.after.find(test);
        sites
            .iter()
            .any(|site| site.words.iter().any(|word| self.names.contains(word)))
    }
}

/// What a version of a file does; a file that is not there does nothing.
fn doing(path: &str, version: &Version) -> Option<Doing> {
    match version {
        Version::Absent => Some(Doing::default()),
        Version::Bytes(bytes) => language::doing(path, std::str::from_utf8(bytes).ok()?),
        Version::Unread(_) => None,
    }
}

/// Files that no code reads.
fn is_read_by_no_code(path: &str) -> bool {
    let ends = [".lock", "-lock.json", "-lock.yaml"];
    is_document(path) || ends.iter().any(|end| path.ends_with(end))
}

/// Whether what the change says outside of functions is used by nothing but its functions: it is new, it has a name, and no
/// file of tests has that name.
fn says_only_to_itself(change: &Change, (before, after): (&[Doing], &[Doing])) -> bool {
    let old: Vec<_> = before.iter().flat_map(|doing| &doing.values).collect();
    let mut new = after.iter().flat_map(|doing| &doing.values);
    new.all(|value| {
        let is_old = old.iter().any(|old| old.words == value.words);
        is_old
            || value.name.as_ref().is_some_and(|name| {
                let was_there = old.iter().any(|old| old.name.as_ref() == Some(name));
                !was_there && !is_in_tests(change, name)
            })
    })
}

fn is_in_tests(change: &Change, name: &str) -> bool {
    let is_of_tests = |file: &&FileChange| matches!(role(&file.path), Role::Test | Role::Support);
    let mut texts = change
        .files
        .iter()
        .filter(is_of_tests)
        .filter_map(|file| file.after.bytes());
    let in_files = texts.any(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == name)
    });
    in_files
        || change
            .after
            .bodies()
            .iter()
            .any(|(_, words)| words.iter().any(|word| word == name))
}

/// The changed files with functions that give one of the two answers.
fn version(change: &Change, brought: &[(&FileChange, Vec<&Body>)], which: usize) -> Option<Vec<Put>> {
    let put = |(file, bodies): &(&FileChange, Vec<&Body>)| {
        let text = std::str::from_utf8(file.after.bytes()?).ok()?;
        let emptied = hollowed(text, bodies, which)?;
        Some((file.path.clone(), emptied.into_bytes(), change.mode(&file.path)?))
    };
    brought.iter().map(put).collect()
}
