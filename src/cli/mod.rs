//! The commands.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod assemble;
mod check;
mod completions;
mod demo;
mod health;
mod models;
mod network;
mod serve;
mod trace;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Turns labelled issues into reviewed pull requests: a Player writes, a Coach verifies.
#[derive(Debug, Parser)]
#[command(name = "autobuild", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the service against GitHub.
    Serve(serve::Serve),
    /// Runs the whole service against a local forge, with a sample or with a repository of yours.
    Demo(demo::Demo),
    /// Asks the service of this machine whether it is alive; for a container's health check.
    Health(health::Health),
    /// Shows what happened in the runs of a task's agents.
    Trace(trace::Trace),
    /// Prints the completions of a shell.
    Completions(completions::Completions),
}

/// Runs the command that the arguments name.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("autobuild: the runtime could not be started: {error}");
            return ExitCode::FAILURE;
        }
    };
    runtime.block_on(async {
        match cli.command {
            Command::Serve(serve) => serve::serve(serve).await,
            Command::Demo(demo) => demo::demo(demo).await,
            Command::Health(health) => health::health(health).await,
            Command::Trace(trace) => trace::trace(trace).await,
            Command::Completions(shell) => completions::completions(&shell, Cli::command()),
        }
    })
}
