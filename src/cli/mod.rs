//! The commands of the `autobuild` program.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod assemble;
mod completions;
mod database;
mod demo;
mod doctor;
mod effects;
mod health;
mod installed_git;
mod local;
mod local_repository;
mod log;
mod models;
mod open;
mod own_agent;
mod serve;
mod service;
mod setup;
mod stage;
mod trace;

use crate::cli::local::session::exit_code;
use clap::{CommandFactory, Parser, Subcommand};
use std::{io, io::Write, process::ExitCode, time::Duration};

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
    /// Runs agents and Gates for a service on the same PostgreSQL.
    Worker(serve::WorkerCommand),
    /// Opens the page that connects the service with GitHub.
    Setup(setup::SetupCommand),
    /// Builds an issue in this repository, and leaves a branch.
    Run(local::Run),
    /// Plans an issue in this repository, and stops there.
    Plan(local::Plan),
    /// Builds a Feature that is planned.
    Feature(local::FeatureCommand),
    /// Builds an issue as one task, without a planner.
    Task(local::TaskCommand),
    /// Shows your Features in this repository, and how far each is.
    Status(local::Status),
    /// Goes on with a Feature or a task, with your guidance if you like.
    Resume(local::Resume),
    /// Keeps the branch of a finished Feature, and removes the rest.
    Complete(local::Complete),
    /// Runs the whole service on this machine, with a sample or your repository.
    Demo(demo::Demo),
    /// Checks everything that AutoBuild needs, and says how to mend it.
    Doctor(doctor::DoctorCommand),
    /// Lists the steps that failed or wait, and tries one again.
    Effects(effects::Effects),
    /// Asks whether the service on this machine is alive, for health checks.
    Health(health::Health),
    /// Shows what the agents of a task did.
    Trace(trace::Trace),
    /// Prints completions for your shell.
    Completions(completions::Completions),
}

/// How long the end of the process waits for threads, such as those that delete folders.
const LAST_THREADS: Duration = Duration::from_secs(5);

/// The most threads for blocking work: one for each connection of the server, and as many for effects.
const MOST_THREADS: usize = 1_024;

/// Runs the command that the arguments name.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return unusable(&error),
    };
    // Programs of the same user must not read this process's memory, and agents may run as that user. A core dump would
    // hold its keys.
    if let Err(error) = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable) {
        eprintln!("autobuild: other programs of this user can read the memory of this one: {error}");
    }
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = match runtime.enable_all().max_blocking_threads(MOST_THREADS).build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("autobuild: the runtime could not be started: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(async {
        match cli.command {
            Command::Serve(serve) => serve::serve(serve).await,
            Command::Worker(worker) => serve::worker(worker).await,
            Command::Setup(setup) => setup::setup(setup).await,
            Command::Run(run) => exit_code("run", run.who.json, local::run(&run).await),
            Command::Plan(plan) => exit_code("plan", plan.who.json, local::plan(&plan).await),
            Command::Feature(feature) => exit_code("feature", feature.who.json, local::feature(&feature).await),
            Command::Task(task) => exit_code("task", task.who.json, local::task(&task).await),
            Command::Status(status) => exit_code("status", status.json, local::status(&status).await),
            Command::Resume(resume) => exit_code("resume", resume.who.json, local::resume(&resume).await),
            Command::Complete(complete) => exit_code("complete", complete.who.json, local::complete(&complete).await),
            Command::Demo(demo) => demo::demo(demo).await,
            Command::Doctor(doctor) => doctor::doctor(doctor).await,
            Command::Effects(effects) => effects::effects(effects).await,
            Command::Health(health) => health::health(health).await,
            Command::Trace(trace) => trace::trace(trace).await,
            Command::Completions(shell) => completions::completions(&shell, Cli::command()),
        }
    });
    runtime.shutdown_timeout(LAST_THREADS);
    code
}

/// Prints an error about invalid arguments, also as JSON if the arguments ask for JSON.
fn unusable(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    if error.use_stderr() && wants_json {
        let text = error.render().to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        let said = serde_json::json!({ "ok": false, "error": lines.join(" ") });
        // If standard output is closed, nobody reads the error.
        let _ = writeln!(io::stdout(), "{said}");
    }
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
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
