//! What the change and its task explain: tests of what changed may change, and what the task names may go.

use crate::{
    change::Change,
    changed_file::ChangedFile,
    language::{
        Role,
        outline::{Function, Of},
    },
    snapshots::loses_lines,
};

/// What became of the product code that was there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Product {
    /// It is as it was; other code may be new beside it.
    Kept,
    /// Some of it changed, or is gone.
    Changed,
}

/// What the change and its task explain.
pub(crate) struct Explained {
    /// Whether product code that was there changed, or is gone: what tests of it say may change with it, and whether the
    /// base's tests still hold is for running to show.
    product: Product,
    /// Tests and files that the plan says are meant to go.
    removes: Vec<String>,
    /// Everything that the task says.
    said: String,
}

impl Explained {
    pub(crate) fn new(change: &Change<'_>, files: &[ChangedFile<'_>]) -> Self {
        let is_changed = files.iter().any(is_changed);
        let task = change.task;
        let criteria = task.acceptance_criteria.iter().map(|criterion| criterion.text.as_str());
        let texts = [task.name.as_str(), task.description.as_str()]
            .into_iter()
            .chain(criteria);
        Self {
            product: if is_changed { Product::Changed } else { Product::Kept },
            removes: task.removes.clone(),
            said: texts.collect::<Vec<_>>().join("\n"),
        }
    }

    /// Whether product code that was there changed, or is gone.
    pub(crate) fn changes_product(&self) -> bool {
        self.product == Product::Changed
    }

    /// Whether the task names a test or a file, as what goes or otherwise.
    pub(crate) fn names(&self, name: &str) -> bool {
        let removes = self
            .removes
            .iter()
            .any(|removed| removed == name || removed.ends_with(&format!("::{name}")));
        removes || name.len() > 3 && self.said.contains(name)
    }
}

/// Whether a file of the product lost something; of one that has tests inside, whether a function did that is none of theirs.
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
