//! A cache of GitHub's answers for the life of this process. A call that finds an answer outdated removes it.

use parking_lot::Mutex;
use std::{collections::HashMap, hash::Hash};

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

    pub(super) fn forget(&self, key: &K) {
        self.0.lock().remove(key);
    }

    pub(super) fn remember(&self, key: K, value: V) {
        self.0.lock().insert(key, value);
    }
}
