//! Makes the list of events from the manifest of the App, and links debug builds at a fixed address. The sandbox starts
//! this program twice for each command, and relocating a hundred megabytes took half of the time of each start.

use std::{env, fs, io, path::PathBuf};

const MANIFEST: &str = "app-manifest.yml";

fn main() -> io::Result<()> {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|is| is == value);
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let is_static = features.split(',').any(|feature| feature == "crt-static");
    let is_gnu_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is("PROFILE", "debug") && is_gnu_linux && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={MANIFEST}");
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(folder.join("events.rs"), events(&fs::read_to_string(MANIFEST)?))
}

/// The first list of events in the manifest, as an expression. A test compares it with the result of a YAML parser.
fn events(manifest: &str) -> String {
    let list = manifest.lines().skip_while(|line| *line != "default_events:").skip(1);
    let events: Vec<&str> = list.map_while(|line| line.strip_prefix("  - ")).collect();
    format!("&{events:?}")
}
