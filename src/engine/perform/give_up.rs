//! Effects that are given up: who must know, and what it means to them.

use crate::{
    engine::{
        Engine,
        apply::Fact,
        ingest,
        job::{Job, Undone},
        perform::{play, read},
    },
    store::{NewEffect, StoreError},
};
use domain::{
    blocked::{BlockReason, Doing, Fault},
    effect::{CRASHES, Effect, GivenUp, Order, Subject},
    feature::{
        event::Event,
        unsaid::{Instead, Saying, Unsaid},
    },
    ids::{FeatureKey, TaskId},
    task,
};

/// The fact that follows from giving the job's effect up; none where nothing waits for it.
pub(in crate::engine) async fn fact(engine: &Engine, job: &Job, undone: &Undone) -> Option<(FeatureKey, Fact)> {
    if job.effect.kind == ingest::KIND {
        return None;
    }
    let key = job.effect.feature?;
    let event = match read(job) {
        Ok(effect) => event(engine, job, &effect, undone).await?,
        Err(_) => unreadable(&key, job, undone)?,
    };
    let cause = format!("{}/given-up", job.effect.id);
    Some((
        key,
        Fact {
            event,
            cause,
            actor: "autobuild".to_owned(),
            at: engine.now(),
        },
    ))
}

/// What people are told of a delivery that is given up: nothing waits for it but they.
pub(in crate::engine) async fn told(engine: &Engine, job: &Job, undone: &Undone) -> Result<Vec<NewEffect>, StoreError> {
    if job.effect.kind != ingest::KIND {
        return Ok(Vec::new());
    }
    ingest::unseen::told(engine, job, reason(Doing::LookingAtIt, job, undone)).await
}

/// Of an effect that cannot be read its id tells whose it is and which emission: who waits for that one hears of it.
fn unreadable(key: &FeatureKey, job: &Job, undone: &Undone) -> Option<Event> {
    let reason = reason(doing(job), job, undone);
    let id = job.effect.id.strip_prefix(&key.to_string())?.strip_prefix('/')?;
    let parts: Vec<&str> = id.split('/').collect();
    match parts.as_slice() {
        [task, _, run] => Some(Event::Task {
            task: task.parse().ok()?,
            event: task::Event::Stuck {
                run: run.parse().ok()?,
                reason,
            },
        }),
        [_, run] => Some(Event::Stuck {
            run: run.parse().ok()?,
            reason,
        }),
        _ => None,
    }
}

async fn event(engine: &Engine, job: &Job, effect: &Effect, undone: &Undone) -> Option<Event> {
    let spec = effect.spec();
    let task = match spec.order {
        Order::Kept(Subject::Task(task)) | Order::Free(Subject::Task(task)) => Some(task),
        Order::Kept(Subject::Reactions | Subject::Feature) | Order::Free(Subject::Reactions | Subject::Feature) => None,
    };
    if let GivenUp::Unsaid(what) = spec.given_up {
        return Some(unsaid(what, task, undone));
    }
    let run = effect.run()?;
    let reason = reason(doing(job), job, undone);
    let stuck = |reason| task::Event::Stuck { run, reason };
    let event = match spec.given_up {
        GivenUp::Nothing | GivenUp::Unsaid(_) => return None,
        GivenUp::Stuck => match task {
            Some(_) => stuck(reason),
            None => return Some(Event::Stuck { run, reason }),
        },
        GivenUp::PlayerFailed => play::failed(engine, job, run, reason).await,
        GivenUp::CoachFailed => {
            if let BlockReason::AgentFailed { failure, printed } = reason {
                task::Event::CoachFailed { run, failure, printed }
            } else {
                stuck(reason)
            }
        }
    };
    Some(Event::Task { task: task?, event })
}

/// It stands nowhere: every form was refused, or nobody could be reached.
fn unsaid(what: Saying, task: Option<TaskId>, undone: &Undone) -> Event {
    let refused = |fault: &Fault| {
        if let Fault::Refused { said } = fault {
            Some(said.clone())
        } else {
            None
        }
    };
    let why = if let Undone::Failed(fault) | Undone::Later { fault, .. } = undone {
        refused(fault)
    } else {
        None
    };
    let why = why.unwrap_or_else(|| undone.to_string());
    Event::Unsaid(Unsaid {
        what,
        task,
        instead: Instead::Nothing,
        why,
    })
}

fn doing(job: &Job) -> Doing {
    Doing::of_kind(&job.effect.kind)
}

fn reason(doing: Doing, job: &Job, undone: &Undone) -> BlockReason {
    match undone {
        Undone::Agent(failed) | Undone::Hopeless(failed) => BlockReason::AgentFailed {
            failure: failed.failure.clone(),
            printed: failed.printed.clone(),
        },
        Undone::Spent { what } => BlockReason::BudgetSpent { what: what.clone() },
        _ if job.effect.crashes >= CRASHES => BlockReason::Crashed { doing },
        Undone::Later { fault, .. } | Undone::Failed(fault) => BlockReason::of_fault(doing, fault.clone()),
        // None of them is ever given up.
        Undone::Limited { .. }
        | Undone::Parked { .. }
        | Undone::Waiting { .. }
        | Undone::Suspended
        | Undone::Stopped => BlockReason::of_fault(
            doing,
            Fault::Defect {
                what: undone.to_string(),
            },
        ),
    }
}
