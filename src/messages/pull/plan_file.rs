//! The files that AutoBuild writes into a repository: the plan, and a page for each of its tasks.

use crate::messages::{
    form::{
        measure::{Measure, fitting, sections, titled},
        untrusted, words,
    },
    pull::{gates, items, task_pull::criteria},
};
use domain::{
    feature::{Feature, PlanVersion, State},
    ids::TaskId,
    plan::{
        Plan,
        yaml::{PlanHeader, PlanStatus, plan_yaml},
    },
    task::{Origin, Task, Turn},
};

/// Returns the path of the plan: `.autobuild/features/FEAT-42.yaml`.
pub fn plan_file_path(feature: &Feature) -> String {
    format!(".autobuild/features/{}.yaml", feature.key.name())
}

/// Returns the plan with the current states; `None` before there is a plan.
pub fn plan_file(feature: &Feature) -> Option<String> {
    let version = feature.plan.as_ref()?;
    Some(written(feature, version, &version.plan))
}

/// Returns the plan with the tasks that AutoBuild added, for readers of the branch.
pub fn whole_plan_file(feature: &Feature) -> Option<String> {
    let version = feature.plan.as_ref()?;
    let mut plan = version.plan.clone();
    let added = feature.tasks.iter().filter(|task| task.origin != Origin::Planned);
    plan.tasks.extend(added.map(|task| task.plan.clone()));
    Some(written(feature, version, &plan))
}

/// Returns the same file in the state after the Feature's merge.
pub fn final_plan_file(feature: &Feature) -> Option<String> {
    let merged = Feature { state: State::Completed, ..feature.clone() };
    whole_plan_file(&merged)
}

/// `true` if a path is one of the records that this run writes.
pub fn is_record(feature: &Feature, path: &str) -> bool {
    let pages = format!(".autobuild/tasks/{}/", feature.key.name());
    path == plan_file_path(feature) || path.starts_with(&pages)
}

fn written(feature: &Feature, version: &PlanVersion, plan: &Plan) -> String {
    let words = feature.tasks.iter().map(|task| (task.id, task.state.word().to_owned()));
    let header = PlanHeader {
        status: status(&feature.state),
        task_words: words.collect(),
        ..PlanHeader::planned(feature.key.name(), version.created.rfc3339())
    };
    plan_yaml(plan, &header)
}

/// Returns every file of the plan's commit with its path: the plan, and one page per task.
pub fn plan_files(feature: &Feature) -> Vec<(String, String)> {
    let plan = whole_plan_file(feature).map(|text| (plan_file_path(feature), text));
    let page = |task: &Task| (task_file_path(feature, task.id), task_file(feature, task));
    plan.into_iter().chain(feature.tasks.iter().map(page)).collect()
}

fn status(state: &State) -> PlanStatus {
    match state {
        State::Planning { .. } | State::AwaitingApproval => PlanStatus::Planned,
        State::Building { .. } | State::Paused { .. } | State::Blocked { .. } | State::InReview => {
            PlanStatus::InProgress
        }
        State::Completed => PlanStatus::Completed,
        State::Cancelled { .. } | State::Failed { .. } => PlanStatus::Failed,
    }
}

/// Returns the path of a task's page: `.autobuild/tasks/FEAT-42/TASK-001.md`.
pub fn task_file_path(feature: &Feature, task: TaskId) -> String {
    format!(".autobuild/tasks/{}/{task}.md", feature.key.name())
}

/// Returns a task's page, with the history of its turns once there are any.
pub fn task_file(feature: &Feature, task: &Task) -> String {
    let mut page = fitting(|measure| page(feature, task, measure));
    page.push('\n');
    page
}

fn page(feature: &Feature, task: &Task, measure: &Measure) -> String {
    let files = task.plan.files.iter().take(measure.rows);
    let files: Vec<String> = files.map(|file| untrusted::code(file, 200)).collect();
    let turns = task.turns.iter().take(measure.rows.min(60));
    let history: Vec<String> = turns.map(|turn| turn_section(turn, measure)).collect();
    sections(vec![
        format!("# {}: {}", task.id, untrusted::inline(&task.plan.name, 200)),
        format!(
            "{}, wave {}, {}, needs {}. State: {}.",
            feature.key.name(),
            task.wave,
            task.plan.kind,
            words::tasks(&task.plan.dependencies, 40),
            words::state(task, untrusted::Medium::Markdown)
        ),
        untrusted::quote(&task.plan.description, measure.text),
        titled("## Acceptance criteria", &criteria(task, measure)),
        titled("## Files that will probably change", &files.join(", ")),
        titled("## Turns", &sections(history)),
    ])
}

fn turn_section(turn: &Turn, measure: &Measure) -> String {
    let verdict = match &turn.verdict {
        Some(verdict) => words::outcome(verdict.outcome),
        None => "No verdict",
    };
    let head = turn.head.as_ref();
    let commit = head.map_or_else(String::new, |head| format!(", commit `{}`", head.short()));
    let claim = turn.report.as_ref().map_or_else(String::new, |report| {
        titled("The Player says (a claim):", &untrusted::quote(&report.summary, measure.text))
    });
    let gates = turn.gates.as_ref();
    let gates = gates.map_or_else(String::new, |gates| format!("Gates: {}.", gates::line(gates)));
    let verdict_items = turn.verdict.iter().flat_map(|verdict| &verdict.items);
    sections(vec![
        format!("### Turn {}: {verdict}{commit}", turn.number),
        claim,
        gates,
        items::by_severity(verdict_items, measure),
    ])
}
