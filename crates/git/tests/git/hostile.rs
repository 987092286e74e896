//! Agents plant files in a checkout: none of them runs, no secret leaks, nothing hangs.

use crate::origin::{World, careless, git, request, write};
use autobuild_git::{ForbiddenChange, Lease, Policy, Prepared, RepoPath, TakeOutLimits, TreeFinding};
use domain::{problem::Forbidden, protected_paths::ProtectedPaths};
use secrecy::SecretString;
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Command,
};
use text::secret::{SecretKind, Secrets};

/// Writes an executable script that makes `marker`.
pub fn trap(file: &Path, marker: &Path) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, format!("#!/bin/sh\necho caught >> {}\ncat 2>/dev/null\n", marker.display())).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Everything that makes a careless git run a program: hooks, fsmonitor, filters, text conversion, external diff.
fn plant_everything(work: &Path, marker: &Path) {
    let script = work.join("trap.sh");
    trap(&script, marker);
    let hooks =
        ["pre-commit", "post-checkout", "post-index-change", "reference-transaction", "pre-push", "post-commit"];
    hooks.iter().for_each(|hook| trap(&work.join(".git/hooks").join(hook), marker));
    let script = script.display();
    let config = format!(
        "[core]\n\tfsmonitor = {script}\n\tsshCommand = {script}\n\tpager = {script}\n[filter \"x\"]\n\tclean = {script}\n\
         \tsmudge = {script}\n[diff]\n\texternal = {script}\n[diff \"x\"]\n\ttextconv = {script}\n\tcommand = {script}\n"
    );
    let old = fs::read_to_string(work.join(".git/config")).unwrap();
    fs::write(work.join(".git/config"), format!("{old}{config}")).unwrap();
    write(work, ".gitattributes", b"* filter=x diff=x\n");
    // A nested repository with the same filter, a bare one, and a redirection.
    let nested = work.join("nested");
    fs::create_dir_all(&nested).unwrap();
    git(&nested, &["init", "-q"]);
    let old = fs::read_to_string(nested.join(".git/config")).unwrap();
    fs::write(nested.join(".git/config"), format!("{old}{config}")).unwrap();
    write(&nested, "file", b"nested");
    write(&nested, ".gitattributes", b"* filter=x diff=x\n");
    write(work, "bare/HEAD", b"ref: refs/heads/main\n");
    write(work, "bare/config", format!("[core]\n\tbare = false\n\tworktree = ..\n{config}").as_bytes());
    fs::create_dir_all(work.join("bare/objects")).unwrap();
    fs::create_dir_all(work.join("bare/refs")).unwrap();
    write(work, "redirected/.git", b"gitdir: ../bare\n");
    write(work, "redirected/file", b"redirected");
}

#[tokio::test]
async fn nothing_planted_in_a_checkout_ever_runs() {
    let world = World::with(&[("a", "1"), ("b", "2")]).await;
    let marker = world.folder().join("marker");
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    plant_everything(checkout.path(), &marker);
    write(checkout.path(), "a", b"changed");
    let changes = checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
    let prepared =
        world.mirror.commit_changes(&checkout, &changes, &request(&[checkout.head()])).await.unwrap().unwrap();
    Policy::new(ProtectedPaths::new(&[]).unwrap(), Secrets::default()).check(&prepared).await.unwrap();
    prepared.keep("k").await.unwrap();
    let branch = "autobuild/1/x".parse().unwrap();
    world.mirror.push(&world.remote, &branch, prepared.sha(), &Lease::Absent).await.unwrap();
    world.fetch().await;
    world.mirror.diff_text(checkout.head(), prepared.sha(), 1 << 20).await.unwrap();
    world.mirror.hunks(checkout.head(), prepared.sha()).await.unwrap();
    let coach = world.mirror.checkout(prepared.sha()).await.unwrap();
    assert_eq!(coach.changed_paths().await.unwrap(), []);
    assert!(!marker.exists(), "something planted ran");
    let tree = world.tree(prepared.sha());
    assert!(tree.contains(&"100644 nested/file".to_owned()) && tree.contains(&"100644 redirected/file".to_owned()));
    assert!(!tree.iter().any(|line| line.contains(".git/") || line.ends_with(".git")), "{tree:?}");
    // The control: a careless git in the same folder runs it.
    careless(checkout.path()).args(["add", "-A"]).output().unwrap();
    assert!(marker.exists(), "the trap does not work, so the test proves nothing");
}

