//! Handles actions of people on our pull requests and branches: closed, merged, reopened, pushed.

use crate::{
    engine::{
        Engine,
        ingest::{
            context::{InboundContext, fact, newer, one},
            default_branch,
        },
        job::{Done, EffectError},
    },
    github::{
        model::{OpenState, Pull},
        webhook::{EventOrigin, PullEvent, Push, PushKind},
    },
};
use domain::{
    feature::{CancelledWhy, Feature, event::Event},
    ids::{PullNumber, Sha, TaskId, User},
    task,
    task::{PersonDid, Task},
};

/// Returns the Feature of one of our pull requests, and the task if it is a task's. It is found by its number, or by its
/// branch if no number is stored yet: a person may act before that. Other pull requests from our branches are people's.
pub(super) async fn of_pull(
    context: &InboundContext<'_>,
    pull: &Pull,
) -> Result<Option<(Feature, Option<TaskId>)>, EffectError> {
    let (store, repo) = (&context.engine.store, context.origin.repo.id);
    let (found, is_named) = match store.by_pull(repo, pull.number).await? {
        Some(found) => (found, true),
        None if pull.is_from(repo) => match store.by_branch(repo, &pull.head.branch).await? {
            Some(found) => (found, false),
            None => return Ok(None),
        },
        None => return Ok(None),
    };
    let Some(feature) = context.engine.feature(&found.feature.key).await? else { return Ok(None) };
    let stored = match found.task {
        Some(task) => feature.task(task).and_then(|task| task.pull),
        None => feature.pull,
    };
    Ok((is_named || stored.is_none()).then_some((feature, found.task)))
}

/// Handles the closing, merging or reopening of one of our pull requests.
pub async fn pull(context: &InboundContext<'_>, pull: &Pull, event: PullEvent) -> Result<Done, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let Some((feature, task)) = of_pull(context, pull).await? else {
        return Ok(Done::Nothing);
    };
    let closed = pull.closed_at.map_or(0, |at| at.0);
    let by = &origin.sender.user;
    let (event, cause) = match (event, task) {
        (PullEvent::Closed, None) if pull.is_merged() => {
            (Event::PullMerged { pull: pull.number }, format!("pull/{}/merged", pull.number))
        }
        (PullEvent::Closed, None) => {
            (Event::Cancelled(CancelledWhy::PullClosed(by.clone())), format!("pull/{}/closed/{closed}", pull.number))
        }
        (PullEvent::Reopened, None) => {
            let newer = newer(engine, &feature).await?;
            let Some(cause) = reopened(context, &feature, None, pull.number).await? else {
                return Ok(Done::Nothing);
            };
            (Event::PullReopened { pull: pull.number, newer }, cause)
        }
        (PullEvent::Closed, Some(task)) if pull.is_merged() => {
            let (commit, head) = (pull.merge_commit_sha.clone(), Some(pull.head.sha.clone()));
            let did = PersonDid::MergePull { commit, head };
            (person(task, by, did), format!("pull/{}/merged", pull.number))
        }
        (PullEvent::Closed, Some(task)) => {
            let did = PersonDid::ClosePull { pull: pull.number };
            (person(task, by, did), format!("pull/{}/closed/{closed}", pull.number))
        }
        (PullEvent::Reopened, Some(task)) => {
            let turns = feature.rules.max_turns;
            let Some(cause) = reopened(context, &feature, Some(task), pull.number).await? else {
                return Ok(Done::Nothing);
            };
            (person(task, by, PersonDid::ReopenPull { pull: pull.number, turns }), cause)
        }
    };
    Ok(one(feature.key, fact(engine, event, cause, by)))
}

pub(super) fn person(task: TaskId, by: &User, did: PersonDid) -> Event {
    Event::Task { task, event: task::Event::Person { by: by.clone(), did } }
}

