//! Links debug builds at a fixed address. The sandbox starts this program twice for each command, and relocating a
//! hundred megabytes took half of the time of each start.

fn main() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|is| is == value);
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let is_static = features.split(',').any(|feature| feature == "crt-static");
    let is_gnu_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is("PROFILE", "debug") && is_gnu_linux && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
