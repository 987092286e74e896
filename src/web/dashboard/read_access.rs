//! Limits the pages for a person signed in with GitHub to Features of repositories that they may read there. GitHub is
//! asked with the App's own credentials, once for all who wait for the same answer, and the answer is kept for two
//! minutes. However many people look, most of GitHub's rate limit is left to the App. Operators see everything.

use crate::{
    engine::view::{ListedView, Overview},
    web::{
        dashboard::{
            readings,
            readings::{Extent, Page, Reading},
            sessions::{SessionHolder, Viewer},
        },
        inbox::Inbox,
    },
};
use domain::ids::{InstallationId, Millis, RepoId, User, UserId};
use futures_util::{
    FutureExt, future,
    future::{BoxFuture, Shared, join_all},
};
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};
use tokio::sync::Semaphore;

/// The time for which GitHub's answer is valid, in milliseconds.
const HOLDS: i64 = 2 * 60_000;
/// The same if GitHub gave no answer.
const UNDECIDED_HOLDS: i64 = 10_000;
/// The same for the last answer, while GitHub may not be asked again yet.
const HOLDS_AT_MOST: i64 = 15 * 60_000;
/// The time limit for GitHub's answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most concurrent questions to GitHub.
const AT_ONCE: usize = 8;
/// The most answers that are kept. If there are more, the old ones are dropped, or else all.
const MOST: usize = 50_000;

/// A rate limit: the questions that may be asked in a row, and the milliseconds after which one more is allowed. GitHub
/// allows an App 5,000 requests an hour for an installation.
#[derive(Clone, Copy, Debug)]
struct Rate {
    in_a_row: i64,
    one_more: i64,
}

/// The limit for questions on behalf of one person.
const OF_A_PERSON: Rate = Rate { in_a_row: 200, one_more: 5_000 };
/// The limit for questions with the credentials of one installation.
const OF_AN_INSTALLATION: Rate = Rate { in_a_row: 400, one_more: 2_000 };

/// The person or installation whose questions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Asker {
    Person(UserId),
    Installation(InstallationId),
}

/// The time until which each asker's past questions are paid off, as in a leaky bucket.
#[derive(Debug, Default)]
struct Allowances(HashMap<Asker, Millis>);

impl Allowances {
    /// Returns `true` if all of these may ask one more question, which is then counted.
    fn grant(&mut self, askers: [(Asker, Rate); 2], now: Millis) -> bool {
        if self.0.len() >= MOST {
            self.0.retain(|_, until| *until > now);
        }
        let after = askers.map(|(asker, rate)| {
            let until = self.0.get(&asker).copied().unwrap_or(now).max(now);
            (asker, until.plus(rate.one_more), now.plus(rate.one_more.saturating_mul(rate.in_a_row)))
        });
        let is_granted = after.iter().all(|(_, until, latest)| until <= latest);
        if is_granted {
            self.0.extend(after.map(|(asker, until, _)| (asker, until)));
        }
        is_granted
    }
}

/// A person's right to read a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Yes,
    No,
    /// GitHub did not answer.
    Undecided,
}

impl Access {
    fn holds(self) -> i64 {
        match self {
            Self::Yes | Self::No => HOLDS,
            Self::Undecided => UNDECIDED_HOLDS,
        }
    }
}

/// The repository and the person who wants to read it.
type AccessKey = (RepoId, UserId);

/// A question to GitHub in progress, shared by all who wait for its answer.
type SharedQuestion = Shared<BoxFuture<'static, Access>>;

/// The state of knowledge on one person and repository.
#[derive(Default)]
struct KnownAccess {
    /// The last answer, and the time of its question.
    last: Option<(Access, Millis)>,
    asking: Option<SharedQuestion>,
}

impl KnownAccess {
    /// Returns the last answer, if its age is below the limit that `ms` gives for it.
    fn within(&self, ms: impl Fn(Access) -> i64, now: Millis) -> Option<Access> {
        let (access, at) = self.last?;
        (now < at.plus(ms(access))).then_some(access)
    }
}

/// GitHub's last answers on people's rights, and the questions in progress.
pub(super) struct Readers {
    known: Mutex<(HashMap<AccessKey, KnownAccess>, Allowances)>,
    at_once: Semaphore,
}

impl Default for Readers {
    fn default() -> Self {
        Self { known: Mutex::default(), at_once: Semaphore::new(AT_ONCE) }
    }
}

