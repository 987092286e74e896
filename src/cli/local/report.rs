//! The progress of a Feature, as the commands show it: a table with a row for each task.

use crate::{
    cli::{
        local::{
            order_status::{OrderStatus, Verdict},
            orders::{BuildGoal, End, Order},
        },
        local_repository::short,
        stage::{
            terminal::{Terminal, Tone},
            wrap,
        },
    },
    messages,
};
use domain::{
    budget::{about_dollars, dollars, hours},
    cost::{Cost, Spending},
    feature::{Feature, Records},
    ids::TaskId,
    task,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The columns that a task's name needs to be shown.
const NAMED_FROM: usize = 12;

/// The git pathspec that leaves out AutoBuild's records, which people do not need to review.
const WITHOUT_RECORDS: &str = "':(exclude).autobuild'";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// `true` if nothing more happens by itself.
    pub rests: bool,
    /// `true` if everything that was asked for is approved.
    pub ok: bool,
    pub state: OrderStatus,
    /// The cause of a block, in brackets and after a blank.
    pub cause: String,
    pub sentence: String,
    /// The error that ended the last attempt to work on it.
    pub error: Option<String>,
    /// The reason why the work stopped and what a person can do, as text.
    pub why: Vec<String>,
    pub tasks: Vec<ReportRow>,
    pub plan: Option<String>,
    /// The total, including the cost of planning.
    pub all: ReportRow,
    /// The branch with the result in the person's repository.
    pub branch: Option<String>,
    /// The commit at which AutoBuild left that branch.
    pub head: Option<String>,
    /// The path of the forge's copy of the repository.
    pub repository: Option<String>,
    /// The branches in that copy with work that is not in the result.
    pub unfinished: Vec<String>,
    /// How long the branch's history keeps AutoBuild's records.
    pub records: Records,
    /// The order's goal at the time of this report.
    #[serde(rename = "wish")]
    pub goal: Option<BuildGoal>,
    /// The number of the person's commands that were passed on.
    #[serde(rename = "said")]
    pub passed_on: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportRow {
    pub task: String,
    pub name: String,
    pub turns: usize,
    /// The Coach's verdict, or the task's state.
    pub verdict: Verdict,
    /// `true` if a person may approve the task as it is, against the Coach.
    pub can_approve: bool,
    /// The time during which a turn of the task was under way, in milliseconds.
    pub wall_ms: u64,
    #[serde(flatten)]
    pub cost: Cost,
}

impl Report {
    /// Marks the work as going on, and removes the state in which it rested before.
    pub fn goes_on(&mut self) {
        (self.rests, self.ok, self.error) = (false, false, None);
        (self.sentence, self.why) = (String::new(), Vec::new());
    }

    /// Updates the report with a Feature's current state.
    pub fn update(&mut self, feature: &Feature, costs: BTreeMap<Option<TaskId>, Cost>) {
        let spending = Spending { by_task: costs, ..Spending::default() };
        self.state = OrderStatus::from(feature);
        self.cause = messages::after_blocked(feature);
        self.records = feature.rules.records;
        self.tasks = feature.tasks.iter().map(|task| row(task, &spending)).collect();
        self.all = ReportRow {
            task: "All".to_owned(),
            turns: self.tasks.iter().map(|row| row.turns).sum(),
            wall_ms: wall_ms(feature.tasks.iter().flat_map(|task| &task.turns)),
            cost: spending.total(),
            ..ReportRow::default()
        };
    }

    /// `true` if the Feature rests and nothing else was ordered since.
    pub fn answers(&self, order: &Order) -> bool {
        self.rests && self.goal == Some(order.goal) && self.passed_on == order.commands.len()
    }

    /// `true` if the Feature can continue after a person repairs something. It has no state if its label was refused.
    pub fn can_go_on(&self) -> bool {
        matches!(self.state, OrderStatus::Nothing | OrderStatus::Blocked | OrderStatus::Asks | OrderStatus::Failed)
    }

    /// Records that the Feature was ended: only its branch remains.
    pub fn end(&mut self, name: &str, end: End) {
        self.sentence = match (end, &self.branch) {
            (End::Completed, Some(_)) => {
                format!("{name} is completed: its branch stays, everything else of it is gone")
            }
            (End::Completed, None) => format!("{name} is completed: everything of it is gone but what you merged"),
            (End::GivenUp, Some(branch)) => format!("{name} is given up: only {branch} stays"),
            (End::GivenUp, None) => format!("{name} is given up"),
        };
        (self.ok, self.rests) = (end == End::Completed, true);
        if end == End::GivenUp {
            self.state = OrderStatus::GivenUp;
        }
        (self.why, self.unfinished, self.repository) = (Vec::new(), Vec::new(), None);
    }

    pub fn approved(&self) -> String {
        let approved = self.tasks.iter().filter(|row| row.verdict == Verdict::Approved).count();
        match self.tasks.len() {
            0 => "no tasks yet".to_owned(),
            1 => format!("{approved} of 1 task approved"),
            all => format!("{approved} of {all} tasks approved"),
        }
    }

    pub fn tasks_in_words(&self) -> String {
        match self.tasks.len() {
            1 => "1 task".to_owned(),
            all => format!("{all} tasks"),
        }
    }

    pub fn json(&self, order: &Order) -> serde_json::Value {
        let row = |row: &ReportRow| {
            serde_json::json!({
                "task": row.task,
                "name": row.name,
                "turns": row.turns,
                "verdict": row.verdict,
                "usd": row.cost.usd_micros.map(usd),
                "usd_is_estimate": row.cost.estimated_runs > 0,
                "agent_runs": row.cost.agent_runs,
                "seconds": row.wall_ms / 1_000,
                "agent_seconds": row.cost.agent_ms / 1_000,
            })
        };
        serde_json::json!({
            "feature": order.name(),
            "title": order.title,
            "state": self.state,
            "rests": self.rests,
            "ok": self.ok,
            "completed": order.ended == Some(End::Completed),
            "ended": self.sentence,
            "error": self.error,
            "why": self.why,
            "tasks": self.tasks.iter().map(row).collect::<Vec<_>>(),
            "all": row(&self.all),
            "plan": self.plan,
            "base": order.base.sha,
            "branch": self.branch,
            "head": self.head,
            "commands": self.commands(order).into_iter().map(|(command, _)| command).collect::<Vec<_>>(),
        })
    }

    /// Prints for people the state, the reason, the table, and the possible commands.
    pub fn print(&self, order: &Order, terminal: &Terminal) {
        terminal.exact("");
        let tone = if self.ok { Tone::Good } else { Tone::Bad };
        let tone = if self.rests { tone } else { Tone::Plain };
        let sentence = if self.rests || self.sentence.is_empty() {
            self.sentence.clone()
        } else {
            format!("{} is {}, {}", order.name(), self.state, self.sentence)
        };
        let sentence = sentence.trim_end_matches('.');
        terminal.line("", "", &format!("{sentence}."), tone);
        for text in &self.why {
            terminal.exact("");
            for line in text.lines().filter(|line| !line.is_empty()) {
                terminal.line("  ", "  ", line, Tone::Plain);
            }
        }
        if !self.tasks.is_empty() {
            terminal.exact("");
            for (line, tone) in self.table(terminal.columns()) {
                terminal.fitted(&line, tone);
            }
        }
        self.print_commands(order, terminal);
    }

    pub fn print_commands(&self, order: &Order, terminal: &Terminal) {
        let commands = self.commands(order);
        let longest = commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
        if !commands.is_empty() {
            terminal.exact("");
        }
        for (command, does) in commands {
            if terminal.columns().is_some_and(|columns| longest + does.len() + 4 > columns) {
                terminal.line("", "", &format!("To {does}:"), Tone::Quiet);
                terminal.exact(&format!("  {command}"));
            } else {
                terminal.exact(&format!("  {command:<longest$}  {does}"))
            }
        }
    }

    /// Returns the commands that are possible now, each with its effect.
    fn commands(&self, order: &Order) -> Vec<(String, String)> {
        let name = order.name();
        let base = order.base.branch.as_deref().unwrap_or_else(|| short(&order.base.sha));
        let line = |command: String, does: &str| (command, does.to_owned());
        if order.ended.is_some() {
            return Vec::new();
        }
        if let (Some(branch), true) = (&self.branch, self.ok) {
            let (base, branch) = (shell_words::quote(base), shell_words::quote(branch));
            return vec![
                line(format!("git diff {base}...{branch}"), "look at it"),
                line(self.merge(&branch), "take it"),
                line(format!("autobuild complete {name}"), "clean up"),
            ];
        }
        if !self.rests {
            let resume = line(format!("autobuild resume {name}"), "go on with it, or watch it");
            return std::iter::once(resume).chain(self.fetches(base)).collect();
        }
        if self.ok {
            return vec![match self.head {
                Some(_) => line(format!("autobuild complete {name}"), "clean up"),
                None => line(format!("autobuild feature {name}"), "build it"),
            }];
        }
        let mut commands = Vec::new();
        if self.state == OrderStatus::Building {
            let command = format!("autobuild feature {name} --orchestrate");
            commands.push(line(command, "merge what is approved"));
        }
        commands.extend(self.resume(&name));
        if let Some(blocked) = self.tasks.iter().find(|row| row.verdict == Verdict::Blocked) {
            let (decision, does) = if blocked.can_approve {
                ("approve", "take the task as it is (or --skip, --retry)")
            } else {
                ("skip", "give the task up (or --retry)")
            };
            commands.push(line(format!("autobuild resume {} --{decision}", blocked.task), does));
        }
        commands.extend(self.fetches(base));
        commands.push(line(format!("autobuild complete {name} --discard"), "give it up"));
        commands
    }

    /// Returns the command that takes the result without the commits of AutoBuild's records.
    fn merge(&self, branch: &str) -> String {
        match self.records {
            Records::WhileBuilding | Records::Keep => format!("git merge --squash {branch} && git commit"),
            Records::None => format!("git merge {branch}"),
        }
    }

    /// Returns the command that continues work that waits for a person's words, with its effect.
    fn resume(&self, name: &str) -> Option<(String, String)> {
        let asking = self.tasks.iter().find(|row| row.verdict == Verdict::Asks);
        let feature = || (self.state == OrderStatus::Asks).then_some(name);
        let (command, does) = if let Some(asks) = asking.map(|row| row.task.as_str()).or_else(feature) {
            let command = format!("autobuild resume {asks} 'your answer'");
            (command, "answer; without words, the defaults hold")
        } else if !self.can_go_on() {
            return None;
        } else if self.all.turns == 0 {
            (format!("autobuild resume {name}"), "try again, once that is fixed")
        } else {
            let command = format!("autobuild resume {name} 'what to do'");
            (command, "go on with your guidance")
        };
        Some((command, does.to_owned()))
    }

    /// Returns the commands that fetch the work so far into the person's repository and show it; they check out
    /// nothing.
    fn fetches(&self, base: &str) -> Vec<(String, String)> {
        let Some(repository) = self.repository.as_ref().filter(|_| !self.unfinished.is_empty()) else {
            return Vec::new();
        };
        let from = shell_words::quote(repository);
        let fetch = |branch: &String| {
            let command = format!("git fetch {from} {}", shell_words::quote(branch));
            (command, "get the work so far".to_owned())
        };
        let look = format!("git diff {}...FETCH_HEAD -- {WITHOUT_RECORDS}", shell_words::quote(base));
        let fetches = self.unfinished.iter().map(fetch);
        fetches.chain([(look, "look at what you got".to_owned())]).collect()
    }

    /// Returns the rows as lines that fit the columns, the heading first.
    fn table(&self, columns: Option<usize>) -> Vec<(String, Tone)> {
        let heading = ["Task", "Turns", "Verdict", "Cost", "Time", "Name"].map(str::to_owned);
        let rows: Vec<[String; 6]> = self.tasks.iter().chain([&self.all]).map(cells).collect();
        let width = |at: usize| {
            let of = |cells: &[String; 6]| cells.get(at).map_or(0, |cell| cell.chars().count());
            rows.iter().chain([&heading]).map(of).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..5).map(width).collect();
        let gap = match columns {
            Some(columns) if widths.iter().sum::<usize>() + 10 > columns => " ",
            Some(_) | None => "  ",
        };
        let left = columns.map(|columns| columns.saturating_sub(widths.iter().sum::<usize>() + 5 * gap.len()));
        let line = |cells: &[String; 6]| {
            let padded = widths.iter().zip(cells).map(|(width, cell)| format!("{cell:<width$}"));
            let mut parts: Vec<String> = padded.collect();
            if left.is_none_or(|left| left >= NAMED_FROM) {
                let name = cells.last().map_or("", String::as_str);
                parts.push(left.map_or_else(|| name.to_owned(), |left| wrap::cut(name, left)));
            }
            parts.join(gap).trim_end().to_owned()
        };
        let tone = |row: &ReportRow| match row.verdict {
            Verdict::Approved => Tone::Good,
            Verdict::Blocked | Verdict::Asks => Tone::Bad,
            Verdict::None
            | Verdict::Pending
            | Verdict::Resumed
            | Verdict::PreLoop
            | Verdict::PlayerTurn
            | Verdict::CoachTurn
            | Verdict::Skipped
            | Verdict::Cancelled => Tone::Plain,
        };
        let tones = self.tasks.iter().map(tone).chain([Tone::Loud]);
        let head = std::iter::once((line(&heading), Tone::Quiet));
        head.chain(rows.iter().map(line).zip(tones)).collect()
    }
}

fn row(task: &task::Task, spending: &Spending) -> ReportRow {
    ReportRow {
        task: task.id.to_string(),
        name: task.plan.name.clone(),
        turns: task.turns.len(),
        verdict: Verdict::from(task),
        can_approve: task.can_be_overridden(),
        wall_ms: wall_ms(&task.turns),
        cost: spending.of_task(task.id),
    }
}

/// Returns the time during which at least one of these turns was under way, in milliseconds. An open turn counts once
/// it ends.
fn wall_ms<'a>(turns: impl IntoIterator<Item = &'a task::Turn>) -> u64 {
    let ended = |turn: &task::Turn| Some((turn.started_at.0, turn.ended_at?.0));
    let mut spans: Vec<(i64, i64)> = turns.into_iter().filter_map(ended).collect();
    spans.sort_unstable();
    let mut until = i64::MIN;
    let lengths = spans.into_iter().map(|(start, end)| {
        let length = end.saturating_sub(start.max(until)).max(0);
        until = until.max(end);
        length
    });
    u64::try_from(lengths.sum::<i64>()).unwrap_or(0)
}

