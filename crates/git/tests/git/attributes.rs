//! Files in a checkout are as in a clone, and are stored as `git add` would store them.

use crate::origin::{World, git, request, write};
use autobuild_git::{Checkout, CommitError, ForbiddenChange, Policy, Prepared, RepoPath, TakeOutLimits};
use domain::{problem::Forbidden, protected_paths::ProtectedPaths};
use std::fs;
use text::secret::Secrets;

const ATTRIBUTES: &str = "*.bat text eol=crlf\n[attr]picture -text -diff\n*.pic picture\n*.id ident\n\
                          notes*.txt text working-tree-encoding=UTF-16LE-BOM\n*.f filter=x\n";

/// Returns `text` in UTF-16LE with a byte order mark.
fn utf16(text: &str) -> Vec<u8> {
    let words = std::iter::once(0xfeff).chain(text.encode_utf16());
    words.flat_map(u16::to_le_bytes).collect()
}

async fn commit(world: &World, checkout: &Checkout) -> Result<Option<Prepared>, CommitError> {
    let changes = checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
    assert_eq!(changes.findings, []);
    let request = request(&[checkout.head()]);
    world.mirror.commit_changes(checkout, &changes, &request).await
}

/// Returns the files that git would change in a fresh clone of the kept commit.
fn renormalized(world: &World, prepared: &Prepared) -> String {
    let clone = world.folder().join("clone");
    let _ = fs::remove_dir_all(&clone);
    git(world.folder(), &["init", "-q", "clone"]);
    let source = world.mirror.dir().to_str().unwrap().to_owned();
    git(&clone, &["fetch", "-q", &source, "+refs/autobuild/held/turn:refs/heads/turn"]);
    git(&clone, &["checkout", "-q", "turn"]);
    assert_eq!(git(&clone, &["rev-parse", "HEAD"]), prepared.sha().as_str());
    git(&clone, &["add", "--renormalize", "."]);
    git(&clone, &["status", "--porcelain"])
}

#[tokio::test]
async fn a_checkout_looks_like_a_clone_and_unchanged_files_stay_as_they_are() {
    let world = World::with(&[
        (".gitattributes", ATTRIBUTES),
        ("win/.gitattributes", "* text=auto eol=crlf\n"),
        ("run.bat", "off\r\n"),
        ("win/a.c", "int a;\n"),
        ("v.id", "$Id$\n"),
        ("old.txt", "one\r\ntwo\r\n"),
    ])
    .await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    let read = |path: &str| fs::read(checkout.path().join(path)).unwrap();
    assert_eq!(read("run.bat"), b"off\r\n");
    assert_eq!(read("win/a.c"), b"int a;\r\n");
    assert!(read("v.id").starts_with(b"$Id: "));
    assert!(commit(&world, &checkout).await.unwrap().is_none());
    // Written again unchanged.
    for path in ["run.bat", "win/a.c", "v.id"] {
        write(checkout.path(), path, &read(path));
    }
    assert!(commit(&world, &checkout).await.unwrap().is_none());
}

