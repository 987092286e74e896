//! The cost of the work so far, and how much of it is unknown.

use crate::{
    at_work::AtWork,
    ids::{Millis, TaskId},
    refused_host::RefusedHost,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, ops::AddAssign};
use text::usage::{Tokens, known_sum};

/// The cost of agent runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// The number of runs, including failed ones.
    pub agent_runs: u32,
    /// The time that agents ran, in milliseconds.
    pub agent_ms: u64,
    /// The known cost in millionths of a US dollar; `None` if no run's cost is known.
    pub usd_micros: Option<u64>,
    /// The number of runs whose cost is an estimate: from a price table, or the full share of a run that reported no
    /// cost.
    pub estimated_runs: u32,
    /// The number of ended runs whose cost is unknown.
    pub unknown_runs: u32,
    /// The number of runs that have not ended.
    pub open_runs: u32,
    /// The tokens that runs reported.
    pub tokens: Tokens,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.agent_runs = self.agent_runs.saturating_add(other.agent_runs);
        self.agent_ms = self.agent_ms.saturating_add(other.agent_ms);
        self.usd_micros = known_sum(self.usd_micros, other.usd_micros);
        self.estimated_runs = self.estimated_runs.saturating_add(other.estimated_runs);
        self.unknown_runs = self.unknown_runs.saturating_add(other.unknown_runs);
        self.open_runs = self.open_runs.saturating_add(other.open_runs);
        self.tokens += other.tokens;
    }
}

/// The cost of a Feature so far, and its estimated total.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// The cost by task. Work that belongs to no task, such as the planner's run, is under `None`.
    pub by_task: BTreeMap<Option<TaskId>, Cost>,
    /// An estimate made before the work; `None` if none can be made.
    pub estimate: Option<Estimate>,
    /// The work that waits for a model's API or for GitHub now.
    pub waiting: Vec<Waiting>,
    /// The runs of agents that have not ended.
    pub at_work: Vec<AtWork>,
    /// The hosts that programs at work did not reach.
    pub refused: Vec<RefusedHost>,
}

impl Spending {
    pub fn of_task(&self, task: TaskId) -> Cost {
        self.by_task.get(&Some(task)).copied().unwrap_or_default()
    }

    pub fn total(&self) -> Cost {
        let mut sum = Cost::default();
        for cost in self.by_task.values() {
            sum += *cost;
        }
        sum
    }
}

/// The service that work waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitsOn {
    /// The API of this provider of models.
    Model(String),
    /// GitHub, or the network between GitHub and AutoBuild.
    GitHub,
    /// The machine that runs AutoBuild, or its database.
    Machine,
    /// The end of a failure that may also last.
    Unknown,
}

/// Work that waits for an outage or a limit to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub on: WaitsOn,
    /// The task; `None` for the Feature's own work.
    pub task: Option<TaskId>,
    /// The time at which it continues.
    pub until: Millis,
}

/// The estimated cost of the work, in millionths of a US dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The cost if every task is approved in its first turn.
    pub least: u64,
    /// The cost if every task uses all its turns.
    pub most: u64,
    /// The number of earlier tasks of the repository that the estimate is based on; `None` if it is based on complexity
    /// alone.
    pub tasks_before: Option<u64>,
}

/// The assumed cost of one turn of Player and Coach on work of complexity 1, in millionths of a US dollar. A rule of
/// thumb.
const TURN_MICROS: u64 = 80_000;

/// From this many earlier tasks on, their average cost replaces the rule of thumb.
const ENOUGH_TASKS: u64 = 5;

/// The cost of the repository's earlier tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlierTasks {
    /// The average cost of one, in millionths of a US dollar.
    pub average: u64,
    /// The number of tasks in the average.
    pub count: u64,
}

/// Estimates the cost of tasks of these complexities. No task is estimated above `limit`. Returns `None` if there are
/// no tasks.
pub fn estimate(
    complexities: &[u8],
    turns: u32,
    earlier: Option<EarlierTasks>,
    limit: Option<u64>,
) -> Option<Estimate> {
    if complexities.is_empty() {
        return None;
    }
    let tasks = u64::try_from(complexities.len()).unwrap_or(u64::MAX);
    let capped = |micros: u64| limit.map_or(micros, |limit| micros.min(limit));
    if let Some(EarlierTasks { average, count }) = earlier.filter(|earlier| earlier.count >= ENOUGH_TASKS) {
        return Some(Estimate {
            least: capped(average / 2).saturating_mul(tasks),
            most: capped(average.saturating_mul(2)).saturating_mul(tasks),
            tasks_before: Some(count),
        });
    }
    let of = |turns: u32| {
        let costs = complexities.iter().map(|complexity| TURN_MICROS * u64::from(*complexity) * u64::from(turns));
        costs.map(capped).fold(0, u64::saturating_add)
    };
    Some(Estimate { least: of(1), most: of(turns.clamp(1, 100)), tasks_before: None })
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
        let earlier = |count| estimate(&[1, 1], 5, Some(EarlierTasks { average: 300_000, count }), None).unwrap();
        assert_eq!(earlier(4).tasks_before, None);
        let guess = earlier(5);
        assert_eq!((guess.least, guess.most, guess.tasks_before), (300_000, 1_200_000, Some(5)));
    }
}