fn cells(row: &ReportRow) -> [String; 6] {
    [
        row.task.clone(),
        row.turns.to_string(),
        row.verdict.to_string(),
        money(&row.cost),
        hours(row.wall_ms),
        crate::messages::clean(&row.name).replace('\n', " "),
    ]
}

pub fn money(cost: &Cost) -> String {
    match (cost.usd_micros, cost.estimated_runs) {
        _ if cost.agent_runs == cost.open_runs => "–".to_owned(),
        (None, _) => "unknown".to_owned(),
        (Some(micros), 0) => dollars(micros),
        (Some(micros), _) => about_dollars(micros),
    }
}

/// Converts millionths of a dollar to dollars.
#[expect(clippy::as_conversions, reason = "millionths of a dollar are far below the exact integers of a float")]
fn usd(micros: u64) -> f64 {
    micros as f64 / 1_000_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_fits_where_it_is_shown() {
        let row = |task: &str, verdict, ms| ReportRow {
            task: task.to_owned(),
            name: "Write the notes that everybody needs".to_owned(),
            turns: 2,
            can_approve: false,
            verdict,
            wall_ms: ms,
            cost: Cost { agent_runs: 1, agent_ms: ms, usd_micros: Some(1_230_000), ..Cost::default() },
        };
        let report = Report {
            tasks: vec![row("TASK-001", Verdict::Approved, 725_000), row("TASK-002", Verdict::Blocked, 9_000)],
            all: row("All", Verdict::None, 734_000),
            ..Report::default()
        };
        let cut = report.table(Some(60));
        assert!(cut.iter().any(|(line, _)| line.ends_with("Write the notes t…")), "{cut:?}");
        for columns in [40, 60, 80] {
            let table = report.table(Some(columns));
            assert!(table.iter().all(|(line, _)| line.chars().count() <= columns), "{table:?}");
        }
        let wide: Vec<String> = report.table(None).into_iter().map(|(line, _)| line).collect();
        assert_eq!(wide[0], "Task      Turns  Verdict   Cost   Time    Name");
        assert!(wide[1].starts_with("TASK-001  2      approved  $1.23  12 min  Write the notes that everybody"));
    }

    fn order() -> Order {
        let order: Order = serde_json::from_value(serde_json::json!({
            "title": "t", "body": "b", "wish": "build_all", "kind": "planned",
            "repository": "r", "own_login": false,
            "base": { "sha": "0123456789abcdef0123456789abcdef01234567", "branch": "main" },
            "branch": "autobuild/t", "agent": "claude", "settings": {}, "said": [], "ended": null,
        }))
        .unwrap();
        Order { number: 1, ..order }
    }

    fn commands(report: &Report) -> Vec<String> {
        report.commands(&order()).into_iter().map(|(command, _)| command).collect()
    }

    #[test]
    fn what_is_completed_has_no_next_step() {
        let report = Report { rests: true, ok: true, branch: Some("autobuild/t".to_owned()), ..Report::default() };
        let mut order = order();
        assert_eq!(report.commands(&order).len(), 3);
        order.ended = Some(End::Completed);
        assert_eq!(report.commands(&order), []);
    }

    #[test]
    fn what_goes_on_is_not_yet_as_good_as_it_was() {
        let mut report =
            Report { rests: true, ok: true, sentence: "FEAT-3 is planned: 2 tasks".to_owned(), ..Report::default() };
        report.goes_on();
        assert_eq!(report, Report::default());
    }

    #[test]
    fn a_blocked_task_can_be_taken_only_where_there_is_something_to_take() {
        let blocked = |can_approve| Report {
            rests: true,
            state: OrderStatus::Blocked,
            tasks: vec![ReportRow {
                task: "TASK-FIX-1".to_owned(),
                verdict: Verdict::Blocked,
                can_approve,
                ..ReportRow::default()
            }],
            ..Report::default()
        };
        let decision = |can_approve| commands(&blocked(can_approve)).remove(1);
        assert_eq!(decision(true), "autobuild resume TASK-FIX-1 --approve");
        assert_eq!(decision(false), "autobuild resume TASK-FIX-1 --skip");
    }

    #[test]
    fn what_was_interrupted_says_how_to_go_on_and_how_to_look_at_the_work() {
        let mut report =
            Report { state: OrderStatus::Building, repository: Some("/a b/1.git".to_owned()), ..Report::default() };
        assert_eq!(commands(&report), ["autobuild resume FEAT-1"]);
        report.unfinished = vec!["autobuild/1/task-001-t".to_owned()];
        let expected = [
            "autobuild resume FEAT-1",
            "git fetch '/a b/1.git' autobuild/1/task-001-t",
            "git diff main...FETCH_HEAD -- ':(exclude).autobuild'",
        ];
        assert_eq!(commands(&report), expected);
    }
}
