//! Handles GitHub's _Re-run_ of a check run and _Re-run all checks_: checks the commit again, with the rights of the
//! person who asked.

use crate::{
    engine::{
        ingest::{
            context::{InboundContext, fact, one},
            given_command::{GivenCommand, permission},
            permission_check::find_refusal,
        },
        job::{Done, EffectError},
    },
    github::model::AccountType,
    store::Scope,
};
use domain::{
    effect::{ReplyTo, Thread},
    feature::{
        Feature,
        event::{Event, Target},
    },
    ids::{AppId, Sha, User},
};

/// Handles a request to check a commit again. Each delivery is a separate fact.
pub async fn rerun(context: &InboundContext<'_>, head: &Sha, app: Option<AppId>) -> Result<Done, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let is_ours = app.is_none_or(|app| app == engine.autobuild.id);
    if !is_ours || origin.sender.kind != AccountType::Person {
        return Ok(Done::Nothing);
    }
    let Some(feature) = checked_at(context, head).await? else {
        return Ok(Done::Nothing);
    };
    let by = origin.sender.user.clone();
    match find_refusal(context, permission(&feature)).await? {
        Some(refusal) => given_command(context, feature, head, &by).refused(refusal).await,
        None => {
            let cause = format!("rerun/{head}/{}", context.delivery);
            let head = head.clone();
            let event = Event::Rerun { head, by: by.clone() };
            Ok(one(feature.key, fact(engine, event, cause, &by)))
        }
    }
}

/// Returns the unfinished Feature that has one of our check runs on the commit.
async fn checked_at(context: &InboundContext<'_>, head: &Sha) -> Result<Option<Feature>, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let mut done = Ok(None);
    for row in engine.store.unfinished(Scope::Repo(origin.repo.id)).await? {
        match engine.feature(&row.key).await {
            Ok(Some(feature)) if feature.checks(head) => return Ok(Some(feature)),
            Ok(_) => {}
            // The commit may still be another Feature's.
            Err(error) => done = Err(error.into()),
        }
    }
    done
}

/// Builds the context of a refusal. Each person without the right gets one refusal per commit.
fn given_command<'a>(context: &'a InboundContext<'a>, feature: Feature, head: &Sha, by: &User) -> GivenCommand<'a> {
    let cause = format!("rerun/{head}/refused/{}", by.id);
    let task = feature.task_at(head);
    let pull = task.map_or(feature.pull, |task| task.pull);
    GivenCommand {
        context,
        on: task.map_or(Target::Feature, |task| Target::Task(task.id)),
        thread: pull.map_or(Thread::Issue(feature.key.issue), Thread::Pull),
        to: ReplyTo::Fact(cause.clone()),
        cause,
        open_cause: None,
        written_at: None,
        issue: None,
        feature,
    }
}
