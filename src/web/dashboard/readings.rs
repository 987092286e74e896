//! Reads the content of pages, once for all viewers of the same page.

use crate::{
    engine::{
        Engine,
        figures::{CountedFeatures, Figures},
        own_thread::on_own_thread,
        queue::Queue,
        replay::ReplayStatus,
        sweep::SweepStatus,
        view::{FeatureCache, FeatureView, Overview, ViewError, WorkView},
    },
    web::{
        dashboard::{read_access::Readers, sessions::Sessions, streams::OpenStreams},
        inbox::Inbox,
    },
};
use domain::ids::{FeatureKey, InstallationId, Millis, RepoId};
use parking_lot::Mutex;
use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::sync::watch;

/// The longest time until a change without a wakeup, such as an agent's progress, is shown.
const LATEST: Duration = Duration::from_secs(1);
/// The pause after a wakeup, so that many changes at once cause one reading.
const TOGETHER: Duration = Duration::from_millis(150);
/// The time in milliseconds after which an unknown repository name is asked for again.
const NAME_AGAIN: i64 = 10 * 60_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Page {
    Overview,
    Queue,
    /// The figures on money and success.
    Spending,
    Feature(FeatureKey),
}

/// The part of all work that an overview shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Everything,
    /// The work in repositories that a person may read on GitHub.
    Theirs,
    /// The same, but GitHub has not answered for all repositories yet.
    PerhapsMore,
}

/// The content of a page at one moment.
#[derive(Debug, PartialEq)]
pub(super) enum Reading {
    Overview(Overview, Extent),
    Feature(Box<FeatureView>, WorkView),
    Queue(Queue, ReplayStatus, SweepStatus),
    Spending(Figures),
    /// There is no such Feature.
    Gone,
    /// The stored data cannot be decoded.
    Unreadable,
    /// The database does not answer.
    NoDatabase,
    /// It is not known from GitHub yet if the viewer may see it.
    Undecided,
}

/// A receiver of a page's newest reading; `None` before the first.
pub(super) type RunActivity = watch::Receiver<Option<Arc<Reading>>>;

/// An open page: its newest reading, and the lock for reading. A reading begins only after the one before it was shown,
/// so that nobody sees an older reading after a newer one.
#[derive(Default)]
struct OpenPage {
    newest: watch::Sender<Option<Arc<Reading>>>,
    turn: tokio::sync::Mutex<()>,
}

/// The open pages. Each lives as long as the task that reads it.
type OpenByPage = HashMap<Page, Weak<OpenPage>>;

/// The pages that any viewer has open, and the caches for reading them.
#[derive(Default)]
pub(in crate::web) struct OpenPages {
    open: Mutex<OpenByPage>,
    features: FeatureCache,
    counted: CountedFeatures,
    names: AskedNames,
    pub(super) sessions: Sessions,
    pub(super) readers: Readers,
    pub(super) streams: OpenStreams,
}

impl OpenPages {
    /// Adds a viewer to a page. If the viewer is the first (`true`), the caller must start the page's reader.
    fn join(&self, page: Page) -> (RunActivity, Arc<OpenPage>, bool) {
        let mut open = self.open.lock();
        if let Some(joined) = open.get(&page).and_then(Weak::upgrade) {
            return (joined.newest.subscribe(), joined, false);
        }
        let opened = Arc::<OpenPage>::default();
        open.insert(page, Arc::downgrade(&opened));
        (opened.newest.subscribe(), opened, true)
    }

    /// Closes a page that has no viewer any more; returns `true` if it did.
    fn is_left(&self, page: Page, left: &OpenPage) -> bool {
        let mut open = self.open.lock();
        let is_left = left.newest.is_closed();
        if is_left {
            open.remove(&page);
        }
        is_left
    }
}

/// Follows a page: one reader serves all its viewers. The first reading is no older than this call: a browser that just
/// got an answer must not be set back to an older state.
pub(super) async fn follow(inbox: &Arc<Inbox>, page: Page) -> RunActivity {
    let (seen, open, is_first) = inbox.pages.join(page);
    if is_first {
        tokio::spawn(keep_reading(Arc::clone(inbox), page, open));
    } else {
        show_newest(inbox, page, &open).await;
    }
    seen
}

/// Reads a page again whenever something changed, until it has no viewer or the service stops.
async fn keep_reading(inbox: Arc<Inbox>, page: Page, open: Arc<OpenPage>) {
    let mut wakeups = inbox.engine.store.wakeups();
    loop {
        show_newest(&inbox, page, &open).await;
        tokio::select! {
            () = inbox.draining.cancelled() => break,
            () = open.newest.closed() => {}
            () = wakeups.next() => tokio::time::sleep(TOGETHER).await,
            () = tokio::time::sleep(LATEST) => {}
        }
        if inbox.pages.is_left(page, &open) {
            return;
        }
    }
    inbox.pages.open.lock().remove(&page);
}

/// Reads a page once, and shows it to all its viewers.
async fn show_newest(inbox: &Arc<Inbox>, page: Page, open: &OpenPage) {
    let _turn = open.turn.lock().await;
    let reader = Arc::clone(inbox);
    let (reading, error) = on_own_thread(async move { look(&reader, page).await }).await;
    let is_news = open.newest.send_if_modified(|shown| {
        let is_new = shown.as_deref() != Some(&reading);
        if is_new {
            *shown = Some(Arc::new(reading));
        }
        is_new
    });
    error.iter().filter(|_| is_news).for_each(warn);
}

