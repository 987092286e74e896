//! The table of a Feature's tasks, and remarks on tasks without a pull request to comment on.

use crate::messages::{
    causes::reasons,
    form::{
        links::Links,
        measure::{self, Measure, bullets},
        untrusted, words,
    },
    pull::questions,
};
use domain::{
    complexity,
    cost::Spending,
    feature::Feature,
    task::{State, Task, Work},
};

pub(crate) fn table(feature: &Feature, spending: &Spending, links: &Links, measure: &Measure) -> String {
    let titles = "| task | type | complexity | needs | state | pull request | turns | cost |";
    measure::table(titles, &feature.tasks, measure.rows, |task| row(task, spending, links, measure))
}

fn row(task: &Task, spending: &Spending, links: &Links, measure: &Measure) -> String {
    format!(
        "| **{}** {} | {} | {} | {} | {} | {} | {} | {} |",
        task.id,
        untrusted::cell(&task.plan.name, measure.text.min(120)),
        task.plan.kind,
        complexity::task(&task.plan),
        words::tasks(&task.plan.dependencies, 10),
        words::state(task, untrusted::Medium::Markdown),
        links.pull_or(task.pull, "–"),
        turns(task),
        words::cost(&spending.of_task(task.id)),
    )
}

/// Returns the number of turns that began, over all attempts, and the limit.
pub(crate) fn turns(task: &Task) -> String {
    match task.turns.last() {
        Some(last) => format!("{} of {}", last.number, task.limit.max(last.number.0)),
        None => "–".to_owned(),
    }
}

/// Lists why tasks are blocked, and turns without a commit that no pull request shows.
pub(crate) fn remarks(feature: &Feature, links: &Links, measure: &Measure) -> String {
    let questions = feature.tasks.iter().filter_map(|task| {
        let turn = task.turns_of_attempt().rev().find(|turn| turn.gates.is_some())?;
        Some(format!("{}: {}.", task.id, questions::tally(task, turn)?))
    });
    let tasks = feature.tasks.iter();
    let remarks = tasks.filter_map(|task| remark(task, links, measure));
    let remarks: Vec<String> = remarks.chain(questions).collect();
    bullets(&remarks, measure.rows.min(40), Clone::clone)
}

fn remark(task: &Task, links: &Links, measure: &Measure) -> Option<String> {
    if let State::Blocked { reason } = &task.state {
        let why = reasons::blocked(reason, measure).replace('\n', "\n  ");
        let report = task.pull.map_or_else(String::new, |pull| format!(" The report is on {}.", links.pull(pull)));
        return Some(if why.contains('\n') {
            format!("{} {}.{report} {why}", task.id, words::is_blocked(task))
        } else {
            format!("{} {}. {why}{report}", task.id, words::is_blocked(task))
        });
    }
    let silent = task.turns_of_attempt().rfind(|turn| turn.ended_at.is_some())?;
    match silent.work {
        Work::NoChange if task.pull.is_none() => Some(format!(
            "{}, turn {}: no change. The Player's turn ended without a change to any file.",
            task.id, silent.number
        )),
        Work::Held if task.pull.is_none() => {
            Some(format!("{}, turn {}: the commit may not be pushed and was held back.", task.id, silent.number))
        }
        Work::Open | Work::Pushed | Work::NoChange | Work::Held => None,
    }
}
