//! What is ordered here and how far it is; going on; taking the result and cleaning up.

use crate::cli::{
    local::{
        EXIT_CODES, Session, Who, ended,
        lock::{Asked, Holder, Lock},
        orders::{Order, Wish},
        report::{Report, money},
    },
    stage::{full_name, terminal::Tone},
};
use anyhow::Context;
use clap::Args;
use domain::ids::{RepoId, TaskId};
use forge::{Forge, ForgeOptions};
use git::{Given, Mirrors};
use std::process::ExitCode;

/// What `status` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  autobuild status\n  autobuild status FEAT-2\n  autobuild status --json | jq -r \
'.features[] | [.feature, .state, .branch] | @tsv'\n\nExit codes:\n  0  it was told\n  2  there is nothing of that name, \
or no repository"
)]
pub struct Status {
    /// One Feature, as FEAT-1; all if none is named.
    #[arg(value_name = "FEAT")]
    feature: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// What `resume` takes.
#[derive(Debug, Args)]
#[command(
    after_help = format!("Examples:\n  autobuild resume FEAT-1\n  autobuild resume TASK-002 'use the parser that is \
there'\n  autobuild resume FEAT-1 --max-turns 3\n\n{EXIT_CODES}")
)]
pub struct Resume {
    /// A Feature, as FEAT-1, or a task, as TASK-001.
    #[arg(value_name = "FEAT|TASK")]
    what: String,
    /// What the Player is told, word for word.
    #[arg(value_name = "GUIDANCE")]
    guidance: Option<String>,
    /// How many more turns a blocked task gets.
    #[arg(long, value_name = "N")]
    max_turns: Option<u32>,
    /// The Feature of the task, where several have one of that name.
    #[arg(long, value_name = "FEAT")]
    feature: Option<String>,
    #[command(flatten)]
    who: Who,
}

/// What `complete` takes.
#[derive(Debug, Args)]
#[command(
    after_help = format!("The branch stays. What is removed: the forge's copy of the repository, mirrors and checkouts. \
`trace` still knows what happened.\n\nExamples:\n  autobuild complete FEAT-1\n  autobuild complete FEAT-2 --discard\n\n\
{EXIT_CODES}")
)]
pub struct Complete {
    /// A Feature, as FEAT-1, or one of its tasks.
    #[arg(value_name = "FEAT|TASK")]
    what: String,
    /// Gives up what is not approved.
    #[arg(long)]
    discard: bool,
    /// The Feature of the task, where several have one of that name.
    #[arg(long, value_name = "FEAT")]
    feature: Option<String>,
    #[command(flatten)]
    who: Who,
}

/// What a name stands for.
pub struct Found {
    /// The order.
    pub order: Order,
    /// Its task, where a task is named.
    pub task: Option<TaskId>,
}

impl Session {
    /// The order that `what` names: a Feature, or a task of one.
    pub fn find(&self, what: &str, feature: Option<&str>) -> anyhow::Result<Found> {
        let orders = self.orders.all()?;
        let is_named = |order: &Order, name: &str| {
            let number = order.number.to_string();
            order.name().eq_ignore_ascii_case(name) || number == name
        };
        if let Some(order) = orders.iter().find(|order| is_named(order, what)) {
            let (order, task) = (order.clone(), None);
            return Ok(Found { order, task });
        }
        let names: Vec<String> = orders.iter().map(Order::name).collect();
        let there = match names.is_empty() {
            true => "nothing is ordered in this repository yet: `autobuild run ISSUE.md` does".to_owned(),
            false => format!("there are {}", names.join(", ")),
        };
        let Ok(task) = what.to_ascii_uppercase().parse::<TaskId>() else {
            anyhow::bail!("`{what}` is no Feature of this repository; {there}");
        };
        let mut with = Vec::new();
        for order in orders.into_iter().filter(|order| !order.completed) {
            let wanted = feature.is_none_or(|name| is_named(&order, name));
            let report = self.orders.report(order.number)?;
            if wanted && report.tasks.iter().any(|row| row.task == task.to_string()) {
                with.push(order);
            }
        }
        let with_names: Vec<String> = with.iter().map(Order::name).collect();
        match (with.pop(), with.is_empty()) {
            (Some(order), true) => Ok(Found {
                order,
                task: Some(task),
            }),
            (Some(_), false) => anyhow::bail!(
                "several Features have a {task}; choose one with --feature: {}",
                with_names.join(", ")
            ),
            (None, _) => anyhow::bail!("no open Feature has a {task}; {there}"),
        }
    }
}

