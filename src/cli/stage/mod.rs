//! The stage of the demo and of the commands on a person's own repository: a forge with a person and two Apps, the
//! service beside it, and the output for the person who watches.

mod at_work;
pub mod excerpt;
pub mod human;
pub mod issue;
mod offers;
pub mod picture;
pub mod rest;
pub mod stop;
pub mod terminal;
pub mod traces;
pub mod transcript;
pub mod wrap;

use crate::{
    agents::Access,
    cli::{
        assemble,
        assemble::{Agents, AppKey, Blueprint},
        network,
        stage::offers::Offers,
    },
    config::{AgentCommand, SandboxSettings},
    engine::{
        Engine,
        settings::{Backoff, EngineSettings},
    },
    github::{AUTOBUILD_EVENTS, AUTOBUILD_PERMISSIONS, COACH_PERMISSIONS, Caps},
    telemetry::TelemetrySettings,
    web,
    web::{Inbox, Listener},
};
use anyhow::Context;
use domain::{
    ci::CiTimes,
    feature::Feature,
    ids::{AppId, IssueNumber, RepoId},
    secret::Secrets,
};
use forge::{
    AppCredentials, Forge, ForgeError, ForgeOptions, Hands, NewApp, Readers, RepoSource, Role, Saving, Settings,
};
use page_parts::session::with_key;
use sandbox::SandboxOptions;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use std::{
    io::ErrorKind,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The owner of the sample's repositories, and of stages that earlier versions made.
const SAMPLE_OWNER: &str = "acme";
/// The login of the sample's person.
const SAMPLE_PERSON: &str = "mona";
/// The owner of a person's own repositories on the forge.
const OWN_OWNER: &str = "local";
/// The login of a person whose name gives no valid login.
const NAMELESS: &str = "you";
/// The most characters of a login.
const MOST_LOGIN: usize = 39;
/// The label that starts a Feature.
pub const LABEL: &str = "autobuild";

/// The file name of the service's database in the stage's folder.
pub const DATABASE: &str = "autobuild.db";

const APP: &str = "autobuild";
const COACH_APP: &str = "autobuild-coach";

/// The people on a stage.
#[derive(Clone, Debug)]
pub enum Cast {
    /// The people of the sample.
    Sample,
    /// The person at the terminal, by the name in git's settings.
    Own(Option<String>),
}

impl Cast {
    /// Returns the login of the person who writes the issue and acts in the story.
    fn login(&self) -> String {
        match self {
            Self::Sample => SAMPLE_PERSON.to_owned(),
            Self::Own(name) => name.as_deref().and_then(login).unwrap_or_else(|| NAMELESS.to_owned()),
        }
    }

    fn owner(&self, forge: &Forge) -> &'static str {
        match self {
            Self::Sample => SAMPLE_OWNER,
            Self::Own(_) => own_owner(forge),
        }
    }
}

/// Returns the owner of a person's own repositories on this forge, which an earlier version may have made.
fn own_owner(forge: &Forge) -> &'static str {
    match forge.installation_of(APP, SAMPLE_OWNER) {
        Ok(_) => SAMPLE_OWNER,
        Err(_) => OWN_OWNER,
    }
}

/// Makes a login from a person's name; `None` if characters would be lost, or if the login belongs to somebody else
/// here.
fn login(name: &str) -> Option<String> {
    let is_kept = |c: char| c.is_ascii_alphanumeric();
    if name.chars().any(|c| c.is_alphanumeric() && !is_kept(c)) {
        return None;
    }
    let words = name.split(|c| !is_kept(c)).filter(|word| !word.is_empty());
    let login = words.collect::<Vec<_>>().join("-").to_lowercase();
    let is_free = ![APP, COACH_APP, OWN_OWNER, SAMPLE_OWNER].contains(&login.as_str());
    ((1..=MOST_LOGIN).contains(&login.len()) && is_free).then_some(login)
}

