//! Leads to the set-up's page: prints the link when `serve` starts, and opens it with `autobuild setup`.

use crate::{
    cli::{assemble, health, open},
    config::{AppsFrom, ServerSettings, join_mistakes},
    engine::data_folder::DataFolder,
    web::{Setup, SetupLink, SetupOptions},
};
use anyhow::Context;
use clap::Args;
use sandbox::LeadingPage;
use std::{io, io::IsTerminal, net::SocketAddr, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};
use text::secret::Secrets;

/// The arguments of `setup`. Everything else comes from the environment and the file, as for `serve`.
#[derive(Debug, Args)]
#[command(
    after_help = "Start `autobuild serve` first; it is found by its data folder (AUTOBUILD_DATA_DIR). If there is no browser, the link is printed: it works once. After the set-up, the page opens again, to add what is missing.\n\nExamples:\n  \
autobuild serve &\n  autobuild setup"
)]
pub(super) struct SetupCommand {
    /// The TOML file that `serve` was given.
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// Prints the link, and opens no browser.
    #[arg(long)]
    print: bool,
}

/// Opens the data folder's set-up, be it new, in progress, or finished and closed. Also returns the page that leads a
/// browser there. Returns no set-up if the settings name the Apps.
pub(super) fn open(
    settings: &ServerSettings,
    address: SocketAddr,
    secrets: &Secrets,
) -> anyhow::Result<(Option<Arc<Setup>>, Option<LeadingPage>)> {
    if settings.apps_from == AppsFrom::Settings {
        return match settings.app {
            Some(_) => Ok((None, None)),
            None => anyhow::bail!(
                "only the Coach App is configured: set AUTOBUILD_APP_ID, AUTOBUILD_PRIVATE_KEY and \
                 AUTOBUILD_WEBHOOK_SECRET too (see docs/organisation.md)"
            ),
        };
    }
    let setup = Setup::open(SetupOptions {
        folder: settings.data_dir.clone(),
        clock: assemble::clock,
        random: unguessable,
        secrets: secrets.clone(),
        github: (!settings.github.is_usual()).then(|| settings.github.clone()),
        uplink: settings.uplink().clone(),
        public_url: settings.public_url.clone(),
    })?;
    let leading = if setup.is_open() {
        announce(settings, address)?
    } else {
        SetupLink::remove(&settings.data_dir);
        None
    };
    Ok((Some(setup), leading))
}

/// Prints a link, and opens it in a browser if standard error is a terminal: the person would open it anyway.
fn announce(settings: &ServerSettings, address: SocketAddr) -> anyhow::Result<Option<LeadingPage>> {
    let link = new_link(settings, address)?;
    eprintln!("Connect this service with GitHub: open {}", link.address());
    let leading =
        if io::stderr().is_terminal() { sandbox::open_in_browser(&link.address(), |_, _| {}).ok() } else { None };
    match leading {
        Some(_) => eprintln!("(It opens in your browser. The link works once; `autobuild setup` makes a new one.)"),
        None => eprintln!("(The link works once. `autobuild setup` opens it, or makes a new one.)"),
    }
    Ok(leading)
}

/// Makes a link to the address at which a browser reaches the service, according to the settings.
fn new_link(settings: &ServerSettings, address: SocketAddr) -> anyhow::Result<SetupLink> {
    let service = match &settings.public_url {
        Some(url) => url.to_string(),
        None => format!("http://{}", health::reached(address)),
    };
    let link = SetupLink::new(service, unguessable().context("the system has no randomness")?);
    link.write(&settings.data_dir)?;
    Ok(link)
}

fn unguessable() -> Option<String> {
    assemble::random::<24>().ok()
}

pub(super) async fn setup(command: SetupCommand) -> ExitCode {
    let prints = command.print;
    let Link { link, folder, is_over } = match link(command).await {
        Ok(Some(link)) => link,
        Ok(None) => {
            println!(
                "The settings name the Apps, so there is no page for them. To add the Coach App, register it and set \
                 AUTOBUILD_COACH_APP_ID and AUTOBUILD_COACH_PRIVATE_KEY (see docs/organisation.md)."
            );
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("autobuild setup: {error:#}");
            return ExitCode::FAILURE;
        }
    };
    if is_over {
        println!("AutoBuild is set up. Its page opens once more, to add the Coach App or repositories.");
    }
    let leading = if prints { None } else { open::open(&link.address()) };
    let how = match leading {
        None => "Open this link, which works once:",
        Some(_) => "It opens in your browser. If it does not, open this link, which works once:",
    };
    println!("{how}\n{}", link.address());
    // The redirecting page must stay until the browser has read it.
    if leading.is_some() {
        let opened = async {
            while matches!(SetupLink::read(&folder), Ok(Some(there)) if there.address() == link.address()) {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            () = opened => {}
            () = tokio::time::sleep(PATIENCE) => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    }
    ExitCode::SUCCESS
}

/// The time that a browser may take to open the link, and the time between two checks if it did.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);

/// A link that opens the page.
struct Link {
    link: SetupLink,
    folder: PathBuf,
    /// `true` if the set-up is finished.
    is_over: bool,
}

/// Returns the link to a service's set-up; `None` if the settings name the Apps.
async fn link(command: SetupCommand) -> anyhow::Result<Option<Link>> {
    let flags = [("AUTOBUILD_CONFIG", command.config)];
    let settings =
        ServerSettings::of_process(&flags).map_err(|mistakes| anyhow::anyhow!(join_mistakes(&mistakes, "; ")))?;
    if settings.apps_from == AppsFrom::Settings {
        return Ok(None);
    }
    let is_over = !Setup::is_open_in(&settings.data_dir)?;
    let there = SetupLink::read(&settings.data_dir)?;
    let Some(service) = DataFolder::service(&settings.data_dir)? else {
        anyhow::bail!(
            "no service uses the data folder {}: start `autobuild serve`, or set AUTOBUILD_DATA_DIR to the folder that it \
             uses, then run this again",
            settings.data_dir.display()
        );
    };
    let asked = health::reached(service);
    let answer = tokio::time::timeout(health::PATIENCE, health::ask(asked, "/healthz")).await;
    if !matches!(answer, Ok(Ok(_))) {
        anyhow::bail!("the service at http://{asked} does not answer: look at its log, then run this again");
    }
    let link = match there {
        Some(link) => link,
        None => new_link(&settings, asked)?,
    };
    let folder = settings.data_dir;
    Ok(Some(Link { link, folder, is_over }))
}
