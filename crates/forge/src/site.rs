//! The running forge: its memory behind a lock, its folder, and what happens after each change.

use super::{
    disk,
    disk::ForgeError,
    faults::Faults,
    feed::FeedEvent,
    hooks::Post,
    log::CallLog,
    refusal::Result,
    state::{Outcome, State},
};
use git::bare::{BareRepo, Comparison};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::{Notify, broadcast};

/// Changes within this time, or longer where saving takes long, are saved together.
const SAVE_PAUSE: Duration = Duration::from_millis(100);
/// More remembered comparisons than this are forgotten at once.
const REMEMBERED: usize = 256;

type Pair = (u64, String, String);

/// The running forge.
#[derive(Debug)]
pub(super) struct Site {
    state: Mutex<State>,
    folder: PathBuf,
    pub(super) base: String,
    pub(super) faults: Faults,
    pub(super) calls: CallLog,
    pub(super) post: Post,
    pub(super) feed: broadcast::Sender<FeedEvent>,
    changed: Notify,
    retries: AtomicBool,
    gates: Mutex<HashMap<u64, Arc<tokio::sync::Mutex<()>>>>,
    comparisons: Mutex<HashMap<Pair, Arc<Comparison>>>,
    mergeable: Mutex<HashMap<Pair, bool>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Site {
    pub(super) fn new(mut state: State, folder: PathBuf, base: String, post: Post, retries: bool) -> Self {
        state.base.clone_from(&base);
        Self {
            state: Mutex::new(state),
            folder,
            base,
            faults: Faults::default(),
            calls: CallLog::default(),
            post,
            feed: broadcast::Sender::new(1024),
            changed: Notify::new(),
            retries: AtomicBool::new(retries),
            gates: Mutex::default(),
            comparisons: Mutex::default(),
            mergeable: Mutex::default(),
        }
    }

    /// Looks at the memory.
    pub(super) fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&lock(&self.state))
    }

    /// Changes the memory; what that causes (deliveries, news, a save) follows.
    pub(super) fn change<T>(&self, alter: impl FnOnce(&mut State) -> T) -> T {
        let mut state = lock(&self.state);
        let result = alter(&mut state);
        for delivery in std::mem::take(&mut state.outbox) {
            self.post.hand_over(delivery);
        }
        for event in std::mem::take(&mut state.news) {
            // Nobody watching is fine.
            let _ = self.feed.send(event);
        }
        drop(state);
        self.changed.notify_one();
        result
    }

    /// The file that holds the memory.
    pub(super) fn file(folder: &Path) -> PathBuf {
        folder.join("forge.json")
    }

    /// Writes the memory down now.
    pub(super) fn save(&self) -> Result<(), ForgeError> {
        let text = self.read(serde_json::to_vec).map_err(|source| ForgeError::NotOurs {
            place: "memory".to_owned(),
            source,
        })?;
        disk::save(&Self::file(&self.folder), &text)
    }

    /// Saves after changes, several together, until the site is gone.
    pub(super) async fn keep_saved(self: Arc<Self>) {
        let mut pause = SAVE_PAUSE;
        loop {
            self.changed.notified().await;
            tokio::time::sleep(pause).await;
            let (site, started) = (Arc::clone(&self), tokio::time::Instant::now());
            match tokio::task::spawn_blocking(move || site.save()).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::error!(%error, "the forge's memory could not be saved"),
                Err(_) => return,
            }
            // A large memory takes long to write: it is written less often, so that saving never fills the time.
            pause = SAVE_PAUSE.max(started.elapsed() * 10);
        }
    }

    /// The folder whose hooks guard pushes.
    pub(super) fn hooks_folder(&self) -> PathBuf {
        self.folder.join("hooks")
    }

    /// The bare repository behind a repository's id.
    pub(super) fn bare(&self, repo: u64) -> BareRepo {
        BareRepo::at(self.folder.join("repositories").join(format!("{repo}.git")))
    }

    /// One change of refs at a time in each repository.
    pub(super) async fn gate(&self, repo: u64) -> tokio::sync::OwnedMutexGuard<()> {
        let gate = Arc::clone(lock(&self.gates).entry(repo).or_default());
        gate.lock_owned().await
    }

    /// What `head` changes since it left `base`, remembered.
    pub(super) async fn comparison(&self, repo: u64, base: &str, head: &str) -> Result<Arc<Comparison>> {
        let key = (repo, base.to_owned(), head.to_owned());
        if let Some(known) = lock(&self.comparisons).get(&key) {
            return Ok(Arc::clone(known));
        }
        let fresh = Arc::new(self.bare(repo).compare(base, head).await?);
        let mut known = lock(&self.comparisons);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key, Arc::clone(&fresh));
        Ok(fresh)
    }

    /// Whether `head` merges into `base` without conflict, remembered.
    pub(super) async fn mergeable(&self, repo: u64, base: &str, head: &str) -> Result<bool> {
        let key = (repo, base.to_owned(), head.to_owned());
        if let Some(known) = lock(&self.mergeable).get(&key) {
            return Ok(*known);
        }
        let merged = self.bare(repo).merge_tree(None, base, head).await?;
        let clean = matches!(merged, git::bare::Merged::Clean(_));
        let mut known = lock(&self.mergeable);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key, clean);
        Ok(clean)
    }

    pub(super) fn retries_deliveries(&self) -> bool {
        self.retries.load(Ordering::Relaxed)
    }

    pub(super) fn retry_deliveries(&self, retry: bool) {
        self.retries.store(retry, Ordering::Relaxed);
    }

    pub(super) fn finish_delivery(&self, id: u64, outcome: Outcome) {
        self.change(|state| {
            if let Some(delivery) = state.deliveries.get_mut(&id) {
                delivery.outcome = outcome;
            }
        });
    }
}
