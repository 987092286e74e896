//! Limits and times of the engine.

use crate::{
    config::{MonthlyBudget, RepositorySettings},
    github::{Clock, READ_PAUSES},
    telemetry::Telemetry,
};
use domain::{ci::CiTimes, ids::RepoId, routing, routing::Waits};
use sandbox::egress::Ceiling;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeSet, HashMap},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// How much runs at once, how long things may take, and where they happen.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// The name of this worker, fresh at every start.
    pub worker: String,
    /// The one clock.
    pub clock: Clock,
    /// Folder for checkouts and mirrors.
    pub data_dir: PathBuf,
    /// Least time between writes to GitHub per installation, in milliseconds.
    pub write_spacing_ms: i64,
    /// Effects at once per lane.
    pub slots: Slots,
    /// Agent effects of one installation that may run at once.
    pub agents_per_installation: u32,
    /// How long a claim holds.
    pub lease: Duration,
    /// How often it is renewed.
    pub renew: Duration,
    /// How often lost claims are taken back.
    pub reap: Duration,
    /// How long agents may go on after the order to stop.
    pub grace: Duration,
    /// How long a failed effect waits before it is tried again.
    pub backoff: Backoff,
    /// How long a failed read waits before it is tried again, within its effect.
    pub read_pauses: [Duration; 2],
    /// How long the repository's own CI is waited for.
    pub ci: CiTimes,
    /// How long work waits for a model's API.
    pub waits: Waits,
    /// How often what a running agent does is written down, at most.
    pub progress: Duration,
    /// What may be spent in a calendar month.
    pub budget: MonthlyBudget,
    /// The most that foreign programs may reach.
    pub network: Ceiling,
    /// Who is told how long work took.
    pub telemetry: Telemetry,
    /// Settings that hold above those of a repository.
    pub overrides: Overrides,
    /// Repositories whose agents this process leaves.
    pub others: Others,
}

/// Settings by repository that hold above what its own file says: whoever starts work on the command line gives them.
#[derive(Clone, Debug, Default)]
pub struct Overrides(Arc<Mutex<HashMap<RepoId, Map<String, Value>>>>);

impl Overrides {
    /// Holds these for a repository from now on, and no others.
    pub fn hold(&self, repo: RepoId, settings: Map<String, Value>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|known, _| *known != repo);
        if !settings.is_empty() {
            held.insert(repo, settings);
        }
    }

    /// What a repository's settings come to.
    pub fn above(&self, repo: RepoId, settings: RepositorySettings) -> RepositorySettings {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(held), Ok(Value::Object(mut all))) = (held.get(&repo), serde_json::to_value(&settings)) else {
            return settings;
        };
        for (key, value) in held {
            match (all.get_mut(key), value) {
                (Some(Value::Object(known)), Value::Object(more)) => known.extend(more.clone()),
                _ => drop(all.insert(key.clone(), value.clone())),
            }
        }
        serde_json::from_value(Value::Object(all)).unwrap_or(settings)
    }
}

/// Repositories whose agents another process runs: they name another agent than this one has.
#[derive(Clone, Debug, Default)]
pub struct Others(Arc<Mutex<BTreeSet<RepoId>>>);

impl Others {
    /// Leaves the agents of a repository, or runs them, from now on.
    pub fn set(&self, repo: RepoId, is_left: bool) {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match is_left {
            true => left.insert(repo),
            false => left.remove(&repo),
        };
    }

    /// All that are left.
    pub fn all(&self) -> Vec<RepoId> {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.iter().copied().collect()
    }
}

/// Effects of this process that run at once.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    /// Deliveries that are read.
    pub control: usize,
    /// Calls to the forge.
    pub forge: usize,
    /// Agents and Gates.
    pub agent: usize,
}

/// How long a failed effect waits: doubling from `first` to `most`, give or take a fifth.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// After the first failure.
    pub first: Duration,
    /// At most.
    pub most: Duration,
}

