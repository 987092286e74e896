//! Figures over many Features, for the people who pay: the costs, and how often the work succeeded.

use crate::{
    engine::{Engine, view::ViewError},
    store::{DaySpent, StoreError},
};
use domain::{
    budget::Month,
    decision::Outcome,
    feature::{Feature, State},
    ids::{FeatureKey, InstallationId, Millis, RepoId, RepoName},
};
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, HashMap},
    ops::AddAssign,
};

/// The most ended Features that the figures cover.
const MOST: u32 = 200;

/// The spending of this month and the success of the last Features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    pub month: Month,
    /// The spending of the month, by day and repository.
    pub spent: Vec<DaySpent>,
    /// The monthly limit for the whole server, in millionths of a US dollar.
    pub server_limit: Option<u64>,
    /// The monthly limits of the installations that have one, in millionths of a US dollar.
    pub installation_limits: BTreeMap<InstallationId, u64>,
    /// The names of repositories, as far as they are known.
    pub names: BTreeMap<RepoId, RepoName>,
    /// The success of the last Features.
    pub success: Success,
    /// The beginning of the current day, UTC.
    pub today: Millis,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Success {
    pub ended: u32,
    pub completed: u32,
    /// The number of those that were merged without help from people after the label.
    pub alone: u32,
    pub tasks: u32,
    pub turns: u32,
    pub approvals: u32,
    /// The number of those after which the task needed another turn.
    pub overturned: u32,
    pub refusals: u32,
    /// Waivers: approvals by a person of a turn that ended with feedback.
    pub waived: u32,
}

/// The help of people between the label and the merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Help {
    None,
    People,
}

impl AddAssign for Success {
    fn add_assign(&mut self, other: Self) {
        let pairs = [
            (&mut self.ended, other.ended),
            (&mut self.completed, other.completed),
            (&mut self.alone, other.alone),
            (&mut self.tasks, other.tasks),
            (&mut self.turns, other.turns),
            (&mut self.approvals, other.approvals),
            (&mut self.overturned, other.overturned),
            (&mut self.refusals, other.refusals),
            (&mut self.waived, other.waived),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
    }
}

/// Counts the success of one Feature; zero if it has not ended.
pub fn success(feature: &Feature, help: Help) -> Success {
    if feature.is_unfinished() {
        return Success::default();
    }
    let completed = u32::from(feature.state == State::Completed);
    let mut success = Success {
        ended: 1,
        completed,
        alone: match help {
            Help::None => completed,
            Help::People => 0,
        },
        ..Success::default()
    };
    for task in &feature.tasks {
        let turns = u32::try_from(task.turns.len()).unwrap_or(u32::MAX);
        if task.is_completed() {
            success.tasks += 1;
            success.turns = success.turns.saturating_add(turns);
        }
        for (later, turn) in task.turns.iter().rev().enumerate() {
            match turn.verdict.as_ref().map(|verdict| verdict.outcome) {
                Some(Outcome::Approve) => {
                    success.approvals += 1;
                    success.overturned += u32::from(later > 0);
                }
                Some(Outcome::Feedback) => success.refusals += 1,
                None => {}
            }
        }
        let waived = u32::try_from(task.waived.len()).unwrap_or(u32::MAX);
        success.waived = success.waived.saturating_add(waived);
    }
    success
}

/// A cache of counted Features, each with the version at which it was counted.
#[derive(Debug, Default)]
pub struct CountedFeatures(Mutex<HashMap<FeatureKey, (i64, Success)>>);

impl Engine {
    /// Returns the current figures. Features in `counted` that have not changed are not read again.
    pub async fn figures(&self, counted: &CountedFeatures) -> Result<Figures, ViewError> {
        const DAY: i64 = 86_400_000;
        let now = self.now();
        let month = Month::of(now);
        let spent = self.store.spent_by_day(month.start(), month.next().start()).await?;
        let name = |repo: RepoId| Some((repo, self.autobuild.name_heard(repo)?));
        let names = spent.iter().filter_map(|spent| name(spent.repo)).collect();
        let limit = |spent: &DaySpent| {
            let month = self.settings.allowances.of(spent.installation).month;
            Some((spent.installation, month.usd_micros?))
        };
        let limits = spent.iter().filter_map(limit).collect();
        Ok(Figures {
            month,
            spent,
            server_limit: self.settings.month.usd_micros,
            installation_limits: limits,
            names,
            success: self.success(counted).await?,
            today: Millis(now.0.saturating_sub(now.0.rem_euclid(DAY))),
        })
    }

    async fn success(&self, counted: &CountedFeatures) -> Result<Success, StoreError> {
        let ended = self.store.list_ended(MOST).await?;
        let mut sum = Success::default();
        for listed in &ended {
            let known = counted.0.lock().get(&listed.key).copied();
            let success = match known.filter(|(version, _)| *version == listed.version) {
                Some((_, success)) => success,
                None => {
                    let Some(success) = self.success_of(&listed.key).await? else { continue };
                    counted.0.lock().insert(listed.key, (listed.version, success));
                    success
                }
            };
            sum += success;
        }
        let kept = |key: &FeatureKey| ended.iter().any(|listed| listed.key == *key);
        counted.0.lock().retain(|key, _| kept(key));
        Ok(sum)
    }
}
