//! The things that a Feature needs from a person. The person who labelled the issue is asked once for each wait.
//!
//! Blocks are not listed here: their reports mention the person themselves.

use crate::{
    effect::{Effect, PublicAct, Wait},
    feature::{
        feature::Feature,
        moves::{Step, emit},
        state::{Phase, State},
    },
    task,
    task::MergeState,
};

impl Feature {
    /// Returns everything that waits for a person now, except blocks.
    pub fn waits(&self) -> Vec<Wait> {
        match &self.state {
            State::AwaitingApproval => self.approval().into_iter().collect(),
            State::Failed { .. } => vec![Wait::NoPlan],
            State::InReview => self.merges().chain(self.pull.map(|pull| Wait::Review { pull })).collect(),
            State::Building { phase: Phase::HeldCi } => self.merges().chain([Wait::Ci]).collect(),
            State::Building { .. } | State::Paused { .. } | State::Blocked { .. } => self.merges().collect(),
            State::Planning { .. } | State::Completed | State::Cancelled { .. } => Vec::new(),
        }
    }

    /// Returns the wait for approval, once people can read the plan: the living comment shows it, or could not be
    /// posted.
    fn approval(&self) -> Option<Wait> {
        let plan = self.plan.as_ref()?;
        let is_shown = plan.shown_at.is_some() || self.failed_acts.iter().any(|act| act.what == PublicAct::Living);
        is_shown.then_some(Wait::Approval { plan: plan.number })
    }

    fn merges(&self) -> impl Iterator<Item = Wait> {
        self.tasks.iter().filter_map(|task| {
            let task::State::Approved { turn, merge, .. } = &task.state else {
                return None;
            };
            let (task, turn) = (task.id, *turn);
            match merge {
                MergeState::Due { .. } => None,
                MergeState::Person => Some(Wait::Merge { task, turn }),
                MergeState::Refused { .. } => Some(Wait::MergeRefused { task, turn }),
            }
        })
    }
}

/// Asks the person for each wait that was not there `before`.
pub(super) fn ask(step: &mut Step, before: &[Wait]) {
    for wait in step.feature.waits() {
        if !before.contains(&wait) {
            let emission = match wait.task().and_then(|task| step.feature.task(task)) {
                Some(task) => task.emitted,
                None => emit(&mut step.feature),
            };
            step.effects.push(Effect::AskPerson { emission, wait });
        }
    }
}
