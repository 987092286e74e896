//! `complete`: keeps a Feature's result and removes everything else of it.

use crate::cli::{
    local::{
        lock::{Holder, Lock, LockOutcome},
        named::NamedOrder,
        order_status::OrderStatus,
        orders::{BuildGoal, End, Order},
        report::Report,
        session::{AgentArgs, Session},
    },
    stage::{own_full_name, terminal::Tone},
};
use anyhow::Context;
use clap::Args;
use domain::ids::RepoId;
use forge::{Forge, ForgeOptions};
use git::Mirrors;
use std::process::ExitCode;

/// The arguments of `complete`.
#[derive(Debug, Args)]
#[command(
    after_help = "The branch stays, and `trace` still knows what happened. The local forge's copy of the repository, mirrors \
and checkouts go.\n\nExamples:\n  autobuild complete FEAT-1\n  autobuild complete FEAT-2 --discard\n\nExit codes:\n  \
0  done\n  2  nothing was removed, and the output says why"
)]
pub struct Complete {
    /// A Feature, as FEAT-1, or one of its tasks.
    #[arg(value_name = "FEAT|TASK")]
    what: String,
    /// Gives an unfinished Feature up; its work so far is deleted.
    #[arg(long)]
    discard: bool,
    /// The Feature, if several have a task of that name.
    #[arg(long, value_name = "FEAT")]
    feature: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) who: AgentArgs,
}

pub async fn complete(complete: &Complete) -> anyhow::Result<ExitCode> {
    let mut session = Session::open("complete", &complete.who).await?;
    let NamedOrder { mut order, task } = session.find(&complete.what, complete.feature.as_deref()).await?;
    let name = order.name();
    if let Some(task) = task {
        session.screen.note(&format!("{task} is a task of {name}, which is completed as a whole."));
    }
    let mut report = session.orders.report(order.number).await?;
    if order.ended.is_some() {
        session.screen.print(&order, &report);
        return Ok(ExitCode::SUCCESS);
    }
    let is_done = report.answers(&order) && report.ok && report.head.is_some();
    anyhow::ensure!(
        is_done || complete.discard,
        "{name} is not finished ({}). `autobuild status {name}` says why; `autobuild complete {name} --discard` gives it up",
        report.approved()
    );
    if !is_done {
        report = session.cancel(&mut order, report, &complete.who).await?;
    }
    let lock = match Lock::ask(&session.repository.folder, session.command, &order.agent)? {
        LockOutcome::Taken(lock) => lock,
        LockOutcome::Held(Holder { command, process, .. }) => anyhow::bail!(
            "`autobuild {command}` (process {process}) works on this repository: wait for it, or end it with `kill {process}`"
        ),
    };
    let end = if is_done { End::Completed } else { End::GivenUp };
    if is_done {
        report = session.with_branch(&order, report).await?;
    }
    order.ended = Some(end);
    session.orders.replace(&order).await?;
    remove(&session, &order).await?;
    drop(lock);
    report.end(&name, end);
    session.orders.replace_report(order.number, &report).await?;
    if session.screen.json {
        session.screen.print(&order, &report)
    } else {
        let sentence = format!("{}.", report.sentence);
        session.screen.terminal.line("", "", &sentence, Tone::Good);
    }
    Ok(ExitCode::SUCCESS)
}

/// Describes the work that is about to be discarded.
fn gives_up(order: &Order, report: &Report) -> String {
    let work = match (&report.branch, report.unfinished.is_empty()) {
        (Some(branch), _) => format!("The branch {branch} stays; all other work of it is deleted"),
        (None, false) => "Its work so far is deleted".to_owned(),
        (None, true) => "There is no work yet that could be lost".to_owned(),
    };
    let (name, tasks) = (order.name(), report.approved());
    format!("Giving up {name} ({}), {tasks}. {work}.", order.title)
}

impl Session {
    /// Prints the work that is given up, cancels the Feature if it may still continue, and waits until it rests.
    async fn cancel(&mut self, order: &mut Order, report: Report, who: &AgentArgs) -> anyhow::Result<Report> {
        self.screen.note(&gives_up(order, &report));
        if matches!(report.state, OrderStatus::Nothing | OrderStatus::Cancelled | OrderStatus::Failed) {
            return Ok(report);
        }
        order.goal = BuildGoal::Plan;
        order.add_command(None, "/autobuild cancel".to_owned());
        self.orders.replace(order).await?;
        self.screen.quiet = true;
        let built = self.build(order.clone(), who, Vec::new()).await;
        self.screen.quiet = false;
        built?;
        let report = self.orders.report(order.number).await?;
        anyhow::ensure!(report.answers(order), "{} was not given up: it still works", order.name());
        Ok(report)
    }
}

/// Removes an order's repository from the forge, and its mirror from the caches.
async fn remove(session: &Session, order: &Order) -> anyhow::Result<()> {
    let options = ForgeOptions::new(session.repository.folder.join("forge"));
    let forge = Forge::start(options).await.context("starting the local forge")?;
    let full_name = own_full_name(&order.on_forge());
    if let Ok(id) = forge.repo_id(&full_name) {
        forge.forget_repo(&full_name)?;
        git::delete(&Mirrors::folder(&session.repository.cache, RepoId(id)));
    }
    forge.shutdown().await?;
    Ok(())
}
