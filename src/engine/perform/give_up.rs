//! Effects that are given up: the events and answers that follow.

use crate::{
    config::Role,
    engine::{
        Engine,
        apply::Fact,
        ingest,
        job::{EffectError, Job},
        perform::play,
    },
    store::{NewEffect, StoreError},
};
use domain::{
    blocked::{BlockReason, Defect, Failure, WorkStep},
    effect::{Effect, GivenUp, Precedence, Subject},
    feature::{
        event::Event,
        failed_acts::{FailedAct, PublicAct, Replacement},
    },
    ids::{Emission, FeatureKey, TaskId},
    task,
};

/// Returns the fact that follows from giving up the job's effect. Returns `None` if no Feature waits for it.
pub(in crate::engine) fn fact(engine: &Engine, job: &Job, error: &EffectError) -> Option<(FeatureKey, Fact)> {
    if job.effect.kind == ingest::KIND {
        return None;
    }
    let key = job.effect.feature?;
    let event = match job.parse_effect() {
        Ok(effect) => event(job, &key, &effect, error)?,
        Err(_) => unreadable(&key, job, error)?,
    };
    let cause = format!("{}/given-up", job.effect.id);
    Some((key, Fact::ours(event, cause, engine)))
}

/// Returns the answers to a delivery that is given up. No Feature waits for it, only people do.
pub(in crate::engine) async fn answers(
    engine: &Engine,
    job: &Job,
    error: &EffectError,
) -> Result<Vec<NewEffect>, StoreError> {
    if job.effect.kind != ingest::KIND {
        return Ok(Vec::new());
    }
    ingest::given_up::answers(engine, job, reason(WorkStep::HandleAct, error)).await
}

/// Returns the event for an effect that cannot be read. Its id contains the task and the emission, so the part of the
/// Feature that waits for that emission still learns of the failure.
fn unreadable(key: &FeatureKey, job: &Job, error: &EffectError) -> Option<Event> {
    let reason = reason(WorkStep::of_kind(&job.effect.kind), error);
    let id = job.effect.id.strip_prefix(&key.to_string())?.strip_prefix('/')?;
    let parts: Vec<&str> = id.split('/').collect();
    match parts.as_slice() {
        [task, _, emission] => Some(Event::Task {
            task: task.parse().ok()?,
            event: task::Event::Stuck { emission: Emission(emission.parse().ok()?), reason },
        }),
        [_, emission] => Some(Event::Stuck { emission: Emission(emission.parse().ok()?), reason }),
        _ => None,
    }
}

fn event(job: &Job, key: &FeatureKey, effect: &Effect, error: &EffectError) -> Option<Event> {
    let spec = effect.spec();
    let task = match spec.order {
        Precedence::InOrder(Subject::Task(task)) | Precedence::Free(Subject::Task(task)) => Some(task),
        Precedence::InOrder(Subject::Reactions | Subject::Refusals | Subject::Feature)
        | Precedence::Free(Subject::Reactions | Subject::Refusals | Subject::Feature) => None,
    };
    if let GivenUp::FailedAct(what) = spec.given_up {
        return Some(failed_act(what, task, error));
    }
    let emission = effect.emission(key)?;
    let reason = reason(WorkStep::of_kind(&job.effect.kind), error);
    let stuck = |reason| task::Event::Stuck { emission, reason };
    let event = match spec.given_up {
        GivenUp::Nothing | GivenUp::FailedAct(_) => return None,
        GivenUp::Stuck => match task {
            Some(_) => stuck(reason),
            None => return Some(Event::Stuck { emission, reason }),
        },
        GivenUp::PlayerFailed => play::failed(emission, reason),
        GivenUp::CoachFailed => {
            if reason.agent_failure().is_some()
                && let BlockReason::Failed { failure, printed, .. } = reason
            {
                task::Event::CoachFailed { emission, failure, printed }
            } else {
                stuck(reason)
            }
        }
    };
    Some(Event::Task { task: task?, event })
}

/// Returns the event for a text that could not be posted in any form.
fn failed_act(what: PublicAct, task: Option<TaskId>, error: &EffectError) -> Event {
    let why = if let EffectError::Failed {
        failure: Failure::GitHubRefused { message } | Failure::GitHubUnclear { message },
        ..
    } = error
    {
        message.clone()
    } else {
        error.to_string()
    };
    let instead = Replacement::Nothing;
    Event::FailedAct(FailedAct { what, task, instead, why })
}

fn work_of(role: Role) -> WorkStep {
    match role {
        Role::Planner => WorkStep::Plan,
        Role::Designer => WorkStep::Design,
        Role::Player => WorkStep::Play,
        Role::Coach => WorkStep::Coach,
    }
}

pub(super) fn reason(step: WorkStep, error: &EffectError) -> BlockReason {
    match error {
        EffectError::Agent(failed) | EffectError::Permanent(failed) => BlockReason::Failed {
            // A designer plans an issue that is one task.
            step: failed.role.map_or(step, work_of),
            failure: failed.failure.clone(),
            printed: failed.printed.clone(),
        },
        EffectError::Spent(spent) => BlockReason::BudgetSpent(*spent),
        EffectError::Failed { failure: Failure::Defect { defect: Defect::CutOff { .. } }, .. } => {
            BlockReason::Crashed { step }
        }
        EffectError::Failed { failure, .. } => BlockReason::failed(step, failure.clone()),
        // Effects with these errors are never given up.
        EffectError::Limited { .. }
        | EffectError::Parked { .. }
        | EffectError::Waiting { .. }
        | EffectError::Suspended
        | EffectError::Stopped => {
            let defect = Defect::Other(error.to_string());
            BlockReason::failed(step, Failure::Defect { defect })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_that_the_service_never_survived_has_crashed() {
        let step = || WorkStep::HandleAct;
        let crashed = EffectError::defect(Defect::CutOff { times: 3 });
        assert_eq!(reason(step(), &crashed), BlockReason::Crashed { step: step() });
        let failure = Failure::GitHubRefused { message: "Not Found".to_owned() };
        assert_eq!(reason(step(), &failure.clone().into()), BlockReason::failed(step(), failure));
    }
}
