//! Effects that are given up: who must know, and what it means to them.

use crate::{
    engine::{
        Engine,
        apply::Fact,
        ingest,
        job::{Job, Undone},
        perform::{play, read},
    },
    store::{Lane, NewEffect, StoreError},
};
use domain::{
    blocked::{BlockReason, Fault},
    effect::{Effect, TaskWork},
    feature::{
        event::Event,
        unsaid::{Instead, Saying, Unsaid},
    },
    ids::{FeatureKey, TaskId},
    task,
};

/// Runs of an agent or Gate before its failure counts. What GitHub or the network fails at is no run: it is waited out.
const AGENT_TRIES: u32 = 3;

/// Tries of a call to the forge: with the usual waits about two hours.
const FORGE_TRIES: u32 = 14;

/// How often an effect of this lane is tried.
pub(in crate::engine) fn tries(lane: Lane) -> u32 {
    match lane {
        Lane::Agent => AGENT_TRIES,
        Lane::Control | Lane::Forge => FORGE_TRIES,
    }
}

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
    ingest::unseen::told(engine, job, reason("looking at it".to_owned(), job, undone)).await
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
    Some(match effect {
        Effect::Plan { run }
        | Effect::PreFlight { run, .. }
        | Effect::OpenIntegration { run }
        | Effect::MergeDefault { run }
        | Effect::WaveGate { run }
        | Effect::OpenFeaturePull { run } => Event::Stuck {
            run: *run,
            reason: reason(doing(job), job, undone),
        },
        Effect::Task { task, run, work } => of_task(engine, job, (*task, *run), work, undone).await,
        Effect::Living { .. } => unsaid(Saying::Living, None, undone),
        Effect::PublishWaveCheck { .. } => unsaid(Saying::Check, None, undone),
        Effect::PostFeatureBlocked { .. } => unsaid(Saying::Report, None, undone),
        Effect::AskPerson { .. } => unsaid(Saying::Call, None, undone),
        Effect::CloseFeaturePull { pull, .. } => unsaid(Saying::Close { pull: *pull }, None, undone),
        Effect::React { .. } | Effect::Reply { .. } | Effect::CompareDefault { .. } | Effect::CleanUp { .. } => {
            return None;
        }
    })
}

async fn of_task(engine: &Engine, job: &Job, (task, run): (TaskId, u64), work: &TaskWork, undone: &Undone) -> Event {
    let reason = reason(doing(job), job, undone);
    let unsaid = |what| unsaid(what, Some(task), undone);
    let event = match work {
        TaskWork::Play => play::failed(engine, job, run, reason).await,
        TaskWork::Design | TaskWork::Gates | TaskWork::Ci | TaskWork::OpenPull | TaskWork::Merge => {
            task::Event::Stuck { run, reason }
        }
        TaskWork::Coach => match undone {
            Undone::Agent(failed) | Undone::Hopeless(failed) => task::Event::CoachFailed {
                run,
                failure: failed.failure.clone(),
                printed: failed.printed.clone(),
            },
            _ => task::Event::Stuck { run, reason },
        },
        TaskWork::PostReview { .. } | TaskWork::PostBlockedReview { .. } => return unsaid(Saying::Review),
        TaskWork::PublishCheck { .. } | TaskWork::PublishBlocked { .. } => return unsaid(Saying::Check),
        TaskWork::PostBlocked => return unsaid(Saying::Report),
        TaskWork::MarkReady => return unsaid(Saying::Ready),
        TaskWork::DismissReview { .. } => return unsaid(Saying::Dismissal),
        TaskWork::ClosePull { pull, .. } => return unsaid(Saying::Close { pull: *pull }),
    };
    Event::Task { task, event }
}

/// It stands nowhere: every form was refused, or nobody could be reached.
fn unsaid(what: Saying, task: Option<TaskId>, undone: &Undone) -> Event {
    let why = match undone {
        Undone::Failed(Fault::Refused { said })
        | Undone::Later {
            fault: Fault::Refused { said },
            ..
        } => said.clone(),
        other => other.to_string(),
    };
    Event::Unsaid(Unsaid {
        what,
        task,
        instead: Instead::Nothing,
        why,
    })
}

fn doing(job: &Job) -> String {
    job.effect.kind.replace('_', " ")
}

fn reason(doing: String, job: &Job, undone: &Undone) -> BlockReason {
    match undone {
        Undone::Agent(failed) | Undone::Hopeless(failed) => BlockReason::AgentFailed {
            failure: failed.failure.clone(),
            printed: failed.printed.clone(),
        },
        Undone::Spent { what } => BlockReason::BudgetSpent { what: what.clone() },
        _ if job.effect.crashes >= AGENT_TRIES => BlockReason::Crashed { doing },
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
