//! `autobuild serve`: the service against GitHub.

use crate::{
    cli::{
        assemble,
        assemble::{AppKey, Blueprint},
        doctor,
        doctor::Look,
        network, service,
    },
    config::{LogFormat, ServerSettings},
    engine::{Engine, settings::EngineSettings},
    github::{Caps, OAuthApp},
    telemetry::TelemetrySettings,
    web,
    web::{Inbox, Listener},
};
use anyhow::Context;
use clap::Args;
use domain::secret::Secrets;
use git::InstalledGit;
use secrecy::SecretString;
use std::{
    io,
    io::{IsTerminal, Write},
    process::ExitCode,
    sync::Arc,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// What `serve` takes. Everything else comes from the environment and the file.
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
    /// Looks at what a start needs, says it line by line, and starts nothing.
    #[arg(long)]
    check: bool,
}

pub(super) async fn serve(serve: Serve) -> ExitCode {
    if serve.check {
        return doctor::check(&flags(serve)).await;
    }
    if let Err(unusable) = InstalledGit::look().await {
        eprintln!("autobuild: {unusable}");
        return ExitCode::FAILURE;
    }
    let settings = match ServerSettings::of_process(&flags(serve)) {
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
    start_log(&settings.log, settings.log_format, secrets.clone(), |part| {
        io::stderr().write_all(part.as_bytes())
    });
    match run(settings, collector, &secrets).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("autobuild: {}", secrets.mask(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

fn flags(serve: Serve) -> Vec<(String, String)> {
    [("AUTOBUILD_CONFIG", serve.config), ("AUTOBUILD_LISTEN", serve.listen)]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

/// Sends the log to `out`, without what looks like a credential or is one of `secrets`.
pub(super) fn start_log(
    filter: &str,
    format: LogFormat,
    secrets: Secrets,
    out: impl Fn(&str) -> io::Result<()> + Clone + Send + Sync + 'static,
) {
    let filter =
        tracing_subscriber::EnvFilter::try_new(filter).unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty()))
        .with_writer(move || Masked(secrets.clone(), out.clone()));
    let _ = match format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().try_init(),
    };
    log_panics();
}

/// Panics go to the log, which is masked, instead of to standard error as they are.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, ToString::to_string);
        let said = panic.payload_as_str().unwrap_or("it did not say why");
        tracing::error!(%place, "a panic at {place}: {said}");
    }));
}

/// Where the log goes, masked. The log hands over one whole event at a time.
struct Masked<O>(Secrets, O);

impl<O: Fn(&str) -> io::Result<()>> Write for Masked<O> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        (self.1)(&self.0.mask(&String::from_utf8_lossy(event)))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

async fn run(settings: ServerSettings, collector: Option<TelemetrySettings>, secrets: &Secrets) -> anyhow::Result<()> {
    let app = settings.app.clone().context(
        "no App is configured: set AUTOBUILD_APP_ID, AUTOBUILD_PRIVATE_KEY and AUTOBUILD_WEBHOOK_SECRET (see docs/organisation.md)",
    )?;
    let listener = Listener::bind(settings.listen)
        .await
        .with_context(|| format!("listening on {}", settings.listen))?;
    let address = listener.address()?;
    let engine = assemble::engine(blueprint(&settings, &app, collector, secrets)?).await?;
    let signing = std::iter::once(app.webhook_secret)
        .chain(app.previous_webhook_secret)
        .collect();
    tracing::info!("listening on http://{address}");
    let admin = admin_token(&settings, secrets)?;
    until_stopped(engine, signing, admin, listener, (Arc::new(settings), secrets)).await
}

/// Says at the start what would fail later.
async fn look_around(engine: Arc<Engine>, settings: Arc<ServerSettings>, secrets: Secrets) {
    let look = Look {
        settings: &settings,
        running: Some(&engine),
        repo: None,
    };
    doctor::tell(&doctor::of_a_service(&look).await, &secrets);
}

/// The rows of the doctor, for the page of operators.
fn diagnosis(engine: Arc<Engine>, settings: Arc<ServerSettings>, secrets: Secrets) -> web::Doctor {
    Arc::new(move |repo| {
        let (engine, settings, secrets) = (engine.clone(), settings.clone(), secrets.clone());
        Box::pin(async move {
            let look = Look {
                settings: &settings,
                running: Some(&engine),
                repo: repo.as_ref(),
            };
            let rows = doctor::of_a_service(&look).await;
            rows.iter().map(|row| row.masked(|text| secrets.mask(text))).collect()
        })
    })
}

