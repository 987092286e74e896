//! What is merged so far: what it has to hold together, and whether that was tested.

use crate::{
    evidence::{Profile, profile},
    feature::feature::Feature,
    plan::TaskType,
};

/// Whether something was merged since the last green gate.
pub(super) fn is_due(feature: &Feature) -> bool {
    let merged = feature.completed();
    match feature.gates.last() {
        Some(last) => last.merged != merged || profile(strictest(feature), &last.report) != Profile::Passed,
        None => !merged.is_empty(),
    }
}

/// The merged result must hold what the most demanding of its tasks had to hold.
pub fn strictest(feature: &Feature) -> TaskType {
    let merged = || {
        let completed = feature.tasks.iter().filter(|task| task.is_completed());
        completed.map(|task| task.plan.kind)
    };
    merged()
        .find(|kind| matches!(kind, TaskType::Feature | TaskType::Refactoring | TaskType::Testing))
        .or_else(|| merged().next())
        .unwrap_or(TaskType::Documentation)
}
