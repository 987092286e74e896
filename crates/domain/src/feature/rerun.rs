//! GitHub's _Re-run_ and _Re-run all checks_: a person wants the checks of a commit again.

use crate::{
    feature::{
        feature::Feature,
        moves::{Step, tell, unchanged},
        phases,
        state::{Phase, State},
        waves,
    },
    ids::{Millis, Sha, TaskId, User},
    task,
    task::{PersonDid, Task},
};

impl Feature {
    /// Whether one of our check runs is, or will be, on this commit.
    pub fn checks(&self, commit: &Sha) -> bool {
        self.is_gated(commit) || self.tasks.iter().any(|task| is_of(task, commit))
    }

    /// The task that a commit was checked for, or waits in.
    pub fn task_at(&self, commit: &Sha) -> Option<&Task> {
        self.tasks.iter().find(|task| is_of(task, commit))
    }

    fn is_gated(&self, commit: &Sha) -> bool {
        let head = self.integration.as_ref().map(|integration| &integration.head);
        let waits = matches!(self.state, State::InReview) || self.gate_waits();
        self.gates.iter().any(|gate| gate.head == *commit) || waits && head == Some(commit)
    }

    fn gate_waits(&self) -> bool {
        match &self.state {
            State::Blocked { phase, .. } => matches!(phase, Phase::Gate { .. }),
            State::Planning { .. }
            | State::AwaitingApproval
            | State::Building { .. }
            | State::Paused { .. }
            | State::InReview
            | State::Completed
            | State::Cancelled { .. }
            | State::Failed { .. } => false,
        }
    }
}

fn is_of(task: &Task, commit: &Sha) -> bool {
    let known = |head: Option<&Sha>| head == Some(commit);
    known(task.head.as_ref()) || task.turns.iter().any(|turn| known(turn.head.as_ref()))
}

/// What stands on the commit is checked again where that can change something, else said again. An ended run says nothing.
pub(super) fn rerun(feature: Feature, head: &Sha, by: &User, at: Millis) -> Step {
    if !feature.is_unfinished() {
        return unchanged(feature);
    }
    if feature.is_gated(head) {
        return gate_again(feature, head);
    }
    let ids: Vec<TaskId> = feature
        .tasks
        .iter()
        .filter(|task| is_of(task, head))
        .map(|task| task.id)
        .collect();
    let before = feature.tasks.clone();
    let mut step = unchanged(feature);
    for id in ids {
        let event = task::Event::Person {
            by: by.clone(),
            did: PersonDid::Rerun { head: head.clone() },
        };
        tell(&mut step, id, event, at);
    }
    let states = |tasks: &[Task]| tasks.iter().map(|task| task.state.clone()).collect::<Vec<_>>();
    match states(&step.feature.tasks) == states(&before) {
        true => step,
        false => waves::settle(step, at),
    }
}

/// The wave gate runs again on the head that waits for a person; what another head got is said again.
fn gate_again(feature: Feature, head: &Sha) -> Step {
    let newest = feature.integration.as_ref().map(|integration| &integration.head) == Some(head);
    match feature.state.clone() {
        State::InReview if newest && feature.checking.is_none() => phases::check_again(unchanged(feature)),
        State::Blocked {
            phase: Phase::Gate { then, .. },
            ..
        } if newest => phases::gate(unchanged(feature), then),
        State::Planning { .. }
        | State::AwaitingApproval
        | State::Building { .. }
        | State::Paused { .. }
        | State::Blocked { .. }
        | State::InReview
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => {
            let said = feature.checking.is_none() && feature.gates.last().is_some_and(|gate| gate.head == *head);
            match said {
                true => phases::publish(unchanged(feature)),
                false => unchanged(feature),
            }
        }
    }
}
