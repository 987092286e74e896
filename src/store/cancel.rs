//! Cancels effects that are no longer wanted. Waiting ones are cancelled at once; running ones are asked to stop.

use crate::store::{
    error::StoreError,
    sql::{Tx, args, statements},
};

statements! {
    CANCEL = "UPDATE effect SET cancel_requested = 1, state = CASE WHEN state = 'ready' THEN 'cancelled' ELSE state END \
              WHERE feature_id = $1 AND state IN ('ready', 'running') \
              AND subject = COALESCE($2, subject) AND waits >= $3 AND kind = COALESCE($4, kind)";
}

/// The unfinished effects of a Feature that are no longer wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelRule {
    /// Effects that continue the work (`waits`): all, or those about this subject.
    Work(Option<String>),
    Kind(String),
}

pub(super) async fn cancel(tx: &mut Tx, feature: &str, rule: &CancelRule) -> Result<(), StoreError> {
    let (subject, waits, kind) = match rule {
        CancelRule::Work(subject) => (subject.as_deref(), 1, None),
        CancelRule::Kind(kind) => (None, 0, Some(kind.as_str())),
    };
    tx.run(CANCEL, args![feature, subject, waits, kind]).await?;
    Ok(())
}
