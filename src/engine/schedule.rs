//! Converts effects to stored rows: the lane, the subject, the order, and the time from which each may run.

use crate::{
    engine::job::Job,
    store::{CancelRule, Lane, NewEffect, Ordered},
};
use domain::{
    effect::{Effect, Precedence, Subject, WaitsFor},
    feature::{Feature, StopScope},
    ids::{Emission, FeatureKey, InstallationId, Millis, RepoId, TaskId},
};

/// The living comment is edited at most once in this many write spacings.
const LIVING_SPACINGS: i64 = 30;

/// A comment that cannot be edited is replaced by a new one at most once in this many write spacings.
const ANOTHER_LIVING_SPACINGS: i64 = 600;

/// A running agent's progress is shown at most once in this many write spacings. People read it rarely, and the writes
/// that GitHub allows per hour are for reviews.
pub const PROGRESS_SPACINGS: i64 = 120;

/// Returns the rows of `effects` of a Feature, due at `now`.
pub fn effects(feature: &Feature, effects: &[Effect], now: Millis, spacing_ms: i64) -> Vec<NewEffect> {
    let rows = effects.iter().map(|effect| new_row(feature, effect, now, spacing_ms));
    rows.collect()
}

fn new_row(feature: &Feature, effect: &Effect, now: Millis, spacing_ms: i64) -> NewEffect {
    let spec = effect.spec();
    let run_at = match (spec.waits_for, feature.living) {
        (WaitsFor::Spacing, Some(living)) => living.edited_at.plus(spacing_ms.saturating_mul(LIVING_SPACINGS)).max(now),
        (WaitsFor::Spacing, None) | (WaitsFor::Nothing | WaitsFor::Work, _) => now,
    };
    let (key, installation) = (&feature.key, feature.installation);
    NewEffect {
        feature_limit: (spec.lane == Lane::Agent).then_some(feature.rules.max_parallel_tasks),
        ..row(effect.id(key), effect, key, installation, Some(key.repo), run_at)
    }
}

/// Returns one more edit of the living comment, for a change that no event reports.
pub fn shown_again(job: &Job, feature: FeatureKey, id: String, run_at: Millis) -> NewEffect {
    let effect = Effect::Living { emission: Emission(0) };
    row(id, &effect, &feature, job.effect.installation, job.effect.repo, run_at)
}

/// Returns the row of an effect of a Feature, as its spec defines it. The caller overrides the Feature's columns for
/// answers that belong to none.
pub fn row(
    id: String,
    effect: &Effect,
    key: &FeatureKey,
    installation: InstallationId,
    repo: Option<RepoId>,
    run_at: Millis,
) -> NewEffect {
    let spec = effect.spec();
    let (ordered, subject) = match spec.order {
        Precedence::InOrder(subject) => (Ordered::InOrder, subject),
        Precedence::Free(subject) => (Ordered::Free, subject),
    };
    NewEffect {
        id,
        kind: spec.kind.to_owned(),
        lane: spec.lane,
        subject: match subject {
            Subject::Reactions => format!("{key}/reactions"),
            Subject::Refusals => format!("{key}/refusals"),
            Subject::Feature => key.to_string(),
            Subject::Task(task) => task_subject(key, task),
        },
        feature: Some(*key),
        feature_limit: None,
        ordered,
        waits: spec.waits_for == WaitsFor::Work,
        installation,
        repo,
        payload: serde_json::to_string(effect).unwrap_or_default(),
        priority: spec.priority.number(),
        run_at,
    }
}

/// Returns when the living comment, last edited at `edited_at`, may be edited again; `None` if it may be now.
pub fn living_waits(edited_at: Millis, now: Millis, spacing_ms: i64) -> Option<Millis> {
    waits(edited_at, now, spacing_ms.saturating_mul(LIVING_SPACINGS))
}

/// Returns when a comment that cannot be edited may be replaced by a new one; `None` if it may be now.
pub fn another_living_waits(edited_at: Millis, now: Millis, spacing_ms: i64) -> Option<Millis> {
    waits(edited_at, now, spacing_ms.saturating_mul(ANOTHER_LIVING_SPACINGS))
}

fn waits(edited_at: Millis, now: Millis, wait: i64) -> Option<Millis> {
    let until = edited_at.plus(wait);
    // GitHub's clock may be ahead of ours. If it is ahead by more than the wait, its time is ignored.
    (until > now && edited_at.0.saturating_sub(now.0) < wait).then_some(until)
}

/// Returns the rules by which the store cancels effects before it adds the new ones.
pub fn cancels(feature: &Feature, stop: &[StopScope], new: &[Effect]) -> Vec<CancelRule> {
    let stopped = stop.iter().map(|scope| match scope {
        StopScope::Task(task) => CancelRule::Work(Some(task_subject(&feature.key, *task))),
        StopScope::Feature => CancelRule::Work(None),
    });
    // Each edit shows the whole state, so the newest edit replaces those that wait.
    let specs = new.iter().map(Effect::spec);
    let shown = specs.filter(|spec| spec.waits_for == WaitsFor::Spacing);
    stopped.chain(shown.map(|spec| CancelRule::Kind(spec.kind.to_owned()))).collect()
}

fn task_subject(key: &FeatureKey, task: TaskId) -> String {
    format!("{key}/{task}")
}

#[cfg(test)]
mod tests {
    use super::living_waits;
    use domain::ids::Millis;

    #[test]
    fn the_living_comment_is_edited_once_in_thirty_spacings() {
        let waits = |edited: i64, now: i64| living_waits(Millis(edited), Millis(now), 1_000).map(|until| until.0);
        assert_eq!(waits(100_000, 100_000), Some(130_000));
        assert_eq!(waits(100_000, 129_999), Some(130_000));
        assert_eq!(waits(100_000, 130_000), None);
        assert_eq!(waits(102_000, 100_000), Some(132_000), "the forge's clock is a little ahead");
        assert_eq!(waits(9_000_000, 100_000), None, "a clock that is far off stops nothing");
        assert_eq!(living_waits(Millis(100_000), Millis(100_000), 0), None, "a local forge needs no spacing");
    }
}
