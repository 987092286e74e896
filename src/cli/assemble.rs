//! Builds the service from its parts: the same for GitHub and for the local forge.

use crate::{
    agents::{Access, Backend, Definitions},
    config::{AgentCommand, AppKey, ByRole, Role},
    engine::{
        Engine, data_folder::DataFolder, disk_room::LastFullDisk, heartbeat::Heartbeat, label_lookups::LabelLookups,
        lease_clock::LeaseClock, remembered::Remembered, roster::Roster, running::Running, settings::EngineSettings,
        strangers::Strangers,
    },
    gates::CheckoutLocks,
    github::{App, Caps, Client, GithubUrls, WriteSpacing},
    messages::{isolation_level, limit_keeper, missing_isolation},
    store::{OpenOptions, Store},
    telemetry::{Telemetry, TelemetrySettings},
};
use anyhow::Context;
use domain::{
    ids::Millis,
    isolation::{Bounds, Level},
};
use git::{ForgeAccess, Mirrors};
use sandbox::{
    ProbeError, Sandbox, SandboxOptions,
    egress::{Caps as DoorCaps, Door, Rules},
};
use secrecy::SecretString;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};
use text::{hex, secret::Secrets};
use uplink::Uplink;
use url::Url;

pub struct Agents {
    /// The agent of each role if a repository names none.
    pub by_role: ByRole<AgentCommand>,
    /// The agents that a repository may name.
    pub named: BTreeMap<String, AgentCommand>,
    /// The names of the service's variables that agents get.
    pub environment: Vec<String>,
    /// The way in which the agents' programs reach their models.
    pub access: Access,
    /// The name of the setting or option with which a person chooses other agents.
    pub chosen_by: &'static str,
}

impl Agents {
    /// Returns agents that use the same program for every role, as the command line names it.
    pub fn all(agent: AgentCommand, access: Access) -> Self {
        Self {
            by_role: ByRole::each(|_| agent.clone()),
            named: BTreeMap::new(),
            environment: Vec::new(),
            access,
            chosen_by: "--agent",
        }
    }

    /// Returns every offered agent once.
    pub fn offered(&self) -> Vec<&AgentCommand> {
        let mut offered: Vec<&AgentCommand> = Vec::new();
        let of_roles = Role::ALL.map(|role| self.by_role.of(role));
        for command in of_roles.into_iter().chain(self.named.values()) {
            if !offered.contains(&command) {
                offered.push(command);
            }
        }
        offered
    }

    fn backend(&self, command: &AgentCommand, sandbox: &Sandbox, data_dir: &Path) -> Backend {
        let folder = data_dir.join("agents");
        Backend::new(command, sandbox, &self.environment, &folder, &self.access)
    }

    /// Checks an agent; the error explains why it does not work, and how to repair it.
    pub async fn check(&self, command: &AgentCommand, sandbox: &Sandbox, data_dir: &Path) -> anyhow::Result<()> {
        let checked = self.backend(command, sandbox, data_dir).check().await;
        checked.map_err(anyhow::Error::msg)
    }
}

/// Everything from which a service is built.
pub struct Blueprint {
    pub app: AppKey,
    pub coach: Option<AppKey>,
    pub api_url: String,
    /// The address of GitHub's web pages and git.
    pub web_url: String,
    /// The address of the database, which holds deliveries, Features and effects.
    pub database_url: SecretString,
    /// The number of connections to the database.
    pub connections: u32,
    /// The folder of mirrors, checkouts and agents' home folders.
    pub data_dir: PathBuf,
    pub agents: Agents,
    /// The secrets of the service, including the keys above.
    pub secrets: Secrets,
    pub settings: EngineSettings,
    /// The limits on writes, which GitHub has and a local forge does not.
    pub caps: Caps,
    /// The options for running foreign programs.
    pub sandbox: SandboxOptions,
    /// The least and the highest level of isolation.
    pub isolation: Bounds,
}

/// The file of all trusted certificates, in the data folder.
const CERTIFICATES_FILE: &str = "certificates.pem";

/// A time that never comes.
pub const NEVER: Millis = Millis(i64::MAX);

#[allow(clippy::disallowed_methods, reason = "the one clock of the service")]
pub fn clock() -> Millis {
    Millis(chrono::Utc::now().timestamp_millis())
}

