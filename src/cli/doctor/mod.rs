//! `autobuild doctor`: checks everything that AutoBuild needs, and shows one table with the remedy for each problem.
//! `serve --check` and the service's page show the same rows. Each check has a time limit, and all run concurrently.
//! Nothing is made, started or changed, and no row holds a secret.

mod apps;
mod database;
mod look;
mod machine;
mod repository;
mod table;

pub(super) use look::DoctorInput;

use crate::{
    cli::{
        assemble, own_agent, service,
        stage::terminal::{Terminal, print},
    },
    config::{AppKey, Flags, ProcessRole, SandboxSettings, ServerMistake, ServerSettings, secret_files_of_process},
    github::{App, Client, GithubUrls},
    messages,
};
use clap::Args;
use domain::{
    diagnosis,
    diagnosis::{Row, RowStatus, Topic},
    ids::RepoName,
};
use git::InstalledGit;
use std::process::ExitCode;
use text::secret::Secrets;

/// The arguments of `doctor`.
#[derive(Debug, Args)]
#[command(
    after_help = "Reads the settings that `serve` reads. Without an App it looks at what `run` needs here.\n\nExit codes:\n  \
0  nothing is broken\n  1  something is\n\nExamples:\n  autobuild doctor\n  autobuild doctor --repo acme/shop\n  autobuild \
doctor --json | jq '.rows[] | select(.state != \"ok\")'"
)]
pub(super) struct DoctorCommand {
    /// Also looks at this repository on GitHub.
    #[arg(long, value_name = "OWNER/NAME")]
    repo: Option<RepoName>,
    /// Prints one JSON object: `ok`, and `rows` with `what`, `of`, `state`, `found` and `remedy`.
    #[arg(long)]
    json: bool,
    /// A TOML file with settings.
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

pub(super) async fn doctor(command: DoctorCommand) -> ExitCode {
    let read = ServerSettings::of_process(&[("AUTOBUILD_CONFIG", command.config)])
        .and_then(|settings| settings.for_role(ProcessRole::Everything));
    let secrets = secrets(&read);
    let rows = match &read {
        Ok(settings) if settings.app.is_none() => rows_without_app(settings, command.repo.as_ref()).await,
        read => rows_before_start(read, command.repo.as_ref()).await,
    };
    print_rows("doctor", &rows, &secrets, command.json)
}

/// Prints the same rows for `serve --check` and `worker --check`, before a start.
pub(super) async fn check(flags: Flags<'_>, role: ProcessRole) -> ExitCode {
    let read = ServerSettings::of_process(flags).and_then(|settings| settings.for_role(role));
    let mut rows = for_role(rows_before_start(&read, None).await, role);
    rows.extend(read.iter().map(|settings| machine::address(settings.listen)));
    rows.sort_by_key(|row| row.topic);
    print_rows("serve", &rows, &secrets(&read), false)
}

fn secrets(read: &Result<ServerSettings, Vec<ServerMistake>>) -> Secrets {
    match read {
        Ok(settings) => Secrets::new(&service::known_secrets(settings)),
        Err(_) => Secrets::new(&[]),
    }
}

fn print_rows(command: &str, rows: &[Row], secrets: &Secrets, json: bool) -> ExitCode {
    let rows: Vec<Row> = rows.iter().map(|row| row.masked(|text| secrets.mask(text))).collect();
    let terminal = Terminal::open(json);
    let text = if json {
        format!("{}\n", diagnosis::report(&rows))
    } else {
        table::table(&rows, terminal.columns(), |text, tone| terminal.in_tone(text, tone))
    };
    if let Err(error) = print(&text) {
        eprintln!("autobuild {command}: standard output cannot be written: {error}");
        return ExitCode::FAILURE;
    }
    if diagnosis::is_broken(&rows) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Leaves out the rows about work that a process of this role does not do.
pub(super) fn for_role(mut rows: Vec<Row>, role: ProcessRole) -> Vec<Row> {
    rows.retain(|row| {
        let needs_agents = matches!(row.topic, Topic::Agent);
        let needs_webhooks = matches!(row.topic, Topic::Webhook | Topic::Deliveries);
        (!needs_agents || role.runs_agents()) && (!needs_webhooks || role.is_reached())
    });
    rows
}

/// Logs the short form for a service: the rows that are not OK, and a summary line.
pub(super) fn log_rows(rows: &[Row], role: ProcessRole, secrets: &Secrets) {
    for row in rows.iter().map(|row| row.masked(|text| secrets.mask(text))) {
        let remedy: String = row.remedy.iter().map(|remedy| format!(" -> {remedy}")).collect();
        match row.status {
            RowStatus::Ok => {}
            RowStatus::Warning => tracing::warn!("{}: {}{remedy}", row.what(), row.found),
            RowStatus::Broken => tracing::error!("{}: {}{remedy}", row.what(), row.found),
        }
    }
    let place =
        if role.is_reached() { "All rows are at /doctor." } else { "`autobuild worker --check` prints all rows." };
    tracing::info!("doctor: {} {place}", messages::summary_of_rows(rows));
}

/// Returns the rows for a service that is about to start.
pub(super) async fn rows_before_start(
    read: &Result<ServerSettings, Vec<ServerMistake>>,
    repo: Option<&RepoName>,
) -> Vec<Row> {
    let mut rows = program_and_git().await;
    rows.extend(machine::settings(read));
    if let Ok(settings) = read {
        let input = DoctorInput { settings, running: None, repo };
        rows.extend(rows_about(&input).await);
    }
    rows
}

/// Returns the rows for the running service.
pub(super) async fn rows_of_service(input: &DoctorInput<'_>) -> Vec<Row> {
    let mut rows = program_and_git().await;
    rows.extend(rows_about(input).await);
    if let Some(engine) = input.running {
        rows.push(database::steps(engine).await);
        rows.sort_by_key(|row| row.topic);
    }
    rows
}

async fn program_and_git() -> Vec<Row> {
    vec![machine::this_program(), machine::git(&InstalledGit::look().await)]
}

async fn rows_about(input: &DoctorInput<'_>) -> Vec<Row> {
    let (memory, programs, proxy, apps) = tokio::join!(
        Box::pin(machine::memory(input)),
        Box::pin(machine::foreign_programs(input)),
        Box::pin(machine::proxy(input.settings)),
        Box::pin(rows_of_github(input)),
    );
    memory.into_iter().chain(programs).chain(proxy).chain(apps).collect()
}

async fn rows_of_github(input: &DoctorInput<'_>) -> Vec<Row> {
    if let Some(engine) = input.running {
        return rows_about_apps(input, &engine.autobuild, engine.coach.as_ref()).await;
    }
    let Some(app) = &input.settings.app else {
        return vec![apps::no_app()];
    };
    let client = |key| client(input.settings, key);
    let main = match client(&app.key) {
        Ok(client) => client,
        Err(error) => return vec![apps::unusable(apps::AUTOBUILD, &error)],
    };
    match input.settings.coach_app.as_ref().map(client).transpose() {
        Ok(coach) => rows_about_apps(input, &main, coach.as_ref()).await,
        Err(error) => {
            let mut rows = rows_about_apps(input, &main, None).await;
            rows.retain(|row| row.topic != Topic::CoachApp);
            rows.push(apps::unusable(apps::COACH, &error));
            rows
        }
    }
}

async fn rows_about_apps(input: &DoctorInput<'_>, main: &Client, coach: Option<&Client>) -> Vec<Row> {
    let coachs = async {
        match coach {
            Some(coach) => Box::pin(apps::coach(coach)).await,
            None => Vec::new(),
        }
    };
    let repository = async {
        match input.repo {
            Some(name) => Box::pin(repository::on_github(main, coach, name, input.settings)).await,
            None => Vec::new(),
        }
    };
    let (autobuilds, coachs, repository) =
        tokio::join!(Box::pin(apps::autobuild(main, coach, input.settings.replay)), coachs, repository);
    let mut rows: Vec<Row> = autobuilds.into_iter().chain(coachs).chain(repository).collect();
    // Rows of the same topic, such as those of both Apps, come together.
    rows.sort_by_key(|row| row.topic);
    rows
}

fn client(settings: &ServerSettings, key: &AppKey) -> anyhow::Result<Client> {
    let urls = GithubUrls::new(settings.github.api.as_str(), settings.github.web.as_str())?;
    let urls = urls.through(settings.uplink());
    let app = App::new(key.id, &key.private_key)?;
    Ok(Client::new(&app, &urls, assemble::clock)?)
}

/// Returns the rows for `run` and its like, if no App is set up.
async fn rows_without_app(settings: &ServerSettings, repo: Option<&RepoName>) -> Vec<Row> {
    let (git, front, programs, proxy) =
        tokio::join!(InstalledGit::look(), repository::in_front(), own_programs(), machine::proxy(settings));
    let mut rows = vec![machine::this_program(), machine::git(&git)];
    rows.extend(proxy);
    rows.extend(front);
    rows.extend(programs);
    let set_up = "autobuild serve shows a page, /setup, that makes it in a few clicks (see docs/organisation.md)";
    rows.push(match repo {
        None => Row::warning(Topic::App, "no App is set up; only work on GitHub needs one", set_up),
        Some(_) => Row::broken(Topic::App, "no App is set up, so GitHub cannot be asked", set_up),
    });
    rows.sort_by_key(|row| row.topic);
    rows
}

/// Returns the rows of the isolation, and of the agent that `run` would use.
async fn own_programs() -> Vec<Row> {
    let settings = match SandboxSettings::of_process() {
        Ok(settings) => settings,
        Err(mistakes) => return machine::settings(&Err(mistakes)),
    };
    let options = service::sandbox(settings.limits, &secret_files_of_process());
    let sandbox = match machine::probed(options, settings.bounds).await {
        Ok(sandbox) => sandbox,
        Err(row) => return vec![row],
    };
    let missing = messages::missing_isolation(sandbox.missing());
    let isolation = machine::isolation(sandbox.level(), &missing, machine::user(&sandbox));
    let agent = match own_agent::agent(None) {
        Ok(agent) => agent,
        Err(error) => {
            let remedy = "install an agent, or name one that is there with AUTOBUILD_AGENT (see docs/agents.md)";
            return vec![isolation, Row::broken(Topic::Agent, format!("{error:#}"), remedy)];
        }
    };
    vec![isolation, machine::own_agent(&agent, &sandbox).await]
}