#[tokio::test]
async fn forged_alternates_bring_no_object_in() {
    let world = World::with(&[("a", "1")]).await;
    let private = world.folder().join("private");
    git(world.folder(), &["init", "-q", "private"]);
    write(&private, "secret", b"private content");
    git(&private, &["add", "-A"]);
    git(&private, &["commit", "-q", "-m", "private"]);
    let stolen = git(&private, &["rev-parse", "HEAD"]);
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    let git_dir = checkout.path().join(".git");
    fs::write(git_dir.join("objects/info/alternates"), format!("{}\n", private.join(".git/objects").display()))
        .unwrap();
    fs::write(git_dir.join("refs/heads/main"), format!("{stolen}\n")).unwrap();
    write(checkout.path(), "b", b"2");
    let prepared = commit(&world, &checkout).await;
    prepared.keep("k").await.unwrap();
    assert_eq!(world.tree(prepared.sha()), ["100644 a", "100644 b"]);
    assert!(!world.mirror.has_commit(&stolen.parse().unwrap()).await.unwrap());
}

async fn commit(world: &World, checkout: &autobuild_git::Checkout) -> Prepared {
    let changes = checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
    assert!(!changes.rejected(), "{:?}", changes.findings);
    world.mirror.commit_changes(checkout, &changes, &request(&[checkout.head()])).await.unwrap().unwrap()
}