/// Opens the figures: the configured token, else one for this start, shown once.
fn admin_token(settings: &ServerSettings, secrets: &Secrets) -> anyhow::Result<SecretString> {
    if let Some(token) = &settings.admin_token {
        return Ok(token.clone());
    }
    let token = format!("{:016x}{:016x}", getrandom::u64()?, getrandom::u64()?);
    eprintln!("AUTOBUILD_ADMIN_TOKEN is not set; until this process ends it is {token}");
    let token = SecretString::from(token);
    secrets.learn(&token, assemble::NEVER, assemble::clock());
    Ok(token)
}

/// Serves and works until SIGTERM or Ctrl-C, then drains. What GitHub sends meanwhile is still stored: it sends nothing
/// twice.
async fn until_stopped(
    engine: Arc<Engine>,
    signing: Vec<SecretString>,
    admin: SecretString,
    listener: Listener,
    (settings, secrets): (Arc<ServerSettings>, &Secrets),
) -> anyhow::Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let (stop, closed) = (CancellationToken::new(), CancellationToken::new());
    let inbox = Inbox::new(engine.clone(), signing, stop.clone()).with_admin(admin);
    let doctor = diagnosis(engine.clone(), settings.clone(), secrets.clone());
    let sign_in = settings.oauth.clone().map(|client| OAuthApp {
        id: client.id,
        secret: client.secret,
    });
    let inbox = Arc::new(inbox.with_doctor(doctor).with_sign_in(sign_in));
    // Nobody waits for GitHub's answer, least of all the deliveries that arrive meanwhile.
    let looking = tokio::spawn(look_around(engine.clone(), settings.clone(), secrets.clone()));
    let mut worker = tokio::spawn(engine.clone().work(stop.clone()));
    let mut server = tokio::spawn(web::serve(listener, web::router(inbox), closed.clone()));
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        // Neither ends before it is told to: whoever started the service can start it again.
        ended = &mut worker => anyhow::bail!("the worker ended early: {}", early(ended)),
        ended = &mut server => anyhow::bail!("the HTTP server ended early: {}", early(ended)),
    }
    tracing::info!("draining: calls to GitHub end, agents get their grace");
    stop.cancel();
    looking.abort();
    let drained = worker.await.context("the worker");
    closed.cancel();
    drained?;
    server.await.context("the HTTP server")?;
    engine.settings.telemetry.flush().await;
    engine.store.close().await;
    Ok(())
}

fn early(ended: Result<(), tokio::task::JoinError>) -> String {
    ended.map_or_else(|error| error.to_string(), |()| "without an error".to_owned())
}

fn blueprint(
    settings: &ServerSettings,
    app: &crate::config::App,
    collector: Option<TelemetrySettings>,
    secrets: &Secrets,
) -> anyhow::Result<Blueprint> {
    let mut engine = EngineSettings::service(assemble::worker_name(), settings.data_dir.clone(), assemble::clock);
    engine.telemetry = assemble::telemetry(collector, &engine.worker, secrets.clone())?;
    engine.write_spacing_ms = i64::try_from(settings.write_spacing.as_millis()).unwrap_or(1_000);
    engine.budget = settings.budget;
    engine.network = network::ceiling(&settings.network);
    Ok(Blueprint {
        app: AppKey {
            id: app.id,
            private_key: app.private_key.clone(),
        },
        coach: settings.coach_app.as_ref().map(|coach| AppKey {
            id: coach.id,
            private_key: coach.private_key.clone(),
        }),
        api_url: settings.github.api.to_string(),
        web_url: settings.github.web.to_string(),
        database_url: settings.database_url.clone(),
        data_dir: settings.data_dir.clone(),
        agents: service::agents(settings),
        secrets: secrets.clone(),
        settings: engine,
        caps: caps(&settings.github.api),
        sandbox: service::sandbox(settings),
        isolation: settings.sandbox.bounds,
    })
}

/// GitHub's limits on writes are GitHub's: a forge on this very machine has none.
fn caps(api: &url::Url) -> Caps {
    let local = match api.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    };
    if local { Caps::None } else { Caps::Github }
}

#[cfg(test)]
mod tests {
    use super::Masked;
    use domain::secret::Secrets;
    use secrecy::SecretString;
    use std::{io::Write, sync::Mutex};

    #[test]
    fn the_log_holds_no_secret() {
        let secrets = Secrets::new(&[SecretString::from("hush-hush-Value")]);
        let log = Mutex::new(String::new());
        let event = format!("WARN said=\"hush-hush-Value\" token=ghs_{}\n", "a1B2".repeat(9));
        let out = |part: &str| {
            log.lock().unwrap().push_str(part);
            Ok(())
        };
        Masked(secrets, out).write_all(event.as_bytes()).unwrap();
        assert_eq!(*log.lock().unwrap(), "WARN said=\"[masked]\" token=[masked]\n");
    }
}
