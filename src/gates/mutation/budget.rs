//! The time budget that all experiments share, and the experiments that did not fit.

use crate::config::Depth;
use std::time::Duration;

/// The least time that the experiments get together.
const LEAST: Duration = Duration::from_secs(20);

/// The time that is left for experiments.
pub(super) struct Budget {
    whole: Duration,
    left: Duration,
    left_out: Vec<&'static str>,
}

impl Budget {
    pub(super) fn of(depth: Depth, plain: Duration) -> Self {
        let share = match depth {
            Depth::Quick => plain / 5,
            Depth::Standard => plain,
            Depth::Thorough => plain.saturating_mul(10),
        };
        let whole = share.max(LEAST);
        Self {
            whole,
            left: whole,
            left_out: Vec::new(),
        }
    }

    /// Returns how long the next run may take; `None` if no time is left.
    pub(super) fn left(&self) -> Option<Duration> {
        (!self.left.is_zero()).then_some(self.left)
    }

    pub(super) fn spend(&mut self, took: Duration) {
        self.left = self.left.saturating_sub(took);
    }

    pub(super) fn leave_out(&mut self, name: &'static str) {
        self.left_out.push(name);
    }

    /// Says in a sentence which experiments ran and which did not; `None` if there was nothing to try.
    pub(super) fn sentence(&self, ran: &[&'static str]) -> Option<String> {
        let (names, out, seconds) = (ran.join(", "), self.left_out.join(", "), self.whole.as_secs());
        match (ran.is_empty(), self.left_out.is_empty()) {
            (true, true) => None,
            (false, true) => Some(format!("ran: {names}")),
            (true, false) => Some(format!("left out, because {seconds} s were not enough: {out}")),
            (false, false) => Some(format!(
                "ran: {names}; left out, because {seconds} s for all experiments were not enough: {out}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_share_of_the_plain_run_and_never_less_than_20_seconds() {
        let seconds = Duration::from_secs;
        let table = [
            (Depth::Quick, 5, 20),
            (Depth::Quick, 200, 40),
            (Depth::Standard, 5, 20),
            (Depth::Standard, 60, 60),
            (Depth::Thorough, 1, 20),
            (Depth::Thorough, 60, 600),
        ];
        for (depth, plain, expected) in table {
            let budget = Budget::of(depth, seconds(plain));
            assert_eq!(budget.left(), Some(seconds(expected)), "{depth:?} {plain}");
        }
        let mut budget = Budget::of(Depth::Standard, seconds(30));
        budget.spend(seconds(40));
        assert_eq!(budget.left(), None);
        budget.leave_out("golden files");
        let sentence = budget.sentence(&["empty bodies"]);
        assert_eq!(
            sentence.unwrap(),
            "ran: empty bodies; left out, because 30 s for all experiments were not enough: golden files"
        );
    }
}
