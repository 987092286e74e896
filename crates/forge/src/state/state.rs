//! The forge's whole state, and how to find its parts.

use crate::{
    clock::Clock,
    feed::FeedEvent,
    refusal::{OrNotFound, Result},
    state::{
        account::{App, Installation, ManifestCode, OauthCode, Role, Token, User, UserKind},
        delivery::Delivery,
        issue::{Issue, Pull},
        repo::Repo,
    },
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The forge's whole state.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct State {
    /// The last id given to anything. All kinds of things share the counter, so ids of different kinds never coincide.
    pub last_id: u64,
    pub clock: Clock,
    /// With a seed, delivery ids are counted instead of random.
    pub seed: Option<u64>,
    pub users: BTreeMap<u64, User>,
    pub apps: BTreeMap<u64, App>,
    pub installations: BTreeMap<u64, Installation>,
    pub tokens: BTreeMap<String, Token>,
    /// Sign-ins with an App that wait for the exchange of their code, by code.
    #[serde(default)]
    pub oauth_codes: BTreeMap<String, OauthCode>,
    /// The owners of each organisation.
    #[serde(default)]
    pub owners: BTreeMap<u64, BTreeSet<u64>>,
    /// New Apps whose credentials wait to be fetched, by code.
    #[serde(default)]
    pub manifest_codes: BTreeMap<String, ManifestCode>,
    pub repos: BTreeMap<u64, Repo>,
    /// The repositories' former full names, in lower case.
    pub former_names: BTreeMap<String, u64>,
    pub deliveries: BTreeMap<u64, Delivery>,
    pub feed: Vec<FeedEvent>,
    /// The forge's address now; never saved.
    #[serde(skip)]
    pub base: String,
    /// Deliveries to hand to the couriers after the change.
    #[serde(skip)]
    pub outbox: VecDeque<u64>,
    /// Feed events to broadcast after the change.
    #[serde(skip)]
    pub news: VecDeque<FeedEvent>,
}

/// The one who acts: a person, or an App through its bot user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    pub user: u64,
    pub app: Option<u64>,
}

impl Actor {
    pub fn person(user: u64) -> Self {
        Self { user, app: None }
    }
}

/// The one who acts, and the repository.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub repo: u64,
    pub by: Actor,
}

impl State {
    pub fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Returns the host of the accounts' email addresses: `users.noreply.` and the forge's own host, as on GitHub.
    pub fn noreply_host(&self) -> String {
        let base = url::Url::parse(&self.base).ok();
        let host = base.as_ref().and_then(url::Url::host_str).unwrap_or("github.com");
        format!("users.noreply.{host}")
    }

    pub fn user(&self, id: u64) -> Option<&User> {
        self.users.get(&id)
    }

    pub fn login(&self, id: u64) -> &str {
        self.users.get(&id).map_or("ghost", |user| user.login.as_str())
    }

    pub fn user_named(&self, login: &str) -> Option<&User> {
        self.users.values().find(|user| user.login.eq_ignore_ascii_case(login))
    }

    /// Returns `true` if a person may register and install Apps for an account.
    pub fn administers(&self, person: u64, account: u64) -> bool {
        let owners = self.owners.get(&account);
        person == account || owners.is_some_and(|owners| owners.contains(&person))
    }

    pub fn app_named(&self, slug: &str) -> Option<&App> {
        self.apps.values().find(|app| app.slug.eq_ignore_ascii_case(slug))
    }

    /// Returns the repository that is called `owner/name` now.
    pub fn repo_named(&self, owner: &str, name: &str) -> Option<&Repo> {
        self.repos
            .values()
            .find(|repo| repo.name.eq_ignore_ascii_case(name) && self.login(repo.owner).eq_ignore_ascii_case(owner))
    }

    /// Returns the repository that is called `owner/name` now, or else the one that was called so before.
    pub fn repo_once_named(&self, owner: &str, name: &str) -> Option<&Repo> {
        let formerly = || self.former_names.get(&format!("{owner}/{name}").to_lowercase());
        let found = self.repo_named(owner, name);
        found.or_else(|| self.repos.get(formerly()?))
    }

    pub fn full_name(&self, repo: &Repo) -> String {
        format!("{}/{}", self.login(repo.owner), repo.name)
    }

    pub fn repo(&self, id: u64) -> Result<&Repo> {
        self.repos.get(&id).or_not_found()
    }

    pub fn repo_mut(&mut self, id: u64) -> Result<&mut Repo> {
        self.repos.get_mut(&id).or_not_found()
    }

    pub fn issue(&self, repo: u64, number: u64) -> Result<&Issue> {
        self.repo(repo)?.issues.get(&number).or_not_found()
    }

    pub fn issue_mut(&mut self, repo: u64, number: u64) -> Result<&mut Issue> {
        self.repo_mut(repo)?.issues.get_mut(&number).or_not_found()
    }

    pub fn pull(&self, repo: u64, number: u64) -> Result<(&Issue, &Pull)> {
        let issue = self.issue(repo, number)?;
        Ok((issue, issue.pull.as_ref().or_not_found()?))
    }

    pub fn pull_mut(&mut self, repo: u64, number: u64) -> Result<&mut Pull> {
        self.issue_mut(repo, number)?.pull.as_mut().or_not_found()
    }

    /// Returns the role of a person in a repository. Bots of Apps have none, nor do strangers in private repositories.
    pub fn role(&self, repo: &Repo, user: u64) -> Role {
        if self.users.get(&user).is_some_and(|user| user.kind == UserKind::Bot) {
            return Role::None;
        }
        if repo.owner == user {
            return Role::Admin;
        }
        let floor = if repo.settings.private { Role::None } else { Role::Read };
        repo.collaborators.get(&user).copied().unwrap_or(Role::None).max(floor)
    }
}
