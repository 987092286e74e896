//! Sets up accounts, repositories, roles and rules.

use crate::{
    acts::branches,
    disk::ForgeError,
    forge::Forge,
    refusal::Refusal,
    site::Site,
    state::{BranchRule, Repo, Role, Settings, UserKind},
};
use git::bare::{BareRepo, Ident, NewCommit};
use std::path::Path;

/// The initial content of a new repository.
#[derive(Clone, Copy, Debug)]
pub enum RepoSource<'a> {
    /// The branches and tags of a repository on this machine, which is only read.
    Local(&'a Path),
    /// One commit of a repository on this machine, as the default branch of this name, and the tags.
    Commit(&'a Path, &'a str, &'a str),
    /// One commit with these files on `main`: path and text.
    Files(&'a [(&'a str, &'a str)]),
    /// No commit at all.
    Empty,
}

/// A repository that is being filled. A half-filled one is of no use to anyone, so it is removed on an error, and also if
/// the caller stops waiting.
struct UnfilledRepo<'a> {
    site: &'a Site,
    /// `None` once it is filled.
    id: Option<u64>,
}

impl Drop for UnfilledRepo<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.site.change(|state| state.repos.remove(&id));
            let _ = std::fs::remove_dir_all(self.site.bare(id).dir());
        }
    }
}

impl Forge {
    /// Returns the id of the repository that is or was called `owner/name`.
    pub fn repo_id(&self, full_name: &str) -> Result<u64, ForgeError> {
        let unknown = || ForgeError::Unknown(format!("repository {full_name}"));
        let (owner, name) = full_name.split_once('/').ok_or_else(unknown)?;
        let found = self.site.read(|state| state.repo_once_named(owner, name).map(|repo| repo.id));
        found.ok_or_else(unknown)
    }

    /// Returns the id of an account.
    pub fn user_id(&self, login: &str) -> Result<u64, ForgeError> {
        let found = self.site.read(|state| state.user_named(login).map(|user| user.id));
        found.ok_or_else(|| ForgeError::Unknown(format!("account {login}")))
    }

    /// Creates a person, or finds the one of that login; returns the id.
    pub fn create_user(&self, login: &str) -> u64 {
        self.site.change(|state| state.account(login, UserKind::User))
    }

    /// Creates an organisation, or finds the one of that login; returns the id.
    pub fn create_organization(&self, login: &str) -> u64 {
        self.site.change(|state| state.account(login, UserKind::Organization))
    }

    /// Creates a repository of an existing account; returns its id.
    pub async fn create_repo(
        &self,
        full_name: &str,
        source: RepoSource<'_>,
        settings: Settings,
    ) -> Result<u64, ForgeError> {
        let unknown = || ForgeError::Unknown(full_name.to_owned());
        let (owner, name) = full_name.split_once('/').ok_or_else(unknown)?;
        if self.site.read(|state| state.repo_named(owner, name).is_some()) {
            return Err(Refusal::custom("Repository", "name", "name already exists on this account").into());
        }
        let owner = self.user_id(owner)?;
        let _whole = self.site.whole().await;
        let id = self.site.change(|state| {
            state.former_names.remove(&full_name.to_lowercase());
            state.new_repo(owner, name, "main", settings)
        });
        let mut unfilled = UnfilledRepo { site: &self.site, id: Some(id) };
        self.fill(id, owner, source).await?;
        unfilled.id = None;
        Ok(id)
    }

    async fn fill(&self, id: u64, owner: u64, source: RepoSource<'_>) -> Result<(), ForgeError> {
        let dir = self.site.bare(id).dir().to_owned();
        let (bare, default) = match source {
            RepoSource::Local(path) => BareRepo::import(&dir, &path.to_string_lossy()).await?,
            RepoSource::Commit(path, commit, branch) => {
                let bare = BareRepo::import_commit(&dir, &path.to_string_lossy(), commit, branch).await?;
                (bare, branch.to_owned())
            }
            RepoSource::Empty | RepoSource::Files(_) => (BareRepo::init(&dir, "main").await?, "main".to_owned()),
        };
        if let RepoSource::Files(files) = source {
            let author = self.site.change(|state| {
                let (login, seconds) = (state.login(owner).to_owned(), state.clock.stamp().timestamp());
                Ident::new(&login, &format!("{login}@example.com"), seconds)
            });
            let file = |(path, text): &(&str, &str)| ((*path).to_owned(), Some(text.as_bytes().to_vec()));
            let new = NewCommit {
                branch: "main",
                parent: None,
                author: &author,
                message: "Initial commit",
                files: &files.iter().map(file).collect(),
            };
            bare.write_commit(&new).await?;
        }
        let branches = branches(&bare).await?;
        self.site.change(|state| {
            let repo = state.repo_mut(id)?;
            (repo.branches, repo.default_branch) = (branches, default);
            Ok::<_, Refusal>(())
        })?;
        Ok(())
    }

    /// Makes the next issue or pull request get a number above this one.
    pub fn number_after(&self, full_name: &str, number: u64) -> Result<(), ForgeError> {
        self.change_repo(full_name, |repo| repo.last_number = repo.last_number.max(number))
    }

    /// Removes a repository with its files, deliveries and events, without sending any webhook.
    pub fn forget_repo(&self, full_name: &str) -> Result<(), ForgeError> {
        let id = self.repo_id(full_name)?;
        self.site.change(|state| {
            state.repos.remove(&id);
            state.deliveries.retain(|_, one| one.repository != Some(id));
            state.feed.retain(|event| event.repository != full_name);
        });
        let _ = std::fs::remove_dir_all(self.site.bare(id).dir());
        let _ = std::fs::remove_file(self.site.move_file(id));
        Ok(())
    }

    pub(super) fn read_repo<T>(&self, full_name: &str, look: impl FnOnce(&Repo) -> T) -> Result<T, ForgeError> {
        let id = self.repo_id(full_name)?;
        Ok(self.site.read(|state| state.repo(id).map(look))?)
    }

    pub(super) fn change_repo(&self, full_name: &str, change: impl FnOnce(&mut Repo)) -> Result<(), ForgeError> {
        let id = self.repo_id(full_name)?;
        Ok(self.site.change(|state| state.repo_mut(id).map(change))?)
    }

    /// Gives a person a role in a repository.
    pub fn set_role(&self, full_name: &str, login: &str, role: Role) -> Result<(), ForgeError> {
        let user = self.user_id(login)?;
        self.change_repo(full_name, |repo| {
            repo.collaborators.insert(user, role);
        })
    }

    /// Changes the settings of a repository.
    pub fn change_settings(&self, full_name: &str, change: impl FnOnce(&mut Settings)) -> Result<(), ForgeError> {
        self.change_repo(full_name, |repo| change(&mut repo.settings))
    }

    /// Adds a rule for branches.
    pub fn add_rule(&self, full_name: &str, rule: BranchRule) -> Result<(), ForgeError> {
        self.change_repo(full_name, |repo| repo.rules.push(rule))
    }

    /// Removes all rules.
    pub fn clear_rules(&self, full_name: &str) -> Result<(), ForgeError> {
        self.change_repo(full_name, |repo| repo.rules.clear())
    }
}
