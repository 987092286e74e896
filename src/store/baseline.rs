//! Baselines: the results of set-up and tests on commits of the default branch, shared by all Features on the same
//! commit.

use crate::store::{
    error::StoreError,
    row::column,
    sql::{args, statements},
    store::Store,
};
use domain::ids::{Millis, RepoId, Sha};

statements! {
    FIND = "SELECT body FROM baseline WHERE repo_id = $1 AND commit_sha = $2 AND commands = $3";
    KEEP = "INSERT INTO baseline (repo_id, commit_sha, commands, body, made_at) VALUES ($1, $2, $3, $4, $5) \
            ON CONFLICT (repo_id, commit_sha, commands) DO UPDATE SET body = excluded.body, made_at = excluded.made_at";
    FORGET = "DELETE FROM baseline WHERE made_at < $1";
}

impl Store {
    /// Returns the stored result of these commands (given by their hash) on the commit, if there is one.
    pub async fn baseline(&self, repo: RepoId, commit: &Sha, commands: &str) -> Result<Option<String>, StoreError> {
        let key = args![column(repo.0)?, commit.as_str(), commands];
        let row = self.db.row(FIND, key).await?;
        row.map(|row| row.text("body")).transpose()
    }

    /// Stores the result of the commands on the commit. It replaces an earlier result.
    pub async fn keep_baseline(
        &self,
        repo: RepoId,
        commit: &Sha,
        commands: &str,
        body: &str,
        at: Millis,
    ) -> Result<(), StoreError> {
        let row = args![column(repo.0)?, commit.as_str(), commands, body, at.0];
        self.db.run(KEEP, row).await?;
        Ok(())
    }

    /// Deletes the baselines made before `before` and returns how many there were. Later Features can make them again.
    pub async fn forget_baselines(&self, before: Millis) -> Result<u64, StoreError> {
        self.db.run(FORGET, args![before.0]).await
    }
}
