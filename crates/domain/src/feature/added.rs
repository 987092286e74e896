//! Tasks that AutoBuild adds to a plan: their descriptions, and the criteria that show that they are done.

use crate::{
    decision::Issue,
    evidence::{Evidence, Finding, GateReport, GateResult, Unmet, Weight},
    feature::{
        feature::{Feature, Records},
        gate::strictest,
    },
    ids::{Sha, TaskId},
    integrity::Detail,
    plan::{Check, Criterion, Factors, PlannedTask, TaskType, TestEffort},
    task::{Conflict, HumanReview, Origin, Task},
};
use text::shorten;

/// The most criteria of a task that AutoBuild adds.
const MOST_CRITERIA: usize = 30;
/// The longest criterion, in characters.
const MAX_TEXT: usize = 1_000;
/// The most output of a failed wave gate that a task's description shows, in characters.
const MAX_OUTPUT: usize = 4_000;

/// Returns a task that repairs what the wave gate found broken. Its criteria are the tests and commands that failed.
pub(super) fn fix(feature: &Feature, head: &Sha, report: &GateReport, failures: &[Unmet], broke: Option<Sha>) -> Task {
    let id = next(feature, TaskId::Fix);
    let culprit = broke.as_ref().and_then(|sha| merged_as(feature, sha));
    let plan = PlannedTask {
        description: fix_description(head, report, failures, broke.as_ref(), culprit),
        acceptance_criteria: bounded(broken(report), feature),
        dependencies: culprit.map_or_else(|| latest(feature), |task| vec![task.id]),
        files: culprit.map(|task| task.plan.files.clone()).unwrap_or_default(),
        ..bare(feature, id, "Mend what the wave gate found broken")
    };
    added(feature, plan, Origin::Fix { broke })
}

fn fix_description(
    head: &Sha,
    report: &GateReport,
    failures: &[Unmet],
    broke: Option<&Sha>,
    culprit: Option<&Task>,
) -> String {
    let (head, failures) = (head.short(), Unmet::sentences(failures));
    let broke = match (broke, culprit) {
        (Some(sha), Some(task)) => {
            let (id, name) = (task.id, &task.plan.name);
            format!("The merge {} of {id} ({name}) broke it.", sha.short())
        }
        (Some(sha), None) => format!("The merge {} broke it.", sha.short()),
        (None, _) => "No single merge of the wave could be found that broke it.".to_owned(),
    };
    let mut text = format!("The merged result of the wave does not hold on {head}: {failures}.\n\n{broke}");
    let mut outputs = failing(report).map(|finding| finding.output.as_str());
    if let Some(output) = outputs.find(|output| !output.is_empty()) {
        text.push_str("\n\n");
        text.push_str(&fenced(&shorten::middle(output, MAX_OUTPUT)));
    }
    text
}

/// Returns a task that resolves the conflict with the default branch.
pub(super) fn sync(feature: &Feature, files: Vec<String>, other: Sha) -> Task {
    let id = next(feature, TaskId::Sync);
    let text = "The default branch is merged in: no conflict marker is left, and what both sides intended still holds";
    let plan = PlannedTask {
        description: format!(
            "Merging the default branch ({}) into the integration branch conflicts. The conflict markers stand in the \
             files; resolve them so that both sides' changes keep their meaning.",
            other.short()
        ),
        acceptance_criteria: vec![Criterion {
            text: text.to_owned(),
            check: known_check(feature, None),
        }],
        dependencies: latest(feature),
        files: files.clone(),
        ..bare(feature, id, "Merge the default branch")
    };
    let mut task = added(feature, plan, Origin::Sync { other });
    task.next.conflict = Some(Conflict { files });
    task
}

/// Returns a task that answers a person's request for changes on the feature pull request. Each item is a criterion.
pub(super) fn review(feature: &Feature, review: &HumanReview) -> Task {
    let id = next(feature, TaskId::Review);
    let login = &review.by.login;
    let mut criteria: Vec<Criterion> = review.items.iter().map(|item| asked(feature, item)).collect();
    if criteria.is_empty() {
        criteria.push(Criterion {
            text: format!("What {login} asks for in the review is done"),
            check: known_check(feature, None),
        });
    }
    let mut files: Vec<String> = review.items.iter().filter_map(|item| item.file.clone()).collect();
    files.sort();
    files.dedup();
    let plan = PlannedTask {
        description: format!("{login} asked for changes on the feature pull request. Each criterion is one of them."),
        acceptance_criteria: bounded(criteria, feature),
        dependencies: latest(feature),
        files,
        ..bare(feature, id, &format!("Answer the review of {login}"))
    };
    let (id, by) = (review.id, review.by.clone());
    Task {
        wave: feature.last_wave().saturating_add(1),
        ..added(feature, plan, Origin::Review { id, by })
    }
}

fn asked(feature: &Feature, item: &Issue) -> Criterion {
    let place = match (&item.file, item.line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        (Some(file), None) => format!("{file}: "),
        (None, _) => String::new(),
    };
    Criterion {
        text: format!("{place}{}", item.description),
        check: known_check(feature, item.file.as_deref()),
    }
}

fn added(feature: &Feature, plan: PlannedTask, origin: Origin) -> Task {
    Task {
        origin,
        ..Task::planned(plan, feature.wave, &feature.task_rules())
    }
}

