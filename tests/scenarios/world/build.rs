//! Builds a world.

use super::{ADMIN, READER, REPO, STRANGER, WRITER, World, agents::Script};
use autobuild::{
    agents::Access,
    cli::{
        assemble,
        assemble::{Agents, Blueprint},
    },
    config::{AgentCommand, Allowance, Allowances, AppKey, ByRole, ModelSettings, ProcessLimits, Role},
    engine::{
        Engine,
        settings::{Backoff, EngineSettings},
    },
    github::{AUTOBUILD_EVENTS, AUTOBUILD_PERMISSIONS, COACH_PERMISSIONS, Caps},
    web,
    web::{Inbox, Listener},
};
use domain::{
    budget::Limits,
    ci::CiTimes,
    ids::{AppId, InstallationId, Millis, RepoId},
    isolation::{Bounds, Level},
    routing::ApiWaits,
};
use forge::{AppCredentials, Clock, Forge, ForgeOptions, NewApp, RepoSource, Settings};
use sandbox::SandboxOptions;
use secrecy::SecretString;
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use support::folder::folder;
use text::secret::Secrets;
use tokio_util::sync::CancellationToken;

/// Like the product's, but at least a thousand times shorter.
pub const SHORT: ApiWaits = ApiWaits { first: 1, most: 4, longest: 4, in_all: 3_600_000, unknown: 300, spacing: 1 };

