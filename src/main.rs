//! The `autobuild` program.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    // The sandbox's launcher: before any thread is started.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|arg| arg == sandbox::LAUNCHER_COMMAND)
    {
        return sandbox::launcher_main();
    }
    return_large_memory();
    autobuild::cli::run()
}

/// Makes the C library give memory of 128 KiB and more back to the system as soon as it is free. By itself it raises this
/// limit to the largest block that was ever freed, and keeps what is smaller: after 150 deliveries of 24 MiB the service
/// held 583 MiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "no crate offers this call, and an allocator of its own keeps more"
)]
fn return_large_memory() {
    // SAFETY: the call changes a number of the allocator, before any other thread is started.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
    }
}

#[cfg(all(target_os = "linux", not(target_env = "gnu")))]
fn return_large_memory() {}

/// The sandbox that everything else relies on is Linux's.
#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!(
        "autobuild: runs on Linux only; here, run its image on your repository: \
         docker run --rm -it -v \"$PWD:/repository\" -w /repository -e AUTOBUILD_ANTHROPIC_API_KEY \
         autobuild-claude run ISSUE.md (docs/install.md says how to build it)"
    );
    std::process::ExitCode::FAILURE
}
