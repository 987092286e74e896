//! The cause of a block in a few words, for headlines. The sentences below a headline give details.

use crate::messages::{causes::reasons, form::words};
use domain::{
    blocked::{BlockReason, Failure, PreFlightCause, PreFlightFault, WorkStep},
    evidence::Unmet,
    feature::{Feature, State as FeatureState},
    task::{State, Task},
};

/// The most causes of tasks in a Feature's headline.
const MOST_CAUSES: usize = 3;

pub(crate) fn is_blocked(task: &Task) -> String {
    let verb = words::is_blocked(task);
    match task.inquiries() {
        Some(_) => verb.to_owned(),
        None => format!("{verb} ({})", of_task(task)),
    }
}

/// Returns why a task is blocked; empty if it is not.
fn of_task(task: &Task) -> String {
    let State::Blocked { reason } = &task.state else {
        return String::new();
    };
    cause(reason)
}

/// Returns ` (CAUSE)`, which follows the word for a blocked Feature's state; empty if it is not blocked or waits for an
/// answer.
pub fn after_blocked(feature: &Feature) -> String {
    match of_feature(feature) {
        cause if cause.is_empty() || feature.asks() => String::new(),
        cause => format!(" ({cause})"),
    }
}

/// Returns why a Feature is blocked: if its tasks are blocked, their different causes. Empty if it is not blocked.
fn of_feature(feature: &Feature) -> String {
    let FeatureState::Blocked { reason, .. } = &feature.state else {
        return String::new();
    };
    let BlockReason::TasksBlocked { tasks } = reason else {
        return cause(reason);
    };
    let blocked = feature.tasks.iter().filter(|task| tasks.contains(&task.id));
    let mut causes: Vec<String> = blocked.map(of_task).filter(|cause| !cause.is_empty()).collect();
    causes.sort();
    causes.dedup();
    causes.truncate(MOST_CAUSES);
    causes.join(", ")
}

pub(crate) fn cause(reason: &BlockReason) -> String {
    match reason {
        BlockReason::OutOfTurns { .. } => "out of turns".to_owned(),
        BlockReason::NoChangeTwice => "no change in two turns".to_owned(),
        BlockReason::SameIssues => "the same issues three times".to_owned(),
        BlockReason::BudgetSpent(_) => "the budget is spent".to_owned(),
        BlockReason::Failed { step, failure, .. } => failed(step, failure),
        BlockReason::GatesAbsent { reasons } if reasons.iter().any(Unmet::judges_pull) => {
            "a check asks something of a person".to_owned()
        }
        BlockReason::GatesAbsent { .. } => "a check could not run".to_owned(),
        BlockReason::Inquiry { .. } => "a question".to_owned(),
        BlockReason::OpenReview { .. } => "a person's request for changes is open".to_owned(),
        BlockReason::Paused { .. } => "paused".to_owned(),
        BlockReason::NeedGone { task } => format!("{task} was given up"),
        BlockReason::ForcePushed { .. } => "its branch was force-pushed".to_owned(),
        BlockReason::BranchRule { .. } => "a branch rule".to_owned(),
        BlockReason::PreFlightFailed { fault, what, .. } => preflight(*fault, what).to_owned(),
        BlockReason::DefaultConflict { .. } => "a merge conflict with the default branch".to_owned(),
        BlockReason::WaveGateRed { .. } => "the merged result fails its checks".to_owned(),
        BlockReason::TasksBlocked { .. } => "its tasks are blocked".to_owned(),
        BlockReason::BadSettings { .. } => "mistakes in the settings".to_owned(),
        BlockReason::Crashed { .. } => "AutoBuild crashed".to_owned(),
    }
}

fn failed(step: &WorkStep, failure: &Failure) -> String {
    let who = reasons::name_of_agent(step);
    match failure {
        Failure::NoAgentProgram { .. } => format!("{who} has no program"),
        Failure::TooOld { .. }
        | Failure::NotAsAsked { .. }
        | Failure::NotAuthorised { .. }
        | Failure::NotLoggedIn { .. }
        | Failure::ScriptSpent(_)
        | Failure::NoSuchModel { .. }
        | Failure::PromptTooLong
        | Failure::RequestRefused { .. } => format!("{who} could not work"),
        Failure::RateLimited { .. } | Failure::Unavailable { .. } => format!("the model of {who} did not answer"),
        Failure::ModelRefused { .. } => format!("the model of {who} refused the work"),
        Failure::OutOfMoney
        | Failure::TimedOut { .. }
        | Failure::WentSilent { .. }
        | Failure::OutOfAgentTurns { .. } => format!("{who} reached its limit"),
        Failure::ReportMissing
        | Failure::ReportInvalid { .. }
        | Failure::DecisionMissing
        | Failure::DecisionInvalid { .. } => format!("{who} gave no usable answer"),
        Failure::AgentFailed { .. }
        | Failure::AgentFault { .. }
        | Failure::TooMuchOutput { .. }
        | Failure::OutputLimit => format!("{who} failed"),
        Failure::GitHubRefused { .. } | Failure::GitHubUnclear { .. } => "GitHub refused a request".to_owned(),
        Failure::GitHubUnreachable { .. } => "GitHub did not answer".to_owned(),
        Failure::History { .. } => "a harmful object in the history".to_owned(),
        Failure::Repository { .. } => "a problem in the repository".to_owned(),
        Failure::DiskFull { .. } => "a full disk".to_owned(),
        Failure::NoProgram { .. } => "a program is missing on AutoBuild's machine".to_owned(),
        Failure::Isolation { .. } => "no isolation on AutoBuild's machine".to_owned(),
        Failure::Database { .. } | Failure::DatabaseRefused { .. } => "AutoBuild's database failed".to_owned(),
        Failure::Unreadable { .. } | Failure::Defect { .. } => "a fault of AutoBuild itself".to_owned(),
        Failure::Git { .. } => "git failed".to_owned(),
        Failure::Machine { .. } => "AutoBuild's machine failed".to_owned(),
    }
}

fn preflight(fault: PreFlightFault, what: &PreFlightCause) -> &'static str {
    match (fault, what) {
        (PreFlightFault::NotRun, PreFlightCause::SetUp(_)) => "set-up fails on the default branch",
        (PreFlightFault::NotRun, _) => "the tests do not run on the default branch",
        (PreFlightFault::NothingPasses, _) => "no test passes on the default branch",
        (PreFlightFault::NoNames, _) => "the tests have no names",
        (PreFlightFault::NoCommand, _) => "no command runs the tests",
        (PreFlightFault::FailingBase, _) => "tests fail on the default branch",
    }
}
