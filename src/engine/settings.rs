//! The engine's limits and times.

use crate::{
    config::{Allowances, Concurrency, ProcessLimits, RepositorySettings, RetentionAges},
    github::{Clock, READ_PAUSES},
    telemetry::Telemetry,
};
use domain::{
    budget::Limits,
    ci::CiTimes,
    ids::{InstallationId, RepoId},
    routing::ApiWaits,
};
use parking_lot::Mutex;
use sandbox::egress::Ceiling;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeSet, HashMap},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

/// The forge's treatment of workflows after a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workflows {
    /// Workflows start, as on GitHub.
    Start,
    /// None start, as on the local forge.
    Never,
}

/// How much runs at once, how long things may take, and where files are kept.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// The name of this worker, fresh at every start.
    pub worker: String,
    pub clock: Clock,
    /// The folder for checkouts and mirrors.
    pub data_dir: PathBuf,
    /// The least time between two writes to GitHub for one installation, in milliseconds.
    pub write_spacing_ms: i64,
    /// The number of effects that run at once, per lane.
    pub slots: Slots,
    /// The limits on agents that run at once, beside the slots of this process.
    pub concurrency: Concurrency,
    pub lease: Duration,
    pub renew: Duration,
    /// The time between two searches for effects whose lease has ended.
    pub reap: Duration,
    /// How often the log of deliveries is replayed; `None` if it is not.
    pub replay: Option<Duration>,
    /// How often unfinished Features are compared with GitHub; `None` if they are not.
    pub sweep: Option<Duration>,
    /// How long agents may continue after the process is asked to stop.
    pub grace: Duration,
    /// How long a failed effect waits before it is tried again.
    pub backoff: Backoff,
    /// The pauses before a failed read is repeated within its effect.
    pub read_pauses: [Duration; 2],
    pub ci: CiTimes,
    pub workflows: Workflows,
    /// How long work waits for a model's API.
    pub waits: ApiWaits,
    /// The largest pack of a commit that the database keeps, in bytes. A larger one stays in the data folder.
    pub pack_size: usize,
    /// The least time between two stored updates of a running agent's progress.
    pub progress: Duration,
    /// The spending limits of all installations together for a calendar month.
    pub month: Limits,
    /// The limits of the repositories of each installation.
    pub allowances: Allowances,
    /// How long data of each kind is kept.
    pub ages: RetentionAges,
    /// The handle for sending spans.
    pub telemetry: Telemetry,
    /// Settings that override those of a repository.
    pub overrides: Overrides,
    /// The repositories whose agents this process leaves to others.
    pub others: LeftRepositories,
}

/// Settings, by repository, that override the repository's own file. The command line sets them.
#[derive(Clone, Debug, Default)]
pub struct Overrides(Arc<Mutex<HashMap<RepoId, Map<String, Value>>>>);

impl Overrides {
    /// Replaces the overrides of a repository. An empty map removes them.
    pub fn hold(&self, repo: RepoId, settings: Map<String, Value>) {
        let mut held = self.0.lock();
        held.retain(|known, _| *known != repo);
        if !settings.is_empty() {
            held.insert(repo, settings);
        }
    }

    /// Returns the repository's settings with the overrides applied.
    pub fn above(&self, repo: RepoId, settings: RepositorySettings) -> RepositorySettings {
        let held = self.0.lock();
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

/// The repositories whose agents another process runs, because this process lacks the agent that they name.
#[derive(Clone, Debug, Default)]
pub struct LeftRepositories(Arc<Mutex<BTreeSet<RepoId>>>);

impl LeftRepositories {
    /// Sets if the agents of a repository are left to another process from now on.
    pub fn set(&self, repo: RepoId, is_left: bool) {
        let mut left = self.0.lock();
        if is_left {
            left.insert(repo)
        } else {
            left.remove(&repo)
        };
    }

    /// Returns all repositories whose agents are left to another process.
    pub fn all(&self) -> Vec<RepoId> {
        let left = self.0.lock();
        left.iter().copied().collect()
    }
}

/// The number of effects that this process runs at once.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    pub control: usize,
    /// Calls to GitHub.
    pub forge: usize,
    pub agent: usize,
}

impl Slots {
    /// Returns how many labels that may not be ours are looked up at once. GitHub may answer slowly, so half of the
    /// slots stay free for requests of people.
    pub fn label_lookups(&self) -> usize {
        (self.control / 2).max(1)
    }
}

/// The wait of a failed effect. It doubles from `first` up to `most`, varied by up to 20 %.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// The wait after the first failure.
    pub first: Duration,
    pub most: Duration,
}

