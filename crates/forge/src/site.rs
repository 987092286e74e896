//! The running forge: its state behind a lock, its folder, and the follow-up to each change.

use super::{
    disk,
    disk::{ForgeError, Saving},
    faults::Faults,
    feed::FeedEvent,
    hooks::Post,
    log::LoggedCall,
    readers::Readers,
    refusal::Result,
    state::{Outcome, State},
};
use bytes::Bytes;
use git::bare::{BareRepo, Comparison};
use http::HeaderMap;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::{Notify, OnceCell, RwLock, RwLockReadGuard, broadcast, watch};

/// The pause before a save, so that changes are saved together. With [`Saving::Soon`], it grows to ten times the last
/// save's duration.
const SAVE_PAUSE: Duration = Duration::from_secs(1);
/// The pause after a failed save.
const SAVE_AGAIN: Duration = Duration::from_secs(1);
/// The size of each cache of comparisons and merges; a full one is emptied.
const REMEMBERED: usize = 256;

type ComparedPair = (u64, String, String);

#[derive(Debug)]
pub(super) struct Site {
    state: Mutex<State>,
    pub(super) folder: PathBuf,
    pub(super) base: String,
    pub(super) faults: Faults,
    pub(super) calls: Mutex<Vec<LoggedCall>>,
    pub(super) post: Post,
    pub(super) readers: Readers,
    pub(super) feed: broadcast::Sender<FeedEvent>,
    changed: Notify,
    pub(super) saving: Saving,
    /// The number of changes so far; raised under the lock of the state.
    changes: AtomicU64,
    in_file: watch::Sender<u64>,
    /// Held while a state is read and written, so that no older state replaces a newer one in the file. An aborted task
    /// does not stop the write that it began.
    saving_now: Mutex<()>,
    /// Held while one call changes several things, so that the file never holds half of them.
    whole: RwLock<()>,
    retries: AtomicBool,
    gates: Mutex<HashMap<u64, Arc<tokio::sync::Mutex<()>>>>,
    comparisons: Mutex<HashMap<ComparedPair, Arc<Comparison>>>,
    mergeable: Mutex<HashMap<ComparedPair, bool>>,
    /// git's capability advertisement, which is the same for all repositories.
    pub(super) abilities: OnceCell<(HeaderMap, Bytes)>,
}

fn remember<T>(cache: &Mutex<HashMap<ComparedPair, T>>, key: ComparedPair, found: T) {
    let mut known = cache.lock();
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.insert(key, found);
}

impl Site {
    pub(super) fn new(mut state: State, folder: PathBuf, base: String, post: Post, saving: Saving) -> Self {
        state.base.clone_from(&base);
        Self {
            state: Mutex::new(state),
            folder,
            base,
            faults: Faults::default(),
            calls: Mutex::default(),
            post,
            readers: Readers::default(),
            feed: broadcast::Sender::new(1024),
            changed: Notify::new(),
            saving,
            changes: AtomicU64::new(0),
            in_file: watch::Sender::new(0),
            saving_now: Mutex::default(),
            whole: RwLock::new(()),
            retries: AtomicBool::default(),
            gates: Mutex::default(),
            comparisons: Mutex::default(),
            mergeable: Mutex::default(),
            abilities: OnceCell::new(),
        }
    }

