//! Accounts, repositories, rights and rules.

use super::super::state::{BranchRule, Role, Settings, Token, User, UserKind};
use crate::{disk::ForgeError, forge::Forge, refusal::Refusal};
use git::bare::{BareRepo, Ident, NewCommit};
use secrecy::SecretString;
use std::{collections::BTreeMap, path::Path};

/// What a new repository starts from.
#[derive(Clone, Copy, Debug)]
pub enum RepoSource<'a> {
    /// A repository on this machine, of which branches and tags are copied. It is only read.
    Local(&'a Path),
    /// One commit with these files on `main`.
    Files(&'a [(&'a str, &'a str)]),
    /// No commit at all.
    Empty,
}

impl Forge {
    /// Makes a person, or finds the one of that login; gives the id.
    pub fn create_user(&self, login: &str) -> u64 {
        self.account(login, UserKind::User)
    }

    /// Makes an organisation, or finds the one of that login; gives the id.
    pub fn create_organization(&self, login: &str) -> u64 {
        self.account(login, UserKind::Organization)
    }

    pub(super) fn account(&self, login: &str, kind: UserKind) -> u64 {
        self.site.change(|state| {
            if let Some(known) = state.user_named(login) {
                return known.id;
            }
            let (id, created_at) = (state.next_id(), state.clock.stamp());
            let login = login.to_owned();
            state.users.insert(
                id,
                User {
                    id,
                    login,
                    kind,
                    created_at,
                },
            );
            id
        })
    }

    /// A token with which a person calls the API and git.
    pub fn user_token(&self, login: &str) -> Result<SecretString, ForgeError> {
        let user = self.user_id(login)?;
        let token = self.site.change(|state| {
            let token = format!("ghp_{login}{:024x}", state.next_id());
            state.tokens.insert(token.clone(), Token::Person(user));
            token
        });
        Ok(SecretString::from(token))
    }

    /// Makes a repository of an account that exists; gives its id.
    pub async fn create_repo(
        &self,
        full_name: &str,
        source: RepoSource<'_>,
        settings: Settings,
    ) -> Result<u64, ForgeError> {
        let taken = || Refusal::custom("Repository", "name", "name already exists on this account");
        let (owner, name) = full_name
            .split_once('/')
            .ok_or_else(|| ForgeError::Unknown(full_name.to_owned()))?;
        let owner = self.user_id(owner)?;
        if self
            .site
            .read(|state| state.repo_named(state.login(owner), name).is_some())
        {
            return Err(taken().into());
        }
        let id = self.site.change(|state| {
            state.former_names.remove(&full_name.to_lowercase());
            state.new_repo(owner, name, "main", settings)
        });
        match self.fill(id, owner, source).await {
            Ok(()) => Ok(id),
            Err(error) => {
                self.site.change(|state| state.repos.remove(&id));
                // What was written before the failure is of no use to anyone.
                let _ = std::fs::remove_dir_all(self.site.bare(id).dir());
                Err(error)
            }
        }
    }

    async fn fill(&self, id: u64, owner: u64, source: RepoSource<'_>) -> Result<(), ForgeError> {
        let dir = self.site.bare(id).dir().to_owned();
        let (bare, default) = match source {
            RepoSource::Local(path) => BareRepo::import(&dir, &path.to_string_lossy()).await?,
            RepoSource::Empty => (BareRepo::init(&dir, "main").await?, "main".to_owned()),
            RepoSource::Files(files) => {
                let bare = BareRepo::init(&dir, "main").await?;
                let author = self.site.change(|state| {
                    let seconds = state.clock.stamp().timestamp();
                    Ident::new(
                        state.login(owner),
                        &format!("{}@example.com", state.login(owner)),
                        seconds,
                    )
                });
                let files: BTreeMap<String, Option<Vec<u8>>> = files
                    .iter()
                    .map(|(path, text)| ((*path).to_owned(), Some(text.as_bytes().to_vec())))
                    .collect();
                let new = NewCommit {
                    branch: "main",
                    parent: None,
                    author: &author,
                    message: "Initial commit",
                    files: &files,
                };
                bare.write_commit(&new).await?;
                (bare, "main".to_owned())
            }
        };
        let short = |refs: BTreeMap<String, String>, prefix: &str| -> BTreeMap<String, String> {
            refs.into_iter()
                .map(|(name, sha)| (name.replacen(prefix, "", 1), sha))
                .collect()
        };
        let branches = short(bare.refs("refs/heads/").await?, "refs/heads/");
        let tags = short(bare.refs("refs/tags/").await?, "refs/tags/");
        self.site.change(|state| {
            let repo = state.repo_mut(id)?;
            (repo.branches, repo.tags, repo.default_branch) = (branches, tags, default);
            Ok::<_, Refusal>(())
        })?;
        Ok(())
    }

    /// Gives a person a role in a repository.
    pub fn set_role(&self, full_name: &str, login: &str, role: Role) -> Result<(), ForgeError> {
        let (repo, user) = (self.repo_id(full_name)?, self.user_id(login)?);
        self.site
            .change(|state| state.repo_mut(repo).map(|repo| repo.collaborators.insert(user, role)))?;
        Ok(())
    }

    /// Changes what a repository allows.
    pub fn change_settings(&self, full_name: &str, change: impl FnOnce(&mut Settings)) -> Result<(), ForgeError> {
        let repo = self.repo_id(full_name)?;
        self.site
            .change(|state| state.repo_mut(repo).map(|repo| change(&mut repo.settings)))?;
        Ok(())
    }

    /// Makes a label known to a repository.
    pub fn create_label(&self, full_name: &str, name: &str, color: &str) -> Result<(), ForgeError> {
        let repo = self.repo_id(full_name)?;
        Ok(self
            .site
            .change(|state| state.make_label(repo, name, Some(color), None))?)
    }

    /// Adds a rule for branches.
    pub fn add_rule(&self, full_name: &str, rule: BranchRule) -> Result<(), ForgeError> {
        let repo = self.repo_id(full_name)?;
        self.site
            .change(|state| state.repo_mut(repo).map(|repo| repo.rules.push(rule)))?;
        Ok(())
    }

    /// Takes all rules back.
    pub fn clear_rules(&self, full_name: &str) -> Result<(), ForgeError> {
        let repo = self.repo_id(full_name)?;
        self.site
            .change(|state| state.repo_mut(repo).map(|repo| repo.rules.clear()))?;
        Ok(())
    }
}
