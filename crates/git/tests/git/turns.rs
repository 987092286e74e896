//! One turn: fill a checkout, work in it, take the work out, commit, keep, push.

use crate::origin::{World, git, request, write};
use autobuild_git::{
    Checkout, CommitError, ForgeAccess, ForgetOutcome, Lease, MergeOutcome, Mirrors, Prepared, PushOutcome, RepoPath,
    TakeOutError, TakeOutLimits,
};
use domain::ids::{Millis, RepoId, Sha};
use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
    },
    path::Path,
};

async fn commit(world: &World, checkout: &Checkout) -> Option<Prepared> {
    let changes = checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
    assert_eq!(changes.findings, []);
    world.mirror.commit_changes(checkout, &changes, &request(&[checkout.head()])).await.unwrap()
}

async fn committed(world: &World, checkout: &Checkout) -> Sha {
    let prepared = commit(world, checkout).await.expect("a change");
    prepared.keep("turn").await.unwrap();
    prepared.sha().clone()
}

#[tokio::test]
async fn work_reaches_the_forge_as_one_commit_of_ours() {
    let world = World::with(&[("keep", "k"), ("edit", "before"), ("gone", "g"), ("d/f", "x")]).await;
    let base = world.main().await;
    let checkout = world.mirror.checkout(&base).await.unwrap();
    write(checkout.path(), "edit", b"after\n");
    write(checkout.path(), "new/file", b"n");
    fs::remove_file(checkout.path().join("gone")).unwrap();
    // The agent's own commits are dropped.
    git(checkout.path(), &["add", "-A"]);
    git(checkout.path(), &["commit", "-q", "-m", "mine"]);
    let sha = committed(&world, &checkout).await;
    assert_eq!(world.tree(&sha), ["100644 d/f", "100644 edit", "100644 keep", "100644 new/file"]);
    let info = world.mirror.commit_info(&sha).await.unwrap().unwrap();
    assert_eq!((info.parents, info.author_name.as_str()), (vec![base], "AutoBuild"));
    assert_eq!(info.message, "Do the task\n\nWith a body.\n\nAutoBuild-Task: TASK-001\n");
    assert_eq!(info.trailers, [("AutoBuild-Task".to_owned(), "TASK-001".to_owned())]);
    let branch = "autobuild/7/task-001".parse().unwrap();
    assert_eq!(world.mirror.push(&world.remote, &branch, &sha, &Lease::Absent).await.unwrap(), PushOutcome::Done);
    assert_eq!(world.forge_tip("autobuild/7/task-001"), sha.as_str());
}

#[tokio::test]
async fn the_same_request_makes_the_same_commit() {
    let world = World::with(&[("a", "1")]).await;
    let mut made = Vec::new();
    for _ in 0..2 {
        let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
        write(checkout.path(), "b", b"2");
        made.push(committed(&world, &checkout).await);
    }
    assert_eq!(made[0], made[1]);
}

