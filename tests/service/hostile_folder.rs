//! A folder that is a trap: its git settings, attributes and hooks name a program wherever git allows it. No command
//! may start that program.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test that cannot go on has failed")]

use crate::{own::Own, run::whole};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::PathBuf,
};

/// The settings of git that name a program, and its hooks. Each names the program with the setting's own name as
/// argument.
const SETTINGS: &[&str] = &[
    "alias.status",
    "core.alternateRefsCommand",
    "core.askPass",
    "core.editor",
    "core.fsmonitor",
    "core.gitProxy",
    "core.pager",
    "core.sshCommand",
    "credential.helper",
    "diff.external",
    "diff.named.command",
    "diff.named.textconv",
    "filter.named.clean",
    "filter.named.smudge",
    "filter.lfs.process",
    "gc.recentObjectsHook",
    "gpg.program",
    "interactive.diffFilter",
    "merge.named.driver",
    "pager.status",
    "sequence.editor",
    "uploadpack.packObjectsHook",
];
const HOOKS: &[&str] =
    &["fsmonitor-watchman", "post-checkout", "post-index-change", "post-merge", "pre-auto-gc", "reference-transaction"];
const ATTRIBUTES: &str = "README.md filter=named diff=named merge=named\n*.bin filter=lfs\n";

/// Makes the person's repository hostile; the returned file lists the programs that were started, by the settings that
/// name them.
async fn hostile(own: &Own) -> PathBuf {
    let started = own.folder.path().join("started");
    let program = own.folder.path().join("program");
    let script = format!("#!/bin/sh\necho \"$1 ${{0##*/}}\" >> '{}'\ncat\n", started.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(own.repository.join("README.md"), "# Notes\n\nTo be written.\n").unwrap();
    fs::write(own.repository.join("data.bin"), "data\n").unwrap();
    fs::write(own.repository.join(".gitattributes"), ATTRIBUTES).unwrap();
    own.git("add -A && git -c user.name=me -c user.email=me@example.com commit -q -m Attributes").await;
    own.git("clone -q --bare . ../alternate && echo ../../../alternate/objects > .git/objects/info/alternates").await;
    for setting in SETTINGS {
        let shell = if setting.starts_with("alias") { "!" } else { "" };
        own.git(&format!("config {setting} \"{shell}'{}' {setting}\"", program.display())).await;
    }
    own.git("config filter.lfs.required true && git config extensions.partialClone origin && git config remote.origin.promisor true && git config remote.origin.url ext::../program")
        .await;
    own.types("printf '[filter \"\\377\"]\\n\\tclean = \"%s\" bytes\\n' \"$PWD/../program\" >> .git/config").await;
    own.types("printf 'data.bin filter=\\377\\n' > .git/info/attributes").await;
    for hook in HOOKS {
        symlink(&program, own.repository.join(".git/hooks").join(hook)).unwrap();
    }
    // Changed files, which git must read again to compare them.
    fs::write(own.repository.join("README.md"), "# Notes\n\nTo be changed.\n").unwrap();
    fs::write(own.repository.join("data.bin"), "atad\n").unwrap();
    let _ = fs::remove_file(&started);
    started
}

#[tokio::test(flavor = "multi_thread")]
async fn no_program_that_a_folder_names_is_started_by_looking_at_it() {
    let own = Own::new(None).await;
    let started = hostile(&own).await;
    let agent = own.agent();
    let place = own.repository.display().to_string();
    for words in [
        &["doctor"][..],
        &["plan", "../issue.md", "--agent", &agent],
        &["status"],
        &["run", "../issue.md", "--agent", &agent],
        &["status", "FEAT-1"],
        &["demo", "--once", "--agent", &agent, "--repo", &place],
    ] {
        let said = whole(&own.autobuild("", words).output().await.unwrap());
        let programs = fs::read_to_string(&started).unwrap_or_default();
        assert_eq!(programs, "", "{words:?}: {said}");
    }
    assert_eq!(own.git("show autobuild/notes:notes.md").await, "# Notes\n");
    // Without the defence, a look is enough.
    own.types("git status || true").await;
    let programs = fs::read_to_string(&started).unwrap_or_default();
    assert!(programs.contains("filter.named.clean"), "{programs}");
}

/// Git waits at each of these. The program would do so until its own limit, which is minutes.
#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_in_the_place_of_a_file_is_named_at_once() {
    for place in [".gitignore", ".git/info/exclude", ".git/info/grafts", ".git/HEAD", ".git/config", ".git/included"] {
        let own = Own::new(None).await;
        if place == ".git/included" {
            own.git("config include.path included").await;
        }
        own.types(&format!("rm -f {place} && mkfifo {place}")).await;
        let (agent, path) = (own.agent(), own.repository.display().to_string());
        for words in [
            &["plan", "../issue.md", "--agent", &agent][..],
            &["run", "../issue.md", "--agent", &agent],
            &["status"],
            &["doctor"],
            &["demo", "--once", "--agent", &agent, "--repo", &path],
        ] {
            let said = whole(&own.autobuild("", words).output().await.unwrap());
            let named = format!("a repository/{place} is a pipe, at which git would wait without end: delete it");
            assert!(said.contains(&named), "{place} {words:?}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_include_a_pipe_are_named() {
    let own = Own::new(None).await;
    own.types("mkfifo ../pipe && git config include.path ../../pipe").await;
    let said = whole(&own.autobuild("", &["status"]).output().await.unwrap());
    assert!(said.contains("look in .git/config for an `include` of a pipe"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_shows_nothing_outside_the_folder_and_nothing_that_acts_on_a_terminal() {
    let own = Own::new(None).await;
    fs::write(own.folder.path().join("netrc"), "machine x password canary\n").unwrap();
    let settings = own.repository.join(".github/autobuild.yml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let _ = fs::remove_file(&settings);
    symlink("../../netrc", &settings).unwrap();
    own.git("add -A && git -c user.name=me -c user.email=me@example.com commit -q -m Link").await;
    let said = whole(&own.autobuild("", &["doctor"]).output().await.unwrap());
    assert!(said.contains("is not a file") && !said.contains("canary"), "{said}");
    fs::remove_file(&settings).unwrap();
    own.commits_settings("mode: \"\\e]0;owned\\a\\u202e\"\n").await;
    let said = whole(&own.autobuild("", &["doctor"]).output().await.unwrap());
    assert!(said.contains("]0;owned") && !said.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_came_with_the_folder_is_refused() {
    let own = Own::new(None).await;
    let agent = own.agent();
    assert!(own.run(&[]).await.status.success());
    let copy = Own::new(None).await;
    for mark in ["", "0123456789abcdef0123456789abcdef", "../../../../../etc/passwd"] {
        let state = copy.repository.join(".git/autobuild");
        fs::create_dir_all(state.join("forge/hooks")).unwrap();
        fs::write(state.join("mark"), mark).unwrap();
        for words in
            [&["run", "../issue.md", "--agent", &agent][..], &["plan", "../issue.md", "--agent", &agent], &["status"]]
        {
            let output = copy.autobuild("", words).output().await.unwrap();
            let said = whole(&output);
            assert!(!output.status.success() && said.contains("was not made by you"), "{words:?}: {said}");
        }
        fs::remove_dir_all(state).unwrap();
    }
    assert!(copy.run(&[]).await.status.success());
}
