//! The words for states, kinds and people that all messages share.

use crate::messages::form::{
    measure::Measure,
    untrusted,
    untrusted::{Medium, Room},
};
use domain::{
    budget::{about_dollars, dollars, hours, tokens},
    cost::Cost,
    decision::Outcome,
    feature,
    feature::Feature,
    ids::{Millis, TaskId, User},
    plan::Check,
    task::{Approval, MergeState, MergedBy, Stage, State, Task},
};
use std::fmt::Display;

/// Returns the cost of runs in few words; a dash until the first run has ended.
pub fn cost(cost: &Cost) -> String {
    let runs = |number: u32| count(number, "run");
    let ended = cost.agent_runs.saturating_sub(cost.open_runs);
    match (cost.usd_micros, cost.estimated_runs, cost.unknown_runs) {
        _ if ended == 0 => "–".to_owned(),
        (None, _, _) => "unknown".to_owned(),
        (Some(micros), 0, 0) => dollars(micros),
        (Some(micros), _, 0) => about_dollars(micros),
        (Some(micros), 0, unknown) => format!("{} and {} of unknown cost", dollars(micros), runs(unknown)),
        (Some(micros), _, unknown) => format!("{} and {} of unknown cost", about_dollars(micros), runs(unknown)),
    }
}

/// Returns the cost with the number of runs and, if known, their tokens and time.
pub(crate) fn cost_in_full(cost: &Cost) -> String {
    let ended = cost.agent_runs.saturating_sub(cost.open_runs);
    let tokens = match cost.tokens.total() {
        _ if ended == 0 => return self::cost(cost),
        0 => String::new(),
        total => format!(", {}", tokens(total)),
    };
    let time = match cost.agent_ms {
        ..60_000 => String::new(),
        ms => format!(", {}", hours(ms)),
    };
    format!("{} ({}{time}{tokens})", self::cost(cost), count(ended, "run"))
}

/// Returns a time for people, in UTC.
pub(crate) fn moment(at: Millis) -> String {
    let at = chrono::DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// Returns a number with its noun: `1 task`, `2 tasks`, `2 tries`.
pub fn count<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    match thing.strip_suffix('y').filter(|stem| stem.ends_with('r')) {
        _ if number == N::from(1) => format!("1 {thing}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {thing}s"),
    }
}

/// Counts how often each of these words occurs, and leaves out those that do not: `2 met, 1 not met`.
pub(crate) fn tally(words: &[&str], found: &[&str]) -> String {
    let count = |word: &&str| match found.iter().filter(|found| *found == word).count() {
        0 => None,
        number => Some(format!("{number} {word}")),
    };
    words.iter().filter_map(count).collect::<Vec<_>>().join(", ")
}

/// Returns a size in whole units, rounded down: `32 MiB`, `900 bytes`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes >> 20 {
        0 => count(bytes, "byte"),
        mebibytes => format!("{mebibytes} MiB"),
    }
}

/// Returns a mention such as `@ada`; a login that is not valid on GitHub is shown as code.
pub(crate) fn person(user: &User) -> String {
    login(&user.login)
}

pub(crate) fn login(login: &str) -> String {
    let name = login.strip_suffix("[bot]").unwrap_or(login);
    let plausible =
        (1..=39).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    match (plausible, name.len() == login.len()) {
        (true, true) => format!("@{login}"),
        (true, false) | (false, _) => untrusted::code(login, 60),
    }
}

/// Returns a list such as `TASK-001, TASK-002`, or a dash if it is empty.
pub(crate) fn tasks(ids: &[TaskId], most: usize) -> String {
    let shown: Vec<String> = ids.iter().take(most).map(TaskId::to_string).collect();
    if shown.is_empty() { "–".to_owned() } else { and_more(shown.join(", "), ids.len().saturating_sub(most)) }
}

/// Adds the number of those that are not shown.
pub(crate) fn and_more(shown: String, left: usize) -> String {
    match left {
        0 => shown,
        left => format!("{shown} and {left} more"),
    }
}

/// Returns a criterion's check, for a table cell.
pub(crate) fn check(check: &Check, max: usize) -> String {
    match check {
        Check::Test(name) => format!("test {}", untrusted::cell_code(name, max)),
        Check::Command(command) => format!("command {}", untrusted::cell_code(command, max)),
        Check::File(path) => format!("file {}", untrusted::cell_code(path, max)),
        Check::Human => "a person".to_owned(),
    }
}

/// Returns the word for a verdict, with the only emoji that AutoBuild uses.
pub(crate) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approve => "✅ Approved",
        Outcome::Feedback => "❌ Changes requested",
    }
}

