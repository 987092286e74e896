//! The sandbox with real processes: any program ends when it must, and leaves no process behind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod egress;
mod steering;

use domain::{
    isolation::{Bounds, Level, Limit, LimitKeeper, Limits},
    refused_host::{HostRefusal, RefusedHost},
};
use sandbox::{
    Exit, Finished, Live, OutputCap, Sandbox, SandboxOptions, Spec, StartError,
    egress::{Door, Rules},
};
use std::{ffi::OsString, fs, path::Path, sync::Arc, time::Duration};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

const LAUNCHER: &str = env!("CARGO_BIN_EXE_autobuild");

fn sandbox(level: Level) -> Sandbox {
    Sandbox::at(SandboxOptions::with_launcher(LAUNCHER), level)
}

/// `true` if this machine offers a level, as the service itself finds out. Such a level must keep every promise.
async fn is_offered(level: Level) -> bool {
    static OFFERED: OnceCell<Level> = OnceCell::const_new();
    let probe = async || {
        let options = SandboxOptions::with_launcher(LAUNCHER);
        let probed = Sandbox::probe(options, Level::L0.or_more()).await.unwrap();
        eprintln!("offered here: {} ({:?})", probed.level(), probed.missing());
        eprintln!("limits are held by {:?}", probed.limits_held_by());
        probed.level()
    };
    let offered = level <= *OFFERED.get_or_init(probe).await;
    if !offered {
        eprintln!("{level} is not offered by this machine and was not tried");
    }
    offered
}

/// Returns the part of a launcher's order that describes the isolation.
fn confinement(level: Level, folder: &Path) -> serde_json::Value {
    let system = ["/usr", "/bin", "/lib", "/lib64", "/proc"].map(OsString::from);
    serde_json::json!({
        "level": u8::from(level), "bubblewrap": SandboxOptions::with_launcher(LAUNCHER).bubblewrap.as_os_str(), "masked": [],
        "read": if level == Level::L1 { system.to_vec() } else { Vec::new() }, "write": [folder.as_os_str()],
        "mounts": [], "limits": Limits::default(), "way": "Nowhere", "own": false,
    })
}

/// Returns `sh -c script` in `folder` with the usual `PATH`. Its deadline is so long that it only ends a test that
/// hangs.
fn shell(folder: &Path, script: &str) -> Spec {
    let mut spec = Spec::new("sh", folder).args(["-c", script]);
    spec.env = vec![("PATH".into(), std::env::var_os("PATH").unwrap())];
    spec.deadline = Duration::from_secs(600);
    spec.grace = Duration::from_millis(200);
    spec.confine.write = vec![folder.to_path_buf()];
    spec
}

/// Returns the ids of running processes whose environment contains `mark`. Zombies have no environment.
fn alive(mark: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let marked = entries.filter(|entry| {
        let env = fs::read(entry.path().join("environ")).unwrap_or_default();
        env.windows(mark.len()).any(|window| window == mark.as_bytes())
    });
    marked.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Marks every process of this program, so that the test can find them.
fn marked(mut spec: Spec, mark: &str) -> Spec {
    spec.env.push(("SANDBOX_TEST_MARK".into(), mark.into()));
    spec
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn commands_with(text: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(text) && !line.contains("setsid\0sh\0-c")).collect()
}

/// Waits for an event in another process; the test's own time-out is the limit.
async fn until(mut happened: impl FnMut() -> bool) {
    let waiting = async {
        while !happened() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(300), waiting).await.expect("it did not happen within 300 s");
}

mod l0 {
    const LEVEL: crate::Level = crate::Level::L0;
    include!("promises.rs");
}

mod l1 {
    const LEVEL: crate::Level = crate::Level::L1;
    include!("promises.rs");
}

mod l2 {
    const LEVEL: crate::Level = crate::Level::L2;
    include!("promises.rs");
}

mod l3 {
    const LEVEL: crate::Level = crate::Level::L3;
    include!("promises.rs");
}
