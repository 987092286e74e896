//! Failures that say nothing about the quality of the work, and the table of their consequences.

use crate::{
    ids::{FeatureKey, Sha, TaskId, TurnNumber},
    isolation::Limit,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt::Display, path::PathBuf};
use text::words;

/// A failure that says nothing about the quality of the work. It uses up no turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The program was not found.
    #[error("the agent program {program:?} was not found")]
    NoAgentProgram {
        /// The program as configured.
        program: String,
    },
    /// The program ended with an error.
    #[error("the agent failed: {message}")]
    AgentFailed {
        /// The exit code or signal, and the end of its error output.
        message: String,
    },
    /// It failed in a way that AutoBuild sees itself. The release before reads the stored text as that of a failed agent,
    /// and so does this one.
    #[error("the agent failed: {fault}")]
    #[serde(rename = "agent_failed", skip_deserializing)]
    AgentFault {
        #[serde(rename = "message", serialize_with = "as_text")]
        fault: AgentFault,
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
    #[error("the agent did not start as it was asked to: {differences}")]
    NotAsAsked {
        /// The first difference. It is stored as text, which the release before reads.
        #[serde(serialize_with = "as_text", deserialize_with = "stored_difference")]
        differences: StartDifference,
    },
    /// The model's API limits the rate of requests. The work waits for it.
    #[error("the model's API limits the rate: {message}")]
    RateLimited {
        /// The API's message.
        message: String,
        /// The wait that the API asked for, if any.
        retry_after_seconds: Option<u64>,
    },
    /// The model's API is overloaded, failing or unreachable. The work waits for it.
    #[error("the model's API is not available: {message}")]
    Unavailable {
        /// The API's message.
        message: String,
        /// The wait that the API asked for, if any.
        retry_after_seconds: Option<u64>,
    },
    /// The model's API refuses the credentials, or the account has no credit. Trying again does not help.
    #[error("the model's API refuses the credentials or the account: {message}")]
    NotAuthorised {
        /// The API's message, for operators.
        message: String,
    },
    /// The program has no log-in that it may use, so it called no model.
    #[error("the log-in of {program} {problem}: {}", problem.remedy(program, log_in, key))]
    NotLoggedIn {
        program: String,
        /// How a person logs in, as an instruction.
        log_in: String,
        /// The setting that holds a key instead.
        key: String,
        /// Why there is no log-in to use.
        #[serde(default, rename = "lack")]
        problem: LoginProblem,
    },
    /// The model's API does not know the model, or does not offer it to us.
    #[error("the model {model:?} is not available: {message}")]
    NoSuchModel {
        model: String,
        /// The API's message.
        message: String,
    },
    /// The model refused the work.
    #[error("the model refused the work: {message}")]
    ModelRefused {
        /// The model's message.
        message: String,
    },
    /// The model's API refuses the program's request: a bug of the program, or a setting that does not fit.
    #[error("the model's API refuses the request (HTTP {status}): {message}")]
    RequestRefused {
        /// The HTTP status of the answer.
        status: u64,
        /// The API's message.
        message: String,
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
        /// The key, and the expected value.
        problem: String,
    },
    /// A Coach gave no answer.
    #[error("the Coach's output holds no JSON object")]
    DecisionMissing,
    /// A Coach's answer has the wrong shape.
    #[error("the Coach's decision is not valid: {problem}")]
    DecisionInvalid {
        /// The key, and the expected value.
        problem: String,
    },
    /// GitHub understood the request and refused it.
    #[error("refused: {message}")]
    GitHubRefused {
        /// GitHub's message.
        message: String,
    },
    /// GitHub refuses our credentials, or its answer cannot be read. Both may pass, for example after a deploy of
    /// GitHub's.
    #[error("refused: {message}")]
    GitHubUnclear {
        /// GitHub's message.
        message: String,
    },
    /// GitHub, a name server or the network in between failed. The work waits until it recovers.
    #[error("GitHub could not be reached, or failed itself: {message}")]
    GitHubUnreachable {
        /// The error that was seen.
        message: String,
    },
    /// Git does not accept an object of the repository's history.
    #[error("git refuses an object of the repository's history: {message}")]
    History {
        /// Git's own line: the object, the rule and the problem.
        message: String,
    },
    /// The repository is not as the work needs it.
    #[error("the repository is not as it has to be: {fault:?}")]
    Repository { fault: RepositoryFault },
    /// Our machine's disk is full.
    #[error("the disk is full: {message}")]
    DiskFull {
        /// The system's message, for operators.
        message: String,
    },
    /// A program that AutoBuild itself needs is missing.
    #[error("the program {program} cannot be started: {message}")]
    NoProgram {
        program: String,
        /// The system's message, for operators.
        message: String,
    },
    /// Our machine could not isolate a program, so the program was not started.
    #[error("a program could not be isolated: {message}")]
    Isolation {
        /// The sandbox's message, for operators.
        message: String,
    },
    /// The database failed.
    #[error("the database failed: {message}")]
    Database { message: String },
    /// The database does not accept the data.
    #[error("the database refused a statement: {message}")]
    DatabaseRefused { message: String },
    /// Stored data cannot be read any more.
    #[error("what is stored cannot be read: {message}")]
    Unreadable {
        /// The reader's message, for operators.
        message: String,
    },
    /// Git failed on our machine in some other way.
    #[error("git failed: {message}")]
    Git { message: String },
    /// Our machine failed in some other way.
    #[error("the machine failed: {message}")]
    Machine {
        /// The system's message, for operators.
        message: String,
    },
    /// AutoBuild's own data about the work is inconsistent: a bug of ours.
    #[error("the work is not as it has to be: {defect:?}")]
    Defect { defect: Defect },
}

