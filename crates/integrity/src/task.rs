//! What the change and its task explain: tests of what changed may change, and what the task names may go.

use crate::{
    Change,
    changed_file::ChangedFile,
    language::{
        Role,
        outline::{Of, Outline},
    },
};
use std::collections::BTreeSet;

/// Names that say nothing about what a test tests.
const COMMON: [&str; 16] = [
    "new", "get", "set", "run", "main", "test", "init", "name", "value", "default", "from", "into", "next", "data",
    "config", "constructor",
];

/// What the change and its task explain.
pub(crate) struct Explained {
    /// Names of functions and other things of the product that changed or are gone.
    changed: BTreeSet<String>,
    /// Tests and files that the plan says are meant to go.
    removes: Vec<String>,
    /// Everything that the task says.
    said: String,
}

impl Explained {
    pub(crate) fn new(change: &Change<'_>, files: &[ChangedFile<'_>]) -> Self {
        let changed = files.iter().flat_map(|file| {
            let both = [(&file.before, &file.after), (&file.after, &file.before)];
            both.into_iter()
                .flat_map(|(one, other)| differing(file.role, one, other))
                .collect::<Vec<_>>()
        });
        let task = change.task;
        let criteria = task.acceptance_criteria.iter().map(|criterion| criterion.text.as_str());
        let texts = [task.name.as_str(), task.description.as_str()].into_iter().chain(criteria);
        Self {
            changed: changed.collect(),
            removes: task.removes.clone(),
            said: texts.collect::<Vec<_>>().join("\n"),
        }
    }

    /// Whether a test, by its words, is about something that the change touches.
    pub(crate) fn touches(&self, words: &[String]) -> bool {
        words.iter().any(|word| self.changed.contains(word.trim_matches(['"', '\''])))
    }

    /// Whether the task names a test or a file, as what goes or otherwise.
    pub(crate) fn names(&self, name: &str) -> bool {
        let removes = self.removes.iter().any(|removed| removed == name || removed.ends_with(&format!("::{name}")));
        removes || name.len() > 3 && self.said.contains(name)
    }
}

/// The names of what one version of a file has, and the other has not or has in another form.
fn differing(role: Role, one: &Outline, other: &Outline) -> Vec<String> {
    let of_product = |of: Of| of == Of::Product && role == Role::Source;
    let functions = one.functions.iter().filter(|function| of_product(function.of));
    let functions = functions
        .filter(|function| {
            let mut known = other.functions.iter();
            !known.any(|known| known.name == function.name && known.words == function.words)
        })
        .map(|function| &function.name);
    let defined = one.defines.iter().filter(|_| role == Role::Source);
    let defined = defined.filter(|name| !other.defines.contains(name));
    let names = functions.chain(defined).filter(|name| name.len() > 2);
    names.filter(|name| !COMMON.contains(&name.as_str())).cloned().collect()
}
