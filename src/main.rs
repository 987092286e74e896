//! The `autobuild` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The sandbox's launcher: before any thread is started.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|arg| arg == sandbox::LAUNCHER_COMMAND)
    {
        return sandbox::launcher_main();
    }
    autobuild::cli::run()
}
