//! `autobuild completions`: prints a shell's completion script.

use crate::cli::stage::terminal::print;
use clap::{Args, Command};
use clap_complete::Shell;
use std::process::ExitCode;

/// The arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
autobuild completions bash > ~/.local/share/bash-completion/completions/autobuild\n  \
autobuild completions zsh > ~/.zfunc/_autobuild\n  \
autobuild completions fish > ~/.config/fish/completions/autobuild.fish")]
pub(super) struct Completions {
    /// The shell for which the script is.
    shell: Shell,
}

/// Prints the completions of every command.
pub(super) fn completions(given: &Completions, mut command: Command) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(given.shell, &mut command, "autobuild", &mut script);
    match print(&String::from_utf8_lossy(&script)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("autobuild: the completions could not be written: {error}");
            ExitCode::FAILURE
        }
    }
}
