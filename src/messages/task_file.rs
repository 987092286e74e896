//! The page that the integration branch carries for each task.

use crate::messages::{
    gates, items,
    measure::{Measure, fitting, sections, titled},
    task_pull::criteria,
    untrusted, words,
};
use domain::{
    feature::Feature,
    ids::TaskId,
    plan::yaml::kind_word,
    task::{Task, Turn},
};

/// Where a task's page stands: `.autobuild/tasks/FEAT-42/TASK-001.md`.
pub fn task_file_path(feature: &Feature, task: TaskId) -> String {
    format!(".autobuild/tasks/{}/{task}.md", feature.key.shown())
}

/// A task's page; with the history of its turns once there are any.
pub fn task_file(feature: &Feature, task: &Task) -> String {
    let mut page = fitting(|measure| page(feature, task, measure));
    page.push('\n');
    page
}

fn page(feature: &Feature, task: &Task, measure: &Measure) -> String {
    let files = task.plan.files.iter().take(measure.rows);
    let files: Vec<String> = files.map(|file| untrusted::code(file, 200)).collect();
    let history: Vec<String> = task
        .turns
        .iter()
        .take(measure.rows.min(60))
        .map(|turn| told(turn, measure))
        .collect();
    sections(vec![
        format!("# {}: {}", task.id, untrusted::inline(&task.plan.name, 200)),
        format!(
            "{}, wave {}, {}, needs {}. State: {}.",
            feature.key.shown(),
            task.wave,
            kind_word(task.plan.kind),
            words::tasks(&task.plan.dependencies, 40),
            words::state(task)
        ),
        untrusted::quote(&task.plan.description, measure.text),
        titled("## Acceptance criteria", &criteria(task, measure)),
        titled("## Files that will probably change", &files.join(", ")),
        titled("## Turns", &sections(history)),
    ])
}

fn told(turn: &Turn, measure: &Measure) -> String {
    let verdict = match &turn.verdict {
        Some(verdict) => words::outcome(verdict.outcome),
        None => "No verdict",
    };
    let commit = turn
        .head
        .as_ref()
        .map_or_else(String::new, |head| format!(", commit `{}`", head.short()));
    let claim = turn.report.as_ref().map_or_else(String::new, |report| {
        titled(
            "The Player says (a claim):",
            &untrusted::quote(&report.summary, measure.text),
        )
    });
    let gates = turn
        .gates
        .as_ref()
        .map_or_else(String::new, |gates| format!("Gates: {}.", gates::line(gates)));
    let items = turn.verdict.as_ref().map_or_else(String::new, |verdict| {
        let all: Vec<_> = verdict.items.iter().collect();
        items::by_severity(&all, measure)
    });
    sections(vec![
        format!("### Turn {}: {verdict}{commit}", turn.number),
        claim,
        gates,
        items,
    ])
}
