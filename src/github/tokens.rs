//! Installation tokens: each for one repository and one purpose, kept in memory, and never minted twice at once.

use super::{
    http::{Call, Credential, Intent, Reply, Wire},
    rights::Rights,
};
use crate::github::error::GithubError;
use domain::ids::{InstallationId, Millis, RepoId};
use parking_lot::Mutex;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;
use std::{collections::HashMap, sync::Arc};

/// A token is not given out in its last minutes, because a push must not outlast it. In milliseconds.
const MARGIN_MS: i64 = 5 * 60_000;

/// The number of tokens from which expired ones are removed.
const SWEEP_AT: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenKey {
    pub installation: InstallationId,
    /// The only repository that it covers; `None` only for calls that are about no repository.
    pub repo: Option<RepoId>,
    pub rights: Rights,
}

/// The current tokens. Minting holds the key's own lock, so that many callers cause only one mint.
#[derive(Default)]
pub struct Tokens {
    slots: Mutex<HashMap<TokenKey, Slot>>,
}

type Slot = Arc<tokio::sync::Mutex<Option<Token>>>;

struct Token {
    text: SecretString,
    good_until: Millis,
}

impl Tokens {
    pub(super) async fn token(&self, wire: &Wire, key: TokenKey) -> Result<SecretString, GithubError> {
        let slot = self.slot(key, wire.now());
        let mut kept = slot.lock().await;
        if let Some(token) = kept.as_ref().filter(|_| is_good(&kept, wire.now())) {
            return Ok(token.text.clone());
        }
        *kept = None;
        let minted = mint(wire, key).await?;
        let text = minted.text.clone();
        wire.learn(&text, minted.good_until.plus(MARGIN_MS));
        *kept = Some(minted);
        Ok(text)
    }

    /// Forgets the token `refused`, but not one that another caller has minted meanwhile.
    pub(super) async fn forget(&self, key: TokenKey, refused: &SecretString) {
        let Some(slot) = self.slots.lock().get(&key).map(Arc::clone) else {
            return;
        };
        let mut kept = slot.lock().await;
        if kept.as_ref().is_some_and(|token| token.text.expose_secret() == refused.expose_secret()) {
            *kept = None;
        }
    }

    /// Forgets all tokens of an installation that was suspended or removed.
    pub(super) fn forget_installation(&self, installation: InstallationId) {
        self.slots.lock().retain(|key, _| key.installation != installation);
    }

    fn slot(&self, key: TokenKey, now: Millis) -> Slot {
        let mut slots = self.slots.lock();
        if slots.len() >= SWEEP_AT {
            // A locked slot is being filled.
            slots.retain(|_, slot| slot.try_lock().map_or(true, |kept| is_good(&kept, now)));
        }
        Arc::clone(slots.entry(key).or_default())
    }
}

fn is_good(kept: &Option<Token>, now: Millis) -> bool {
    kept.as_ref().is_some_and(|token| token.good_until > now)
}

async fn mint(wire: &Wire, key: TokenKey) -> Result<Token, GithubError> {
    let granted = key.rights.permissions().iter();
    let permissions: serde_json::Map<_, _> = granted.map(|(name, level)| ((*name).to_owned(), json!(level))).collect();
    let body = match key.repo {
        Some(repo) => json!({"repository_ids": [repo], "permissions": permissions}),
        None => json!({"permissions": permissions}),
    };
    let path = format!("/app/installations/{}/access_tokens", key.installation);
    let call = Call {
        // An extra token is harmless, so minting may be repeated like a read.
        intent: Intent::Read,
        ..Call::post(&path, Some(&body))
    };
    match wire.send(&Credential::App, &call).await {
        Ok(reply) => read(&reply, wire.now()),
        Err(error) => Err(refused(error, key.rights)),
    }
}

fn refused(error: GithubError, rights: Rights) -> GithubError {
    if error.mentions("repository") && error.mentions("not accessible") {
        return GithubError::Uninstalled;
    }
    match error {
        GithubError::NotFound | GithubError::Gone => GithubError::Uninstalled,
        GithubError::Refused { status: 422, text } => {
            GithubError::Forbidden { what: format!("a token for {rights:?}: {text}") }
        }
        error @ (GithubError::Transient { .. }
        | GithubError::Uncertain { .. }
        | GithubError::RateLimited { .. }
        | GithubError::Unauthorized
        | GithubError::Forbidden { .. }
        | GithubError::Suspended
        | GithubError::Uninstalled
        | GithubError::Refused { .. }
        | GithubError::Malformed { .. }) => error,
    }
}

#[derive(Deserialize)]
struct MintedToken {
    token: String,
    #[serde(default, deserialize_with = "super::model::time")]
    expires_at: Option<Millis>,
}

/// Reads the answer. It contains the token, so no part of it is put into an error.
fn read(reply: &Reply, now: Millis) -> Result<Token, GithubError> {
    let minted: MintedToken = text::json::read(&reply.body)
        .map_err(|_| GithubError::Malformed { source: "the answer to a request for a token".into() })?;
    let good_until = minted.expires_at.unwrap_or(now).plus(-MARGIN_MS);
    Ok(Token { text: SecretString::from(minted.token), good_until })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_000_000);

    fn key(repo: u64) -> TokenKey {
        TokenKey { installation: InstallationId(1), repo: Some(RepoId(repo)), rights: Rights::Fetch }
    }

    fn keep(tokens: &Tokens, repo: u64, good_until: Millis) {
        *tokens.slot(key(repo), NOW).try_lock().unwrap() = Some(Token { text: SecretString::from("x"), good_until });
    }

    #[test]
    fn tokens_that_have_ended_are_not_kept_for_ever() {
        let tokens = Tokens::default();
        keep(&tokens, 0, NOW.plus(1));
        for repo in 1..1024 {
            keep(&tokens, repo, NOW);
        }
        let held = tokens.slot(key(5), NOW);
        let minting = held.try_lock().unwrap();
        drop(tokens.slot(key(5000), NOW));
        drop(minting);
        let mut left: Vec<u64> = tokens.slots.lock().keys().map(|key| key.repo.unwrap().0).collect();
        left.sort_unstable();
        assert_eq!(left, [0, 5, 5000], "the good one, the one being minted and the new one");
    }

    #[test]
    fn an_unreadable_answer_is_not_repeated() {
        let reply = Reply {
            status: http::StatusCode::CREATED,
            headers: http::HeaderMap::new(),
            body: bytes::Bytes::from_static(br#"{"token": ["ghs_secret"]}"#),
        };
        let error = read(&reply, NOW).err().unwrap();
        assert!(!format!("{error} {error:?}").contains("ghs_secret"));
    }
}
