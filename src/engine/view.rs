//! The data that the dashboard shows of Features: all that is known at one moment. Reads only.

use crate::{
    config::RepositorySettings,
    engine::{Engine, persist},
    store::{
        EffectState, ListedFeature, ProviderTrouble, Store, StoreError, StoreFailure, StoredEffect, StoredRun, Tally,
    },
};
use domain::{
    cost::{Cost, Spending, Waiting},
    effect::{Effect, Reply},
    feature::Feature,
    ids::{FeatureKey, InstallationId, Millis, RepoId, RepoName},
};
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

/// The most ended Features that are shown.
const MOST_ENDED: u32 = 30;
/// The kind of effects that reply, as they are stored.
const REPLY: &str = "reply";
/// How long GitHub may take to return a repository's name.
const NAME_PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, PartialEq)]
pub struct FeatureView {
    pub feature: Feature,
    /// Its cost so far, its running agents, and its waits.
    pub spending: Spending,
    /// Its budget, in millionths of a US dollar.
    pub limit: Option<u64>,
    /// The name of its repository, if it is known.
    pub name: Option<RepoName>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkView {
    /// Its agent runs, oldest first.
    pub runs: Vec<StoredRun>,
    /// The last tool calls of the running runs, by run id.
    pub calls: BTreeMap<String, Vec<String>>,
    /// Its effects that are ready, running or failed, oldest first.
    pub effects: Vec<StoredEffect>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ListedView {
    pub key: FeatureKey,
    /// The installation that gives access to its repository.
    pub installation: InstallationId,
    /// The Feature; `None` if the stored data cannot be read.
    pub feature: Option<Arc<Feature>>,
    pub cost: Cost,
    /// The name of its repository, if it is known.
    pub name: Option<RepoName>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    pub unfinished: Vec<ListedView>,
    /// The Features that ended last, the newest first.
    pub ended: Vec<ListedView>,
    /// The number of unfinished effects.
    pub tally: Tally,
    /// The model providers that do not serve us now.
    pub troubles: Vec<ProviderTrouble>,
}

/// The reason why stored data cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored value cannot be read.
    #[error(transparent)]
    Unreadable(#[from] persist::Unreadable),
}

/// Returns a Feature and its cost so far from a database with which another process may be working.
pub async fn stored_feature(
    store: &Store,
    key: &FeatureKey,
    now: Millis,
) -> Result<Option<(Feature, Spending)>, ViewError> {
    let Some(stored) = store.feature(key).await? else {
        return Ok(None);
    };
    Ok(Some((persist::read(&stored)?, spending_so_far(store, key, now).await?)))
}

/// Returns a Feature's cost so far, its running agents, and its waits for a model's API or GitHub. There is no estimate.
async fn spending_so_far(store: &Store, key: &FeatureKey, now: Millis) -> Result<Spending, StoreError> {
    let parked = store.parked(key, now).await?;
    let waiting = parked.into_iter().map(|parked| Waiting {
        task: parked.subject.rsplit('/').next().and_then(|name| name.parse().ok()),
        on: parked.on,
        until: parked.until,
    });
    Ok(Spending {
        by_task: store.costs(key).await?,
        estimate: None,
        waiting: waiting.collect(),
        at_work: store.at_work(key).await?,
        refused: store.refused(key).await?,
    })
}

impl ViewError {
    /// Returns `true` if this version cannot read a stored value, so that a retry would fail too.
    pub fn is_unreadable(&self) -> bool {
        match self {
            Self::Unreadable(_) | Self::Store(StoreError::Newer { .. }) => true,
            Self::Store(error) => match error.what_failed() {
                StoreFailure::Value => true,
                StoreFailure::Disk | StoreFailure::Database | StoreFailure::Statement => false,
            },
        }
    }
}

/// A cache of Features for lists. Most reads find them unchanged.
#[derive(Debug, Default)]
pub struct FeatureCache(Mutex<HashMap<FeatureKey, CachedFeature>>);

#[derive(Clone, Debug)]
struct CachedFeature {
    version: i64,
    feature: Option<Arc<Feature>>,
    /// Its final cost, once it has ended and no run is open.
    settled: Option<Cost>,
}

impl FeatureCache {
    fn of(&self, listed: &ListedFeature) -> Option<CachedFeature> {
        let seen = self.0.lock().get(&listed.key).cloned();
        seen.filter(|seen| seen.version == listed.version)
    }
}

impl Engine {
    /// Returns all work. Features in `seen` that have not changed are not read again.
    pub async fn overview(&self, seen: &FeatureCache) -> Result<Overview, ViewError> {
        let unfinished = self.store.list_unfinished().await?;
        let ended = self.store.list_ended(MOST_ENDED).await?;
        let overview = Overview {
            unfinished: self.list_views(seen, &unfinished).await?,
            ended: self.list_views(seen, &ended).await?,
            tally: self.store.tally(None, self.now()).await?,
            troubles: self.store.troubled_providers().await?,
        };
        let shown = |key: &FeatureKey| unfinished.iter().chain(&ended).any(|listed| listed.key == *key);
        seen.0.lock().retain(|key, _| shown(key));
        Ok(overview)
    }

    async fn list_views(&self, seen: &FeatureCache, list: &[ListedFeature]) -> Result<Vec<ListedView>, ViewError> {
        let mut views = Vec::new();
        for listed in list {
            let CachedFeature { feature, settled, .. } = match seen.of(listed) {
                Some(seen) => seen,
                None => self.look_at(listed).await?,
            };
            let cost = match settled {
                Some(cost) => cost,
                None => self.cost_of(&listed.key).await?,
            };
            let is_settled = cost.open_runs == 0 && feature.as_ref().is_some_and(|feature| !feature.is_unfinished());
            let now_seen = CachedFeature {
                version: listed.version,
                feature: feature.clone(),
                settled: is_settled.then_some(cost),
            };
            seen.0.lock().insert(listed.key, now_seen);
            views.push(ListedView {
                key: listed.key,
                installation: listed.installation,
                feature,
                cost,
                name: self.autobuild.name_heard(listed.key.repo),
            });
        }
        Ok(views)
    }

    /// Reads a Feature that is new or has changed.
    async fn look_at(&self, listed: &ListedFeature) -> Result<CachedFeature, ViewError> {
        let read = async {
            let stored = self.store.feature(&listed.key).await?;
            Ok::<_, ViewError>(stored.as_ref().map(persist::read).transpose()?)
        };
        let feature = match read.await {
            Ok(feature) => feature.map(Arc::new),
            Err(error) if error.is_unreadable() => {
                tracing::warn!(%error, key = %listed.key, "the Feature {} cannot be read", listed.key);
                None
            }
            Err(error) => return Err(error),
        };
        Ok(CachedFeature { version: listed.version, feature, settled: None })
    }

    async fn cost_of(&self, key: &FeatureKey) -> Result<Cost, StoreError> {
        let mut sum = Cost::default();
        for cost in self.store.costs(key).await?.into_values() {
            sum += cost;
        }
        Ok(sum)
    }

    pub async fn feature_view(&self, key: &FeatureKey) -> Result<Option<FeatureView>, ViewError> {
        let Some((feature, spending)) = stored_feature(&self.store, key, self.now()).await? else {
            return Ok(None);
        };
        let settings: Option<RepositorySettings> = serde_json::from_value(feature.settings.clone()).ok();
        Ok(Some(FeatureView {
            limit: settings.and_then(|settings| settings.budget.of_feature().usd_micros),
            feature,
            spending,
            name: self.autobuild.name_heard(key.repo),
        }))
    }

    /// Returns the replies in a repository to commands and labels after the one with this number, each with its number
    /// and its Feature.
    pub async fn replies(&self, repo: RepoId, after: i64) -> Result<Vec<(i64, Reply, Option<FeatureKey>)>, StoreError> {
        let stored = self.store.effects_of_kind(repo, REPLY, after).await?;
        let replies = stored.into_iter().filter_map(|stored| match serde_json::from_str(&stored.payload) {
            Ok(Effect::Reply { reply, .. }) => Some((stored.seq, reply, stored.feature)),
            Ok(_) | Err(_) => None,
        });
        Ok(replies.collect())
    }

    pub(super) async fn spending_so_far(&self, key: &FeatureKey) -> Result<Spending, StoreError> {
        spending_so_far(&self.store, key, self.now()).await
    }

    pub async fn work_to_show(&self, key: &FeatureKey) -> Result<WorkView, ViewError> {
        let mut effects = self.store.effects_of(key).await?;
        effects.retain(|effect| match effect.state {
            EffectState::Ready | EffectState::Running | EffectState::Failed => true,
            EffectState::Done | EffectState::Cancelled => false,
        });
        Ok(WorkView { runs: self.store.runs_of(key, None).await?, calls: self.store.calls(key).await?, effects })
    }

    /// Asks GitHub for the current name of a repository, which [`FeatureView::name`] shows from then on.
    pub async fn refresh_name(&self, installation: InstallationId, repo: RepoId) {
        let asked = self.autobuild.repo(installation, repo);
        match tokio::time::timeout(NAME_PATIENCE, asked.name()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::debug!(%error, %repo, "what repository {repo} is called is not known"),
            Err(_) => tracing::debug!(%repo, "the name of repository {repo} did not arrive in time"),
        }
    }
}
