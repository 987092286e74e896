//! Reading a mirror: files, lists, diffs, visible lines, ancestry, merges.

use crate::origin::{World, git, request};
use autobuild_git::{ChangedFile, FileStatus, GitError, MergeOutcome};
use domain::ids::Sha;

async fn child(world: &World, parents: &[&Sha], files: &[(&str, &str)]) -> Sha {
    let files = files.iter().map(|(path, content)| ((*path).to_owned(), Some(content.as_bytes().to_vec())));
    world.mirror.commit_files(files.collect(), &request(parents)).await.unwrap()
}

fn missing() -> Sha {
    "1".repeat(40).parse().unwrap()
}

#[tokio::test]
async fn files_are_read_up_to_a_cap() {
    let world = World::with(&[("d/f", "0123456789"), ("odd\nname", "x")]).await;
    let head = world.main().await;
    let read = async |path: &str, cap| world.mirror.read_file(&head, path, cap).await.unwrap();
    let whole = read("d/f", 100).await.unwrap();
    assert_eq!((whole.bytes.as_slice(), whole.truncated), (&b"0123456789"[..], false));
    let part = read("d/f", 4).await.unwrap();
    assert_eq!((part.bytes.as_slice(), part.truncated), (&b"0123"[..], true));
    assert_eq!(read("odd\nname", 9).await.unwrap().text(), "x");
    for absent in ["d", "nothing", "", "-x", "../x", "d/f/g"] {
        assert_eq!(read(absent, 9).await, None, "{absent}");
    }
    assert_eq!(world.mirror.read_file(&missing(), "d/f", 9).await.unwrap(), None);
    let list = world.mirror.list_files(&head, 1).await.unwrap();
    assert_eq!((list.entries.len(), list.truncated), (1, true));
    assert!(!world.mirror.list_files(&head, 2).await.unwrap().truncated);
    // The list is cached now.
    assert_eq!(read("odd\nname", 9).await.unwrap().text(), "x");
    for absent in ["d", "nothing", "d/f/g", "d/f/"] {
        assert_eq!(read(absent, 9).await, None, "{absent}");
    }
}

#[tokio::test]
async fn a_branch_is_found_where_git_packed_it_and_where_it_moved_since() {
    let world = World::with(&[("a", "1")]).await;
    let (packed, file) = (world.main().await, world.mirror.dir().join("refs/heads/main"));
    assert!(file.exists());
    git(world.mirror.dir(), &["pack-refs", "--all"]);
    assert!(!file.exists());
    assert_eq!(world.main().await, packed);
    let moved = world.people_push("main", &[("a", "2")]);
    world.mirror.fetch(&world.remote, &["main"]).await.unwrap();
    assert_eq!(world.main().await, moved);
}

#[tokio::test]
async fn commits_that_are_not_there_are_told() {
    let world = World::with(&[("a", "1")]).await;
    let head = world.main().await;
    assert_eq!(world.mirror.commit_info(&missing()).await.unwrap(), None);
    assert!(!world.mirror.has_commit(&missing()).await.unwrap());
    assert!(world.mirror.has_commit(&head).await.unwrap());
    match world.mirror.checkout(&missing()).await {
        Err(GitError::Missing(name)) => assert_eq!(name, missing().as_str()),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.mirror.rev_parse(&"nope".parse().unwrap()).await.unwrap(), None);
}

#[tokio::test]
async fn diffs_show_status_text_and_visible_lines() {
    let long: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    let world = World::with(&[("long", &long), ("moved", &long.replace("line", "row")), ("gone", "g\n")]).await;
    let base = world.main().await;
    git(&world.people(), &["mv", "moved", "new name"]);
    git(&world.people(), &["rm", "-q", "gone"]);
    let changed = long.replace("line 20\n", "line twenty\n++ b/long\n");
    let head = world.people_push("main", &[("long", &changed), ("added", "1\n2\n")]);
    world.fetch().await;
    let files = world.mirror.changed_files(&base, &head).await.unwrap();
    let file = |path: &str, status| ChangedFile { path: path.into(), status };
    let expected = [
        file("added", FileStatus::Added),
        file("gone", FileStatus::Deleted),
        file("long", FileStatus::Modified),
        file("new name", FileStatus::Renamed { from: "moved".into() }),
    ];
    assert_eq!(files, expected);
    let lines = world.mirror.hunks(&base, &head).await.unwrap();
    let shown: Vec<u32> = (1..=45).filter(|line| lines.shows("long", *line)).collect();
    assert_eq!(shown, (17..=24).collect::<Vec<_>>());
    assert!(
        lines.shows("added", 2) && !lines.shows("added", 3) && !lines.shows("gone", 1) && !lines.shows("new name", 1)
    );
    let text = world.mirror.diff_text(&base, &head, 1 << 20).await.unwrap();
    assert!(text.text.contains("+line twenty") && !text.truncated);
    let cut = world.mirror.diff_text(&base, &head, 50).await.unwrap();
    assert_eq!((cut.text.len(), cut.truncated), (50, true));
    assert_eq!(world.mirror.diff_raw(&base, &head).await.unwrap().len(), 5);
}

#[tokio::test]
async fn ancestry_and_merges() {
    let world = World::with(&[("a", "1\n"), ("b", "1\n")]).await;
    let base = world.main().await;
    let ours = child(&world, &[&base], &[("a", "2\n")]).await;
    let theirs = child(&world, &[&base], &[("b", "2\n")]).await;
    let mirror = &world.mirror;
    assert_eq!(mirror.merge_base(&ours, &theirs).await.unwrap(), Some(base.clone()));
    assert!(mirror.is_ancestor(&base, &ours).await.unwrap() && mirror.is_ancestor(&ours, &ours).await.unwrap());
    assert!(!mirror.is_ancestor(&theirs, &ours).await.unwrap());
    assert_eq!(mirror.merge(&ours, &base).await.unwrap(), MergeOutcome::AlreadyUpToDate);
    assert_eq!(mirror.merge(&base, &ours).await.unwrap(), MergeOutcome::FastForward);
    let outcome = mirror.merge(&ours, &theirs).await.unwrap();
    let MergeOutcome::Clean { tree } = outcome else { panic!("{outcome:?}") };
    let merged = mirror.commit_merge(&tree, &request(&[&ours, &theirs])).await.unwrap();
    let info = mirror.commit_info(&merged).await.unwrap().unwrap();
    assert_eq!((info.tree, info.parents), (tree, vec![ours.clone(), theirs]));
    assert_eq!(info.trailers.len(), 1);
    let read = async |path| mirror.read_file(&merged, path, 9).await.unwrap().unwrap().text();
    assert_eq!((read("a").await, read("b").await), ("2\n".to_owned(), "2\n".to_owned()));
    let root = child(&world, &[], &[("z", "1")]).await;
    assert_eq!(mirror.merge(&ours, &root).await.unwrap(), MergeOutcome::Unrelated);
    assert_eq!(mirror.merge_base(&ours, &root).await.unwrap(), None);
}

#[tokio::test]
async fn a_pointer_of_git_lfs_is_found_without_any_attributes() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:\
                   4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
    let about = format!("This file is not one:\n{pointer}");
    let world = World::with(&[("about.md", about.as_str()), ("empty", "")]).await;
    let head = world.main().await;
    assert_eq!(world.mirror.lfs_pointer(&head).await.unwrap(), None);
    let head = child(&world, &[&head], &[("art/logo.png", pointer)]).await;
    let found = world.mirror.lfs_pointer(&head).await.unwrap().unwrap();
    assert_eq!(found.to_string(), "art/logo.png");
}
