//! What counts once, or no more, for all who work on this database: sign-ins that came back, and sessions that people ended.

use crate::store::{
    error::StoreError,
    sql::{args, statements},
    store::Store,
};
use domain::ids::Millis;

statements! {
    SPEND = "INSERT INTO spent (name, until) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    FORGET = "DELETE FROM spent WHERE until <= $1";
    IS_SPENT = "SELECT name FROM spent WHERE name = $1";
}

/// Whether something was spent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// It counts for whoever asked.
    Now,
    /// It counts no more.
    Before,
}

impl Store {
    /// Spends a name, which must be remembered `until` it would count no more anyway.
    pub async fn spend(&self, name: &str, until: Millis, now: Millis) -> Result<Spent, StoreError> {
        let mut tx = self.db.write().await?;
        tx.run(FORGET, args![now.0]).await?;
        let added = tx.run(SPEND, args![name, until.0]).await?;
        tx.commit().await?;
        Ok(if added == 0 { Spent::Before } else { Spent::Now })
    }

    /// Whether a name was spent.
    pub async fn is_spent(&self, name: &str) -> Result<bool, StoreError> {
        Ok(self.db.row(IS_SPENT, args![name]).await?.is_some())
    }
}
