//! Tasks that AutoBuild adds to a plan, and the criteria that show that they are done. Their texts are worded from the
//! draft that each carries.

use crate::{
    evidence::{Evidence, Finding, GateReport, GateResult, Unmet, Weight},
    feature::{
        feature::{Feature, Records},
        gate::strictest,
    },
    ids::{Sha, TaskId},
    plan::{Check, Criterion, Factors, PlannedTask, TaskType, TestEffort},
    problem::{Problem, ReviewItem},
    task::{Conflict, Draft, DraftSubject, Goal, HumanReview, Origin, Task},
};
use text::shorten;

/// The most criteria of a task that AutoBuild adds.
const MOST_CRITERIA: usize = 30;
/// The most output of a failed wave gate that a task's description shows, in characters.
const MAX_OUTPUT: usize = 4_000;

/// Returns a task that repairs the failures of the wave gate. Its criteria are the tests and commands that failed.
pub(super) fn fix(feature: &Feature, head: &Sha, report: &GateReport, failures: &[Unmet], broke: Option<Sha>) -> Task {
    let id = next(feature, TaskId::Fix);
    let culprit = broke.as_ref().and_then(|sha| merged_as(feature, sha));
    let mut outputs = failing(report).map(|finding| finding.output.as_str());
    let output = outputs.find(|output| !output.is_empty()).unwrap_or_default();
    let subject = DraftSubject::Fix {
        head: head.clone(),
        failures: failures.to_vec(),
        broke: broke.clone(),
        culprit: culprit.map(|task| task.id),
        output: shorten::middle(output, MAX_OUTPUT),
    };
    let plan = PlannedTask {
        dependencies: culprit.map_or_else(|| latest(feature), |task| vec![task.id]),
        files: culprit.map(|task| task.plan.files.clone()).unwrap_or_default(),
        ..bare(feature, id, "Mend the broken wave")
    };
    added(feature, plan, Origin::Fix { broke }, subject, broken(feature, report))
}

/// Returns a task that resolves the conflict with the default branch.
pub(super) fn sync(feature: &Feature, files: Vec<String>, other: Sha) -> Task {
    let id = next(feature, TaskId::Sync);
    let plan = PlannedTask {
        dependencies: latest(feature),
        files: files.clone(),
        ..bare(feature, id, "Merge the default branch")
    };
    let merged = DraftCriterion::with_known_check(feature, Goal::Merged);
    let subject = DraftSubject::Sync(other.clone());
    let mut task = added(feature, plan, Origin::Sync { other }, subject, vec![merged]);
    task.next.conflict = Some(Conflict { files });
    task
}

/// Returns a task that answers a person's request for changes on the feature pull request. Each item is a criterion.
pub(super) fn review(feature: &Feature, review: &HumanReview) -> Task {
    let (id, login) = (next(feature, TaskId::Review), &review.by.login);
    let remark = |item: &ReviewItem| DraftCriterion {
        goal: Goal::Remark(item.clone()),
        check: known_check(feature, item.file.as_deref()),
    };
    let mut criteria: Vec<DraftCriterion> = review.items.iter().map(remark).collect();
    if criteria.is_empty() {
        criteria.push(DraftCriterion::with_known_check(feature, Goal::Answered(login.clone())));
    }
    let mut files: Vec<String> = review.items.iter().filter_map(|item| item.file.clone()).collect();
    files.sort();
    files.dedup();
    let plan = PlannedTask {
        dependencies: latest(feature),
        files,
        ..bare(feature, id, &format!("Answer the review of {login}"))
    };
    let (id, by) = (review.id, review.by.clone());
    let subject = DraftSubject::Review(login.clone());
    Task {
        wave: feature.last_wave().saturating_add(1),
        ..added(feature, plan, Origin::Review { id, by }, subject, criteria)
    }
}

/// A criterion of a task that AutoBuild adds, before it is worded.
struct DraftCriterion {
    goal: Goal,
    check: Check,
}

impl DraftCriterion {
    /// Binds the goal to a check that passed before.
    fn with_known_check(feature: &Feature, goal: Goal) -> Self {
        let check = known_check(feature, None);
        Self { goal, check }
    }
}

