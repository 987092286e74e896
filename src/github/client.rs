//! The client of one App.

use super::{
    app,
    app::{App, Identity, SetupError},
    error::GithubError,
    http::{Call, Clock, Credential, Reply, Wire, segment},
    model::{Actor, Repository},
    repo::Repo,
    rights::Rights,
    tokens::{TokenKey, Tokens},
};
use crate::github::urls::GithubUrls;
use domain::ids::{AppId, InstallationId, Millis, RepoId, RepoName, User};
use parking_lot::Mutex;
use secrecy::SecretString;
use std::{collections::HashMap, time::Duration};
use text::secret::Secrets;
use tokio::sync::OnceCell;

/// One App and its connections to one GitHub. Make it once and share it, to reuse its tokens and connections.
pub struct Client {
    pub id: AppId,
    pub urls: GithubUrls,
    pub(super) wire: Wire,
    tokens: Tokens,
    names: Mutex<HashMap<RepoId, KnownName>>,
    identity: OnceCell<Identity>,
    bot: OnceCell<User>,
}

/// The time in milliseconds after which a name is looked up again. A repository may be renamed and its name reused.
const NAME_MS: i64 = 10 * 60_000;

struct KnownName {
    name: RepoName,
    good_until: Millis,
}

impl Client {
    /// Prepares the connections without sending anything. Must be called within a tokio runtime.
    pub fn new(app: &App, urls: &GithubUrls, clock: Clock) -> Result<Self, SetupError> {
        let wire = Wire::new(urls, app, clock).map_err(|error| SetupError::Connection { source: error.into() })?;
        Ok(Self::over(app, urls.clone(), wire))
    }

    /// Makes a client for another App on the same connections, with the same masking.
    pub fn beside(&self, app: &App) -> Self {
        Self::over(app, self.urls.clone(), self.wire.of(app))
    }

    fn over(app: &App, urls: GithubUrls, wire: Wire) -> Self {
        Self {
            id: app.id,
            urls,
            wire,
            tokens: Tokens::default(),
            names: Mutex::default(),
            identity: OnceCell::new(),
            bot: OnceCell::new(),
        }
    }

    /// Masks these secrets in everything that is sent, in addition to everything that looks like a credential.
    pub fn masking(mut self, secrets: Secrets) -> Self {
        self.wire.secrets = secrets;
        self
    }

    /// Sets the pauses before a read is tried again.
    pub fn pausing(mut self, read_pauses: [Duration; 2]) -> Self {
        self.wire.read_pauses = read_pauses;
        self
    }

    /// Returns GitHub's data about the App; asked once.
    pub async fn identity(&self) -> Result<&Identity, GithubError> {
        self.identity.get_or_try_init(|| app::identity(&self.wire)).await
    }

    /// Returns the installation that covers a repository; `None` if the App is not installed.
    pub async fn installation_of(&self, name: &RepoName) -> Result<Option<InstallationId>, GithubError> {
        app::covering(&self.wire, &format!("/repos/{}/{}/installation", segment(&name.owner), segment(&name.name)))
            .await
    }

    /// Returns the installation that covers a repository now, by the repository's id; `None` if there is none.
    pub async fn installation_of_id(&self, repo: RepoId) -> Result<Option<InstallationId>, GithubError> {
        app::covering(&self.wire, &format!("/repositories/{repo}/installation")).await
    }

    /// Returns the first repositories that an installation covers, at most one page (100), and their total number.
    pub async fn repositories(&self, installation: InstallationId) -> Result<(Vec<Repository>, u64), GithubError> {
        let path = "/installation/repositories?per_page=100";
        let reply = self.look(installation, path).await?;
        Ok((reply.at("/repositories")?, reply.at("/total_count")?))
    }

    /// Returns the App's bot user, who is the author of the App's posts; asked once. GitHub shows it only to an
    /// installation.
    pub async fn bot(&self, installation: InstallationId) -> Result<&User, GithubError> {
        self.bot
            .get_or_try_init(|| async {
                let path = format!("/users/{}", segment(&self.identity().await?.bot_login()));
                let actor: Actor = self.look(installation, &path).await?.json()?;
                Ok(actor.user)
            })
            .await
    }

    /// Returns the App's bot user if it has been asked for before.
    pub fn known_bot(&self) -> Option<&User> {
        self.bot.get()
    }

    /// Returns the calls about one repository.
    pub fn repo(&self, installation: InstallationId, id: RepoId) -> Repo<'_> {
        Repo { client: self, installation, id, permit: None }
    }

    /// Returns a repository by its name, if the installation covers it.
    pub async fn repository_named(
        &self,
        installation: InstallationId,
        name: &RepoName,
    ) -> Result<Option<Repository>, GithubError> {
        let path = format!("/repos/{}/{}", segment(&name.owner), segment(&name.name));
        match self.look(installation, &path).await {
            Ok(reply) => Ok(Some(reply.json()?)),
            Err(GithubError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns a token for git: [`Rights::Fetch`] or [`Rights::Push`].
    pub async fn token(
        &self,
        installation: InstallationId,
        repo: RepoId,
        rights: Rights,
    ) -> Result<SecretString, GithubError> {
        let key = TokenKey { installation, repo: Some(repo), rights };
        self.tokens.token(&self.wire, key).await
    }

    /// Forgets all tokens of an installation that was suspended or removed.
    pub fn forget_installation(&self, installation: InstallationId) {
        self.tokens.forget_installation(installation);
    }

    /// Forgets the name of a repository that was renamed or transferred.
    pub fn forget_name(&self, repo: RepoId) {
        self.names.lock().remove(&repo);
    }

    /// Returns the last known name of a repository, however old.
    pub fn name_heard(&self, repo: RepoId) -> Option<RepoName> {
        self.names.lock().get(&repo).map(|known| known.name.clone())
    }

    /// Reads data that every installation may see.
    async fn look(&self, installation: InstallationId, path: &str) -> Result<Reply, GithubError> {
        let key = TokenKey { installation, repo: None, rights: Rights::Metadata };
        self.ask(key, &Call::get(path)).await
    }

    /// Makes a call for an installation. After a 401 it is repeated once with a new token, because GitHub has not
    /// executed it.
    pub(super) async fn ask(&self, key: TokenKey, call: &Call<'_>) -> Result<Reply, GithubError> {
        let token = self.tokens.token(&self.wire, key).await?;
        match self.wire.send(&Credential::Token(&token), call).await {
            Err(GithubError::Unauthorized) => {
                self.tokens.forget(key, &token).await;
                let token = self.tokens.token(&self.wire, key).await?;
                self.wire.send(&Credential::Token(&token), call).await
            }
            Err(GithubError::Suspended) => {
                self.tokens.forget_installation(key.installation);
                Err(GithubError::Suspended)
            }
            other => other,
        }
    }

    /// Returns this machine's time.
    pub fn now(&self) -> Millis {
        self.wire.now()
    }

    /// Returns the remembered name of a repository, if it is recent.
    pub(super) fn known_name(&self, repo: RepoId) -> Option<RepoName> {
        let names = self.names.lock();
        let known = names.get(&repo).filter(|known| known.good_until > self.now());
        known.map(|known| known.name.clone())
    }

    pub(super) fn remember_name(&self, repo: RepoId, name: RepoName) {
        let good_until = self.now().plus(NAME_MS);
        self.names.lock().insert(repo, KnownName { name, good_until });
    }
}
