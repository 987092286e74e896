//! `plan`, `feature` and `task`: the steps of `run` one by one, with settings for one order.

use crate::{
    cli::{
        local::{
            order_status::OrderStatus,
            orders::{BuildGoal, PlanMode},
            session::{AgentArgs, EXIT_CODES, Session},
        },
        stage::issue::IssueText,
    },
    config::{Offer, PreLoop, RepositorySettings, SETTINGS_FILE},
    messages::lacks_criteria,
};
use anyhow::Context;
use clap::{Args, builder::PossibleValue};
use domain::{check_boxes::check_boxes, design, ids::TaskId};
use git::bare::BareRepo;
use serde_json::{Map, Value, json};
use std::{io::IsTerminal, path::Path, process::ExitCode};

/// The arguments of `plan`.
#[derive(Debug, Args)]
#[command(
    after_help = format!("Examples:\n  autobuild plan issue.md\n  autobuild plan 'Greet people by their name' --structured\n\
\nExit codes:\n  0    there is a plan\n  1    there is none, and the output says why\n  2    the command failed, and the output \
says why\n  130  you interrupted it; the same command goes on")
)]
pub struct Plan {
    /// A Markdown file whose first `# ` line is the title, or the issue itself in quotes.
    #[arg(value_name = "FILE|TEXT")]
    issue: String,
    /// Prints the plan as YAML at the end.
    #[arg(long)]
    structured: bool,
    #[command(flatten)]
    pub(in crate::cli) who: AgentArgs,
}

/// The arguments of `task`.
#[derive(Debug, Args)]
#[command(
    after_help = format!("The issue's check boxes (`- [ ] ...`) say what must hold; without them a designer says it.\n\nExamples:\n  \
autobuild task fix.md\n  autobuild task 'Close the file when reading fails'\n\n{EXIT_CODES}")
)]
pub struct TaskCommand {
    /// A Markdown file whose first `# ` line is the title, or the task itself in quotes.
    #[arg(value_name = "FILE|TEXT")]
    task: String,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    pub(in crate::cli) who: AgentArgs,
}

/// The arguments of `feature`.
#[derive(Debug, Args)]
#[command(
    after_help = format!("The options hold for this Feature, above .github/autobuild.yml.\n\nExamples:\n  autobuild \
feature FEAT-1\n  autobuild feature FEAT-1 --dry-run\n  autobuild feature FEAT-2 --parallel 4 --max-turns 3 \
--orchestrate\n\n{EXIT_CODES}")
)]
pub struct FeatureCommand {
    /// A planned Feature, as FEAT-1.
    #[arg(value_name = "FEAT")]
    feature: String,
    /// Prints the plan, and starts nothing.
    #[arg(long)]
    dry_run: bool,
    /// Asks nobody: merges approved tasks even if the settings leave that to people.
    #[arg(long)]
    orchestrate: bool,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    pub(in crate::cli) who: AgentArgs,
}

/// Settings for this once.
#[derive(Debug, Args)]
struct Options {
    /// The most tasks at the same time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    parallel: Option<u32>,
    /// The most turns of a task; then it is blocked.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    max_turns: Option<u32>,
    /// The model of all roles.
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// The rule for new tests on the old code.
    #[arg(long, value_name = "M", value_parser = [
        PossibleValue::new("tdd").help("New tests have to fail without the change"),
        PossibleValue::new("standard").help("The review says whether they do"),
    ])]
    mode: Option<String>,
    /// The longest run of an agent, in seconds or as 90s, 30m or 2h.
    #[arg(long, value_name = "T")]
    timeout: Option<String>,
    /// Lets a designer plan each task before its first turn.
    #[arg(long, overrides_with = "no_pre_loop")]
    pre_loop: bool,
    /// Uses no designer.
    #[arg(long)]
    no_pre_loop: bool,
}

