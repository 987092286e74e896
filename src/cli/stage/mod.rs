//! The stage of the demo and of the commands on a person's own repository: a forge with a person and two Apps, the
//! service beside it, and the output for the person who watches.

mod at_work;
pub mod human;
pub mod issue;
pub mod news;
mod offers;
pub mod picture;
pub mod settled;
pub mod stop;
pub mod terminal;
pub mod traces;
pub mod transcript;
pub mod wrap;

use crate::{
    agents::Access,
    cli::{
        assemble,
        assemble::{Agents, Blueprint},
        service,
        stage::offers::Offers,
    },
    config::{AgentCommand, AppKey, ProcessLimits, SandboxSettings, join_mistakes, secret_files_of_process},
    engine::{
        Engine,
        settings::{Backoff, EngineSettings, Workflows},
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
};
use forge::{
    AppCredentials, Forge, ForgeError, ForgeOptions, Hands, NewApp, Readers, RepoSource, Role, Saving, Settings,
};
use page_parts::session::with_key;
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::{
    io::ErrorKind,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use text::secret::Secrets;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const SAMPLE_OWNER: &str = "acme";
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

/// The person who acts on the stage.
#[derive(Clone, Debug)]
pub enum StagePerson {
    /// The invented person of the demo.
    Sample,
    /// The person at the terminal, by the name in git's settings.
    Own(Option<String>),
}

impl StagePerson {
    /// Returns the login of the person who writes the issue and acts in the story.
    fn login(&self) -> String {
        match self {
            Self::Sample => SAMPLE_PERSON.to_owned(),
            Self::Own(name) => name.as_deref().and_then(login).unwrap_or_else(|| NAMELESS.to_owned()),
        }
    }

    fn owner(&self) -> &'static str {
        match self {
            Self::Sample => SAMPLE_OWNER,
            Self::Own(_) => OWN_OWNER,
        }
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
    pub person: StagePerson,
    /// The folder of the forge's state and of the service's database; it may hold those of an earlier stage.
    pub folder: &'a Path,
    /// The folder of mirrors, checkouts and caches.
    pub data_dir: PathBuf,
    /// The forge's port; 0 for any.
    pub port: u16,
    /// The rule for when the forge saves its state.
    pub saving: Saving,
    pub agent: AgentCommand,
    /// The way in which the agent's program reaches a model.
    pub access: Access,
    pub secrets: &'a Secrets,
}

pub struct Stage {
    pub forge: Forge,
    pub engine: Arc<Engine>,
    /// The dashboard's address, with the key that opens it and the forge's pages.
    pub dashboard: String,
    /// The key that opens the pages of this run.
    pub key: SecretString,
    pub person: String,
    owner: &'static str,
    stop: CancellationToken,
    /// The token that is cancelled when nothing more will happen.
    pub closing: CancellationToken,
    work: Vec<JoinHandle<()>>,
}

#[derive(Clone, Debug)]
pub struct FiledIssue {
    /// The repository's full name, `owner/name`.
    pub repository: String,
    pub repo: RepoId,
    pub issue: IssueNumber,
}

impl Stage {
    /// Starts the forge and the service. The service accepts deliveries, but does no work before [`Self::begin`].
    pub async fn build(setup: Setup<'_>) -> anyhow::Result<Self> {
        let key = SecretString::from(assemble::random::<16>()?);
        let (person, offers) = (setup.person.login(), Offers::default());
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let hands = Hands { login: person.clone(), replies: offers.replies() };
        let forge = forge(&setup, &key, hands).await?;
        let owner = setup.person.owner();
        forge.create_organization(owner);
        forge.create_user(&person);
        let dashboard = format!("http://{}/", listener.address()?);
        let hook = format!("{dashboard}webhook");
        let (main, coach) = apps(&forge, owner, &hook)?;
        let signing = main.webhook_secret.clone().unwrap_or_default();
        let keys = [main.private_key.clone(), coach.private_key.clone(), signing.clone(), key.clone()];
        for known in setup.access.keys().chain(keys) {
            setup.secrets.learn(&known, assemble::NEVER.0, assemble::clock().0);
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
            let settings = Settings { private: true, ..Settings::default() };
            let created = self.forge.create_repo(&full_name, source, settings).await;
            created.context("importing the repository")?;
        }
        self.forge.set_role(&full_name, &self.person, Role::Admin)?;
        Ok(full_name)
    }

    /// Sets settings that override a repository's own. No CI runs on the stage's forge, so nothing waits for CI.
    pub fn hold(&self, repo: RepoId, settings: &Map<String, Value>) {
        let mut held = settings.clone();
        held.insert("ci".to_owned(), "ignore".into());
        self.engine.settings.overrides.hold(repo, held);
    }

    pub fn full_name(&self, name: &str) -> String {
        format!("{}/{name}", self.owner)
    }

    pub fn file(&self, repository: &str, title: &str, body: &str) -> anyhow::Result<FiledIssue> {
        let person = self.forge.as_user(&self.person)?;
        let number = person.open_issue(repository, title, body, &[])?;
        self.filed(repository, number)
    }

    /// Returns an issue that already exists.
    pub fn filed(&self, repository: &str, number: u64) -> anyhow::Result<FiledIssue> {
        Ok(FiledIssue {
            repository: repository.to_owned(),
            repo: RepoId(self.forge.repo_id(repository)?),
            issue: IssueNumber(number),
        })
    }

    pub fn label(&self, filed: &FiledIssue, label: &str) -> anyhow::Result<()> {
        let person = self.forge.as_user(&self.person)?;
        Ok(person.label(&filed.repository, filed.issue.0, label)?)
    }

    /// Returns the existing branches that hold a Feature's work.
    pub fn branches(&self, filed: &FiledIssue, feature: &Feature) -> anyhow::Result<Vec<String>> {
        let mut branches = Vec::new();
        for branch in feature.branches_with_work() {
            if self.forge.head(&filed.repository, &branch)?.is_some() {
                branches.push(branch);
            }
        }
        Ok(branches)
    }

    /// Returns the newest Feature of an issue, if there is one.
    pub async fn latest(&self, filed: &FiledIssue) -> anyhow::Result<Option<Feature>> {
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

/// Returns the full name of a person's own repository on the forge.
pub fn own_full_name(name: &str) -> String {
    format!("{OWN_OWNER}/{name}")
}

/// Returns a repository name made from the folder's name.
pub fn repository_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_fine = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name = name.replace(|c: char| !is_fine(c), "-");
    match name.trim_end_matches(".git").trim_matches('.') {
        "" => "repository".to_owned(),
        name => name.to_owned(),
    }
}

/// Starts the forge, whose pages need the key.
async fn forge(setup: &Setup<'_>, key: &SecretString, hands: Hands) -> anyhow::Result<Forge> {
    let options = ForgeOptions {
        listen: SocketAddr::from(([127, 0, 0, 1], setup.port)),
        retry_until_acknowledged: true,
        saving: setup.saving,
        readers: Readers::WithKey { key: key.clone(), hands },
        ..ForgeOptions::new(setup.folder.join("forge"))
    };
    let started = Forge::start(options).await;
    started.map_err(|error| unusable(error, setup.folder))
}

/// Words an error at the forge's start; if the forge's state is damaged, names the remedy.
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

/// Returns the two Apps, creating them if needed; each start has a new webhook address.
fn apps(forge: &Forge, owner: &str, hook: &str) -> anyhow::Result<(AppCredentials, AppCredentials)> {
    let main = match forge.app(APP) {
        Some(main) => {
            forge.redirect(APP, hook)?;
            main
        }
        None => {
            let secret = assemble::random::<16>()?;
            app(forge, owner, APP, AUTOBUILD_PERMISSIONS, AUTOBUILD_EVENTS, Some((hook, &secret)))?
        }
    };
    let coach = match forge.app(COACH_APP) {
        Some(coach) => coach,
        None => app(forge, owner, COACH_APP, COACH_PERMISSIONS, &[], None)?,
    };
    Ok((main, coach))
}

fn app(
    forge: &Forge,
    owner: &str,
    slug: &str,
    permissions: &[(&str, &str)],
    events: &[&str],
    hook: Option<(&str, &str)>,
) -> anyhow::Result<AppCredentials> {
    let app = forge.create_app(&NewApp { slug, owner, permissions, events, hook })?;
    forge.install(slug, owner, None)?;
    Ok(app)
}

fn blueprint(forge: &Forge, setup: Setup<'_>, [main, coach]: [&AppCredentials; 2]) -> anyhow::Result<Blueprint> {
    let (secrets, agent, data_dir) = (setup.secrets, setup.agent, setup.data_dir);
    // The settings that protect this machine count on a stage too.
    let safety = SandboxSettings::of_process().map_err(|mistakes| anyhow::anyhow!(join_mistakes(&mistakes, "\n")))?;
    let key = |app: &AppCredentials| AppKey { id: AppId(app.id), private_key: app.private_key.clone() };
    let mut sandbox = service::sandbox(safety.limits, &secret_files_of_process());
    sandbox.hidden.push(setup.folder.to_path_buf());
    let collector = TelemetrySettings::of(|name| std::env::var(name).ok())?;
    let worker = assemble::worker_name();
    let allowances = service::own_allowances()?;
    let settings = EngineSettings {
        telemetry: assemble::telemetry(collector, &worker, secrets.clone(), &allowances.usual.network.uplink)?,
        write_spacing_ms: 0,
        replay: None,
        sweep: None,
        // A person watches, so retries come soon.
        backoff: Backoff { first: Duration::from_millis(500), most: Duration::from_secs(5) },
        grace: Duration::from_secs(2),
        ci: CiTimes::AT_ONCE,
        workflows: Workflows::Never,
        allowances,
        ..EngineSettings::service(worker, data_dir.clone(), assemble::clock)
    };
    Ok(Blueprint {
        app: key(main),
        coach: Some(key(coach)),
        api_url: forge.api_url(),
        web_url: forge.url().to_owned(),
        database_url: SecretString::from(format!("sqlite:{}", setup.folder.join(DATABASE).display())),
        connections: ProcessLimits::default().connections,
        data_dir,
        agents: Agents::all(agent, setup.access),
        secrets: secrets.clone(),
        settings,
        caps: Caps::None,
        sandbox,
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
