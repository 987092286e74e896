//! The actions for a person about a blocked Task or Feature: a table over the cause and the last results of the Gates.
//! They are only described here, not carried out.

pub(crate) mod agents;
mod faults;
mod gates;

use crate::messages::{
    causes::{reasons, refused_host::refused_host},
    form::measure::codes,
};
use domain::{
    blocked::{
        BlockReason, PreFlightCause, PreFlightFault,
        report::{Approvable, BlockedReport},
    },
    evidence::{Absence, Evidence, GateReport, Symptoms, SystemError},
    ids::TaskId,
    plan::Criterion,
};
use std::collections::BTreeSet;

/// The most actions that are suggested; nobody reads more.
const MOST: usize = 6;

/// The most characters of a foreign text within a sentence.
const SHOWN: usize = 160;

/// Returns the actions for the cause, the most promising first, each a sentence in which no command would take effect.
/// `criteria` are the task's; a Feature has none.
pub(crate) fn suggested_actions(report: &BlockedReport, criteria: &[Criterion]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut actions = by_cause(report, criteria);
    actions.retain(|action| seen.insert(action.clone()));
    actions.truncate(MOST - 1);
    // A person's approval of the work would end these blocks.
    let is_judged = report.reason.is_stuck()
        || report.reason.agent_failure().is_some()
        || matches!(report.reason, BlockReason::BudgetSpent(_) | BlockReason::GatesAbsent { .. });
    if report.approvable == Approvable::Yes && is_judged {
        actions.push(
            "If the work is good enough as it is, approve it: the report then names you and what was waived".to_owned(),
        );
    }
    actions
}

fn by_cause(report: &BlockedReport, criteria: &[Criterion]) -> Vec<String> {
    let gates = report.gates.as_ref();
    let after_gates = |first: &[&str], last: &[&str]| {
        let failing = gates.map_or_else(Vec::new, |gates| gates::failing(gates, criteria));
        after_gates(failing, first, last)
    };
    match &report.reason {
        BlockReason::OutOfTurns { .. } => after_gates(
            &["Read the last feedback and resume with guidance that answers it, and with more turns"],
            &["If a criterion asks for the wrong thing, skip the task and fix the plan"],
        ),
        BlockReason::NoChangeTwice => after_gates(
            &["Resume with guidance that names the file to change and what should be different"],
            &["If nothing is left to be done, skip the task"],
        ),
        BlockReason::SameIssues => after_gates(SAME_ISSUES_FIRST, SAME_ISSUES),
        BlockReason::GatesAbsent { .. } => absent(gates),
        BlockReason::WaveGateRed { .. } => wave_red(gates),
        BlockReason::Failed { failure, printed, .. } => agents::actions(failure, printed),
        BlockReason::BudgetSpent(_) => fixed(BUDGET_SPENT),
        BlockReason::Inquiry { .. } => fixed(INQUIRY),
        BlockReason::OpenReview { by } => vec![
            format!("Ask {} to approve or to dismiss the review", by.login),
            "Or resume: the next turn answers what the review asks for".to_owned(),
        ],
        BlockReason::Paused { .. } => fixed(&["Resume when it should go on"]),
        BlockReason::NeedGone { task } => {
            vec![format!("Decide whether it makes sense without {task}: resume it, or skip it too")]
        }
        BlockReason::ForcePushed { .. } => fixed(FORCE_PUSHED),
        BlockReason::BranchRule { rule } => branch_rule(rule),
        BlockReason::PreFlightFailed { fault, what, .. } => preflight(*fault, what),
        BlockReason::DefaultConflict { files, given_up } => conflict(files, *given_up),
        BlockReason::TasksBlocked { .. } => fixed(TASKS_BLOCKED),
        BlockReason::BadSettings { .. } => fixed(BAD_SETTINGS),
        BlockReason::Crashed { .. } => fixed(&["Look into AutoBuild's log, then resume"]),
    }
}

const SAME_ISSUES_FIRST: &[&str] =
    &["Resume with guidance on the recurring issues: the Player does not find the way by itself"];
const SAME_ISSUES: &[&str] = &[
    "Push a commit that settles the recurring issues to the task's branch, then resume",
    "Retry the task from the integration branch if its approach is a dead end",
];
const BUDGET_SPENT: &[&str] = &[
    "Decide whether it is worth more: raise `budget` in `.github/autobuild.yml` on the default branch, or the server's \
     limit, then resume",
    "Or split the task: skip it and label a smaller issue",
];
const FORCE_PUSHED: &[&str] = &[
    "Push the branch back to a commit that builds on the integration branch, then resume",
    "Or retry the task: it starts again from the integration branch",
];
const INQUIRY: &[&str] = &[
    "Resume with your answer in quotes, as `resume 'your answer'`: it reaches the agent word for word. Without an answer, \
     the defaults hold",
];
const LONGER_SETUP: &str = "raise `setup_timeout` in `.github/autobuild.yml` on the default branch, up to the server's \
                            `AUTOBUILD_MAX_SETUP_TIME`";