/// A failure of an agent that AutoBuild notices itself, independent of its program's report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentFault {
    /// It exceeded a limit of its sandbox.
    #[error("it was stopped: it used {0}")]
    OverLimit(Limit),
    /// Its result is unknown, since it killed its launcher.
    #[error("it killed the process that watched it")]
    KilledLauncher,
    /// It speaks another version of the Agent Client Protocol.
    #[error("it speaks version {spoken} of the Agent Client Protocol, not {ours}")]
    Protocol { spoken: String, ours: u64 },
    /// It reports that its share of the budget is used up, and its model calls cannot have used it.
    #[error("it says that its share of the budget is used up, and its calls of models have not used that much")]
    UnspentShare,
    /// It reports that the model's API limits the rate, and no call failed.
    #[error("it says that the model's API limits the rate, but no call of it failed")]
    UnseenLimit,
    /// It reports that the model's API is not available or refuses the account, and no call failed so.
    #[error("it says that the model's API is not available or refuses the account, but no call of it failed so")]
    UnseenOutage,
    /// Its program cannot print its version.
    #[error(
        "`{program} --version` failed ({how}); try it in a shell: {program} and all that it needs must be on the PATH \
         that AutoBuild is started with"
    )]
    NoVersion {
        program: String,
        /// The exit code or signal, and the error output.
        how: String,
    },
}

/// The first difference between how an agent started and how it was asked to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartDifference {
    #[error("its permission mode is {found:?}, not {asked:?}")]
    Mode { found: String, asked: String },
    #[error("it uses the MCP servers {}", .0.join(", "))]
    Servers(Vec<String>),
    #[error("it uses the plug-ins {}", .0.join(", "))]
    Plugins(Vec<String>),
    #[error("it offers tools that nobody asked for: {}", .0.join(", "))]
    MoreTools(Vec<String>),
    #[error("it lacks the tools {}", .0.join(", "))]
    FewerTools(Vec<String>),
    #[error("a hook ran: {0}")]
    Hook(String),
    /// It began to work first.
    #[error("it began to work before it said what it may use")]
    Early,
    #[error("it never said what it may use")]
    Silent,
    #[error("{0}")]
    Stored(String),
}

fn as_text<S: Serializer>(cause: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(cause)
}

fn stored_difference<'de, D: Deserializer<'de>>(deserializer: D) -> Result<StartDifference, D::Error> {
    String::deserialize(deserializer).map(StartDifference::Stored)
}

words! {
    /// Why there is no log-in of a person that a program may use.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum LoginProblem {
        /// The person is not logged in.
        #[default]
        Missing = "is missing",
        Expired = "has expired",
        /// The program signs its calls itself, or asks another program for its key.
        NotLendable = "cannot be lent",
    }
}

impl LoginProblem {
    /// Returns the actions for a person at a terminal.
    fn remedy(self, program: &str, log_in: &str, key: &str) -> String {
        match self {
            Self::Missing => format!("{log_in}, or set {key}"),
            Self::Expired => format!("start {program} once, or set {key}"),
            Self::NotLendable => format!("set {key}"),
        }
    }
}

/// A script that has no step left for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpentScript {
    pub script: PathBuf,
    pub steps: usize,
    /// The number of steps for such a run; all of them are played.
    pub fitting: usize,
    /// The role that asked for a step.
    pub role: String,
    pub task: Option<TaskId>,
    pub turn: TurnNumber,
}

