//! Counts ended Features and runs, and deletes old data.

use crate::{
    engine::{
        Engine,
        figures::{Help, Success, success},
        persist,
    },
    gates::{forget_caches_of, forget_unused_caches},
    store::{MoreToDelete, StoreError},
};
use domain::ids::{FeatureKey, Millis, RepoId};
use git::{ForgetOutcome, GitError, Mirrors};
use std::time::Duration;

/// The time between two deletions of old rows, in milliseconds.
const FORGETTING_MS: i64 = 3_600_000;

/// How long a lost run may still report its end before it is counted, in milliseconds.
const LATE_ENDS_MS: i64 = 24 * 3_600_000;

/// How long baselines are kept, in milliseconds. An older one is made again if it is needed.
const BASELINES_MS: i64 = 90 * 24 * 3_600_000;

/// How long an installation that is gone is remembered, in milliseconds: its repositories, so that every machine deletes
/// their code, and what it spent, for longer than a month.
const DEPARTED_MS: i64 = 60 * 24 * 3_600_000;

impl Engine {
    /// Adds ended Features and runs to the counters.
    pub(super) async fn count_ended(&self) -> Result<(), StoreError> {
        self.store.count_runs(self.now().plus(-LATE_ENDS_MS)).await?;
        loop {
            let mut counted = 0_u32;
            for key in &self.store.uncounted_features().await? {
                // A newer version counts what it stored itself.
                let Some(success) = self.success_of(key).await? else { continue };
                self.store.count_feature(key, &counters(&success)).await?;
                counted = counted.saturating_add(1);
            }
            if counted == 0 {
                return Ok(());
            }
        }
    }

    /// Counts one Feature. One that cannot be read counts as zero; one that a newer version stored is not counted.
    pub(super) async fn success_of(&self, key: &FeatureKey) -> Result<Option<Success>, StoreError> {
        let stored = match self.store.feature(key).await {
            Ok(Some(stored)) => stored,
            Ok(None) => return Ok(Some(Success::default())),
            Err(StoreError::Newer { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let help = match self.store.acts_of_people(key).await? {
            0 => Help::None,
            _ => Help::People,
        };
        let read = persist::read(&stored);
        Ok(Some(read.map_or_else(|_| Success::default(), |feature| success(&feature, help))))
    }

    /// Deletes old rows, unless a process of this database did so within the last hour.
    pub(super) async fn forget_rows_in_turn(&self) -> Result<(), StoreError> {
        let now = self.now();
        if self.store.take_turn("forget/turn", now, now.plus(FORGETTING_MS)).await? {
            self.forget_rows().await?;
        }
        Ok(())
    }

    fn before(&self, age: Duration) -> Millis {
        self.now().plus(-i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
    }

    /// Deletes old rows in short pieces. The rest waits for the next round.
    async fn forget_rows(&self) -> Result<(), StoreError> {
        let (store, ages) = (&self.store, self.settings.ages);
        let before = |age: Duration| self.before(age);
        match store.blank_payloads(before(ages.payloads)).await? {
            0 => {}
            count => tracing::info!("the payloads of {count} old deliveries were blanked"),
        }
        while store.forget_deliveries(before(ages.deliveries)).await? == MoreToDelete::Maybe {}
        while store.forget_loose_effects(before(ages.payloads)).await? == MoreToDelete::Maybe {}
        while store.trim_ended_features(before(ages.ended)).await? == MoreToDelete::Maybe {}
        store.forget_baselines(self.now().plus(-BASELINES_MS)).await?;
        store.forget_packs(before(ages.packs)).await?;
        store.forget_refusals(before(ages.deliveries)).await?;
        match store.purge_departed(before(ages.departed)).await? {
            0 => {}
            count => tracing::info!("the data of {count} installations that are gone was deleted"),
        }
        store.forget_departed(self.now().plus(-DEPARTED_MS)).await?;
        store.give_back_room().await
    }

    /// Deletes old files in this process's data folder.
    pub(super) async fn forget_files(&self) -> Result<(), StoreError> {
        let ages = self.settings.ages;
        self.forget_code(self.before(ages.mirrors), self.before(ages.departed)).await?;
        let caches = self.settings.data_dir.join("caches");
        let unused = self.before(ages.caches).0 / 1_000;
        let _ = git::blocking(move || forget_unused_caches(&caches, unused)).await;
        Ok(())
    }

    /// Deletes mirrors that nobody used since `before`, and those of repositories that are gone. A mirror that was used
    /// after `departed_before` stays, since the App was installed again. The other mirrors are tidied.
    async fn forget_code(&self, before: Millis, departed_before: Millis) -> Result<(), StoreError> {
        let departed = self.store.departed_repos().await?;
        for repo in self.mirrors.list() {
            let kept_since = if departed.contains(&repo) { departed_before } else { before };
            if self.mirrors.used_at(repo).is_none_or(|used| used < kept_since) {
                match self.mirrors.forget(repo) {
                    ForgetOutcome::Deleted => {
                        tracing::info!(%repo, "the mirror of repository {repo} was deleted");
                        let data = &self.settings.data_dir;
                        forget_caches_of(&data.join("caches"), &Mirrors::folder(data, repo));
                    }
                    ForgetOutcome::InUse => {}
                }
            } else if let Err(error) = self.tidy(repo).await {
                tracing::warn!(%error, %repo, "the mirror of repository {repo} could not be tidied");
            }
        }
        Ok(())
    }

    /// Releases the commits of a mirror that were pushed long ago, and joins its packs.
    async fn tidy(&self, repo: RepoId) -> Result<(), GitError> {
        let mirror = self.mirrors.mirror(repo);
        mirror.release_held(self.before(self.settings.ages.packs)).await?;
        mirror.repack().await
    }
}

/// Returns the counters of an ended Feature.
fn counters(success: &Success) -> [(&'static str, u64); 9] {
    [
        ("features_ended", success.ended),
        ("features_completed", success.completed),
        ("features_completed_alone", success.alone),
        ("tasks_completed", success.tasks),
        ("turns", success.turns),
        ("approvals", success.approvals),
        ("approvals_overturned", success.overturned),
        ("refusals", success.refusals),
        ("findings_waived", success.waived),
    ]
    .map(|(name, count)| (name, u64::from(count)))
}
