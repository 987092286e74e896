//! The calls about one repository, which is identified by its id and not by its name.

use super::{
    app::{MAX_PAGES, PER_PAGE, endless, has_more},
    error::GithubError,
    http::{Call, Intent, Permit, Reply, segment},
    model::Repository,
    rights::Rights,
    tokens::TokenKey,
};
use crate::github::client::Client;
use domain::ids::{InstallationId, RepoId, RepoName};
use http::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One repository through one installation. Cheap to make. Names are looked up by id, and again after they have
/// changed.
#[derive(Clone, Copy)]
pub struct Repo<'a> {
    pub(super) client: &'a Client,
    pub(super) installation: InstallationId,
    pub(super) id: RepoId,
    pub(super) permit: Option<&'a Permit>,
}

impl<'a> Repo<'a> {
    /// `true` if its GitHub has its own machines for workflows.
    pub fn has_hosted_runners(&self) -> bool {
        self.client.urls.has_hosted_runners()
    }

    /// Sends writes only for as long as the permit holds.
    pub fn permitted_by(self, permit: &'a Permit) -> Self {
        Self { permit: Some(permit), ..self }
    }

    /// Returns the current data of the repository, by its id.
    pub async fn repository(&self) -> Result<Repository, GithubError> {
        self.repository_with(Rights::Read).await
    }

    /// Returns the repository's name. It is remembered until a call finds that the repository was renamed.
    pub async fn name(&self) -> Result<RepoName, GithubError> {
        self.name_with(Rights::Read).await
    }

    async fn repository_with(&self, rights: Rights) -> Result<Repository, GithubError> {
        let path = format!("/repositories/{}", self.id);
        let reply = self.client.ask(self.key(rights), &Call::get(&path)).await?;
        let repository: Repository = reply.json()?;
        self.client.remember_name(self.id, repository.name.clone());
        Ok(repository)
    }

    pub(super) async fn name_with(&self, rights: Rights) -> Result<RepoName, GithubError> {
        match self.client.known_name(self.id) {
            Some(name) => Ok(name),
            None => Ok(self.repository_with(rights).await?.name),
        }
    }

    pub(super) fn key(&self, rights: Rights) -> TokenKey {
        TokenKey { installation: self.installation, repo: Some(self.id), rights }
    }

    /// Reads `/repos/OWNER/NAME` + `tail`.
    pub(super) async fn get<T: DeserializeOwned>(&self, rights: Rights, tail: &str) -> Result<T, GithubError> {
        self.send(rights, Method::GET, tail, None).await?.json()
    }

    /// Reads the value at a JSON pointer into the answer of `/repos/OWNER/NAME` + `tail`.
    pub(super) async fn get_at<T: DeserializeOwned>(
        &self,
        rights: Rights,
        tail: &str,
        pointer: &str,
    ) -> Result<T, GithubError> {
        self.send(rights, Method::GET, tail, None).await?.at(pointer)
    }

    /// Posts to `/repos/OWNER/NAME` + `tail`.
    pub(super) async fn post(&self, rights: Rights, tail: &str, body: &Value) -> Result<Reply, GithubError> {
        self.send(rights, Method::POST, tail, Some(body)).await
    }

    /// Reads all pages of a list in order. `page_of` returns the entries of an answer.
    pub(super) async fn list<T: DeserializeOwned>(
        &self,
        rights: Rights,
        tail: &str,
        page_of: impl Fn(&Reply) -> Result<Vec<T>, GithubError>,
    ) -> Result<Vec<T>, GithubError> {
        let joint = if tail.contains('?') { '&' } else { '?' };
        let mut all = Vec::new();
        for page in 1..=MAX_PAGES {
            let tail = format!("{tail}{joint}per_page={PER_PAGE}&page={page}");
            let reply = self.send(rights, Method::GET, &tail, None).await?;
            let found = page_of(&reply)?;
            let more = has_more(&reply.headers, found.len());
            all.extend(found);
            if !more {
                return Ok(all);
            }
        }
        Err(endless())
    }

    /// Sends to `/repos/OWNER/NAME` + `tail`. For a renamed repository, GitHub answers with a redirect, which would turn
    /// a POST into a GET. So it is not followed: the name is looked up by id, and the request, which was not executed, is
    /// sent once more.
    pub(super) async fn send(
        &self,
        rights: Rights,
        method: Method,
        tail: &str,
        body: Option<&Value>,
    ) -> Result<Reply, GithubError> {
        let name = self.name_with(rights).await?;
        let error = match self.send_to(&name, rights, method.clone(), tail, body).await {
            Err(error) if may_be_renamed(&error) => error,
            other => return other,
        };
        match self.repository_with(rights).await?.name {
            fresh if fresh == name => Err(error),
            fresh => self.send_to(&fresh, rights, method, tail, body).await,
        }
    }

    async fn send_to(
        &self,
        name: &RepoName,
        rights: Rights,
        method: Method,
        tail: &str,
        body: Option<&Value>,
    ) -> Result<Reply, GithubError> {
        let path = format!("/repos/{}/{}{tail}", segment(&name.owner), segment(&name.name));
        let is_read = method == Method::GET;
        let intent = if is_read { Intent::Read } else { Intent::Write };
        let call = Call { method, path: &path, body, intent, permit: self.permit.filter(|_| !is_read) };
        self.client.ask(self.key(rights), &call).await
    }
}

fn may_be_renamed(error: &GithubError) -> bool {
    matches!(error, GithubError::NotFound | GithubError::Refused { status: 300..=399, .. })
}