/// A difference between a repository and the needs of the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepositoryFault {
    /// The settings name an agent that this server does not offer.
    UnknownAgent { name: String },
    /// A branch does not exist.
    NoBranch { branch: String },
    /// A branch with the name that a run needs already exists and does not belong to that run.
    ForeignBranch { branch: String },
    /// Others keep pushing to a branch while AutoBuild pushes to it.
    BranchMoves { branch: String },
    /// A branch has nothing that its target branch does not have.
    NothingToMerge { head: String, base: String },
    /// Two branches share no commit.
    NoCommonHistory,
    /// A commit no longer exists.
    NoCommit { commit: Sha },
    /// GitHub was asked to sign a commit, and made this other one.
    OtherCommit { made: Sha },
    /// Git's message about a branch or object that is missing.
    Missing(String),
    /// A message of git or of a parser.
    Other(String),
}

impl RepositoryFault {
    /// `true` if the next try may succeed: GitHub's copies lag behind each other, so a branch or a commit may still
    /// appear, and others may stop pushing.
    fn may_pass(&self) -> bool {
        match self {
            Self::NoBranch { .. } | Self::NoCommit { .. } | Self::Missing(_) | Self::BranchMoves { .. } => true,
            Self::UnknownAgent { .. }
            | Self::ForeignBranch { .. }
            | Self::NothingToMerge { .. }
            | Self::NoCommonHistory
            | Self::OtherCommit { .. }
            | Self::Other(_) => false,
        }
    }
}

/// An inconsistency in AutoBuild's own data about the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Defect {
    /// There is no such Feature.
    NoFeature { key: FeatureKey },
    /// The Feature has no such task.
    NoTask { task: TaskId },
    /// The task has no open turn, or its open turn has no commit.
    NoOpenTurn { task: TaskId },
    /// The task has no commit.
    NoCommit { task: TaskId },
    /// The task has no pull request.
    NoPullRequest { task: TaskId },
    /// The Feature has no integration branch.
    NoIntegrationBranch,
    /// No Gate ran on the commit that the Coach must review.
    NoGates,
    /// An effect names no repository.
    NoRepository,
    /// An effect of a Feature names no Feature.
    NotOfAFeature,
    /// A delivery was not stored.
    NoDelivery,
    /// The service ended each time it performed an effect.
    CutOff { times: u32 },
    /// A message of the database or another part.
    Other(String),
}

/// One row of the table: the consequences of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureRule {
    /// Its name in the ledger, in logs and on pages.
    pub word: &'static str,
    /// If it passes by itself.
    pub class: FailureClass,
    pub owner: Owner,
    /// Who has to act before the work can continue.
    pub actor: Actor,
    /// The next step, as far as the failure alone decides.
    pub next: NextStep,
    /// The number of runs in a row that may fail in this way before a person is asked.
    pub runs: u32,
    /// If the fallback model of the settings is tried, once and at once.
    pub fallback: Fallback,
    pub undone: UndoneWork,
}

/// The time that a failure lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    /// It passes: the work waits for that.
    Passes,
    /// It lasts until somebody acts.
    Lasts,
    /// Nobody knows. The work is tried again, but not for ever.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    GitHub,
    Repository,
    /// The agent's program, or its answer.
    Agent,
    /// The account at the model's provider. The provider's messages are for operators only.
    Account,
    /// The machine that runs AutoBuild.
    Machine,
    AutoBuild,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    Nobody,
    /// Whoever maintains the repository.
    Maintainer,
    /// Whoever runs AutoBuild.
    Operator,
}

/// The next step after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Wait until it passes. The failed try does not count.
    Wait,
    /// Try again with backoff.
    Again,
    /// Go on from where the run was stopped. It would reach the same limit again and again, so only once.
    Continue,
    /// Go on with the next share of the budget.
    NextShare,
    /// Try again if the model worked, because then there is less left to read.
    AgainIfModelWorked,
    /// Ask a person: another try would fail in the same way.
    Person,
}

/// The chance that another model succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    MayHelp,
    NoHelp,
}

/// The work that a failure leaves undone, as far as it alone shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoneWork {
    /// All of it: nothing had begun.
    All,
    /// The rest: a model worked before.
    Rest,
}

