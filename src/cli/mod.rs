//! The commands.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod assemble;
mod completions;
mod demo;
mod doctor;
mod health;
mod local;
mod models;
mod network;
mod open;
mod own_agent;
mod place;
mod serve;
mod service;
mod setup;
mod stage;
mod trace;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Turns labelled issues into reviewed pull requests: a Player writes, a Coach verifies.
#[derive(Debug, Parser)]
#[command(
    name = "autobuild",
    version,
    about,
    arg_required_else_help = true,
    after_help = "Examples:\n  autobuild demo\n  autobuild run issue.md --agent claude --use-my-login\n  autobuild serve \
--check\n\n`autobuild COMMAND --help` shows examples of a command."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the service against GitHub.
    Serve(serve::Serve),
    /// Opens the page that connects the service with GitHub.
    Setup(setup::SetupCommand),
    /// Builds an issue in the repository in front of you, and leaves a branch.
    Run(local::Run),
    /// Plans an issue in the repository in front of you, and stops there.
    Plan(local::Plan),
    /// Builds what is planned.
    Feature(local::FeatureCommand),
    /// Builds an issue as one task, without a planner.
    Task(local::TaskCommand),
    /// Shows what is ordered in the repository in front of you, and how far it is.
    Status(local::Status),
    /// Goes on with a Feature or a task, with guidance if you have any.
    Resume(local::Resume),
    /// Keeps the branch of a Feature, and removes everything else of it.
    Complete(local::Complete),
    /// Runs the whole service against a local forge, with a sample or with a repository of yours.
    Demo(demo::Demo),
    /// Looks at everything that AutoBuild needs, and says how to mend what is wrong.
    Doctor(doctor::DoctorCommand),
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
            Command::Setup(setup) => setup::setup(setup).await,
            Command::Run(run) => local::run(run).await,
            Command::Plan(plan) => local::plan(plan).await,
            Command::Feature(feature) => local::feature(feature).await,
            Command::Task(task) => local::task(task).await,
            Command::Status(status) => local::status(status).await,
            Command::Resume(resume) => local::resume(resume).await,
            Command::Complete(complete) => local::complete(complete).await,
            Command::Demo(demo) => demo::demo(demo).await,
            Command::Doctor(doctor) => doctor::doctor(doctor).await,
            Command::Health(health) => health::health(health).await,
            Command::Trace(trace) => trace::trace(trace).await,
            Command::Completions(shell) => completions::completions(&shell, Cli::command()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_says_what_it_does_and_shows_examples() {
        let mut cli = Cli::command();
        cli.build();
        for command in cli.get_subcommands().filter(|command| command.get_name() != "help") {
            let name = command.get_name();
            assert!(command.get_about().is_some(), "{name}");
            let more = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(more.contains("Examples:\n  "), "{name} shows no examples: {more}");
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{name}: {argument}");
            }
        }
    }
}
