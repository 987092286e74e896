//! The actions for a person after an agent gave no usable result.

use crate::messages::{
    remedy::{code, plain},
    words::count,
};
use domain::blocked::{AgentFailure, SpentScript};

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
const MORE_MONEY: &str = "Raise `budget` in `.github/autobuild.yml` on the default branch, or split the task";
const NO_JSON: &str = "its answer must be a JSON object, and it printed none, also when asked \
     again. Mend the program, or try another agent or model (`model` in `.github/autobuild.yml` on the default branch)";
pub(in crate::messages) const SCHEMA: &str = "Compare the agent's answer with its JSON Schema, which each run gets in the file that `AUTOBUILD_SCHEMA_FILE` names \
     and AutoBuild's `docs/agents.md` shows. It did not fit when it was asked for again either";

/// Returns one action for the kind of failure, then how the work goes on.
pub(super) fn actions(failure: &AgentFailure, printed: &str) -> Vec<String> {
    let first = match failure {
        AgentFailure::NotFound { program } => format!(
            "Install {} on the machine that runs AutoBuild, or set another agent",
            code(program)
        ),
        AgentFailure::Failed { .. } if printed.trim().is_empty() => BY_HAND.to_owned(),
        AgentFailure::Failed { .. } => READ_OUTPUT.to_owned(),
        AgentFailure::TimedOut { seconds } => format!(
            "Give the agent more than {} (`timeouts` in `.github/autobuild.yml`), or split the task",
            count(*seconds, "second")
        ),
        AgentFailure::WentSilent { seconds } => format!(
            "Find out why the agent printed nothing for {}: it may wait for input or for its model",
            count(*seconds, "second")
        ),
        AgentFailure::TooMuchOutput { .. } => "Make the agent print less".to_owned(),
        AgentFailure::TooOld { program, least, .. } => format!(
            "On the machine that runs AutoBuild, bring {} to version {} or newer",
            code(program),
            plain(least)
        ),
        AgentFailure::NotAsAsked { .. } => COMPARE_VERSIONS.to_owned(),
        AgentFailure::RateLimited { .. } => HIGHER_LIMIT.to_owned(),
        AgentFailure::Unavailable { .. } => WAIT.to_owned(),
        AgentFailure::NotAuthorised { .. } => RENEW_KEY.to_owned(),
        AgentFailure::NotLoggedIn { log_in, key, .. } => {
            format!("On the machine that runs AutoBuild, {log_in}, or set {}", code(key))
        }
        AgentFailure::NoSuchModel { model, .. } => format!(
            "Set a model other than {} (`model` in `.github/autobuild.yml`), or have it offered there",
            code(model)
        ),
        AgentFailure::ModelRefused { .. } => OTHER_WORDS.to_owned(),
        AgentFailure::RequestRefused { .. } => COMPARE_SETTINGS.to_owned(),
        AgentFailure::PromptTooLong => SHORTER.to_owned(),
        AgentFailure::OutputLimit => {
            "Split the task, or set a model that may write more (`model` in `.github/autobuild.yml`)".to_owned()
        }
        AgentFailure::OutOfAgentTurns { turns } => format!(
            "Allow the agent more than {} (`agent_turns` in `.github/autobuild.yml`), or split the task",
            count(*turns, "call")
        ),
        AgentFailure::OutOfMoney => MORE_MONEY.to_owned(),
        AgentFailure::ScriptSpent(spent) => another_step(spent),
        AgentFailure::ReportMissing => format!("Read what the agent printed: {NO_JSON}"),
        AgentFailure::DecisionMissing => format!("Read what the Coach printed: {NO_JSON}"),
        AgentFailure::ReportInvalid { .. } | AgentFailure::DecisionInvalid { .. } => SCHEMA.to_owned(),
    };
    vec![first, "Then resume: these failures used up no turn".to_owned()]
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
