//! Failures of agents that are no verdict on the work: what each is, what they have in common, and their words.

use crate::ids::{TaskId, TurnNumber};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A failure that is not an agent's verdict. It uses up no turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum AgentFailure {
    /// The program is not there.
    #[error("the agent program {program:?} was not found")]
    NotFound {
        /// The program as configured.
        program: String,
    },
    /// It ended with an error.
    #[error("the agent failed: {how}")]
    Failed {
        /// Exit code or signal, and the end of its error output.
        how: String,
    },
    /// Its time was up.
    #[error("the agent was stopped after {seconds} seconds")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// It printed nothing for too long.
    #[error("the agent went silent for {seconds} seconds")]
    WentSilent {
        /// The limit.
        seconds: u64,
    },
    /// It printed more than is read.
    #[error("the agent printed more than {bytes} bytes")]
    TooMuchOutput {
        /// The limit.
        bytes: u64,
    },
    /// It is older than what we can work with.
    #[error("the agent program {program:?} is version {found}; at least {least} is needed")]
    TooOld {
        /// The program as configured.
        program: String,
        /// What it says it is.
        found: String,
        /// The oldest that works.
        least: String,
    },
    /// It did not start as it was asked to: other tools, other permissions, servers that nobody asked for.
    #[error("the agent did not start as it was asked to: {what}")]
    NotAsAsked {
        /// What differs.
        what: String,
    },
    /// The model's API limits us. The work waits for it.
    #[error("the model's API limits the rate: {said}")]
    RateLimited {
        /// Its words.
        said: String,
        /// How long it asked us to wait, where it did.
        retry_after_seconds: Option<u64>,
    },
    /// The model's API is overloaded, failing or out of reach. The work waits for it.
    #[error("the model's API is not available: {said}")]
    Unavailable {
        /// Its words.
        said: String,
        /// How long it asked us to wait, where it did.
        retry_after_seconds: Option<u64>,
    },
    /// The model's API refuses the credentials, or there is no credit. Trying again helps nobody.
    #[error("the model's API refuses the credentials or the account: {said}")]
    NotAuthorised {
        /// Its words, for operators.
        said: String,
    },
    /// The program has no log-in, so it asked no model.
    #[error("{program} is not logged in: {log_in}, or set {key}")]
    NotLoggedIn {
        /// The program.
        program: String,
        /// How a person logs in, as an order.
        log_in: String,
        /// The setting that holds a key instead.
        key: String,
    },
    /// The model's API knows no such model, or does not offer it to us.
    #[error("the model {model:?} is not available: {said}")]
    NoSuchModel {
        /// The model.
        model: String,
        /// The API's words.
        said: String,
    },
    /// The model refused to do it.
    #[error("the model refused the work: {said}")]
    ModelRefused {
        /// Its words.
        said: String,
    },
    /// The model's API does not take what the program asks: a mistake of the program, or a setting that does not fit.
    #[error("the model's API refuses the request (HTTP {status}): {said}")]
    RequestRefused {
        /// The status of its answer.
        status: u64,
        /// Its words.
        said: String,
    },
    /// What it was told, or what it had read, is longer than the model can take.
    #[error("the work is too long for the model")]
    PromptTooLong,
    /// The model stopped at its limit of output.
    #[error("the model stopped at its limit of output")]
    OutputLimit,
    /// It made as many calls as it may in one run.
    #[error("the agent made as many calls of its model as it may: {turns}")]
    OutOfAgentTurns {
        /// The limit.
        turns: u32,
    },
    /// Its share of the budget was used up.
    #[error("the agent used up its share of the budget")]
    OutOfMoney,
    /// A script has no step for the run that is not played yet.
    #[error("the script {} has no step left for the {} at turn {}", .0.script.display(), .0.role, .0.turn)]
    ScriptSpent(SpentScript),
    /// A Player or planner without an answer.
    #[error("the agent's output does not end with a JSON object")]
    ReportMissing,
    /// A Player's or planner's answer of the wrong shape.
    #[error("the agent's report is not valid: {problem}")]
    ReportInvalid {
        /// Which key, what was expected.
        problem: String,
    },
    /// A Coach without an answer.
    #[error("the Coach's output does not end with a JSON object")]
    DecisionMissing,
    /// A Coach's answer of the wrong shape.
    #[error("the Coach's decision is not valid: {problem}")]
    DecisionInvalid {
        /// Which key, what was expected.
        problem: String,
    },
}