fn added(
    feature: &Feature,
    plan: PlannedTask,
    origin: Origin,
    subject: DraftSubject,
    criteria: Vec<DraftCriterion>,
) -> Task {
    let criteria = bounded(criteria, feature).into_iter();
    let (criteria, checks): (Vec<Goal>, Vec<Check>) = criteria.map(|asked| (asked.goal, asked.check)).unzip();
    let unworded = |check| Criterion { text: String::new(), check };
    let plan = PlannedTask { acceptance_criteria: checks.into_iter().map(unworded).collect(), ..plan };
    Task {
        origin,
        draft: Some(Box::new(Draft { subject, criteria })),
        ..Task::planned(plan, feature.wave, &feature.task_rules())
    }
}

fn bare(feature: &Feature, id: TaskId, name: &str) -> PlannedTask {
    // If nothing that is merged needed tests, a repair needs none either.
    let strictest = strictest(feature);
    let kind = if strictest.requires_tests() { TaskType::Feature } else { strictest };
    PlannedTask {
        id,
        name: name.to_owned(),
        kind,
        description: String::new(),
        acceptance_criteria: Vec::new(),
        files: Vec::new(),
        factors: Factors { integration_points: 0, tests: TestEffort::Unit, risks: Vec::new() },
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

/// Turns each failure into a criterion that asks for its repair.
fn broken(feature: &Feature, report: &GateReport) -> Vec<DraftCriterion> {
    let command = |goal, line: &str| DraftCriterion { goal, check: Check::Command(line.to_owned()) };
    let mut criteria = Vec::new();
    if let Some(Evidence::Failed(finding)) = &report.setup {
        criteria.push(command(Goal::SetUp, &finding.command));
    }
    if let Evidence::Passed(finding) | Evidence::Failed(finding) = &report.tests {
        let names = report.blocking_failures(finding);
        let failed = matches!(report.tests, Evidence::Failed(_));
        if names.is_empty() && failed {
            criteria.push(command(Goal::Tests, &finding.command));
        }
        criteria.extend(
            names.into_iter().map(|name| DraftCriterion { goal: Goal::Test(name.clone()), check: Check::Test(name) }),
        );
    }
    for result in required(report) {
        if let Evidence::Failed(finding) = &result.evidence {
            criteria.push(command(Goal::Gate(result.gate), &finding.command));
            criteria.extend(result.items.iter().filter_map(|item| of_item(feature, item)));
        }
    }
    criteria.retain(|asked| !matches!(&asked.check, Check::Command(line) if line.is_empty()));
    criteria
}

/// Returns the criterion that a test of the base passes again, or that a check of the repository's own CI does.
fn of_item(feature: &Feature, item: &ReviewItem) -> Option<DraftCriterion> {
    if let Problem::Ci { .. } = &item.problem {
        return Some(DraftCriterion::with_known_check(feature, Goal::Remark(item.clone())));
    }
    let Problem::Outcome { test, .. } = &item.problem else {
        return None;
    };
    Some(DraftCriterion { goal: Goal::Restored(item.clone()), check: Check::Test(test.clone()) })
}

fn required(report: &GateReport) -> impl Iterator<Item = &GateResult> {
    report.more.iter().filter(|result| result.weight == Weight::Required)
}

/// Returns the findings of everything required that failed, in the order in which it ran.
fn failing(report: &GateReport) -> impl Iterator<Item = &Finding> {
    let first = report.setup.iter().chain([&report.tests]);
    let all = first.chain(required(report).map(|result| &result.evidence));
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
    let plan = || Check::File(format!(".autobuild/features/{}.yaml", feature.key.name()));
    found.unwrap_or_else(|| match feature.rules.records {
        Records::WhileBuilding | Records::Keep => plan(),
        Records::None => Check::Command("true".to_owned()),
    })
}

/// Limits the criteria: at least one, and not more than a person reads.
fn bounded(mut criteria: Vec<DraftCriterion>, feature: &Feature) -> Vec<DraftCriterion> {
    let left = criteria.len().saturating_sub(MOST_CRITERIA);
    criteria.truncate(MOST_CRITERIA);
    let rest = match (criteria.is_empty(), left) {
        (true, _) => Some(Goal::AllGates),
        (false, 0) => None,
        (false, left) => Some(Goal::More(left)),
    };
    criteria.extend(rest.map(|goal| DraftCriterion::with_known_check(feature, goal)));
    criteria
}
