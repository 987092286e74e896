//! No Feature stays longer than one sweep in a state that GitHub contradicts. For every state of Features and Tasks,
//! and every act of people on GitHub, one comparison finds the difference and a second one finds nothing.

use super::{
    samples::{Story, pull, sha},
    table::{features, tasks},
};
use crate::{
    feature::{
        CancelledWhy, Feature, State,
        event::{Event, NewerRun},
        step::step,
        sweep::{
            Access, AccountType, Difference, RemoteAccount, RemoteFact, RemoteIssue, RemotePull, RemoteState,
            RemoteWork, StoredWork, TimelineChange, TimelineEntry, compare,
        },
    },
    ids::{CommentId, Millis, PullNumber, ReviewId, TaskId, User, UserId},
    task,
    task::PersonDid,
};
use std::collections::{BTreeMap, BTreeSet};

const LABEL: &str = "autobuild";

fn ada() -> RemoteAccount {
    let login = "ada".to_owned();
    let user = User { id: UserId(7), login };
    let kind = AccountType::Person;
    RemoteAccount { user, kind }
}

fn entry(feature: &Feature, change: TimelineChange) -> TimelineEntry {
    TimelineEntry { at: feature.snapshot.requested_at.plus(60_000), by: Some(ada()), change }
}

/// GitHub as AutoBuild believes it to be.
fn agreeing(feature: &Feature) -> RemoteWork {
    let of_tasks = feature.tasks.iter().filter_map(|task| {
        let state = match task.state {
            task::State::Completed { .. } => RemoteState::Merged,
            task::State::Cancelled | task::State::Skipped { .. } => RemoteState::Closed,
            _ => RemoteState::Open,
        };
        Some((task.pull?, state))
    });
    let pulls = of_tasks.chain(feature.pull.map(|pull| (pull, RemoteState::Open)));
    let pull = |(number, state)| {
        let timeline = Vec::new();
        let merged_by = None;
        (number, RemotePull { state, merged_by, timeline })
    };
    let heads = feature.tasks.iter();
    let heads = heads.filter_map(|task| Some((task.branch.clone(), task.head.clone()?)));
    let integration = feature.integration.as_ref();
    let integration = integration.map(|one| (feature.key.integration_branch(), one.head.clone()));
    RemoteWork {
        access: Access::Writable,
        default_head: feature.preflight.as_ref().map(|preflight| preflight.commit.clone()),
        issue: Some(RemoteIssue { state: RemoteState::Open, timeline: Vec::new() }),
        branches: heads.chain(integration).collect(),
        pulls: pulls.map(pull).collect::<BTreeMap<_, _>>(),
    }
}

fn stories() -> Vec<(&'static str, Story)> {
    let known = |story: &Story| story.feature.is_comparable();
    features().into_iter().chain(tasks()).filter(|(_, story)| known(story)).collect()
}

/// The event that ingest makes of a difference, and its cause.
fn event(feature: &Feature, remote: &RemoteWork, difference: &Difference) -> (Event, String) {
    let by = || ada().user;
    let person = |task: TaskId, did| {
        let event = task::Event::Person { by: by(), did };
        Event::Task { task, event }
    };
    let of_pull = |number: PullNumber| feature.tasks.iter().find(|task| task.pull == Some(number));
    match &difference.fact {
        RemoteFact::BranchMoved(branch) => {
            let head = remote.branches[branch].clone();
            let cause = format!("push/{branch}/{head}");
            let event = match feature.tasks.iter().find(|task| task.branch == *branch) {
                Some(task) => person(task.id, PersonDid::Push { head }),
                None => Event::IntegrationPushed { head },
            };
            (event, cause)
        }
        RemoteFact::BranchDeleted => (Event::Cancelled(CancelledWhy::BranchDeleted), "deleted".to_owned()),
        RemoteFact::DefaultMoved(head) => (Event::DefaultPushed { head: head.clone() }, format!("default/{head}")),
        RemoteFact::PullClosed(number) => (end_pull(feature, remote, *number), format!("pull/{number}/closed/1")),
        RemoteFact::PullReopened(number) => {
            let event = match of_pull(*number) {
                Some(task) => {
                    let turns = 3;
                    person(task.id, PersonDid::ReopenPull { pull: *number, turns })
                }
                None => {
                    let newer = NewerRun::None;
                    Event::PullReopened { pull: *number, newer }
                }
            };
            (event, format!("pull/{number}/reopened/0"))
        }
        RemoteFact::Unlabeled(_) => (Event::Cancelled(CancelledWhy::LabelRemoved(by())), "unlabeled".to_owned()),
        RemoteFact::IssueClosed => (Event::Cancelled(CancelledWhy::IssueClosed(by())), "closed".to_owned()),
        RemoteFact::IssueGone => (Event::Cancelled(CancelledWhy::IssueGone), "gone".to_owned()),
        RemoteFact::Archived => (Event::Cancelled(CancelledWhy::RepositoryGone), "archived".to_owned()),
        words @ (RemoteFact::Commented(..) | RemoteFact::Reviewed(..) | RemoteFact::Dismissed(..)) => {
            panic!("nobody wrote anything: {words:?}")
        }
    }
}