    pub(super) fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.lock())
    }

    /// Changes the state, then hands over deliveries, broadcasts feed events and wakes the saving task.
    pub(super) fn change<T>(&self, alter: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock();
        let result = alter(&mut state);
        for delivery in std::mem::take(&mut state.outbox) {
            self.post.hand_over(delivery);
        }
        for event in std::mem::take(&mut state.news) {
            // An error means that nobody watches.
            let _ = self.feed.send(event);
        }
        self.changes.fetch_add(1, Ordering::Relaxed);
        drop(state);
        self.changed.notify_one();
        result
    }

    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Delays saving until the guard is dropped, so that all changes until then are saved together.
    pub(super) async fn whole(&self) -> RwLockReadGuard<'_, ()> {
        self.whole.read().await
    }

    /// Returns once every change so far is in the file; at once unless the forge saves first. The caller must not hold
    /// [`Site::whole`]: saving waits for it, so this would never return.
    pub(super) async fn saved(&self) {
        if self.saving == Saving::First {
            let changes = self.read(|_| self.changes.load(Ordering::Relaxed));
            // The sender lives as long as `self`.
            let _ = self.in_file.subscribe().wait_for(|saved| *saved >= changes).await;
        }
    }

    pub(super) fn file(folder: &Path) -> PathBuf {
        folder.join("forge.json")
    }

    /// Writes the state to the file now.
    pub(super) fn save(&self) -> Result<(), ForgeError> {
        let _saving_now = self.saving_now.lock();
        let (changes, text) = self.read(|state| (self.changes.load(Ordering::Relaxed), serde_json::to_vec(state)));
        let text = text.map_err(|source| ForgeError::NotOurs { place: "memory".to_owned(), source })?;
        disk::save(&Self::file(&self.folder), &text, self.saving)?;
        self.in_file.send_replace(changes);
        Ok(())
    }

    /// Saves after changes, several together. Runs as a task until the forge ends.
    pub(super) async fn keep_saved(self: Arc<Self>) {
        let mut pause = match self.saving {
            Saving::Soon => SAVE_PAUSE,
            Saving::First => Duration::ZERO,
        };
        loop {
            self.changed.notified().await;
            tokio::time::sleep(pause).await;
            let (site, started) = (Arc::clone(&self), tokio::time::Instant::now());
            let whole = self.whole.write().await;
            let saved = tokio::task::spawn_blocking(move || site.save()).await;
            drop(whole);
            let problem = match saved {
                Ok(saved) => saved.err().map(|error| error.to_string()),
                // Otherwise every request would wait for ever with [`Saving::First`].
                Err(lost) if lost.is_panic() => Some("saving panicked".to_owned()),
                // The runtime ends.
                Err(_) => return,
            };
            if let Some(problem) = problem {
                tracing::error!("the forge's memory could not be saved: {problem}");
                tokio::time::sleep(SAVE_AGAIN).await;
                self.changed.notify_one();
            }
            // Writing a large state takes long, so it is written less often: saving takes at most a tenth of the time.
            if self.saving == Saving::Soon {
                pause = SAVE_PAUSE.max(started.elapsed() * 10);
            }
        }
    }

    /// Returns the path of the file that names who is about to move branches of a repository.
    pub(super) fn move_file(&self, repo: u64) -> PathBuf {
        self.folder.join("repositories").join(format!("{repo}.move.json"))
    }

    /// Returns the bare repository of a repository's id.
    pub(super) fn bare(&self, repo: u64) -> BareRepo {
        BareRepo::at(self.folder.join("repositories").join(format!("{repo}.git")))
    }

    /// Locks a repository's refs: only one change of refs runs at a time.
    pub(super) async fn gate(&self, repo: u64) -> tokio::sync::OwnedMutexGuard<()> {
        let gate = Arc::clone(self.gates.lock().entry(repo).or_default());
        gate.lock_owned().await
    }

    /// Returns the changes of `head` since it left `base`; cached.
    pub(super) async fn comparison(&self, repo: u64, base: &str, head: &str) -> Result<Arc<Comparison>> {
        let key = (repo, base.to_owned(), head.to_owned());
        if let Some(known) = self.comparisons.lock().get(&key) {
            return Ok(Arc::clone(known));
        }
        let fresh = Arc::new(self.bare(repo).compare(base, head).await?);
        remember(&self.comparisons, key, Arc::clone(&fresh));
        Ok(fresh)
    }

    /// Returns `true` if `head` merges into `base` without a conflict; cached.
    pub(super) async fn mergeable(&self, repo: u64, base: &str, head: &str) -> Result<bool> {
        let key = (repo, base.to_owned(), head.to_owned());
        if let Some(known) = self.mergeable.lock().get(&key) {
            return Ok(*known);
        }
        let merged = self.bare(repo).merge_tree(None, base, head).await?;
        let clean = matches!(merged, git::bare::BareMerge::Clean(_));
        remember(&self.mergeable, key, clean);
        Ok(clean)
    }

    pub(super) fn retries_until_acknowledged(&self) -> bool {
        self.retries.load(Ordering::Relaxed)
    }

    pub(super) fn set_retry_until_acknowledged(&self, retry: bool) {
        self.retries.store(retry, Ordering::Relaxed);
    }

    pub(super) fn finish_delivery(&self, id: u64, outcome: Outcome) {
        self.change(|state| {
            if self.saving == Saving::First && outcome.acknowledged() {
                state.deliveries.remove(&id);
            } else if let Some(delivery) = state.deliveries.get_mut(&id) {
                delivery.outcome = outcome;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_save_holds_every_change_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let (post, _queue) = Post::new();
        let site = Site::new(State::default(), dir.path().to_owned(), String::new(), post, Saving::Soon);
        let change_and_save = || {
            site.change(|state| state.last_id += 1);
            site.save().unwrap();
        };
        for round in 1..=20 {
            std::thread::scope(|threads| {
                for _ in 0..8 {
                    threads.spawn(change_and_save);
                }
            });
            let saved = disk::load(&Site::file(dir.path())).unwrap();
            assert_eq!((saved.last_id, *site.in_file.borrow()), (8 * round, 8 * round));
        }
    }
}
