//! The administrator's token, and the key that signs sessions.

use page_parts::session::is_key;
use secrecy::SecretString;

/// The token and the key of sessions.
pub(super) struct Admin {
    token: SecretString,
    signing: SecretString,
}

impl Admin {
    /// Creates the value; `signing` is the key that signs sessions. Strangers can see signatures. If the token alone
    /// made them, strangers could test their guesses of the token without asking the service.
    pub(super) fn new(token: SecretString, signing: SecretString) -> Self {
        Self { token, signing }
    }

    pub(super) fn token(&self) -> &SecretString {
        &self.token
    }

    pub(super) fn signing(&self) -> &SecretString {
        &self.signing
    }

    /// `true` if the text is the token. A wrong token causes no delay: behind a proxy everybody has one address, so a
    /// stranger could keep the operators out. The token's length makes guessing hopeless.
    pub(super) fn is_token(&self, shown: &str) -> bool {
        let is_right = is_key(shown, &self.token);
        if !is_right {
            tracing::warn!("somebody showed a wrong administrator's token");
        }
        is_right
    }
}