impl Backoff {
    /// Returns the wait in milliseconds if `attempts` tries failed before this one, varied by the share `fifth` (-0.2
    /// to 0.2).
    pub fn after(&self, attempts: u32, fifth: f64) -> i64 {
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(attempts.min(16)));
        jitter(doubled.min(self.most), fifth)
    }

    /// Returns the next wait in milliseconds after `waited` milliseconds: a third of it. So a step goes on soon after a
    /// short outage, and tries seldom during a long one.
    pub fn after_waiting(&self, waited: i64, fifth: f64) -> i64 {
        let third = Duration::from_millis(u64::try_from(waited).unwrap_or(0)) / 3;
        jitter(third.max(self.first).min(self.most), fifth)
    }
}

fn jitter(wait: Duration, fifth: f64) -> i64 {
    let moved = wait.mul_f64(1.0 + fifth.clamp(-0.2, 0.2));
    i64::try_from(moved.as_millis()).unwrap_or(i64::MAX)
}

impl EngineSettings {
    /// Returns the pause after a failed try to store a run's result. It is shorter than a lease, so that the work goes
    /// on soon once the database is back.
    pub fn pause_to_store(&self, tries: u32) -> Duration {
        let pause = u64::try_from(self.backoff.after(tries, 0.0)).unwrap_or(0);
        Duration::from_millis(pause).min(self.lease / 2)
    }

    /// Returns the hosts that programs of an installation's repositories may reach at most.
    pub fn ceiling(&self, installation: InstallationId) -> Ceiling {
        let network = self.allowances.of(installation).network.clone();
        Ceiling { hosts: network.allow, pinned: network.pinned, uplink: network.uplink }
    }

    /// Returns the default settings of the server, with this worker's name.
    pub fn service(worker: String, data_dir: PathBuf, clock: Clock) -> Self {
        Self {
            worker,
            clock,
            data_dir,
            write_spacing_ms: 1_000,
            slots: Slots { control: 4, forge: 8, agent: 4 },
            concurrency: Concurrency::default(),
            lease: Duration::from_secs(60),
            renew: Duration::from_secs(15),
            reap: Duration::from_secs(5),
            replay: Some(Duration::from_secs(180)),
            sweep: Some(Duration::from_secs(240)),
            grace: Duration::from_secs(30),
            backoff: Backoff { first: Duration::from_secs(10), most: Duration::from_secs(900) },
            read_pauses: READ_PAUSES,
            ci: CiTimes::PRODUCT,
            workflows: Workflows::Start,
            waits: ApiWaits::PRODUCT,
            pack_size: ProcessLimits::default().pack_size,
            progress: Duration::from_secs(10),
            month: Limits::default(),
            allowances: Allowances::default(),
            ages: RetentionAges::default(),
            telemetry: Telemetry::default(),
            overrides: Overrides::default(),
            others: LeftRepositories::default(),
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
        let file = RepositorySettings { max_tasks: 3, ..RepositorySettings::default() };
        let all = overrides.above(repo, file.clone());
        assert_eq!((all.max_turns, all.max_tasks), (2, 3));
        assert_eq!(all.model.player.as_deref(), Some("big-one"));
        assert_eq!(all.model.coach, None);
        assert_eq!(overrides.above(RepoId(8), file.clone()), file);
    }

    #[test]
    fn the_wait_doubles_and_stops_at_the_most() {
        let backoff = Backoff { first: Duration::from_secs(10), most: Duration::from_secs(900) };
        assert_eq!(
            [0, 1, 2, 6, 7, 60].map(|attempts| backoff.after(attempts, 0.0)),
            [10_000, 20_000, 40_000, 640_000, 900_000, 900_000]
        );
        assert_eq!(backoff.after(0, 7.0), 12_000);
        assert_eq!(
            [0, 10_000, 120_000, 7_200_000].map(|waited| backoff.after_waiting(waited, 0.0)),
            [10_000, 10_000, 40_000, 900_000]
        );
    }
}