/// A script without a step for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpentScript {
    /// Where it is.
    pub script: PathBuf,
    /// How many steps it has.
    pub steps: usize,
    /// How many of them are for such a run; each is played already.
    pub fitting: usize,
    /// Who asked for a step.
    pub role: String,
    /// For which task.
    pub task: Option<TaskId>,
    /// In which turn.
    pub turn: TurnNumber,
}

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
            Self::TooOld { .. }
            | Self::NotAsAsked { .. }
            | Self::NotAuthorised { .. }
            | Self::NotLoggedIn { .. }
            | Self::ScriptSpent(_) => FailureClass::Unusable,
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

    /// Whether what its program printed last tells people more. What an API says of accounts and outages is for operators
    /// alone.
    pub fn shows_output(&self) -> bool {
        match self {
            Self::NotAsAsked { .. }
            | Self::Failed { .. }
            | Self::TimedOut { .. }
            | Self::WentSilent { .. }
            | Self::TooMuchOutput { .. }
            | Self::OutputLimit
            | Self::OutOfAgentTurns { .. }
            | Self::ReportMissing
            | Self::ReportInvalid { .. }
            | Self::DecisionMissing
            | Self::DecisionInvalid { .. } => true,
            Self::NotFound { .. }
            | Self::TooOld { .. }
            | Self::RateLimited { .. }
            | Self::Unavailable { .. }
            | Self::NotAuthorised { .. }
            | Self::NotLoggedIn { .. }
            | Self::NoSuchModel { .. }
            | Self::ModelRefused { .. }
            | Self::RequestRefused { .. }
            | Self::PromptTooLong
            | Self::OutOfMoney
            | Self::ScriptSpent(_) => false,
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
}

/// What cut a run short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Its time was up.
    Time,
    /// It printed nothing for too long.
    Silence,
    /// It had made as many calls of its model as it may.
    Calls,
    /// Its share of the budget was used up.
    Share,
    /// Its model's API stopped serving it.
    Api,
    /// Anything else.
    Other,
}

impl Cut {
    /// What a failure's word tells, see [`AgentFailure::word`](super::AgentFailure::word).
    pub fn of_word(word: &str) -> Self {
        match word {
            "timed_out" => Self::Time,
            "went_silent" => Self::Silence,
            "out_of_agent_turns" => Self::Calls,
            "out_of_money" => Self::Share,
            "rate_limited" | "unavailable" => Self::Api,
            _ => Self::Other,
        }
    }

    /// Whether it is a limit of the run itself: another run that does the same meets it again.
    pub fn is_limit(self) -> bool {
        match self {
            Self::Time | Self::Silence | Self::Calls => true,
            Self::Share | Self::Api | Self::Other => false,
        }
    }
}

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
            Self::NotLoggedIn { .. } => "not_logged_in",
            Self::NoSuchModel { .. } => "no_such_model",
            Self::ModelRefused { .. } => "model_refused",
            Self::RequestRefused { .. } => "request_refused",
            Self::PromptTooLong => "prompt_too_long",
            Self::OutputLimit => "output_limit",
            Self::OutOfAgentTurns { .. } => "out_of_agent_turns",
            Self::OutOfMoney => "out_of_money",
            Self::ScriptSpent(_) => "script_spent",
            Self::ReportMissing => "report_missing",
            Self::ReportInvalid { .. } => "report_invalid",
            Self::DecisionMissing => "decision_missing",
            Self::DecisionInvalid { .. } => "decision_invalid",
        }
    }
}

#[cfg(test)]
mod tests {
    /// What a program printed that started otherwise than asked tells why.
    #[test]
    fn output_is_shown_unless_it_is_an_apis_word_for_operators() {
        let what = "it never said what it may use".to_owned();
        assert!(super::AgentFailure::NotAsAsked { what }.shows_output());
        let said = "invalid x-api-key of org_123".to_owned();
        assert!(!super::AgentFailure::NotAuthorised { said }.shows_output());
    }

    mod cut {
        use super::super::Cut;
        use crate::blocked::{AgentFailure, FailureClass};

        #[test]
        fn the_words_of_limits_are_those_of_their_failures() {
            let limits = [
                AgentFailure::TimedOut { seconds: 1 },
                AgentFailure::WentSilent { seconds: 1 },
                AgentFailure::OutOfAgentTurns { turns: 1 },
            ];
            let cuts = limits.clone().map(|failure| Cut::of_word(failure.word()));
            assert_eq!(cuts, [Cut::Time, Cut::Silence, Cut::Calls]);
            for failure in limits {
                assert!(Cut::of_word(failure.word()).is_limit() && failure.class() == FailureClass::Limit);
            }
            let said = String::new;
            let api = AgentFailure::Unavailable {
                said: said(),
                retry_after_seconds: None,
            };
            let others = [AgentFailure::OutOfMoney, api, AgentFailure::Failed { how: said() }];
            let cuts = others.map(|failure| Cut::of_word(failure.word()));
            assert_eq!(cuts, [Cut::Share, Cut::Api, Cut::Other]);
        }
    }
}
