//! Packs of commits that the remote does not have yet. They are stored with the end of the run that made them.

use crate::store::{
    error::StoreError,
    sql::{Tx, args, statements},
    store::Store,
};
use domain::ids::{FeatureKey, Millis, Sha};

statements! {
    PUT = "INSERT INTO pack (feature_id, commit_sha, bytes, made_at) VALUES ($1, $2, $3, $4) \
           ON CONFLICT (feature_id, commit_sha) DO NOTHING";
    READ = "SELECT bytes FROM pack WHERE feature_id = $1 AND commit_sha = $2";
    HAS = "SELECT 1 FROM pack WHERE feature_id = $1 AND commit_sha = $2";
    PUSHED = "UPDATE pack SET pushed_at = $3 WHERE feature_id = $1 AND commit_sha = $2 AND pushed_at IS NULL";
    // An unpushed pack is kept as long as its Feature may still push it.
    FORGET = "DELETE FROM pack WHERE made_at < $1 AND (pushed_at < $1 OR (pushed_at IS NULL AND EXISTS \
              (SELECT 1 FROM feature f WHERE f.id = pack.feature_id AND f.state IN ('completed', 'cancelled', 'failed'))))";
}

/// A packed commit of a Feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPack {
    pub feature: FeatureKey,
    pub commit: Sha,
    pub bytes: Vec<u8>,
    pub at: Millis,
}

impl Store {
    /// Returns the pack of a Feature's commit, if it is stored.
    pub async fn pack(&self, feature: &FeatureKey, commit: &Sha) -> Result<Option<Vec<u8>>, StoreError> {
        let feature = feature.to_string();
        let row = self.db.row(READ, args![&feature, commit.as_str()]).await?;
        row.map(|row| row.bytes("bytes")).transpose()
    }

    /// Returns `true` if the pack of a Feature's commit is stored.
    pub async fn has_pack(&self, feature: &FeatureKey, commit: &Sha) -> Result<bool, StoreError> {
        let feature = feature.to_string();
        Ok(self.db.row(HAS, args![&feature, commit.as_str()]).await?.is_some())
    }

    /// Records that the remote has the commit.
    pub async fn pack_pushed(&self, feature: &FeatureKey, commit: &Sha, now: Millis) -> Result<(), StoreError> {
        let feature = feature.to_string();
        self.db.run(PUSHED, args![&feature, commit.as_str(), now.0]).await?;
        Ok(())
    }

    /// Deletes and counts the packs that were pushed before this time, or whose Feature ended unpushed.
    pub async fn forget_packs(&self, before: Millis) -> Result<u64, StoreError> {
        self.db.run(FORGET, args![before.0]).await
    }
}

pub(super) async fn put(tx: &mut Tx, pack: &NewPack) -> Result<(), StoreError> {
    let feature = pack.feature.to_string();
    let bytes = pack.bytes.as_slice();
    tx.run(PUT, args![&feature, pack.commit.as_str(), bytes, pack.at.0]).await?;
    Ok(())
}
