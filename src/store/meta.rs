//! Small facts about this installation, and whether the database can be written.

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

/// The key that is written to learn whether anything can be.
const PROBE: &str = "probe";

impl Store {
    /// The fact kept under `key`.
    pub async fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let row = self.db.row(GET, args![key]).await?;
        row.map(|row| row.text("v")).transpose()
    }

    /// Keeps a fact under `key`, in place of the one before.
    pub async fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.db.run(SET, args![key, value]).await?;
        Ok(())
    }

    /// The fact that was kept first under `key`: `value`, unless there was one.
    pub async fn meta_once(&self, key: &str, value: &str) -> Result<String, StoreError> {
        self.db.run(SET_ONCE, args![key, value]).await?;
        Ok(self.meta(key).await?.unwrap_or_else(|| value.to_owned()))
    }

    /// Whether the database takes and keeps a write, shown by a real one.
    pub async fn check_writable(&self) -> Result<(), StoreError> {
        let mut tx = self.db.write().await?;
        tx.run(SET, args![PROBE, ""]).await?;
        tx.commit().await
    }
}
