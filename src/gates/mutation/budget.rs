//! The time budget of the experiments that only lead to questions, and those that did not fit into it.

use crate::config::Depth;
use domain::evidence::{Experiment, Fact};
use std::time::Duration;

/// The least time that these runs get together.
const LEAST: Duration = Duration::from_secs(30);

/// The time that is left for experiments.
pub(super) struct Budget {
    whole: Duration,
    left: Duration,
    ran: Vec<Experiment>,
    left_out: Vec<Experiment>,
}

impl Budget {
    pub(super) fn of(depth: Depth, plain: Duration) -> Self {
        let share = match depth {
            Depth::Quick => plain / 5,
            Depth::Standard => plain,
            Depth::Thorough => plain.saturating_mul(10),
        };
        let whole = share.max(LEAST);
        Self { whole, left: whole, ran: Vec::new(), left_out: Vec::new() }
    }

    /// Returns how long the next run may take; `None` if no time is left.
    pub(super) fn remaining(&self) -> Option<Duration> {
        (!self.left.is_zero()).then_some(self.left)
    }

    pub(super) fn spend(&mut self, took: Duration) {
        self.left = self.left.saturating_sub(took);
    }

    pub(super) fn ran(&mut self, experiment: Experiment) {
        self.ran.push(experiment);
    }

    pub(super) fn leave_out(&mut self, experiment: Experiment) {
        self.left_out.push(experiment);
    }

    /// Returns which experiments ran and which did not; `None` if there was nothing to try.
    pub(super) fn fact(&self) -> Option<Fact> {
        let is_empty = self.ran.is_empty() && self.left_out.is_empty();
        (!is_empty).then(|| Fact::Experimented {
            ran: self.ran.clone(),
            left_out: self.left_out.clone(),
            seconds: self.whole.as_secs(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_share_of_the_plain_run_and_never_less_than_30_seconds() {
        let seconds = Duration::from_secs;
        let table = [
            (Depth::Quick, 5, 30),
            (Depth::Quick, 200, 40),
            (Depth::Standard, 2, 30),
            (Depth::Standard, 60, 60),
            (Depth::Thorough, 1, 30),
            (Depth::Thorough, 60, 600),
        ];
        for (depth, plain, expected) in table {
            let budget = Budget::of(depth, seconds(plain));
            assert_eq!(budget.remaining(), Some(seconds(expected)), "{depth:?} {plain}");
        }
        let mut budget = Budget::of(Depth::Standard, seconds(30));
        budget.spend(seconds(40));
        assert_eq!(budget.remaining(), None);
        budget.ran(Experiment::EmptiedFunctions);
        budget.leave_out(Experiment::EachAssertion);
        let fact = Fact::Experimented {
            ran: vec![Experiment::EmptiedFunctions],
            left_out: vec![Experiment::EachAssertion],
            seconds: 30,
        };
        assert_eq!(budget.fact(), Some(fact));
    }
}
