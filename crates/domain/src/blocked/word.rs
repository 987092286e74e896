//! Failures of agents as single words, for tables and metrics.

use crate::blocked::failure::AgentFailure;

impl AgentFailure {
    /// The failure as one word that never changes.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::Failed { .. } => "failed",
            Self::TimedOut { .. } => "timed_out",
            Self::WentSilent { .. } => "went_silent",
            Self::TooMuchOutput { .. } => "too_much_output",
            Self::TooOld { .. } => "too_old",
            Self::NotAsAsked { .. } => "not_as_asked",
            Self::RateLimited { .. } => "rate_limited",
            Self::Unavailable { .. } => "unavailable",
            Self::NotAuthorised { .. } => "not_authorised",
            Self::NoSuchModel { .. } => "no_such_model",
            Self::ModelRefused { .. } => "model_refused",
            Self::RequestRefused { .. } => "request_refused",
            Self::PromptTooLong => "prompt_too_long",
            Self::OutputLimit => "output_limit",
            Self::OutOfAgentTurns { .. } => "out_of_agent_turns",
            Self::OutOfMoney => "out_of_money",
            Self::ReportMissing => "report_missing",
            Self::ReportInvalid { .. } => "report_invalid",
            Self::DecisionMissing => "decision_missing",
            Self::DecisionInvalid { .. } => "decision_invalid",
        }
    }
}
