//! Messages of the commits that AutoBuild makes.

use crate::domain::feature::Feature;
use crate::domain::ids::PullNumber;
use crate::domain::ids::TurnNumber;
use crate::domain::task::Task;
use crate::messages::untrusted::plain;
use crate::messages::words::feature_name;

/// As much of a subject as `git log` shows in one line.
const SUBJECT: usize = 72;

/// Whether a commit is the whole of a turn's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitKind {
    /// The Player ended and reported.
    Whole,
    /// The Player ended badly; this is what there was.
    Partial,
}

/// The commit of a Player's work. `attempt` is the id of the effect that makes it.
#[must_use]
pub fn turn_commit_message(
    feature: &Feature,
    task: &Task,
    turn: TurnNumber,
    attempt: &str,
    kind: CommitKind,
) -> String {
    let (what, partial) = match kind {
        CommitKind::Whole => ("The Player's work", ""),
        CommitKind::Partial => ("What the Player left when it ended badly", "AutoBuild-Partial: true\n"),
    };
    format!(
        "{}\n\n{what} in turn {turn} of {}.\n\n{}{partial}",
        subject(task),
        feature.key.shown(),
        trailers(feature, task, turn, attempt)
    )
}

fn subject(task: &Task) -> String {
    plain(&format!("{}: {}", task.id, task.plan.name), SUBJECT)
}

fn trailers(feature: &Feature, task: &Task, turn: TurnNumber, attempt: &str) -> String {
    format!(
        "AutoBuild-Feature: {}\nAutoBuild-Task: {}\nAutoBuild-Turn: {turn}\nAutoBuild-Attempt: {}\n",
        feature.key.shown(),
        task.id,
        attempt.split_whitespace().collect::<String>()
    )
}

/// The commit of the plan on the integration branch.
#[must_use]
pub fn plan_commit_message(feature: &Feature) -> String {
    let subject = plain(
        &format!("Plan {}: {}", feature.key.shown(), feature_name(feature)),
        SUBJECT,
    );
    format!("{subject}\n\nAutoBuild-Feature: {}\n", feature.key.shown())
}

/// The commit of a task's page when the task is completed.
#[must_use]
pub fn task_file_message(feature: &Feature, task: &Task) -> String {
    format!(
        "Record the turns of {}\n\nAutoBuild-Feature: {}\nAutoBuild-Task: {}\n",
        task.id,
        feature.key.shown(),
        task.id
    )
}

/// The commit that merges the default branch into the integration branch.
#[must_use]
pub fn merge_default_message(feature: &Feature, default_branch: &str) -> String {
    format!(
        "Merge {} into {}\n\nAutoBuild-Feature: {}\n",
        plain(default_branch, 100),
        feature.key.integration_branch(),
        feature.key.shown()
    )
}

/// The commit that merges the integration branch into a task's branch.
#[must_use]
pub fn merge_integration_message(feature: &Feature, task: &Task, turn: TurnNumber, attempt: &str) -> String {
    format!(
        "Merge {} into {}\n\n{}",
        feature.key.integration_branch(),
        plain(&task.branch, 100),
        trailers(feature, task, turn, attempt)
    )
}

/// The subject of the commit that a squashed task becomes.
#[must_use]
pub fn squash_title(task: &Task, pull: PullNumber) -> String {
    format!("{} (#{pull})", subject(task))
}

/// The rest of that commit's message.
#[must_use]
pub fn squash_message(feature: &Feature, task: &Task) -> String {
    format!(
        "Part of {}.\n\nAutoBuild-Feature: {}\nAutoBuild-Task: {}\n",
        feature.key.shown(),
        feature.key.shown(),
        task.id
    )
}
