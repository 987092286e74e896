//! People, organisations, Apps and where they are installed.

use crate::state::moment::Moment;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What kind of account it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserKind {
    /// A person.
    User,
    /// What an App acts as.
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

/// A right over a repository, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Nothing.
    None,
    /// Looking and commenting.
    Read,
    /// Labelling and closing.
    Triage,
    /// Pushing and merging.
    Write,
    /// Settings without danger.
    Maintain,
    /// Everything.
    Admin,
}

impl Role {
    /// GitHub's word for it.
    #[must_use]
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

    /// The coarse word in the field `permission`.
    pub fn permission(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read | Self::Triage => "read",
            Self::Write | Self::Maintain => "write",
            Self::Admin => "admin",
        }
    }
}

/// Names of permissions with `read`, `write` or `admin`.
pub type Permissions = BTreeMap<String, String>;

/// A GitHub App.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// What its registration says besides.
    #[serde(default)]
    pub details: AppDetails,
}

/// What the registration of an App says of it for people.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AppDetails {
    pub description: String,
    /// Its own page, elsewhere.
    pub homepage: String,
    /// Where people are sent once it is installed.
    pub setup_url: Option<String>,
    /// Where people may be sent once they signed in with it.
    pub callback_urls: Vec<String>,
    /// What it shows when it asks who signed in.
    pub client_secret: String,
}

/// A code that stands for a person who signs in with an App, until it is exchanged for a token of theirs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OauthCode {
    pub app: u64,
    pub user: u64,
    /// Where the code was taken to.
    pub redirect: String,
    /// The hash of what who exchanges it has to show.
    pub challenge: Option<String>,
    pub made_at: Moment,
}

/// A code that stands for an App that was registered from a manifest, until it is exchanged for the App's credentials.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ManifestCode {
    pub app: u64,
    pub made_at: Moment,
}

/// Where an App's webhooks go.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hook {
    pub id: u64,
    pub url: String,
    pub secret: String,
}

/// Which repositories an installation covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Selection {
    /// All of the account's, present and future.
    All,
    /// These.
    Selected(BTreeSet<u64>),
}

/// An App on an account.
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
    /// Whether it holds the permission to write these.
    pub fn writes(&self, permission: &str) -> bool {
        self.permissions.get(permission).is_some_and(|level| level == "write")
    }
}

/// What a token stands for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Token {
    /// An installation, narrowed.
    Installation {
        installation: u64,
        /// None: all that the installation covers.
        repositories: Option<BTreeSet<u64>>,
        permissions: Permissions,
        expires_at: Moment,
    },
    /// A person with all their rights.
    Person(u64),
}