impl Readers {
    /// Returns the known answer, or the question in progress. It calls `ask` if that answer is old, no question is in
    /// progress, and the rate limit allows it.
    fn answer(
        &self,
        key: AccessKey,
        installation: InstallationId,
        now: Millis,
        ask: impl FnOnce() -> SharedQuestion,
    ) -> SharedQuestion {
        let mut locked = self.known.lock();
        let (all, allowances) = &mut *locked;
        if all.len() >= MOST {
            all.retain(|_, known| known.asking.is_some() || known.within(|_| HOLDS_AT_MOST, now).is_some());
        }
        if all.len() >= MOST {
            all.clear();
        }
        let known = all.entry(key).or_default();
        if let Some(access) = known.within(Access::holds, now) {
            return decided(access);
        }
        if let Some(asking) = known.asking.clone().filter(|asking| asking.peek().is_none()) {
            return asking;
        }
        let askers = [(Asker::Person(key.1), OF_A_PERSON), (Asker::Installation(installation), OF_AN_INSTALLATION)];
        if !allowances.grant(askers, now) {
            return decided(known.within(|_| HOLDS_AT_MOST, now).unwrap_or(Access::Undecided));
        }
        let asking = ask();
        known.asking = Some(asking.clone());
        asking
    }

    /// Keeps GitHub's answer. Its age counts from the question, so a slow answer is already old.
    fn remember(&self, key: AccessKey, access: Access, at: Millis) {
        let known = KnownAccess { last: Some((access, at)), asking: None };
        self.known.lock().0.insert(key, known);
    }
}

/// Returns a question that is answered already.
fn decided(access: Access) -> SharedQuestion {
    future::ready(access).boxed().shared()
}

async fn access(inbox: &Arc<Inbox>, person: &User, installation: InstallationId, repo: RepoId) -> Access {
    let (key, now) = ((repo, person.id), inbox.now());
    let ask = || {
        let (inbox, person) = (Arc::clone(inbox), person.clone());
        // The first asker may leave while the others still wait.
        let asked = tokio::spawn(async move {
            let access = ask_github(&inbox, &person, installation, repo).await;
            inbox.pages.readers.remember(key, access, now);
            access
        });
        asked.map(|ended| ended.unwrap_or(Access::Undecided)).boxed().shared()
    };
    let answer = inbox.pages.readers.answer(key, installation, now, ask);
    tokio::time::timeout(PATIENCE, answer).await.unwrap_or(Access::Undecided)
}

async fn ask_github(inbox: &Inbox, person: &User, installation: InstallationId, repo: RepoId) -> Access {
    let Ok(_one_of_few) = inbox.pages.readers.at_once.acquire().await else {
        return Access::Undecided;
    };
    let repository = inbox.engine.autobuild.repo(installation, repo);
    match tokio::time::timeout(PATIENCE, repository.may_be_read_by(person)).await {
        Ok(Ok(true)) => Access::Yes,
        Ok(Ok(false)) => Access::No,
        Ok(Err(error)) if error.is_final() => Access::No,
        Ok(Err(error)) => {
            tracing::debug!(%error, %repo, "whether {} may read repository {repo} is unknown", person.login);
            Access::Undecided
        }
        Err(_) => Access::Undecided,
    }
}

/// Returns the content of a page for a viewer now.
pub(super) async fn read(inbox: &Arc<Inbox>, viewer: &Viewer, page: Page) -> Reading {
    let reading = readings::read(inbox, page).await;
    instead(inbox, viewer, &reading).await.unwrap_or(reading)
}

/// Returns the reading that a viewer sees in place of this one; `None` for this one.
pub(super) async fn instead(inbox: &Arc<Inbox>, viewer: &Viewer, reading: &Reading) -> Option<Reading> {
    let SessionHolder::Person(person) = &viewer.who else {
        return None;
    };
    match reading {
        Reading::Overview(overview, _) => Some(narrowed(inbox, person, overview).await),
        Reading::Feature(view, _) => {
            let feature = &view.feature;
            match Box::pin(access(inbox, person, feature.installation, feature.key.repo)).await {
                Access::Yes => None,
                Access::No => Some(Reading::Gone),
                Access::Undecided => Some(Reading::Undecided),
            }
        }
        // These are about the whole service, or about a Feature whose repository is unknown.
        Reading::Queue(..) | Reading::Spending(_) | Reading::Unreadable => Some(Reading::Gone),
        Reading::Gone | Reading::NoDatabase | Reading::Undecided => None,
    }
}

