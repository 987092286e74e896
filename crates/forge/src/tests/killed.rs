//! A forge that saves first still knows everything that it answered if it is killed at any moment.

use crate::{Forge, ForgeOptions, RepoSource, Role, Saving, Settings};
use std::{fs, path::Path, time::Duration};

const REPO: &str = "acme/shop";

async fn start(folder: &Path) -> Forge {
    let options = ForgeOptions { saving: Saving::First, ..ForgeOptions::new(folder) };
    Forge::start(options).await.unwrap()
}

async fn with_repository(folder: &Path) -> Forge {
    let forge = start(folder).await;
    forge.create_organization("acme");
    forge.create_user("ann");
    let files = RepoSource::Files(&[("README.md", "# Shop\n")]);
    forge.create_repo(REPO, files, Settings::default()).await.unwrap();
    forge.set_role(REPO, "ann", Role::Admin).unwrap();
    forge
}

#[tokio::test]
async fn what_somebody_may_have_heard_of_is_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let forge = with_repository(dir.path()).await;
    forge.number_after(REPO, 6).unwrap();
    let ann = forge.as_user("ann").unwrap();
    assert_eq!(ann.open_issue(REPO, "Lost?", "", &[]).unwrap(), 7);
    forge.saved().await;
    drop(forge);
    let forge = start(dir.path()).await;
    assert_eq!(forge.look(REPO, "issues/7").await.unwrap()["title"], "Lost?");
    forge.forget_repo(REPO).unwrap();
    assert!(forge.repo_id(REPO).is_err());
}

#[tokio::test]
async fn a_repository_that_nobody_waits_for_any_more_is_not_left_half_filled() {
    let dir = tempfile::tempdir().unwrap();
    let forge = start(dir.path()).await;
    forge.create_organization("acme");
    let files = RepoSource::Files(&[("README.md", "# Shop\n")]);
    let creating = forge.create_repo(REPO, files, Settings::default());
    assert!(tokio::time::timeout(Duration::ZERO, creating).await.is_err());
    assert!(forge.repo_id(REPO).is_err());
    forge.create_repo(REPO, files, Settings::default()).await.unwrap();
}

#[tokio::test]
async fn a_merge_that_git_knows_and_the_file_does_not_is_finished() {
    for method in ["merge", "squash"] {
        let dir = tempfile::tempdir().unwrap();
        let forge = with_repository(dir.path()).await;
        let ann = forge.as_user("ann").unwrap();
        ann.push(REPO, "notes", "Write notes", &[("notes.md", Some("# Notes\n"))]).await.unwrap();
        let pull = ann.open_pull(REPO, "notes", "main", "Notes", "").await.unwrap();
        forge.saved().await;
        let file = dir.path().join("forge.json");
        let before = fs::read(&file).unwrap();
        let commit = ann.merge(REPO, pull, method).await.unwrap();
        drop(forge);
        fs::write(&file, before).unwrap();
        let forge = start(dir.path()).await;
        let seen = forge.look(REPO, &format!("pulls/{pull}")).await.unwrap();
        assert_eq!(seen["merged"], true, "{method}");
        assert_eq!(seen["merged_by"]["login"], "ann", "{method}");
        assert_eq!(seen["merge_commit_sha"], commit, "{method}");
        assert_eq!(forge.head(REPO, "main").unwrap(), Some(commit), "{method}");
        let push = forge.events().into_iter().rfind(|event| event.kind == "push").unwrap();
        assert_eq!(push.actor, "ann", "{method}");
    }
}
