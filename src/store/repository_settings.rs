//! Settings files of repositories as they were last read, with a mark if they may have changed since.

use crate::store::{
    error::StoreError,
    row::column,
    sql::{args, statements},
    store::Store,
};
use domain::ids::{Millis, RepoId, Sha};

statements! {
    READ = "SELECT commit_sha, file, shared_repo, asked_at, doubted_at FROM repository_settings WHERE repo_id = $1";
    KEEP = "INSERT INTO repository_settings (repo_id, owner, commit_sha, file, shared_repo, asked_at, doubted_at) \
            VALUES ($1, $2, $3, $4, $5, $6, 0) \
            ON CONFLICT (repo_id) DO UPDATE SET owner = excluded.owner, commit_sha = excluded.commit_sha, \
            file = excluded.file, shared_repo = excluded.shared_repo, asked_at = excluded.asked_at";
    SHARED = "SELECT shared_repo FROM repository_settings WHERE owner = $1 AND shared_repo IS NOT NULL \
              ORDER BY asked_at DESC LIMIT 1";
    // The row may not exist yet, because the first read is still running.
    DOUBT = "INSERT INTO repository_settings (repo_id, owner, asked_at, doubted_at) VALUES ($1, $2, 0, $3) \
             ON CONFLICT (repo_id) DO UPDATE SET doubted_at = excluded.doubted_at";
    DOUBT_OWNER = "UPDATE repository_settings SET doubted_at = $2 WHERE owner = $1";
    DOUBT_ALL = "UPDATE repository_settings SET doubted_at = $1";
}

/// A settings file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSettings {
    /// The commit of the default branch; `None` if the repository has no commits.
    pub commit: Option<Sha>,
    pub file: String,
    /// The organisation's `.github` repository, if it was read.
    pub shared: Option<RepoId>,
    /// The time at which the read began.
    pub asked_at: Millis,
}

/// The reliability of a settings file since its read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsStatus {
    /// No such event happened.
    Certain,
    /// Such an event happened: compare the commit to find out.
    InDoubt,
}

impl Store {
    /// Returns the settings file of a repository as it was last read.
    pub async fn known_settings(&self, repo: RepoId) -> Result<Option<(KnownSettings, SettingsStatus)>, StoreError> {
        let Some(row) = self.db.row(READ, args![column(repo.0)?]).await? else {
            return Ok(None);
        };
        let Some(file) = row.opt_text("file")? else {
            return Ok(None);
        };
        let asked_at = row.int("asked_at")?;
        let status = if asked_at > row.int("doubted_at")? { SettingsStatus::Certain } else { SettingsStatus::InDoubt };
        let known = KnownSettings {
            commit: row.opt_parsed("commit_sha")?,
            file,
            shared: row.opt_count("shared_repo")?.map(RepoId),
            asked_at: Millis(asked_at),
        };
        Ok(Some((known, status)))
    }

    /// Returns the owner's `.github` repository, if the last read of one of the owner's repositories used it.
    pub async fn shared_settings_of(&self, owner: &str) -> Result<Option<RepoId>, StoreError> {
        let owner = owner.to_lowercase();
        let row = self.db.row(SHARED, args![&owner]).await?;
        let shared = row.map(|row| row.opt_count("shared_repo")).transpose()?;
        Ok(shared.flatten().map(RepoId))
    }

    /// Stores the result of a read, in place of the earlier one.
    pub async fn keep_settings(&self, repo: RepoId, owner: &str, known: &KnownSettings) -> Result<(), StoreError> {
        let owner = owner.to_lowercase();
        let row = args![
            column(repo.0)?,
            &owner,
            known.commit.as_ref().map(Sha::as_str),
            &known.file,
            known.shared.map(|id| column(id.0)).transpose()?,
            known.asked_at.0,
        ];
        self.db.run(KEEP, row).await?;
        Ok(())
    }

    /// Records that the repository's file may have changed.
    pub async fn doubt_settings(&self, repo: RepoId, owner: &str, at: Millis) -> Result<(), StoreError> {
        let owner = owner.to_lowercase();
        self.db.run(DOUBT, args![column(repo.0)?, &owner, at.0]).await?;
        Ok(())
    }

    /// Records that the file shared by all repositories of an owner may have changed.
    pub async fn doubt_settings_of_owner(&self, owner: &str, at: Millis) -> Result<(), StoreError> {
        let owner = owner.to_lowercase();
        self.db.run(DOUBT_OWNER, args![&owner, at.0]).await?;
        Ok(())
    }

    /// Records that any file may have changed, because deliveries may have been missed.
    pub async fn doubt_all_settings(&self, at: Millis) -> Result<(), StoreError> {
        self.db.run(DOUBT_ALL, args![at.0]).await?;
        Ok(())
    }
}
