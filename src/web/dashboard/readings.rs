//! What pages show, read once for everybody who has the same page open.

use crate::{
    engine::{
        Engine,
        figures::{Counted, Figures},
        queue::Queue,
        view::{FeatureView, Overview, SeenFeatures, ViewError, WorkView},
    },
    web::{
        dashboard::{sessions::Sessions, sight::Readers, streams::OpenStreams},
        inbox::Inbox,
    },
};
use domain::ids::{FeatureKey, InstallationId, Millis, RepoId};
use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};
use tokio::sync::watch;

/// What is written without telling others, as an agent's progress, shows after this time at the latest.
const LATEST: Duration = Duration::from_secs(1);
/// Many changes at once are one.
const TOGETHER: Duration = Duration::from_millis(150);
/// How soon a name that GitHub did not tell is asked for again, in milliseconds.
const NAME_AGAIN: i64 = 10 * 60_000;

/// A page that follows the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Page {
    /// All work.
    Overview,
    /// What is to be done.
    Queue,
    /// Money and success.
    Spending,
    /// One Feature.
    Feature(FeatureKey),
}

/// How much of all work an overview shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Everything,
    /// What a person may read on GitHub.
    Theirs,
    /// The same, as far as GitHub said it by now.
    PerhapsMore,
}

/// What is known of it at one moment.
#[derive(Debug, PartialEq)]
pub(super) enum Reading {
    Overview(Overview, Extent),
    Feature(Box<FeatureView>, WorkView),
    Queue(Queue),
    Spending(Figures),
    /// There is no such Feature.
    Gone,
    /// What is stored cannot be read.
    Unreadable,
    /// The database does not answer.
    NoDatabase,
    /// GitHub does not say whether who asks may see it.
    Undecided,
}

/// The newest reading, from the first on.
pub(super) type Seen = watch::Receiver<Option<Arc<Reading>>>;

/// An open page: its newest reading, and whose turn it is to read. A reading begins after the one before it was shown, so
/// that nobody is shown an older one after a newer.
#[derive(Default)]
struct OpenPage {
    newest: watch::Sender<Option<Arc<Reading>>>,
    turn: tokio::sync::Mutex<()>,
}

/// Who comes to an open page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joined {
    First,
    Later,
}

/// The open pages. Each lives as long as its reader.
type Open = HashMap<Page, Weak<OpenPage>>;

/// The pages that are open anywhere, and what is remembered between two looks at them.
#[derive(Default)]
pub(in crate::web) struct OpenPages {
    open: Mutex<Open>,
    features: SeenFeatures,
    counted: Counted,
    names: AskedNames,
    pub(super) sessions: Sessions,
    pub(super) readers: Readers,
    pub(super) streams: OpenStreams,
}

impl OpenPages {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What one more looks at, and whether they are the first, whose reader is still to be started.
    fn join(&self, page: Page) -> (Seen, Arc<OpenPage>, Joined) {
        let mut open = self.open();
        if let Some(joined) = open.get(&page).and_then(Weak::upgrade) {
            return (joined.newest.subscribe(), joined, Joined::Later);
        }
        let opened = Arc::<OpenPage>::default();
        open.insert(page, Arc::downgrade(&opened));
        (opened.newest.subscribe(), opened, Joined::First)
    }

    /// Closes a page that nobody looks at any more.
    fn is_left(&self, page: Page, left: &OpenPage) -> bool {
        let mut open = self.open();
        let is_left = left.newest.is_closed();
        if is_left {
            open.remove(&page);
        }
        is_left
    }
}

/// Follows a page: one reader serves all who do. What is seen first is no older than this call: a browser that was just
/// answered must not be put back to what was before.
pub(super) async fn follow(inbox: &Arc<Inbox>, page: Page) -> Seen {
    let (seen, open, joined) = inbox.pages().join(page);
    match joined {
        Joined::First => drop(tokio::spawn(keep_reading(Arc::clone(inbox), page, open))),
        Joined::Later => show_newest(inbox, page, &open).await,
    }
    seen
}

