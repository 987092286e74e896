//! Compares with GitHub every unfinished Feature, and every cancelled one whose pull request people may still merge or
//! open again. Each difference becomes the event that a webhook would have brought, with the same cause, so that a fact
//! that comes twice counts once.
//!
//! # Calls
//!
//! One GraphQL document shows all of a Feature. At the usual pause of 240 seconds it is asked for 15 times an hour,
//! less often if an installation has more than 166 Features. The repository's name is asked for at most 6 times an
//! hour, and a token is minted at most twice: 23 calls for an unfinished Feature and hour, fewer if Features share a
//! repository. A sweep lists the installations once, 100 with a call. A difference costs two to four calls more, once.
//! A pull request of ours that the document does not show, since 50 newer ones have the same base or a person changed
//! its base, costs one more in each sweep.

use crate::{
    engine::{
        Engine,
        apply::ApplyOutcome,
        ingest::{home, lifecycle, missed, understand},
        job::{Done, EffectError},
        turns::once,
    },
    github::{GithubError, model::OpenState},
    store::{ListedFeature, StoreError},
};
use domain::{
    feature::{
        Feature, Suspension,
        sweep::{Difference, RemoteAccount, RemoteFact, RemotePull, RemoteState, RemoteWork, StoredWork, compare},
    },
    ids::{FeatureKey, InstallationId, Millis},
};
use futures_util::{StreamExt, future::BoxFuture, stream};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use tokio_util::sync::CancellationToken;

/// The number of Features that are compared at once.
const AT_ONCE: usize = 4;

/// The most Features of one installation that are compared in an hour. Each comparison is a call to GraphQL, of which an
/// installation has 5,000 an hour, and there is no other way to mark a pull request as ready.
const MOST_AN_HOUR: u64 = 2_500;

/// The last sweep, and all that the sweeps found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepStatus {
    /// The time at which the sweep ended; `None` before the first.
    pub ended_at: Option<Millis>,
    /// The number of Features that were compared.
    pub features: u64,
    /// The number of those that could not be compared; a later sweep tries again.
    pub failed: u64,
    /// The number of facts that were found, since the database exists.
    pub found: u64,
    /// The number of sweeps, since the database exists.
    #[serde(default)]
    pub number: u64,
}

/// How long a cancelled Feature with a pull request is compared after its last event, in milliseconds.
const CANCELLED_MS: i64 = 7 * 24 * 3_600_000;

/// One walk over the Features that GitHub can contradict.
struct Sweep<'a> {
    engine: &'a Engine,
    /// The App's installations, with the time of a suspension; `None` if GitHub did not list them.
    installations: Option<BTreeMap<InstallationId, Option<Millis>>>,
    /// The Features whose work is compared; `None` for all.
    chosen: Option<BTreeSet<FeatureKey>>,
    /// The installations whose limit is reached.
    limited: Mutex<BTreeSet<InstallationId>>,
}

impl Engine {
    /// Sweeps at once, and then regularly until `stop`. Of all replicas, one does it each time.
    pub(super) async fn always_sweep(self: Arc<Self>, stop: CancellationToken) {
        let Some(pause) = self.settings.sweep else { return };
        loop {
            once("sweep", &stop, self.clone().sweep_and_log()).await;
            if !self.next_turn("sweep", pause, &stop).await {
                return;
            }
        }
    }

    async fn sweep_and_log(self: Arc<Self>) {
        match self.sweep().await {
            Ok(0) => {}
            Ok(found) => tracing::info!(found, "facts that GitHub had and AutoBuild had not, found: {found}"),
            Err(error) => tracing::warn!(%error, "the unfinished Features could not be compared with GitHub"),
        }
    }