/// The parts from which a stage is built.
pub struct Setup<'a> {
    /// The people on the stage.
    pub cast: Cast,
    /// The folder of the forge's state and of the service's database; it may hold those of an earlier stage.
    pub folder: &'a Path,
    /// The folder of mirrors, checkouts and caches.
    pub data_dir: PathBuf,
    /// The forge's port; 0 for any.
    pub port: u16,
    /// The rule for when the forge saves its state.
    pub saving: Saving,
    /// The agent of all roles.
    pub agent: AgentCommand,
    /// The way in which the agent's program reaches a model.
    pub access: Access,
    /// The secrets that nobody may read.
    pub secrets: &'a Secrets,
}

/// The running forge and service.
pub struct Stage {
    /// The forge.
    pub forge: Forge,
    /// The service.
    pub engine: Arc<Engine>,
    /// The dashboard's address, with the key that opens it and the forge's pages.
    pub dashboard: String,
    /// The key that opens the pages of this run.
    pub key: SecretString,
    /// The person's login.
    pub person: String,
    owner: &'static str,
    stop: CancellationToken,
    closing: CancellationToken,
    work: Vec<JoinHandle<()>>,
}

/// An issue that exists on the stage.
#[derive(Clone, Debug)]
pub struct Filed {
    /// The repository's full name, `owner/name`.
    pub repository: String,
    /// The repository's id.
    pub repo: RepoId,
    /// The issue's number.
    pub issue: IssueNumber,
}

impl Stage {
    /// Starts the forge and the service. The service accepts deliveries, but does no work before [`Self::begin`].
    pub async fn build(setup: Setup<'_>) -> anyhow::Result<Self> {
        let (key, person, offers) = (secret()?, setup.cast.login(), Offers::default());
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let hands = Hands {
            login: person.clone(),
            replies: offers.replies(),
        };
        let forge = forge(&setup, &key, hands).await?;
        let owner = setup.cast.owner(&forge);
        forge.create_organization(owner);
        forge.create_user(&person);
        let dashboard = format!("http://{}/", listener.address()?);
        let hook = format!("{dashboard}webhook");
        let (main, coach) = apps(&forge, owner, &hook)?;
        let signing = main.webhook_secret.clone().unwrap_or_default();
        let keys = [
            main.private_key.clone(),
            coach.private_key.clone(),
            signing.clone(),
            key.clone(),
        ];
        for known in setup.access.keys().chain(keys) {
            setup.secrets.learn(&known, assemble::NEVER, assemble::clock());
        }
        let engine = assemble::engine(blueprint(&forge, setup, [&main, &coach])?).await?;
        offers.begin(&engine);
        let stop = CancellationToken::new();
        let inbox = Inbox::new(engine.clone(), vec![signing], stop.clone());
        let inbox = Arc::new(inbox.with_key(key.clone()));
        let work = vec![tokio::spawn(web::serve(listener, web::router(inbox), stop.clone()))];
        Ok(Self {
            forge,
            engine,
            dashboard: with_key(&dashboard, &key),
            key,
            person,
            owner,
            stop,
            closing: CancellationToken::new(),
            work,
        })
    }

    /// Starts the service's work.
    pub fn begin(&mut self) {
        let work = self.engine.clone().work(self.stop.clone());
        self.work.push(tokio::spawn(work));
    }

    /// Creates a private repository of the stage's organisation if it does not exist, with the person as its
    /// administrator; returns its full name.
    pub async fn repository(&self, name: &str, source: RepoSource<'_>) -> anyhow::Result<String> {
        let full_name = self.full_name(name);
        if self.forge.repository_dir(&full_name).is_err() {
            let settings = Settings {
                private: true,
                ..Settings::default()
            };
            self.forge
                .create_repo(&full_name, source, settings)
                .await
                .context("importing the repository")?;
        }
        self.forge
            .change_settings(&full_name, |settings| settings.private = true)?;
        self.forge.set_role(&full_name, &self.person, Role::Admin)?;
        Ok(full_name)
    }

    /// Sets settings that override a repository's own. No CI runs on the stage's forge, so nothing waits for CI.
    pub fn hold(&self, repo: RepoId, settings: &Map<String, Value>) {
        let mut held = settings.clone();
        held.insert("ci".to_owned(), "ignore".into());
        self.engine.settings.overrides.hold(repo, held);
    }

