//! Compares a Feature with GitHub, and finds the events there that AutoBuild does not know. Each difference represents
//! the fact that a webhook would have brought.

use crate::{
    command::{Parsed, parse},
    feature::{
        event::{Event, NewerRun},
        feature::Feature,
        state::CancelledWhy,
        step,
    },
    ids::{CommentId, Millis, PullNumber, ReviewId, Sha, TaskId, User, UserId},
    task,
    task::{PersonDid, Task},
};
use std::collections::{BTreeMap, BTreeSet};

/// GitHub's state of a Feature's issue and of the work for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteWork {
    /// The repository can be changed, or only read.
    pub access: Access,
    /// The head of the default branch; `None` if the repository is empty.
    pub default_head: Option<Sha>,
    /// The issue; `None` if it was deleted or moved to another repository.
    pub issue: Option<RemoteIssue>,
    /// The heads of this run's branches.
    pub branches: BTreeMap<String, Sha>,
    /// The pull requests from or into the integration branch.
    pub pulls: BTreeMap<PullNumber, RemotePull>,
}

/// The access that people have to a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// People with write access can change it.
    Writable,
    /// Nobody can change it: it is archived.
    Archived,
}

/// An issue on GitHub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteIssue {
    /// Open or closed.
    pub state: RemoteState,
    /// Its newest entries, the oldest first.
    pub timeline: Vec<TimelineEntry>,
}

/// A pull request on GitHub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemotePull {
    /// Open, closed or merged.
    pub state: RemoteState,
    /// The account that merged it, if GitHub names it.
    pub merged_by: Option<RemoteAccount>,
    /// Its newest entries, the oldest first.
    pub timeline: Vec<TimelineEntry>,
}

/// The state of an issue or pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteState {
    Open,
    /// Closed; a pull request without a merge.
    Closed,
    Merged,
}

/// An account on GitHub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteAccount {
    /// Its id and login.
    pub user: User,
    /// A person or a program.
    pub kind: AccountType,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccountType {
    Person,
    /// An App or another bot.
    Bot,
    /// An organisation, a mannequin, or a type that we do not know.
    #[default]
    Other,
}

/// Something that happened to an issue or pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEntry {
    /// GitHub's time.
    pub at: Millis,
    /// The account that did it; `None` for a deleted one.
    pub by: Option<RemoteAccount>,
    pub change: TimelineChange,
}

/// The changes that matter to a Feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimelineChange {
    /// It was closed or merged.
    Closed,
    /// It was opened again.
    Reopened,
    /// This label was removed.
    Unlabeled(String),
    /// A comment that was not edited since.
    Commented { id: CommentId, body: String },
    /// A review that still counts.
    Reviewed(ReviewId),
    /// A review that was dismissed.
    Dismissed(ReviewId),
}

/// A fact that GitHub has and the Feature does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The account that caused it, if GitHub names it here.
    pub by: Option<RemoteAccount>,
    pub fact: RemoteFact,
}

/// The facts that a sweep brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteFact {
    /// This branch has another head.
    BranchMoved(String),
    /// The integration branch is gone.
    BranchDeleted,
    /// The default branch has this head.
    DefaultMoved(Sha),
    /// This pull request was closed or merged.
    PullClosed(PullNumber),
    /// This pull request was opened again.
    PullReopened(PullNumber),
    /// This comment on the issue (`None`) or on a pull request holds a command.
    Commented(Option<PullNumber>, CommentId),
    Reviewed(PullNumber, ReviewId),
    Dismissed(PullNumber, ReviewId),
    /// This label of the Feature was removed.
    Unlabeled(String),
    IssueClosed,
    /// The issue was deleted or moved to another repository.
    IssueGone,
    Archived,
}

/// A Feature as it is stored, with the recorded facts about it.
#[derive(Clone, Copy, Debug)]
pub struct StoredWork<'a> {
    pub feature: &'a Feature,
    pub label: &'a str,
    pub causes: &'a BTreeSet<String>,
}

/// Compares the Feature with GitHub. A fact counts only if it would change the Feature, or if it is a command or review
/// that was never recorded. Facts that end the Feature come last.
pub fn compare(stored: StoredWork<'_>, remote: &RemoteWork) -> Vec<Difference> {
    let mut found = pulls(stored, remote);
    found.extend(heads(stored, remote));
    found.extend(unrecorded_commands_and_reviews(stored, remote));
    found.extend(cancellations(stored, remote));
    found
}

/// The person in events that are only tried out: GitHub's account for deleted users.
fn somebody() -> User {
    User { id: UserId(10_137), login: "ghost".to_owned() }
}