const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Runs every `tests/*_test.sh` and prints TAP.
const RUN: &str = r#"#!/bin/sh
cd "$(dirname "$0")/.." || exit 1
count=0
failed=0
for test in tests/*_test.sh; do
  count=$((count + 1))
  name=$(basename "$test" _test.sh)
  if sh "$test"; then echo "ok $count - $name"; else echo "not ok $count - $name"; failed=1; fi
done
echo "1..$count"
exit $failed
"#;

/// The settings of a world.
pub struct Setup {
    settings: String,
    files: Vec<(String, String)>,
    coach_app: bool,
    commands: BTreeMap<Role, (&'static str, String)>,
    database: Option<String>,
    ci: CiTimes,
    waits: ApiWaits,
    backoff: Backoff,
    lease: Duration,
    clock: fn() -> Millis,
    month: Limits,
    allowances: Allowances,
    own_allowance: Option<Allowance>,
    bare: bool,
    replicas: u16,
    write_spacing_ms: i64,
    folder: tempfile::TempDir,
}

impl Setup {
    /// Returns the default: two Apps, scripted agents, a repository whose tests pass.
    pub fn new() -> Self {
        let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        Self {
            settings: "test: sh tests/run.sh\n".to_owned(),
            files: vec![
                file("README.md", "# Shop\n"),
                file("tests/run.sh", RUN),
                file("tests/readme_test.sh", "grep -q Shop README.md\n"),
            ],
            coach_app: true,
            commands: BTreeMap::new(),
            database: None,
            ci: CiTimes::AT_ONCE,
            waits: SHORT,
            backoff: Backoff { first: Duration::from_millis(1), most: Duration::from_millis(5) },
            lease: Duration::from_secs(60),
            clock: assemble::clock,
            month: Limits::default(),
            allowances: Allowances::default(),
            own_allowance: None,
            bare: false,
            replicas: 1,
            write_spacing_ms: 0,
            folder: folder("autobuild-scenario-"),
        }
    }

    /// More lines of `.github/autobuild.yml`.
    pub fn settings(mut self, lines: &str) -> Self {
        self.settings.push_str(lines);
        self.settings.push('\n');
        self
    }

    /// The whole of `.github/autobuild.yml`.
    pub fn only_settings(mut self, lines: &str) -> Self {
        self.settings = lines.to_owned();
        self
    }

    /// One more file in the repository.
    pub fn with_file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// No tests in the repository.
    pub fn without_tests(mut self) -> Self {
        self.files.retain(|(path, _)| !path.starts_with("tests/"));
        self
    }

    /// Only the first App.
    pub fn without_coach_app(mut self) -> Self {
        self.coach_app = false;
        self
    }

    /// A role played by a shell script; `$WORLD` is a folder where it may leave files.
    pub fn command(mut self, role: Role, script: &str) -> Self {
        self.commands.insert(role, ("command", script.to_owned()));
        self
    }

    /// A role played by a shell script that speaks the Agent Client Protocol; `$WORLD` is the same folder.
    pub fn acp(mut self, role: Role, script: &str) -> Self {
        self.commands.insert(role, ("acp", script.to_owned()));
        self
    }

    /// Sets how long the service waits for CI.
    pub fn ci(mut self, times: CiTimes) -> Self {
        self.ci = times;
        self
    }

    /// Sets the pause before a retry to practically for ever.
    pub fn slow(mut self) -> Self {
        let hour = Duration::from_secs(3_600);
        self.backoff = Backoff { first: hour, most: hour };
        self
    }

    /// Sets how long the service waits for a model's API.
    pub fn waits(mut self, waits: ApiWaits) -> Self {
        self.waits = waits;
        self
    }

    /// Sets the least time between two writes, in milliseconds.
    pub fn write_spacing_ms(mut self, ms: i64) -> Self {
        self.write_spacing_ms = ms;
        self
    }

    /// Sets the duration of a lease.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// The clock of this machine.
    pub fn clock(mut self, clock: fn() -> Millis) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the spending limits of a month.
    pub fn month(mut self, month: Limits) -> Self {
        self.month = month;
        self
    }

    /// Sets the limits of every installation.
    pub fn allowance(mut self, allowance: Allowance) -> Self {
        self.allowances.usual = allowance;
        self
    }

    /// Sets the limits of the installation of the story's repository.
    pub fn own_allowance(mut self, allowance: Allowance) -> Self {
        self.own_allowance = Some(allowance);
        self
    }

    /// Turns off isolation.
    pub fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    /// Sets another database than a file.
    pub fn database(mut self, url: String) -> Self {
        self.database = Some(url);
        self
    }

    /// Sets the number of replicas on one database, each with its own data folder and three concurrent agents. Only the
    /// first gets deliveries.
    pub fn replicas(mut self, replicas: u16) -> Self {
        self.replicas = replicas;
        self
    }

    /// Returns the folder in which agents may leave files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts everything.
    pub async fn build(mut self) -> World {
        let folder = self.folder.path().to_owned();
        let options = ForgeOptions {
            clock: Clock::Ticking("2026-01-01T00:00:00Z".parse().unwrap()),
            seed: Some(7),
            retry_until_acknowledged: true,
            ..ForgeOptions::new(folder.join("forge"))
        };
        let forge = Forge::start(options).await.unwrap();
        self.fill(&forge).await;
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let hook = format!("http://{}/webhook", listener.address().unwrap());
        let (main, installation) = autobuild_app(&forge, &hook);
        let own = self.own_allowance.take();
        self.allowances.own = own.into_iter().map(|own| (InstallationId(installation), own)).collect();
        let (coach, coach_installation) = self.coach_app.then(|| coach_app(&forge)).unzip();
        let script = Script::new(folder.join("agents.yml"), &self.files);
        let apps = (&main, coach.as_ref());
        let blueprint = self.blueprint(&forge, &folder, apps, folder.join("data"));
        let engine = assemble::engine(blueprint).await.unwrap();
        let replicas = self.others(&forge, &folder, apps).await;
        let stop = CancellationToken::new();
        let inbox = Arc::new(Inbox::new(engine.clone(), vec![SecretString::from(SECRET)], stop.clone()));
        let mut work = vec![tokio::spawn(web::serve(listener, web::router(inbox), stop.clone()))];
        let mut drains = Vec::new();
        for replica in std::iter::once(&engine).chain(&replicas) {
            let drain = stop.child_token();
            work.push(tokio::spawn(replica.clone().work(drain.clone())));
            drains.push(drain);
        }
        World {
            repo: RepoId(forge.repo_id(REPO).unwrap()),
            forge,
            engine,
            replicas,
            script,
            folder: self.folder,
            installation,
            coach_installation,
            stop,
            drains,
            work,
        }
    }

    /// Starts the replicas besides the first. The state of scripts is shared, as if there were one agent for all.
    async fn others(
        &self,
        forge: &Forge,
        folder: &Path,
        apps: (&AppCredentials, Option<&AppCredentials>),
    ) -> Vec<Arc<Engine>> {
        let mut others = Vec::new();
        for number in 2..=self.replicas {
            let data = folder.join(format!("data-{number}"));
            let scripts = folder.join("data/agents/scripts");
            for made in [&scripts, &data.join("agents")] {
                std::fs::create_dir_all(made).unwrap();
            }
            std::os::unix::fs::symlink(scripts, data.join("agents/scripts")).unwrap();
            let blueprint = self.blueprint(forge, folder, apps, data);
            others.push(assemble::engine(blueprint).await.unwrap());
        }
        others
    }

    async fn fill(&self, forge: &Forge) {
        forge.create_organization("acme");
        for login in [WRITER, ADMIN, READER, STRANGER] {
            forge.create_user(login);
        }
        let mut files: Vec<(&str, &str)> =
            self.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        if !self.settings.is_empty() {
            files.push((".github/autobuild.yml", &self.settings));
        }
        forge.create_repo(REPO, RepoSource::Files(&files), Settings::default()).await.unwrap();
        forge.set_role(REPO, WRITER, forge::Role::Write).unwrap();
        forge.set_role(REPO, ADMIN, forge::Role::Admin).unwrap();
        forge.set_role(REPO, READER, forge::Role::Triage).unwrap();
    }

    fn agent(&self, role: Role, folder: &Path) -> AgentCommand {
        let Some((kind, script)) = self.commands.get(&role) else {
            return AgentCommand::Scripted(folder.join("agents.yml"));
        };
        let file: PathBuf = folder.join(format!("{}.sh", role.word()));
        std::fs::write(&file, format!("WORLD={}\n{script}", folder.display())).unwrap();
        format!("{kind}:sh {}", file.display()).parse().unwrap()
    }

    fn usual(&self, data_dir: &Path) -> EngineSettings {
        let mut settings = EngineSettings::service(assemble::worker_name(), data_dir.to_owned(), self.clock);
        if self.replicas > 1 {
            settings.slots.agent = 3;
            settings.concurrency.per_installation = Some(100);
        }
        settings
    }

    fn secrets(&self, main: &AppCredentials, coach: Option<&AppCredentials>) -> Secrets {
        let keys = std::iter::once(main).chain(coach).map(|app| app.private_key.clone());
        let models = Access::service(ModelSettings::default());
        let all: Vec<SecretString> = keys.chain(models.keys()).chain([SecretString::from(SECRET)]).collect();
        Secrets::new(&all)
    }

    fn blueprint(
        &self,
        forge: &Forge,
        folder: &Path,
        (main, coach): (&AppCredentials, Option<&AppCredentials>),
        data_dir: PathBuf,
    ) -> Blueprint {
        let key = |app: &AppCredentials| AppKey { id: AppId(app.id), private_key: app.private_key.clone() };
        let file = format!("sqlite:{}", folder.join("autobuild.db").display());
        Blueprint {
            app: key(main),
            coach: coach.map(key),
            api_url: forge.api_url(),
            web_url: forge.url().to_owned(),
            database_url: SecretString::from(self.database.clone().unwrap_or(file)),
            connections: ProcessLimits::default().connections,
            agents: Agents {
                by_role: ByRole::each(|role| self.agent(role, folder)),
                named: BTreeMap::new(),
                environment: Vec::new(),
                access: Access::service(ModelSettings::default()),
                chosen_by: "AUTOBUILD_AGENT",
            },
            secrets: self.secrets(main, coach),
            settings: EngineSettings {
                write_spacing_ms: self.write_spacing_ms,
                replay: None,
                sweep: None,
                grace: Duration::from_millis(200),
                backoff: self.backoff,
                read_pauses: [Duration::from_millis(1); 2],
                ci: self.ci,
                waits: self.waits,
                lease: self.lease,
                progress: Duration::from_millis(1),
                month: self.month,
                allowances: self.allowances.clone(),
                ..self.usual(&data_dir)
            },
            data_dir,
            caps: Caps::None,
            sandbox: SandboxOptions::with_launcher(PathBuf::from(env!("CARGO_BIN_EXE_autobuild"))),
            // Scripts leave files in a folder of the story, which no isolated program could write.
            isolation: Bounds {
                least: Level::L0,
                most: if self.bare || !self.commands.is_empty() { Level::L0 } else { Level::L3 },
            },
        }
    }
}

fn autobuild_app(forge: &Forge, hook: &str) -> (AppCredentials, u64) {
    let app = forge
        .create_app(&NewApp {
            slug: "autobuild",
            owner: "acme",
            permissions: AUTOBUILD_PERMISSIONS,
            events: AUTOBUILD_EVENTS,
            hook: Some((hook, SECRET)),
        })
        .unwrap();
    let installation = forge.install("autobuild", "acme", None).unwrap();
    (app, installation)
}

fn coach_app(forge: &Forge) -> (AppCredentials, u64) {
    let app = forge
        .create_app(&NewApp {
            slug: "autobuild-coach",
            owner: "acme",
            permissions: COACH_PERMISSIONS,
            events: &[],
            hook: None,
        })
        .unwrap();
    let installation = forge.install("autobuild-coach", "acme", None).unwrap();
    (app, installation)
}
