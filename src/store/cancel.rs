//! Cancels effects that are no longer wanted. Waiting ones are cancelled at once; running ones are asked to stop.

use crate::store::{
    error::StoreError,
    sql::{Tx, args, statements},
    store::Store,
};
use domain::ids::FeatureKey;

statements! {
    CANCEL = "UPDATE effect SET cancel_requested = 1, state = CASE WHEN state = 'ready' THEN 'cancelled' ELSE state END \
              WHERE feature_id = $1 AND state IN ('ready', 'running') \
              AND subject = COALESCE($2, subject) AND waits >= $3 AND kind = COALESCE($4, kind)";
}

/// The unfinished effects of a Feature that are no longer wanted: those that match every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CancelRule {
    /// Only effects about this subject.
    pub subject: Option<String>,
    /// Only effects that continue the work, or all effects.
    pub which: Which,
    /// Only effects of this kind.
    pub kind: Option<String>,
}

/// The effects that a [`CancelRule`] covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// All effects.
    #[default]
    All,
    /// Effects that continue the work. They are not claimed while their Feature is held.
    Work,
}

impl Store {
    /// Cancels effects of a Feature outside any event. Returns how many were cancelled or asked to stop.
    pub async fn cancel_effects(&self, feature: &FeatureKey, rule: &CancelRule) -> Result<u64, StoreError> {
        let mut tx = self.db.write().await?;
        let touched = cancel(&mut tx, &feature.to_string(), rule).await?;
        self.db.publish(tx).await?;
        Ok(touched)
    }
}

pub(super) async fn cancel(tx: &mut Tx, feature: &str, rule: &CancelRule) -> Result<u64, StoreError> {
    let arguments = args![
        feature,
        rule.subject.as_deref(),
        match rule.which {
            Which::All => 0,
            Which::Work => 1,
        },
        rule.kind.as_deref(),
    ];
    tx.run(CANCEL, arguments).await
}
