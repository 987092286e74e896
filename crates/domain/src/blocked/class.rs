//! Failures of agents by what they have in common: whether waiting helps, another model, another try, or only a person.

use crate::blocked::failure::AgentFailure;

/// What a failure has in common with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    /// There is no program: no model was asked.
    NoProgram,
    /// The program or the account is not as it must be: no model was asked, and another try meets the same.
    Unusable,
    /// There is no such model; another may be there.
    NoModel,
    /// The model's API does not serve now. The first call of a run is refused for free.
    Closed,
    /// The model does not want this work; another may.
    Refused,
    /// What is asked does not fit the model: there is more to read than it takes, or its API does not take the request.
    /// Another may take it. What did not fit from the start gets the same answer again.
    Unfit,
    /// The share of the budget is used up.
    Spent,
    /// It met a limit of its own: of time, of silence, of calls. What a Player had done by then is kept, and one more run
    /// goes on from there.
    Limit,
    /// The run itself came to nothing, and another may not. What a Player had done by then is kept, and the next run
    /// starts there.
    Run,
}

impl AgentFailure {
    /// What it has in common with others.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::NotFound { .. } => FailureClass::NoProgram,
            Self::TooOld { .. } | Self::NotAsAsked { .. } | Self::NotAuthorised { .. } => FailureClass::Unusable,
            Self::NoSuchModel { .. } => FailureClass::NoModel,
            Self::RateLimited { .. } | Self::Unavailable { .. } => FailureClass::Closed,
            Self::ModelRefused { .. } => FailureClass::Refused,
            Self::PromptTooLong | Self::RequestRefused { .. } => FailureClass::Unfit,
            Self::OutOfMoney => FailureClass::Spent,
            Self::TimedOut { .. } | Self::WentSilent { .. } | Self::OutOfAgentTurns { .. } => FailureClass::Limit,
            Self::Failed { .. }
            | Self::TooMuchOutput { .. }
            | Self::OutputLimit
            | Self::ReportMissing
            | Self::ReportInvalid { .. }
            | Self::DecisionMissing
            | Self::DecisionInvalid { .. } => FailureClass::Run,
        }
    }
}

impl FailureClass {
    /// Whether a model worked before a failure of this class, as far as the failure alone says.
    pub fn after_work(self) -> bool {
        match self {
            Self::NoProgram | Self::Unusable | Self::NoModel | Self::Closed | Self::Unfit => false,
            Self::Refused | Self::Spent | Self::Limit | Self::Run => true,
        }
    }

    /// Whether another model may succeed where this one failed; the fallback of the settings is tried once, at once.
    pub fn another_model_may_help(self) -> bool {
        match self {
            Self::NoModel | Self::Closed | Self::Refused | Self::Unfit => true,
            Self::NoProgram | Self::Unusable | Self::Spent | Self::Limit | Self::Run => false,
        }
    }

    /// Whether what its program printed last tells people more. What an API says of accounts and outages is for operators
    /// alone.
    pub fn shows_output(self) -> bool {
        match self {
            Self::Limit | Self::Run => true,
            Self::NoProgram
            | Self::Unusable
            | Self::NoModel
            | Self::Closed
            | Self::Refused
            | Self::Unfit
            | Self::Spent => false,
        }
    }
}