impl Options {
    /// Returns the options in the form of a repository's settings.
    fn settings(&self) -> anyhow::Result<Map<String, Value>> {
        let by_role = |value: Value| json!({"planner": value, "designer": value, "player": value, "coach": value});
        let mut settings = Map::new();
        let mut set = |key: &str, value: Option<Value>| settings.extend(value.map(|value| (key.to_owned(), value)));
        set("max_parallel_tasks", self.parallel.map(Value::from));
        set("max_turns", self.max_turns.map(Value::from));
        set("model", self.model.as_deref().map(|model| by_role(model.into())));
        set("mode", self.mode.clone().map(Value::from));
        set("timeouts", self.timeouts()?);
        set("pre_loop", self.pre_loop().map(serde_json::to_value).transpose()?);
        Ok(settings)
    }

    /// Returns when a designer works, if the options say it.
    fn pre_loop(&self) -> Option<PreLoop> {
        match (self.pre_loop, self.no_pre_loop) {
            (true, _) => Some(PreLoop::Always),
            (false, true) => Some(PreLoop::Never),
            (false, false) => None,
        }
    }

    /// Returns the time limits in the form of a repository's settings.
    fn timeouts(&self) -> anyhow::Result<Option<Value>> {
        let Some(time) = &self.timeout else { return Ok(None) };
        let quoted = serde_json::to_string(time)?;
        let time = if time.parse::<u64>().is_ok() { time } else { &quoted };
        let text = format!("timeouts: {{planner: {time}, designer: {time}, player: {time}, coach: {time}}}");
        let read = RepositorySettings::parse(&text, &Default::default());
        let read = read.map_err(|_| {
            anyhow::anyhow!("--timeout {time}: valid are seconds, or a number with s, m or h, from 1s to 24h")
        })?;
        Ok(Some(serde_json::to_value(read.timeouts)?))
    }
}

/// Reads the issue from the file of that name, or takes the words themselves.
fn issue(given: &str) -> anyhow::Result<IssueText> {
    anyhow::ensure!(
        !given.trim().is_empty(),
        "the issue is empty: name a Markdown file, or write the issue itself in quotes"
    );
    let path = Path::new(given);
    anyhow::ensure!(
        path.exists() || !is_feature(given),
        "{given} is the name of a Feature, and this command takes an issue: a Markdown file, or its words in quotes. \
         `autobuild feature {given}` builds a Feature that is planned"
    );
    if path.exists() {
        return IssueText::read(path).with_context(|| given.to_owned());
    }
    let is_text = given.split_whitespace().nth(1).is_some();
    anyhow::ensure!(
        is_text,
        "{given}: there is no such file; an issue of your own words has at least two, in quotes, as 'Greet people by name'"
    );
    let (title, body) = given.trim().split_once('\n').unwrap_or((given.trim(), ""));
    IssueText::of(&format!("# {}\n\n{body}", title.trim_start_matches("# ")))
}

/// `true` if the text is a Feature's name, such as FEAT-1.
fn is_feature(given: &str) -> bool {
    let number = given.to_ascii_uppercase();
    number.strip_prefix("FEAT-").is_some_and(|number| number.parse::<u64>().is_ok())
}

pub async fn plan(plan: &Plan) -> anyhow::Result<ExitCode> {
    let mut session = Session::open("plan", &plan.who).await?;
    let issue = issue(&plan.issue)?;
    // Even a small plan waits, since nothing is built before the person asks for it.
    let settings = Map::from_iter([("plan_approval".to_owned(), "always".into())]);
    let (order, left_out) = session.ordered(issue, BuildGoal::Plan, PlanMode::Planned, settings, &plan.who).await?;
    let (number, name) = (order.number, order.name());
    let is_structured = plan.structured && !plan.who.json;
    // A person who redirects the plan to a file wants nothing else in that file.
    session.screen.quiet = is_structured && !std::io::stdout().is_terminal();
    let code = session.build(order, &plan.who, left_out).await?;
    let report = session.orders.report(number).await?;
    if let Some(text) = report.plan.as_ref().filter(|_| is_structured) {
        let before = if session.screen.quiet { "" } else { "\n" };
        let text = crate::messages::clean(text);
        session.screen.terminal.exact(&format!("{before}{}", text.trim_end()));
    }
    if session.screen.quiet && report.rests {
        let does = if report.ok { "builds it" } else { "says more" };
        let next = if report.ok { "feature" } else { "status" };
        eprintln!("autobuild plan: {}. `autobuild {next} {name}` {does}.", report.sentence.trim_end_matches('.'));
    }
    Ok(code)
}

