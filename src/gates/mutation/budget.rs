//! The time budget of the runs that only ask, and what did not fit into it.

use crate::config::Depth;
use std::time::Duration;

/// The least time that these runs get together.
const LEAST: Duration = Duration::from_secs(5);

/// The time that is left for experiments.
pub(super) struct Budget {
    whole: Duration,
    left: Duration,
    ran: Vec<&'static str>,
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
            ran: Vec::new(),
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

    pub(super) fn ran(&mut self, name: &'static str) {
        self.ran.push(name);
    }

    pub(super) fn leave_out(&mut self, name: &'static str) {
        self.left_out.push(name);
    }

    /// Says in a sentence which experiments ran and which did not; `None` if there was nothing to try.
    pub(super) fn sentence(&self) -> Option<String> {
        let (names, out, seconds) = (self.ran.join(", "), self.left_out.join(", "), self.whole.as_secs());
        match (self.ran.is_empty(), self.left_out.is_empty()) {
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
    fn a_budget_is_a_share_of_the_plain_run_and_never_less_than_5_seconds() {
        let seconds = Duration::from_secs;
        let table = [
            (Depth::Quick, 5, 5),
            (Depth::Quick, 200, 40),
            (Depth::Standard, 2, 5),
            (Depth::Standard, 60, 60),
            (Depth::Thorough, 1, 10),
            (Depth::Thorough, 60, 600),
        ];
        for (depth, plain, expected) in table {
            let budget = Budget::of(depth, seconds(plain));
            assert_eq!(budget.left(), Some(seconds(expected)), "{depth:?} {plain}");
        }
        let mut budget = Budget::of(Depth::Standard, seconds(30));
        budget.spend(seconds(40));
        assert_eq!(budget.left(), None);
        budget.ran("emptied functions");
        budget.leave_out("each assertion");
        assert_eq!(
            budget.sentence().unwrap(),
            "ran: emptied functions; left out, because 30 s for all experiments were not enough: each assertion"
        );
    }
}
