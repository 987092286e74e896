//! Decides which changes of tests are explained: tests of changed code may change, and tests that the task names may be
//! removed.

use crate::{
    change::Change,
    changed_file::ChangedFile,
    language::{
        Role,
        outline::{Function, Of},
    },
    snapshots::loses_lines,
};
use domain::plan::Intent;

/// The explanations that the change and its task give.
pub(crate) struct Explained {
    /// Whether existing product code changed or is gone. Then its tests may change too; whether the base's tests still
    /// pass is for the run to show.
    changes_product: bool,
    /// Tests and files that the plan removes.
    removes: Vec<Intent>,
    /// The whole text of the task.
    said: String,
}

impl Explained {
    pub(crate) fn new(change: &Change<'_>, files: &[ChangedFile<'_>]) -> Self {
        let task = change.task;
        let mut said = vec![task.name.as_str(), task.description.as_str()];
        said.extend(task.acceptance_criteria.iter().map(|criterion| criterion.text.as_str()));
        Self {
            changes_product: files.iter().any(is_changed),
            removes: task.removes.clone(),
            said: said.join("\n"),
        }
    }

    /// `true` if existing product code changed or is gone.
    pub(crate) fn changes_product(&self) -> bool {
        self.changes_product
    }

    /// `true` if the task names a test or a file, in its list of removals or elsewhere.
    pub(crate) fn names(&self, name: &str) -> bool {
        let in_file = format!("::{name}");
        let is_it = |removed: &Intent| removed.names_path(name) || removed.name.ends_with(&in_file);
        self.removes.iter().any(is_it) || name.len() > 3 && self.said.contains(name)
    }
}

/// `true` if a product file lost something. If it has inline tests, only a changed or removed function of the product
/// counts.
fn is_changed(file: &ChangedFile<'_>) -> bool {
    let has_tests = !file.before.tests.is_empty();
    let of_product = |function: &&Function| function.of == Of::Product;
    let is_lost = |old: &Function| {
        let mut now = file.after.functions.iter();
        !now.any(|now| now.name == old.name && now.words == old.words)
    };
    let mut functions = file.before.functions.iter().filter(of_product);
    file.role == Role::Source && loses_lines(file.file) && (!has_tests || functions.any(is_lost))
}
