//! `autobuild serve` and `autobuild worker`: run the service against GitHub, or the part of it that this machine does.

use crate::{
    cli::{
        assemble,
        assemble::Blueprint,
        doctor,
        doctor::DoctorInput,
        installed_git,
        log::{LogOutput, start_log},
        service, setup,
    },
    config::{App, Flags, ProcessRole, ServerSettings, join_mistakes},
    engine::{
        Engine,
        data_folder::DataFolder,
        settings::{EngineSettings, Slots},
    },
    github::{Caps, OAuthApp},
    telemetry::TelemetrySettings,
    web,
    web::{FrontRouter, Inbox, Listener, Setup},
};
use anyhow::Context;
use clap::Args;
use domain::diagnosis::{Row, Topic};
use git::InstalledGit;
use secrecy::SecretString;
use std::{io, io::Write, process::ExitCode, sync::Arc, time::Duration};
use text::secret::Secrets;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// The arguments of `serve`. Everything else comes from the environment and the file.
#[derive(Debug, Args)]
#[command(
    after_help = "Settings come from AUTOBUILD_… variables and a TOML file with the same names; a flag beats the \
environment, the environment the file.\n\nExamples:\n  AUTOBUILD_APP_ID=1 AUTOBUILD_PRIVATE_KEY_FILE=app.pem \
AUTOBUILD_WEBHOOK_SECRET_FILE=secret autobuild serve --listen 0.0.0.0:8080\n  autobuild serve --check"
)]
pub(super) struct Serve {
    /// A TOML file with settings.
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// Address of the HTTP server.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Runs no agents and no Gates: `autobuild worker` runs them, on the same PostgreSQL.
    #[arg(long)]
    no_agents: bool,
    /// The database was restored from a backup: reads GitHub's deliveries since then once more, also those that were
    /// acknowledged.
    #[arg(long)]
    restored: bool,
    /// Looks at what a start needs, says it line by line, and starts nothing.
    #[arg(long)]
    check: bool,
}

/// The options of `worker`. Everything else comes from the environment and the file, as for `serve`.
#[derive(Debug, Args)]
#[command(
    after_help = "It needs the PostgreSQL of `autobuild serve` and the App's key. It receives nothing from GitHub: its address serves /healthz, /readyz and, with an AUTOBUILD_ADMIN_TOKEN, /metrics.\n\nExamples:\n  AUTOBUILD_DATABASE_URL=postgres://db/autobuild AUTOBUILD_APP_ID=1 AUTOBUILD_PRIVATE_KEY_FILE=app.pem autobuild worker\n  autobuild worker --check"
)]
pub(super) struct WorkerCommand {
    /// A TOML file with settings.
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// Address of the HTTP server.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Looks at what a start needs, says it line by line, and starts nothing.
    #[arg(long)]
    check: bool,
}

pub(super) async fn serve(serve: Serve) -> ExitCode {
    let flags = [("AUTOBUILD_CONFIG", serve.config), ("AUTOBUILD_LISTEN", serve.listen)];
    let role = if serve.no_agents { ProcessRole::NoAgents } else { ProcessRole::Everything };
    if serve.check {
        return doctor::check(&flags, role).await;
    }
    start(&flags, role, serve.restored).await
}

pub(super) async fn worker(worker: WorkerCommand) -> ExitCode {
    let flags = [("AUTOBUILD_CONFIG", worker.config), ("AUTOBUILD_LISTEN", worker.listen)];
    if worker.check {
        return doctor::check(&flags, ProcessRole::Worker).await;
    }
    start(&flags, ProcessRole::Worker, false).await
}

