//! What work cost so far, with what is not known about it.

use crate::{
    at_work::AtWork,
    ids::{Millis, TaskId},
    usage::Tokens,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, ops::AddAssign};

/// What runs of agents cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Runs of agents, failed ones too.
    pub agent_runs: u32,
    /// Time that agents ran, in milliseconds.
    pub agent_ms: u64,
    /// Money in millionths of a US dollar, as far as it is known; `None` where no run's is.
    pub usd_micros: Option<u64>,
    /// Runs whose money is an estimate: of a price table, or the whole share of a run that could not tell.
    pub estimated_runs: u32,
    /// Ended runs whose money nobody knows.
    pub unknown_runs: u32,
    /// Runs that have not ended.
    pub open_runs: u32,
    /// Tokens, where they were told.
    pub tokens: Tokens,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.agent_runs = self.agent_runs.saturating_add(other.agent_runs);
        self.agent_ms = self.agent_ms.saturating_add(other.agent_ms);
        self.usd_micros = match (self.usd_micros, other.usd_micros) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        self.estimated_runs = self.estimated_runs.saturating_add(other.estimated_runs);
        self.unknown_runs = self.unknown_runs.saturating_add(other.unknown_runs);
        self.open_runs = self.open_runs.saturating_add(other.open_runs);
        self.tokens += other.tokens;
    }
}

/// What a Feature cost so far, and what it is expected to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// By task; what belongs to none, as the planner's run, stands under `None`.
    pub by_task: BTreeMap<Option<TaskId>, Cost>,
    /// A guess made before the work, where one can be made.
    pub estimate: Option<Estimate>,
    /// What waits for a model's API or for GitHub now.
    pub waiting: Vec<Waiting>,
    /// What runs now.
    pub at_work: Vec<AtWork>,
}

impl Spending {
    /// What one task cost.
    pub fn of(&self, task: TaskId) -> Cost {
        self.by_task.get(&Some(task)).copied().unwrap_or_default()
    }

    /// What everything cost.
    pub fn in_all(&self) -> Cost {
        let mut sum = Cost::default();
        for cost in self.by_task.values() {
            sum += *cost;
        }
        sum
    }
}

/// What work waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsOn {
    /// A model's API.
    Model,
    /// GitHub, or the network between.
    GitHub,
}

/// Work that waits for something that passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// For what.
    pub on: WaitsOn,
    /// The task; none for the Feature's own work.
    pub task: Option<TaskId>,
    /// When it goes on.
    pub until: Millis,
}

/// What the work may cost, in millionths of a US dollar: guessed, and said to be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// If every task is approved in its first turn.
    pub least: u64,
    /// If every task uses up its turns.
    pub most: u64,
    /// How many earlier tasks of the repository it is based on; none: on complexity alone.
    pub tasks_before: Option<u64>,
}

/// One turn of Player and Coach on work of complexity 1, in millionths of a US dollar. A rule of thumb.
const TURN_MICROS: u64 = 80_000;

/// A task's history says more than a rule of thumb from this many tasks on.
const ENOUGH_TASKS: u64 = 5;

/// Guesses what tasks of these complexities cost. `earlier` is what a task of the repository cost on average, and of how
/// many tasks that is; no task costs more than its own limit.
pub fn estimate(complexities: &[u8], turns: u32, earlier: Option<(u64, u64)>, limit: Option<u64>) -> Option<Estimate> {
    if complexities.is_empty() {
        return None;
    }
    let tasks = u64::try_from(complexities.len()).unwrap_or(u64::MAX);
    let capped = |micros: u64| limit.map_or(micros, |limit| micros.min(limit));
    if let Some((average, count)) = earlier.filter(|(_, count)| *count >= ENOUGH_TASKS) {
        return Some(Estimate {
            least: capped(average / 2).saturating_mul(tasks),
            most: capped(average.saturating_mul(2)).saturating_mul(tasks),
            tasks_before: Some(count),
        });
    }
    let of = |turns: u32| {
        complexities
            .iter()
            .map(|complexity| capped(TURN_MICROS * u64::from(*complexity) * u64::from(turns)))
            .fold(0, u64::saturating_add)
    };
    Some(Estimate {
        least: of(1),
        most: of(turns.clamp(1, 100)),
        tasks_before: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_grows_with_complexity_and_turns_and_stays_within_the_limits() {
        let guess = estimate(&[2, 10], 5, None, Some(1_000_000)).unwrap();
        assert_eq!((guess.least, guess.most), (160_000 + 800_000, 800_000 + 1_000_000));
        assert_eq!(estimate(&[], 5, None, None), None);
    }

    #[test]
    fn enough_history_is_better_than_a_rule_of_thumb() {
        let earlier = |count| estimate(&[1, 1], 5, Some((300_000, count)), None).unwrap();
        assert_eq!(earlier(4).tasks_before, None);
        let guess = earlier(5);
        assert_eq!(
            (guess.least, guess.most, guess.tasks_before),
            (300_000, 1_200_000, Some(5))
        );
    }
}
