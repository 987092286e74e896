//! Baselines: one per commit and commands, replaced by a newer run, dropped with age.

use crate::contract::{Database, LATER, NOW};
use domain::ids::{RepoId, Sha};

on_both! {
    a_baseline_is_that_of_its_commit_and_commands_also_after_a_restart
    a_newer_run_replaces_the_one_before
    old_baselines_are_forgotten
}

const REPO: RepoId = RepoId(500);

fn sha(digit: &str) -> Sha {
    digit.repeat(40).parse().unwrap()
}

async fn a_baseline_is_that_of_its_commit_and_commands_also_after_a_restart(db: Database) {
    let store = db.open().await;
    store.keep_baseline(REPO, &sha("a"), "one", "{}", NOW).await.unwrap();
    store.close().await;
    let store = db.open().await;
    let found = async |repo, commit, commands| store.baseline(repo, &commit, commands).await.unwrap();
    assert_eq!(found(REPO, sha("a"), "one").await.as_deref(), Some("{}"));
    assert_eq!(found(REPO, sha("b"), "one").await, None);
    assert_eq!(found(REPO, sha("a"), "two").await, None);
    assert_eq!(found(RepoId(501), sha("a"), "one").await, None);
}

async fn a_newer_run_replaces_the_one_before(db: Database) {
    let store = db.open().await;
    for body in ["1", "2"] {
        store.keep_baseline(REPO, &sha("a"), "one", body, NOW).await.unwrap();
    }
    let found = store.baseline(REPO, &sha("a"), "one").await.unwrap();
    assert_eq!(found.as_deref(), Some("2"));
}

async fn old_baselines_are_forgotten(db: Database) {
    let store = db.open().await;
    store.keep_baseline(REPO, &sha("a"), "one", "old", NOW).await.unwrap();
    store.keep_baseline(REPO, &sha("b"), "one", "new", LATER).await.unwrap();
    assert_eq!(store.forget_baselines(LATER).await.unwrap(), 1);
    assert_eq!(store.baseline(REPO, &sha("a"), "one").await.unwrap(), None);
    assert_eq!(store.baseline(REPO, &sha("b"), "one").await.unwrap().as_deref(), Some("new"));
}
