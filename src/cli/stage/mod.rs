//! The stage: a forge with people and two Apps, and the service beside it.

use crate::{
    cli::{
        assemble,
        assemble::{Agents, AppKey, Blueprint},
        demo::{
            places::{Places, Staying},
            sample::{Material, REPOSITORY},
            terminal::Terminal,
        },
        network,
    },
    config::SandboxSettings,
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
use forge::{AppCredentials, Forge, ForgeOptions, NewApp, RepoSource, Role, Settings};
use sandbox::SandboxOptions;
use secrecy::SecretString;
use std::{
    collections::BTreeMap,
    fs::Permissions,
    net::SocketAddr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The organisation that owns the demo's repository.
const OWNER: &str = "acme";
/// The person who writes the issue, and speaks where the story wants it.
pub(super) const PERSON: &str = "mona";
/// The label that starts everything.
const LABEL: &str = "autobuild";

/// Everything that runs.
pub(super) struct Stage {
    /// The forge.
    pub forge: Forge,
    /// The service.
    pub engine: Arc<Engine>,
    /// `owner/name` of the repository.
    pub repository: String,
    /// Its id.
    pub repo: RepoId,
    /// Folder of everything that is left behind.
    pub folder: PathBuf,
    own: Option<PathBuf>,
    issue: OnceLock<IssueNumber>,
    stop: CancellationToken,
    closing: CancellationToken,
    work: Vec<JoinHandle<()>>,
}

impl Stage {
    /// Starts the forge, fills it, and starts the service.
    pub(super) async fn build(material: &Material, port: u16, secrets: &Secrets) -> anyhow::Result<Self> {
        let temporary = private_folder()?;
        let folder = temporary.path().to_owned();
        let options = ForgeOptions {
            listen: SocketAddr::from(([127, 0, 0, 1], port)),
            retry_until_acknowledged: true,
            ..ForgeOptions::new(folder.join("forge"))
        };
        let forge = Forge::start(options).await.context("starting the local forge")?;
        let repository = people_and_repository(&forge, material).await?;
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let hook = format!("http://{}/webhook", listener.address()?);
        let secret = format!(
            "{:032x}",
            u128::from(getrandom::u64()?) << 64 | u128::from(getrandom::u64()?)
        );
        let (main, coach) = apps(&forge, &hook, &secret)?;
        let keys = [
            main.private_key.clone(),
            coach.private_key.clone(),
            SecretString::from(secret.clone()),
        ];
        for known in material.access.keys().chain(keys) {
            secrets.learn(&known, assemble::NEVER, assemble::clock());
        }
        let engine = assemble::engine(blueprint(&forge, material, &folder, [&main, &coach], secrets)?).await?;
        let stop = CancellationToken::new();
        let inbox = Arc::new(Inbox::new(
            engine.clone(),
            vec![SecretString::from(secret)],
            stop.clone(),
        ));
        let work = vec![
            tokio::spawn(engine.clone().work(stop.clone())),
            tokio::spawn(web::serve(listener, web::router(inbox), stop.clone())),
        ];
        let repo = RepoId(forge.repo_id(&repository)?);
        Ok(Self {
            forge,
            engine,
            repository,
            repo,
            // From here on the end of the demo says what stays.
            folder: temporary.keep(),
            own: material.repository.clone(),
            issue: OnceLock::new(),
            stop,
            closing: CancellationToken::new(),
            work,
        })
    }

    /// Files the issue and labels it.
    pub(super) fn open_issue(&self, material: &Material) -> anyhow::Result<()> {
        let person = self.forge.as_user(PERSON)?;
        let number = person.open_issue(&self.repository, &material.title, &material.body, &[])?;
        self.issue.get_or_init(|| IssueNumber(number));
        person.label(&self.repository, number, LABEL)?;
        Ok(())
    }

    /// The issue, once it is filed.
    pub(super) fn issue(&self) -> IssueNumber {
        self.issue.get().copied().unwrap_or(IssueNumber(1))
    }

    /// Cancelled when nothing more will happen.
    pub(super) fn closing(&self) -> CancellationToken {
        self.closing.clone()
    }

    /// Where the transcript is written.
    pub(super) fn transcript_file(&self) -> PathBuf {
        self.folder.join("transcript.txt")
    }

    /// What is left behind.
    pub(super) fn places(&self, staying: Staying) -> anyhow::Result<Places> {
        Ok(Places {
            repository: self.forge.repository_dir(&self.repository)?,
            transcript: self.transcript_file(),
            own: self.own.clone(),
            staying,
        })
    }

    /// The branches that hold a Feature's work and are there.
    pub(super) fn branches(&self, feature: &Feature) -> anyhow::Result<Vec<String>> {
        let mut branches = feature.branches_with_work();
        for (at, branch) in branches.clone().iter().enumerate().rev() {
            if self.forge.head(&self.repository, branch)?.is_none() {
                branches.remove(at);
            }
        }
        Ok(branches)
    }

    /// The newest Feature, if there is one.
    pub(super) async fn latest(&self) -> anyhow::Result<Option<Feature>> {
        match self.engine.store.latest_run(self.repo, self.issue()).await? {
            Some(row) => Ok(self.engine.feature(&row.key).await?),
            None => Ok(None),
        }
    }

    /// Says where the pages are.
    pub(super) fn announce_pages(&self, terminal: &Terminal) {
        let (url, repository) = (self.forge.url(), &self.repository);
        terminal.exact(&format!(
            "\nThe pages are served until Ctrl-C, and are gone then: {url}/{repository}"
        ));
    }

    /// Stops the service, then the forge; gives the folder.
    pub(super) async fn close(self) -> anyhow::Result<PathBuf> {
        self.stop.cancel();
        for work in self.work {
            work.await?;
        }
        self.engine.settings.telemetry.flush().await;
        self.engine.store.close().await;
        self.closing.cancel();
        self.forge.shutdown().await?;
        Ok(self.folder)
    }
}

/// A folder that its owner alone may read, gone when it is dropped.
fn private_folder() -> std::io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix("autobuild-demo-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir()
}

async fn people_and_repository(forge: &Forge, material: &Material) -> anyhow::Result<String> {
    forge.create_organization(OWNER);
    forge.create_user(PERSON);
    let (name, source) = match &material.repository {
        None => ("tally".to_owned(), RepoSource::Files(REPOSITORY)),
        Some(path) => (repository_name(path), RepoSource::Local(path)),
    };
    let full_name = format!("{OWNER}/{name}");
    forge
        .create_repo(&full_name, source, Settings::default())
        .await
        .context("importing the repository")?;
    forge.set_role(&full_name, PERSON, Role::Admin)?;
    Ok(full_name)
}

/// The folder's name, as far as a repository may be called that.
fn repository_name(path: &Path) -> String {
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

fn apps(forge: &Forge, hook: &str, secret: &str) -> anyhow::Result<(AppCredentials, AppCredentials)> {
    let main = forge.create_app(&NewApp {
        slug: "autobuild",
        owner: OWNER,
        permissions: AUTOBUILD_PERMISSIONS,
        events: AUTOBUILD_EVENTS,
        hook: Some((hook, secret)),
    })?;
    let coach = forge.create_app(&NewApp {
        slug: "autobuild-coach",
        owner: OWNER,
        permissions: COACH_PERMISSIONS,
        events: &[],
        hook: None,
    })?;
    forge.install("autobuild", OWNER, None)?;
    forge.install("autobuild-coach", OWNER, None)?;
    Ok((main, coach))
}

/// The demo obeys the settings of the server that are about the safety of this machine.
fn safety() -> anyhow::Result<SandboxSettings> {
    SandboxSettings::of_process().map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        anyhow::anyhow!(lines.join("\n"))
    })
}

fn blueprint(
    forge: &Forge,
    material: &Material,
    folder: &Path,
    [main, coach]: [&AppCredentials; 2],
    secrets: &Secrets,
) -> anyhow::Result<Blueprint> {
    let (data_dir, safety) = (folder.join("data"), safety()?);
    let agent = material.agent(folder)?;
    let key = |app: &AppCredentials| AppKey {
        id: AppId(app.id),
        private_key: app.private_key.clone(),
    };
    let collector = TelemetrySettings::of(|name| std::env::var(name).ok())?;
    let worker = assemble::worker_name();
    let settings = EngineSettings {
        telemetry: assemble::telemetry(collector, &worker, secrets.clone())?,
        write_spacing_ms: 0,
        // A person watches: what failed is tried again soon.
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
        database_url: SecretString::from(format!("sqlite:{}", folder.join("autobuild.db").display())),
        data_dir,
        agents: Agents {
            planner: agent.clone(),
            designer: agent.clone(),
            player: agent.clone(),
            coach: agent,
            named: BTreeMap::new(),
            environment: Vec::new(),
            access: material.access.clone(),
        },
        secrets: secrets.clone(),
        settings,
        caps: Caps::None,
        sandbox: SandboxOptions {
            limits: safety.limits,
            ..SandboxOptions::own_binary()
        },
        isolation: safety.bounds,
    })
}