/// Returns the present content of a page.
pub(super) async fn read(inbox: &Arc<Inbox>, page: Page) -> Reading {
    let (reading, error) = look(inbox, page).await;
    error.iter().for_each(warn);
    reading
}

fn warn(error: &ViewError) {
    tracing::warn!(%error, "a page could not be made");
}

/// Returns the present content of a page, and the error if there is one.
async fn look(inbox: &Arc<Inbox>, page: Page) -> (Reading, Option<ViewError>) {
    match try_read(&inbox.engine, &inbox.pages, page).await {
        Ok(reading) => {
            learn_names(inbox, &reading);
            (reading, None)
        }
        Err(error) => (Reading::from(&error), Some(error)),
    }
}

impl From<&ViewError> for Reading {
    fn from(error: &ViewError) -> Self {
        if error.is_unreadable() { Self::Unreadable } else { Self::NoDatabase }
    }
}

async fn try_read(engine: &Engine, pages: &OpenPages, page: Page) -> Result<Reading, ViewError> {
    Ok(match page {
        Page::Overview => Reading::Overview(engine.overview(&pages.features).await?, Extent::Everything),
        Page::Queue => Reading::Queue(
            Queue::of(&engine.store, engine.now()).await?,
            engine.replay_status().await?,
            engine.sweep_status().await?,
        ),
        Page::Spending => Reading::Spending(engine.figures(&pages.counted).await?),
        Page::Feature(key) => match engine.feature_view(&key).await? {
            Some(view) => Reading::Feature(Box::new(view), engine.work_to_show(&key).await?),
            None => Reading::Gone,
        },
    })
}

/// Asks GitHub for missing names in the background; the next reading has them.
fn learn_names(inbox: &Arc<Inbox>, reading: &Reading) {
    let shown: BTreeSet<(InstallationId, RepoId)> = match reading {
        Reading::Overview(overview, _) => {
            let rows = overview.unfinished.iter().chain(&overview.ended);
            rows.map(|row| (row.installation, row.key.repo)).collect()
        }
        Reading::Feature(view, _) => [(view.feature.installation, view.feature.key.repo)].into(),
        Reading::Spending(figures) => {
            let spent = figures.spent.iter();
            spent.map(|spent| (spent.installation, spent.repo)).collect()
        }
        Reading::Queue(..) | Reading::Gone | Reading::Unreadable | Reading::NoDatabase | Reading::Undecided => return,
    };
    let due = inbox.pages.names.due(shown, inbox.now());
    if due.is_empty() {
        return;
    }
    let inbox = Arc::clone(inbox);
    tokio::spawn(async move {
        for (installation, repo) in due {
            inbox.engine.refresh_name(installation, repo).await;
        }
    });
}

/// The time at which each repository's name was asked for, since a name that GitHub does not give must not be asked for
/// at every reading.
#[derive(Default)]
struct AskedNames(Mutex<HashMap<RepoId, Millis>>);

impl AskedNames {
    fn due(&self, shown: BTreeSet<(InstallationId, RepoId)>, now: Millis) -> Vec<(InstallationId, RepoId)> {
        let mut asked = self.0.lock();
        asked.retain(|_, at| now.0.saturating_sub(at.0) < NAME_AGAIN);
        let mut due = Vec::new();
        for (installation, repo) in shown {
            if let Entry::Vacant(never) = asked.entry(repo) {
                never.insert(now);
                due.push((installation, repo));
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::{AskedNames, OpenPages, Page, Reading};
    use domain::ids::{InstallationId, Millis, RepoId};
    use std::sync::Arc;

    #[test]
    fn everybody_who_looks_at_a_page_shares_one_reader() {
        let pages = OpenPages::default();
        let (one, open, is_first) = pages.join(Page::Overview);
        assert!(is_first);
        let (two, same, is_first_again) = pages.join(Page::Overview);
        assert!(!is_first_again);
        assert!(Arc::ptr_eq(&open, &same));
        open.newest.send_replace(Some(Arc::new(Reading::Gone)));
        assert_eq!(*one.borrow(), *two.borrow());
        drop(one);
        assert!(!pages.is_left(Page::Overview, &open));
        drop(two);
        assert!(pages.is_left(Page::Overview, &open));
        assert!(pages.join(Page::Overview).2);
    }

    #[test]
    fn a_name_is_asked_for_once_in_ten_minutes_however_often_somebody_looks() {
        let names = AskedNames::default();
        let of = |repo: u64| (InstallationId(1), RepoId(repo));
        let due = |repos: &[u64], ms: i64| names.due(repos.iter().map(|repo| of(*repo)).collect(), Millis(ms));
        assert_eq!(due(&[1, 2], 0), [of(1), of(2)]);
        assert_eq!(due(&[1, 2], 1_000), []);
        assert_eq!(due(&[1, 2, 3], 599_999), [of(3)]);
        assert_eq!(due(&[1, 2, 3], 600_000), [of(1), of(2)]);
    }
}