pub async fn task(task: &TaskCommand) -> anyhow::Result<ExitCode> {
    let session = Session::open("task", &task.who).await?;
    if task.task.to_ascii_uppercase().parse::<TaskId>().is_ok() {
        session.find(&task.task, None).await?.ensure_feature()?;
    }
    let issue = issue(&task.task)?;
    let settings = task.options.settings()?;
    session.has_criteria(&issue, task.options.pre_loop()).await?;
    let (order, left_out) = session.ordered(issue, BuildGoal::BuildAll, PlanMode::OneTask, settings, &task.who).await?;
    session.build(order, &task.who, left_out).await
}

impl Session {
    /// Refuses a task without usable check boxes if no design is made either: without criteria it could not begin.
    /// `asked` is the option, which overrides the settings.
    async fn has_criteria(&self, issue: &IssueText, asked: Option<PreLoop>) -> anyhow::Result<()> {
        let (_, body) = issue.clone().parts();
        let boxes = check_boxes(&body);
        if design::suffice_as_criteria(&boxes) {
            return Ok(());
        }
        let pre_loop = match asked {
            Some(asked) => asked,
            None => self.pre_loop_at_head().await?,
        };
        let instead = match (pre_loop, asked) {
            (PreLoop::Always | PreLoop::Auto, _) => return Ok(()),
            (PreLoop::Never, Some(_)) => "leave --no-pre-loop out",
            (PreLoop::Never, None) => "name --pre-loop",
        };
        let lacks = lacks_criteria(&design::unbound(&boxes));
        anyhow::bail!("{lacks}. Or let a designer write them: {instead}")
    }

    /// Returns the setting for designers at the last commit. Settings with a mistake count as the default, since the
    /// Feature itself reports the mistake.
    async fn pre_loop_at_head(&self) -> anyhow::Result<PreLoop> {
        let head = self.repository.head().await?.sha;
        let bare = BareRepo::at(self.repository.own.git_folder.clone());
        let file = bare.file(&head, SETTINGS_FILE).await?.unwrap_or_default();
        let settings = RepositorySettings::parse(&String::from_utf8_lossy(&file), &Offer::default());
        Ok(settings.map_or(PreLoop::Auto, |settings| settings.pre_loop))
    }
}

pub async fn feature(feature: &FeatureCommand) -> anyhow::Result<ExitCode> {
    let session = Session::open("feature", &feature.who).await?;
    let named = &feature.feature;
    anyhow::ensure!(
        !Path::new(named).is_file(),
        "{named} is a file, and `autobuild feature` takes the name of a planned Feature, such as FEAT-1: `autobuild \
         plan {named}` plans it"
    );
    let found = session.find(named, None).await?;
    found.ensure_feature()?;
    let mut order = found.order;
    let name = order.name();
    order.is_open()?;
    let settings = feature.options.settings()?;
    let report = session.orders.report(order.number).await?;
    let no_plan = || format!("{name} has no plan yet: `autobuild resume {name}` goes on to make it");
    if feature.dry_run {
        let plan = report.plan.with_context(no_plan)?;
        if feature.who.json {
            session.screen.terminal.exact(&json!({"feature": name, "plan": plan, "settings": settings}).to_string())
        } else {
            session.screen.terminal.exact(&crate::messages::clean(&plan))
        }
        return Ok(ExitCode::SUCCESS);
    }
    if settings.iter().any(|(key, value)| order.settings.get(key) != Some(value)) {
        anyhow::ensure!(report.plan.is_some(), no_plan());
        anyhow::ensure!(
            report.state == OrderStatus::AwaitingApproval,
            "these options only change a Feature that is planned and not started, and {name} is {}",
            report.state
        );
        // Settings are read together with a plan, so the same plan is submitted again.
        let plan = report.plan.as_deref().unwrap_or_default().trim_end();
        order.add_command(None, format!("/autobuild plan\n\n```yaml\n{plan}\n```"));
        order.settings.extend(settings);
    }
    session.with_agent(&mut order, &feature.who)?;
    order.goal = if feature.orchestrate { BuildGoal::BuildAll } else { BuildGoal::Build };
    session.orders.replace(&order).await?;
    session.build(order, &feature.who, Vec::new()).await
}