/// Returns the cause of a reopening: the newest known closing, which it undoes. AutoBuild's own closings are not recorded,
/// so that two reopenings can undo the same one; then it also has a number, if its pull request is open now. `None` if
/// it is a reopening of before.
async fn reopened(
    context: &InboundContext<'_>,
    feature: &Feature,
    task: Option<TaskId>,
    pull: PullNumber,
) -> Result<Option<String>, EffectError> {
    let causes = context.engine.store.causes(&feature.key).await?;
    let closed = causes.iter().rev().find_map(|cause| cause.strip_prefix(format!("pull/{pull}/closed/").as_str()));
    let cause = format!("pull/{pull}/reopened/{}", closed.unwrap_or("0"));
    let is_over = task.map_or(!feature.is_unfinished(), |id| feature.task(id).is_some_and(Task::is_over));
    match causes.iter().filter(|known| known.starts_with(&cause)).count() {
        0 => Ok(Some(cause)),
        _ if !is_over || context.repo().pull(pull).await?.state == OpenState::Closed => Ok(None),
        known => Ok(Some(format!("{cause}/{known}"))),
    }
}

/// Handles a push to one of our branches, or its deletion.
pub async fn push(engine: &Engine, origin: &EventOrigin, push: &Push) -> Result<Done, EffectError> {
    let Some(found) = engine.store.by_branch(origin.repo.id, &push.branch).await? else {
        return default_branch::pushed(engine, origin, push).await;
    };
    let Some(feature) = engine.feature(&found.feature.key).await? else {
        return Ok(Done::Nothing);
    };
    let by = &origin.sender.user;
    let Some(event) = pushed(engine, origin, push, found.task, &feature).await? else {
        return Ok(Done::Nothing);
    };
    let sha = |sha: &Option<Sha>| sha.as_ref().map_or("none".to_owned(), ToString::to_string);
    let cause = format!("push/{}/{}/{}", push.branch, sha(&push.before), sha(&push.after));
    Ok(one(feature.key, fact(engine, event, cause, by)))
}

/// Returns the event for a push. Deliveries may be late, so the current head of the branch counts.
async fn pushed(
    engine: &Engine,
    origin: &EventOrigin,
    push: &Push,
    task: Option<TaskId>,
    feature: &Feature,
) -> Result<Option<Event>, EffectError> {
    let repo = engine.autobuild.repo(origin.installation, origin.repo.id);
    let head = repo.branch_head(&push.branch).await?;
    Ok(match (task, head) {
        // GitHub closes the pull request of a deleted task branch and sends an event for that.
        (Some(_), None) => None,
        (None, None) => Some(integration_deleted(engine, feature).await?),
        (None, Some(head)) => Some(Event::IntegrationPushed { head }),
        // The push is known: its delivery came before, or a sweep found it.
        (Some(task), Some(head)) if feature.task(task).and_then(|task| task.head.as_ref()) == Some(&head) => None,
        (Some(task), Some(head)) => {
            let off = push.kind == PushKind::Forced && !stands_on_integration(engine, origin, feature, &head).await?;
            let did = if off { PersonDid::ForcePush { head } } else { PersonDid::Push { head } };
            Some(person(task, &origin.sender.user, did))
        }
    })
}

/// Returns the event for a deleted integration branch. It may be deleted because its pull request was merged, so that
/// is checked before the work is cancelled.
async fn integration_deleted(engine: &Engine, feature: &Feature) -> Result<Event, EffectError> {
    if let Some(number) = feature.pull {
        let repo = engine.autobuild.repo(feature.installation, feature.key.repo);
        let pull = repo.pull(number).await?;
        if pull.is_merged() {
            return Ok(Event::PullMerged { pull: number });
        }
    }
    Ok(Event::Cancelled(CancelledWhy::BranchDeleted))
}

/// Returns `true` if the head of a forced push still contains the commit from which the task branches were made.
async fn stands_on_integration(
    engine: &Engine,
    origin: &EventOrigin,
    feature: &Feature,
    head: &Sha,
) -> Result<bool, EffectError> {
    let Some(integration) = &feature.integration else {
        return Ok(false);
    };
    let repo = engine.autobuild.repo(origin.installation, origin.repo.id);
    Ok(repo.is_at_or_after(head, &integration.base).await?)
}