#[tokio::test]
async fn work_is_stored_as_git_add_would_store_it() {
    let world = World::with(&[(".gitattributes", ATTRIBUTES), ("run.bat", "off\r\n"), ("a.pic", "1")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    let attributes = format!("{ATTRIBUTES}*.csv text=auto eol=crlf\n");
    write(checkout.path(), ".gitattributes", attributes.as_bytes());
    write(checkout.path(), "run.bat", b"off\r\non\r\n");
    write(checkout.path(), "new.bat", b"a\r\nb\n");
    write(checkout.path(), "a.pic", b"\r\n\0\r\n");
    write(checkout.path(), "v.id", b"$Id: abc $\n");
    write(checkout.path(), "notes new.txt", &utf16("h\u{e9}llo\r\n"));
    write(checkout.path(), "deep/\u{fc}/notes.txt", &utf16("deep\n"));
    write(checkout.path(), "t.csv", b"1\r\n");
    let prepared = commit(&world, &checkout).await.unwrap().unwrap();
    prepared.keep("turn").await.unwrap();
    let read = async |path: &str| world.mirror.read_file(prepared.sha(), path, 99).await.unwrap().unwrap().bytes;
    assert_eq!(read("run.bat").await, b"off\non\n");
    assert_eq!(read("new.bat").await, b"a\nb\n");
    assert_eq!(read("a.pic").await, b"\r\n\0\r\n");
    assert_eq!(read("v.id").await, b"$Id$\n");
    assert_eq!(read("notes new.txt").await, "h\u{e9}llo\n".as_bytes());
    assert_eq!(read("deep/\u{fc}/notes.txt").await, b"deep\n");
    assert_eq!(read("t.csv").await, b"1\n");
    assert_eq!(renormalized(&world, &prepared), "");
    // The reverse, for files that are written into a checkout.
    let laid = ["run.bat", "a.pic", "notes.txt", "run.bat"];
    let laid = laid.map(|path| (RepoPath::from(path), (b"x\ny\n".to_vec(), 0o100_644)));
    let laid = world.mirror.in_work_tree(prepared.sha(), laid.to_vec()).await.unwrap();
    let bytes: Vec<Vec<u8>> = laid.into_iter().map(|(_, (bytes, _))| bytes).collect();
    let crlf = b"x\r\ny\r\n".to_vec();
    assert_eq!(bytes, [crlf.clone(), b"x\ny\n".to_vec(), utf16("x\ny\n"), crlf]);
}

#[tokio::test]
async fn line_ends_that_were_never_normalized_stay() {
    let world = World::with(&[("a.txt", "1\r\n2\r\n"), ("b.txt", "1\r\n")]).await;
    world.people_push("main", &[(".gitattributes", "* text=auto\n")]);
    world.fetch().await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    write(checkout.path(), "a.txt", b"1\r\n2\r\n3\r\n");
    write(checkout.path(), "new.txt", b"1\r\n");
    let prepared = commit(&world, &checkout).await.unwrap().unwrap();
    prepared.keep("turn").await.unwrap();
    assert_eq!(world.changed(prepared.sha()), ["a.txt", "new.txt"]);
    let read = async |path: &str| world.mirror.read_file(prepared.sha(), path, 99).await.unwrap().unwrap().bytes;
    assert_eq!(read("a.txt").await, b"1\r\n2\r\n3\r\n");
    assert_eq!(read("new.txt").await, b"1\n");
}

#[tokio::test]
async fn new_attributes_normalize_the_files_that_they_concern() {
    let files = [("a.txt", "1\r\n2\r\n"), ("b.txt", "1\n"), ("c.dat", "1\r\n"), ("v.id", "$Id: old $\n")];
    let world = World::with(&files).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    write(checkout.path(), ".gitattributes", b"*.txt text=auto\n*.id ident\n");
    let prepared = commit(&world, &checkout).await.unwrap().unwrap();
    prepared.keep("turn").await.unwrap();
    assert_eq!(world.changed(prepared.sha()), [".gitattributes", "a.txt", "v.id"]);
    assert_eq!(renormalized(&world, &prepared), "");
}

#[tokio::test]
async fn bytes_in_another_encoding_are_refused_with_the_rule() {
    let world = World::with(&[(".gitattributes", ATTRIBUTES)]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    write(checkout.path(), "notes.txt", b"plain");
    write(checkout.path(), "notes2.txt", &utf16("fine"));
    write(checkout.path(), "x/notes3.txt", b"odd");
    let Err(CommitError::NotEncoded(files)) = commit(&world, &checkout).await else {
        panic!("bytes in another encoding were stored");
    };
    let named: Vec<String> = files.iter().map(ToString::to_string).collect();
    let sentence =
        |path: &str| format!("{path} is not valid UTF-16LE-BOM, the working-tree-encoding that .gitattributes:5 names");
    assert_eq!(named, [sentence("notes.txt"), sentence("x/notes3.txt")]);
}

#[tokio::test]
async fn what_a_filter_would_store_is_refused_unless_it_has_stored_it() {
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n", "a".repeat(64));
    let world =
        World::with(&[(".gitattributes", "*.bin filter=lfs -text\n"), ("a.bin", &pointer), ("raw.dat", "raw\n")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    fs::rename(checkout.path().join("a.bin"), checkout.path().join("moved.bin")).unwrap();
    fs::copy(checkout.path().join("raw.dat"), checkout.path().join("raw.bin")).unwrap();
    write(checkout.path(), "made.bin", pointer.replace('a', "b").as_bytes());
    write(checkout.path(), "plain.txt", b"x");
    let prepared = commit(&world, &checkout).await.unwrap().unwrap();
    let policy = Policy::new(ProtectedPaths::new(&[]).unwrap(), Secrets::default());
    let found = policy.check(&prepared).await.unwrap();
    let refused = ["made.bin", "raw.bin"].map(|path| {
        let (filter, rule) = ("lfs".to_owned(), ".gitattributes:1".to_owned());
        ForbiddenChange::file(path, Forbidden::Filtered { filter, rule })
    });
    assert_eq!(found, refused);
}
