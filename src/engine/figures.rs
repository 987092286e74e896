//! What was spent and how well it went: figures over many Features, for the people who pay.

use crate::{
    engine::{
        Engine, persist,
        view::{ViewError, has_ended},
    },
    store::{DaySpent, ListedFeature, StoreError},
};
use domain::{
    budget::Month,
    decision::Outcome,
    feature::{Feature, State},
    ids::{FeatureKey, Millis, RepoId, RepoName},
};
use std::{
    collections::{BTreeMap, HashMap},
    ops::AddAssign,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Ended Features that the figures are about.
const MOST: u32 = 200;

/// What was spent in this month, and how the last Features went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// This month.
    pub month: Month,
    /// What was spent in it, by day and repository.
    pub spent: Vec<DaySpent>,
    /// What may be spent in it by all, in millionths of a US dollar.
    pub server_limit: Option<u64>,
    /// What each installation may spend in it.
    pub installation_limit: Option<u64>,
    /// Repositories by name, as far as they were heard.
    pub names: BTreeMap<RepoId, RepoName>,
    /// How the last Features went.
    pub success: Success,
    /// The day on which this was read, its first moment.
    pub today: Millis,
}

/// How Features went, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Success {
    /// Features that ended.
    pub ended: u32,
    /// Of these, the ones that were merged.
    pub completed: u32,
    /// Of these, the ones for which nobody did anything between the label and the merge.
    pub alone: u32,
    /// Tasks that were merged.
    pub tasks: u32,
    /// The turns that these took.
    pub turns: u32,
    /// Turns that the Coach approved.
    pub approvals: u32,
    /// Of these, the ones after which the task had to go on.
    pub overturned: u32,
    /// Turns that were sent back.
    pub refusals: u32,
    /// Tasks that a person approved although their turn was sent back.
    pub waived: u32,
}

/// Whether people had to do something between the label and the merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Help {
    /// Nobody did.
    None,
    /// Somebody did.
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

/// How one Feature went that has ended.
pub fn success(feature: &Feature, help: Help) -> Success {
    if !has_ended(&feature.state) {
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

/// How Features went that were counted before.
#[derive(Debug, Default)]
pub struct Counted(Mutex<HashMap<FeatureKey, (i64, Success)>>);

impl Counted {
    fn lock(&self) -> MutexGuard<'_, HashMap<FeatureKey, (i64, Success)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// The figures now; Features that have not changed since they were `counted` are not read again.
    pub async fn figures(&self, counted: &Counted) -> Result<Figures, ViewError> {
        const DAY: i64 = 86_400_000;
        let now = self.now();
        let month = Month::of(now);
        let spent = self.store.spent_by_day(month.start(), month.next().start()).await?;
        let name = |repo: RepoId| Some((repo, self.autobuild.name_heard(repo)?));
        let names = spent.iter().filter_map(|spent| name(spent.repo)).collect();
        Ok(Figures {
            month,
            spent,
            server_limit: self.settings.budget.server.usd_micros,
            installation_limit: self.settings.budget.installation.usd_micros,
            names,
            success: self.success(counted).await?,
            today: Millis(now.0.saturating_sub(now.0.rem_euclid(DAY))),
        })
    }

    async fn success(&self, counted: &Counted) -> Result<Success, StoreError> {
        let ended = self.store.list_ended(MOST).await?;
        let mut sum = Success::default();
        for listed in &ended {
            let known = counted.lock().get(&listed.key).copied();
            let success = match known.filter(|(version, _)| *version == listed.version) {
                Some((_, success)) => success,
                None => {
                    let success = self.success_of(listed).await?;
                    counted.lock().insert(listed.key, (listed.version, success));
                    success
                }
            };
            sum += success;
        }
        let kept = |key: &FeatureKey| ended.iter().any(|listed| listed.key == *key);
        counted.lock().retain(|key, _| kept(key));
        Ok(sum)
    }

    /// Of one that cannot be read nothing is counted.
    async fn success_of(&self, listed: &ListedFeature) -> Result<Success, StoreError> {
        let Some(stored) = self.store.feature(&listed.key).await? else {
            return Ok(Success::default());
        };
        let help = match self.store.deeds_of_people(&listed.key).await? {
            0 => Help::None,
            _ => Help::People,
        };
        Ok(persist::read(&stored).map_or_else(|_| Success::default(), |feature| success(&feature, help)))
    }
}
