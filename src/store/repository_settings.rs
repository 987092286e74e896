//! What repositories' settings files said, and since when that is in doubt.

use crate::store::{
    error::StoreError,
    row::stored,
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
    // The row may not be there yet while its first reading is under way.
    DOUBT = "INSERT INTO repository_settings (repo_id, owner, asked_at, doubted_at) VALUES ($1, $2, 0, $3) \
             ON CONFLICT (repo_id) DO UPDATE SET doubted_at = excluded.doubted_at";
    DOUBT_OWNER = "UPDATE repository_settings SET doubted_at = $2 WHERE owner = $1";
    DOUBT_ALL = "UPDATE repository_settings SET doubted_at = $1";
}

/// A settings file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSettings {
    /// The commit of the default branch; none where the repository has no commits.
    pub commit: Option<Sha>,
    /// What was found, JSON.
    pub file: String,
    /// The organisation's `.github` repository, where that was looked at.
    pub shared: Option<RepoId>,
    /// When the reading began.
    pub asked_at: Millis,
}

/// Whether something happened since the reading that may have changed the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing did.
    Certain,
    /// Something did: only the commit tells.
    InDoubt,
}

impl Store {
    /// What the settings file of a repository said when it was last read.
    pub async fn known_settings(&self, repo: RepoId) -> Result<Option<(KnownSettings, Standing)>, StoreError> {
        let Some(row) = self.db.row(READ, args![stored(repo.0)?]).await? else {
            return Ok(None);
        };
        let Some(file) = row.opt_text("file")? else {
            return Ok(None);
        };
        let asked_at = row.int("asked_at")?;
        let standing = match asked_at > row.int("doubted_at")? {
            true => Standing::Certain,
            false => Standing::InDoubt,
        };
        let known = KnownSettings {
            commit: row.opt_parsed("commit_sha")?,
            file,
            shared: row.opt_count("shared_repo")?.map(RepoId),
            asked_at: Millis(asked_at),
        };
        Ok(Some((known, standing)))
    }

    /// The `.github` repository of an owner, where one of the owner's repositories was last found to follow it.
    pub async fn shared_settings_of(&self, owner: &str) -> Result<Option<RepoId>, StoreError> {
        let owner = owner.to_lowercase();
        let row = self.db.row(SHARED, args![&owner]).await?;
        let shared = row.map(|row| row.opt_count("shared_repo")).transpose()?;
        Ok(shared.flatten().map(RepoId))
    }

    /// Keeps what was read, in place of what was read before.
    pub async fn keep_settings(&self, repo: RepoId, owner: &str, known: &KnownSettings) -> Result<(), StoreError> {
        let owner = owner.to_lowercase();
        let row = args![
            stored(repo.0)?,
            &owner,
            known.commit.as_ref().map(Sha::as_str),
            &known.file,
            known.shared.map(|id| stored(id.0)).transpose()?,
            known.asked_at.0,
        ];
        self.db.run(KEEP, row).await?;
        Ok(())
    }

    /// The repository's file may have changed.
    pub async fn doubt_settings(&self, repo: RepoId, owner: &str, at: Millis) -> Result<(), StoreError> {
        let owner = owner.to_lowercase();
        self.db.run(DOUBT, args![stored(repo.0)?, &owner, at.0]).await?;
        Ok(())
    }

    /// The file that holds for all of an owner's repositories may have changed.
    pub async fn doubt_settings_of_owner(&self, owner: &str, at: Millis) -> Result<(), StoreError> {
        let owner = owner.to_lowercase();
        self.db.run(DOUBT_OWNER, args![&owner, at.0]).await?;
        Ok(())
    }

    /// Any file may have changed: nobody listened.
    pub async fn doubt_all_settings(&self, at: Millis) -> Result<(), StoreError> {
        self.db.run(DOUBT_ALL, args![at.0]).await?;
        Ok(())
    }
}
