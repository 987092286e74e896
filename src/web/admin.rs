//! The administrator's token, and with what sessions are signed.

use page_parts::session::is_key;
use secrecy::SecretString;

/// The token and the key of sessions.
pub(super) struct Admin {
    token: SecretString,
    signing: SecretString,
}

impl Admin {
    /// With what sessions are signed. Strangers see signatures: made with the token alone, they would tell who guesses it
    /// without asking us.
    pub(super) fn new(token: SecretString, signing: SecretString) -> Self {
        Self { token, signing }
    }

    pub(super) fn token(&self) -> &SecretString {
        &self.token
    }

    pub(super) fn signing(&self) -> &SecretString {
        &self.signing
    }

    /// Whether a text is the token. A wrong one makes nobody wait: behind a proxy everybody has one address, so a stranger
    /// could keep the operators out. The length of the token is what makes guessing hopeless.
    pub(super) fn is_token(&self, shown: &str) -> bool {
        let is_right = is_key(shown, &self.token);
        if !is_right {
            tracing::warn!("somebody showed a wrong administrator's token");
        }
        is_right
    }
}
