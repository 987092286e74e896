//! Histories from twenty years of git versions are accepted, unless they attack people who check them out.

use crate::origin::{World, careless, git};
use autobuild_git::GitError;
use std::{io::Write, process::Stdio};

const PERSON: &str = "A Person <p@example.invalid> 1313584730 +0000";

/// Writes an object without any check.
fn object(world: &World, kind: &str, content: &[u8]) -> String {
    let mut git = careless(&world.forge_repository());
    let git = git.args(["hash-object", "-t", kind, "--literally", "-w", "--stdin"]);
    let mut child = git.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(content).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Makes a tree of unchecked entries: mode, name, object.
fn tree(world: &World, entries: &[(&str, &str, &str)]) -> String {
    let mut content = Vec::new();
    for (mode, name, id) in entries {
        content.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        let digits = id.as_bytes().chunks(2);
        content.extend(digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()));
    }
    object(world, "tree", &content)
}

fn commit(world: &World, tree: &str, people: &str) -> String {
    let parent = git(&world.forge_repository(), &["rev-parse", "main"]);
    let content = format!("tree {tree}\nparent {parent}\n{people}\nAs it was\n");
    object(world, "commit", content.as_bytes())
}

/// Makes the commit the parent of a plain one at the tip of `main`, and fetches that.
async fn fetched(world: &World, commit: &str) -> Result<(), GitError> {
    let forge = world.forge_repository();
    let tree = git(&forge, &["rev-parse", "main^{tree}"]);
    let content = format!("tree {tree}\nparent {commit}\nauthor {PERSON}\ncommitter {PERSON}\n\nAs it is\n");
    let tip = object(world, "commit", content.as_bytes());
    let before = git(&forge, &["rev-parse", "main"]);
    git(&forge, &["update-ref", "refs/heads/main", &tip]);
    let fetched = world.mirror.fetch(&world.remote, &["main"]).await;
    match &fetched {
        Ok(()) => assert_eq!(world.main().await.as_str(), tip),
        Err(_) => drop(git(&forge, &["update-ref", "refs/heads/main", &before])),
    }
    fetched
}

#[tokio::test]
async fn who_and_when_may_be_told_in_any_way() {
    let world = World::with(&[("a", "1")]).await;
    let tree = git(&world.forge_repository(), &["rev-parse", "main^{tree}"]);
    let authors = [
        "author A Person <p@example.invalid> 1313584730 +051800",
        "author A Person <p@example.invalid> 4559547106 -7349423",
        "author A Person <p@example.invalid> 99999999999999999999999 +0000",
        "author A Person <p@example.invalid> 0131 +0000",
        "author A Person <p@example.invalid> soon",
        "author A Person <p@example.invalid>1313584730 +0000",
        "author A Person<p@example.invalid> 1313584730 +0000",
        "author <p@example.invalid> 1313584730 +0000",
        "author A Person 1313584730 +0000",
        "author A Person <p@example.invalid 1313584730 +0000",
        "author A <b> Person <p@example.invalid> 1313584730 +0000",
        "author A Person <p@example.invalid> 1 +0000\nauthor Another <q@example.invalid> 2 +0000",
    ];
    for author in authors {
        let odd = commit(&world, &tree, &format!("{author}\ncommitter {PERSON}\n"));
        assert!(fetched(&world, &odd).await.is_ok(), "{author}");
    }
    for nobody in [format!("committer {PERSON}\n"), format!("author {PERSON}\n")] {
        let odd = commit(&world, &tree, &nobody);
        assert!(fetched(&world, &odd).await.is_ok(), "{nobody}");
    }
}

#[tokio::test]
async fn old_spellings_of_a_tree_are_taken_and_can_be_checked_out() {
    let world = World::with(&[("a", "1"), ("dir/b", "2")]).await;
    let forge = world.forge_repository();
    let (a, dir) = (git(&forge, &["rev-parse", "main:a"]), git(&forge, &["rev-parse", "main:dir"]));
    let people = format!("author {PERSON}\ncommitter {PERSON}\n");
    let padded = tree(&world, &[("100644", "a", &a), ("040000", "dir", &dir)]);
    let modes = tree(&world, &[("100664", "a", &a), ("40000", "dir", &dir)]);
    let null = "0".repeat(40);
    let unknown = tree(&world, &[("100644", "a", &a), ("160000", "module", &null)]);
    for odd in [&padded, &modes, &unknown] {
        assert!(fetched(&world, &commit(&world, odd, &people)).await.is_ok(), "{odd}");
    }
    // Also if it is the base of the work.
    let tip = commit(&world, &padded, &people);
    git(&forge, &["update-ref", "refs/heads/main", &tip]);
    world.fetch().await;
    let head = world.main().await;
    let checkout = world.mirror.checkout(&head).await.unwrap();
    assert_eq!(std::fs::read_to_string(checkout.path().join("dir/b")).unwrap(), "2");
    let files = [("c".to_owned(), Some(b"3".to_vec()))].into();
    let made = world.mirror.commit_files(files, &crate::origin::request(&[&head])).await.unwrap();
    assert_eq!(world.tree(&made), ["100644 a", "100644 c", "100644 dir/b"]);
}

#[tokio::test]
async fn what_attacks_a_checkout_is_refused_with_gits_own_line() {
    let world = World::with(&[("a", "1")]).await;
    let forge = world.forge_repository();
    let a = git(&forge, &["rev-parse", "main:a"]);
    let people = format!("author {PERSON}\ncommitter {PERSON}\n");
    let sub = tree(&world, &[("100644", "config", &a)]);
    let option = "[submodule \"x\"]\n\tpath = x\n\turl = --upload-pack=sh\n";
    let option = object(&world, "blob", option.as_bytes());
    let name = "[submodule \"../../x\"]\n\tpath = x\n\turl = https://example.invalid/x\n";
    let name = object(&world, "blob", name.as_bytes());
    let attacks = [
        ("hasDotgit", tree(&world, &[("40000", ".git", &sub)])),
        ("hasDotgit", tree(&world, &[("40000", ".GIT", &sub)])),
        ("hasDotgit", tree(&world, &[("40000", "git~1", &sub)])),
        ("hasDotdot", tree(&world, &[("40000", "..", &sub)])),
        ("hasDot", tree(&world, &[("40000", ".", &sub)])),
        ("fullPathname", tree(&world, &[("100644", "../../x", &a)])),
        ("duplicateEntries", tree(&world, &[("120000", "a", &a), ("40000", "a", &sub)])),
        ("treeNotSorted", tree(&world, &[("100644", "b", &a), ("100644", "a", &a)])),
        ("gitmodulesSymlink", tree(&world, &[("120000", ".gitmodules", &a)])),
        ("gitmodulesUrl", tree(&world, &[("100644", ".gitmodules", &option)])),
        ("gitmodulesName", tree(&world, &[("100644", ".gitmodules", &name)])),
    ];
    for (rule, tree) in attacks {
        match fetched(&world, &commit(&world, &tree, &people)).await {
            Err(GitError::History(said)) => {
                assert!(said.starts_with("error: object ") && said.contains(rule), "{rule}: {said}");
            }
            other => panic!("{rule}: {other:?}"),
        }
    }
}
