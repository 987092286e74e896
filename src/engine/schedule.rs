//! How an effect is stored: its lane, what it is about, its place in the order, and when it may run.

use crate::{
    engine::job::Job,
    store::{CancelRule, Lane, NewEffect, Ordered},
};
use domain::{
    effect::{Effect, TaskWork},
    feature::{Feature, StopScope},
    ids::{FeatureKey, Millis, TaskId},
};

/// The living comment is edited at most once in this many write spacings.
const LIVING_SPACINGS: i64 = 30;

/// What a running agent does is shown at most once in this many write spacings: people read it now and then, and the
/// hour's writes are for reviews.
pub const PROGRESS_SPACINGS: i64 = 120;

/// Stores `effects` of a Feature, due at `now`.
pub fn effects(feature: &Feature, effects: &[Effect], now: Millis, spacing_ms: i64) -> Vec<NewEffect> {
    effects
        .iter()
        .map(|effect| stored(feature, effect, now, spacing_ms))
        .collect()
}

fn stored(feature: &Feature, effect: &Effect, now: Millis, spacing_ms: i64) -> NewEffect {
    let key = &feature.key;
    let lane = lane(effect);
    let run_at = match (effect, feature.living) {
        (Effect::Living { .. }, Some(living)) => living
            .edited_at
            .plus(spacing_ms.saturating_mul(LIVING_SPACINGS))
            .max(now),
        _ => now,
    };
    NewEffect {
        id: effect.id(key),
        kind: effect.kind().to_owned(),
        lane,
        subject: subject(key, effect),
        feature: Some(*key),
        feature_limit: (lane == Lane::Agent).then_some(feature.rules.max_parallel_tasks),
        ordered: ordered(effect),
        waits: effect.waits_when_held(),
        installation: feature.installation,
        repo: Some(key.repo),
        payload: serde_json::to_string(effect).unwrap_or_default(),
        priority: priority(effect),
        run_at,
        deadline: None,
    }
}

/// One more edit of the living comment, for what no event tells.
pub fn shown_again(job: &Job, feature: FeatureKey, id: String, run_at: Millis) -> NewEffect {
    let effect = Effect::Living { run: 0 };
    NewEffect {
        id,
        kind: effect.kind().to_owned(),
        lane: lane(&effect),
        subject: subject(&feature, &effect),
        feature: Some(feature),
        feature_limit: None,
        ordered: ordered(&effect),
        waits: effect.waits_when_held(),
        installation: job.effect.installation,
        repo: job.effect.repo,
        payload: serde_json::to_string(&effect).unwrap_or_default(),
        priority: priority(&effect),
        run_at,
        deadline: None,
    }
}

/// From when on the living comment that was last edited then may be edited again; none where it may be now.
pub fn living_waits(edited_at: Millis, now: Millis, spacing_ms: i64) -> Option<Millis> {
    let wait = spacing_ms.saturating_mul(LIVING_SPACINGS);
    let until = edited_at.plus(wait);
    // The forge's clock may be ahead of ours; one that is further ahead than the wait tells nothing.
    (until > now && edited_at.0.saturating_sub(now.0) < wait).then_some(until)
}

/// What the store is told to cancel before the new effects are added.
pub fn cancels(feature: &Feature, stop: &[StopScope], new: &[Effect]) -> Vec<CancelRule> {
    let key = &feature.key;
    let mut rules: Vec<CancelRule> = Vec::new();
    for scope in stop {
        let subject = match scope {
            StopScope::Task(task) => Some(task_subject(key, *task)),
            StopScope::Feature => None,
        };
        rules.push(CancelRule {
            subject: subject.clone(),
            lane: Some(Lane::Agent),
            kind: None,
        });
        for kind in ["merge", "ci"] {
            rules.push(CancelRule {
                subject: subject.clone(),
                lane: None,
                kind: Some(kind.to_owned()),
            });
        }
        if *scope == StopScope::Feature {
            for kind in ["open_integration", "merge_default", "open_feature_pull"] {
                rules.push(CancelRule {
                    subject: None,
                    lane: None,
                    kind: Some(kind.to_owned()),
                });
            }
        }
    }
    if new.iter().any(|effect| matches!(effect, Effect::Living { .. })) {
        // One edit shows everything: what waits to be shown is shown by the newest.
        rules.push(CancelRule {
            subject: None,
            lane: None,
            kind: Some("living".to_owned()),
        });
    }
    rules
}

fn lane(effect: &Effect) -> Lane {
    match effect {
        Effect::Plan { .. } | Effect::PreFlight { .. } | Effect::WaveGate { .. } => Lane::Agent,
        Effect::Task { work, .. } => match work {
            TaskWork::Design | TaskWork::Play | TaskWork::Gates | TaskWork::Coach => Lane::Agent,
            TaskWork::Ci
            | TaskWork::OpenPull
            | TaskWork::PostReview { .. }
            | TaskWork::PostBlockedReview { .. }
            | TaskWork::PublishCheck { .. }
            | TaskWork::PublishBlocked { .. }
            | TaskWork::PostBlocked
            | TaskWork::MarkReady
            | TaskWork::Merge
            | TaskWork::DismissReview { .. }
            | TaskWork::ClosePull { .. } => Lane::Forge,
        },
        Effect::React { .. }
        | Effect::Reply { .. }
        | Effect::Living { .. }
        | Effect::CompareDefault { .. }
        | Effect::OpenIntegration { .. }
        | Effect::MergeDefault { .. }
        | Effect::OpenFeaturePull { .. }
        | Effect::PublishWaveCheck { .. }
        | Effect::PostFeatureBlocked { .. }
        | Effect::AskPerson { .. }
        | Effect::CloseFeaturePull { .. }
        | Effect::CleanUp { .. } => Lane::Forge,
    }
}

/// Forge effects of one subject run in the order stored; what people only read stands outside of that order.
fn ordered(effect: &Effect) -> Ordered {
    match effect {
        Effect::Reply { .. } | Effect::Living { .. } | Effect::AskPerson { .. } => Ordered::Free,
        // It is looked at again and again for half an hour, and what people read must not wait for that.
        Effect::Task { work: TaskWork::Ci, .. } => Ordered::Free,
        _ => Ordered::InOrder,
    }
}

fn subject(key: &FeatureKey, effect: &Effect) -> String {
    match effect {
        Effect::Task { task, .. } => task_subject(key, *task),
        // 👀 comes before 🚀, and neither waits for anything else.
        Effect::React { .. } => format!("{key}/reactions"),
        _ => key.to_string(),
    }
}

fn task_subject(key: &FeatureKey, task: TaskId) -> String {
    format!("{key}/{task}")
}

/// People wait for answers; nobody waits for the living comment.
fn priority(effect: &Effect) -> i64 {
    match effect {
        Effect::React { .. } | Effect::Reply { .. } => 0,
        Effect::Living { .. } => 9,
        _ => 5,
    }
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
        assert_eq!(
            waits(102_000, 100_000),
            Some(132_000),
            "the forge's clock is a little ahead"
        );
        assert_eq!(waits(9_000_000, 100_000), None, "a clock that is far off stops nothing");
        assert_eq!(
            living_waits(Millis(100_000), Millis(100_000), 0),
            None,
            "a local forge needs no spacing"
        );
    }
}
