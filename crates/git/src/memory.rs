//! A cache of facts about commits, so that git is not asked again. A commit's content never changes, and no mirror ever
//! loses a commit.

use crate::read::TreeEntry;
use domain::ids::Sha;
use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

/// The most commits whose files are cached, for all mirrors together.
const MOST_LISTS: usize = 32;
/// The longest list of files that is cached.
const LONGEST: usize = 10_000;
/// The most commits whose presence is cached.
const MOST_COMMITS: usize = 4_096;

/// A mirror's folder and a commit.
type Key = (Arc<Path>, Sha);

/// The cached facts.
#[derive(Default)]
pub(crate) struct Memory {
    lists: Mutex<HashMap<Key, Arc<[TreeEntry]>>>,
    there: Mutex<HashMap<Key, ()>>,
}

impl Memory {
    /// Returns all files of a commit, if they are cached.
    pub(crate) fn files(&self, key: &Key) -> Option<Arc<[TreeEntry]>> {
        known(&self.lists, key)
    }

    /// Caches all files of a commit, unless there are too many.
    pub(crate) fn has_files(&self, key: Key, files: &Arc<[TreeEntry]>) {
        if files.len() <= LONGEST {
            note(&self.lists, key, Arc::clone(files), MOST_LISTS);
        }
    }

    /// `true` if the commit is known to be in the mirror.
    pub(crate) fn is_there(&self, key: &Key) -> bool {
        known(&self.there, key).is_some()
    }

    /// Records that a commit is in the mirror.
    pub(crate) fn has(&self, key: Key) {
        note(&self.there, key, (), MOST_COMMITS);
    }
}

fn known<V: Clone>(all: &Mutex<HashMap<Key, V>>, key: &Key) -> Option<V> {
    all.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
}

/// Adds an entry. If the cache is full, it is emptied first, which costs one call of git for each lost entry.
fn note<V>(all: &Mutex<HashMap<Key, V>>, key: Key, value: V, most: usize) {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    if all.len() >= most {
        all.clear();
    }
    all.insert(key, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::RepoPath;

    fn key(number: usize) -> Key {
        (Arc::from(Path::new("/m")), format!("{number:040x}").parse().unwrap())
    }

    fn files(many: usize) -> Arc<[TreeEntry]> {
        let file = |at: usize| TreeEntry {
            path: RepoPath::from(at.to_string().as_str()),
            mode: 0o100_644,
            oid: "0".repeat(40),
        };
        (0..many).map(file).collect()
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let memory = Memory::default();
        memory.has_files(key(0), &files(LONGEST + 1));
        assert_eq!(memory.files(&key(0)), None);
        for number in 1..=MOST_LISTS {
            memory.has_files(key(number), &files(1));
        }
        assert_eq!(memory.files(&key(1)), Some(files(1)));
        memory.has_files(key(0), &files(2));
        assert_eq!(memory.files(&key(1)), None);
        assert_eq!(memory.files(&key(0)), Some(files(2)));
    }

    #[test]
    fn two_mirrors_are_not_taken_for_each_other() {
        let memory = Memory::default();
        memory.has(key(1));
        let elsewhere = (Arc::from(Path::new("/n")), key(1).1);
        assert!(memory.is_there(&key(1)) && !memory.is_there(&elsewhere));
    }
}
