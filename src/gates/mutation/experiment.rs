//! What an experiment is, what it knows, and what it asks to be run.

use crate::gates::{
    change::Change,
    mutation::code::{Code, Put},
    new_tests::NewTests,
    said::list,
};
use domain::{integrity::Rule, plan::TaskType};
use std::{collections::BTreeSet, sync::Arc};

/// One way to try tests.
pub(crate) struct Experiment {
    /// How reviews call it.
    pub(crate) name: &'static str,
    /// Whether there may be something to try, as far as can be told without reading more than the change.
    pub(crate) applies: fn(&Facts) -> bool,
    /// What is read besides the change.
    pub(crate) needs: fn(&Facts) -> Material,
    /// What is run. Pure, and on a thread of its own.
    pub(crate) mutants: fn(&Facts, Vec<Code>) -> Option<Mutants>,
    /// What a test that notices nothing breaks.
    pub(crate) rule: Rule,
}

/// Files of the change's commit that an experiment needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Material {
    /// None but the changed ones.
    Change,
    /// All code of the product.
    Code,
    /// All files that are stored for tests.
    Stored,
}

/// What is known when experiments begin.
pub(crate) struct Facts {
    pub(crate) change: Arc<Change>,
    /// The task's type, as it is judged.
    pub(crate) kind: TaskType,
    pub(crate) tests: NewTests,
    /// Tests that passed on the base and pass now.
    pub(crate) old: Vec<String>,
    /// All tests that pass now.
    pub(crate) passed: Vec<String>,
    pub(crate) witness: Witness,
}

/// Whether new tests were seen to fail without the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Witness {
    Seen,
    NotSeen,
    /// They could not be run there.
    Unknown,
}

/// What one experiment runs.
pub(crate) struct Mutants {
    /// The tests that are tried.
    pub(crate) suspects: BTreeSet<String>,
    /// Tests that must not notice anything either, or nothing is found.
    pub(crate) others: Vec<String>,
    pub(crate) found: Found,
    /// Runs one after the other, as long as a suspect is left; what is left at the end of any way is found.
    pub(crate) ways: Vec<Vec<Mutant>>,
    /// What a finding says of its test.
    pub(crate) says: String,
}

/// What counts as found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Each suspect that is left.
    Each,
    /// The suspects, only if all are left.
    All,
}

/// The change's commit with other files in place of its own.
pub(crate) struct Mutant {
    pub(crate) files: Vec<Put>,
    /// Files that are taken away.
    pub(crate) without: Vec<String>,
    pub(crate) suspicious: Suspicious,
}

/// What keeps a test suspected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspicious {
    /// It passes.
    Passing,
    /// It fails.
    Failing,
    /// The run rewrites some of the files; what follows runs with those alone.
    Rewriting,
}

impl Mutant {
    pub(crate) fn new(files: Vec<Put>, suspicious: Suspicious) -> Self {
        Self {
            files,
            without: Vec::new(),
            suspicious,
        }
    }
}

impl Facts {
    /// Whether new tests are asked of the task.
    pub(crate) fn asks_for_tests(&self) -> bool {
        match self.kind {
            TaskType::Feature | TaskType::Testing => true,
            TaskType::Scaffolding | TaskType::Refactoring | TaskType::Documentation => false,
        }
    }
}

/// The paths of some files, for a sentence.
pub(crate) fn files_of(code: &[Code]) -> String {
    let files: Vec<&str> = code.iter().map(|code| code.path.as_str()).collect();
    list(&files)
}
