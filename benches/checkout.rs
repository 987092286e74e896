//! The time of a second checkout of a repository with 700 files and 190 MiB of history, compared with a full clone.

#![allow(clippy::expect_used, reason = "a bench that cannot go on has failed")]

use domain::ids::{RepoId, Sha};
use git::{ForgeAccess, Mirrors};
use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const FILES: usize = 700;
const COMMITS: usize = 190;
const ROUNDS: usize = 5;
const MEBIBYTE: usize = 1 << 20;

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let origin = folder.path().join("origin.git");
    git(folder.path(), &["init", "-q", "--bare", "-b", "main", "origin.git"]);
    generate(&origin);
    let head: Sha = git(&origin, &["rev-parse", "main"]).parse().expect("a commit");

    let access = ForgeAccess::new("http://127.0.0.1:9").expect("an address");
    let mirrors = Mirrors::new(&folder.path().join("data"), access, None).expect("a data folder");
    let mirror = mirrors.mirror(RepoId(1));
    let (from, to) = (origin.display().to_string(), mirror.dir().display().to_string());
    git(folder.path(), &["clone", "-q", "--bare", &from, &to]);
    drop(mirror.checkout(&head).await.expect("a first checkout"));

    let (mut clones, mut checkouts) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let begun = Instant::now();
        let name = format!("clone-{round}");
        git(folder.path(), &["clone", "-q", &format!("file://{from}"), &name]);
        clones.push(begun.elapsed());
        let begun = Instant::now();
        let checkout = mirror.checkout(&head).await.expect("a checkout");
        checkouts.push(begun.elapsed());
        drop(checkout);
        std::fs::remove_dir_all(folder.path().join(name)).expect("the clone is ours");
    }
    let (clone, checkout) = (median(&mut clones), median(&mut checkouts));
    let ratio = clone.as_secs_f64() / checkout.as_secs_f64();
    println!("full clone {clone:.1?}, second checkout {checkout:.1?}: 1/{ratio:.0} (medians of {ROUNDS})");
}

/// Streams the history into git: each commit has another version of a file of one mebibyte that cannot be compressed.
fn generate(origin: &Path) {
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(origin)
        .stdin(Stdio::piped())
        .spawn()
        .expect("git starts");
    let mut stream = import.stdin.take().expect("a pipe");
    let mut say = |bytes: &[u8]| stream.write_all(bytes).expect("git listens");
    let mut noise = vec![0; MEBIBYTE];
    for commit in 0..COMMITS {
        let who = format!("commit refs/heads/main\ncommitter A <a@example.org> {commit} +0000\ndata 1\nx\n");
        say(who.as_bytes());
        if commit == 0 {
            for file in 0..FILES {
                let text = format!("fn number_{file}() {{}}\n").repeat(150);
                let head = format!("M 644 inline src/{}/file_{file}.rs\ndata {}\n", file % 30, text.len());
                say(head.as_bytes());
                say(text.as_bytes());
            }
        }
        getrandom::fill(&mut noise).expect("randomness");
        say(format!("M 644 inline asset.bin\ndata {MEBIBYTE}\n").as_bytes());
        say(&noise);
        say(b"\n");
    }
    say(b"commit refs/heads/main\ncommitter A <a@example.org> 999 +0000\ndata 1\nx\nD asset.bin\n");
    drop(stream);
    assert!(import.wait().expect("git ends").success(), "git fast-import failed");
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(folder).output().expect("git starts");
    assert!(output.status.success(), "git {arguments:?} failed");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