async fn narrowed(inbox: &Arc<Inbox>, person: &User, overview: &Overview) -> Reading {
    let rows = overview.unfinished.iter().chain(&overview.ended);
    let places: BTreeMap<RepoId, InstallationId> = rows.map(|row| (row.key.repo, row.installation)).collect();
    let asked = places.into_iter().map(async |(repo, installation)| {
        let access = Box::pin(access(inbox, person, installation, repo)).await;
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
    let overview =
        Overview { unfinished: theirs(&overview.unfinished), ended: theirs(&overview.ended), ..overview.clone() };
    let extent = if has(Access::Undecided) { Extent::PerhapsMore } else { Extent::Theirs };
    Reading::Overview(overview, extent)
}

#[cfg(test)]
mod tests {
    use super::{Access, HOLDS, HOLDS_AT_MOST, MOST, OF_A_PERSON, OF_AN_INSTALLATION, Readers, SharedQuestion};
    use domain::ids::{InstallationId, Millis, RepoId, UserId};
    use futures_util::{FutureExt, future};
    use std::sync::atomic::{AtomicI64, Ordering};

    /// The readers, and the number of questions to GitHub.
    #[derive(Default)]
    struct CountedReaders(Readers, AtomicI64);

    impl CountedReaders {
        /// Returns the answer for a person and repository at a time; GitHub answers at once.
        fn of(&self, (person, repo): (u64, u64), access: Access, now: i64) -> Access {
            let (key, now) = ((RepoId(repo), UserId(person)), Millis(now));
            let mut is_asked = false;
            let answer = self.0.answer(key, InstallationId(1), now, || {
                self.1.fetch_add(1, Ordering::Relaxed);
                is_asked = true;
                future::ready(access).boxed().shared()
            });
            let answer = answer.now_or_never().unwrap();
            if is_asked {
                self.0.remember(key, answer, now);
            }
            answer
        }

        fn times(&self) -> i64 {
            self.1.swap(0, Ordering::Relaxed)
        }
    }

    #[test]
    fn whoever_has_the_same_question_waits_for_the_same_answer() {
        let readers = Readers::default();
        let (key, now) = ((RepoId(1), UserId(1)), Millis(0));
        let ask = || -> SharedQuestion { future::pending().boxed().shared() };
        let first = readers.answer(key, InstallationId(1), now, ask);
        let second =
            readers.answer(key, InstallationId(1), now, || -> SharedQuestion { panic!("it is asked already") });
        assert!(first.ptr_eq(&second));
    }

    #[test]
    fn one_person_asks_a_few_questions_however_many_pages_they_open() {
        let asked = CountedReaders::default();
        let repos = 1..=2 * u64::try_from(OF_A_PERSON.in_a_row).unwrap();
        for second in 0..60 {
            for repo in repos.clone() {
                asked.of((1, repo), Access::No, second * 1_000);
            }
        }
        assert_eq!(asked.times(), OF_A_PERSON.in_a_row + 59_000 / OF_A_PERSON.one_more);
        assert_eq!(asked.of((2, 1), Access::Yes, 60_000), Access::Yes, "others ask on");
    }

    #[test]
    fn many_people_leave_the_app_most_of_what_it_may_ask() {
        let asked = CountedReaders::default();
        let hour = 3_600_000;
        for now in (0..=hour).step_by(500) {
            for stranger in 0..3 {
                asked.of((u64::try_from(now).unwrap() + stranger, 1), Access::No, now);
            }
        }
        assert_eq!(asked.times(), OF_AN_INSTALLATION.in_a_row + hour / OF_AN_INSTALLATION.one_more);
    }

    #[test]
    fn where_nobody_may_ask_the_last_answer_holds_for_a_quarter_of_an_hour() {
        let asked = CountedReaders::default();
        assert_eq!(asked.of((1, 1), Access::Yes, 0), Access::Yes);
        let strangers = 2 * u64::try_from(OF_AN_INSTALLATION.in_a_row).unwrap();
        let crowd = |now| {
            for stranger in 2..strangers {
                asked.of((stranger, 2), Access::No, now);
            }
        };
        crowd(HOLDS);
        asked.times();
        assert_eq!(asked.of((1, 1), Access::No, HOLDS), Access::Yes);
        crowd(HOLDS_AT_MOST - 1);
        asked.times();
        assert_eq!(asked.of((1, 1), Access::No, HOLDS_AT_MOST - 1), Access::Yes);
        crowd(HOLDS_AT_MOST);
        asked.times();
        assert_eq!(asked.of((1, 1), Access::Yes, HOLDS_AT_MOST), Access::Undecided);
        assert_eq!(asked.times(), 0);
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let readers = Readers::default();
        for repo in 0..=u64::try_from(MOST).unwrap() {
            readers.remember((RepoId(repo), UserId(1)), Access::No, Millis(0));
        }
        let answer = readers.answer((RepoId(1), UserId(2)), InstallationId(1), Millis(HOLDS_AT_MOST), || {
            future::ready(Access::No).boxed().shared()
        });
        assert_eq!(answer.now_or_never(), Some(Access::No));
        assert_eq!(readers.known.lock().0.len(), 1);
    }
}
