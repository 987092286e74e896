//! The way to the set-up's page: the link that `serve` prints at its start, and `autobuild setup`, which opens it.

use crate::{
    cli::{assemble, health},
    config::{AppsFrom, ServerSettings},
    web::{Setup, SetupLink, SetupOptions},
};
use anyhow::Context;
use clap::Args;
use domain::secret::Secrets;
use std::{io, io::IsTerminal, net::SocketAddr, process::ExitCode, sync::Arc};

/// What `setup` takes. Everything else comes from the environment and the file, as for `serve`.
#[derive(Debug, Args)]
#[command(
    after_help = "Start `autobuild serve` first. Where there is no browser, the link is printed: it works once.\n\nExamples:\n  \
autobuild serve &\n  autobuild setup"
)]
pub(super) struct SetupCommand {
    /// The TOML file that `serve` was given.
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// Address of the HTTP server, if `serve` was given another one.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Prints the link, and opens no browser.
    #[arg(long)]
    print: bool,
}

/// The set-up that goes on in the data folder, or begins; none where the settings name the Apps, or it is over.
pub(super) fn open(
    settings: &ServerSettings,
    address: SocketAddr,
    secrets: &Secrets,
) -> anyhow::Result<Option<Arc<Setup>>> {
    let folder = &settings.data_dir;
    if settings.apps_from == AppsFrom::Settings || !Setup::is_open_in(folder)? {
        return match settings.app {
            Some(_) => Ok(None),
            None => anyhow::bail!(
                "only the Coach App is configured: set AUTOBUILD_APP_ID, AUTOBUILD_PRIVATE_KEY and \
                 AUTOBUILD_WEBHOOK_SECRET too (see docs/organisation.md)"
            ),
        };
    }
    let link = SetupLink::new(service(settings, address), unguessable().context("no randomness")?);
    link.write(folder)?;
    eprintln!("Connect this service with GitHub: open {}", link.address());
    // Somebody sits there, who would open it anyway.
    let opened = io::stderr().is_terminal() && sandbox::open_in_browser(&link.address());
    match opened {
        true => eprintln!("(It is open in your browser. The link works once; `autobuild setup` makes a new one.)"),
        false => eprintln!("(The link works once. `autobuild setup` opens it, or makes a new one.)"),
    }
    Ok(Some(Setup::open(SetupOptions {
        folder: folder.clone(),
        clock: assemble::clock,
        random: unguessable,
        secrets: secrets.clone(),
        github: (!settings.github.is_usual()).then(|| settings.github.clone()),
        public_url: settings.public_url.clone(),
    })?))
}

/// The address by which a browser reaches the service, as far as the settings say.
fn service(settings: &ServerSettings, address: SocketAddr) -> String {
    match &settings.public_url {
        Some(url) => url.to_string(),
        None => format!("http://{}", health::reached(address)),
    }
}

fn unguessable() -> Option<String> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(super) async fn setup(command: SetupCommand) -> ExitCode {
    match link(&command).await {
        Ok(Some(link)) => {
            if !command.print && sandbox::open_in_browser(&link) {
                println!("Opened {link}");
            } else {
                println!("Open this link, which works once:\n{link}");
            }
            ExitCode::SUCCESS
        }
        Ok(None) => {
            println!("AutoBuild is set up: there is nothing to do.");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("autobuild setup: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The link of a service that waits for its set-up; none: it is over.
async fn link(command: &SetupCommand) -> anyhow::Result<Option<String>> {
    let given = [
        ("AUTOBUILD_CONFIG", &command.config),
        ("AUTOBUILD_LISTEN", &command.listen),
    ];
    let given = given
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
    let flags: Vec<(String, String)> = given.collect();
    let settings = ServerSettings::of_process(&flags).map_err(|mistakes| {
        let mistakes: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        anyhow::anyhow!(mistakes.join("; "))
    })?;
    if settings.apps_from == AppsFrom::Settings || !Setup::is_open_in(&settings.data_dir)? {
        return Ok(None);
    }
    let there = SetupLink::read(&settings.data_dir)?;
    let asked = health::reached(settings.listen);
    let answer = tokio::time::timeout(health::PATIENCE, health::ask(asked, "/healthz")).await;
    if !matches!(answer, Ok(Ok(_))) {
        anyhow::bail!("no service answers at http://{asked}: start `autobuild serve`, then run this again");
    }
    let link = match there {
        Some(link) => link,
        None => {
            let link = SetupLink::new(
                service(&settings, asked),
                unguessable().context("the system has no randomness")?,
            );
            link.write(&settings.data_dir)?;
            link
        }
    };
    Ok(Some(link.address()))
}
