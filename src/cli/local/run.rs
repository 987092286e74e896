//! `autobuild run ISSUE.md`: turns an issue into a branch, in the repository around the current folder.

use crate::cli::{
    local::{
        orders::{BuildGoal, Order, PlanMode, branch_of, numbered, without_folder},
        session::{AgentArgs, EXIT_CODES, Session},
    },
    own_agent::{agent, choose_agent},
    stage::{issue::IssueText, repository_name},
};
use anyhow::Context;
use clap::Args;
use git::NameIs;
use serde_json::{Map, Value};
use std::{path::PathBuf, process::ExitCode};

/// The arguments of `run`.
#[derive(Debug, Args)]
#[command(
    after_help = format!("Starts from the last commit. The result is a branch autobuild/<title>; nothing is checked out \
or pushed.\nThe same command goes on where it stopped, after a crash too.\n\nExamples:\n  autobuild run issue.md\n  \
autobuild run issue.md --agent codex --use-my-login\n  autobuild run issue.md --json | jq -r 'select(.feature).branch'\n\n\
{EXIT_CODES}")
)]
pub struct Run {
    /// A Markdown file: its first `# ` line is the title, the rest says what is to be built.
    #[arg(value_name = "ISSUE.md")]
    issue: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) who: AgentArgs,
}

pub async fn run(run: &Run) -> anyhow::Result<ExitCode> {
    let session = Session::open("run", &run.who).await?;
    let path = run.issue.display();
    let is_text = !run.issue.exists() && path.to_string().contains(char::is_whitespace);
    anyhow::ensure!(
        !is_text,
        "there is no file '{path}': `autobuild run` takes a file, and `autobuild plan` and `autobuild task` also take the \
         issue's words in quotes"
    );
    let issue = IssueText::read(&run.issue).with_context(|| path.to_string())?;
    let (order, left_out) =
        session.ordered(issue, BuildGoal::BuildAll, PlanMode::Planned, Map::new(), &run.who).await?;
    session.build(order, &run.who, left_out).await
}

impl Session {
    /// Returns the order for an issue, an existing one or a new one on the last commit, together with the uncommitted
    /// changes.
    pub async fn ordered(
        &self,
        issue: IssueText,
        goal: BuildGoal,
        kind: PlanMode,
        settings: Map<String, Value>,
        who: &AgentArgs,
    ) -> anyhow::Result<(Order, Vec<String>)> {
        let head = self.repository.head().await?;
        let (title, body) = issue.parts();
        let is_requested = |order: &&Order| order.ended.is_none() && (&order.title, &order.body) == (&title, &body);
        let orders = self.orders.all().await?;
        if let Some(known) = orders.iter().find(|order| is_requested(order) && order.kind == kind) {
            let mut order = known.clone();
            order.goal = if goal == BuildGoal::Plan { order.goal } else { goal };
            self.with_agent(&mut order, who)?;
            let report = self.orders.report(order.number).await?;
            let is_stuck = report.answers(&order) && !report.ok && report.can_go_on();
            if is_stuck && (self.take_in(&mut order, &report).await? || order.agent != known.agent) {
                order.go_on(report.state, None, "");
            }
            if order != *known {
                self.orders.replace(&order).await?;
            }
            return Ok((order, Vec::new()));
        }
        let agent = agent(who.agent.as_deref())?.to_string();
        self.repository.own.can_be_copied().await?;
        let work_tree = &self.repository.own.work_tree;
        let left_out = git::uncommitted(work_tree).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "whether {} has uncommitted changes is not known", work_tree.display());
            Vec::new()
        });
        self.repository.make()?;
        let order = Order {
            number: 0,
            branch: self.free_branch(&branch_of(&title), &orders).await?,
            title,
            body,
            goal,
            kind,
            base: head.into(),
            repository: self.repository.own.git_folder.parent().map(repository_name).unwrap_or_default(),
            agent,
            own_login: who.use_my_login,
            settings,
            commands: Vec::new(),
            ended: None,
        };
        Ok((self.orders.add(order).await?, left_out))
    }

    /// Changes the order's agent if the command or the environment names one.
    pub fn with_agent(&self, order: &mut Order, who: &AgentArgs) -> anyhow::Result<()> {
        if let Some(agent) = choose_agent(who.agent.as_deref())? {
            order.agent = agent.to_string();
        }
        order.own_login |= who.use_my_login;
        Ok(())
    }

    /// Returns a branch name that the repository does not have and no other order wants.
    async fn free_branch(&self, wanted: &str, orders: &[Order]) -> anyhow::Result<String> {
        let own = &self.repository.own;
        let wanted = match own.name(wanted).await? {
            NameIs::Below(_) => without_folder(wanted),
            NameIs::Free | NameIs::Taken => wanted.to_owned(),
        };
        for number in 1.. {
            let name = numbered(&wanted, number);
            let is_wanted = orders.iter().any(|order| order.branch == name);
            if !is_wanted && own.name(&name).await? == NameIs::Free {
                return Ok(name);
            }
        }
        Ok(wanted)
    }
}