async fn start(flags: Flags<'_>, role: ProcessRole, restored: bool) -> ExitCode {
    if let Err(why) = InstalledGit::look().await {
        eprintln!("autobuild: {}", installed_git::unusable(&why));
        return ExitCode::FAILURE;
    }
    let settings = match ServerSettings::of_process(flags).and_then(|settings| settings.for_role(role)) {
        Ok(settings) => settings,
        Err(mistakes) => {
            mistakes.iter().for_each(|mistake| eprintln!("autobuild: {mistake}"));
            return ExitCode::from(2);
        }
    };
    let collector = match TelemetrySettings::of(|name| std::env::var(name).ok()) {
        Ok(collector) => collector,
        Err(mistake) => {
            eprintln!("autobuild: {mistake}");
            return ExitCode::from(2);
        }
    };
    let mut known = service::known_secrets(&settings);
    known.extend(collector.iter().flat_map(TelemetrySettings::secrets));
    let secrets = Secrets::new(&known);
    let write = |part: &str| io::stderr().write_all(part.as_bytes());
    start_log(&settings.log, settings.log_format, LogOutput::StandardError, secrets.clone(), write);
    match run(flags, role, restored, settings, collector, &secrets).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("autobuild: {}", secrets.mask(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

async fn run(
    flags: Flags<'_>,
    role: ProcessRole,
    restored: bool,
    settings: ServerSettings,
    collector: Option<TelemetrySettings>,
    secrets: &Secrets,
) -> anyhow::Result<()> {
    let listener =
        Listener::bind(settings.listen).await.with_context(|| format!("listening on {}", settings.listen))?;
    let address = listener.address()?;
    let folder = DataFolder::take(&settings.data_dir)?;
    folder.announce(address).context("writing the address into the data folder")?;
    let (setup, _leading) = if role.is_reached() { setup::open(&settings, address, secrets)? } else { (None, None) };
    let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let (front, closed) = (FrontRouter::new(setup.clone()), CancellationToken::new());
    let mut open = OpenProcess {
        role,
        restored,
        admin: admin_token(&settings, role, secrets)?,
        server: tokio::spawn(web::serve(listener, front.router(), closed.clone())),
        changes: setup.as_ref().map(|setup| setup.changes()),
        goes_on: setup.as_ref().is_some_and(|setup| setup.is_open()),
        front,
        setup,
        terminate,
        interrupt,
        closed,
        folder,
        failures: 0,
    };
    tracing::info!("listening on http://{address}");
    let ended = one_after_the_other(&mut open, flags, &settings, &collector, secrets).await;
    open.close().await;
    ended
}

/// Runs one service after the other, each with the current Apps, until somebody stops the process.
async fn one_after_the_other(
    open: &mut OpenProcess,
    flags: Flags<'_>,
    settings: &ServerSettings,
    collector: &Option<TelemetrySettings>,
    secrets: &Secrets,
) -> anyhow::Result<()> {
    let mut next = open.once(settings, collector.clone(), secrets).await?;
    while next == AfterService::Again {
        // The set-up changed the Apps, or the cause of a failed start may be repaired, so the settings are read again.
        next = match ServerSettings::of_process(flags).and_then(|settings| settings.for_role(open.role)) {
            Ok(settings) => open.once(&settings, collector.clone(), secrets).await?,
            Err(mistakes) => open.wait(&anyhow::anyhow!(join_mistakes(&mistakes, "; ")), secrets).await?,
        };
    }
    Ok(())
}

/// Reports problems at the start that would fail work later.
async fn look_around(
    engine: Arc<Engine>,
    settings: Arc<ServerSettings>,
    role: ProcessRole,
    secrets: Secrets,
    setup: Option<Arc<Setup>>,
) {
    let input = DoctorInput { settings: &settings, running: Some(&engine), repo: None };
    let mut rows = doctor::for_role(doctor::rows_of_service(&input).await, role);
    if setup.as_ref().is_some_and(|setup| setup.is_open()) {
        // The set-up page, on which a person makes these, shows their state itself.
        rows.retain(|row| !matches!(row.topic, Topic::CoachApp | Topic::Deliveries | Topic::Installation));
    }
    doctor::log_rows(&rows, role, &secrets);
    show_machine(setup.as_deref(), &rows, &secrets);
}

/// Gives the set-up's page the rows about this machine.
fn show_machine(setup: Option<&Setup>, rows: &[Row], secrets: &Secrets) {
    let Some(setup) = setup else { return };
    let rows = rows.iter().filter(|row| row.topic < Topic::App);
    setup.machine(rows.map(|row| row.masked(|text| secrets.mask(text))).collect());
}

/// Returns the function that gives the operators' page the doctor's rows.
fn diagnosis(engine: Arc<Engine>, settings: Arc<ServerSettings>, role: ProcessRole, secrets: Secrets) -> web::Doctor {
    Arc::new(move |repo| {
        let (engine, settings, secrets) = (engine.clone(), settings.clone(), secrets.clone());
        Box::pin(async move {
            let input = DoctorInput { settings: &settings, running: Some(&engine), repo: repo.as_ref() };
            let rows = doctor::for_role(doctor::rows_of_service(&input).await, role);
            rows.iter().map(|row| row.masked(|text| secrets.mask(text))).collect()
        })
    })
}

/// Returns the token for the dashboard: the configured one, or else one for this start, printed once. A worker has no
/// dashboard, so it makes none.
fn admin_token(
    settings: &ServerSettings,
    role: ProcessRole,
    secrets: &Secrets,
) -> anyhow::Result<Option<SecretString>> {
    if settings.admin_token.is_some() || !role.is_reached() {
        return Ok(settings.admin_token.clone());
    }
    let token = assemble::random::<16>()?;
    eprintln!(
        "Sign in to the dashboard with this token; it is valid until the service stops (AUTOBUILD_ADMIN_TOKEN sets a lasting one): {token}"
    );
    let token = SecretString::from(token);
    secrets.learn(&token, assemble::NEVER.0, assemble::clock().0);
    Ok(Some(token))
}

/// Returns the key that signs sessions, the same for all processes on this database.
async fn session_key(engine: &Engine, secrets: &Secrets) -> anyhow::Result<SecretString> {
    let new = assemble::random::<32>()?;
    let key = SecretString::from(engine.store.meta_once("session_key", &new).await?);
    secrets.learn(&key, assemble::NEVER.0, assemble::clock().0);
    Ok(key)
}

/// The part that stays while the service behind it is replaced.
struct OpenProcess {
    front: FrontRouter,
    setup: Option<Arc<Setup>>,
    changes: Option<watch::Receiver<u64>>,
    role: ProcessRole,
    /// `true` until the database knows that it was restored from a backup.
    restored: bool,
    admin: Option<SecretString>,
    server: JoinHandle<()>,
    closed: CancellationToken,
    terminate: Signal,
    interrupt: Signal,
    /// The data folder in which every service of this process works, one after the other.
    folder: DataFolder,
    /// `true` if the process continues without a service: the set-up was open, or a service ran before.
    goes_on: bool,
    /// The number of failed starts since the last good one.
    failures: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterService {
    /// Somebody stopped the process.
    End,
    /// The set-up changed the Apps, or it is time to try again.
    Again,
}

impl OpenProcess {
    /// Works with the current Apps until SIGTERM, Ctrl-C, or a change of the Apps.
    async fn once(
        &mut self,
        settings: &ServerSettings,
        collector: Option<TelemetrySettings>,
        secrets: &Secrets,
    ) -> anyhow::Result<AfterService> {
        let Some(app) = &settings.app else {
            let (settings, secrets, setup) = (settings.clone(), secrets.clone(), self.setup.clone());
            tokio::spawn(async move {
                let rows = doctor::rows_before_start(&Ok(settings), None).await;
                doctor::log_rows(&rows, ProcessRole::Everything, &secrets);
                show_machine(setup.as_deref(), &rows, &secrets);
            });
            return self.rest().await;
        };
        let made: anyhow::Result<_> = async {
            let blueprint = blueprint(settings, self.role, app, collector, secrets)?;
            let engine = assemble::engine_in(self.folder.clone(), blueprint).await?;
            if self.restored {
                engine.doubt_deliveries().await?;
                self.restored = false;
            }
            let own = session_key(&engine, secrets).await?;
            Ok((engine, own))
        }
        .await;
        match made {
            Ok((engine, own)) => self.work(engine, app, settings, secrets, &own).await,
            Err(error) => self.wait(&error, secrets).await,
        }
    }

    /// Handles a service that could not start. Directly after the process's start this is an error. Later the set-up's
    /// page shows it and the start is tried again, because no choice made on that page may end the process.
    async fn wait(&mut self, error: &anyhow::Error, secrets: &Secrets) -> anyhow::Result<AfterService> {
        let why = secrets.mask(&format!("{error:#}"));
        let Some(setup) = self.setup.as_ref().filter(|_| self.goes_on) else {
            anyhow::bail!(why);
        };
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failures.min(4)).min(LONGEST_PAUSE);
        self.failures = self.failures.saturating_add(1);
        tracing::error!("the service cannot start, and tries again in {} s: {why}", pause.as_secs());
        setup.service_failed(why);
        tokio::select! {
            next = self.rest() => next,
            () = tokio::time::sleep(pause) => Ok(AfterService::Again),
        }
    }

    /// Waits for a signal, a change of the Apps, or the end of the HTTP server, which must not end by itself.
    async fn rest(&mut self) -> anyhow::Result<AfterService> {
        let changed = async {
            match &mut self.changes {
                Some(changes) => changes.changed().await.is_ok(),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => Ok(AfterService::End),
            _ = self.interrupt.recv() => Ok(AfterService::End),
            true = changed => Ok(AfterService::Again),
            ended = &mut self.server => anyhow::bail!("the HTTP server ended early: {}", early(ended)),
        }
    }

    /// Shows the pages that a process of this role has.
    fn show(&self, inbox: Inbox, settings: &ServerSettings, own: &SecretString) {
        let sign_in = settings.oauth.clone().map(|client| OAuthApp { id: client.id, secret: client.secret });
        let mut inbox = match &self.admin {
            Some(token) => inbox.with_admin(token.clone(), own),
            None => inbox,
        };
        inbox.oauth = sign_in;
        let inbox = Arc::new(inbox);
        self.front.show(Some(if self.role.is_reached() { web::router(inbox) } else { web::worker_router(inbox) }));
    }

    /// Serves and works, then drains. Deliveries that arrive meanwhile are still stored, because GitHub does not send
    /// them again.
    async fn work(
        &mut self,
        engine: Arc<Engine>,
        app: &App,
        settings: &ServerSettings,
        secrets: &Secrets,
        own: &SecretString,
    ) -> anyhow::Result<AfterService> {
        (self.failures, self.goes_on) = (0, true);
        let stop = CancellationToken::new();
        let mut inbox = Inbox::new(engine.clone(), app.webhook_secrets.clone(), stop.clone());
        let settings = Arc::new(settings.clone());
        let doctor = diagnosis(engine.clone(), settings.clone(), self.role, secrets.clone());
        inbox.doctor = Some(doctor);
        self.show(inbox, &settings, own);
        if let Some(setup) = &self.setup {
            setup.service_works(engine.clone());
        }
        // The checks run beside the work, so nothing waits for GitHub, least of all arriving deliveries.
        let looking = look_around(engine.clone(), settings, self.role, secrets.clone(), self.setup.clone());
        let looking = tokio::spawn(looking);
        let mut worker = tokio::spawn(engine.clone().work(stop.clone()));
        let next = tokio::select! {
            next = self.rest() => next?,
            ended = &mut worker => anyhow::bail!("the worker ended early: {}", early(ended)),
        };
        tracing::info!("draining: calls to GitHub end, agents get their grace");
        stop.cancel();
        looking.abort();
        if let Some(setup) = &self.setup {
            setup.service_ends();
        }
        let drained = worker.await.context("the worker");
        self.front.show(None);
        match (next, drained) {
            (AfterService::End, drained) => {
                self.close().await;
                drained?;
            }
            (AfterService::Again, Ok(())) => {}
            (AfterService::Again, Err(error)) => tracing::error!("the last service ended badly: {error:#}"),
        }
        let_go(&engine).await;
        engine.settings.telemetry.flush().await;
        engine.store.close().await;
        Ok(next)
    }

    /// Accepts nothing more, and finishes requests in progress. An exchange for an App's key is finished even if its
    /// browser has left, because GitHub hands out the key only once. A second signal ends the wait.
    async fn close(&mut self) {
        self.closed.cancel();
        if !self.server.is_finished()
            && let Err(error) = (&mut self.server).await
        {
            tracing::error!("the HTTP server ended badly: {error}");
        }
        let Some(setup) = self.setup.clone().filter(|setup| setup.exchanges()) else {
            return;
        };
        let most = LAST_EXCHANGE.as_secs();
        tracing::info!("an exchange with GitHub goes on: this ends after it, in {most} s at most");
        tokio::select! {
            () = setup.exchanged() => {}
            _ = self.terminate.recv() => tracing::warn!("the exchange with GitHub was broken off by a second signal"),
            _ = self.interrupt.recv() => tracing::warn!("the exchange with GitHub was broken off by a second signal"),
            () = tokio::time::sleep(LAST_EXCHANGE) => tracing::warn!("GitHub did not end the exchange"),
        }
    }
}

/// The shortest and the longest pause before a failed start is tried again.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The time that the end of the process waits for an exchange with GitHub: a little more than one call may take.
const LAST_EXCHANGE: Duration = Duration::from_secs(65);

/// The time for requests of the last service to end before its database is closed and the next service starts.
/// Deliveries wait eight seconds for the next service.
const LET_GO: Duration = Duration::from_secs(3);

/// Waits until no request holds the engine any more.
async fn let_go(engine: &Arc<Engine>) {
    let held = async {
        while Arc::strong_count(engine) > 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    if tokio::time::timeout(LET_GO, held).await.is_err() {
        tracing::warn!("requests of the last service are left behind");
    }
}

fn early(ended: Result<(), tokio::task::JoinError>) -> String {
    ended.map_or_else(|error| error.to_string(), |()| "without an error".to_owned())
}

/// Returns how many effects of each lane this process runs at once.
fn slots(settings: &ServerSettings, role: ProcessRole) -> Slots {
    let count = |slots| usize::try_from(slots).unwrap_or(usize::MAX);
    let limits = settings.process_limits;
    let (control, forge) = (count(limits.control_slots), count(limits.forge_slots));
    let agent = count(settings.concurrency.per_process);
    match role {
        ProcessRole::Everything => Slots { control, forge, agent },
        ProcessRole::NoAgents => Slots { control, forge, agent: 0 },
        ProcessRole::Worker => Slots { control: 0, forge: 0, agent },
    }
}

fn blueprint(
    settings: &ServerSettings,
    role: ProcessRole,
    app: &App,
    collector: Option<TelemetrySettings>,
    secrets: &Secrets,
) -> anyhow::Result<Blueprint> {
    let mut engine = EngineSettings::service(assemble::worker_name(), settings.data_dir.clone(), assemble::clock);
    engine.telemetry = assemble::telemetry(collector, &engine.worker, secrets.clone(), settings.uplink())?;
    engine.write_spacing_ms = i64::try_from(settings.write_spacing.as_millis()).unwrap_or(1_000);
    engine.replay = settings.replay.filter(|_| role.is_reached());
    engine.sweep = settings.sweep.filter(|_| role.is_reached());
    engine.concurrency = settings.concurrency;
    engine.slots = slots(settings, role);
    let limits = settings.process_limits;
    engine.grace = limits.grace;
    engine.backoff.first = limits.backoff;
    engine.pack_size = limits.pack_size;
    // Three renewals may fail before a lease ends, and one that ended is noticed soon.
    (engine.lease, engine.renew, engine.reap) = (limits.lease, limits.lease / 4, limits.lease / 12);
    engine.month = settings.month;
    engine.allowances = settings.allowances.clone();
    engine.ages = settings.ages;
    // A forge on this machine has no limits.
    let caps = if settings.github.is_local() { Caps::None } else { Caps::Github };
    Ok(Blueprint {
        app: app.key.clone(),
        coach: settings.coach_app.clone(),
        api_url: settings.github.api.to_string(),
        web_url: settings.github.web.to_string(),
        database_url: settings.database_url.clone(),
        connections: settings.process_limits.connections,
        data_dir: settings.data_dir.clone(),
        agents: service::agents(settings),
        secrets: secrets.clone(),
        settings: engine,
        caps,
        sandbox: service::sandbox(settings.sandbox.limits, &settings.secret_files),
        isolation: settings.sandbox.bounds,
    })
}