const LONGER_TESTS: &str = "raise `test_timeout` in `.github/autobuild.yml` on the default branch, up to the server's \
                            `AUTOBUILD_MAX_TEST_TIME`";
const TASKS_BLOCKED: &[&str] = &["Answer the blocked report of each task: resume, approve, retry or skip it"];
const BAD_SETTINGS: &[&str] = &["Fix `.github/autobuild.yml` on the default branch as the mistakes say, then resume"];

fn branch_rule(rule: &str) -> Vec<String> {
    vec![
        format!(
            "Exclude the branches autobuild/** from the rule {}, or let AutoBuild bypass it, then resume",
            plain(rule)
        ),
        "Or, if the rule asks for signed commits, set `commits: github` in `.github/autobuild.yml`, then resume"
            .to_owned(),
        "Or, if the rule is about what a commit holds, resume with guidance on what to leave out: without guidance a \
         commit that was refused is pushed again as it is"
            .to_owned(),
    ]
}

fn preflight(fault: PreFlightFault, what: &PreFlightCause) -> Vec<String> {
    let fail_unnamed = matches!(what, PreFlightCause::NoNames { tests: Evidence::Failed(_), .. });
    if let PreFlightCause::SetUp(Evidence::Absent(Absence::HostRefused { hosts, .. })) = what {
        let mut actions: Vec<String> = hosts.iter().take(3).map(refused_host).collect();
        actions.push("Then resume: AutoBuild tries again, and calls no model until this works".to_owned());
        return actions;
    }
    let longer = match what {
        PreFlightCause::SetUp(Evidence::Absent(Absence::TimedOut { .. })) => Some(LONGER_SETUP),
        PreFlightCause::Tests(Evidence::Absent(Absence::TimedOut { .. })) => Some(LONGER_TESTS),
        PreFlightCause::SetUp(_)
        | PreFlightCause::Tests(_)
        | PreFlightCause::NoNames { .. }
        | PreFlightCause::NoCommand { .. }
        | PreFlightCause::Failing(_) => None,
    };
    let longer = longer.map(|setting| format!("If it needs longer, {setting}"));
    let mend = match fault {
        PreFlightFault::NoNames if !fail_unnamed => {
            "Set `test` in `.github/autobuild.yml` to the test runner itself, or `test_report` to the JUnit file that \
             it writes. Or plan again, with commands in the criteria"
                .to_owned()
        }
        PreFlightFault::NotRun | PreFlightFault::NoNames => format!(
            "Commit a fix to the default branch, or set `setup` and `test` in `.github/autobuild.yml` there, or \
             install what is missing where AutoBuild runs ({})",
            plain(&reasons::preflight_cause(what))
        ),
        PreFlightFault::NoCommand => untestable(what),
        PreFlightFault::FailingBase => return failing_base(what),
        PreFlightFault::NothingPasses => "Make at least one test pass on the default branch. In \
             `.github/autobuild.yml`, `setup` installs the packages that the tests import, and `test` runs tests that \
             can pass where AutoBuild runs"
            .to_owned(),
    };
    let resume = "Then resume: AutoBuild tries again, and calls no model until this works".to_owned();
    longer.into_iter().chain([mend, resume]).collect()
}

/// Names the remedy for each cause of failing tests on the base, and how to continue despite the failures.
fn failing_base(what: &PreFlightCause) -> Vec<String> {
    let symptoms = match what {
        PreFlightCause::Failing(failures) => failures.symptoms.clone(),
        PreFlightCause::SetUp(_)
        | PreFlightCause::Tests(_)
        | PreFlightCause::NoNames { .. }
        | PreFlightCause::NoCommand { .. } => Symptoms::default(),
    };
    let mut actions = cures(&symptoms);
    if actions.is_empty() {
        actions.push(
            "If the tests pass elsewhere, set in `.github/autobuild.yml` on the default branch what they lack here: \
             `setup` installs packages, `network.allow` names the hosts that they reach, and the line `test` can start a \
             service, set a variable as in `LC_ALL=C.UTF-8`, or leave tests out. `autobuild doctor` says what this machine \
             lacks"
                .to_owned(),
        );
    }
    actions.push(
        "Or resume: these failures are then the baseline. They count against no task, and new defects in \
         these tests go unnoticed"
            .to_owned(),
    );
    actions
}

/// Names the remedies for the symptoms: a refused host, and the system errors that failing tests name.
fn cures(symptoms: &Symptoms) -> Vec<String> {
    let mut cures = Vec::new();
    if !symptoms.refused.is_empty() {
        cures.push(format!(
            "The tests may not reach {}: list it in `network.allow` of `.github/autobuild.yml`; the server must allow it too",
            codes(&symptoms.refused, 5, 200)
        ));
    }
    let errors: BTreeSet<SystemError> = symptoms.shared.iter().filter_map(|shared| shared.error).collect();
    cures.extend(errors.into_iter().map(|error| cure(error).to_owned()));
    cures.truncate(3);
    cures
}

