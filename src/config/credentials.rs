//! The credentials of our two Apps, and of the OAuth client with which people sign in.

use domain::ids::AppId;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// The credentials of the AutoBuild App.
#[derive(Clone, Debug)]
pub struct App {
    pub key: AppKey,
    /// The secret that signs the App's webhooks, and during a change also the previous one. A process that receives no
    /// webhooks needs none.
    pub webhook_secrets: Vec<SecretString>,
}

#[derive(Clone, Debug)]
pub struct AppKey {
    pub id: AppId,
    /// The App's private key, as PEM.
    pub private_key: SecretString,
}

/// An App's OAuth client, with which people sign in. It is serialized with its secret in clear text, only for the
/// private file of kept Apps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OAuthClient {
    pub id: String,
    #[serde(with = "shown")]
    pub secret: SecretString,
}

pub(super) mod shown {
    use secrecy::{ExposeSecret, SecretString};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::config) fn serialize<S: Serializer>(secret: &SecretString, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(secret.expose_secret())
    }

    pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SecretString, D::Error> {
        String::deserialize(from).map(SecretString::from)
    }
}

pub(super) mod shown_if_any {
    use secrecy::{ExposeSecret, SecretString};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in crate::config) fn serialize<S: Serializer>(secret: &Option<SecretString>, to: S) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(ExposeSecret::expose_secret).serialize(to)
    }

    pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
        Option::<String>::deserialize(from).map(|secret| secret.map(SecretString::from))
    }
}