/// Reads again whenever something changed, until nobody looks or the service stops.
async fn keep_reading(inbox: Arc<Inbox>, page: Page, open: Arc<OpenPage>) {
    let mut wakeups = inbox.store().wakeups();
    loop {
        show_newest(&inbox, page, &open).await;
        tokio::select! {
            () = inbox.drained() => break,
            () = open.newest.closed() => {}
            () = wakeups.next() => tokio::time::sleep(TOGETHER).await,
            () = tokio::time::sleep(LATEST) => {}
        }
        if inbox.pages().is_left(page, &open) {
            return;
        }
    }
    inbox.pages().open().remove(&page);
}

/// Reads a page once, and shows it to all who follow it.
async fn show_newest(inbox: &Arc<Inbox>, page: Page, open: &OpenPage) {
    let _turn = open.turn.lock().await;
    let (reading, error) = look(inbox, page).await;
    let is_news = open.newest.send_if_modified(|shown| {
        let is_new = shown.as_deref() != Some(&reading);
        if is_new {
            *shown = Some(Arc::new(reading));
        }
        is_new
    });
    error.iter().filter(|_| is_news).for_each(warn);
}

/// What a page shows now.
pub(super) async fn read(inbox: &Arc<Inbox>, page: Page) -> Reading {
    let (reading, error) = look(inbox, page).await;
    error.iter().for_each(warn);
    reading
}

fn warn(error: &ViewError) {
    tracing::warn!(%error, "a page could not be made");
}

/// What a page shows now, and what prevents it from showing more.
async fn look(inbox: &Arc<Inbox>, page: Page) -> (Reading, Option<ViewError>) {
    match try_read(inbox.engine(), inbox.pages(), page).await {
        Ok(reading) => {
            learn_names(inbox, &reading);
            (reading, None)
        }
        Err(error) => match error.is_unreadable() {
            true => (Reading::Unreadable, Some(error)),
            false => (Reading::NoDatabase, Some(error)),
        },
    }
}

async fn try_read(engine: &Engine, pages: &OpenPages, page: Page) -> Result<Reading, ViewError> {
    Ok(match page {
        Page::Overview => Reading::Overview(engine.overview(&pages.features).await?, Extent::Everything),
        Page::Queue => Reading::Queue(engine.queue().await?),
        Page::Spending => Reading::Spending(engine.figures(&pages.counted).await?),
        Page::Feature(key) => match engine.feature_to_show(&key).await? {
            Some(view) => Reading::Feature(Box::new(view), engine.work_to_show(&key).await?),
            None => Reading::Gone,
        },
    })
}

/// Asks GitHub beside the reading, which waits for nobody: the next one has the names.
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
        Reading::Queue(_) | Reading::Gone | Reading::Unreadable | Reading::NoDatabase | Reading::Undecided => return,
    };
    let due = inbox.pages().names.due(shown, inbox.now());
    if due.is_empty() {
        return;
    }
    let inbox = Arc::clone(inbox);
    tokio::spawn(async move {
        for (installation, repo) in due {
            inbox.engine().hear_name(installation, repo).await;
        }
    });
}

/// When which repository's name was asked for: one that GitHub does not tell must not be asked for at every look.
#[derive(Default)]
struct AskedNames(Mutex<HashMap<RepoId, Millis>>);

impl AskedNames {
    /// Those whose turn it is, from now on counted as asked.
    fn due(&self, shown: BTreeSet<(InstallationId, RepoId)>, now: Millis) -> Vec<(InstallationId, RepoId)> {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
    use super::{AskedNames, Joined, OpenPages, Page, Reading};
    use domain::ids::{InstallationId, Millis, RepoId};
    use std::sync::Arc;

    #[test]
    fn everybody_who_looks_at_a_page_shares_one_reader() {
        let pages = OpenPages::default();
        let (one, open, joined) = pages.join(Page::Overview);
        assert_eq!(joined, Joined::First);
        let (two, same, joined) = pages.join(Page::Overview);
        assert_eq!(joined, Joined::Later);
        assert!(Arc::ptr_eq(&open, &same));
        open.newest.send_replace(Some(Arc::new(Reading::Gone)));
        assert_eq!(*one.borrow(), *two.borrow());
        drop(one);
        assert!(!pages.is_left(Page::Overview, &open));
        drop(two);
        assert!(pages.is_left(Page::Overview, &open));
        assert_eq!(pages.join(Page::Overview).2, Joined::First);
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
