//! Stores the Apps that the set-up registered or imported in one file of the data folder. Only the service's own user
//! can read the file, and it is always replaced as a whole.

use crate::config::{
    credentials::{App, AppKey, OAuthClient, shown, shown_if_any},
    github_address::{GithubAddress, safe_address},
};
use domain::ids::AppId;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::{
    fs::{File, OpenOptions},
    io,
    io::Write,
    os::unix::fs::{MetadataExt, OpenOptionsExt, fchown},
    path::{Path, PathBuf},
};
use url::Url;

/// The file's name in the data folder.
pub const KEPT_APPS_FILE: &str = "apps.json";

/// The content of the file: the addresses and the Apps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptApps {
    api: Url,
    web: Url,
    /// The address at which GitHub and browsers reach the service.
    pub public_url: Url,
    pub autobuild: Option<KeptApp>,
    pub coach: Option<KeptApp>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptApp {
    pub id: u64,
    pub slug: String,
    pub page: String,
    #[serde(with = "shown")]
    pub private_key: SecretString,
    /// The secret that signs the App's webhooks; the Coach App has none.
    #[serde(with = "shown_if_any")]
    pub webhook_secret: Option<SecretString>,
    pub oauth: Option<OAuthClient>,
}

impl KeptApp {
    fn key(&self) -> AppKey {
        AppKey { id: AppId(self.id), private_key: self.private_key.clone() }
    }
}

impl PartialEq for KeptApp {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.private_key.expose_secret() == other.private_key.expose_secret()
    }
}

impl Eq for KeptApp {}

/// The reason why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// The operating system refused to read or write the file.
    #[error("{path} cannot be read or written ({problem}): it must be a file of the service's user, or missing")]
    Io {
        path: PathBuf,
        /// The operating system's error.
        problem: io::Error,
    },
    /// The file's content does not have AutoBuild's form.
    #[error(
        "{path} is damaged ({problem}): restore it from a backup, or move it away, and the set-up asks again for what it held"
    )]
    NotOurs { path: PathBuf, problem: serde_json::Error },
}

impl KeptApps {
    /// Returns a value without Apps for this GitHub server.
    pub fn none(github: &GithubAddress, public_url: Url) -> Self {
        Self { api: github.api.clone(), web: github.web.clone(), public_url, autobuild: None, coach: None }
    }

    /// Reads the file in a data folder; `None` if there is no such file.
    pub fn read(folder: &Path) -> Result<Option<Self>, NotKept> {
        read_private(&folder.join(KEPT_APPS_FILE))
    }

    /// Writes the file in a data folder, as a whole or not at all.
    pub fn write(&self, folder: &Path) -> Result<(), NotKept> {
        write_private(&folder.join(KEPT_APPS_FILE), self)
    }

    /// Returns the addresses of the GitHub server to which these Apps belong.
    pub fn github(&self) -> GithubAddress {
        GithubAddress { api: self.api.clone(), web: self.web.clone() }
    }

    /// Returns the AutoBuild App's credentials; `None` if there is no App, or no webhook secret.
    pub(crate) fn app(&self) -> Option<App> {
        let app = self.autobuild.as_ref()?;
        Some(App { key: app.key(), webhook_secrets: vec![app.webhook_secret.clone()?] })
    }

    pub(crate) fn coach_app(&self) -> Option<AppKey> {
        self.coach.as_ref().map(KeptApp::key)
    }

    pub(crate) fn oauth(&self) -> Option<OAuthClient> {
        self.autobuild.as_ref()?.oauth.clone()
    }

    pub fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        let apps = self.autobuild.iter().chain(&self.coach);
        apps.flat_map(|app| {
            let oauth = app.oauth.iter().map(|oauth| &oauth.secret);
            std::iter::once(&app.private_key).chain(&app.webhook_secret).chain(oauth)
        })
    }
}

/// Returns the addresses of the GitHub server with this web address; an empty text means github.com.
pub fn github_named(text: &str) -> Result<GithubAddress, super::NotAnAddress> {
    let web = match text.trim() {
        "" => None,
        text => Some(safe_address(text)?),
    };
    GithubAddress::complete(None, web)
}

/// Reads a file of the set-up; `None` if it does not exist.
pub fn read_private<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, NotKept> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(problem) => {
            return Err(NotKept::Io { path: path.to_owned(), problem });
        }
    };
    let read = serde_json::from_slice(&text).map(Some);
    read.map_err(|problem| NotKept::NotOurs { path: path.to_owned(), problem })
}

/// Writes a file that only the folder's owner can read, even if root writes it. It is written and synced under another name, then renamed.
/// If the operating system refuses, the old file is unchanged.
pub fn write_private<T: Serialize>(path: &Path, value: &T) -> Result<(), NotKept> {
    let failed = |problem| NotKept::Io { path: path.to_owned(), problem };
    let text = serde_json::to_vec_pretty(value).map_err(|error| failed(error.into()))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let beside = path.with_extension("new");
    // A file that a killed process left may be readable by others.
    match std::fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside).map_err(failed)?;
    file.write_all(&text).and_then(|()| file.sync_all()).map_err(failed)?;
    let (own, wanted) = (file.metadata().map_err(failed)?, folder.metadata().map_err(failed)?);
    if rustix::process::geteuid().is_root() && own.uid() != wanted.uid() {
        fchown(&file, Some(wanted.uid()), Some(wanted.gid())).map_err(failed)?;
    }
    std::fs::rename(&beside, path).map_err(failed)?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn sample_apps() -> KeptApps {
        let github = github_named("https://ghe.example").unwrap();
        let mut kept = KeptApps::none(&github, "https://build.example".parse().unwrap());
        kept.autobuild = Some(KeptApp {
            id: 7,
            slug: "autobuild-1".to_owned(),
            page: "https://ghe.example/apps/autobuild-1".to_owned(),
            private_key: "hush-key".into(),
            webhook_secret: Some("hush-hook".into()),
            oauth: Some(OAuthClient { id: "Iv1".to_owned(), secret: "hush-client".into() }),
        });
        kept
    }

    #[test]
    fn what_is_kept_is_for_this_user_alone_and_comes_back_whole() {
        let folder = tempfile::tempdir().unwrap();
        assert!(KeptApps::read(folder.path()).unwrap().is_none());
        // A process that is killed while writing leaves this file.
        std::fs::write(folder.path().join("apps.new"), "{").unwrap();
        let kept = sample_apps();
        kept.write(folder.path()).unwrap();
        let file = folder.path().join(KEPT_APPS_FILE);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!folder.path().join("apps.new").exists());
        assert_eq!(KeptApps::read(folder.path()).unwrap(), Some(kept.clone()));
        assert_eq!(kept.github().api.as_str(), "https://ghe.example/api/v3");
        assert_eq!(kept.secrets().count(), 3);
        assert!(!format!("{kept:?}").contains("hush"));
        std::fs::write(&file, "{").unwrap();
        assert!(matches!(KeptApps::read(folder.path()), Err(NotKept::NotOurs { .. })));
    }
}
