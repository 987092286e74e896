//! The forge's side: fetching, leases, refusals, and the secrecy of the token.

use crate::{
    hostile::trap,
    origin::{TOKEN, World, git, request},
};
use autobuild_git::{BranchName, ForgeAccess, GitError, Lease, PushError, PushOutcome};
use domain::ids::{Millis, Sha};
use secrecy::SecretString;
use std::{fs, path::Path};

async fn ours(world: &World, content: &str) -> Sha {
    let files = [("f".to_owned(), Some(content.as_bytes().to_vec()))].into();
    world.mirror.commit_files(files, &request(&[&world.main().await])).await.unwrap()
}

/// The forge's address.
fn address(world: &World) -> &str {
    world.remote.url().strip_suffix("/o/r.git").unwrap()
}

fn branch() -> BranchName {
    "autobuild/7/task-001-x".parse().unwrap()
}

#[tokio::test]
async fn a_push_obeys_its_lease_and_says_where_the_branch_is() {
    let world = World::with(&[("a", "1")]).await;
    let (one, two, three) = (ours(&world, "1").await, ours(&world, "2").await, ours(&world, "3").await);
    let push = async |sha: &Sha, lease: Lease| world.mirror.push(&world.remote, &branch(), sha, &lease).await;
    assert_eq!(push(&one, Lease::Absent).await.unwrap(), PushOutcome::Done);
    // The same push again, as after a lost reply.
    assert_eq!(push(&one, Lease::Absent).await.unwrap(), PushOutcome::AlreadyThere);
    // Neither a fast-forward nor a merge: only the lease decides.
    assert_eq!(push(&two, Lease::At(one.clone())).await.unwrap(), PushOutcome::Done);
    match push(&three, Lease::At(one.clone())).await {
        Err(PushError::LeaseLost { actual }) => assert_eq!(actual, Some(two.clone())),
        other => panic!("{other:?}"),
    }
    match push(&three, Lease::Absent).await {
        Err(PushError::LeaseLost { actual }) => assert_eq!(actual, Some(two.clone())),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.forge_tip(branch().as_str()), two.as_str());
    let delete = async |at: &Sha| world.mirror.delete_branch(&world.remote, &branch(), at).await;
    assert!(matches!(delete(&one).await, Err(PushError::LeaseLost { .. })));
    assert_eq!(delete(&two).await.unwrap(), PushOutcome::Done);
    assert_eq!(delete(&two).await.unwrap(), PushOutcome::AlreadyThere);
    match push(&three, Lease::At(two)).await {
        Err(PushError::LeaseLost { actual }) => assert_eq!(actual, None),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_rule_of_the_remote_is_told_in_its_own_words() {
    let world = World::with(&[("a", "1")]).await;
    let hook = world.forge_repository().join("hooks/pre-receive");
    trap(&hook, Path::new("/dev/null"));
    fs::write(&hook, "#!/bin/sh\necho 'GH013: Repository rule violations found' >&2\nexit 1\n").unwrap();
    let sha = ours(&world, "1").await;
    match world.mirror.push(&world.remote, &branch(), &sha, &Lease::Absent).await {
        Err(PushError::Rejected { reason }) => {
            assert!(reason.contains("pre-receive hook declined") && reason.contains("GH013"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_hiccup_of_the_remote_is_no_rule_and_a_lock_is_no_move() {
    let world = World::with(&[("a", "1")]).await;
    let forge = world.forge_repository();
    let sha = ours(&world, "1").await;
    let hook = forge.join("hooks/pre-receive");
    trap(&hook, Path::new("/dev/null"));
    for said in ["Internal Server Error", "fatal: the hook timed out"] {
        fs::write(&hook, format!("#!/bin/sh\necho '{said}' >&2\nexit 1\n")).unwrap();
        match world.mirror.push(&world.remote, &branch(), &sha, &Lease::Absent).await {
            Err(PushError::Git(GitError::Transient(text))) => assert!(text.contains(said), "{text}"),
            other => panic!("{said}: {other:?}"),
        }
    }
    fs::remove_file(&hook).unwrap();
    // Somebody holds the ref's lock on the other side: the branch still has the head that the lease names.
    let lock = forge.join("refs/heads").join(format!("{}.lock", branch().as_str()));
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    match world.mirror.push(&world.remote, &branch(), &sha, &Lease::Absent).await {
        Err(PushError::Git(GitError::Transient(_))) => {}
        other => panic!("{other:?}"),
    }
    fs::remove_file(&lock).unwrap();
    let pushed = world.mirror.push(&world.remote, &branch(), &sha, &Lease::Absent).await;
    assert_eq!(pushed.unwrap(), PushOutcome::Done);
    // A branch with the name of the folder is a lasting obstacle.
    let below: BranchName = format!("{}/below", branch().as_str()).parse().unwrap();
    assert!(matches!(
        world.mirror.push(&world.remote, &below, &sha, &Lease::Absent).await,
        Err(PushError::Rejected { .. })
    ));
}

#[tokio::test]
async fn failures_say_what_to_do_next_and_never_hold_the_token() {
    let world = World::with(&[("a", "1")]).await;
    let fetch = async |name: &str, token: Option<&str>| {
        let token = token.map(|token| SecretString::from(token.to_owned()));
        let forge = ForgeAccess::new(address(&world)).unwrap();
        let remote = forge.remote(&name.parse().unwrap(), token);
        world.mirror.fetch(&remote, &["main"]).await.unwrap_err()
    };
    let wrong = "ghs_wrongwrongwrongwrongwrongwrongwrong1234";
    assert!(matches!(fetch("o/r", Some(wrong)).await, GitError::NoCredentials));
    assert!(matches!(fetch("o/r", None).await, GitError::NoCredentials));
    assert!(matches!(fetch("o/gone", Some(TOKEN)).await, GitError::Gone(_)));
    assert!(matches!(fetch("o/broken", Some(TOKEN)).await, GitError::Transient(_)));
    match world.mirror.fetch(&world.remote, &["no-such-branch"]).await {
        Err(GitError::Missing(name)) => assert_eq!(name, "no-such-branch"),
        other => panic!("{other:?}"),
    }
    for error in [fetch("o/r", Some(wrong)).await, fetch("o/gone", Some(TOKEN)).await] {
        let text = format!("{error} {error:?}");
        assert!(!text.contains(wrong) && !text.contains(TOKEN), "{text}");
    }
}

#[tokio::test]
async fn an_unreachable_forge_is_a_passing_failure() {
    let world = World::with(&[("a", "1")]).await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let forge = ForgeAccess::new(&format!("http://{free}")).unwrap();
    let remote = forge.remote(&"o/r".parse().unwrap(), None);
    assert!(matches!(world.mirror.fetch(&remote, &["main"]).await, Err(GitError::Transient(_))));
}

#[tokio::test]
async fn the_token_is_nowhere_on_the_disk() {
    let world = World::with(&[("a", "1")]).await;
    let sha = ours(&world, "1").await;
    world.mirror.push(&world.remote, &branch(), &sha, &Lease::Absent).await.unwrap();
    let _checkout = world.mirror.checkout(&sha).await.unwrap();
    let found =
        std::process::Command::new("grep").args(["-r", TOKEN]).arg(world.folder().join("data")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
    assert!(address(&world).starts_with("http://127.0.0.1:"));
}

#[tokio::test]
async fn the_mirror_takes_only_what_it_is_told_and_forgets_what_is_gone() {
    let world = World::with(&[("a", "1")]).await;
    let forge = world.forge_repository();
    let tip = git(&forge, &["rev-parse", "main"]);
    for name in ["refs/pull/1/head", "refs/heads/feature", "refs/heads/autobuild/1/x", "refs/tags/v1"] {
        git(&forge, &["update-ref", name, &tip]);
    }
    world.fetch().await;
    let refs = || git(world.mirror.dir(), &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs(), "refs/heads/autobuild/1/x\nrefs/heads/main");
    let listed = world.mirror.ls_remote(&world.remote, &["autobuild/*", "main"]).await.unwrap();
    assert_eq!(listed.into_keys().collect::<Vec<_>>(), ["autobuild/1/x", "main"]);
    let known = "autobuild/1/x".parse().unwrap();
    assert_eq!(world.mirror.rev_parse(&known).await.unwrap().unwrap().as_str(), tip);
    git(world.mirror.dir(), &["pack-refs", "--all"]);
    assert_eq!(world.mirror.rev_parse(&known).await.unwrap().unwrap().as_str(), tip, "when refs are packed");
    git(&forge, &["update-ref", "-d", "refs/heads/autobuild/1/x"]);
    world.fetch().await;
    assert_eq!(refs(), "refs/heads/main");
    assert_eq!(world.mirror.rev_parse(&known).await.unwrap(), None);
    assert_eq!(
        world.mirror.remote_tip(&world.remote, &"feature".parse().unwrap()).await.unwrap().unwrap().as_str(),
        tip
    );
    assert_eq!(world.mirror.remote_tip(&world.remote, &"none".parse().unwrap()).await.unwrap(), None);
}

#[tokio::test]
async fn a_checkout_has_the_refs_of_a_clone_and_only_the_tags_of_its_history() {
    let world = World::with(&[("a", "1")]).await;
    let people = world.people();
    let base = world.main().await;
    git(&people, &["tag", "-a", "v1.0", "-m", "one"]);
    git(&people, &["tag", "light/one"]);
    git(&people, &["tag", "-a", "gone", "-m", "gone"]);
    let other = world.people_push("other", &[("b", "unwanted")]);
    git(&people, &["tag", "-a", "v9.0", "-m", "elsewhere"]);
    git(&people, &["push", "-q", "origin", "--tags"]);
    let follow = async || {
        world.fetch().await;
        let main = "main".parse().unwrap();
        world.mirror.fetch_tags(&world.remote, &main).await.unwrap();
        world.mirror.checkout(&base).await.unwrap()
    };
    let checkout = follow().await;
    let ask = |words: &[&str]| git(checkout.path(), words);
    assert_eq!(ask(&["describe", "--tags", "--match", "v*"]), "v1.0");
    assert_eq!(ask(&["tag", "--list"]), "gone\nlight/one\nv1.0");
    assert_eq!(ask(&["rev-parse", "origin/main"]), base.as_str());
    assert_eq!(ask(&["rev-parse", "--abbrev-ref", "HEAD"]), "main");
    assert_eq!(ask(&["rev-parse", "--abbrev-ref", "origin/HEAD"]), "origin/main");
    assert_eq!(ask(&["merge-base", "origin/main", "HEAD"]), base.as_str());
    assert_eq!(ask(&["remote"]), "");
    assert_eq!(ask(&["status", "--porcelain"]), "");
    assert!(!world.mirror.has_commit(&other).await.unwrap());
    // Moved, deleted, and made after the mirror.
    git(&people, &["checkout", "-q", "main"]);
    let head = world.people_push("main", &[("a", "2")]);
    git(&people, &["tag", "-f", "-a", "v1.0", "-m", "again"]);
    git(&people, &["tag", "-a", "v2.0", "-m", "two", base.as_str()]);
    git(&people, &["push", "-q", "-f", "origin", "v1.0", "v2.0", ":gone"]);
    let checkout = follow().await;
    let ask = |words: &[&str]| git(checkout.path(), words);
    assert_eq!(ask(&["tag", "--list"]), "light/one\nv1.0\nv2.0");
    assert_eq!(ask(&["rev-parse", "v1.0^{commit}", "origin/main"]), format!("{head}\n{head}"));
    assert_eq!(ask(&["describe", "--tags", "--match", "v*"]), "v2.0");
}

#[tokio::test]
async fn a_mirror_that_was_removed_is_made_again() {
    let world = World::with(&[("a", "1")]).await;
    let head = world.main().await;
    assert!(world.mirror.has_commit(&head).await.unwrap());
    fs::remove_dir_all(world.mirror.dir()).unwrap();
    assert!(!world.mirror.has_commit(&head).await.unwrap(), "an answer from before");
    world.fetch().await;
    assert_eq!(world.main().await, head);
}

#[tokio::test]
async fn what_a_killed_git_left_does_not_stop_the_next_start() {
    let world = World::with(&[("a", "1")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    let left = checkout.path().to_owned();
    std::mem::forget(checkout);
    fs::write(world.mirror.dir().join("packed-refs.lock"), "").unwrap();
    fs::write(world.mirror.dir().join("refs/heads/main.lock"), "").unwrap();
    let forge = ForgeAccess::new(address(&world)).unwrap();
    let again = autobuild_git::Mirrors::new(&world.folder().join("data"), forge, None).unwrap();
    again.sweep_leftovers(Millis(0)).unwrap();
    assert!(!left.exists());
    world.people_push("main", &[("a", "2")]);
    let mirror = again.mirror(domain::ids::RepoId(7));
    mirror.fetch(&world.remote, &["main"]).await.unwrap();
}

#[tokio::test]
async fn a_mirror_that_was_being_made_when_the_process_died_is_made_again() {
    let world = World::with(&[("a", "1")]).await;
    for torn in ["HEAD", "config"] {
        fs::write(world.mirror.dir().join(torn), "").unwrap();
        let forge = ForgeAccess::new(address(&world)).unwrap();
        let again = autobuild_git::Mirrors::new(&world.folder().join("data"), forge, None).unwrap();
        let mirror = again.mirror(domain::ids::RepoId(7));
        mirror.fetch(&world.remote, &["main"]).await.unwrap();
    }
}
