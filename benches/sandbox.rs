//! The time of a launch at each isolation level, the time until a cancelled program is gone, and the service's memory
//! for each running program. Run with `cargo bench --bench sandbox`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::indexing_slicing)]

use domain::isolation::Level;
use sandbox::{Exit, Sandbox, SandboxOptions, Spec};
use std::{
    path::Path,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

const LAUNCHES: usize = 50;
const CANCELLED: usize = 20;
const RUNNING: u32 = 16;

fn spec(folder: &Path, script: &str) -> Spec {
    let mut spec = Spec::new("/bin/sh", folder).args(["-c", script]);
    spec.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    spec.confine.write = vec![folder.to_path_buf()];
    spec
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all[all.len() / 2]
}

/// Returns the resident memory of this process in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

/// Starts a program and waits until it runs; returns the time from the cancellation to the end of all its processes.
async fn cancelled(sandbox: &Sandbox, folder: &Path) -> Duration {
    let up = folder.join("up");
    let _ = std::fs::remove_file(&up);
    let cancel = CancellationToken::new();
    let mut order = spec(folder, "echo x > up; setsid sleep 100 & sleep 100");
    order.grace = Duration::from_secs(2);
    let (sandbox, running) = (sandbox.clone(), cancel.clone());
    let run = tokio::spawn(async move { sandbox.run(&order, &running).await });
    while !up.exists() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let begun = Instant::now();
    cancel.cancel();
    assert_eq!(run.await.unwrap().unwrap().exit, Exit::Cancelled);
    begun.elapsed()
}

async fn memory(sandbox: &Sandbox, folder: &Path) -> u64 {
    let cancel = CancellationToken::new();
    let before = resident();
    let mut runs = tokio::task::JoinSet::new();
    for number in 0..RUNNING {
        let order = spec(folder, &format!("head -c 1000000 /dev/zero; echo x > running{number}; sleep 100"));
        let (sandbox, cancel) = (sandbox.clone(), cancel.clone());
        runs.spawn(async move { sandbox.run(&order, &cancel).await });
    }
    while (0..RUNNING).any(|number| !folder.join(format!("running{number}")).exists()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let used = resident().saturating_sub(before) / u64::from(RUNNING);
    cancel.cancel();
    while runs.join_next().await.is_some() {}
    for number in 0..RUNNING {
        let _ = std::fs::remove_file(folder.join(format!("running{number}")));
    }
    used
}

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let options = SandboxOptions::with_launcher(env!("CARGO_BIN_EXE_autobuild"));
    let begun = Instant::now();
    let best = Sandbox::probe(options.clone(), Level::L0.or_more()).await.unwrap().level();
    println!("this machine offers {best}; found out in {:?}", begun.elapsed());
    for level in [Level::L0, Level::L1, Level::L2, Level::L3].into_iter().filter(|level| *level <= best) {
        let sandbox = Sandbox::at(options.clone(), level);
        let mut launches = Vec::new();
        for _ in 0..LAUNCHES {
            let order = spec(folder.path(), "exit 0");
            let finished = sandbox.run(&order, &CancellationToken::new()).await.unwrap();
            assert_eq!(finished.exit, Exit::Exited(0));
            launches.push(finished.duration);
        }
        let mut ends = Vec::new();
        for _ in 0..CANCELLED {
            ends.push(cancelled(&sandbox, folder.path()).await);
        }
        println!(
            "{level}: a launch {:.1?}, a cancelled program gone in {:.1?}, {} KiB of the service for each that runs",
            median(launches),
            median(ends),
            memory(&sandbox, folder.path()).await
        );
    }
}
