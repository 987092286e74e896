//! Finding: GitHub's names lead to the right Feature, and small facts are stored.

use crate::contract::{Database, INSTALLATION, execute, key, step, task};
use autobuild::store::{Committed, FeatureRow, NameUse, Scope, Store, TaskRow};
use domain::ids::{InstallationId, IssueNumber, Millis, PullNumber, RepoId, TaskId};

on_both! {
    an_issue_leads_to_its_runs
    a_branch_or_pull_request_leads_to_feature_and_task
    features_are_listed_by_whose_they_are
    facts_are_kept_and_replaced
    a_database_that_gives_no_work_is_not_ready
    what_is_spent_counts_once_until_it_is_forgotten
    a_turn_belongs_to_one_process_until_it_is_over
}

const REPO: RepoId = RepoId(500);

/// Stores a first run that ended and a second that did not.
async fn two_runs(store: &Store) {
    let mut first = step(key(1, 1), None, "label");
    first.feature.state = "completed".to_owned();
    first.feature.branch = Some("autobuild/1/integration".to_owned());
    first.feature.pull = Some(PullNumber(10));
    let mut second = step(key(1, 2), None, "label");
    second.tasks =
        vec![TaskRow { branch: Some("autobuild/1-r2/task-001".to_owned()), pull: Some(PullNumber(11)), ..task(1) }];
    for commit in [first, second] {
        assert_eq!(store.commit(&commit).await.unwrap(), Committed::Done);
    }
}

fn keys(rows: &[FeatureRow]) -> Vec<String> {
    rows.iter().map(|row| row.key.to_string()).collect()
}

async fn an_issue_leads_to_its_runs(db: Database) {
    let store = db.open().await;
    assert_eq!(store.latest_run(REPO, IssueNumber(1)).await.unwrap(), None);
    two_runs(&store).await;
    let latest = store.latest_run(REPO, IssueNumber(1)).await.unwrap().unwrap();
    let unfinished = store.unfinished_run(REPO, IssueNumber(1)).await.unwrap().unwrap();
    assert_eq!((latest.key, unfinished.key), (key(1, 2), key(1, 2)));

    let mut end = step(key(1, 2), Some(1), "unlabel");
    end.feature.state = "failed".to_owned();
    assert_eq!(store.commit(&end).await.unwrap(), Committed::Done);
    assert_eq!(store.unfinished_run(REPO, IssueNumber(1)).await.unwrap(), None);
    assert_eq!(store.latest_run(REPO, IssueNumber(1)).await.unwrap().unwrap().state, "failed");
    assert_eq!(store.latest_run(RepoId(501), IssueNumber(1)).await.unwrap(), None);
    assert!(store.knows_cause(REPO, "unlabel").await.unwrap());
    assert!(!store.knows_cause(REPO, "unlabe").await.unwrap());
    assert!(!store.knows_cause(RepoId(REPO.0 / 10), "unlabel").await.unwrap());
}

async fn a_branch_or_pull_request_leads_to_feature_and_task(db: Database) {
    let store = db.open().await;
    two_runs(&store).await;
    let own = store.by_branch(REPO, "autobuild/1/integration").await.unwrap().unwrap();
    assert_eq!((own.feature.key, own.task), (key(1, 1), None));
    let own = store.by_pull(REPO, PullNumber(10)).await.unwrap().unwrap();
    assert_eq!((own.feature.key, own.task), (key(1, 1), None));
    let of_task = store.by_branch(REPO, "autobuild/1-r2/task-001").await.unwrap().unwrap();
    assert_eq!((of_task.feature.key, of_task.task), (key(1, 2), Some(TaskId::Planned(1))));
    let of_task = store.by_pull(REPO, PullNumber(11)).await.unwrap().unwrap();
    assert_eq!((of_task.feature.key, of_task.task), (key(1, 2), Some(TaskId::Planned(1))));
    assert_eq!(store.by_branch(REPO, "main").await.unwrap(), None);
    assert_eq!(store.by_pull(RepoId(501), PullNumber(11)).await.unwrap(), None);
}

async fn features_are_listed_by_whose_they_are(db: Database) {
    let store = db.open().await;
    two_runs(&store).await;
    let mut elsewhere = step(key(3, 1), None, "label");
    elsewhere.feature.installation = InstallationId(31);
    elsewhere.feature.key.repo = RepoId(501);
    assert_eq!(store.commit(&elsewhere).await.unwrap(), Committed::Done);

    for (scope, unfinished, all) in [
        (Scope::All, vec!["500/1/2", "501/3/1"], vec!["500/1/1", "500/1/2", "501/3/1"]),
        (Scope::Installation(INSTALLATION), vec!["500/1/2"], vec!["500/1/1", "500/1/2"]),
        (Scope::Repo(RepoId(501)), vec!["501/3/1"], vec!["501/3/1"]),
        (Scope::Repo(RepoId(9)), vec![], vec![]),
    ] {
        assert_eq!(keys(&store.unfinished(scope).await.unwrap()), unfinished, "{scope:?}");
        assert_eq!(keys(&store.features(scope).await.unwrap()), all, "{scope:?}");
    }
}

async fn what_is_spent_counts_once_until_it_is_forgotten(db: Database) {
    let store = db.open().await;
    let (now, until) = (Millis(1_000), Millis(2_000));
    assert!(!store.is_spent("a").await.unwrap());
    assert_eq!(store.spend("a", until, now).await.unwrap(), NameUse::Now);
    assert_eq!(store.spend("a", until, now).await.unwrap(), NameUse::Before);
    assert_eq!(store.spend("b", until, Millis(1_999)).await.unwrap(), NameUse::Now);
    assert!(store.is_spent("a").await.unwrap());
    assert_eq!(store.spend("c", Millis(3_000), until).await.unwrap(), NameUse::Now);
    assert!(!store.is_spent("a").await.unwrap(), "its time is over");
}

async fn facts_are_kept_and_replaced(db: Database) {
    let store = db.open().await;
    assert_eq!(store.meta("cursor").await.unwrap(), None);
    assert_eq!(store.meta_once("key", "first").await.unwrap(), "first");
    assert_eq!(store.meta_once("key", "second").await.unwrap(), "first", "of two that begin at once");
    store.set_meta("cursor", "1").await.unwrap();
    store.set_meta("cursor", "2").await.unwrap();
    assert_eq!(store.meta("cursor").await.unwrap().as_deref(), Some("2"));
    store.check_writable().await.unwrap();
    store.check_writable().await.unwrap();
}

async fn a_database_that_gives_no_work_is_not_ready(db: Database) {
    let store = db.open().await;
    execute(&db.url, "DROP TABLE effect").await;
    let refused = store.check_writable().await.unwrap_err();
    assert!(refused.to_string().contains("effect"), "{refused}");
}

async fn a_turn_belongs_to_one_process_until_it_is_over(db: Database) {
    let (store, at) = (db.open().await, Millis);
    for (now, until, expected) in
        [(1_000, 2_000, true), (1_500, 9_000, false), (2_000, 3_000, true), (2_999, 9_000, false)]
    {
        assert_eq!(store.take_turn("replay", at(now), at(until)).await.unwrap(), expected, "at {now}");
    }
    assert!(store.take_turn("other", at(2_500), at(9_000)).await.unwrap());
}
