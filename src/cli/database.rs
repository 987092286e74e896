//! Chooses the database that a command reads beside a running service: that of the repository around the current
//! folder, or else the one that `autobuild serve` would use.

use crate::{
    cli::{local_repository::LocalRepository, service::known_secrets},
    config::{ServerSettings, join_mistakes},
    store::{OpenError, OpenOptions, Store},
};
use clap::Args;
use secrecy::ExposeSecret;
use std::io::ErrorKind;
use text::secret::Secrets;

/// Which database.
#[derive(Debug, Args)]
pub struct DatabaseArgs {
    /// The service's data folder.
    #[arg(long, value_name = "DIR", global = true)]
    data_dir: Option<String>,
    /// A TOML file with settings.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<String>,
}

pub struct ChosenDatabase {
    pub url: String,
    pub secrets: Secrets,
    pub whose: DatabaseOwner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseOwner {
    /// The repository around the current folder.
    Own,
    Service,
}

impl ChosenDatabase {
    pub async fn open_to_read(&self) -> anyhow::Result<Store> {
        let opened = Store::open_to_read(&self.url, OpenOptions::default()).await;
        opened.map_err(|error| self.unopened(error))
    }

    /// Opens the database to write an order while another process works with it.
    pub async fn open_beside(&self) -> anyhow::Result<Store> {
        let opened = Store::open_beside(&self.url, OpenOptions::default()).await;
        opened.map_err(|error| self.unopened(error))
    }

    fn unopened(&self, error: OpenError) -> anyhow::Error {
        match (&error, self.whose) {
            (OpenError::File { source, path }, DatabaseOwner::Service) if source.kind() == ErrorKind::NotFound => {
                let path = path.display();
                anyhow::anyhow!(
                    "nothing has run here: `autobuild run ISSUE.md` begins, in your repository. To read what a service did, \
                     name its database with --data-dir or AUTOBUILD_DATABASE_URL: there is none at {path}"
                )
            }
            _ => anyhow::Error::new(error)
                .context("opening the database (AUTOBUILD_DATABASE_URL or --data-dir says which)"),
        }
    }
}

impl DatabaseArgs {
    /// Chooses the database; the error names every mistake in the settings.
    pub async fn choose(&self) -> Result<ChosenDatabase, String> {
        let (config, data_dir) = (self.config.clone(), self.data_dir.clone());
        let flags = [("AUTOBUILD_CONFIG", config), ("AUTOBUILD_DATA_DIR", data_dir)];
        let settings = ServerSettings::of_process(&flags).map_err(|mistakes| join_mistakes(&mistakes, "; "))?;
        let own = if flags.iter().all(|(_, value)| value.is_none()) { own_database().await } else { None };
        let whose = if own.is_some() { DatabaseOwner::Own } else { DatabaseOwner::Service };
        Ok(ChosenDatabase {
            url: own.unwrap_or_else(|| settings.database_url.expose_secret().to_owned()),
            secrets: Secrets::new(&known_secrets(&settings)),
            whose,
        })
    }
}

/// Returns the database of the repository around the current folder, if there is one.
async fn own_database() -> Option<String> {
    let repository = LocalRepository::here().await.ok()?;
    repository.has_database().then(|| repository.database())
}
