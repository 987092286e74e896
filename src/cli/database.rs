//! Chooses the database that a command reads beside a running service: that of the repository around the current
//! folder, or else the one that `autobuild serve` would use.

use crate::{
    cli::{local_repository::LocalRepository, service::known_secrets},
    config::{ServerMistake, ServerSettings},
    store::{OpenError, OpenOptions, Store},
};
use clap::Args;
use domain::secret::Secrets;
use secrecy::ExposeSecret;
use std::io::ErrorKind;

/// Which database.
#[derive(Debug, Args)]
pub struct Which {
    /// The service's data folder.
    #[arg(long, value_name = "DIR", global = true)]
    data_dir: Option<String>,
    /// A TOML file with settings.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<String>,
}

/// The chosen database.
pub struct Chosen {
    /// The database's address.
    pub url: String,
    /// The secrets that nobody may read.
    pub secrets: Secrets,
    /// The owner of the database.
    pub whose: Whose,
}

/// The owner of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The repository around the current folder.
    Own,
    /// A service.
    Service,
}

impl Chosen {
    /// Opens the database for reading.
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
            (OpenError::File { source, path }, Whose::Service) if source.kind() == ErrorKind::NotFound => {
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

impl Which {
    /// Chooses the database.
    pub async fn choose(&self) -> Result<Chosen, Vec<ServerMistake>> {
        let flags = [
            ("AUTOBUILD_CONFIG", &self.config),
            ("AUTOBUILD_DATA_DIR", &self.data_dir),
        ];
        let flags: Vec<(String, String)> = flags
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)))
            .collect();
        let settings = ServerSettings::of_process(&flags)?;
        let own = match flags.is_empty() {
            true => own_database().await,
            false => None,
        };
        let whose = if own.is_some() { Whose::Own } else { Whose::Service };
        Ok(Chosen {
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