/// The event of a pull request that was closed or merged.
fn end_pull(feature: &Feature, remote: &RemoteWork, pull: PullNumber) -> Event {
    let by = ada().user;
    let task = feature.tasks.iter().find(|task| task.pull == Some(pull));
    let is_merged = remote.pulls[&pull].state == RemoteState::Merged;
    let did = match (task, is_merged) {
        (Some(_), true) => PersonDid::MergePull { commit: None, head: None },
        (Some(_), false) => PersonDid::ClosePull { pull },
        (None, true) => return Event::PullMerged { pull },
        (None, false) => return Event::Cancelled(CancelledWhy::PullClosed(by)),
    };
    let event = task::Event::Person { by, did };
    let task = task.map_or(TaskId::Planned(0), |task| task.id);
    Event::Task { task, event }
}

/// Sweeps once, as the engine does, and returns what was found.
fn sweep(feature: &mut Feature, causes: &mut BTreeSet<String>, remote: &RemoteWork) -> Vec<RemoteFact> {
    let stored = StoredWork { feature, label: LABEL, causes };
    let found = compare(stored, remote);
    for difference in &found {
        let (event, cause) = event(feature, remote, difference);
        let after = step(feature.clone(), event, Millis(1)).feature;
        *feature = after;
        causes.insert(cause);
    }
    found.into_iter().map(|difference| difference.fact).collect()
}

type Change = fn(&Feature, &mut RemoteWork);

fn all_pulls(remote: &mut RemoteWork, state: RemoteState) {
    remote.pulls.values_mut().for_each(|pull| pull.state = state);
}

/// The things that people can do while nobody listens.
const CHANGES: [(&str, Change); 13] = [
    ("nothing", |_, _| {}),
    ("branches are pushed", |_, remote| {
        for (number, head) in (900..).zip(remote.branches.values_mut()) {
            *head = sha(number);
        }
    }),
    ("all branches are deleted", |_, remote| remote.branches.clear()),
    ("the default branch is pushed", |_, remote| remote.default_head = Some(sha(990))),
    ("pull requests are closed", |_, remote| all_pulls(remote, RemoteState::Closed)),
    ("pull requests are merged", |_, remote| all_pulls(remote, RemoteState::Merged)),
    ("pull requests are opened again", |feature, remote| {
        all_pulls(remote, RemoteState::Open);
        let entries = [TimelineChange::Closed, TimelineChange::Reopened].map(|change| entry(feature, change));
        let timelines = remote.pulls.values_mut();
        timelines.for_each(|pull| pull.timeline.extend(entries.clone()));
    }),
    ("pull requests are open", |_, remote| all_pulls(remote, RemoteState::Open)),
    ("the issue is closed", |_, remote| {
        remote.issue.iter_mut().for_each(|issue| issue.state = RemoteState::Closed);
    }),
    ("the issue is gone", |_, remote| remote.issue = None),
    ("the label is removed", |feature, remote| {
        let removed = entry(feature, TimelineChange::Unlabeled("AutoBuild".to_owned()));
        remote.issue.iter_mut().for_each(|issue| issue.timeline.push(removed.clone()));
    }),
    ("another label is removed", |feature, remote| {
        let removed = entry(feature, TimelineChange::Unlabeled("bug".to_owned()));
        remote.issue.iter_mut().for_each(|issue| issue.timeline.push(removed.clone()));
    }),
    ("the repository is archived", |_, remote| remote.access = Access::Archived),
];

