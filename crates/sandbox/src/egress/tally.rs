//! What a run's calls of models used, as the models' own answers tell it: also those that something made which the run's
//! program started, and that the program knows nothing of.

use domain::{price, usage::Tokens};
use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

/// So many models are told apart.
pub(super) const MAX_MODELS: usize = 50;
/// The longest name of one.
pub(super) const MAX_MODEL: usize = 100;

/// Tokens by the model that used them, how long a model's API asked to be left alone, and how long it has said nothing.
#[derive(Debug, Default)]
pub(super) struct Tally {
    used: Mutex<BTreeMap<String, Tokens>>,
    wait: AtomicU64,
    said: Mutex<Vec<u8>>,
    silence: Mutex<Duration>,
    longest_wait: AtomicU64,
    failed: AtomicBool,
    first: OnceLock<u64>,
}

impl Tally {
    pub(super) fn used(&self) -> Vec<(String, Tokens)> {
        let used = self.kept();
        used.iter().map(|(model, tokens)| (model.clone(), *tokens)).collect()
    }

    /// What all of it costs by the price table, in millionths of a dollar.
    pub(super) fn usd_micros(&self) -> u64 {
        price::range(&self.used()).1
    }

    /// For how many seconds the API asked to be left alone when it answered last; none where it did not.
    pub(super) fn told_to_wait(&self) -> Option<u64> {
        Some(self.wait.load(Ordering::Relaxed)).filter(|seconds| *seconds > 0)
    }

    /// What the API said when it answered last, where it refused; the start of it.
    pub(super) fn said(&self) -> String {
        String::from_utf8_lossy(&self.refusal()).trim().to_owned()
    }

    /// The longest that the API said nothing in a call that was broken off, since the last one that it answered to the end.
    pub(super) fn silence(&self) -> Duration {
        *self.longest_silence()
    }

    /// The same, to be changed.
    pub(super) fn longest_silence(&self) -> MutexGuard<'_, Duration> {
        self.silence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For how many seconds the API asks to be left alone with the answer that it just gave.
    pub(super) fn set_wait(&self, seconds: u64) {
        self.wait.store(seconds, Ordering::Relaxed);
        self.longest_wait.fetch_max(seconds, Ordering::Relaxed);
    }

    /// The longest that it ever asked to be left alone.
    pub(super) fn longest_wait(&self) -> u64 {
        self.longest_wait.load(Ordering::Relaxed)
    }

    /// A call was not served.
    pub(super) fn fails(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// The words of the last refusal.
    pub(super) fn refusal(&self) -> MutexGuard<'_, Vec<u8>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Tokens>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many tokens the first request held that was answered, as the model's API counted them.
    pub(super) fn first_request(&self) -> Option<u64> {
        self.first.get().copied()
    }

    /// A call of `model` used these.
    pub(super) fn add(&self, model: &str, tokens: Tokens) {
        let output = 0;
        // Whoever adds later changes nothing.
        let _ = self.first.set(Tokens { output, ..tokens }.total());
        let mut kept = self.kept();
        let name = match kept.len() < MAX_MODELS || kept.contains_key(model) {
            true => model,
            false => "others",
        };
        *kept.entry(name.to_owned()).or_default() += tokens;
    }
}
