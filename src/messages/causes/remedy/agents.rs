//! The actions for a person after an agent gave no usable result.

use crate::messages::{
    causes::{
        reasons::other_failures,
        remedy::{code, faults, plain},
    },
    form::words::count,
};
use domain::blocked::{Failure, LoginProblem, SpentScript};

const COMPARE_VERSIONS: &str =
    "On the machine that runs AutoBuild, compare the agent program's version with the one that is supported";
const COMPARE_SETTINGS: &str = "On the machine that runs AutoBuild, compare the agent program's version, its model and a gateway in between: the log \
     has what the API said";
const BY_HAND: &str = "The agent printed nothing: on the machine that runs AutoBuild, start its program by hand, such as with \
     `claude --version`, and see what is missing";
const READ_OUTPUT: &str = "Read what the agent printed last, and fix its set-up, its account or its quota";
const HIGHER_LIMIT: &str = "Get a higher limit at the model's provider, or run fewer tasks at once";
const WAIT: &str = "Wait until the model's provider is available again, or have a fallback model set";
const RENEW_KEY: &str = "Renew the key or the credit of the model's account";
const OTHER_WORDS: &str = "Read what the model refuses, and say the task differently or do that part by hand";
const SHORTER: &str = "Split the task, or shorten the issue and the repository's instruction files";
const WRITES_MORE: &str = "Split the task, or set a model that may write more (`model` in `.github/autobuild.yml`)";
const MORE_MONEY: &str = "Raise `budget` in `.github/autobuild.yml` on the default branch, or split the task";
const NO_JSON: &str = "its answer must be a JSON object, and it printed none, also when asked \
     again. Mend the program, or try another agent or model (`model` in `.github/autobuild.yml` on the default branch)";
const SCHEMA: &str = "Compare the agent's answer with its JSON Schema, which each run gets in the file that `AUTOBUILD_SCHEMA_FILE` names \
     and AutoBuild's `docs/agents.md` shows. It did not fit when it was asked for again either";

/// For an agent's failure, returns one action and then how to continue the work. For other failures, returns their
/// actions.
pub(crate) fn actions(failure: &Failure, printed: &str) -> Vec<String> {
    let first = match failure {
        Failure::NoAgentProgram { program } => {
            format!("Install {} on the machine that runs AutoBuild, or set another agent", code(program))
        }
        Failure::AgentFailed { .. } | Failure::AgentFault { .. } if printed.trim().is_empty() => BY_HAND.to_owned(),
        Failure::AgentFailed { .. } | Failure::AgentFault { .. } => READ_OUTPUT.to_owned(),
        Failure::TimedOut { seconds } => format!(
            "Give the agent more than {} (`timeouts` in `.github/autobuild.yml`), or split the task",
            count(*seconds, "second")
        ),
        Failure::WentSilent { seconds } => format!(
            "Find out why the agent printed nothing for {}: it may wait for input or for its model",
            count(*seconds, "second")
        ),
        Failure::TooMuchOutput { .. } => "Make the agent print less".to_owned(),
        Failure::TooOld { program, least, .. } => {
            let (program, least) = (code(program), plain(least));
            format!("On the machine that runs AutoBuild, bring {program} to version {least} or newer")
        }
        Failure::NotAsAsked { .. } => COMPARE_VERSIONS.to_owned(),
        Failure::RateLimited { .. } => HIGHER_LIMIT.to_owned(),
        Failure::Unavailable { .. } => WAIT.to_owned(),
        Failure::NotAuthorised { .. } => RENEW_KEY.to_owned(),
        Failure::NotLoggedIn { program, log_in, key, problem } => log_in_again(*problem, program, log_in, key),
        Failure::NoSuchModel { model, .. } => format!(
            "Set a model other than {} (`model` in `.github/autobuild.yml`), or have it offered there",
            code(model)
        ),
        Failure::ModelRefused { .. } => OTHER_WORDS.to_owned(),
        Failure::RequestRefused { .. } => COMPARE_SETTINGS.to_owned(),
        Failure::PromptTooLong => SHORTER.to_owned(),
        Failure::OutputLimit => WRITES_MORE.to_owned(),
        Failure::OutOfAgentTurns { turns } => format!(
            "Allow the agent more than {} (`agent_turns` in `.github/autobuild.yml`), or split the task",
            count(*turns, "call")
        ),
        Failure::OutOfMoney => MORE_MONEY.to_owned(),
        Failure::ScriptSpent(spent) => another_step(spent),
        Failure::ReportMissing => format!("Read what the agent printed: {NO_JSON}"),
        Failure::DecisionMissing => format!("Read what the Coach printed: {NO_JSON}"),
        Failure::ReportInvalid { .. } | Failure::DecisionInvalid { .. } => SCHEMA.to_owned(),
        other_failures!() => return faults::actions(failure),
    };
    vec![first, "Then resume: these failures used up no turn".to_owned()]
}

fn log_in_again(problem: LoginProblem, program: &str, log_in: &str, key: &str) -> String {
    let key = code(key);
    match problem {
        LoginProblem::Missing => format!("On the machine that runs AutoBuild, {log_in}, or set {key}"),
        LoginProblem::Expired => format!(
            "On the machine that runs AutoBuild, start {} once, which renews its log-in, or set {key}",
            code(program)
        ),
        LoginProblem::NotLendable => format!("On the machine that runs AutoBuild, set {key}"),
    }
}

fn another_step(spent: &SpentScript) -> String {
    let script = code(&spent.script.to_string_lossy());
    let add = format!("Add a step for the {} to the end of {script}", spent.role);
    match spent.fitting {
        0 => add,
        _ => format!(
            "{add}, or play its steps from the first again: copy it, and name the copy as the agent, `scripted:<copy>`"
        ),
    }
}