/// Starts to send spans to a collector, if one is configured.
pub fn telemetry(
    collector: Option<TelemetrySettings>,
    instance: &str,
    secrets: Secrets,
    uplink: &Uplink,
) -> anyhow::Result<Telemetry> {
    match collector {
        Some(collector) => Telemetry::start(collector, instance, secrets, uplink)
            .context("preparing calls to the OpenTelemetry collector"),
        None => Ok(Telemetry::default()),
    }
}

/// Returns a worker name that no earlier process had.
pub fn worker_name() -> String {
    let random = getrandom::u64().unwrap_or_default();
    format!("{}-{}-{random:016x}", std::process::id(), clock().0)
}

/// Returns random bytes, in hexadecimal digits.
pub fn random<const BYTES: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(hex::encode(&bytes))
}

/// Opens the database and builds the engine; nothing runs yet.
pub async fn engine(blueprint: Blueprint) -> anyhow::Result<Arc<Engine>> {
    let data_folder = DataFolder::take(&blueprint.data_dir)?;
    engine_in(data_folder, blueprint).await
}

/// Builds the engine in a data folder that this process has already taken.
pub async fn engine_in(data_folder: DataFolder, blueprint: Blueprint) -> anyhow::Result<Arc<Engine>> {
    let uplink = blueprint.settings.allowances.usual.network.uplink.clone();
    let urls = GithubUrls::new(&blueprint.api_url, &blueprint.web_url)?.through(&uplink);
    let autobuild = app(&blueprint.app).context("the AutoBuild App")?;
    let autobuild = Client::new(&autobuild, &urls, clock)?
        .masking(blueprint.secrets.clone())
        .pausing(blueprint.settings.read_pauses);
    let coach = blueprint.coach.as_ref().map(app).transpose().context("the Coach App")?;
    let coach = coach.map(|coach| autobuild.beside(&coach));
    let certificates = certificates(&uplink, &blueprint.data_dir)?;
    let git_door = git_door(&uplink, &blueprint.web_url, &blueprint.data_dir).await?;
    let proxy = git_door.as_ref().map(|door| door.proxy_url(Level::L0).into());
    let forge = ForgeAccess::new(&blueprint.web_url)?.through(proxy, certificates.clone());
    let options = SandboxOptions { certificates, ..blueprint.sandbox };
    let sandbox = isolation(options, &blueprint.data_dir, blueprint.isolation).await?;
    let mirrors = Mirrors::new(&blueprint.data_dir, forge, sandbox.hand_over())?;
    mirrors.sweep_leftovers(clock())?;
    // A process that runs no agents need not have their programs.
    if blueprint.settings.slots.agent > 0 {
        check_agents(&blueprint.agents, &sandbox, &blueprint.data_dir).await?;
    }
    let agents = roster(&blueprint.agents, &sandbox, &blueprint.data_dir)?;
    let gap = u32::try_from(blueprint.settings.write_spacing_ms).unwrap_or(u32::MAX);
    let store = open_store(&blueprint.database_url, blueprint.connections).await?;
    let lease_clock = LeaseClock::started(&store, blueprint.settings.clock, blueprint.settings.lease).await;
    Ok(Arc::new(Engine {
        store,
        autobuild,
        coach,
        mirrors,
        sandbox,
        agents,
        spacing: WriteSpacing::new(gap, blueprint.caps),
        fruitless: Remembered::default(),
        label_lookups: LabelLookups::new(blueprint.settings.slots.label_lookups()),
        settings: blueprint.settings,
        secrets: blueprint.secrets,
        coach_installations: Remembered::default(),
        drafts: Remembered::default(),
        put_off: Remembered::default(),
        strangers: Strangers::default(),
        running: Running::default(),
        checkout_locks: CheckoutLocks::default(),
        git_door,
        lease_clock,
        last_full_disk: LastFullDisk::default(),
        heartbeat: Heartbeat::default(),
        data_folder,
    }))
}

async fn open_store(url: &SecretString, connections: u32) -> anyhow::Result<Store> {
    let url = secrecy::ExposeSecret::expose_secret(url);
    let options = OpenOptions { connections, ..OpenOptions::default() };
    Store::open(url, options).await.with_context(|| opening(url))
}

/// Writes a file of all trusted certificates, for programs that take one, if the settings name more than the machine's.
fn certificates(uplink: &Uplink, data_dir: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Some(authorities) = uplink.authorities() else {
        return Ok(None);
    };
    let file = data_dir.join(CERTIFICATES_FILE);
    std::fs::write(&file, authorities.with_machines())
        .with_context(|| format!("writing the certificates to {}", file.display()))?;
    Ok(Some(file))
}