/// Returns a Feature's name from the plan, or else the title.
pub fn feature_name(feature: &Feature) -> &str {
    match &feature.plan {
        Some(version) if !version.plan.name.trim().is_empty() => &version.plan.name,
        Some(_) | None => &feature.snapshot.title,
    }
}

pub(crate) fn task_name(task: &Task) -> String {
    format!("{} {}", task.id, untrusted::inline(&task.plan.name, 200))
}

/// Returns a task's number and name, for the place where they are read.
pub(crate) fn task_name_in(task: &Task, measure: &Measure) -> String {
    let name = untrusted::inline(&task.plan.name, measure.room(200));
    format!("{} {name}", task.id)
}

pub(crate) fn is_blocked(task: &Task) -> &'static str {
    match task.inquiries() {
        Some(_) => WAITING_FOR_ANSWER,
        None => "is blocked",
    }
}

/// The state of a task or Feature that is only blocked because an agent asks a person.
const WAITING_FOR_ANSWER: &str = "asks";

pub fn feature_state(feature: &Feature) -> &'static str {
    match &feature.state {
        feature::State::Planning { .. } => "planning",
        feature::State::AwaitingApproval => "waiting for approval",
        feature::State::Building { .. } => "building",
        feature::State::Paused { .. } => "paused",
        feature::State::Blocked { .. } if feature.asks() => WAITING_FOR_ANSWER,
        feature::State::Blocked { .. } => "blocked",
        feature::State::InReview => "in review",
        feature::State::Completed => "completed",
        feature::State::Cancelled { .. } => "cancelled",
        feature::State::Failed { .. } => "failed",
    }
}

/// The state of a task that stopped and has not been started again yet.
const WAITING_TO_CONTINUE: &str = "waiting to go on";

/// Returns a task's state in few words.
pub fn task_state(task: &Task) -> &'static str {
    match &task.state {
        State::Pending if task.waits_to_go_on() => WAITING_TO_CONTINUE,
        State::Pending => "not started",
        State::PreLoop { .. } => "being designed",
        State::PlayerTurn { .. } => "the Player writes",
        State::CoachTurn { stage, .. } => match stage {
            Stage::Gates => "checks run",
            Stage::Ci => "waiting for CI",
            Stage::Coach => "the Coach reviews",
        },
        State::Approved { .. } => "approved",
        State::Completed { .. } => "completed",
        State::Blocked { .. } if task.inquiries().is_some() => WAITING_FOR_ANSWER,
        State::Blocked { .. } => "blocked",
        State::Skipped { .. } => "skipped",
        State::Cancelled => "cancelled",
    }
}

pub(crate) fn of_stored(word: &str) -> String {
    match word {
        "awaiting_approval" => "waiting for approval".to_owned(),
        "in_review" => "in review".to_owned(),
        "pending" => "not started".to_owned(),
        "resumed" => WAITING_TO_CONTINUE.to_owned(),
        "pre_loop" => "being designed".to_owned(),
        "player_turn" => "with the Player".to_owned(),
        "coach_turn" => "with the Coach".to_owned(),
        word => untrusted::inline(&word.replace('_', " "), 60),
    }
}

/// Returns a task's state with its details, for a table cell or a terminal.
pub(crate) fn state(task: &Task, medium: Medium) -> String {
    let word = task_state(task);
    match &task.state {
        State::Pending | State::PreLoop { .. } | State::Blocked { .. } | State::Cancelled => word.to_owned(),
        State::PlayerTurn { turn, .. } | State::CoachTurn { turn, .. } => {
            format!("{word}, turn {turn} of {}", task.limit.max(turn.0))
        }
        State::Approved { by, merge, .. } => format!("{word} by {}{}", approver(by), merge_wait(merge, medium)),
        State::Completed { by, .. } => match by {
            MergedBy::AutoBuild => word.to_owned(),
            MergedBy::Person(by) => format!("{word}, merged by {}", cell_person(by)),
            MergedBy::PersonWithoutApproval(by) => {
                format!("{word}, merged by {} without Coach approval", cell_person(by))
            }
        },
        State::Skipped { by } => format!("{word} by {}", cell_person(by)),
    }
}

fn cell_person(user: &User) -> String {
    person(user).replace('|', "\\|")
}

fn approver(by: &Approval) -> String {
    match by {
        Approval::Coach => "the Coach".to_owned(),
        Approval::Override(by) => format!("{} over the Coach", cell_person(by)),
    }
}

fn merge_wait(merge: &MergeState, medium: Medium) -> String {
    match merge {
        MergeState::Due { .. } => String::new(),
        MergeState::Person => ", waits for a person to merge it".to_owned(),
        MergeState::Refused { rule } => {
            format!(", waits for a person: the merge was refused: {}", untrusted::cell(rule, Room { max: 300, medium }))
        }
    }
}