fn bare(feature: &Feature, id: TaskId, name: &str) -> PlannedTask {
    // If nothing that is merged needed tests, a repair needs none either.
    let strictest = strictest(feature);
    let kind = if strictest.demands_tests() {
        TaskType::Feature
    } else {
        strictest
    };
    PlannedTask {
        id,
        name: name.to_owned(),
        kind,
        description: String::new(),
        acceptance_criteria: Vec::new(),
        files: Vec::new(),
        factors: Factors {
            integration_points: 0,
            tests: TestEffort::Unit,
            risks: Vec::new(),
        },
        changes: Vec::new(),
        removes: Vec::new(),
        dependencies: Vec::new(),
    }
}

fn next(feature: &Feature, kind: fn(u16) -> TaskId) -> TaskId {
    let mut ids = (1..u16::MAX).map(kind);
    let free = ids.find(|id| feature.task(*id).is_none());
    free.unwrap_or(kind(u16::MAX))
}

/// Returns the task whose merge made this commit.
fn merged_as<'a>(feature: &'a Feature, sha: &Sha) -> Option<&'a Task> {
    feature.tasks.iter().find(|task| task.merged_as() == Some(sha))
}

/// Returns the completed tasks of the newest wave that has any. A task that AutoBuild adds depends on them.
fn latest(feature: &Feature) -> Vec<TaskId> {
    let completed = || feature.tasks.iter().filter(|task| task.is_completed());
    let wave = completed().map(|task| task.wave).max();
    let newest = completed().filter(|task| Some(task.wave) == wave);
    newest.map(|task| task.id).collect()
}

/// Turns each failure into a criterion that it has to be gone.
fn broken(report: &GateReport) -> Vec<Criterion> {
    let mut criteria = Vec::new();
    if let Some(Evidence::Failed(finding)) = &report.setup {
        criteria.push(command("Set-up passes", &finding.command));
    }
    if let Evidence::Passed(finding) | Evidence::Failed(finding) = &report.tests {
        let names = report.held_names(finding);
        let failed = matches!(report.tests, Evidence::Failed(_));
        if names.is_empty() && failed {
            criteria.push(command("The tests pass", &finding.command));
        }
        criteria.extend(names.iter().map(|name| Criterion {
            text: format!("The test {name} passes"),
            check: Check::Test(name.clone()),
        }));
    }
    for result in demanded(report) {
        if let Evidence::Failed(finding) = &result.evidence {
            let text = format!("The Gate \"{}\" passes", result.gate);
            criteria.push(command(&text, &finding.command));
            criteria.extend(result.items.iter().filter_map(about_test));
        }
    }
    criteria.retain(|criterion| !matches!(&criterion.check, Check::Command(line) if line.is_empty()));
    criteria
}

/// Returns the criterion that a test of the base holds again, with what became of it.
fn about_test(item: &Issue) -> Option<Criterion> {
    let (Some(_), Some(Detail::Test(name))) = (item.outcome, &item.what) else {
        return None;
    };
    Some(Criterion {
        text: item.description.clone(),
        check: Check::Test(name.clone()),
    })
}

fn command(text: &str, line: &str) -> Criterion {
    Criterion {
        text: text.to_owned(),
        check: Check::Command(line.to_owned()),
    }
}

fn demanded(report: &GateReport) -> impl Iterator<Item = &GateResult> {
    report.more.iter().filter(|result| result.weight == Weight::Required)
}

/// Returns the findings of everything required that failed, in the order in which it ran.
fn failing(report: &GateReport) -> impl Iterator<Item = &Finding> {
    let first = report.setup.iter().chain([&report.tests]);
    let all = first.chain(demanded(report).map(|result| &result.evidence));
    all.filter_map(Evidence::failure)
}

/// Returns a check that passed before and has to pass again: of a completed task that names the file, or else of the
/// last completed task in the list.
fn known_check(feature: &Feature, file: Option<&str>) -> Check {
    let completed = || feature.tasks.iter().rev().filter(|task| task.is_completed());
    let names = |task: &&Task| file.is_some_and(|file| task.plan.files.iter().any(|known| known == file));
    let checks = completed().filter(names).chain(completed());
    let mut checks = checks.flat_map(|task| task.plan.acceptance_criteria.iter().map(|criterion| &criterion.check));
    let found = checks.find(|check| **check != Check::Human).cloned();
    let plan = || Check::File(format!(".autobuild/features/{}.yaml", feature.key.shown()));
    found.unwrap_or_else(|| match feature.rules.records {
        Records::WhileBuilding | Records::Keep => plan(),
        Records::None => Check::Command("true".to_owned()),
    })
}

/// Limits the criteria: at least one, not more than a person reads, and none too long.
fn bounded(mut criteria: Vec<Criterion>, feature: &Feature) -> Vec<Criterion> {
    let left = criteria.len().saturating_sub(MOST_CRITERIA);
    criteria.truncate(MOST_CRITERIA);
    for criterion in &mut criteria {
        criterion.text = shorten::middle(&criterion.text, MAX_TEXT);
    }
    let rest = match (criteria.is_empty(), left) {
        (true, _) => Some("The Gates pass on the merged result".to_owned()),
        (false, 0) => None,
        (false, left) => Some(format!("{left} more hold as well: the last Gates' output names them")),
    };
    criteria.extend(rest.map(|text| Criterion {
        text,
        check: known_check(feature, None),
    }));
    criteria
}

/// Returns a code block whose fence is longer than any fence inside it.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}