/// Opens a door that leads git to GitHub through the organisation's proxy, so that git never gets the proxy's
/// credentials.
async fn git_door(uplink: &Uplink, web_url: &str, data_dir: &Path) -> anyhow::Result<Option<Door>> {
    let url: Url = web_url.parse()?;
    let host = url.host_str().unwrap_or_default();
    if uplink.proxy_for(host).is_none() {
        return Ok(None);
    }
    let rules = Rules {
        uplink: uplink.clone(),
        port: url.port(),
        caps: DoorCaps { bytes: u64::MAX, ..DoorCaps::default() },
        ..Rules::hosts([host.parse()?])
    };
    let door = Door::open(rules, &data_dir.join("doors")).await;
    Ok(Some(door.context("opening a way for git")?))
}

/// Describes the opening of a database for error messages. Only a file is named: other addresses may hold a password.
pub fn opening(url: &str) -> String {
    match url.strip_prefix("sqlite:") {
        Some(file) => format!("opening the database {file}"),
        None => "opening the database".to_owned(),
    }
}

/// Returns the values of those variables for agents whose names suggest a secret, such as `API_TOKEN`.
pub fn agents_secrets(names: &[String]) -> Vec<SecretString> {
    let secret = |name: &&String| {
        let name = name.to_uppercase();
        ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"].iter().any(|word| name.contains(word))
    };
    let values = names.iter().filter(secret).filter_map(|name| std::env::var(name).ok());
    values.map(SecretString::from).collect()
}

/// Returns the best isolation that this machine offers within the bounds, and logs its level.
async fn isolation(mut options: SandboxOptions, data_dir: &Path, bounds: Bounds) -> anyhow::Result<Sandbox> {
    options.hidden.push(data_dir.to_path_buf());
    options.trial_folder = data_dir.to_path_buf();
    let sandbox = Sandbox::probe(options, bounds).await;
    let sandbox = sandbox.map_err(|error| anyhow::anyhow!(no_isolation(&error)))?;
    let (level, missing) = (sandbox.level(), missing_isolation(sandbox.missing()));
    match level {
        Level::L0 => tracing::warn!(
            "NO ISOLATION: agents and the commands of repositories run with all rights of this user, because \
             AUTOBUILD_SANDBOX_MIN_LEVEL is 0. What is missing for more: {missing}"
        ),
        Level::L3 => tracing::info!("isolation {level}: {}", isolation_level(level)),
        Level::L1 | Level::L2 => {
            let means = isolation_level(level);
            tracing::info!("isolation {level}: {means}. What is missing for more: {missing}");
        }
    }
    let keeper = limit_keeper(&sandbox.limits_held_by());
    tracing::info!("memory and processes are limited by {keeper}");
    Ok(sandbox)
}

/// Words why this machine offers no accepted level of isolation.
pub(super) fn no_isolation(error: &ProbeError) -> String {
    match error {
        ProbeError::TooLow { missing, .. } => format!(
            "{error} (AUTOBUILD_SANDBOX_MIN_LEVEL): no agent and no Gate would be run. What is missing: {}",
            missing_isolation(missing)
        ),
        ProbeError::NoTrial(_) => error.to_string(),
    }
}

fn app(key: &AppKey) -> anyhow::Result<App> {
    Ok(App::new(key.id, &key.private_key)?)
}

async fn check_agents(agents: &Agents, sandbox: &Sandbox, data_dir: &Path) -> anyhow::Result<()> {
    for command in agents.offered() {
        let checked = agents.check(command, sandbox, data_dir).await;
        checked.with_context(|| format!("the agent {command} ({} chooses another)", agents.chosen_by))?;
    }
    Ok(())
}

/// Builds the roster of all offered agents.
fn roster(agents: &Agents, sandbox: &Sandbox, data_dir: &Path) -> anyhow::Result<Roster> {
    let backend = |command: &AgentCommand| agents.backend(command, sandbox, data_dir);
    let named = agents.named.iter();
    Ok(Roster {
        definitions: Definitions::embedded()?,
        named: named.map(|(name, command)| (name.clone(), backend(command))).collect(),
        defaults: ByRole::each(|role| backend(agents.by_role.of(role))),
    })
}
