//! A cache of git's answers about commits. Such an answer never changes, because commits do not. A mirror loses them only
//! with its whole folder, and then its answers are forgotten.

use crate::{
    error::GitError,
    mirror::Mirror,
    process::{GitCall, GitOutput},
    read::TreeEntry,
};
use domain::ids::Sha;
use parking_lot::Mutex;
use std::{collections::HashMap, path::Path, sync::Arc};

/// The most commits whose files are cached, for all mirrors together.
const MOST_LISTS: usize = 32;
/// The longest list of files that is cached.
const LONGEST: usize = 10_000;
/// The most other answers that are cached.
const MOST_ANSWERS: usize = 4_096;
/// The largest answer that is cached, in bytes.
const LARGEST: usize = 8 << 10;

/// A mirror's folder and a commit.
type Key = (Arc<Path>, Sha);

/// A mirror's folder, the most bytes that are wanted, and a subcommand of git with its arguments.
type Question = (Arc<Path>, Option<usize>, Vec<String>);

#[derive(Default)]
pub(crate) struct Memory {
    lists: Mutex<HashMap<Key, Arc<[TreeEntry]>>>,
    answers: Mutex<HashMap<Question, Arc<GitOutput>>>,
}

impl Memory {
    /// Returns all files of a commit, if they are cached.
    pub(crate) fn files(&self, key: &Key) -> Option<Arc<[TreeEntry]>> {
        recall(&self.lists, key)
    }

    /// Forgets all answers of a mirror whose folder is gone.
    pub(crate) fn forget(&self, mirror: &Arc<Path>) {
        self.lists.lock().retain(|(folder, _), _| folder != mirror);
        self.answers.lock().retain(|(folder, ..), _| folder != mirror);
    }

    /// Caches all files of a commit, unless there are too many.
    pub(crate) fn keep_files(&self, key: Key, files: &Arc<[TreeEntry]>) {
        if files.len() <= LONGEST {
            note(&self.lists, key, Arc::clone(files), MOST_LISTS);
        }
    }

    /// Caches an answer, if it is small and can never change.
    fn keep_answer(&self, question: Question, answer: &Arc<GitOutput>) {
        let is_final = match answer.code {
            0 => true,
            // For `merge-base`, 1 means that both commits exist and the answer is no. Other commands also exit with 1
            // for a commit that may still come, and older versions of git for an unreadable object, with an error
            // message.
            1 => answer.stderr.is_empty() && question.2.first().is_some_and(|command| command == "merge-base"),
            _ => false,
        };
        if is_final && !answer.truncated && answer.stdout.len() <= LARGEST {
            note(&self.answers, question, Arc::clone(answer), MOST_ANSWERS);
        }
    }
}

impl Mirror {
    /// Asks git about commits that the arguments name by their full ids, or returns the cached answer. Keeps at most
    /// `cap` bytes of the answer, if given.
    pub(crate) async fn ask(&self, arguments: &[&str], cap: Option<usize>) -> Result<Arc<GitOutput>, GitError> {
        self.ready()?;
        let words = arguments.iter().map(|word| (*word).to_owned()).collect();
        let question = (Arc::clone(&self.dir), cap, words);
        if let Some(answer) = recall(&self.shared.memory.answers, &question) {
            return Ok(answer);
        }
        let (command, rest) = arguments.split_first().unwrap_or((&"", &[]));
        let mut call = GitCall::new(&self.dir, command).args(rest);
        if let Some(cap) = cap {
            call = call.cap(cap);
        }
        let answer = Arc::new(call.run().await?);
        self.shared.memory.keep_answer(question, &answer);
        Ok(answer)
    }
}

fn recall<K: Eq + std::hash::Hash, V: Clone>(all: &Mutex<HashMap<K, V>>, key: &K) -> Option<V> {
    all.lock().get(key).cloned()
}

/// Adds an entry. If the cache is full, it is emptied first, which costs one call of git for each lost entry.
fn note<K: Eq + std::hash::Hash, V>(all: &Mutex<HashMap<K, V>>, key: K, value: V, most: usize) {
    let mut all = all.lock();
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
        memory.keep_files(key(0), &files(LONGEST + 1));
        assert_eq!(memory.files(&key(0)), None);
        for number in 1..=MOST_LISTS {
            memory.keep_files(key(number), &files(1));
        }
        assert_eq!(memory.files(&key(1)), Some(files(1)));
        memory.keep_files(key(0), &files(2));
        assert_eq!(memory.files(&key(1)), None);
        assert_eq!(memory.files(&key(0)), Some(files(2)));
    }

    #[test]
    fn only_answers_that_cannot_change_are_remembered() {
        let memory = Memory::default();
        let is_kept = |folder: &str, command: &str, code, size| {
            let question: Question = (Arc::from(Path::new(folder)), None, vec![command.to_owned()]);
            let answer = GitOutput { code, stdout: vec![b'a'; size], truncated: false, stderr: String::new() };
            memory.keep_answer(question.clone(), &Arc::new(answer));
            recall(&memory.answers, &question).is_some()
        };
        assert!(is_kept("/m", "merge-base", 1, 0));
        assert!(!is_kept("/m", "rev-parse", 1, 0));
        assert!(!is_kept("/n", "merge-base", 128, 0));
        assert!(!is_kept("/n", "diff-tree", 0, LARGEST + 1));
        assert!(is_kept("/m", "diff-tree", 0, LARGEST));
    }
}
