//! A command in a repository: its agent, its output, and its exit code.

use crate::{
    cli::{
        assemble::agents_secrets,
        installed_git,
        local::{
            follow::FollowOutcome,
            lock::{Lock, LockOutcome},
            orders::{Order, Orders},
            report::Report,
            work::{Job, Screen, WorkOutcome},
        },
        local_repository::{LocalRepository, own_file},
        log::{LogOutput, place_and_cause, start_log},
        models,
        own_agent::KEYS,
        stage::{stop::Stop, terminal, terminal::Terminal},
    },
    config::{KNOWN_AGENTS, LogFormat},
    messages::clean,
};
use anyhow::Context;
use clap::Args;
use git::{GiveOutcome, InstalledGit};
use std::{
    io::{ErrorKind, Write},
    path::Path,
    process::ExitCode,
};
use text::secret::Secrets;

/// The exit codes of commands that build in a person's repository, for their help.
pub(super) const EXIT_CODES: &str = "Exit codes:\n  0    the Coach approves all that you asked for\n  1    it does not, and the \
output says why\n  2    the command failed, and the output says why\n  130  you interrupted it; the same command goes on";

/// The exit code if the command could not be done.
pub(in crate::cli) const NOT_DONE: u8 = 2;
/// The exit code if the person interrupted the command.
pub(super) const INTERRUPTED: u8 = 130;

/// Who works, and how it is shown.
#[derive(Debug, Args)]
pub struct AgentArgs {
    #[arg(long, value_name = "BACKEND", help = format!(
        "The agent: {KNOWN_AGENTS}. Without it: AUTOBUILD_AGENT, else the Feature's, else claude or codex, whichever is installed"
    ))]
    pub(super) agent: Option<String>,
    /// Lets the agent use your own log-in, instead of an API key that it never sees.
    #[arg(long)]
    pub(super) use_my_login: bool,
    /// Prints JSON lines; the last one is the summary.
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Shows the log, and texts in full.
    #[arg(long)]
    pub(super) verbose: bool,
}

/// A command that runs in a repository.
pub(super) struct Session {
    pub(super) command: &'static str,
    pub(super) repository: LocalRepository,
    pub(super) orders: Orders,
    pub(super) screen: Screen,
    pub(super) secrets: Secrets,
}

impl Session {
    pub(super) async fn open(command: &'static str, who: &AgentArgs) -> anyhow::Result<Self> {
        look_for_git(command).await?;
        let secrets = Secrets::new(&agents_secrets(&KEYS.map(str::to_owned)));
        let terminal = Terminal::open(who.json);
        let repository = LocalRepository::here().await?;
        start(who, &repository, &terminal, &secrets);
        Ok(Self {
            command,
            orders: Orders::open(&repository).await?,
            repository,
            screen: Screen { terminal, json: who.json, verbose: who.verbose, quiet: false },
            secrets,
        })
    }

    /// Prints the last report of an order that rests.
    pub(super) async fn report_again(&self, order: &Order, known: Report) -> anyhow::Result<ExitCode> {
        let known = self.with_branch(order, known).await?;
        self.screen.print(order, &known);
        if !known.ok {
            self.screen.note("Nothing ran now: this is how it ended before.");
        }
        Ok(code(known.ok))
    }

    /// Returns the report after making its branch again, if the branch is gone and its commits are not in HEAD.
    pub async fn with_branch(&self, order: &Order, mut report: Report) -> anyhow::Result<Report> {
        let own = &self.repository.own;
        let (Some(branch), Some(head)) = (report.branch.clone(), report.head.clone()) else {
            return Ok(report);
        };
        if own.branch(&branch).await?.is_some() {
            return Ok(report);
        }
        if own.holds(&head).await? {
            let (name, tasks) = (order.name(), report.approved());
            report.sentence = format!("{name}: {tasks}, and what is checked out holds the result");
            report.branch = None;
            return Ok(report);
        }
        // After git's clean-up of the person's repository, only the forge has the commits.
        let forge = report.repository.as_deref().map(Path::new);
        if let Some(forge) = forge.filter(|forge| forge.exists()) {
            own.copy(forge, &head).await?;
        }
        match own.give(&branch, &head, None).await? {
            GiveOutcome::Done => Ok(report),
            GiveOutcome::Taken => anyhow::bail!("the branch {branch} was made by somebody else meanwhile"),
            GiveOutcome::Refused(why) => anyhow::bail!("git cannot make the branch {branch} again: {why}"),
        }
    }

    /// Takes the repository's lock, or follows the process that holds it.
    async fn lock(&self, order: &Order, stop: &mut Stop) -> anyhow::Result<FollowOutcome> {
        match Lock::ask(&self.repository.folder, self.command, &order.agent)? {
            LockOutcome::Taken(lock) => Ok(FollowOutcome::Free(lock)),
            LockOutcome::Held(holder) => self.follow(order, &holder, stop).await,
        }
    }

