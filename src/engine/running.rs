//! What this process performs right now, and how each is told to stop.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::MutexGuard;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The effects that this process holds.
#[derive(Default)]
pub struct Running {
    tokens: Mutex<HashMap<String, CancellationToken>>,
    again: Again,
}

struct Again(watch::Sender<u64>);

impl Default for Again {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Running {
    /// Adds an effect that begins.
    pub(super) fn begin(&self, effect: &str) -> CancellationToken {
        let token = CancellationToken::new();
        self.tokens().insert(effect.to_owned(), token.clone());
        token
    }

    /// Removes an effect that ended.
    pub(super) fn end(&self, effect: &str) {
        self.tokens().remove(effect);
    }

    /// Tells every effect that runs here to look at once whether it is still wanted.
    pub(super) fn look_again(&self) {
        self.again.0.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Tells when to look again.
    pub(super) fn looks(&self) -> watch::Receiver<u64> {
        self.again.0.subscribe()
    }

    fn tokens(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.tokens.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
