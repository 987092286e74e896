//! Experiments: the tests run once more with something changed that they should notice, such as every new function emptied.
//! What a test does not notice, it does not check.
//!
//! [`ALL`] is the table, one file per experiment; [`runner`] runs them within one [`budget`]. To add one, write its file and
//! add its line here. The field calls this mutation testing; emptying whole functions is extreme mutation (Niedermayr,
//! Jürgens, Wagner, "Will my tests tell me if I break this code?", 2016).

mod budget;
pub(crate) mod code;
mod empty_bodies;
mod failing_assertions;
mod golden_files;
mod return_values;
mod runner;
mod weakened_tests;

pub(crate) use runner::{Tried, experiments};

use crate::gates::{
    change::Change,
    mutation::code::{Code, Put},
    new_tests::NewTests,
};
use domain::{integrity::Rule, plan::TaskType};
use std::{collections::BTreeSet, sync::Arc};

/// The experiments, cheapest and most telling first: what the budget does not allow is left out from the end.
static ALL: [&Experiment; 5] = [
    &empty_bodies::EXPERIMENT,
    &failing_assertions::EXPERIMENT,
    &return_values::EXPERIMENT,
    &weakened_tests::EXPERIMENT,
    &golden_files::EXPERIMENT,
];

/// One way to try tests.
struct Experiment {
    /// How reviews call it.
    name: &'static str,
    /// Whether there may be something to try, as far as can be told without reading more than the change.
    applies: fn(&Facts) -> bool,
    /// What is read besides the change.
    needs: fn(&Facts) -> Material,
    /// What is run. Pure, and on a thread of its own.
    mutants: fn(&Facts, Vec<Code>) -> Option<Mutants>,
    /// What a test that notices nothing breaks.
    rule: Rule,
}

/// Files of the change's commit that an experiment needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Material {
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
struct Mutants {
    /// The tests that are tried.
    suspects: BTreeSet<String>,
    /// Tests that must not notice anything either, or nothing is found.
    others: Vec<String>,
    found: Found,
    /// Runs one after the other, as long as a suspect is left; what is left at the end of any way is found.
    ways: Vec<Vec<Mutant>>,
    /// What a finding says of its test.
    says: String,
}

/// What counts as found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Each suspect that is left.
    Each,
    /// The suspects, only if all are left.
    All,
}

/// The change's commit with other files in place of its own.
struct Mutant {
    files: Vec<Put>,
    /// Files that are taken away.
    without: Vec<String>,
    suspicious: Suspicious,
}

/// What keeps a test suspected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Suspicious {
    /// It passes.
    Passing,
    /// It fails.
    Failing,
    /// The run rewrites some of the files; what follows runs with those alone.
    Rewriting,
}

impl Mutant {
    fn new(files: Vec<Put>, suspicious: Suspicious) -> Self {
        Self {
            files,
            without: Vec::new(),
            suspicious,
        }
    }
}

impl Facts {
    /// Whether new tests are asked of the task.
    fn asks_for_tests(&self) -> bool {
        match self.kind {
            TaskType::Feature | TaskType::Testing => true,
            TaskType::Scaffolding | TaskType::Refactoring | TaskType::Documentation => false,
        }
    }
}

/// Where a test stands, for the start of a sentence.
fn files_of(code: &[Code]) -> String {
    let files: Vec<&str> = code.iter().map(|code| code.path.as_str()).collect();
    crate::gates::said::list(&files)
}
