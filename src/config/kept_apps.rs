//! The Apps that the set-up registered or imported, as the data folder keeps them: one file that only this user reads,
//! replaced as a whole.

use crate::config::{
    github_address::{GithubAddress, safe_address},
    server::{App, CoachApp, OAuthClient},
};
use domain::ids::AppId;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::{
    fs::{File, OpenOptions},
    io,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};
use url::Url;

/// The file's name in the data folder.
pub const KEPT_APPS_FILE: &str = "apps.json";

/// What the set-up keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptApps {
    /// Where GitHub's API is.
    api: Url,
    /// Where its pages are.
    web: Url,
    /// Where GitHub and browsers reach the service.
    pub public_url: Url,
    /// The AutoBuild App.
    pub autobuild: Option<KeptApp>,
    /// The Coach App.
    pub coach: Option<KeptApp>,
}

/// An App with its credentials.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptApp {
    /// Its id.
    pub id: u64,
    /// Its name in addresses.
    pub slug: String,
    /// Its page on GitHub.
    pub page: String,
    /// Its key, as PEM.
    #[serde(with = "shown")]
    pub private_key: SecretString,
    /// What its webhooks are signed with; the Coach App has none.
    #[serde(with = "shown_if_any")]
    pub webhook_secret: Option<SecretString>,
    /// By what people sign in with it.
    pub oauth: Option<KeptOAuthClient>,
}

impl PartialEq for KeptApp {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.private_key.expose_secret() == other.private_key.expose_secret()
    }
}

impl Eq for KeptApp {}

/// By what people sign in with an App.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptOAuthClient {
    /// Its client id.
    pub id: String,
    /// Its client secret.
    #[serde(with = "shown")]
    pub secret: SecretString,
}

mod shown {
    use secrecy::{ExposeSecret, SecretString};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(secret: &SecretString, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(secret.expose_secret())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SecretString, D::Error> {
        String::deserialize(from).map(SecretString::from)
    }
}

mod shown_if_any {
    use secrecy::{ExposeSecret, SecretString};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(secret: &Option<SecretString>, to: S) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(ExposeSecret::expose_secret).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
        Option::<String>::deserialize(from).map(|secret| secret.map(SecretString::from))
    }
}

/// Why what is kept cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// The system refused.
    #[error("{path} cannot be read or written ({problem}): it must be a file of the service's user, or missing")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        problem: io::Error,
    },
    /// The file is none of ours.
    #[error(
        "{path} is damaged ({problem}): restore it from a backup, or move it away, and the set-up asks again for what it held"
    )]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: serde_json::Error,
    },
}

impl KeptApps {
    /// Nothing yet, for this GitHub.
    #[must_use]
    pub fn none(github: &GithubAddress, public_url: Url) -> Self {
        Self {
            api: github.api.clone(),
            web: github.web.clone(),
            public_url,
            autobuild: None,
            coach: None,
        }
    }

    /// What a data folder keeps; none: nothing.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is none of ours.
    pub fn read(folder: &Path) -> Result<Option<Self>, NotKept> {
        read_private(&folder.join(KEPT_APPS_FILE))
    }

    /// Keeps this in a data folder, whole or not at all.
    ///
    /// # Errors
    ///
    /// The system refused.
    pub fn write(&self, folder: &Path) -> Result<(), NotKept> {
        write_private(&folder.join(KEPT_APPS_FILE), self)
    }

    /// Which GitHub these Apps are of.
    #[must_use]
    pub fn github(&self) -> GithubAddress {
        GithubAddress {
            api: self.api.clone(),
            web: self.web.clone(),
        }
    }

    /// The AutoBuild App, as the service needs it.
    pub(crate) fn app(&self) -> Option<App> {
        let app = self.autobuild.as_ref()?;
        Some(App {
            id: AppId(app.id),
            private_key: app.private_key.clone(),
            webhook_secret: app.webhook_secret.clone()?,
            previous_webhook_secret: None,
        })
    }

    pub(crate) fn coach_app(&self) -> Option<CoachApp> {
        let app = self.coach.as_ref()?;
        Some(CoachApp {
            id: AppId(app.id),
            private_key: app.private_key.clone(),
        })
    }

    pub(crate) fn oauth(&self) -> Option<OAuthClient> {
        let oauth = self.autobuild.as_ref()?.oauth.as_ref()?;
        Some(OAuthClient {
            id: oauth.id.clone(),
            secret: oauth.secret.clone(),
        })
    }

    /// Every secret in it.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        let apps = self.autobuild.iter().chain(&self.coach);
        apps.flat_map(|app| {
            let oauth = app.oauth.iter().map(|oauth| &oauth.secret);
            std::iter::once(&app.private_key)
                .chain(&app.webhook_secret)
                .chain(oauth)
        })
    }
}

/// Which GitHub somebody named: its address, or nothing for github.com.
///
/// # Errors
///
/// It is no address to which credentials may be sent.
pub fn github_named(text: &str) -> Result<GithubAddress, super::NotAnAddress> {
    let web = match text.trim() {
        "" => None,
        text => Some(safe_address(text)?),
    };
    GithubAddress::complete(None, web)
}

/// Reads a file of the set-up; none: there is none.
///
/// # Errors
///
/// It cannot be read, or is none of ours.
pub fn read_private<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, NotKept> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(problem) => {
            let path = path.to_owned();
            return Err(NotKept::Io { path, problem });
        }
    };
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|problem| NotKept::NotOurs {
            path: path.to_owned(),
            problem,
        })
}

/// Writes a file that only this user reads: beside it first, and on the disk before it takes the old one's place.
///
/// # Errors
///
/// The system refused; the old file is as it was.
pub fn write_private<T: Serialize>(path: &Path, value: &T) -> Result<(), NotKept> {
    let failed = |problem| NotKept::Io {
        path: path.to_owned(),
        problem,
    };
    let text = serde_json::to_vec_pretty(value).map_err(|error| failed(error.into()))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let beside = path.with_extension("new");
    // What a killed process left may be readable by others.
    match std::fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)
        .map_err(failed)?;
    file.write_all(&text).and_then(|()| file.sync_all()).map_err(failed)?;
    std::fs::rename(&beside, path).map_err(failed)?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn kept() -> KeptApps {
        let github = github_named("https://ghe.example").unwrap();
        let mut kept = KeptApps::none(&github, "https://build.example".parse().unwrap());
        kept.autobuild = Some(KeptApp {
            id: 7,
            slug: "autobuild-1".to_owned(),
            page: "https://ghe.example/apps/autobuild-1".to_owned(),
            private_key: "hush-key".into(),
            webhook_secret: Some("hush-hook".into()),
            oauth: Some(KeptOAuthClient {
                id: "Iv1".to_owned(),
                secret: "hush-client".into(),
            }),
        });
        kept
    }

    #[test]
    fn what_is_kept_is_for_this_user_alone_and_comes_back_whole() {
        let folder = tempfile::tempdir().unwrap();
        assert!(KeptApps::read(folder.path()).unwrap().is_none());
        // A process that was killed while it wrote leaves this.
        std::fs::write(folder.path().join("apps.new"), "{").unwrap();
        let kept = kept();
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
