//! The usage of a run's model calls as the models' own answers report it. This includes calls of child processes that
//! the run's main program does not know about.

use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::BTreeMap,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use text::{price, usage::Tokens};

/// The most models that are counted separately.
pub(super) const MAX_MODELS: usize = 50;
/// The longest name of a model, in characters.
pub(super) const MAX_MODEL: usize = 100;

/// The tokens by model, the waits that the API asked for, and its silence.
#[derive(Debug, Default)]
pub struct Tally {
    used: Mutex<BTreeMap<String, Tokens>>,
    wait: AtomicU64,
    said: Mutex<Vec<u8>>,
    silence: Mutex<Duration>,
    longest_wait: AtomicU64,
    failed: AtomicBool,
    accused: AtomicBool,
    first: OnceLock<u64>,
}

impl Tally {
    /// Returns the tokens that the calls used so far, by the model's name.
    pub fn list(&self) -> Vec<(String, Tokens)> {
        let used = self.used.lock();
        used.iter().map(|(model, tokens)| (model.clone(), *tokens)).collect()
    }

    /// Returns the cost of all calls by the price table, in millionths of a dollar.
    pub(super) fn usd_micros(&self) -> u64 {
        price::range(&self.list()).1
    }

    /// Returns for how many seconds the API's last answer asked to wait; `None` if it did not ask.
    pub fn requested_wait(&self) -> Option<u64> {
        Some(self.wait.load(Ordering::Relaxed)).filter(|seconds| *seconds > 0)
    }

    /// Returns the beginning of the API's message if its last answer was a refusal; empty if it was none.
    pub fn refusal_text(&self) -> String {
        String::from_utf8_lossy(&self.refusal()).trim().to_owned()
    }

    /// Returns the API's longest silence in a call that was broken off, since the last call that it answered to the
    /// end.
    pub fn silence(&self) -> Duration {
        *self.longest_silence()
    }

    /// Returns the same value for changing it.
    pub(super) fn longest_silence(&self) -> MutexGuard<'_, Duration> {
        self.silence.lock()
    }

    /// Sets for how many seconds the API's latest answer asks to wait.
    pub(super) fn set_wait(&self, seconds: u64) {
        self.wait.store(seconds, Ordering::Relaxed);
        self.longest_wait.fetch_max(seconds, Ordering::Relaxed);
    }

    /// Returns the longest wait that the API has asked for, in seconds.
    pub fn longest_wait(&self) -> u64 {
        self.longest_wait.load(Ordering::Relaxed)
    }

    /// Records that a call was not served.
    pub(super) fn fails(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if a model's API did not serve a call: it was limited, overloaded, broken, or unreachable.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Records that the API refused the credentials or the account.
    pub(super) fn accuses(&self) {
        self.accused.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if a model's API refused the credentials or the account.
    pub fn has_accused(&self) -> bool {
        self.accused.load(Ordering::Relaxed)
    }

    /// Returns the message of the last refusal.
    pub(super) fn refusal(&self) -> MutexGuard<'_, Vec<u8>> {
        self.said.lock()
    }

    /// Returns the number of tokens in the first answered request, as the model's API counted them.
    pub fn first_request(&self) -> Option<u64> {
        self.first.get().copied()
    }

    /// Adds the tokens of a call of `model`.
    pub(super) fn add(&self, model: &str, tokens: Tokens) {
        let output = 0;
        // Only the first call sets it.
        let _ = self.first.set(Tokens { output, ..tokens }.total());
        let mut kept = self.used.lock();
        let name = if kept.len() < MAX_MODELS || kept.contains_key(model) { model } else { "others" };
        *kept.entry(name.to_owned()).or_default() += tokens;
    }
}
