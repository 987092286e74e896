//! What people are shown of a Feature: everything that is known of it at one moment. Reads only.

use crate::{
    engine::{Engine, persist},
    github::GithubError,
    store::{EffectState, FeatureRow, Scope, StoreError, StoredEffect, StoredRun, WaitsOn},
};
use domain::{
    cost,
    cost::{Spending, Waiting},
    feature::Feature,
    ids::{FeatureKey, RepoName},
};
use std::{collections::BTreeMap, time::Duration};

/// Ended Features that are shown.
const MOST_ENDED: u32 = 30;
/// How long a repository's name may take; its number stands in for it.
const NAME_PATIENCE: Duration = Duration::from_secs(2);

/// A Feature with its costs.
#[derive(Clone, Debug)]
pub struct FeatureView {
    /// The Feature.
    pub feature: Feature,
    /// What it cost so far, what runs, and what waits.
    pub spending: Spending,
}

/// What there is beside it.
#[derive(Clone, Debug, Default)]
pub struct WorkView {
    /// The runs of its agents, oldest first.
    pub runs: Vec<StoredRun>,
    /// The last tool calls of those that are under way, by run.
    pub calls: BTreeMap<String, Vec<String>>,
    /// Its effects that are not done, oldest first.
    pub effects: Vec<StoredEffect>,
}

/// What is remembered cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The database does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What it holds cannot be read.
    #[error(transparent)]
    Unreadable(#[from] persist::Unreadable),
}

impl Engine {
    /// The Features that are not finished, and those that ended last.
    pub async fn features_to_show(&self) -> Result<(Vec<FeatureView>, Vec<FeatureView>), ViewError> {
        let unfinished = self.store.unfinished(Scope::All).await?;
        let ended = self.store.ended_last(MOST_ENDED).await?;
        Ok((self.views(&unfinished).await?, self.views(&ended).await?))
    }

    async fn views(&self, rows: &[FeatureRow]) -> Result<Vec<FeatureView>, ViewError> {
        let mut views = Vec::new();
        for row in rows {
            views.extend(self.feature_to_show(&row.key).await?);
        }
        Ok(views)
    }

    /// One Feature.
    pub async fn feature_to_show(&self, key: &FeatureKey) -> Result<Option<FeatureView>, ViewError> {
        let Some(stored) = self.store.feature(key).await? else {
            return Ok(None);
        };
        Ok(Some(FeatureView {
            feature: persist::read(&stored)?,
            spending: self.spending_so_far(key).await?,
        }))
    }

    /// What a Feature cost so far, what runs, and what waits for a model's API or GitHub; without an estimate.
    pub(super) async fn spending_so_far(&self, key: &FeatureKey) -> Result<Spending, StoreError> {
        let parked = self.store.parked(key, self.now()).await?;
        let waiting = parked.into_iter().map(|parked| Waiting {
            task: parked.subject.rsplit('/').next().and_then(|name| name.parse().ok()),
            on: match parked.on {
                WaitsOn::Provider(_) => cost::WaitsOn::Model,
                WaitsOn::Forge => cost::WaitsOn::GitHub,
            },
            until: parked.until,
        });
        Ok(Spending {
            by_task: self.store.costs(key).await?,
            estimate: None,
            waiting: waiting.collect(),
            at_work: self.store.at_work(key).await?,
        })
    }

    /// What runs and waits for it.
    pub async fn work_to_show(&self, key: &FeatureKey) -> Result<WorkView, ViewError> {
        let mut effects = self.store.effects_of(key).await?;
        effects.retain(|effect| match effect.state {
            EffectState::Ready | EffectState::Running | EffectState::Failed => true,
            EffectState::Done | EffectState::Cancelled => false,
        });
        Ok(WorkView {
            runs: self.store.runs_of(key, None).await?,
            calls: self.store.calls(key).await?,
            effects,
        })
    }

    /// The repository of a Feature by name; none where GitHub does not say it in time.
    pub async fn name_to_show(&self, feature: &Feature) -> Option<RepoName> {
        let repo = self.autobuild.repo(feature.installation, feature.key.repo);
        let named: Result<Result<RepoName, GithubError>, _> = tokio::time::timeout(NAME_PATIENCE, repo.name()).await;
        named.ok()?.ok()
    }
}
