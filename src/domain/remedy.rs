//! What a person can do about a blocked Task or Feature. Words only: nothing here does any of it.

use crate::domain::blocked::AgentFailure;
use crate::domain::blocked::BlockReason;

/// Actions that fit the cause, the most promising first, each a sentence without a live command.
#[must_use]
pub fn suggested_actions(reason: &BlockReason) -> Vec<String> {
    let fixed = |actions: &[&str]| actions.iter().map(|action| (*action).to_owned()).collect();
    match reason {
        BlockReason::OutOfTurns { .. } => fixed(&[
            "Read the last feedback and resume with guidance that answers it, and with more turns",
            "If the work is good enough, approve it: the report then names you and what was waived",
            "If the criterion asks for the wrong thing, skip the task and mend the plan",
        ]),
        BlockReason::NoChangeTwice => fixed(&[
            "Resume with guidance that names the file to change and what should be different",
            "If nothing is left to be done, approve or skip the task",
        ]),
        BlockReason::SameIssues => fixed(&[
            "Resume with guidance on the recurring issues: the Player does not find the way by itself",
            "Push a commit that settles them to the task's branch, then resume",
            "Retry the task from the integration branch if its approach is a dead end",
        ]),
        BlockReason::BudgetSpent { .. } => fixed(&["Raise the budget in the repository's settings, then resume"]),
        BlockReason::AgentFailed { failure } => agent_actions(failure),
        BlockReason::GatesAbsent { .. } => fixed(&[
            "Set the `setup` and `test` commands in .github/autobuild.yml on the default branch, or install what they need where AutoBuild runs, then resume",
            "If this task cannot have tests, approve it yourself or skip it",
        ]),
        BlockReason::OpenReview { by } => {
            vec![format!(
                "Ask {} to approve or to dismiss the review, or resume to have it answered",
                by.login
            )]
        }
        BlockReason::Paused { .. } => fixed(&["Resume when it should go on"]),
        BlockReason::NeedGone { task } => {
            vec![format!(
                "Decide whether it makes sense without {task}: resume it, or skip it too"
            )]
        }
        BlockReason::ForcePushed { .. } => fixed(&[
            "Retry the task: it starts again from the integration branch",
            "Or push the branch back to a commit that builds on the integration branch, then resume",
        ]),
        BlockReason::ForgeRefused { .. } => fixed(&[
            "Compare GitHub's words with the repository's rules and the App's permissions, mend them, then resume",
        ]),
        BlockReason::BranchRule { rule } => {
            vec![format!(
                "Except the branches autobuild/** from the rule {rule}, or let AutoBuild bypass it, then resume"
            )]
        }
        BlockReason::PreFlightFailed { .. } => fixed(&[
            "Make the command run on the default branch, or set another `setup` or `test` in .github/autobuild.yml, then resume: pre-flight runs again",
            "If the program is missing where AutoBuild runs, ask whoever runs it to install it, then resume",
        ]),
        BlockReason::DefaultConflict { .. } => {
            fixed(&["Merge the default branch into the integration branch by hand, push the result, then resume"])
        }
        BlockReason::WaveGateRed { .. } => fixed(&[
            "Push a commit that makes the Gates pass to the integration branch, then resume: the wave gate runs again",
            "Check whether the failing tests already fail on the default branch",
        ]),
        BlockReason::TasksBlocked { .. } => {
            fixed(&["Answer the blocked report of each task: resume, approve, retry or skip it"])
        }
        BlockReason::BadSettings { .. } => {
            fixed(&["Mend .github/autobuild.yml on the default branch as the mistakes say, then resume"])
        }
        BlockReason::Crashed { .. } => fixed(&["Ask whoever runs AutoBuild to look into its log, then resume"]),
    }
}

fn agent_actions(failure: &AgentFailure) -> Vec<String> {
    let first = match failure {
        AgentFailure::NotFound { program } => {
            format!("Ask whoever runs AutoBuild to install {program} or to set another agent")
        }
        AgentFailure::Failed { .. } => {
            "Read what the agent printed last, and mend its set-up or its account".to_owned()
        }
        AgentFailure::TimedOut { .. } | AgentFailure::WentSilent { .. } => {
            "Give the agent more time in the settings (`timeouts`), or split the task".to_owned()
        }
        AgentFailure::TooMuchOutput { .. } => "Make the agent print less".to_owned(),
        AgentFailure::ReportMissing
        | AgentFailure::ReportInvalid { .. }
        | AgentFailure::DecisionMissing
        | AgentFailure::DecisionInvalid { .. } => {
            "Try a stronger model: the agent's answer was not usable even after one correction".to_owned()
        }
    };
    vec![first, "Then resume: these failures used up no turn".to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::TaskId;
    use crate::domain::ids::User;
    use crate::domain::ids::UserId;

    #[test]
    fn every_reason_has_an_action_and_none_is_a_live_command() {
        let text = || "x".to_owned();
        let failures = [
            AgentFailure::NotFound { program: text() },
            AgentFailure::TimedOut { seconds: 1 },
            AgentFailure::DecisionMissing,
        ];
        let by = || User {
            id: UserId(1),
            login: "ada".to_owned(),
        };
        let reasons = [
            BlockReason::OutOfTurns { turns: 5 },
            BlockReason::NoChangeTwice,
            BlockReason::SameIssues,
            BlockReason::BudgetSpent { what: text() },
            BlockReason::GatesAbsent { reasons: vec![text()] },
            BlockReason::OpenReview { by: by() },
            BlockReason::Paused { by: by() },
            BlockReason::NeedGone {
                task: TaskId::Planned(1),
            },
            BlockReason::ForcePushed { by: by() },
            BlockReason::ForgeRefused {
                doing: text(),
                said: text(),
            },
            BlockReason::BranchRule { rule: text() },
            BlockReason::PreFlightFailed {
                what: text(),
                output: text(),
            },
            BlockReason::DefaultConflict { files: vec![text()] },
            BlockReason::WaveGateRed { failures: vec![text()] },
            BlockReason::TasksBlocked {
                tasks: vec![TaskId::Planned(1)],
            },
            BlockReason::BadSettings { mistakes: vec![text()] },
            BlockReason::Crashed { doing: text() },
        ];
        let failed = failures.map(|failure| BlockReason::AgentFailed { failure });
        for reason in reasons.into_iter().chain(failed) {
            let actions = suggested_actions(&reason);
            assert!(!actions.is_empty(), "{reason}");
            assert!(
                actions
                    .iter()
                    .all(|action| !action.contains("/autobuild ") && !action.ends_with('.')),
                "{reason}"
            );
        }
    }
}