fn cure(error: SystemError) -> &'static str {
    match error {
        SystemError::NameUnresolved => {
            "A host name has no address here: let `test` in `.github/autobuild.yml` use `localhost` instead, or list a \
             public host in `network.allow`"
        }
        SystemError::ConnectionRefused => {
            "Nothing listens where the tests connect: start the service in the `test` line of `.github/autobuild.yml`, or \
             let that line leave these tests out"
        }
        SystemError::NoRoute => {
            "The tests have no network: list their hosts in `network.allow` of `.github/autobuild.yml`; the server must \
             allow them too"
        }
        SystemError::NotFound => {
            "A file or program is missing: let `setup` in `.github/autobuild.yml` install it, or install it where \
             AutoBuild runs"
        }
        SystemError::NotPermitted => {
            "The user that runs the tests may not do this: let `test` in `.github/autobuild.yml` leave these tests out, or \
             see in `autobuild doctor` what the sandbox lacks"
        }
        SystemError::NoUser => {
            "A user or group does not exist here: let the tests use the one that runs them (`id -un`), create it where \
             AutoBuild runs (the sandbox has that machine's users), or let `test` in `.github/autobuild.yml` leave these tests \
             out"
        }
        SystemError::NoLocale => {
            "A locale is not installed here: write `LC_ALL=C.UTF-8` before the command in `test` of `.github/autobuild.yml` \
             if any UTF-8 locale will do, or install it where AutoBuild runs (such as `locale-gen de_DE.UTF-8`)"
        }
        SystemError::NoRevision => {
            "A tag or revision is not in the history of the default branch: push it to GitHub (`git push origin v1.0.0`), or \
             give the version in the `test` line of `.github/autobuild.yml`, such as \
             `SETUPTOOLS_SCM_PRETEND_VERSION=1.0.0 pytest`"
        }
    }
}

/// Names the line to add to the settings if no test command was found.
fn untestable(what: &PreFlightCause) -> String {
    let tests = if let PreFlightCause::NoCommand { tests, .. } = what { Some(tests) } else { None };
    let example = tests.and_then(|tests| tests.commands.first().or(tests.mentioned.first()));
    format!(
        "Write the line that runs the tests into `.github/autobuild.yml` on the default branch, such as `test: {}`, and \
         `setup: …` if they need packages. Or write `tests: optional` there, if a task is to bring the first tests that \
         a command finds",
        example.map_or("sh tests/run.sh", String::as_str)
    )
}

/// Returns the actions for failing Gates, or `first` if there are none, and then `last`, which applies to every such
/// block.
fn after_gates(failing: Vec<String>, first: &[&str], last: &[&str]) -> Vec<String> {
    let mut actions = failing;
    if actions.is_empty() {
        actions = fixed(first);
    }
    actions.extend(fixed(last));
    actions
}

fn absent(gates: Option<&GateReport>) -> Vec<String> {
    let found = gates.map(gates::absent).unwrap_or_default();
    if found.is_empty() {
        fixed(&[
            "Set the `setup` and `test` commands in `.github/autobuild.yml` on the default branch, or install what they \
         need where AutoBuild runs, then resume",
        ])
    } else {
        found
    }
}

fn wave_red(gates: Option<&GateReport>) -> Vec<String> {
    let mut actions = gates.map(gates::failing_together).unwrap_or_default();
    actions.push(
        "Push a commit that makes the Gates pass to the integration branch, then resume: the wave gate runs again"
            .to_owned(),
    );
    actions
}

fn conflict(files: &[String], given_up: Option<TaskId>) -> Vec<String> {
    let place = files.first().map_or_else(String::new, |file| match files.len() {
        1 => format!(" ({})", code(file)),
        more => format!(" ({} and {} more)", code(file), more - 1),
    });
    let by_hand = format!(
        "Merge the default branch into the integration branch by hand{place}, push the merge commit, then resume"
    );
    let again = given_up.map(|task| format!("Or retry {task}: a Player then resolves the conflict again"));
    std::iter::once(by_hand).chain(again).collect()
}

fn fixed(actions: &[&str]) -> Vec<String> {
    actions.iter().map(|action| (*action).to_owned()).collect()
}

/// Makes a foreign text fit into our sentence: one short line that does not end it.
fn plain(text: &str) -> String {
    let start: String = text.chars().take(SHOWN.saturating_mul(8)).collect();
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches('.');
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Formats a name, path or command within our sentence.
fn code(text: &str) -> String {
    format!("`{}`", plain(&text.replace('`', "'")))
}

#[cfg(test)]
mod tests;
