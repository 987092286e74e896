//! `autobuild serve --check`: what a start needs, line by line, each with the way to mend it. Nothing is started or made.

use crate::{
    cli::{assemble, serve},
    config::ServerSettings,
    engine::data_folder::{DataFolder, FoundFolder},
    github::{AUTOBUILD_PERMISSIONS, App, COACH_PERMISSIONS, Client, GithubError, GithubUrls},
    store::{FoundDatabase, OpenOptions, Store},
};
use domain::{ids::AppId, isolation::Level, secret::Secrets};
use git::InstalledGit;
use sandbox::Sandbox;
use secrecy::{ExposeSecret, SecretString};
use std::{io, io::Write, process::ExitCode, time::Duration};

/// How long GitHub is waited for: a machine that cannot reach it now may still be set up well.
const PATIENCE: Duration = Duration::from_secs(10);

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// As it should be.
    Ok,
    /// The service starts; somebody should look at it.
    Warning,
    /// The service does not start, or could do nothing.
    Broken,
}

impl Standing {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Broken => "broken",
        }
    }
}

/// What was looked at, how it stands, and what there is to say of it.
type Line = (&'static str, Standing, String);

pub(super) async fn check(flags: &[(String, String)]) -> ExitCode {
    let mut lines = vec![git().await];
    let mut secrets = Secrets::new(&[]);
    match ServerSettings::of_process(flags) {
        Ok(settings) => {
            secrets = Secrets::new(&serve::known_secrets(&settings));
            lines.extend(with(&settings).await);
        }
        Err(mistakes) => {
            lines.extend(
                mistakes
                    .iter()
                    .map(|mistake| ("settings", Standing::Broken, mistake.to_string())),
            );
        }
    }
    if let Err(error) = print(&lines, &secrets) {
        eprintln!("autobuild serve: standard output cannot be written: {error}");
        return ExitCode::FAILURE;
    }
    match lines.iter().any(|(_, standing, _)| *standing == Standing::Broken) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

fn print(lines: &[Line], secrets: &Secrets) -> io::Result<()> {
    for (what, standing, says) in lines {
        let says: Vec<&str> = says.split_whitespace().collect();
        let says = secrets.mask(&says.join(" "));
        match writeln!(io::stdout(), "{:<8} {what:<12} {says}", standing.word()) {
            // Whoever reads only the beginning, as `head` does, has what they wanted.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
    }
    Ok(())
}

async fn git() -> Line {
    let (standing, says) = match InstalledGit::look().await {
        Ok(git) => match git.warning() {
            None => (Standing::Ok, format!("{} ({})", git.version, git.program.display())),
            Some(warning) => (Standing::Warning, warning),
        },
        Err(unusable) => (Standing::Broken, unusable.to_string()),
    };
    ("git", standing, says)
}

async fn with(settings: &ServerSettings) -> Vec<Line> {
    let mut lines = vec![read(settings), database(settings).await, folder(settings)];
    lines.extend(isolation(settings).await);
    lines.extend(apps(settings).await);
    lines
}

fn read(settings: &ServerSettings) -> Line {
    match settings.unused.as_slice() {
        [] => ("settings", Standing::Ok, "read".to_owned()),
        unused => {
            let says = format!("this version does not act on {}: take them out", unused.join(", "));
            ("settings", Standing::Warning, says)
        }
    }
}

async fn database(settings: &ServerSettings) -> Line {
    let (standing, says) = match Store::inspect(settings.database_url.expose_secret(), OpenOptions::default()).await {
        Ok(FoundDatabase::Current) => (Standing::Ok, "there, with the tables of this version".to_owned()),
        Ok(FoundDatabase::ToMigrate) => (Standing::Ok, "there; the start brings its tables up to date".to_owned()),
        Ok(FoundDatabase::None) => (Standing::Ok, "the start makes it".to_owned()),
        Err(error) => (
            Standing::Broken,
            format!("{:#} (AUTOBUILD_DATABASE_URL)", anyhow::Error::from(error)),
        ),
    };
    ("database", standing, says)
}

fn folder(settings: &ServerSettings) -> Line {
    let path = settings.data_dir.display();
    let (standing, says) = match DataFolder::look(&settings.data_dir) {
        Ok(FoundFolder::Free) => (Standing::Ok, format!("{path} can be written")),
        Ok(FoundFolder::InUse) => (
            Standing::Warning,
            format!("{path} is in use: a service runs with it already"),
        ),
        Err(error) => {
            let why = anyhow::Error::from(error);
            let says = format!("{why:#}: let the service's user write it, or name another with AUTOBUILD_DATA_DIR");
            (Standing::Broken, says)
        }
    };
    ("data folder", standing, says)
}

/// How far programs are kept apart, and the agents, which are tried in the same way.
async fn isolation(settings: &ServerSettings) -> Vec<Line> {
    let mut options = serve::sandbox(settings);
    options.hidden.push(settings.data_dir.clone());
    let sandbox = match Sandbox::probe(options, settings.sandbox.bounds).await {
        Ok(sandbox) => sandbox,
        Err(error) => {
            return vec![(
                "isolation",
                Standing::Broken,
                format!("{:#}", anyhow::Error::from(error)),
            )];
        }
    };
    let level = sandbox.level();
    let standing = match level {
        Level::L0 => Standing::Warning,
        Level::L1 | Level::L2 | Level::L3 => Standing::Ok,
    };
    let more = match level {
        Level::L3 => String::new(),
        Level::L0 | Level::L1 | Level::L2 => format!(". What is missing for more: {}", sandbox.missing()),
    };
    let mut lines = vec![("isolation", standing, format!("{level}: {}{more}", level.means()))];
    // A program that is asked for its version gets a home, which goes again.
    let home = match tempfile::tempdir() {
        Ok(home) => home,
        Err(error) => {
            lines.push((
                "agent",
                Standing::Broken,
                format!("no folder for temporary files can be made: {error}"),
            ));
            return lines;
        }
    };
    let agents = serve::agents(settings);
    for command in assemble::offered(&agents) {
        lines.push(
            match assemble::check_agent(command, &agents, &sandbox, home.path()).await {
                Ok(()) => ("agent", Standing::Ok, command.to_string()),
                Err(error) => ("agent", Standing::Broken, format!("{error:#}")),
            },
        );
    }
    lines
}

async fn apps(settings: &ServerSettings) -> Vec<Line> {
    let Some(main) = &settings.app else {
        let says = "no App is configured: set AUTOBUILD_APP_ID, AUTOBUILD_PRIVATE_KEY and AUTOBUILD_WEBHOOK_SECRET \
                    (see docs/organisation.md)";
        return vec![("App", Standing::Broken, says.to_owned())];
    };
    let mut lines = vec![app(settings, "App", (main.id, &main.private_key), AUTOBUILD_PERMISSIONS).await];
    lines.push(match &settings.coach_app {
        Some(coach) => app(settings, "Coach App", (coach.id, &coach.private_key), COACH_PERMISSIONS).await,
        None => {
            let says = "none is configured, so that reviews are comment reviews: set AUTOBUILD_COACH_APP_ID and \
                        AUTOBUILD_COACH_PRIVATE_KEY";
            ("Coach App", Standing::Warning, says.to_owned())
        }
    });
    lines
}

/// A key is read here; whether GitHub takes it, GitHub says.
async fn app(
    settings: &ServerSettings,
    what: &'static str,
    (id, key): (AppId, &SecretString),
    needed: &[(&'static str, &'static str)],
) -> Line {
    let client = match client(settings, id, key) {
        Ok(client) => client,
        Err(error) => return (what, Standing::Broken, format!("{error:#}")),
    };
    let unreached = |why: &str| {
        let says = format!("App {id}: its key can be read, but GitHub did not say whether it holds: {why}");
        (what, Standing::Warning, says)
    };
    match tokio::time::timeout(PATIENCE, client.identity()).await {
        Ok(Ok(identity)) => {
            let lacks: Vec<String> = identity
                .lacks(needed)
                .iter()
                .map(|(name, level)| format!("{name}: {level}"))
                .collect();
            match lacks.is_empty() {
                true => (what, Standing::Ok, format!("{} (id {id})", identity.slug)),
                false => {
                    let says = format!(
                        "{} lacks permissions: {}; add them in the App's settings",
                        identity.slug,
                        lacks.join(", ")
                    );
                    (what, Standing::Warning, says)
                }
            }
        }
        Ok(Err(error @ (GithubError::Unauthorized | GithubError::NotFound))) => {
            let says =
                format!("GitHub knows no App {id} with this key ({error}): compare both with the App's settings");
            (what, Standing::Broken, says)
        }
        Ok(Err(error)) => unreached(&error.to_string()),
        Err(_) => unreached("no answer within 10 seconds"),
    }
}

fn client(settings: &ServerSettings, id: AppId, key: &SecretString) -> anyhow::Result<Client> {
    let urls = GithubUrls::new(settings.github.api.as_str(), settings.github.web.as_str())?;
    Ok(Client::new(&App::new(id, key)?, &urls, assemble::clock)?)
}