    /// Compares every Feature that GitHub can contradict with GitHub, applies the differences, and returns how many
    /// facts that were. A Feature that cannot be compared does not stop the others. If an installation has too many of
    /// them, each sweep compares a part.
    pub async fn sweep(&self) -> Result<u64, StoreError> {
        let rows = self.store.list_comparable(self.now().plus(-CANCELLED_MS)).await?;
        let installations = self.installations_now().await;
        if let Some(all) = &installations {
            let all = all.keys().copied().collect();
            self.store.note_installations(&all, self.now()).await?;
        }
        let chosen = part(&rows, self.sweep_status().await?.number, self.most_compared());
        let features = chosen.len();
        let sweep = Sweep { engine: self, installations, chosen: Some(chosen), limited: Mutex::default() };
        let outcomes: Vec<Option<u64>> = stream::iter(rows)
            // Boxed, because a Feature's walk is deep and threads have small stacks.
            .map(|row| Box::pin(sweep.guarded(row)))
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let failed = outcomes.iter().filter(|outcome| outcome.is_none()).count();
        let found: u64 = outcomes.into_iter().flatten().sum();
        // Read now, since another replica may have ended a sweep meanwhile.
        let last = self.sweep_status().await?;
        let status = SweepStatus {
            ended_at: Some(self.now()),
            features: number(features),
            failed: number(failed),
            found: last.found.saturating_add(found),
            number: last.number.wrapping_add(1),
        };
        let text = serde_json::to_string(&status).unwrap_or_default();
        self.store.set_meta(&self.sweep_key(), &text).await?;
        Ok(found)
    }

    /// Returns how many Features of one installation a sweep compares at most.
    fn most_compared(&self) -> usize {
        let pause = self.settings.sweep.map_or(u64::MAX, |pause| pause.as_secs());
        usize::try_from(MOST_AN_HOUR.saturating_mul(pause) / 3_600).unwrap_or(usize::MAX).max(1)
    }

    /// Compares the work of one Feature with GitHub, and applies the differences.
    pub(super) fn compare_now(&self, key: FeatureKey) -> BoxFuture<'_, Result<u64, EffectError>> {
        // Its type is named, since a difference is taken in like a delivery, and a delivery may ask for a comparison.
        Box::pin(async move {
            let sweep = Sweep { engine: self, installations: None, chosen: None, limited: Mutex::default() };
            sweep.feature(&key).await
        })
    }

    /// Returns the last sweep; a status that cannot be read counts as none.
    pub async fn sweep_status(&self) -> Result<SweepStatus, StoreError> {
        let text = self.store.meta(&self.sweep_key()).await?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    fn sweep_key(&self) -> String {
        format!("sweep/{}", self.autobuild.id)
    }

    async fn installations_now(&self) -> Option<BTreeMap<InstallationId, Option<Millis>>> {
        match self.autobuild.installations().await {
            Ok(all) => Some(all.into_iter().map(|one| (one.id, one.suspended_at)).collect()),
            Err(error) => {
                tracing::warn!(%error, "GitHub did not list the App's installations");
                None
            }
        }
    }
}

/// Returns the Features whose work this sweep compares: all, or a part of those of an installation that has more than
/// `most`. Sweeps with successive numbers compare all parts in turn. The issue's number chooses the part, since it stays.
fn part(rows: &[ListedFeature], number: u64, most: usize) -> BTreeSet<FeatureKey> {
    let mut counts: BTreeMap<InstallationId, usize> = BTreeMap::new();
    for row in rows {
        *counts.entry(row.installation).or_default() += 1;
    }
    let is_chosen = |row: &&ListedFeature| {
        let parts = counts.get(&row.installation).map_or(1, |count| count.div_ceil(most).max(1));
        let parts = u64::try_from(parts).unwrap_or(1);
        row.key.issue.0 % parts == number % parts
    };
    rows.iter().filter(is_chosen).map(|row| row.key).collect()
}

