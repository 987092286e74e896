//! Secrets that come while the service runs and end by themselves, as the tokens do that it is given for an hour.

use crate::{ids::Millis, secret::own::Own};
use secrecy::{ExposeSecret, SecretString};
use std::sync::{Arc, Mutex, PoisonError};

/// Those that have not ended.
#[derive(Default)]
pub(super) struct Passing(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    values: Vec<(SecretString, Millis)>,
    /// What finds them all; none until somebody looks, as several often come together.
    finder: Option<Arc<Own>>,
}

impl Passing {
    /// From now on `value` is one, until it ends. What has ended by `now` is forgotten.
    pub(super) fn learn(&self, value: &SecretString, until: Millis, now: Millis) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &SecretString| known.expose_secret() == value.expose_secret();
        kept.values.retain(|(known, until)| *until > now && !same(known));
        kept.values.push((value.clone(), until));
        kept.finder = None;
    }

    /// What finds those that there are; none where there are none.
    pub(super) fn finder(&self) -> Option<Arc<Own>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.finder.is_none() && !kept.values.is_empty() {
            kept.finder = Own::of(kept.values.iter().map(|(value, _)| value)).map(Arc::new);
        }
        kept.finder.clone()
    }
}
