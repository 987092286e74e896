//! What people see whom GitHub named: Features of repositories that they may read there. It is asked with the App's own
//! credentials and remembered for two minutes. Operators see everything.

use crate::{
    engine::view::{ListedView, Overview},
    web::{
        Inbox,
        dashboard::{
            Viewer,
            readings::{self, Page, Reading},
        },
    },
};
use domain::ids::{InstallationId, Millis, RepoId, User, UserId};
use futures_util::future::join_all;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// How long an answer of GitHub's holds, in milliseconds.
const HOLDS: i64 = 2 * 60_000;
/// The same where it gave none.
const UNDECIDED_HOLDS: i64 = 10_000;
/// How long GitHub is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Answers that are remembered; all are forgotten where there are more.
const MOST: usize = 50_000;

/// Whether a person may read a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Yes,
    No,
    /// GitHub does not say.
    Undecided,
}

/// Who may read what, as GitHub said it last.
#[derive(Default)]
pub(super) struct Readers(Mutex<HashMap<(RepoId, UserId), (Access, Millis)>>);

impl Readers {
    fn known(&self, key: (RepoId, UserId), now: Millis) -> Option<Access> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (access, until) = known.get(&key).copied()?;
        (now < until).then_some(access)
    }

    fn remember(&self, key: (RepoId, UserId), access: Access, now: Millis) {
        let holds = match access {
            Access::Yes | Access::No => HOLDS,
            Access::Undecided => UNDECIDED_HOLDS,
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, (access, now.plus(holds)));
    }
}

async fn access(inbox: &Inbox, person: &User, (installation, repo): (InstallationId, RepoId)) -> Access {
    let (readers, key) = (&inbox.pages().readers, (repo, person.id));
    // Counted from the question on: an answer that took long is as old.
    let now = inbox.now();
    if let Some(known) = readers.known(key, now) {
        return known;
    }
    let repository = inbox.engine().autobuild.repo(installation, repo);
    let asked = tokio::time::timeout(PATIENCE, repository.may_be_read_by(person)).await;
    let access = match asked {
        Ok(Ok(true)) => Access::Yes,
        Ok(Ok(false)) => Access::No,
        Ok(Err(error)) if error.is_final() => Access::No,
        Ok(Err(error)) => {
            tracing::debug!(%error, %repo, "whether {} may read repository {repo} is unknown", person.login);
            Access::Undecided
        }
        Err(_) => Access::Undecided,
    };
    readers.remember(key, access, now);
    access
}

/// What a page shows to a viewer now.
pub(super) async fn read(inbox: &Arc<Inbox>, viewer: &Viewer, page: Page) -> Reading {
    let reading = readings::read(inbox, page).await;
    instead(inbox, viewer, &reading).await.unwrap_or(reading)
}

/// What a viewer is shown instead of a reading; none: the reading itself.
pub(super) async fn instead(inbox: &Inbox, viewer: &Viewer, reading: &Reading) -> Option<Reading> {
    let person = match viewer {
        Viewer::Person(_, person) => person,
        Viewer::Whole(_) => return None,
    };
    match reading {
        Reading::Overview(overview) => Some(narrowed(inbox, person, overview).await),
        Reading::Feature(view, _) => {
            let place = (view.feature.installation, view.feature.key.repo);
            match Box::pin(access(inbox, person, place)).await {
                Access::Yes => None,
                Access::No => Some(Reading::Gone),
                Access::Undecided => Some(Reading::Undecided),
            }
        }
        // Of the whole service, or of a Feature that nobody knows to be theirs.
        Reading::Queue(_) | Reading::Spending(_) | Reading::Unreadable => Some(Reading::Gone),
        Reading::Gone | Reading::NoDatabase | Reading::Undecided => None,
    }
}

async fn narrowed(inbox: &Inbox, person: &User, overview: &Overview) -> Reading {
    let rows = overview.unfinished.iter().chain(&overview.ended);
    let places: BTreeMap<RepoId, InstallationId> = rows.map(|row| (row.key.repo, row.installation)).collect();
    let asked = places.into_iter().map(async |(repo, installation)| {
        let access = Box::pin(access(inbox, person, (installation, repo))).await;
        (repo, access)
    });
    let known: HashMap<RepoId, Access> = join_all(asked).await.into_iter().collect();
    let has = |wanted: Access| known.values().any(|access| *access == wanted);
    if has(Access::Undecided) && !has(Access::Yes) {
        return Reading::Undecided;
    }
    let theirs = |rows: &[ListedView]| -> Vec<ListedView> {
        let own = rows.iter().filter(|row| known.get(&row.key.repo) == Some(&Access::Yes));
        own.cloned().collect()
    };
    Reading::Overview(Overview {
        unfinished: theirs(&overview.unfinished),
        ended: theirs(&overview.ended),
        ..overview.clone()
    })
}
