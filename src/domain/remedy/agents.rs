//! What a person can do when an agent gave no usable result.

use crate::domain::blocked::AgentFailure;
use crate::domain::remedy::code;
use crate::domain::remedy::plain;

/// One action for the kind of failure, then how it goes on.
pub(super) fn actions(failure: &AgentFailure) -> Vec<String> {
    let first = match failure {
        AgentFailure::NotFound { program } => format!(
            "Ask whoever runs AutoBuild to install {} or to set another agent",
            code(program)
        ),
        AgentFailure::Failed { how } => format!(
            "Read what the agent printed last and mend its set-up, its account or its quota: {}",
            plain(how)
        ),
        AgentFailure::TimedOut { seconds } => format!(
            "Give the agent more than {seconds} seconds (`timeouts` in `.github/autobuild.yml`), or split the task"
        ),
        AgentFailure::WentSilent { seconds } => format!(
            "Find out why the agent printed nothing for {seconds} seconds: it may wait for input or for its model"
        ),
        AgentFailure::TooMuchOutput { .. } => "Make the agent print less".to_owned(),
        AgentFailure::ReportMissing | AgentFailure::ReportInvalid { .. } => {
            "Try a stronger model for the Player: its report was not usable even after one correction".to_owned()
        }
        AgentFailure::DecisionMissing | AgentFailure::DecisionInvalid { .. } => {
            "Try a stronger model for the Coach: its decision was not usable even after one correction".to_owned()
        }
    };
    vec![first, "Then resume: these failures used up no turn".to_owned()]
}
