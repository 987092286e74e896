//! `status`: shows everything ordered in this repository, and its progress.

use crate::cli::{
    local::{
        lock::{Holder, Lock},
        named::NamedOrder,
        order_status::OrderStatus,
        orders::{End, Order},
        report::{Report, money},
        session::{AgentArgs, Session},
    },
    stage::terminal::Tone,
};
use clap::Args;
use std::process::ExitCode;

/// The arguments of `status`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  autobuild status\n  autobuild status FEAT-2\n  autobuild status --json | jq -r \
'.features[] | [.feature, .state, .branch] | @tsv'\n\nExit codes:\n  0  shown\n  2  there is no such Feature, or no \
repository")]
pub struct Status {
    /// One Feature, as FEAT-1; without it, all.
    #[arg(value_name = "FEAT")]
    feature: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

pub async fn status(status: &Status) -> anyhow::Result<ExitCode> {
    let who = AgentArgs { agent: None, use_my_login: false, json: status.json, verbose: false };
    let session = Session::open("status", &who).await?;
    let holder = Lock::holder(&session.repository.folder);
    if let Some(name) = &status.feature {
        let NamedOrder { order, .. } = session.find(name, None).await?;
        let report = session.orders.report(order.number).await?;
        let report = session.as_it_is(&order, report, holder.as_ref()).await?;
        session.screen.print(&order, &report);
        return Ok(ExitCode::SUCCESS);
    }
    let mut all = Vec::new();
    for order in session.orders.all().await? {
        let report = session.orders.report(order.number).await?;
        all.push((session.as_it_is(&order, report, holder.as_ref()).await?, order));
    }
    if status.json {
        let features: Vec<_> = all.iter().map(|(report, order)| report.json(order)).collect();
        let shown = serde_json::json!({ "working": holder, "features": features });
        session.screen.terminal.exact(&shown.to_string());
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        session.screen.note(
            "Nothing is planned in this repository yet: `autobuild plan ISSUE.md` plans an issue, and `autobuild run \
                   ISSUE.md` plans and builds it.",
        );
    }
    for (report, order) in &all {
        print(&session, order, report);
    }
    if let Some(Holder { command, process, .. }) = holder {
        session.screen.note(&format!("`autobuild {command}` (process {process}) works here now."));
    }
    Ok(ExitCode::SUCCESS)
}

fn print(session: &Session, order: &Order, report: &Report) {
    let tone = match (order.ended.is_some() || !report.rests, report.ok) {
        (true, _) => Tone::Plain,
        (false, true) => Tone::Good,
        (false, false) => Tone::Bad,
    };
    let branch = match (&report.branch, &report.head, order.ended) {
        (Some(branch), _, _) => branch,
        (None, Some(_), _) => "its branch is gone",
        (None, None, None) => "no branch yet",
        (None, None, Some(_)) => "no branch",
    };
    let state = match (order.ended, report.ok && report.head.is_some()) {
        (Some(End::Completed), _) => "completed".to_owned(),
        (Some(End::GivenUp), _) => "given up".to_owned(),
        (None, true) => "done".to_owned(),
        // A Feature whose label was refused has no state.
        (None, false) if report.state == OrderStatus::Nothing => "not started".to_owned(),
        (None, false) => format!("{}{}", report.state, report.cause),
    };
    let going =
        if report.rests || report.sentence.is_empty() { String::new() } else { format!(", {}", report.sentence) };
    let (name, tasks, cost) = (order.name(), report.approved(), money(&report.all.cost));
    let terminal = &session.screen.terminal;
    let title = crate::messages::clean(&order.title).replace('\n', " ");
    terminal.line(&format!("{name}  "), "  ", &title, tone);
    let below = format!("{state}{going} · {tasks} · cost {cost} · {branch}");
    terminal.line("  ", "  ", &below, Tone::Quiet);
}

impl Session {
    /// Returns the report with the present state of its branch, which may be gone.
    async fn as_it_is(&self, order: &Order, mut report: Report, holder: Option<&Holder>) -> anyhow::Result<Report> {
        if let Some(branch) = &report.branch
            && self.repository.own.branch(branch).await?.is_none()
        {
            report.branch = None;
        }
        Ok(add_holder(order, report, holder))
    }
}

/// Adds to the report of an unfinished order the process that works on it, if there is one.
fn add_holder(order: &Order, report: Report, holder: Option<&Holder>) -> Report {
    if report.answers(order) || order.ended.is_some() {
        return report;
    }
    let name = order.name();
    let why = report.error.as_deref().unwrap_or("it was interrupted");
    let (state, sentence) = match (holder, report.state, &report.error) {
        (Some(_), OrderStatus::Nothing, _) => (OrderStatus::Waiting, "at work".to_owned()),
        (Some(_), state, _) => (state, "at work".to_owned()),
        (None, OrderStatus::Nothing, None) => (OrderStatus::Ordered, format!("`autobuild resume {name}` begins it")),
        (None, OrderStatus::Nothing, Some(_)) => {
            (OrderStatus::Ordered, format!("it could not begin: {why}; `autobuild resume {name}` tries again"))
        }
        (None, state, _) => (state, format!("stopped: {why}; `autobuild resume {name}` goes on")),
    };
    Report { state, sentence, rests: false, ok: false, ..report }
}