#[test]
fn no_state_outlives_a_sweep_that_github_contradicts() {
    let mut facts = BTreeSet::new();
    for (name, story) in stories() {
        for (change, does) in CHANGES {
            let (mut feature, mut causes) = (story.feature.clone(), BTreeSet::new());
            let mut remote = agreeing(&feature);
            does(&feature, &mut remote);
            let found = sweep(&mut feature, &mut causes, &remote);
            facts.extend(found.iter().map(|fact| format!("{fact:?}").split('(').next().map(str::to_owned)));
            if ["nothing", "pull requests are open", "another label is removed"].contains(&change) {
                assert_eq!(found, [], "{name}, {change}");
            }
            if feature.is_comparable() {
                let again = sweep(&mut feature, &mut causes, &remote);
                assert_eq!(again, [], "{name}, {change}: found {found:?}, and then");
            }
            let holds = contradiction(&feature, &remote);
            assert!(holds.is_empty(), "{name}, {change}: still {holds:?}");
        }
    }
    assert_eq!(facts.len(), 9, "{facts:?}");
}

/// The contradictions between GitHub and a Feature, apart from what a state may leave to later.
fn contradiction(feature: &Feature, remote: &RemoteWork) -> Vec<String> {
    let mut found = Vec::new();
    let says = |what: &str| what.to_owned();
    let pull = feature.pull.and_then(|number| remote.pulls.get(&number));
    if !feature.is_unfinished() {
        let is_merged = feature.state != State::Completed && pull.is_some_and(|pull| pull.state == RemoteState::Merged);
        return Vec::from_iter(is_merged.then(|| says("the pull request of a cancelled Feature is merged")));
    }
    found.extend(remote.issue.is_none().then(|| says("the issue is gone")));
    let is_closed = |issue: &RemoteIssue| issue.state == RemoteState::Closed;
    found.extend(remote.issue.as_ref().is_some_and(is_closed).then(|| says("the issue is closed")));
    found.extend((remote.access == Access::Archived).then(|| says("archived")));
    found.extend(pull.is_some_and(|pull| pull.state != RemoteState::Open).then(|| says("the pull request ended")));
    for task in feature.tasks.iter().filter(|task| !task.is_over()) {
        let pull = task.pull.and_then(|number| remote.pulls.get(&number));
        if pull.is_some_and(|pull| pull.state != RemoteState::Open) {
            found.push(format!("the pull request of {} ended", task.id));
        }
        let head = remote.branches.get(&task.branch);
        if task.head.is_some() && head.is_some() && task.head.as_ref() != head {
            found.push(format!("{} has another head", task.id));
        }
    }
    found
}

#[test]
fn words_of_people_count_once_and_only_those_of_this_run() {
    let story = Story::in_review();
    let feature = &story.feature;
    let say = |id: u64, body: &str| TimelineChange::Commented { id: CommentId(id), body: body.to_owned() };
    let mut remote = agreeing(feature);
    let bot = RemoteAccount { kind: AccountType::Bot, ..ada() };
    let old = TimelineEntry {
        at: feature.snapshot.requested_at.plus(-60_000),
        ..entry(feature, say(5, "/autobuild cancel"))
    };
    let by_bot = TimelineEntry { by: Some(bot), ..entry(feature, say(4, "/autobuild cancel")) };
    let timeline = vec![
        entry(feature, say(1, "/autobuild help")),
        entry(feature, say(2, "hello")),
        entry(feature, say(3, "/autobuild status")),
        by_bot,
        old,
    ];
    remote.issue.as_mut().unwrap().timeline = timeline;
    let number = feature.pull.unwrap();
    let reviews = [TimelineChange::Reviewed(ReviewId(8)), TimelineChange::Dismissed(ReviewId(9))];
    remote.pulls.get_mut(&number).unwrap().timeline = reviews.map(|change| entry(feature, change)).to_vec();
    let causes = BTreeSet::from(["comment/3".to_owned(), "review/9".to_owned()]);
    let stored = StoredWork { feature, label: LABEL, causes: &causes };
    let facts: Vec<RemoteFact> = compare(stored, &remote).into_iter().map(|one| one.fact).collect();
    let expected = [
        RemoteFact::Commented(None, CommentId(1)),
        RemoteFact::Reviewed(number, ReviewId(8)),
        RemoteFact::Dismissed(number, ReviewId(9)),
    ];
    assert_eq!(facts, expected);
    assert_ne!(number, pull(TaskId::Planned(1)));
}
