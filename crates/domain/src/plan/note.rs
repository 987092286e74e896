//! Notes on AutoBuild's changes to a plan, so that its author can see it.

use crate::{
    complexity,
    plan::{
        read::Sketch,
        yaml::{PlanHeader, groups_text},
    },
    wave,
    wave::AddedEdge,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use text::node::Node;

/// A difference between a plan and the form in which it was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanNote {
    /// A given value differs from the one that AutoBuild computes.
    Replaced {
        /// The key; for a key of a task, with the task: `TASK-001 complexity`.
        key: String,
        /// The given value, shortened.
        given: String,
        /// The value that is used instead.
        used: String,
    },
    /// Two tasks would change the same file, so one waits for the other.
    Ordered(AddedEdge),
    /// An agent's answer has an unknown key. It was ignored.
    Ignored { key: String },
}

impl fmt::Display for PlanNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced { key, given, used } => write!(f, "{key}: {used} instead of {given}"),
            Self::Ordered(AddedEdge { first, then, file }) => {
                write!(f, "{then} waits for {first}, because both name {file}")
            }
            Self::Ignored { key } => write!(f, "unknown key, ignored: {key}"),
        }
    }
}

/// Returns the notes on given values that AutoBuild replaced, then those on orderings that it added.
pub fn notes(sketch: &Sketch<'_>, header: &PlanHeader) -> Vec<PlanNote> {
    let plan = &sketch.plan;
    let waves = wave::waves(plan);
    let mut notes = Vec::new();
    for (key, given) in &sketch.given {
        let used = match *key {
            "id" => header.id.clone(),
            "created" => header.created.clone(),
            "status" => header.status.word().to_owned(),
            "complexity" => complexity::feature(plan).to_string(),
            "estimated_tasks" => plan.tasks.len().to_string(),
            _ => groups_text(&waves.groups),
        };
        notes.extend(replaced((*key).to_owned(), given, used));
    }
    for task in &sketch.tasks {
        for (key, given) in &task.given {
            let used = match *key {
                "complexity" => complexity::task(&task.task).to_string(),
                _ => header.task_word(task.task.id).to_owned(),
            };
            notes.extend(replaced(format!("{} {key}", task.task.id), given, used));
        }
    }
    notes.extend(waves.added_edges.into_iter().map(PlanNote::Ordered));
    notes
}

fn replaced(key: String, given: &Node, used: String) -> Option<PlanNote> {
    let most = if given.items().is_some() { usize::MAX / 8 } else { 200 };
    let same = given.render_short(most) == used;
    (!same).then(|| PlanNote::Replaced { key, given: given.render_short(200), used })
}