impl StoredWork<'_> {
    /// `true` if the event would change the Feature. The time does not matter for that.
    fn changes(&self, event: Event) -> bool {
        step::step(self.feature.clone(), event, Millis(0)).feature != *self.feature
    }

    fn changed_by(&self, task: TaskId, did: PersonDid) -> bool {
        let by = somebody();
        let event = task::Event::Person { by, did };
        self.changes(Event::Task { task, event })
    }

    fn has(&self, cause: &str) -> bool {
        self.causes.contains(cause)
    }

    fn count(&self, prefix: &str) -> usize {
        self.causes.iter().filter(|cause| cause.starts_with(prefix)).count()
    }

    /// `true` if a review, or a command or refusal that it led to, was recorded.
    fn has_review(&self, id: ReviewId) -> bool {
        let parts = ["", "/command", "/refused"];
        parts.iter().any(|part| self.has(&format!("review/{id}{part}")))
    }
}

impl Feature {
    /// Returns its pull requests whose end would change it.
    pub fn watched_pulls(&self) -> impl Iterator<Item = PullNumber> {
        let of_tasks = self.tasks.iter().filter(|task| !task.is_over()).filter_map(|task| task.pull);
        self.pull.into_iter().chain(of_tasks)
    }
}

fn difference(by: Option<&RemoteAccount>, fact: RemoteFact) -> Difference {
    Difference { by: by.cloned(), fact }
}

/// Returns the branches whose heads differ.
fn heads(stored: StoredWork<'_>, remote: &RemoteWork) -> Vec<Difference> {
    let feature = stored.feature;
    let mut moved = Vec::new();
    for task in &feature.tasks {
        let head = remote.branches.get(&task.branch).filter(|head| task.head.as_ref() != Some(head));
        if head.is_some_and(|head| stored.changed_by(task.id, PersonDid::Push { head: head.clone() })) {
            moved.push(difference(None, RemoteFact::BranchMoved(task.branch.clone())));
        }
    }
    let integration = feature.integration_branch();
    let head = remote.branches.get(&integration).cloned();
    if head.is_some_and(|head| stored.changes(Event::IntegrationPushed { head })) {
        moved.push(difference(None, RemoteFact::BranchMoved(integration)));
    }
    let tested = feature.preflight.as_ref().map(|preflight| &preflight.commit);
    let is_news = |head: &Sha| {
        tested != Some(head)
            && !stored.has(&format!("default/{head}"))
            && stored.changes(Event::DefaultPushed { head: head.clone() })
    };
    let fresh = remote.default_head.clone().filter(is_news);
    moved.extend(fresh.map(|head| difference(None, RemoteFact::DefaultMoved(head))));
    moved
}

/// Returns the pull requests that people closed, merged or opened again.
fn pulls(stored: StoredWork<'_>, remote: &RemoteWork) -> Vec<Difference> {
    let feature = stored.feature;
    let of_tasks = feature.tasks.iter().filter_map(|task| Some((task.pull?, Some(task))));
    let all = feature.pull.map(|pull| (pull, None)).into_iter().chain(of_tasks);
    all.filter_map(|(number, task)| of_pull(stored, number, remote.pulls.get(&number)?, task)).collect()
}

fn of_pull(stored: StoredWork<'_>, number: PullNumber, pull: &RemotePull, task: Option<&Task>) -> Option<Difference> {
    let by = |change: &TimelineChange| {
        let mut entries = pull.timeline.iter().rev();
        entries.find(|entry| entry.change == *change).and_then(|entry| entry.by.as_ref())
    };
    let is_news = match (pull.state, task) {
        (RemoteState::Merged, None) => stored.changes(Event::PullMerged { pull: number }),
        (RemoteState::Merged, Some(task)) => {
            stored.changed_by(task.id, PersonDid::MergePull { commit: None, head: None })
        }
        (RemoteState::Closed, None) => stored.changes(Event::Cancelled(CancelledWhy::PullClosed(somebody()))),
        (RemoteState::Closed, Some(task)) => stored.changed_by(task.id, PersonDid::ClosePull { pull: number }),
        (RemoteState::Open, _) => return reopened(stored, number, pull, task),
    };
    let by = match pull.state {
        RemoteState::Merged => pull.merged_by.as_ref(),
        RemoteState::Closed | RemoteState::Open => by(&TimelineChange::Closed),
    };
    is_news.then(|| difference(by, RemoteFact::PullClosed(number)))
}

/// Returns the reopening of a pull request whose closing is recorded. An open pull request alone shows no
/// reopening: AutoBuild may be about to close it.
fn reopened(stored: StoredWork<'_>, number: PullNumber, pull: &RemotePull, task: Option<&Task>) -> Option<Difference> {
    let is_open_or_close =
        |change: &TimelineChange| matches!(change, TimelineChange::Closed | TimelineChange::Reopened);
    let last = pull.timeline.iter().rfind(|entry| is_open_or_close(&entry.change))?;
    let prefix = format!("pull/{number}/closed/");
    let closings = stored.causes.iter().filter_map(|cause| cause.strip_prefix(&prefix));
    let closed_at = closings.filter_map(|at| at.parse::<i64>().ok()).max().unwrap_or(0);
    // A closing by AutoBuild itself is not recorded, so that two reopenings can follow the same recorded closing.
    let recorded = stored.count(&format!("pull/{number}/reopened/"));
    let happened = pull.timeline.iter().filter(|entry| entry.change == TimelineChange::Reopened).count();
    let is_recorded = stored.has(&format!("pull/{number}/reopened/{closed_at}")) && happened <= recorded;
    if last.change != TimelineChange::Reopened || is_recorded {
        return None;
    }
    let is_news = match task {
        Some(task) => {
            // Only tried out: the number does not decide if the event changes anything.
            let did = PersonDid::ReopenPull { pull: number, turns: 1 };
            stored.changed_by(task.id, did)
        }
        None => {
            let newer = NewerRun::None;
            stored.changes(Event::PullReopened { pull: number, newer })
        }
    };
    is_news.then(|| difference(last.by.as_ref(), RemoteFact::PullReopened(number)))
}

