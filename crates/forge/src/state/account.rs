//! People, organisations, Apps and their installations.

use crate::state::moment::Moment;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The kind of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserKind {
    /// A person.
    User,
    /// The account that an App acts as.
    Bot,
    /// An organisation.
    Organization,
}

/// An account.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct User {
    pub id: u64,
    pub login: String,
    pub kind: UserKind,
    pub created_at: Moment,
}

/// A role in a repository, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May not even see a private repository.
    None,
    /// May look and comment.
    Read,
    /// May also label and close.
    Triage,
    /// May also push and merge.
    Write,
    /// May also change harmless settings.
    Maintain,
    /// May do everything.
    Admin,
}

impl Role {
    /// Returns GitHub's name of the role.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Triage => "triage",
            Self::Write => "write",
            Self::Maintain => "maintain",
            Self::Admin => "admin",
        }
    }

    /// Returns the coarser name that GitHub gives in the field `permission`.
    pub fn permission(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read | Self::Triage => "read",
            Self::Write | Self::Maintain => "write",
            Self::Admin => "admin",
        }
    }
}

/// Permissions by name, each `read`, `write` or `admin`.
pub type Permissions = BTreeMap<String, String>;

/// A GitHub App.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct App {
    pub id: u64,
    pub slug: String,
    pub name: String,
    pub owner: u64,
    pub bot: u64,
    pub client_id: String,
    pub permissions: Permissions,
    pub events: BTreeSet<String>,
    pub hook: Option<Hook>,
    /// PKCS#8, PEM.
    pub private_key: String,
    /// PKCS#1, base64 of the DER.
    pub public_key: String,
    pub created_at: Moment,
    /// The texts and addresses of its registration.
    #[serde(default)]
    pub details: AppDetails,
}

/// The texts and addresses in the registration of an App.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AppDetails {
    pub description: String,
    /// The App's own website.
    pub homepage: String,
    /// The page that people are sent to after they installed it.
    pub setup_url: Option<String>,
    /// The addresses that people may be sent to after they signed in with it.
    pub callback_urls: Vec<String>,
    /// The secret with which it exchanges a sign-in code; empty if it has none.
    pub client_secret: String,
}

/// The record behind a code with which a person signs in with an App, until the App exchanges it for the person's
/// token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OauthCode {
    pub app: u64,
    pub user: u64,
    /// The address that the code was sent to.
    pub redirect: String,
    /// The PKCE challenge: the hash of the verifier that the App must show.
    pub challenge: Option<String>,
    pub made_at: Moment,
}

/// The record behind a code that is exchanged for the credentials of an App registered from a manifest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ManifestCode {
    pub app: u64,
    pub made_at: Moment,
}

/// The receiver of an App's webhooks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hook {
    pub id: u64,
    pub url: String,
    pub secret: String,
}

/// The repositories that an installation covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Selection {
    /// All repositories of the account, also future ones.
    All,
    /// Only these.
    Selected(BTreeSet<u64>),
}

/// An App's installation on an account.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Installation {
    pub id: u64,
    pub app: u64,
    pub account: u64,
    pub selection: Selection,
    pub permissions: Permissions,
    pub events: BTreeSet<String>,
    pub suspended_at: Option<Moment>,
    pub suspended_by: Option<u64>,
    pub created_at: Moment,
    pub updated_at: Moment,
}

impl Installation {
    /// Returns `true` if the installation has write access to `permission`.
    pub fn writes(&self, permission: &str) -> bool {
        self.permissions.get(permission).is_some_and(|level| level == "write")
    }
}

/// The holder of a token, and its scope.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Token {
    /// An installation, perhaps with fewer repositories and permissions.
    Installation {
        installation: u64,
        /// `None`: all that the installation covers.
        repositories: Option<BTreeSet<u64>>,
        permissions: Permissions,
        expires_at: Moment,
    },
    /// A person with all their rights.
    Person(u64),
}
