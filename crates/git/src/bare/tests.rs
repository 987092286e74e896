use super::*;
use std::collections::BTreeMap;

fn files(list: &[(&str, &str)]) -> BTreeMap<String, Option<Vec<u8>>> {
    list.iter().map(|(path, text)| ((*path).to_owned(), Some(text.as_bytes().to_vec()))).collect()
}

async fn commit(repo: &BareRepo, branch: &str, parent: Option<&str>, list: &[(&str, &str)]) -> String {
    let author = Ident::new("Ann <x>", "ann@example.com", 1_700_000_000);
    let files = files(list);
    let new = NewCommit { branch, parent, author: &author, message: "a change\n\nwith a body", files: &files };
    repo.write_commit(&new).await.unwrap()
}

#[tokio::test]
async fn a_commit_made_of_files_can_be_read_back_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let repo = BareRepo::init(&dir.path().join("a.git"), "main").await.unwrap();
    let base = commit(&repo, "main", None, &[("a.txt", "one\ntwo\n"), ("odd \"name\".txt", "x")]).await;
    let head = commit(&repo, "side", Some(&base), &[("a.txt", "one\n2\n"), ("src/b.txt", "new\n")]).await;
    assert_eq!(repo.file(&head, "src/b.txt").await.unwrap().unwrap(), b"new\n");
    assert_eq!(repo.file(&head, "odd \"name\".txt").await.unwrap().unwrap(), b"x");
    assert_eq!(repo.file(&head, "src").await.unwrap(), None);
    let seen = repo.compare(&base, &head).await.unwrap();
    assert_eq!((seen.ahead, seen.behind, seen.merge_base.as_deref()), (1, 0, Some(base.as_str())));
    let shown: Vec<_> = seen.files.iter().map(|f| (f.path.as_str(), f.kind, f.additions, f.deletions)).collect();
    assert_eq!(shown, [("a.txt", ChangeKind::Modified, 1, 1), ("src/b.txt", ChangeKind::Added, 1, 0)]);
    assert_eq!(seen.files[0].patch.as_deref(), Some("@@ -1,2 +1,2 @@\n one\n-two\n+2"));
    let facts = repo.commit(&head).await.unwrap().unwrap();
    assert_eq!((facts.author_name.as_str(), facts.message.as_str()), ("Ann x", "a change\n\nwith a body"));
    assert_eq!(facts.parents, [base]);
}

#[tokio::test]
async fn each_file_has_its_own_patch_whatever_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let repo = BareRepo::init(&dir.path().join("a.git"), "main").await.unwrap();
    let names = ["a \"b\".txt", "c\td", "e\\f", "g b/h", "ü", "z"];
    let with = |text| names.map(|name| (name, text));
    let base = commit(&repo, "main", None, &with("one\n")).await;
    let head = commit(&repo, "side", Some(&base), &with("two\n")).await;
    let seen = repo.compare(&base, &head).await.unwrap();
    assert_eq!(seen.files.len(), names.len());
    for file in seen.files {
        assert_eq!(file.patch.as_deref(), Some("@@ -1 +1 @@\n-one\n+two"), "{}", file.path);
    }
}

#[tokio::test]
async fn a_ref_moves_only_from_the_value_that_was_seen() {
    let dir = tempfile::tempdir().unwrap();
    let repo = BareRepo::init(&dir.path().join("a.git"), "main").await.unwrap();
    let one = commit(&repo, "main", None, &[("a", "1")]).await;
    let two = commit(&repo, "side", Some(&one), &[("a", "2")]).await;
    assert!(matches!(repo.update_ref("refs/heads/main", &two, ExpectedRef::At(&two)).await, Err(BareError::Moved(_))));
    assert!(matches!(repo.update_ref("refs/heads/main", &two, ExpectedRef::Missing).await, Err(BareError::Moved(_))));
    repo.update_ref("refs/heads/main", &two, ExpectedRef::At(&one)).await.unwrap();
    assert!(repo.is_ancestor(&one, &two).await.unwrap());
    assert!(!repo.is_ancestor(&two, &one).await.unwrap());
    repo.delete_ref("refs/heads/side").await.unwrap();
    assert_eq!(repo.refs("refs/heads/").await.unwrap().len(), 1);
}

#[tokio::test]
async fn merges_are_clean_or_name_the_files_in_conflict() {
    let dir = tempfile::tempdir().unwrap();
    let repo = BareRepo::init(&dir.path().join("a.git"), "main").await.unwrap();
    let base = commit(&repo, "main", None, &[("a", "1\n"), ("b", "1\n")]).await;
    let ours = commit(&repo, "main", Some(&base), &[("a", "2\n")]).await;
    let fits = commit(&repo, "fits", Some(&base), &[("b", "2\n")]).await;
    let fights = commit(&repo, "fights", Some(&base), &[("a", "3\n")]).await;
    assert!(matches!(repo.merge_tree(None, &ours, &fits).await.unwrap(), BareMerge::Clean(_)));
    assert_eq!(repo.merge_tree(None, &ours, &fights).await.unwrap(), BareMerge::Conflict(vec!["a".to_owned()]));
    let who = Ident::new("Forge", "forge@example.com", 1_700_000_001);
    let BareMerge::Clean(tip) = repo.replay(&ours, &fits, &who).await.unwrap() else {
        panic!("the commit fits");
    };
    assert_eq!(repo.commit(&tip).await.unwrap().unwrap().parents, [ours]);
    assert_eq!(repo.file(&tip, "b").await.unwrap().unwrap(), b"2\n");
}

#[tokio::test]
async fn an_import_copies_branches_and_leaves_the_source_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let source = BareRepo::init(&dir.path().join("source.git"), "trunk").await.unwrap();
    let tip = commit(&source, "trunk", None, &[("a", "1")]).await;
    let path = source.dir().to_str().unwrap().to_owned();
    let (copy, branch) = BareRepo::import(&dir.path().join("copy.git"), &path).await.unwrap();
    assert_eq!(branch, "trunk");
    assert_eq!(copy.commit_id("refs/heads/trunk").await.unwrap(), Some(tip));
    // Only a privileged user can change the owner. Otherwise the folder is imported as our own.
    let _ = std::os::unix::fs::chown(source.dir(), Some(54_321), None);
    let (_, branch) = BareRepo::import(&dir.path().join("again.git"), &path).await.unwrap();
    assert_eq!(branch, "trunk", "another user's repository");
    let empty = BareRepo::init(&dir.path().join("empty.git"), "main").await.unwrap();
    let path = empty.dir().to_str().unwrap().to_owned();
    assert!(BareRepo::import(&dir.path().join("none.git"), &path).await.is_err());
}
