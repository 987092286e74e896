//! Failures of agents that are not verdicts on the work: their kinds, their classes, and their fixed words.

use crate::ids::{TaskId, TurnNumber};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A failure that is not an agent's verdict. It uses up no turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum AgentFailure {
    /// The program was not found.
    #[error("the agent program {program:?} was not found")]
    NotFound {
        /// The program as configured.
        program: String,
    },
    /// The program ended with an error.
    #[error("the agent failed: {how}")]
    Failed {
        /// The exit code or signal, and the end of its error output.
        how: String,
    },
    /// The time limit stopped it.
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
    /// It printed more than the limit allows.
    #[error("the agent printed more than {bytes} bytes")]
    TooMuchOutput {
        /// The limit.
        bytes: u64,
    },
    /// The program is too old for AutoBuild.
    #[error("the agent program {program:?} is version {found}; at least {least} is needed")]
    TooOld {
        /// The program as configured.
        program: String,
        /// The version that it reports.
        found: String,
        /// The oldest version that works.
        least: String,
    },
    /// It did not start as requested: other tools, other permissions, or servers that were not requested.
    #[error("the agent did not start as it was asked to: {what}")]
    NotAsAsked {
        /// The differences.
        what: String,
    },
    /// The model's API limits the rate of requests. The work waits for it.
    #[error("the model's API limits the rate: {said}")]
    RateLimited {
        /// The API's message.
        said: String,
        /// The wait that the API asked for, if any.
        retry_after_seconds: Option<u64>,
    },
    /// The model's API is overloaded, failing or unreachable. The work waits for it.
    #[error("the model's API is not available: {said}")]
    Unavailable {
        /// The API's message.
        said: String,
        /// The wait that the API asked for, if any.
        retry_after_seconds: Option<u64>,
    },
    /// The model's API refuses the credentials, or the account has no credit. Trying again does not help.
    #[error("the model's API refuses the credentials or the account: {said}")]
    NotAuthorised {
        /// The API's message, for operators.
        said: String,
    },
    /// The program is not logged in, so it called no model.
    #[error("{program} is not logged in: {log_in}, or set {key}")]
    NotLoggedIn {
        /// The program.
        program: String,
        /// How a person logs in, as an instruction.
        log_in: String,
        /// The setting that holds a key instead.
        key: String,
    },
    /// The model's API does not know the model, or does not offer it to us.
    #[error("the model {model:?} is not available: {said}")]
    NoSuchModel {
        /// The model.
        model: String,
        /// The API's message.
        said: String,
    },
    /// The model refused the work.
    #[error("the model refused the work: {said}")]
    ModelRefused {
        /// The model's message.
        said: String,
    },
    /// The model's API refuses the program's request: a bug of the program, or a setting that does not fit.
    #[error("the model's API refuses the request (HTTP {status}): {said}")]
    RequestRefused {
        /// The HTTP status of the answer.
        status: u64,
        /// The API's message.
        said: String,
    },
    /// The prompt, or all that the model had read, is longer than the model accepts.
    #[error("the work is too long for the model")]
    PromptTooLong,
    /// The model stopped at its limit of output.
    #[error("the model stopped at its limit of output")]
    OutputLimit,
    /// It reached the limit of model calls in one run.
    #[error("the agent made as many calls of its model as it may: {turns}")]
    OutOfAgentTurns {
        /// The limit.
        turns: u32,
    },
    /// Its share of the budget is used up.
    #[error("the agent used up its share of the budget")]
    OutOfMoney,
    /// A script has no step left for this run.
    #[error("the script {} has no step left for the {} at turn {}", .0.script.display(), .0.role, .0.turn)]
    ScriptSpent(SpentScript),
    /// A Player or planner gave no answer.
    #[error("the agent's output holds no JSON object")]
    ReportMissing,
    /// A Player's or planner's answer has the wrong shape.
    #[error("the agent's report is not valid: {problem}")]
    ReportInvalid {
        /// The key, and what was expected.
        problem: String,
    },
    /// A Coach gave no answer.
    #[error("the Coach's output holds no JSON object")]
    DecisionMissing,
    /// A Coach's answer has the wrong shape.
    #[error("the Coach's decision is not valid: {problem}")]
    DecisionInvalid {
        /// The key, and what was expected.
        problem: String,
    },
}