pub async fn status(status: Status) -> ExitCode {
    let json = status.json;
    ended("status", json, show(&status).await)
}

async fn show(status: &Status) -> anyhow::Result<ExitCode> {
    let who = Who::silent(status.json);
    let session = Session::open("status", &who).await?;
    let holder = Lock::holder(&session.place.folder);
    if let Some(name) = &status.feature {
        let Found { order, .. } = session.find(name, None)?;
        let report = session.orders.report(order.number)?;
        session.screen.tell(&order, &standing(&order, report, holder.as_ref()));
        return Ok(ExitCode::SUCCESS);
    }
    let mut all = Vec::new();
    for order in session.orders.all()? {
        let report = session.orders.report(order.number)?;
        all.push((standing(&order, report, holder.as_ref()), order));
    }
    if status.json {
        let features: Vec<_> = all.iter().map(|(report, order)| report.json(order)).collect();
        let shown = serde_json::json!({ "working": holder, "features": features });
        session.screen.terminal.exact(&shown.to_string());
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        session
            .screen
            .note("Nothing is ordered in this repository yet: `autobuild run ISSUE.md` does.");
    }
    for (report, order) in &all {
        print(&session, order, report);
    }
    if let Some(holder) = holder {
        let (command, process) = (holder.command, holder.process);
        session
            .screen
            .note(&format!("`autobuild {command}` (process {process}) works here now."));
    }
    Ok(ExitCode::SUCCESS)
}

fn print(session: &Session, order: &Order, report: &Report) {
    let tone = match (order.completed || !report.rests, report.ok) {
        (true, _) => Tone::Plain,
        (false, true) => Tone::Good,
        (false, false) => Tone::Bad,
    };
    let branch = report.branch.as_deref().unwrap_or("no branch yet");
    let state = match (order.completed, report.ok && report.branch.is_some()) {
        (true, _) => "completed",
        (false, true) => "done",
        (false, false) => &report.state,
    };
    let going = match (report.rests, report.sentence.is_empty()) {
        (false, false) => format!(", {}", report.sentence),
        (true, _) | (false, true) => String::new(),
    };
    let (name, tasks, cost) = (order.name(), report.approved(), money(&report.all.cost));
    let terminal = &session.screen.terminal;
    let title = crate::messages::clean(&order.title).replace('\n', " ");
    terminal.line(&format!("{name}  "), "  ", &title, tone);
    terminal.line(
        "  ",
        "  ",
        &format!("{state}{going} · {tasks} · {cost} · {branch}"),
        Tone::Quiet,
    );
}

/// A report of an order that does not rest says whether anybody works on it.
fn standing(order: &Order, report: Report, holder: Option<&Holder>) -> Report {
    if report.answers(order) || order.completed {
        return report;
    }
    let name = order.name();
    let (state, sentence) = match (holder, report.state.is_empty()) {
        (Some(_), true) => ("waiting".to_owned(), "at work".to_owned()),
        (None, true) => (
            "ordered".to_owned(),
            format!("not begun: `autobuild resume {name}` begins"),
        ),
        (Some(_), false) => (report.state, "at work".to_owned()),
        (None, false) => (report.state, format!("stopped: `autobuild resume {name}` goes on")),
    };
    Report {
        state,
        sentence,
        rests: false,
        ..report
    }
}

impl Session {
    /// What was committed since is taken in, where it stands on what the work stands on, or where there is no work yet.
    /// Tells whether there is anything.
    pub async fn take_in(&self, order: &mut Order, report: &Report) -> anyhow::Result<bool> {
        let head = self.place.head().await?;
        let fits = report.all.turns == 0 || self.place.own.holds(&order.base.sha).await?;
        let is_news = fits && head.sha != order.base.sha;
        if is_news {
            order.stand_on(head);
        }
        Ok(is_news)
    }
}

pub async fn resume(resume: Resume) -> ExitCode {
    ended("resume", resume.who.json, go_on(&resume).await)
}

