//! What is remembered of commits, so that git is not asked again: nothing that a commit's name stands for ever changes,
//! and no mirror ever loses a commit.

use crate::read::TreeEntry;
use domain::ids::Sha;
use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

/// The most commits whose files are remembered, of all mirrors together.
const MOST_LISTS: usize = 32;
/// A longer list of files is read anew each time.
const LONGEST: usize = 10_000;
/// The most commits that are remembered to be there.
const MOST_COMMITS: usize = 4_096;

/// A mirror's folder and a commit.
type Key = (Arc<Path>, Sha);

/// What is known of commits.
#[derive(Default)]
pub(crate) struct Memory {
    lists: Mutex<HashMap<Key, Arc<[TreeEntry]>>>,
    there: Mutex<HashMap<Key, ()>>,
}

impl Memory {
    /// All files of a commit, if they are known.
    pub(crate) fn files(&self, key: &Key) -> Option<Arc<[TreeEntry]>> {
        known(&self.lists, key)
    }

    /// Notes all files of a commit, unless they are too many to be kept.
    pub(crate) fn has_files(&self, key: Key, files: &Arc<[TreeEntry]>) {
        if files.len() <= LONGEST {
            note(&self.lists, key, Arc::clone(files), MOST_LISTS);
        }
    }

    /// Whether a commit is known to be there.
    pub(crate) fn is_there(&self, key: &Key) -> bool {
        known(&self.there, key).is_some()
    }

    /// Notes that a commit is there.
    pub(crate) fn has(&self, key: Key) {
        note(&self.there, key, (), MOST_COMMITS);
    }
}

fn known<V: Clone>(all: &Mutex<HashMap<Key, V>>, key: &Key) -> Option<V> {
    all.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
}

/// Where there is no room, all is forgotten at once: it costs one question each.
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