    /// Works on an order, or follows the process that does, until the order rests.
    pub(super) async fn build(&self, order: Order, who: &AgentArgs, left_out: Vec<String>) -> anyhow::Result<ExitCode> {
        let known = self.orders.report(order.number).await?;
        if known.answers(&order) {
            return self.report_again(&order, known).await;
        }
        let mut stop = Stop::listen()?;
        let lock = match self.lock(&order, &mut stop).await? {
            FollowOutcome::Rests(report) => {
                self.screen.print(&order, &report);
                return Ok(code(report.ok));
            }
            FollowOutcome::Interrupted => return Ok(ExitCode::from(INTERRUPTED)),
            FollowOutcome::Free(lock) => lock,
        };
        let agent = order.agent.parse().context("--agent")?;
        let job = Job {
            repository: &self.repository,
            orders: &self.orders,
            number: order.number,
            access: models::access(who.use_my_login || order.own_login, Some(&agent))?,
            agent,
            secrets: &self.secrets,
            screen: &self.screen,
            left_out,
        };
        let worked = job.work(&mut stop).await;
        drop(lock);
        self.screen.terminal.clear();
        let mut report = self.orders.report(order.number).await?;
        let worked = worked.map_err(|error| self.secrets.mask(&format!("{error:#}")));
        match worked {
            Ok(WorkOutcome::Interrupted) if !report.answers(&order) => {
                self.screen.print_interrupted(&order, &report);
                Ok(ExitCode::from(INTERRUPTED))
            }
            Ok(WorkOutcome::Interrupted | WorkOutcome::Rests) => Ok(code(report.ok)),
            Err(error) => {
                report.error = Some(error.clone());
                self.orders.replace_report(order.number, &report).await?;
                Err(anyhow::Error::msg(error))
            }
        }
    }
}

/// Refuses a git that is missing or too old, and prints a warning about one that is not.
pub(in crate::cli) async fn look_for_git(command: &str) -> anyhow::Result<()> {
    let git = InstalledGit::look().await;
    let git = git.map_err(|why| anyhow::anyhow!(installed_git::unusable(&why)))?;
    if let Some(warning) = installed_git::warning(&git) {
        eprintln!("autobuild {command}: {warning}");
    }
    Ok(())
}

/// Starts the log: on the screen with `--verbose`, else in a file beside the work, if there is any work yet.
fn start(who: &AgentArgs, repository: &LocalRepository, terminal: &Terminal, secrets: &Secrets) {
    let (terminal, file) = (terminal.clone(), repository.folder.join("log.txt"));
    if who.verbose {
        let log = move |part: &str| terminal.log(part);
        return start_log("info", LogFormat::Text, LogOutput::StandardError, secrets.clone(), log);
    }
    start_log("error", LogFormat::Text, LogOutput::File, secrets.clone(), move |part| {
        match own_file().create(true).append(true).open(&file) {
            Ok(mut file) => file.write_all(part.as_bytes()),
            // Nothing was ordered here yet.
            Err(error) if error.kind() == ErrorKind::NotFound => terminal.log(part),
            Err(error) => Err(error),
        }
    });
    report_panic(secrets.clone());
}

/// Makes a panic that ends the command say its cause on standard error. Other panics only go to the log.
fn report_panic(secrets: Secrets) {
    let log = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some("main") {
            return log(panic);
        }
        let (place, cause) = place_and_cause(panic);
        let cause = secrets.mask(cause);
        eprintln!("autobuild: a fault of AutoBuild itself ended this command, at {place}: {cause}");
    }));
}

pub(super) fn code(ok: bool) -> ExitCode {
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the exit code of a command, and prints the error if there is one.
pub(in crate::cli) fn exit_code(command: &str, json: bool, done: anyhow::Result<ExitCode>) -> ExitCode {
    let code = done.unwrap_or_else(|error| {
        let error = format!("{error:#}");
        print_error(json, &error);
        eprintln!("autobuild {command}: {error}");
        ExitCode::from(NOT_DONE)
    });
    written(command).unwrap_or(code)
}

/// Prints in one line why a command could not be done.
pub(in crate::cli) fn refused(command: &str, json: bool, code: u8, said: &str) -> ExitCode {
    print_error(json, said);
    eprintln!("autobuild {command}: {}", clean(said).replace('\n', " "));
    ExitCode::from(code)
}

fn print_error(json: bool, said: &str) {
    if json {
        Terminal::open(true).exact(&serde_json::json!({ "ok": false, "error": said }).to_string());
    }
}

/// Returns the exit code of a command whose output could not be written.
pub(in crate::cli) fn written(command: &str) -> Option<ExitCode> {
    let error = terminal::output_error()?;
    eprintln!("autobuild {command}: standard output cannot be written: {error}");
    Some(ExitCode::from(NOT_DONE))
}
