//! The `autobuild` program.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    // The sandbox's launcher: before any thread is started.
    if std::env::args_os().nth(1).is_some_and(|arg| arg == sandbox::LAUNCHER_COMMAND) {
        return sandbox::launcher_main();
    }
    autobuild::cli::run()
}

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
