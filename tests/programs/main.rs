//! Agent programs: one contract for all back-ends, tested with stand-ins that print recorded output of the real
//! programs, and with the real programs if they are installed. Also one whole Feature with the real Claude Code.
//!
//! A back-end finds its program along the service's `PATH`. So the contract runs in its own process: this binary again,
//! with the folder of a stand-in or of a real program first on its `PATH`.
//!
//! Real programs are looked for on `PATH`, or where `AUTOBUILD_TEST_CLAUDE` and `AUTOBUILD_TEST_CODEX` name their files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed; which programs were tried is said"
)]

use support::beside;
mod contract;
mod feature;
mod killed;
use support::model;
mod real;
mod stage;

use domain::isolation::{Bounds, Level};
use sandbox::{Sandbox, SandboxOptions};
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// Returns the folder of stand-ins and their output.
fn stand_ins() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/programs")
}

/// Returns the folder of the real program, if it is installed.
fn real(program: &str) -> Option<PathBuf> {
    let variable = format!("AUTOBUILD_TEST_{}", program.to_uppercase().replace('-', "_"));
    let named = std::env::var_os(&variable).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = named.or_else(|| {
        let mut candidates = std::env::split_paths(&path).map(|folder| folder.join(program));
        candidates.find(|file| file.is_file())
    });
    let folder = found.and_then(|file| Some(file.parent()?.to_owned()));
    match &folder {
        Some(folder) => println!("the real {program} of {} is tried", folder.display()),
        None => println!("skipped: no real {program} is installed (npm, or {variable})"),
    }
    folder
}

/// Runs one of the ignored tests of [`contract`] with `folder` first on `PATH`.
fn inner(test: &str, folder: &Path, variables: &[(&str, &str)]) {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&old))).unwrap();
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", test, "--nocapture"])
        .env("PATH", path)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("1 passed"), "{test}: {said}");
    for line in said.lines().filter(|line| line.contains(CANCELLED)) {
        println!("{line}");
    }
}

/// The text in a line that reports the time of a cancellation.
const CANCELLED: &str = ", cancelled in the middle of a command: ended after ";

/// Prints how long a cancelled run took to end with all its processes, and fails if that is too long.
fn say_cancelled(whose: &str, level: Level, after: Duration) {
    println!("{whose} at {level}{CANCELLED}{} ms", after.as_millis());
    assert!(after < Duration::from_secs(10), "{after:?}");
}

fn sandbox_options() -> SandboxOptions {
    SandboxOptions::with_launcher(env!("CARGO_BIN_EXE_autobuild"))
}

/// Returns every stand-in with the folder of its program.
fn all_stand_ins() -> [(&'static str, PathBuf); 4] {
    [
        ("claude", "claude/bin"),
        ("codex", "codex/bin"),
        ("acp:claude-agent-acp", "acp/bin"),
        ("acp:codex-acp", "acp/bin"),
    ]
    .map(|(agent, folder)| (agent, stand_ins().join(folder)))
}

/// Runs the contract of all stand-ins at once.
fn keep_the_contract(level: &[(&str, &str)]) {
    std::thread::scope(|threads| {
        for (agent, folder) in all_stand_ins() {
            threads.spawn(move || {
                let variables = [&[("CONTRACT_OF", agent)], level].concat();
                inner("contract::of_stand_ins", &folder, &variables);
            });
        }
    });
}

#[test]
fn a_stand_in_for_each_program_keeps_the_contract() {
    keep_the_contract(&[]);
}

#[tokio::test]
async fn stand_ins_keep_the_contract_at_every_level_of_isolation_that_there_is() {
    let best = Sandbox::probe(sandbox_options(), Level::L0.or_more()).await.unwrap();
    let mut tried = Vec::new();
    for level in [Level::L0, Level::L1, Level::L2, Level::L3] {
        let bounds = Bounds { least: level, most: level };
        if Sandbox::probe(sandbox_options(), bounds).await.is_err() {
            continue;
        }
        // The test above runs the whole contract there.
        if level != best.level() {
            keep_the_contract(&[("CONTRACT_LEVEL", &u8::from(level).to_string())]);
        }
        tried.push(level.to_string());
    }
    println!("the contract holds at the levels {}", tried.join(", "));
    assert!(tried.contains(&"L0".to_owned()));
}

#[test]
fn a_persons_login_is_lent_and_nothing_of_theirs_is_found() {
    for (agent, folder) in all_stand_ins() {
        if agent == "acp:codex-acp" {
            continue;
        }
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let variables = [("CONTRACT_OF", agent), ("HOME", home.path().to_str().unwrap())];
        inner("contract::of_a_persons_login", &folder, &variables);
    }
}

#[test]
fn programs_that_are_too_old_or_missing_are_named_with_the_way_to_mend_it() {
    inner("contract::of_old_programs", &stand_ins().join("old/bin"), &[]);
    inner("contract::of_missing_programs", Path::new("/usr/bin"), &[]);
}

#[test]
fn the_real_claude_keeps_the_contract() {
    if let Some(folder) = real("claude") {
        inner("real::of_the_real_claude", &folder, &[]);
    }
}

#[test]
fn the_real_codex_keeps_the_contract() {
    if let Some(folder) = real("codex") {
        inner("real::of_the_real_codex", &folder, &[]);
    }
}

#[test]
fn the_real_claude_keeps_the_contract_by_way_of_the_agent_client_protocol() {
    if let Some(folder) = real("claude-agent-acp") {
        let variables = [("CONTRACT_OF", "acp:claude-agent-acp")];
        inner("real::of_the_real_claude", &folder, &variables);
    }
}

#[test]
fn the_real_codex_keeps_the_contract_by_way_of_the_agent_client_protocol() {
    if let Some(folder) = real("codex-acp") {
        inner("real::of_the_real_codex", &folder, &[("CONTRACT_OF", "acp:codex-acp")]);
    }
}

/// The built product.
const PRODUCT: beside::Product = beside::Product {
    program: env!("CARGO_BIN_EXE_autobuild"),
    permissions: autobuild::github::AUTOBUILD_PERMISSIONS,
    events: autobuild::github::AUTOBUILD_EVENTS,
    coach_permissions: autobuild::github::COACH_PERMISSIONS,
};
