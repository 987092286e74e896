//! Small facts about this server, and a check that the database can be written.

use crate::store::{
    error::StoreError,
    sql::{args, statements},
    store::Store,
};

statements! {
    GET = "SELECT v FROM meta WHERE k = $1";
    SET_ONCE = "INSERT INTO meta (k, v) VALUES ($1, $2) ON CONFLICT (k) DO NOTHING";
    SET = "INSERT INTO meta (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v";
}

/// The key that the write check writes.
const PROBE: &str = "probe";

impl Store {
    /// Returns the value stored under `key`.
    pub async fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let row = self.db.row(GET, args![key]).await?;
        row.map(|row| row.text("v")).transpose()
    }

    /// Stores a value under `key`. It replaces an earlier one.
    pub async fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.db.run(SET, args![key, value]).await?;
        Ok(())
    }

    /// Stores `value` under `key` unless it has a value already. Returns the value that was stored first.
    pub async fn meta_once(&self, key: &str, value: &str) -> Result<String, StoreError> {
        self.db.run(SET_ONCE, args![key, value]).await?;
        Ok(self.meta(key).await?.unwrap_or_else(|| value.to_owned()))
    }

    /// Checks with a real write and commit that the database can be written.
    pub async fn check_writable(&self) -> Result<(), StoreError> {
        let mut tx = self.db.write().await?;
        tx.run(SET, args![PROBE, ""]).await?;
        tx.commit().await
    }
}
