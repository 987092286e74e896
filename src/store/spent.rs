//! Names that count only once for all processes on this database: used sign-ins, and sessions that people ended.

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

/// Whether a name was used up before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// This call used it up.
    Now,
    /// An earlier call used it up.
    Before,
}

impl Store {
    /// Uses up a name. It is remembered until `until`, when it would expire anyway.
    pub async fn spend(&self, name: &str, until: Millis, now: Millis) -> Result<Spent, StoreError> {
        let mut tx = self.db.write().await?;
        tx.run(FORGET, args![now.0]).await?;
        let added = tx.run(SPEND, args![name, until.0]).await?;
        tx.commit().await?;
        Ok(if added == 0 { Spent::Before } else { Spent::Now })
    }

    /// Returns whether a name was used up.
    pub async fn is_spent(&self, name: &str) -> Result<bool, StoreError> {
        Ok(self.db.row(IS_SPENT, args![name]).await?.is_some())
    }
}