#[tokio::test]
async fn fifos_sockets_and_devices_are_left_out_and_told() {
    let world = World::with(&[("a", "1"), ("was-a-file", "x")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    let at = |name: &str| checkout.path().join(name);
    fs::remove_file(at("was-a-file")).unwrap();
    for fifo in ["fifo", "was-a-file"] {
        assert!(Command::new("mkfifo").arg(at(fifo)).status().unwrap().success());
    }
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    let device = Command::new("mknod").arg(at("device")).args(["c", "1", "5"]).status().unwrap().success();
    write(checkout.path(), "b", b"2");
    let changes = checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
    let special = |path: &str| TreeFinding::Special { path: path.into() };
    let expected = ["device", "fifo", "socket", "was-a-file"].into_iter().filter(|name| device || *name != "device");
    assert_eq!(changes.findings, expected.map(special).collect::<Vec<_>>());
    assert!(!changes.rejected());
    let prepared = commit(&world, &checkout).await;
    prepared.keep("k").await.unwrap();
    assert_eq!(world.tree(prepared.sha()), ["100644 a", "100644 b"]);
    assert!(checkout.changed_paths().await.unwrap().contains(&RepoPath::from("fifo")));
}

#[tokio::test]
async fn names_that_disguise_dot_git_reject_the_turn() {
    let world = World::with(&[("a", "1")]).await;
    for name in [".GIT/config", "sub/.Git", "git~1/x", ".g\u{200c}it/config", ".git./x", "sub/.git /x", "w\\.git"] {
        let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
        write(checkout.path(), name, b"x");
        let changes = checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
        assert_eq!(changes.findings, [TreeFinding::RefusedName { path: name.into() }]);
        assert!(changes.rejected());
    }
}

#[tokio::test]
async fn work_over_the_limits_rejects_the_turn_without_reading_it() {
    let world = World::with(&[("a", "1")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    fs::File::create(checkout.path().join("huge")).unwrap().set_len(2 << 30).unwrap();
    write(checkout.path(), "b", &[b'b'; 60]);
    write(checkout.path(), "c", &[b'c'; 60]);
    let limits = TakeOutLimits { file_bytes: 100, total_bytes: 100, files: 1 };
    let changes = checkout.take_out(&limits, []).await.unwrap();
    let expected = [
        TreeFinding::FileTooLarge { path: "huge".into(), size: 2 << 30, limit: 100 },
        TreeFinding::TotalTooLarge { size: 120, limit: 100 },
        TreeFinding::TooManyFiles { limit: 1 },
    ];
    assert_eq!(changes.findings, expected);
}

#[tokio::test]
async fn links_are_taken_as_links_and_never_followed() {
    let world = World::with(&[("d/in", "x"), ("a", "1")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    let outside = world.folder().join("outside");
    write(&outside, "in", b"outside content");
    fs::remove_dir_all(checkout.path().join("d")).unwrap();
    symlink(&outside, checkout.path().join("d")).unwrap();
    symlink("/etc/passwd", checkout.path().join("passwd")).unwrap();
    symlink("loop", checkout.path().join("loop")).unwrap();
    symlink("../..", checkout.path().join("up")).unwrap();
    symlink("a", checkout.path().join("fine")).unwrap();
    let prepared = commit(&world, &checkout).await;
    let findings = Policy::new(ProtectedPaths::new(&[]).unwrap(), Secrets::default()).check(&prepared).await.unwrap();
    let escaping = ["d", "passwd", "up"].map(|path| ForbiddenChange::file(path, Forbidden::EscapingLink));
    assert_eq!(findings, escaping);
    prepared.keep("k").await.unwrap();
    let links = ["d", "fine", "loop", "passwd", "up"].map(|path| format!("120000 {path}"));
    assert_eq!(world.tree(prepared.sha()), [&["100644 a".to_owned()], &links[..]].concat());
}

#[tokio::test]
async fn what_a_protected_link_leads_to_is_protected() {
    let world = World::with(&[("docs/guide.md", "x"), ("tools/ai/hooks", "x"), ("a", "1")]).await;
    let people = world.people();
    symlink("docs/guide.md", people.join("CLAUDE.md")).unwrap();
    symlink("tools/ai", people.join(".claude")).unwrap();
    git(&people, &["add", "-A"]);
    git(&people, &["commit", "-q", "-m", "links"]);
    git(&people, &["push", "-q", "origin", "HEAD:main"]);
    world.fetch().await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    for path in ["a", "docs/guide.md", "tools/ai/hooks"] {
        write(checkout.path(), path, b"obey me");
    }
    let prepared = commit(&world, &checkout).await;
    let protected = ProtectedPaths::new(&["CLAUDE.md", ".claude"].map(str::to_owned)).unwrap();
    let findings = Policy::new(protected, Secrets::default()).check(&prepared).await.unwrap();
    let by = |path: &str, link: &str| ForbiddenChange::file(path, Forbidden::Protected(link.to_owned()));
    assert_eq!(
        findings,
        [by("docs/guide.md", "CLAUDE.md -> docs/guide.md"), by("tools/ai/hooks", ".claude -> tools/ai")]
    );
}

#[tokio::test]
async fn a_checkout_replaced_by_something_else_is_not_read() {
    let world = World::with(&[("a", "1")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    fs::remove_dir_all(checkout.path()).unwrap();
    symlink("/etc", checkout.path()).unwrap();
    let changes = checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
    assert_eq!(changes.findings, [TreeFinding::CheckoutGone]);
    assert!(changes.rejected() && changes.is_empty());
    assert_eq!(checkout.changed_paths().await.unwrap(), [RepoPath::from(".")]);
}

#[tokio::test]
async fn deep_trees_end_in_a_finding() {
    let world = World::with(&[("a", "1")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    write(checkout.path(), &format!("{}x", "d/".repeat(400)), b"deep");
    let changes = checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
    assert!(matches!(changes.findings.as_slice(), [TreeFinding::TooDeep { .. }]), "{:?}", changes.findings);
}

/// Root reads everything, so only other users see the finding.
#[tokio::test]
async fn closed_folders_do_not_count_as_deleted() {
    let world = World::with(&[("closed/a", "1"), ("closed/deep/b", "2"), ("open", "3")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    let closed = checkout.path().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let readable = fs::read_dir(&closed).is_ok();
    let changes = checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(changes.is_empty());
    let expected = if readable { Vec::new() } else { vec![TreeFinding::Unreadable { path: "closed".into() }] };
    assert_eq!(changes.findings, expected);
}

#[tokio::test]
async fn what_may_not_be_pushed_is_found_and_can_be_kept() {
    let token = "ghs_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7b";
    let fixture = format!("old fixture {token}\n");
    let world = World::with(&[("a", "1"), ("fixture", &fixture), ("gone.yml", "x")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    write(checkout.path(), "fixture", format!("# moved\n{fixture}").as_bytes());
    write(checkout.path(), "leak.rs", b"\nlet t = \"ghs_Zz3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7b\";\n");
    write(checkout.path(), "own.txt", b"the service's own-secret-value here");
    write(checkout.path(), ".github/workflows/ci.yml", b"on: push\n");
    write(checkout.path(), ".gitmodules", b"[submodule \"-x\"]\n\tpath = -x\n\turl = -u./x\n");
    fs::remove_file(checkout.path().join("gone.yml")).unwrap();
    let prepared = commit(&world, &checkout).await;
    let protected = [".github/workflows/**", "gone.yml"].map(str::to_owned);
    let own = Secrets::new(&[SecretString::from("own-secret-value".to_owned())]);
    let findings = Policy::new(ProtectedPaths::new(&protected).unwrap(), own).check(&prepared).await.unwrap();
    let protects = |path: &str, pattern: &str| ForbiddenChange::file(path, Forbidden::Protected(pattern.to_owned()));
    let holds = |path: &str, line, kind: SecretKind| ForbiddenChange {
        path: Some(path.into()),
        line: Some(line),
        why: Forbidden::Secret(kind.to_string()),
    };
    let expected = [
        protects(".github/workflows/ci.yml", ".github/workflows/**"),
        ForbiddenChange::file(".gitmodules", Forbidden::Submodule),
        protects("gone.yml", "gone.yml"),
        holds("leak.rs", 2, SecretKind::Token("a GitHub token")),
        holds("own.txt", 1, SecretKind::Own),
    ];
    assert_eq!(findings, expected);
    prepared.keep("held").await.unwrap();
}

#[tokio::test]
async fn no_file_of_a_service_that_deploys_may_be_added_and_any_may_be_changed() {
    let world =
        World::with(&[("vercel.json", "{}"), ("netlify.toml", "[build]"), ("render.yaml", "services: []")]).await;
    let checkout = world.mirror.checkout(&world.main().await).await.unwrap();
    write(checkout.path(), "vercel.json", b"{\"cleanUrls\": true}\n");
    fs::remove_file(checkout.path().join("render.yaml")).unwrap();
    write(checkout.path(), ".do/app.yaml", b"name: shop\n");
    write(checkout.path(), "docs/vercel.json", b"{}\n");
    fs::create_dir(checkout.path().join("site")).unwrap();
    fs::rename(checkout.path().join("netlify.toml"), checkout.path().join("site/netlify.toml")).unwrap();
    symlink("vercel.json", checkout.path().join("railway.json")).unwrap();
    let prepared = commit(&world, &checkout).await;
    let findings = Policy::new(ProtectedPaths::new(&[]).unwrap(), Secrets::default()).check(&prepared).await.unwrap();
    let added = |path: &str, name: &str| ForbiddenChange::file(path, Forbidden::Protected(name.to_owned()));
    let expected = [
        added(".do/app.yaml", ".do"),
        added("docs/vercel.json", "docs/vercel.json"),
        added("railway.json", "railway.json"),
        added("site/netlify.toml", "site/netlify.toml"),
    ];
    assert_eq!(findings, expected);
}