/// A script that has no step left for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpentScript {
    /// The script's path.
    pub script: PathBuf,
    /// The number of its steps.
    pub steps: usize,
    /// The number of steps for such a run; all of them are played.
    pub fitting: usize,
    /// The role that asked for a step.
    pub role: String,
    /// The task of the run.
    pub task: Option<TaskId>,
    /// The turn of the run.
    pub turn: TurnNumber,
}

/// A class of failures that are treated alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    /// The program is missing: no model was called.
    NoProgram,
    /// The program or the account is not usable: no model was called, and another try would fail the same way.
    Unusable,
    /// The model does not exist; another may.
    NoModel,
    /// The model's API does not serve at the moment. It refuses the first call of a run at no cost.
    Closed,
    /// The model refuses this work; another may accept it.
    Refused,
    /// The request does not fit the model: it is too long, or the API does not accept it. Another model may accept it.
    /// A request that did not fit from the start would get the same answer again.
    Unfit,
    /// The share of the budget is used up.
    Spent,
    /// The run met one of its own limits: of time, silence or calls.
    Limit,
    /// The run gave no usable answer, also when it was asked for the answer alone. Another run would be paid for the
    /// same work.
    Unanswered,
    /// The run itself gave no result, but another one may.
    Run,
}

impl AgentFailure {
    /// Returns the class of the failure.
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
            Self::ReportMissing | Self::ReportInvalid { .. } | Self::DecisionMissing | Self::DecisionInvalid { .. } => {
                FailureClass::Unanswered
            }
            Self::Failed { .. } | Self::TooMuchOutput { .. } | Self::OutputLimit => FailureClass::Run,
        }
    }

    /// `true` if the program's last output helps people. An API's messages about accounts and outages are for operators
    /// only.
    pub fn shows_output(&self) -> bool {
        let of_run = matches!(
            self.class(),
            FailureClass::Limit | FailureClass::Unanswered | FailureClass::Run
        );
        of_run || matches!(self, Self::NotAsAsked { .. })
    }
}

impl FailureClass {
    /// `true` if a model worked before a failure of this class, as far as the failure alone shows.
    pub fn after_work(self) -> bool {
        match self {
            Self::NoProgram | Self::Unusable | Self::NoModel | Self::Closed | Self::Unfit => false,
            Self::Refused | Self::Spent | Self::Limit | Self::Unanswered | Self::Run => true,
        }
    }

    /// Returns how many runs in a row may fail in this way before a person is asked. A run that reached its limit goes on
    /// once from where it was stopped: it would reach the same limit again and again.
    pub fn most_runs(self) -> u32 {
        match self {
            Self::NoProgram
            | Self::Unusable
            | Self::NoModel
            | Self::Closed
            | Self::Refused
            | Self::Spent
            | Self::Unanswered => 1,
            Self::Limit => 2,
            Self::Unfit | Self::Run => 3,
        }
    }

    /// `true` if another model may succeed. Then the fallback model of the settings is tried once, at once.
    pub fn another_model_may_help(self) -> bool {
        match self {
            Self::NoModel | Self::Closed | Self::Refused | Self::Unfit => true,
            Self::NoProgram | Self::Unusable | Self::Spent | Self::Limit | Self::Unanswered | Self::Run => false,
        }
    }
}

/// The cause that cut a run short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Its time limit.
    Time,
    /// It printed nothing for too long.
    Silence,
    /// The limit of model calls.
    Calls,
    /// Its share of the budget was used up.
    Share,
    /// Its model's API stopped serving it.
    Api,
    /// Any other failure.
    Other,
}

impl Cut {
    /// Returns the cut that a failure's word stands for, see [`AgentFailure::word`](super::AgentFailure::word).
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

    /// `true` if it is a limit of the run itself: another run that does the same reaches it again.
    pub fn is_limit(self) -> bool {
        match self {
            Self::Time | Self::Silence | Self::Calls => true,
            Self::Share | Self::Api | Self::Other => false,
        }
    }
}

impl AgentFailure {
    /// Returns the failure as one word that never changes.
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
    /// A program that started otherwise than asked prints the reason.
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
