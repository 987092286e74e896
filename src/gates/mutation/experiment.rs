//! The definition of an experiment: what it knows and which mutants it runs.

use crate::gates::{
    change::Change,
    mutation::code::{Code, Put},
    new_tests::NewTests,
};
use domain::{integrity::Rule, plan::TaskType};
use std::{collections::BTreeSet, sync::Arc};

/// One way to check that tests notice broken code.
pub(crate) struct Experiment {
    /// The name that reviews show.
    pub(crate) name: &'static str,
    /// Whether the experiment may apply, judged from the change alone.
    pub(crate) applies: fn(&Facts) -> bool,
    /// The files that the experiment reads besides the change.
    pub(crate) needs: fn(&Facts) -> Material,
    /// Creates the mutants. Pure; runs on its own thread.
    pub(crate) mutants: fn(&Facts, Vec<Code>) -> Option<Mutants>,
    /// The rule that a test breaks if it does not notice the mutants.
    pub(crate) rule: Rule,
}

/// The files of the change's commit that an experiment needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Material {
    /// Only the changed files.
    Change,
    /// All source files of the product.
    Code,
    /// All golden files.
    Stored,
}

/// The facts known when the experiments begin.
pub(crate) struct Facts {
    pub(crate) change: Arc<Change>,
    /// The task's type, by which it is judged.
    pub(crate) kind: TaskType,
    pub(crate) tests: NewTests,
    /// Tests that passed on the base and still pass.
    pub(crate) old: Vec<String>,
    /// All tests that pass on the change's commit.
    pub(crate) passed: Vec<String>,
    pub(crate) witness: Witness,
}

/// Whether new tests failed on the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Witness {
    Seen,
    NotSeen,
    /// They could not run on the base.
    Unknown,
}

/// The mutants of one experiment.
pub(crate) struct Mutants {
    /// The tests under suspicion.
    pub(crate) suspects: BTreeSet<String>,
    /// Further tests that must not notice a mutant either; if one does, the experiment finds nothing.
    pub(crate) others: Vec<String>,
    pub(crate) found: Found,
    /// Sequences of runs. Each continues while a suspect is left; the suspects left at the end of any sequence are
    /// reported.
    pub(crate) ways: Vec<Vec<Mutant>>,
    /// The end of the finding's sentence, after the test's name.
    pub(crate) says: String,
}

/// Which of the remaining suspects are reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Each one.
    Each,
    /// All or none: they are reported only if every suspect remains.
    All,
}

/// The change's commit with some files replaced.
pub(crate) struct Mutant {
    pub(crate) files: Vec<Put>,
    /// Paths of files to delete.
    pub(crate) without: Vec<String>,
    pub(crate) suspicious: Suspicious,
}

/// The result that keeps a test under suspicion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspicious {
    /// The test passes.
    Passing,
    /// The test fails.
    Failing,
    /// The run rewrites some of the files; the next runs replace only those.
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
    /// `true` if the task must come with new tests.
    pub(crate) fn asks_for_tests(&self) -> bool {
        matches!(self.kind, TaskType::Feature | TaskType::Testing)
    }
}