    /// Returns the full name of a repository of the stage.
    pub fn full_name(&self, name: &str) -> String {
        format!("{}/{name}", self.owner)
    }

    /// Files an issue.
    pub fn file(&self, repository: &str, title: &str, body: &str) -> anyhow::Result<Filed> {
        let person = self.forge.as_user(&self.person)?;
        let number = person.open_issue(repository, title, body, &[])?;
        self.filed(repository, number)
    }

    /// Returns an issue that already exists.
    pub fn filed(&self, repository: &str, number: u64) -> anyhow::Result<Filed> {
        Ok(Filed {
            repository: repository.to_owned(),
            repo: RepoId(self.forge.repo_id(repository)?),
            issue: IssueNumber(number),
        })
    }

    /// Sets a label on the issue.
    pub fn label(&self, filed: &Filed, label: &str) -> anyhow::Result<()> {
        let person = self.forge.as_user(&self.person)?;
        Ok(person.label(&filed.repository, filed.issue.0, label)?)
    }

    /// Returns the token that is cancelled when nothing more will happen.
    pub fn closing(&self) -> CancellationToken {
        self.closing.clone()
    }

    /// Returns the existing branches that hold a Feature's work.
    pub fn branches(&self, filed: &Filed, feature: &Feature) -> anyhow::Result<Vec<String>> {
        let mut branches = feature.branches_with_work();
        for (at, branch) in branches.clone().iter().enumerate().rev() {
            if self.forge.head(&filed.repository, branch)?.is_none() {
                branches.remove(at);
            }
        }
        Ok(branches)
    }

    /// Returns the newest Feature of an issue, if there is one.
    pub async fn latest(&self, filed: &Filed) -> anyhow::Result<Option<Feature>> {
        match self.engine.store.latest_run(filed.repo, filed.issue).await? {
            Some(row) => Ok(self.engine.feature(&row.key).await?),
            None => Ok(None),
        }
    }

    /// Stops the service, then the forge.
    pub async fn close(self) -> anyhow::Result<()> {
        self.stop.cancel();
        for work in self.work {
            work.await?;
        }
        self.engine.settings.telemetry.flush().await;
        self.engine.store.close().await;
        self.closing.cancel();
        self.forge.shutdown().await?;
        Ok(())
    }
}

/// Returns the full name of a person's own repository on a forge without a stage.
pub fn own_full_name(forge: &Forge, name: &str) -> String {
    format!("{}/{name}", own_owner(forge))
}

/// Returns a repository name made from the folder's name.
pub fn repository_name(path: &Path) -> String {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    let name = name.trim_end_matches(".git").trim_matches('.').to_owned();
    if name.is_empty() { "repository".to_owned() } else { name }
}

/// Starts the forge, whose pages need the key.
async fn forge(setup: &Setup<'_>, key: &SecretString, hands: Hands) -> anyhow::Result<Forge> {
    let options = ForgeOptions {
        listen: SocketAddr::from(([127, 0, 0, 1], setup.port)),
        retry_until_acknowledged: true,
        saving: setup.saving,
        readers: Readers::WithKey {
            key: key.clone(),
            hands,
        },
        ..ForgeOptions::new(setup.folder.join("forge"))
    };
    let started = Forge::start(options).await;
    started.map_err(|error| unusable(error, setup.folder))
}

/// Words an error at the forge's start; if the forge's state is damaged, says what a person can do.
fn unusable(error: ForgeError, folder: &Path) -> anyhow::Error {
    let what = match &error {
        ForgeError::NotOurs { .. } | ForgeError::Unreadable { .. } => format!(
            "the local forge's memory is damaged; move {} away, and AutoBuild begins anew: branches with results stay",
            folder.display()
        ),
        ForgeError::Io { source, .. } if source.kind() == ErrorKind::AddrInUse => {
            "another program uses this port: choose another with --port, or leave --port out".to_owned()
        }
        ForgeError::Io { .. } | ForgeError::Git(_) | ForgeError::Refused(_) | ForgeError::Unknown(_) => {
            "starting the local forge".to_owned()
        }
    };
    anyhow::Error::new(error).context(what)
}