impl Sweep<'_> {
    /// Returns how many facts were found; `None` if the Feature could not be compared.
    async fn guarded(&self, row: ListedFeature) -> Option<u64> {
        let ListedFeature { key, installation, .. } = row;
        if self.limited.lock().contains(&installation) {
            return None;
        }
        // On the heap: with all that it may take in, it is too large for a thread's stack.
        match Box::pin(self.feature(&key)).await {
            Ok(found) => Some(found),
            Err(error) => {
                tracing::warn!(feature = %key, %error, "{key} could not be compared with GitHub");
                None
            }
        }
    }

    async fn feature(&self, key: &FeatureKey) -> Result<u64, EffectError> {
        let Some(feature) = self.engine.feature(key).await? else {
            return Ok(0);
        };
        if !feature.is_comparable() {
            return Ok(0);
        }
        let found = Box::pin(self.access(&feature)).await?;
        let Some(feature) = self.engine.feature(key).await? else {
            return Ok(found);
        };
        let is_left = self.chosen.as_ref().is_some_and(|chosen| !chosen.contains(key));
        if is_left || !feature.is_comparable() || feature.suspension == Suspension::Suspended {
            return Ok(found);
        }
        match Box::pin(self.work(&feature)).await {
            Err(error @ EffectError::Limited { .. }) => {
                let mut limited = self.limited.lock();
                limited.insert(feature.installation);
                Err(error)
            }
            more => Ok(found.saturating_add(more?)),
        }
    }

    /// Compares the installation: suspended, lifted, or gone.
    async fn access(&self, feature: &Feature) -> Result<u64, EffectError> {
        let Some(installations) = &self.installations else {
            return Ok(0);
        };
        match (installations.get(&feature.installation), feature.suspension) {
            (None, _) if !feature.is_unfinished() => Ok(0),
            (None, _) => home::follow_installation(self.engine, feature.key.repo).await,
            (Some(Some(at)), Suspension::None) => {
                lifecycle::suspended(self.engine, feature.key, Some(*at)).await?;
                Ok(1)
            }
            (Some(None), Suspension::Suspended) => {
                lifecycle::unsuspended(self.engine, feature.key).await?;
                self.engine.store.hurry(feature.installation, self.engine.now()).await?;
                Ok(1)
            }
            (Some(Some(_)), Suspension::Suspended) if feature.is_unfinished() => self.leave_suspended(feature).await,
            (Some(Some(_)), Suspension::Suspended) | (Some(None), Suspension::None) => Ok(0),
        }
    }

    /// Lets a suspended Feature follow its repository to another installation.
    async fn leave_suspended(&self, feature: &Feature) -> Result<u64, EffectError> {
        let repo = feature.key.repo;
        match self.engine.autobuild.installation_of_id(repo).await? {
            Some(home) if home != feature.installation => home::follow_installation(self.engine, repo).await,
            Some(_) | None => Ok(0),
        }
    }

    /// Compares the issue, the branches and the pull requests.
    async fn work(&self, feature: &Feature) -> Result<u64, EffectError> {
        let remote = match self.remote(feature).await {
            Ok(remote) => remote,
            // Its repository or the App is gone, so nothing can happen to its pull request any more.
            Err(error) if home::may_have_moved(&error) && !feature.is_unfinished() => return Ok(0),
            Err(error) if home::may_have_moved(&error) => {
                // GitHub answers like this if another installation, or none, covers the repository now.
                return match home::follow_installation(self.engine, feature.key.repo).await? {
                    0 => Err(error.into()),
                    found => Ok(found),
                };
            }
            Err(error) => return Err(error.into()),
        };
        let (mut tried, mut found, mut failure) = (BTreeSet::new(), 0_u64, None);
        while let Some(difference) = self.next(&feature.key, &remote, &mut tried).await? {
            let inbound = Box::pin(missed::inbound(self.engine, feature, &difference)).await;
            match self.take(feature, &difference.fact, inbound).await {
                Ok(taken) => found = found.saturating_add(taken),
                Err(error) => failure = Some(error),
            }
        }
        failure.map_or(Ok(found), Err)
    }

    /// Reads GitHub's state of the Feature. If the repository's name leads nowhere, it may have been renamed.
    async fn remote(&self, feature: &Feature) -> Result<RemoteWork, GithubError> {
        let autobuild = &self.engine.autobuild;
        let repo = autobuild.repo(feature.installation, feature.key.repo);
        let since = feature.snapshot.requested_at;
        let mut work = match repo.work(feature, since).await {
            Err(error) if home::may_have_moved(&error) => {
                autobuild.forget_name(feature.key.repo);
                repo.work(feature, since).await?
            }
            read => read?,
        };
        // The newest pull requests are shown. Anybody can open more of them.
        for number in feature.watched_pulls().filter(|number| !work.pulls.contains_key(number)).collect::<Vec<_>>() {
            let pull = repo.pull(number).await?;
            let state = match pull.state {
                _ if pull.is_merged() => RemoteState::Merged,
                OpenState::Closed => RemoteState::Closed,
                OpenState::Open => RemoteState::Open,
            };
            let merged_by = pull.merged_by.map(|by| RemoteAccount { user: by.user, kind: by.kind });
            work.pulls.insert(number, RemotePull { state, merged_by, timeline: Vec::new() });
        }
        Ok(work)
    }

    /// Returns the next difference that was not tried yet. Each fact may resolve others, so the Feature is read again.
    async fn next(
        &self,
        key: &FeatureKey,
        remote: &RemoteWork,
        tried: &mut BTreeSet<String>,
    ) -> Result<Option<Difference>, EffectError> {
        let Some(feature) = self.engine.feature(key).await?.filter(Feature::is_comparable) else {
            return Ok(None);
        };
        let causes: BTreeSet<String> = self.engine.store.causes(key).await?.into_iter().collect();
        let stored = StoredWork { feature: &feature, label: &lifecycle::label_of(&feature), causes: &causes };
        let is_new = |one: &Difference| self.engine.fruitless.find(&(*key, format!("{:?}", one.fact))).is_none();
        let mut all = compare(stored, remote).into_iter().filter(is_new);
        Ok(all.find(|one| tried.insert(format!("{:?}", one.fact))))
    }

    /// Applies a fact as its delivery would have done; 0 if nothing follows.
    async fn take(
        &self,
        feature: &Feature,
        fact: &RemoteFact,
        inbound: Result<missed::MissedDelivery, EffectError>,
    ) -> Result<u64, EffectError> {
        let (engine, key) = (self.engine, &feature.key);
        let before = engine.store.causes(key).await?.len();
        let done = match inbound? {
            missed::MissedDelivery::Delivery(inbound) => {
                Box::pin(understand(engine, *inbound, engine.now(), "sweep")).await?
            }
            missed::MissedDelivery::Fact(fact) => Done::Fact(*key, fact),
            missed::MissedDelivery::Nothing => Done::Nothing,
        };
        match done {
            Done::Nothing => {}
            Done::FollowUp(effects) => engine.store.add_effects(&effects).await?,
            Done::Fact(key, mut news) => {
                let applied = Box::pin(engine.apply(&key, (*news).clone(), None)).await?;
                if applied == ApplyOutcome::Known && is_state(fact) {
                    // The fact is recorded, but was ignored when it came, or was undone since. It needs another cause
                    // to count again.
                    news.cause = format!("{}/again/{before}", news.cause);
                    Box::pin(engine.apply(&key, *news, None)).await?;
                }
            }
        }
        let after = engine.store.causes(key).await?.len();
        if after == before && !is_state(fact) {
            engine.fruitless.remember((*key, format!("{fact:?}")), ());
        }
        if after > before {
            tracing::info!(feature = %key, fact = ?fact, "a fact that no delivery brought, found on GitHub");
        }
        Ok(u64::from(after > before))
    }
}