#[tokio::test]
async fn a_named_file_is_taken_and_others_are_left_out_with_their_rule() {
    let rules = "# data\n*.json\n!keep.json\nout/\n";
    let world = World::with(&[(".gitignore", rules), ("sub/.gitignore", "*.log\n"), ("out/kept", "k")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    let files = ["rates.json", "keep.json", "other.json", "sub/x.log", "out/named", "out/deep/y", "build/a.json"];
    for path in files {
        write(checkout.path(), path, b"1");
    }
    let named = ["rates.json", "out/named", "missing/x"].map(RepoPath::from);
    let changes = checkout.take_out(&TakeOutLimits::default(), named).await.unwrap();
    let left: Vec<String> = changes
        .left_out
        .iter()
        .map(|left| {
            let rule = &left.rule;
            format!("{} {}:{} {} {}", left.path, rule.file, rule.line, rule.pattern, left.folder.is_none())
        })
        .collect();
    assert_eq!(
        left,
        [
            "build/a.json .gitignore:2 *.json true",
            "other.json .gitignore:2 *.json true",
            "out/deep/y .gitignore:4 out/ false",
            "sub/x.log sub/.gitignore:1 *.log true",
        ]
    );
    let request = request(&[checkout.head()]);
    let prepared = world.mirror.commit_changes(&checkout, &changes, &request).await.unwrap().unwrap();
    prepared.keep("turn").await.unwrap();
    assert_eq!(world.changed(prepared.sha()), ["keep.json", "out/named", "rates.json"]);
}

#[tokio::test]
async fn no_change_makes_no_commit() {
    let world = World::with(&[("a", "1"), (".gitignore", "target/\n")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    assert!(commit(&world, &checkout).await.is_none());
    // Written again with the same content, and files that do not count.
    write(checkout.path(), "a", b"1");
    write(checkout.path(), "target/debug/x", b"binary");
    fs::create_dir(checkout.path().join("empty")).unwrap();
    assert!(commit(&world, &checkout).await.is_none());
}

#[tokio::test]
async fn bytes_rights_and_links_survive() {
    let attributes = "*.f filter=x\n";
    let files = [(".gitattributes", attributes), ("a.txt", "one\ntwo\n"), ("b.id", "$Id$\n"), ("c.f", "c\n")];
    let world = World::with(&files).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    write(checkout.path(), "n.txt", b"x\r\ny\n");
    write(checkout.path(), "run.sh", b"#!/bin/sh\n");
    fs::set_permissions(checkout.path().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(checkout.path().join("c.f"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a.txt", checkout.path().join("link")).unwrap();
    let sha = committed(&world, &checkout).await;
    let expected = [".gitattributes", "a.txt", "b.id"].map(|path| format!("100644 {path}"));
    let more = ["100755 c.f", "120000 link", "100644 n.txt", "100755 run.sh"].map(str::to_owned);
    assert_eq!(world.tree(&sha), [&expected[..], &more[..]].concat());
    let read = world.mirror.read_file(&sha, "n.txt", 100).await.unwrap().unwrap();
    assert_eq!(read.bytes, b"x\r\ny\n");
    assert_eq!(world.mirror.read_file(&sha, "link", 100).await.unwrap().unwrap().bytes, b"a.txt");
}

#[tokio::test]
async fn files_become_folders_and_folders_files() {
    let world = World::with(&[("a", "file"), ("b/c/d", "deep"), ("b/e", "e"), ("l/x", "x")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    fs::remove_file(checkout.path().join("a")).unwrap();
    write(checkout.path(), "a/x", b"inside");
    fs::remove_dir_all(checkout.path().join("b")).unwrap();
    write(checkout.path(), "b", b"now a file");
    fs::remove_dir_all(checkout.path().join("l")).unwrap();
    symlink("a", checkout.path().join("l")).unwrap();
    let sha = committed(&world, &checkout).await;
    assert_eq!(world.tree(&sha), ["100644 a/x", "100644 b", "120000 l"]);
}

#[tokio::test]
async fn odd_names_survive() {
    let names: [&[u8]; 9] = [
        b"new\nline",
        b"quo\"te",
        b"-dash",
        b"back\\slash",
        b" space ",
        "ünï".as_bytes(),
        b"\xff\xfe",
        b"tab\t",
        b"--upload-pack=x",
    ];
    let world = World::with(&[("-edit\n", "1"), ("-gone \"x\"", "1")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    for name in names {
        fs::write(checkout.path().join(OsStr::from_bytes(name)), name).unwrap();
    }
    fs::write(checkout.path().join("-edit\n"), "2").unwrap();
    fs::remove_file(checkout.path().join("-gone \"x\"")).unwrap();
    let prepared = commit(&world, &checkout).await.unwrap();
    prepared.keep("odd").await.unwrap();
    let listed = world.mirror.list_files(prepared.sha(), 100).await.unwrap();
    let mut expected: Vec<RepoPath> = names.iter().map(|name| RepoPath::new(*name)).collect();
    expected.push("-edit\n".into());
    expected.sort();
    let listed: Vec<RepoPath> = listed.entries.into_iter().map(|entry| entry.path).collect();
    assert_eq!(listed, expected);
    assert_eq!(prepared.changes().len(), 11);
    let again = world.mirror.checkout(prepared.sha()).await.unwrap();
    assert_eq!(fs::read(again.path().join(OsStr::from_bytes(b"\xff\xfe"))).unwrap(), b"\xff\xfe");
}

#[tokio::test]
async fn ignored_files_stay_behind_and_known_ones_do_not() {
    let rules = "target/\n*.log\n!keep.log\n/only-here\n";
    let base = [(".gitignore", rules), ("target/tracked", "t"), ("sub/.gitignore", "secret\n"), ("x.log", "tracked")];
    let world = World::with(&base).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    for path in ["target/new", "target/deep/new", "y.log", "sub/y.log", "sub/secret", "only-here", "sub/deep/secret"] {
        write(checkout.path(), path, b"ignored");
    }
    for path in ["keep.log", "sub/only-here", "target/tracked", "x.log", "secret"] {
        write(checkout.path(), path, b"counts");
    }
    let sha = committed(&world, &checkout).await;
    assert_eq!(world.changed(&sha), ["keep.log", "secret", "sub/only-here", "target/tracked", "x.log"]);
}

#[tokio::test]
async fn rules_in_the_tree_count_and_deleted_ones_still_do() {
    let world = World::with(&[(".gitignore", "build\n"), ("sub/.gitignore", "out\n")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    write(checkout.path(), ".gitignore", b"cache\n");
    fs::remove_file(checkout.path().join("sub/.gitignore")).unwrap();
    for path in ["build", "cache", "sub/out"] {
        write(checkout.path(), path, b"x");
    }
    let sha = committed(&world, &checkout).await;
    assert_eq!(world.changed(&sha), [".gitignore", "build", "sub/.gitignore"]);
}

#[tokio::test]
async fn a_conflict_is_resolved_by_a_commit_with_both_parents() {
    let world = World::with(&[("f", "base\n"), ("other", "o\n")]).await;
    let base = world.main().await;
    let theirs = world.people_push("main", &[("f", "theirs\n"), ("other", "theirs too\n")]);
    world.fetch().await;
    let files = [("f".to_owned(), Some(b"ours\n".to_vec()))].into();
    let ours = world.mirror.commit_files(files, &request(&[&base])).await.unwrap();
    let outcome = world.mirror.merge(&ours, &theirs).await.unwrap();
    let MergeOutcome::Conflict { tree, files } = outcome else { panic!("{outcome:?}") };
    assert_eq!(files, [RepoPath::from("f")]);
    let checkout = world.mirror.checkout_as_on(&ours, Some((&tree, &files)), &ours, &[]).await.unwrap();
    let marked = fs::read_to_string(checkout.path().join("f")).unwrap();
    assert!(marked.contains("<<<<<<<") && marked.contains("ours") && marked.contains("theirs"), "{marked}");
    write(checkout.path(), "f", b"both\n");
    let changes = checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
    let request = request(&[&ours, &theirs]);
    let prepared = world.mirror.commit_changes(&checkout, &changes, &request).await.unwrap().unwrap();
    prepared.keep("merge").await.unwrap();
    let info = world.mirror.commit_info(prepared.sha()).await.unwrap().unwrap();
    assert_eq!(info.parents, [ours, theirs]);
    let read = async |path| world.mirror.read_file(prepared.sha(), path, 99).await.unwrap().unwrap().text();
    assert_eq!((read("f").await, read("other").await), ("both\n".to_owned(), "theirs too\n".to_owned()));
}

#[tokio::test]
async fn what_instructs_agents_is_as_on_another_commit_and_no_part_of_the_work() {
    let files = [("CLAUDE.md", "ours\n"), ("f", "f\n"), (".cursor/rules/a.mdc", "ours\n"), ("sub/AGENTS.md", "ours\n")];
    let world = World::with(&files).await;
    let base = world.main().await;
    let head = world.people_push(
        "main",
        &[
            ("CLAUDE.md", "theirs\n"),
            ("f", "theirs\n"),
            (".codex/config.toml", "theirs\n"),
            ("sub/AGENTS.md", "theirs\n"),
        ],
    );
    world.fetch().await;
    let patterns = ["CLAUDE.md", "AGENTS.md", ".codex", ".cursor"];
    let checkout = world.mirror.checkout_as_on(&head, None, &base, &patterns).await.unwrap();
    let text = |path: &str| fs::read_to_string(checkout.path().join(path)).ok();
    assert_eq!(text("CLAUDE.md").as_deref(), Some("ours\n"));
    assert_eq!(text("sub/AGENTS.md").as_deref(), Some("ours\n"));
    assert_eq!(text(".cursor/rules/a.mdc").as_deref(), Some("ours\n"));
    assert_eq!(text(".codex/config.toml"), None);
    assert_eq!(text("f").as_deref(), Some("theirs\n"));
    assert_eq!(checkout.changed_paths().await.unwrap(), []);
    assert!(checkout.take_out(&TakeOutLimits::default(), []).await.unwrap().is_empty());
    write(checkout.path(), "new", b"n");
    let sha = committed(&world, &checkout).await;
    let read = async |path| world.mirror.read_file(&sha, path, 99).await.unwrap().unwrap().text();
    assert_eq!(read("CLAUDE.md").await, "theirs\n");
    assert_eq!(read(".codex/config.toml").await, "theirs\n");
    let changed = world.mirror.changed_files(&head, &sha).await.unwrap();
    assert_eq!(changed.len(), 1);
}

#[tokio::test]
async fn a_file_that_changes_while_it_is_read_is_told() {
    let world = World::with(&[("a", "1")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    write(checkout.path(), "a", b"first");
    let changes = checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
    write(checkout.path(), "a", b"second, longer");
    let refused = world.mirror.commit_changes(&checkout, &changes, &request(&[checkout.head()])).await;
    match refused.err() {
        Some(CommitError::TakeOut(TakeOutError::Changing(path))) => assert_eq!(path, RepoPath::from("a")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_write_of_a_reader_is_seen_and_reading_is_not() {
    let world = World::with(&[("a", "1"), ("d/b", "2"), (".gitignore", "ignored\n")]).await;
    let changed = async |spoil: &dyn Fn(&std::path::Path)| {
        let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
        spoil(checkout.path());
        let paths = checkout.changed_paths().await.unwrap();
        paths.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(changed(&|root| drop(fs::read(root.join("a")).unwrap())).await, Vec::<String>::new());
    assert_eq!(changed(&|root| write(root, "a", b"2")).await, ["a"]);
    assert_eq!(changed(&|root| write(root, "ignored", b"x")).await, ["ignored"]);
    assert_eq!(changed(&|root| fs::remove_file(root.join("d/b")).unwrap()).await, ["d/b"]);
    assert_eq!(changed(&|root| fs::rename(root.join("d"), root.join("e")).unwrap()).await, ["d/b", "e/b"]);
    assert_eq!(changed(&|root| fs::remove_dir_all(root).unwrap()).await, ["."]);
}

/// Same size, same inode, restored modification time: only the change time differs.
#[tokio::test]
async fn a_write_that_hides_its_time_is_seen() {
    let world = World::with(&[("a", "1111")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    let file = checkout.path().join("a");
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "2222").unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
    assert!(commit(&world, &checkout).await.is_some());
}

#[tokio::test]
async fn checkouts_go_away_and_do_not_disturb_each_other() {
    let world = World::with(&[("a", "1")]).await;
    let head = world.main().await;
    let (one, two) = tokio::join!(world.mirror.checkout(&head), world.mirror.checkout(&head));
    let (one, two) = (one.unwrap(), two.unwrap());
    write(one.path(), "a", b"changed");
    assert_eq!(fs::read(two.path().join("a")).unwrap(), b"1");
    assert_eq!(git(two.path(), &["status", "--porcelain"]), "");
    assert_eq!(git(two.path(), &["rev-parse", "HEAD"]), head.as_str());
    let closed = one.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let path = one.path().to_owned();
    drop(one);
    assert!(!path.exists() && two.path().exists());
}

#[tokio::test]
async fn the_folder_of_checkouts_is_made_again() {
    let world = World::with(&[("a", "1")]).await;
    let head = world.main().await;
    let folder = world.mirror.checkout(&head).await.unwrap().path().parent().unwrap().parent().unwrap().to_owned();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(fs::read(world.mirror.checkout(&head).await.unwrap().path().join("a")).unwrap(), b"1");
}

#[tokio::test]
async fn a_kept_checkout_outlives_its_process_until_it_is_settled() {
    let world = World::with(&[("edit", "before"), ("gone", "g"), ("same", "s"), ("d/.gitignore", "*.tmp\n")]).await;
    let base = world.main().await;
    let mut checkout = world.mirror.checkout(&base).await.unwrap();
    checkout.keep_as("1-autobuild/7/task-001").await.unwrap();
    write(checkout.path(), "edit", b"after\n");
    write(checkout.path(), "d/new", b"n");
    write(checkout.path(), "d/x.tmp", b"x");
    fs::remove_file(checkout.path().join("gone")).unwrap();
    drop(checkout);
    let other = world.mirror.checkout(&base).await.unwrap();
    let gone = other.home().to_path_buf();
    std::mem::forget(other);
    world.mirrors.sweep_leftovers(Millis(0)).unwrap();
    assert!(!gone.exists(), "a checkout that nobody keeps goes at the start");
    let mut again = world.mirror.unsettled("1-autobuild/7/task-001").await.unwrap();
    assert_eq!(again.head(), &base);
    let sha = committed(&world, &again).await;
    assert_eq!(world.tree(&sha), ["100644 d/.gitignore", "100644 d/new", "100644 edit", "100644 same"]);
    assert!(world.mirror.unsettled("1-autobuild/7/task-002").await.is_none());
    again.settle();
    again.keep_as("old").await.unwrap();
    drop(again);
    assert!(world.mirror.unsettled("1-autobuild/7/task-001").await.is_none());
    world.mirrors.sweep_leftovers(Millis(i64::MAX)).unwrap();
    assert!(world.mirror.unsettled("old").await.is_none(), "nothing is kept for ever");
}

#[tokio::test]
async fn a_mirror_that_is_deleted_takes_the_kept_checkouts_of_its_repository_along() {
    let world = World::with(&[("a", "1")]).await;
    let base = world.main().await;
    let mut folders = Vec::new();
    for name in ["7-autobuild/1/task-001", "77-autobuild/1/task-001"] {
        let mut checkout = world.mirror.checkout(&base).await.unwrap();
        checkout.keep_as(name).await.unwrap();
        folders.push(checkout.home().to_path_buf());
    }
    drop(world.mirror);
    assert_eq!(world.mirrors.forget(RepoId(7)), ForgetOutcome::Deleted);
    assert_eq!(folders.iter().map(|folder| folder.exists()).collect::<Vec<_>>(), [false, true]);
}

#[tokio::test]
async fn only_the_last_checkout_of_a_name_is_kept() {
    let world = World::with(&[("a", "1")]).await;
    let base = world.main().await;
    for text in [b"2", b"3"] {
        let mut checkout = world.mirror.checkout(&base).await.unwrap();
        checkout.keep_as("x").await.unwrap();
        write(checkout.path(), "a", text);
    }
    let kept = world.mirror.unsettled("x").await.unwrap();
    assert_eq!(fs::read(kept.path().join("a")).unwrap(), b"3");
    let folder = kept.home().parent().unwrap();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "the other one went");
    fs::remove_dir_all(kept.path()).unwrap();
    fs::create_dir(kept.path()).unwrap();
    write(kept.path(), "a", b"planted");
    assert!(world.mirror.unsettled("x").await.is_none(), "another folder is in its place");
}

/// Changes a file's time, as a change of its owner does.
fn hand_over(home: &Path) -> std::io::Result<bool> {
    let file = fs::File::options().write(true).open(home.join("work/a"))?;
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).map(|()| true)
}

#[tokio::test]
async fn a_checkout_that_was_handed_over_looks_unchanged_to_git() {
    let world = World::with(&[("a", "1")]).await;
    let address = world.remote.url().strip_suffix("/o/r.git").unwrap();
    let forge = ForgeAccess::new(address).unwrap();
    let mirrors = Mirrors::new(&world.folder().join("elsewhere"), forge, Some(hand_over)).unwrap();
    let mirror = mirrors.mirror(RepoId(7));
    mirror.fetch(&world.remote, &["main"]).await.unwrap();
    let checkout = mirror.checkout(&world.main().await).await.unwrap();
    assert_eq!(git(&checkout.home().join("work"), &["diff-index", "--name-only", "HEAD"]), "");
}

#[tokio::test]
async fn a_kept_checkout_that_is_handed_over_has_only_the_changes_that_it_had() {
    let world = World::with(&[("a", "1"), ("b", "1"), ("gone", "1")]).await;
    let mut checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    checkout.keep_as("x").await.unwrap();
    write(checkout.path(), "b", b"2");
    write(checkout.path(), "new", b"");
    fs::remove_file(checkout.path().join("gone")).unwrap();
    drop(checkout);
    let address = world.remote.url().strip_suffix("/o/r.git").unwrap();
    let forge = ForgeAccess::new(address).unwrap();
    let mirrors = Mirrors::new(&world.folder().join("data"), forge, Some(hand_over)).unwrap();
    let kept = mirrors.mirror(RepoId(7)).unsettled("x").await.unwrap();
    let expected = ["b", "gone", "new"].map(RepoPath::from);
    assert_eq!(kept.changed_paths().await.unwrap(), expected);
    drop(kept);
    let kept = world.mirror.unsettled("x").await.unwrap();
    assert_eq!(kept.changed_paths().await.unwrap(), expected);
}
