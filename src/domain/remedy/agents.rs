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
        AgentFailure::TooOld { program, least, .. } => format!(
            "Ask whoever runs AutoBuild to bring {} to version {} or newer",
            code(program),
            plain(least)
        ),
        AgentFailure::NotAsAsked { .. } => {
            "Ask whoever runs AutoBuild to compare the agent program's version with the one that is supported"
                .to_owned()
        }
        AgentFailure::RateLimited { .. } => {
            "Ask whoever runs AutoBuild for a higher limit at the model's provider, or run fewer tasks at once"
                .to_owned()
        }
        AgentFailure::Unavailable { .. } => {
            "Wait until the model's provider is available again, or have a fallback model set".to_owned()
        }
        AgentFailure::NotAuthorised { .. } => {
            "Ask whoever runs AutoBuild to renew the key or the credit of the model's account".to_owned()
        }
        AgentFailure::NoSuchModel { model, .. } => format!(
            "Set a model other than {} (`model` in `.github/autobuild.yml`), or ask whoever runs AutoBuild to offer it",
            code(model)
        ),
        AgentFailure::ModelRefused { .. } => {
            "Read what the model refuses, and say the task differently or do that part by hand".to_owned()
        }
        AgentFailure::PromptTooLong => {
            "Split the task, or shorten the issue and the repository's instruction files".to_owned()
        }
        AgentFailure::OutputLimit => "Split the task, or set a model that may write more".to_owned(),
        AgentFailure::OutOfAgentTurns { turns } => format!(
            "Allow the agent more than {turns} calls (`agent_turns` in `.github/autobuild.yml`), or split the task"
        ),
        AgentFailure::OutOfMoney => {
            "Raise `budget` in `.github/autobuild.yml` on the default branch, or split the task".to_owned()
        }
        AgentFailure::ReportMissing | AgentFailure::ReportInvalid { .. } => {
            "Try a stronger model for the Player: its report was not usable even after one correction".to_owned()
        }
        AgentFailure::DecisionMissing | AgentFailure::DecisionInvalid { .. } => {
            "Try a stronger model for the Coach: its decision was not usable even after one correction".to_owned()
        }
    };
    vec![first, "Then resume: these failures used up no turn".to_owned()]
}