async fn go_on(resume: &Resume) -> anyhow::Result<ExitCode> {
    let session = Session::open("resume", &resume.who).await?;
    let Found { mut order, task } = session.find(&resume.what, resume.feature.as_deref())?;
    let name = order.name();
    anyhow::ensure!(!order.completed, "{name} is completed");
    let report = session.orders.report(order.number)?;
    session.with_agent(&mut order, &resume.who)?;
    let asked = resume.guidance.is_some() || resume.max_turns.is_some();
    if asked || (report.answers(&order) && !report.ok) {
        session.take_in(&mut order, &report).await?;
        anyhow::ensure!(
            report.state != "awaiting_approval",
            "the plan of {name} waits: `autobuild feature {name}` builds it"
        );
        let turns = resume.max_turns.map(|turns| format!("--max-turns={turns}"));
        let words: Vec<String> = turns.into_iter().chain(resume.guidance.clone()).collect();
        order.go_on(&report.state, task, &words.join(" "));
    }
    session.orders.keep(&order)?;
    session.build(order, &resume.who, Vec::new()).await
}

pub async fn complete(complete: Complete) -> ExitCode {
    ended("complete", complete.who.json, clean_up(&complete).await)
}

async fn clean_up(complete: &Complete) -> anyhow::Result<ExitCode> {
    let session = Session::open("complete", &complete.who).await?;
    let Found { mut order, task } = session.find(&complete.what, complete.feature.as_deref())?;
    let name = order.name();
    if let Some(task) = task {
        session
            .screen
            .note(&format!("{task} is a task of {name}, which is completed as a whole."));
    }
    let mut report = session.orders.report(order.number)?;
    if order.completed {
        session.screen.tell(&order, &report);
        return Ok(ExitCode::SUCCESS);
    }
    let is_done = report.answers(&order) && report.ok && report.branch.is_some();
    anyhow::ensure!(
        is_done || complete.discard,
        "{name} is not approved as a whole: `autobuild status {name}` says why, and `autobuild complete {name} --discard` \
         gives it up"
    );
    if !is_done {
        report = session.cancel(&mut order, report, &complete.who).await?;
    }
    let lock = match Lock::ask(&session.place.folder, session.command, &order.agent)? {
        Asked::Taken(lock) => lock,
        Asked::Held(Holder { command, process, .. }) => anyhow::bail!(
            "`autobuild {command}` (process {process}) works on this repository: wait for it, or end it with `kill {process}`"
        ),
    };
    if let (Some(branch), Some(head), true) = (&report.branch, &report.head, is_done) {
        keep_branch(&session, branch, head).await?;
    }
    order.completed = true;
    session.orders.keep(&order)?;
    remove(&session, &order).await?;
    drop(lock);
    report.complete(&name);
    session.orders.keep_report(order.number, &report)?;
    match session.screen.json {
        true => session.screen.tell(&order, &report),
        false => session
            .screen
            .terminal
            .line("", "", &format!("{}.", report.sentence), Tone::Good),
    }
    Ok(ExitCode::SUCCESS)
}

impl Session {
    /// Cancels what still may go on, and waits until it does not.
    async fn cancel(&self, order: &mut Order, report: Report, who: &Who) -> anyhow::Result<Report> {
        if matches!(report.state.as_str(), "" | "cancelled" | "failed") {
            return Ok(report);
        }
        order.wish = Wish::Plan;
        order.say(None, "/autobuild cancel".to_owned());
        self.orders.keep(order)?;
        self.build(order.clone(), who, Vec::new()).await?;
        let report = self.orders.report(order.number)?;
        anyhow::ensure!(
            report.answers(order),
            "{} was not given up: it still works",
            order.name()
        );
        Ok(report)
    }
}

/// The branch is made again where it is gone and the result came nowhere.
async fn keep_branch(session: &Session, branch: &str, head: &str) -> anyhow::Result<()> {
    let own = &session.place.own;
    if own.branch(branch).await?.is_none() && !own.holds(head).await? {
        let given = own.give(branch, head, None).await?;
        anyhow::ensure!(given == Given::Done, "the branch {branch} could not be made");
    }
    Ok(())
}

/// Removes what the forge and the caches hold of an order.
async fn remove(session: &Session, order: &Order) -> anyhow::Result<()> {
    let options = ForgeOptions::new(session.place.folder.join("forge"));
    let forge = Forge::start(options).await.context("starting the local forge")?;
    let full_name = full_name(&order.on_forge());
    if let Ok(id) = forge.repo_id(&full_name) {
        forge.forget_repo(&full_name)?;
        git::delete(&Mirrors::folder(&session.place.cache, RepoId(id)));
    }
    forge.shutdown().await?;
    Ok(())
}