impl Failure {
    #[rustfmt::skip]
    pub fn rule(&self) -> FailureRule {
        use {Actor::*, Fallback::*, FailureClass::*, UndoneWork::*, NextStep::*, Owner::*};
        match self {
            //                                            word                  class    owner       actor       next       runs fallback leaves
            Self::NoAgentProgram { .. }           => row("not_found",          Lasts,   Agent,      Operator,   Person,    1, NoHelp,  All),
            Self::TooOld { .. }                   => row("too_old",            Lasts,   Agent,      Operator,   Person,    1, NoHelp,  All),
            Self::NotAsAsked { .. }               => row("not_as_asked",       Lasts,   Agent,      Operator,   Person,    1, NoHelp,  All),
            Self::ScriptSpent(_)                  => row("script_spent",       Lasts,   Agent,      Operator,   Person,    1, NoHelp,  All),
            Self::AgentFailed { .. } | Self::AgentFault { .. }
                                                  => row("failed",             Unknown, Agent,      Operator,   Again,     3, NoHelp,  Rest),
            Self::TooMuchOutput { .. }            => row("too_much_output",    Unknown, Agent,      Maintainer, Again,     3, NoHelp,  Rest),
            Self::OutputLimit                     => row("output_limit",       Unknown, Agent,      Maintainer, Again,     3, NoHelp,  Rest),
            Self::TimedOut { .. }                 => row("timed_out",          Unknown, Agent,      Maintainer, Continue,  2, NoHelp,  Rest),
            Self::WentSilent { .. }               => row("went_silent",        Unknown, Agent,      Maintainer, Continue,  2, NoHelp,  Rest),
            Self::OutOfAgentTurns { .. }          => row("out_of_agent_turns", Unknown, Agent,      Maintainer, Continue,  2, NoHelp,  Rest),
            Self::ReportMissing                   => row("report_missing",     Unknown, Agent,      Maintainer, Person,    1, NoHelp,  Rest),
            Self::ReportInvalid { .. }            => row("report_invalid",     Unknown, Agent,      Maintainer, Person,    1, NoHelp,  Rest),
            Self::DecisionMissing                 => row("decision_missing",   Unknown, Agent,      Maintainer, Person,    1, NoHelp,  Rest),
            Self::DecisionInvalid { .. }          => row("decision_invalid",   Unknown, Agent,      Maintainer, Person,    1, NoHelp,  Rest),
            Self::RateLimited { .. }              => row("rate_limited",       Passes,  Account,    Nobody,     Wait,      1, MayHelp, All),
            Self::Unavailable { .. }              => row("unavailable",        Passes,  Account,    Nobody,     Wait,      1, MayHelp, All),
            Self::NotAuthorised { .. }            => row("not_authorised",     Lasts,   Account,    Operator,   Person,    1, NoHelp,  All),
            Self::NotLoggedIn { .. }              => row("not_logged_in",      Lasts,   Account,    Operator,   Person,    1, NoHelp,  All),
            Self::NoSuchModel { .. }              => row("no_such_model",      Lasts,   Account,    Maintainer, Person,    1, MayHelp, All),
            Self::ModelRefused { .. }             => row("model_refused",      Lasts,   Account,    Maintainer, Person,    1, MayHelp, Rest),
            Self::RequestRefused { .. }           => row("request_refused",    Lasts,   Account,    Operator,   AgainIfModelWorked,  3, MayHelp, All),
            Self::PromptTooLong                   => row("prompt_too_long",    Lasts,   Account,    Maintainer, AgainIfModelWorked,  3, MayHelp, All),
            Self::OutOfMoney                      => row("out_of_money",       Lasts,   Account,    Maintainer, NextShare, 1, NoHelp,  Rest),
            Self::GitHubRefused { .. }            => row("github_refused",     Lasts,   GitHub,     Maintainer, Person,    1, NoHelp,  Rest),
            Self::GitHubUnclear { .. }            => row("github_unclear",     Unknown, GitHub,     Operator,   Again,     1, NoHelp,  Rest),
            Self::GitHubUnreachable { .. }        => row("github_unreachable", Passes,  GitHub,     Nobody,     Wait,      1, NoHelp,  Rest),
            Self::History { .. }                  => row("history",            Lasts,   Repository, Maintainer, Person,    1, NoHelp,  All),
            Self::Repository { fault } if fault.may_pass()
                                                  => row("repository",         Unknown, Repository, Maintainer, Again,     1, NoHelp,  Rest),
            Self::Repository { .. }               => row("repository",         Lasts,   Repository, Maintainer, Person,    1, NoHelp,  Rest),
            Self::DiskFull { .. }                 => row("disk_full",          Passes,  Machine,    Operator,   Wait,      1, NoHelp,  Rest),
            Self::Database { .. }                 => row("database",           Passes,  Machine,    Operator,   Wait,      1, NoHelp,  Rest),
            Self::DatabaseRefused { .. }          => row("database_refused",   Unknown, AutoBuild,  Operator,   Again,     1, NoHelp,  Rest),
            Self::NoProgram { .. }                => row("no_program",         Lasts,   Machine,    Operator,   Person,    1, NoHelp,  All),
            Self::Isolation { .. }                => row("isolation",          Unknown, Machine,    Operator,   Again,     1, NoHelp,  All),
            Self::Git { .. }                      => row("git",                Unknown, Machine,    Operator,   Again,     1, NoHelp,  Rest),
            Self::Machine { .. }                  => row("machine",            Unknown, Machine,    Operator,   Again,     1, NoHelp,  Rest),
            Self::Unreadable { .. }               => row("unreadable",         Lasts,   AutoBuild,  Operator,   Person,    1, NoHelp,  All),
            Self::Defect { .. }                   => row("defect",             Lasts,   AutoBuild,  Operator,   Person,    1, NoHelp,  All),
        }
    }