impl Backoff {
    /// The wait in milliseconds after `attempts` failures, moved by `fifth` (-0.2 to 0.2 of it).
    pub fn after(&self, attempts: u32, fifth: f64) -> i64 {
        let doubled = self
            .first
            .saturating_mul(2_u32.saturating_pow(attempts.min(16)))
            .min(self.most);
        moved(doubled, fifth)
    }

    /// The wait in milliseconds after one has waited for `waited`: as long again, which doubles too.
    pub fn after_waiting(&self, waited: i64, fifth: f64) -> i64 {
        let waited = Duration::from_millis(u64::try_from(waited).unwrap_or(0));
        moved(waited.max(self.first).min(self.most), fifth)
    }
}

fn moved(wait: Duration, fifth: f64) -> i64 {
    let moved = wait.mul_f64(1.0 + fifth.clamp(-0.2, 0.2));
    i64::try_from(moved.as_millis()).unwrap_or(i64::MAX)
}

impl Backoff {
    /// The wait in milliseconds after `attempts` failures where the forge asks to be left alone for `asked` milliseconds.
    pub fn as_told(&self, attempts: u32, asked: i64) -> i64 {
        let most = i64::try_from(self.most.as_millis()).unwrap_or(i64::MAX);
        let seconds = asked.saturating_add(999).max(0) / 1_000;
        routing::told(seconds, attempts, most)
    }
}

impl EngineSettings {
    /// The settings of a service, with this worker's name.
    pub fn service(worker: String, data_dir: PathBuf, clock: Clock) -> Self {
        Self {
            worker,
            clock,
            data_dir,
            write_spacing_ms: 1_000,
            slots: Slots {
                control: 4,
                forge: 8,
                agent: 4,
            },
            agents_per_installation: 4,
            lease: Duration::from_secs(60),
            renew: Duration::from_secs(15),
            reap: Duration::from_secs(5),
            grace: Duration::from_secs(30),
            backoff: Backoff {
                first: Duration::from_secs(10),
                most: Duration::from_secs(900),
            },
            read_pauses: READ_PAUSES,
            ci: CiTimes::PRODUCT,
            waits: Waits::PRODUCT,
            progress: Duration::from_secs(10),
            budget: MonthlyBudget::default(),
            network: Ceiling::default(),
            telemetry: Telemetry::default(),
            overrides: Overrides::default(),
            others: Others::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_on_the_command_line_holds_above_the_file() {
        let (overrides, repo) = (Overrides::default(), RepoId(7));
        let given = serde_json::json!({"max_turns": 2, "model": {"player": "big-one"}});
        overrides.hold(repo, given.as_object().cloned().unwrap());
        let file = RepositorySettings {
            max_tasks: 3,
            ..RepositorySettings::default()
        };
        let all = overrides.above(repo, file.clone());
        assert_eq!((all.max_turns, all.max_tasks), (2, 3));
        assert_eq!(all.model.player.as_deref(), Some("big-one"));
        assert_eq!(all.model.coach, None);
        assert_eq!(overrides.above(RepoId(8), file.clone()), file);
    }

    #[test]
    fn the_wait_doubles_and_stops_at_the_most() {
        let backoff = Backoff {
            first: Duration::from_secs(10),
            most: Duration::from_secs(900),
        };
        assert_eq!(
            [0, 1, 2, 6, 7, 60].map(|attempts| backoff.after(attempts, 0.0)),
            [10_000, 20_000, 40_000, 640_000, 900_000, 900_000]
        );
        assert_eq!(backoff.after(0, 7.0), 12_000);
        assert_eq!(
            [0, 1, 2, 3].map(|attempts| backoff.as_told(attempts, 1_500)),
            [2_000, 2_000, 2_000, 4_000],
            "what the forge asks for counts, not ours"
        );
        assert_eq!(
            [0, 10_000, 20_000, 7_200_000].map(|waited| backoff.after_waiting(waited, 0.0)),
            [10_000, 10_000, 20_000, 900_000]
        );
    }
}
