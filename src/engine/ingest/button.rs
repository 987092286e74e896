//! Handles a button of one of our check runs: runs its command with the rights of the person who pressed it.

use crate::{
    engine::{
        Engine,
        ingest::{
            context::{AwaitedTrigger, InboundContext},
            given_command::{GivenCommand, permission},
            permission_check::find_refusal,
        },
        job::{Done, EffectError},
    },
    github::{model::AccountType, webhook::PressedCheckRun},
};
use domain::{
    command::{Button, Parsed},
    effect::{ReplyTo, Thread},
    feature::{
        command::{Possible, Refusal, Trigger},
        event::Target,
    },
    ids::FeatureKey,
    task::Task,
};

/// Handles a pressed button. Repeated presses of one button of one check run are one fact.
pub(in crate::engine) async fn pressed(
    context: &InboundContext<'_>,
    run: &PressedCheckRun,
    identifier: &str,
) -> Result<Done, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let known = Button::from_identifier(identifier);
    let about = run.external_id.as_deref().and_then(subject);
    let (Some(button), Some((key, on))) = (known, about) else {
        return Ok(Done::Nothing);
    };
    if key.repo != origin.repo.id || origin.sender.kind != AccountType::Person {
        return Ok(Done::Nothing);
    }
    let Some(feature) = engine.feature(&key).await? else {
        return Ok(Done::Nothing);
    };
    let task = match on {
        Target::Task(id) => feature.task(id),
        Target::Feature => None,
    };
    let is_fitting = match button {
        Button::Resume | Button::Retry => task.is_some(),
        Button::RunCi => on == Target::Feature,
    };
    if !is_fitting {
        return Ok(Done::Nothing);
    }
    let needed = permission(&feature);
    let mut cause = format!("button/{}/{identifier}", run.id);
    let refusal = match find_refusal(context, needed).await? {
        Some(refusal) => {
            // Each person without the right gets one refusal. The cause names the person, so that a refused press does
            // not count as that of somebody with the right.
            cause = format!("{cause}/{}", origin.sender.user.id);
            Some(refusal)
        }
        None => task.and_then(|task| out_of_date(task, button)),
    };
    let given_command = GivenCommand {
        context,
        on,
        thread: task.and_then(|task| task.pull).map_or(Thread::Issue(key.issue), Thread::Pull),
        to: ReplyTo::Fact(cause.clone()),
        open_cause: Some(format!("{cause}/settings/{}", context.delivery)),
        cause,
        written_at: None,
        issue: None,
        feature,
    };
    given_command.answer_command(Parsed::Command(button.command()), refusal).await
}

/// Refuses a button if the task is no longer blocked: an old check run must not restart a running task.
fn out_of_date(task: &Task, button: Button) -> Option<Refusal> {
    (!task.is_blocked()).then(|| Refusal::TaskNotNow {
        command: button.identifier().to_owned(),
        task: task.id,
        state: task.word().to_owned(),
        instead: Possible::OldButton,
    })
}

/// Returns the Feature or task that a check run is about. A check run's external id is the id of the effect that made it.
fn subject(external_id: &str) -> Option<(FeatureKey, Target)> {
    let mut parts = external_id.split('/');
    let key: Vec<&str> = parts.by_ref().take(3).collect();
    let named = parts.next()?;
    let target = if named == "publish_wave_check" { Target::Feature } else { Target::Task(named.parse().ok()?) };
    Some((key.join("/").parse().ok()?, target))
}

/// Returns the trigger for a button, wherever its check run belongs now.
pub(super) async fn awaited(
    engine: &Engine,
    run: &PressedCheckRun,
    identifier: &str,
    delivery: &str,
) -> Option<AwaitedTrigger> {
    Button::from_identifier(identifier)?;
    let (key, on) = subject(run.external_id.as_deref()?)?;
    let feature = engine.feature(&key).await.ok().flatten();
    let pull = match on {
        Target::Task(id) => feature.and_then(|feature| feature.task(id)?.pull),
        Target::Feature => None,
    };
    Some(AwaitedTrigger {
        trigger: Trigger::Button,
        thread: pull.map_or(Thread::Issue(key.issue), Thread::Pull),
        // The delivery's id is part of the cause, because a button can be pressed again.
        cause: format!("button/{}/{identifier}/{delivery}", run.id),
        comment: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ids::TaskId;

    #[test]
    fn a_check_run_names_its_task_by_the_effect_that_made_it() {
        let (key, task) = subject("7/42/1/TASK-003/publish_check/9").unwrap();
        assert_eq!((key.to_string(), task), ("7/42/1".to_owned(), Target::Task(TaskId::Planned(3))));
        let (_, feature) = subject("7/42/1/publish_wave_check/3").unwrap();
        assert_eq!(feature, Target::Feature);
        for other in ["", "7/42/1", "7/42/1/living/3", "x/y/z/TASK-001", "🦀"] {
            assert_eq!(subject(other), None, "{other}");
        }
    }
}