/// Returns people's commands and reviews of this run that were never recorded, the oldest first.
fn unrecorded_commands_and_reviews(stored: StoredWork<'_>, remote: &RemoteWork) -> Vec<Difference> {
    let issue = remote.issue.iter().map(|issue| (None, &issue.timeline));
    let ours = |number: &PullNumber| {
        let feature = stored.feature;
        feature.pull == Some(*number) || feature.tasks.iter().any(|task| task.pull == Some(*number))
    };
    let pulls = remote.pulls.iter().filter(|(number, _)| ours(number));
    let pulls = pulls.map(|(number, pull)| (Some(*number), &pull.timeline));
    let mut found: Vec<(Millis, Difference)> = issue
        .chain(pulls)
        .flat_map(|(on, timeline)| timeline.iter().map(move |entry| (on, entry)))
        .filter(|(_, entry)| entry.at > stored.feature.snapshot.requested_at)
        .filter_map(|(on, entry)| Some((entry.at, find_unrecorded(stored, on, entry)?)))
        .collect();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, difference)| difference).collect()
}

fn find_unrecorded(stored: StoredWork<'_>, on: Option<PullNumber>, entry: &TimelineEntry) -> Option<Difference> {
    let by = entry.by.as_ref().filter(|by| by.kind == AccountType::Person)?;
    let fact = match (&entry.change, on) {
        (TimelineChange::Commented { id, body }, on) => {
            let is_new = parse(body) != Parsed::None && !stored.has(&format!("comment/{id}"));
            is_new.then_some(RemoteFact::Commented(on, *id))
        }
        (TimelineChange::Reviewed(id), Some(on)) => (!stored.has_review(*id)).then_some(RemoteFact::Reviewed(on, *id)),
        (TimelineChange::Dismissed(id), Some(on)) => {
            let is_new = stored.has_review(*id) && !stored.has(&format!("review/{id}/dismissed"));
            is_new.then_some(RemoteFact::Dismissed(on, *id))
        }
        (
            TimelineChange::Reviewed(_)
            | TimelineChange::Dismissed(_)
            | TimelineChange::Closed
            | TimelineChange::Reopened
            | TimelineChange::Unlabeled(_),
            _,
        ) => None,
    };
    Some(difference(Some(by), fact?))
}

/// Returns the facts on GitHub that cancel the Feature.
fn cancellations(stored: StoredWork<'_>, remote: &RemoteWork) -> Vec<Difference> {
    let cancels = |why| stored.changes(Event::Cancelled(why));
    let mut found = Vec::new();
    let integration = stored.feature.integration_branch();
    let is_there = remote.branches.contains_key(&integration) || stored.feature.integration.is_none();
    if !is_there && cancels(CancelledWhy::BranchDeleted) {
        found.push(difference(None, RemoteFact::BranchDeleted));
    }
    match &remote.issue {
        None if cancels(CancelledWhy::IssueGone) => found.push(difference(None, RemoteFact::IssueGone)),
        None => {}
        Some(issue) => found.extend(of_issue(stored, issue)),
    }
    if remote.access == Access::Archived && cancels(CancelledWhy::RepositoryGone) {
        found.push(difference(None, RemoteFact::Archived));
    }
    found
}

fn of_issue(stored: StoredWork<'_>, issue: &RemoteIssue) -> Vec<Difference> {
    let cancels = |why| stored.changes(Event::Cancelled(why));
    let label = stored.label.to_lowercase();
    let is_ours = |entry: &&TimelineEntry| {
        let named = matches!(&entry.change, TimelineChange::Unlabeled(name) if name.to_lowercase() == label);
        named && entry.at > stored.feature.snapshot.requested_at
    };
    let removal = issue.timeline.iter().rfind(is_ours);
    let removal = removal.filter(|_| cancels(CancelledWhy::LabelRemoved(somebody())));
    let unlabeled = removal.map(|entry| difference(entry.by.as_ref(), RemoteFact::Unlabeled(stored.label.to_owned())));
    let is_closed = issue.state != RemoteState::Open && cancels(CancelledWhy::IssueClosed(somebody()));
    let mut closings = issue.timeline.iter().rev();
    let by = closings.find(|entry| entry.change == TimelineChange::Closed);
    let by = by.and_then(|entry| entry.by.as_ref());
    let closed = is_closed.then(|| difference(by, RemoteFact::IssueClosed));
    unlabeled.into_iter().chain(closed).collect()
}
