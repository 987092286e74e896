//! Facts that this process keeps in memory because they save calls to GitHub. It may forget any of them.

use parking_lot::Mutex;
use std::{collections::HashMap, hash::Hash};

/// The number of entries from which all are forgotten, since some are never asked for again.
const MOST: usize = 10_000;

pub struct Remembered<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Remembered<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Remembered<K, V> {
    pub(super) fn find(&self, key: &K) -> Option<V> {
        self.0.lock().get(key).cloned()
    }

    /// Returns the entry and forgets it.
    pub(super) fn take(&self, key: &K) -> Option<V> {
        self.0.lock().remove(key)
    }

    pub(super) fn remember(&self, key: K, value: V) {
        let mut entries = self.0.lock();
        if entries.len() >= MOST {
            entries.clear();
        }
        entries.insert(key, value);
    }
}