/// Generates a random secret.
fn secret() -> anyhow::Result<SecretString> {
    let number = u128::from(getrandom::u64()?) << 64 | u128::from(getrandom::u64()?);
    Ok(SecretString::from(format!("{number:032x}")))
}

/// Returns the two Apps, creating them if needed; each start has a new webhook address.
fn apps(forge: &Forge, owner: &str, hook: &str) -> anyhow::Result<(AppCredentials, AppCredentials)> {
    let main = match forge.app(APP) {
        Some(main) => {
            forge.redirect(APP, hook)?;
            main
        }
        None => {
            let secret = secret()?;
            let (permissions, events) = (AUTOBUILD_PERMISSIONS, AUTOBUILD_EVENTS);
            app(
                (forge, owner),
                APP,
                (permissions, events),
                Some((hook, secret.expose_secret())),
            )?
        }
    };
    let coach = match forge.app(COACH_APP) {
        Some(coach) => coach,
        None => app((forge, owner), COACH_APP, (COACH_PERMISSIONS, &[]), None)?,
    };
    Ok((main, coach))
}

fn app(
    (forge, owner): (&Forge, &str),
    slug: &str,
    (permissions, events): (&[(&str, &str)], &[&str]),
    hook: Option<(&str, &str)>,
) -> anyhow::Result<AppCredentials> {
    let app = forge.create_app(&NewApp {
        slug,
        owner,
        permissions,
        events,
        hook,
    })?;
    forge.install(slug, owner, None)?;
    Ok(app)
}

/// Reads the server's settings for the sandbox: those that protect this machine count on a stage too.
fn safety() -> anyhow::Result<SandboxSettings> {
    SandboxSettings::of_process().map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        anyhow::anyhow!(lines.join("\n"))
    })
}

fn blueprint(forge: &Forge, setup: Setup<'_>, [main, coach]: [&AppCredentials; 2]) -> anyhow::Result<Blueprint> {
    let (safety, secrets, agent, data_dir) = (safety()?, setup.secrets, setup.agent, setup.data_dir);
    let key = |app: &AppCredentials| AppKey {
        id: AppId(app.id),
        private_key: app.private_key.clone(),
    };
    let collector = TelemetrySettings::of(|name| std::env::var(name).ok())?;
    let worker = assemble::worker_name();
    let settings = EngineSettings {
        telemetry: assemble::telemetry(collector, &worker, secrets.clone())?,
        write_spacing_ms: 0,
        // A person watches, so retries come soon.
        backoff: Backoff {
            first: Duration::from_millis(500),
            most: Duration::from_secs(5),
        },
        grace: Duration::from_secs(2),
        ci: CiTimes::AT_ONCE,
        network: network::of_process()?,
        ..EngineSettings::service(worker, data_dir.clone(), assemble::clock)
    };
    Ok(Blueprint {
        app: key(main),
        coach: Some(key(coach)),
        api_url: forge.api_url(),
        web_url: forge.url().to_owned(),
        database_url: SecretString::from(format!("sqlite:{}", setup.folder.join(DATABASE).display())),
        data_dir,
        agents: Agents::all(agent, setup.access),
        secrets: secrets.clone(),
        settings,
        caps: Caps::None,
        sandbox: SandboxOptions {
            limits: safety.limits,
            hidden: vec![setup.folder.to_path_buf()],
            ..SandboxOptions::own_binary()
        },
        isolation: safety.bounds,
    })
}

#[cfg(test)]
mod tests {
    use super::login;

    #[test]
    fn a_login_is_made_of_a_name_that_is_not_mangled_by_it() {
        let table = [
            ("Vera Nowak", Some("vera-nowak")),
            ("  d'Arc, J. ", Some("d-arc-j")),
            ("Łukasz", None),
            ("山田", None),
            ("acme", None),
            ("AutoBuild", None),
            ("", None),
        ];
        for (name, expected) in table {
            assert_eq!(login(name).as_deref(), expected, "{name}");
        }
        assert_eq!(login(&"x".repeat(40)), None);
    }
}
