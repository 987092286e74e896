//! Commands over one task, and when they do not fit it.

use crate::{
    feature::{
        feature::Feature,
        moves::Step,
        refusal::{Possible, Refusal},
        state::State,
        waves::on_task,
    },
    ids::{Millis, Sha, TaskId, User},
    task,
    task::{PersonDid, Task},
};

pub(super) fn over_task(
    feature: Feature,
    id: TaskId,
    command: &str,
    by: User,
    did: PersonDid,
    at: Millis,
) -> Result<Step, Refusal> {
    match &feature.state {
        State::Building { .. } | State::Paused { .. } | State::Blocked { .. } | State::InReview => {}
        State::Planning { .. }
        | State::AwaitingApproval
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => {
            return Err(Refusal::not_now(&feature.state, command, Possible::Building));
        }
    }
    let Some(task) = feature.task(id) else {
        let known = feature.tasks.iter().map(|task| task.id).collect();
        return Err(Refusal::NoSuchTask { task: id, known });
    };
    if let (PersonDid::Override, true, Some(refusal)) = (&did, task.is_blocked(), secret(task)) {
        return Err(refusal);
    }
    match misfit(task, &did) {
        Some(instead) => Err(Refusal::TaskNotNow {
            command: command.to_owned(),
            task: id,
            state: task.state.word().to_owned(),
            instead,
        }),
        None => Ok(on_task(feature, id, task::Event::Person { by, did }, at)),
    }
}

/// Why an approving review does not override a blocked task.
pub fn review_refused(task: &Task, commit: Option<&Sha>) -> Option<Refusal> {
    let head = task.head.as_ref().filter(|_| task.is_blocked())?;
    match commit == Some(head) {
        true => secret(task),
        false => Some(Refusal::StaleReview {
            task: task.id,
            head: head.clone(),
        }),
    }
}

fn secret(task: &Task) -> Option<Refusal> {
    let item = task.secret()?;
    let file = item.file.clone().unwrap_or_default();
    let place = item.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
    Some(Refusal::SecretFound { task: task.id, place })
}

/// What is possible instead of a command that does not fit the task's state.
fn misfit(task: &Task, did: &PersonDid) -> Option<Possible> {
    let (fits, instead) = match did {
        PersonDid::Resume { .. } => (task.can_resume(), Possible::StoppedTask),
        PersonDid::Override => (task.is_blocked() && task.overridable().is_some(), Possible::PushedTask),
        PersonDid::Retry { .. } => (!task.is_completed(), Possible::CompletedStays),
        PersonDid::Pause => (!task.is_over() && !task.is_blocked(), Possible::RunningTask),
        PersonDid::Skip | PersonDid::Cancel => (!task.is_over(), Possible::Ended),
        PersonDid::Approve { .. }
        | PersonDid::Remark(_)
        | PersonDid::ClosePull { .. }
        | PersonDid::ReopenPull { .. }
        | PersonDid::MergePull { .. }
        | PersonDid::Push { .. }
        | PersonDid::Rerun { .. }
        | PersonDid::ForcePush { .. }
        | PersonDid::RequestChanges(_)
        | PersonDid::WithdrawChanges { .. } => return None,
    };
    (!fits).then_some(instead)
}