    /// `true` if an agent failed, its program or the account that it uses.
    pub fn is_agents(&self) -> bool {
        match self.rule().owner {
            Owner::Agent | Owner::Account => true,
            Owner::GitHub | Owner::Repository | Owner::Machine | Owner::AutoBuild => false,
        }
    }

    /// `true` if the program's last output helps people. A provider's messages about accounts and outages are for
    /// operators only.
    pub fn shows_output(&self) -> bool {
        self.rule().owner == Owner::Agent
    }
}

#[expect(clippy::too_many_arguments, reason = "columns of a table")]
fn row(
    word: &'static str,
    class: FailureClass,
    owner: Owner,
    actor: Actor,
    next: NextStep,
    runs: u32,
    fallback: Fallback,
    undone: UndoneWork,
) -> FailureRule {
    FailureRule { word, class, owner, actor, next, runs, fallback, undone }
}

/// The cause that stopped a run, in the detail that the next run needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
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

impl StopReason {
    /// Returns the cause for a failure's word, see [`FailureRule::word`].
    pub fn from_word(word: &str) -> Self {
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

#[cfg(test)]
mod tests {
    use super::{AgentFault, Failure, NextStep, StartDifference, StopReason};

    #[test]
    fn the_release_before_reads_the_causes_that_autobuild_sees_itself() {
        let fault = Failure::AgentFault { fault: AgentFault::KilledLauncher };
        let difference = Failure::NotAsAsked { differences: StartDifference::MoreTools(vec!["Bash".to_owned()]) };
        for (failure, stored) in [
            (fault, r#"{"agent_failed":{"message":"it killed the process that watched it"}}"#),
            (difference, r#"{"not_as_asked":{"differences":"it offers tools that nobody asked for: Bash"}}"#),
        ] {
            assert_eq!(serde_json::to_string(&failure).unwrap(), stored);
            let read: Failure = serde_json::from_str(stored).unwrap();
            assert_eq!((read.to_string(), read.rule()), (failure.to_string(), failure.rule()));
        }
    }

    #[test]
    fn output_is_shown_unless_it_is_a_providers_message() {
        let differences = StartDifference::Silent;
        assert!(Failure::NotAsAsked { differences }.shows_output());
        let message = "invalid x-api-key of org_123".to_owned();
        assert!(!Failure::NotAuthorised { message }.shows_output());
    }

    #[test]
    fn the_words_of_limits_are_those_of_their_failures() {
        let message = String::new();
        let table = [
            (Failure::TimedOut { seconds: 1 }, StopReason::Time),
            (Failure::WentSilent { seconds: 1 }, StopReason::Silence),
            (Failure::OutOfAgentTurns { turns: 1 }, StopReason::Calls),
            (Failure::OutOfMoney, StopReason::Share),
            (Failure::Unavailable { message: message.clone(), retry_after_seconds: None }, StopReason::Api),
            (Failure::AgentFailed { message }, StopReason::Other),
            (Failure::AgentFault { fault: AgentFault::KilledLauncher }, StopReason::Other),
        ];
        for (failure, cause) in table {
            assert_eq!(StopReason::from_word(failure.rule().word), cause);
            assert_eq!(cause.is_limit(), failure.rule().next == NextStep::Continue, "{failure}");
        }
    }
}
