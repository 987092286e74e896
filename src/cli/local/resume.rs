//! `resume`: goes on with a Feature or task that rests, with guidance if there is any.

use crate::cli::local::{
    named::NamedOrder,
    order_status::OrderStatus,
    orders::Order,
    report::Report,
    session::{AgentArgs, EXIT_CODES, Session},
};
use clap::Args;
use std::process::ExitCode;

/// The arguments of `resume`.
#[derive(Debug, Args)]
#[command(
    after_help = format!("Examples:\n  autobuild resume FEAT-1\n  autobuild resume TASK-002 'use the parser that is \
there'\n  autobuild resume FEAT-1 --max-turns 3\n  autobuild resume TASK-002 --approve\n\n{EXIT_CODES}")
)]
pub struct Resume {
    /// A Feature, as FEAT-1, or a task, as TASK-001.
    #[arg(value_name = "FEAT|TASK")]
    what: String,
    /// Guidance for the Player, word for word.
    #[arg(value_name = "GUIDANCE")]
    guidance: Option<String>,
    /// How many more turns a blocked task gets.
    #[arg(long, value_name = "N")]
    max_turns: Option<u32>,
    #[command(flatten)]
    decision: Decision,
    /// The Feature, if several have a task of that name.
    #[arg(long, value_name = "FEAT")]
    feature: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) who: AgentArgs,
}

/// A person's decision about a blocked task, other than another turn.
#[derive(Clone, Copy, Debug, Args)]
#[group(multiple = false)]
struct Decision {
    /// Takes a blocked task as it is, whatever the Coach says.
    #[arg(long, conflicts_with_all = ["guidance", "max_turns"])]
    approve: bool,
    /// Gives the task up.
    #[arg(long, conflicts_with_all = ["guidance", "max_turns"])]
    skip: bool,
    /// Starts the task again from the integration branch.
    #[arg(long, conflicts_with_all = ["guidance", "max_turns"])]
    retry: bool,
}

impl Decision {
    /// Returns the name of the matching command.
    fn verb(self) -> Option<&'static str> {
        let verbs = [(self.approve, "approve"), (self.skip, "skip"), (self.retry, "retry")];
        verbs.into_iter().find_map(|(is_it, verb)| is_it.then_some(verb))
    }
}

impl Session {
    /// Takes new commits of the person into the order, if HEAD contains the work's base, or if there is no work yet.
    /// Returns `true` if the base changed.
    pub async fn take_in(&self, order: &mut Order, report: &Report) -> anyhow::Result<bool> {
        let head = self.repository.head().await?;
        let fits = report.all.turns == 0 || self.repository.own.holds(&order.base.sha).await?;
        let is_news = fits && head.sha != order.base.sha;
        if is_news {
            order.base.sha = head.sha;
        }
        Ok(is_news)
    }
}

pub async fn resume(resume: &Resume) -> anyhow::Result<ExitCode> {
    let session = Session::open("resume", &resume.who).await?;
    let NamedOrder { mut order, task } = session.find(&resume.what, resume.feature.as_deref()).await?;
    let name = order.name();
    order.is_open()?;
    let report = session.orders.report(order.number).await?;
    session.with_agent(&mut order, &resume.who)?;
    if let Some(verb) = resume.decision.verb() {
        let Some(task) = task else {
            anyhow::bail!("--{verb} decides about one task: name it, as TASK-001");
        };
        let named = if verb == "approve" { String::new() } else { format!(" {task}") };
        session.take_in(&mut order, &report).await?;
        order.add_command(Some(task), format!("/autobuild {verb}{named}"));
        session.orders.replace(&order).await?;
        return session.build(order, &resume.who, Vec::new()).await;
    }
    let asked = resume.guidance.is_some() || resume.max_turns.is_some();
    if asked || (report.answers(&order) && !report.ok) {
        session.take_in(&mut order, &report).await?;
        anyhow::ensure!(
            report.state != OrderStatus::AwaitingApproval,
            "the plan of {name} waits: `autobuild feature {name}` builds it"
        );
        let turns = resume.max_turns.map(|turns| format!("--max-turns={turns}"));
        let words: Vec<String> = turns.into_iter().chain(resume.guidance.clone()).collect();
        order.go_on(report.state, task, &words.join(" "));
    }
    session.orders.replace(&order).await?;
    session.build(order, &resume.who, Vec::new()).await
}