/// `true` if GitHub shows the fact for as long as it holds. The other facts are comments and reviews, which are written
/// once.
fn is_state(fact: &RemoteFact) -> bool {
    match fact {
        RemoteFact::BranchMoved(_)
        | RemoteFact::BranchDeleted
        | RemoteFact::DefaultMoved(_)
        | RemoteFact::PullClosed(_)
        | RemoteFact::IssueClosed
        | RemoteFact::IssueGone
        | RemoteFact::Archived => true,
        RemoteFact::PullReopened(_)
        | RemoteFact::Commented(..)
        | RemoteFact::Reviewed(..)
        | RemoteFact::Dismissed(..)
        | RemoteFact::Unlabeled(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ids::{IssueNumber, RepoId};

    #[test]
    fn an_installation_with_many_features_is_compared_in_parts_and_others_wholly() {
        let row = |installation: u64, issue: u64| ListedFeature {
            key: FeatureKey { repo: RepoId(installation), issue: IssueNumber(issue), run: 1 },
            installation: InstallationId(installation),
            version: 1,
        };
        let rows: Vec<_> = (1..=5).map(|issue| row(1, issue)).chain([row(2, 1)]).collect();
        let chosen = |number, most| {
            let part = part(&rows, number, most);
            part.into_iter().map(|key| (key.repo.0, key.issue.0)).collect::<Vec<_>>()
        };
        assert_eq!(chosen(0, 2), [(1, 3), (2, 1)]);
        assert_eq!(chosen(1, 2), [(1, 1), (1, 4), (2, 1)]);
        assert_eq!(chosen(2, 2), [(1, 2), (1, 5), (2, 1)]);
        assert_eq!(chosen(3, 2), chosen(0, 2));
        assert_eq!(chosen(7, 5).len(), rows.len());
    }
}
