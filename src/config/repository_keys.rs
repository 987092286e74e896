//! The keys of `.github/autobuild.yml`: the only place where their names are written.

use crate::config::{
    repository::RepositorySettings,
    shapes,
    shapes::{
        SettingKey,
        Shape::{
            self, Agent, Amount, Approval, Command, Duration, Each, Hosts, Model, OneOf, Path, Paths, Percent, Table,
            Text, Titles, Whole,
        },
    },
};
use serde_json::{Value as Json, json};

/// The largest number of a setting that counts something.
const MOST: i64 = 0xFFFF_FFFF;

/// The most characters of a label's name, as on GitHub.
pub(crate) const LONGEST_LABEL: usize = 50;

macro_rules! keys {
    ($($name:literal: $shape:expr, $about:literal;)*) => { [$(SettingKey { name: $name, shape: $shape, about: $about }),*] };
}

/// Every key of the file.
pub(crate) static KEYS: &[SettingKey] = &keys! {
    "label": Text(LONGEST_LABEL), "The label that starts a Feature.";
    "plan_approval": Approval, "When a plan waits for approval: never, always, or from this complexity (1 to 10).";
    "max_turns": Whole(MOST), "Turns of a task before it is blocked; 0 means the server's limit.";
    "max_tasks": Whole(MOST), "Tasks that a plan may have; 0 means the server's limit.";
    "max_parallel_tasks": Whole(MOST), "Tasks of a Feature that run at the same time; 0 means the server's limit.";
    "merge": OneOf(&["auto", "human"]),
        "Who merges an approved task into the integration branch: AutoBuild or a person.";
    "pre_loop": OneOf(&["auto", "always", "never"]),
        "Whether a task gets a design before its first turn. `auto` does this for the label `autobuild-task`.";
    "inquiries": OneOf(&["ask", "default"]),
        "Whether agents ask. Default: `ask` for authors with write access.";
    "mode": OneOf(&["tdd", "standard"]),
        "`tdd`: a test or check must fail on the old code and pass on the new. `standard`: this is only reported.";
    "checks": Table(CHECKS), "How much the Gates run to prove the tests.";
    "ci": OneOf(&["auto", "wait", "ask", "ignore"]), "Whether the repository's own CI may run what agents wrote, and must pass. `auto`: as `wait` if it gives the code nothing but the right to read, else as `ask`, which holds it until a person lets it run.";
    "records": OneOf(&["while_building", "keep", "none"]),
        "Plan and tasks under `.autobuild/` on the integration branch: removed before the final pull request, kept, or never written.";
    "waived": OneOf(&["success", "neutral"]),
        "Conclusion of the check on work that holds only because a person waived something. Rules let both pass.";
    "commits": OneOf(&["git", "github"]),
        "Who makes the commits: `git`, without a signature, or `github`, which signs them and shows them as verified.";
    "setup": Command, "Prepares a checkout for the tests, in one line. Detected if not set.";
    "test": Command, "Runs the tests, in one line. Detected if not set.";
    "tests": OneOf(&["required", "optional"]),
        "If there are tests and no command is found that runs them, a plan with a task that needs tests waits for a person: \
         `required`. `optional`: it starts.";
    "test_report": Path, "JUnit XML file that the test command writes, if its output does not name the tests.";
    "setup_timeout": Duration, "Longest run of set-up: seconds, or `20m`. The server cuts it to its own limit.";
    "test_timeout": Duration,
        "Longest run of the tests, and of any other command: seconds, or `30m`. The server cuts it to its own limit.";
    "titles": Titles,
        "Titles of pull requests and subjects of commits, with `{type}`, `{name}`, `{subject}`, `{id}` and `{issue}`.";
    "coverage": Table(COVERAGE), "How coverage is measured.";
    "agent": Each(AGENTS), "Name of an agent that the server offers, for all roles or by role. Default: the server's.";
    "model": Each(MODELS),
        "`fast`, `strong`, or a name that the server allows, for all roles or by role. Default: `fast` for the Player, else `strong`.";
    "agent_turns": Whole(MOST),
        "Model calls in one run of an agent, if its program counts them; 0 means the server's limit.";
    "timeouts": Each(TIMEOUTS), "Longest run of an agent, for all roles or by role: seconds, or `20m`.";
    "budget": Table(BUDGET), "What may be spent; 0 means the server's limit.";
    "protected_paths": Paths, "More paths that no Player may change.";
    "commands": Table(COMMANDS), "Who is obeyed.";
    "remarks": OneOf(&["write", "anyone"]),
        "Whose remarks on a task's pull request reach the Coach: those of people with write access, or of anyone.";
    "network": Table(NETWORK), "What commands and agents may reach.";
};

static CHECKS: &[SettingKey] = &keys! {
    "depth": OneOf(&["quick", "standard", "thorough"]),
        "Time for experiments: a fifth of the plain test run, as long, or ten times as long. At least 30 seconds.";
};

static COVERAGE: &[SettingKey] = &keys! {
    "command": Command, "Command that measures the coverage.";
    "file": Path, "File that the command writes: lcov, Cobertura or cargo-llvm-cov JSON.";
    "threshold": Percent, "Lowest coverage of the changed lines, in percent.";
};

static AGENTS: &[SettingKey] = &by_role(Agent);
static MODELS: &[SettingKey] = &by_role(Model);
static TIMEOUTS: &[SettingKey] = &by_role(Duration);

const fn by_role(shape: Shape) -> [SettingKey; 4] {
    keys! {
        "planner": shape, "The planner's.";
        "designer": shape, "The designer's.";
        "player": shape, "The Player's.";
        "coach": shape, "The Coach's.";
    }
}

static BUDGET: &[SettingKey] = &keys! {
    "usd_per_task": Amount, "US dollars for one task.";
    "usd_per_feature": Amount, "US dollars for one Feature.";
    "tokens_per_task": Whole(i64::MAX), "Tokens for one task.";
    "tokens_per_feature": Whole(i64::MAX), "Tokens for one Feature.";
    "hours_per_task": Amount, "Hours of agent time for one task.";
    "hours_per_feature": Amount, "Hours of agent time for one Feature.";
};

static COMMANDS: &[SettingKey] = &keys! {
    "permission": OneOf(&["write", "maintain", "admin"]), "Lowest permission of people who may use commands.";
};

static NETWORK: &[SettingKey] = &keys! {
    "allow": Hosts, "Hosts that commands and agents may reach by HTTPS, if the server allows them too.";
};

/// The JSON Schema of `.github/autobuild.yml`, for editors and for the page of settings.
pub fn json_schema() -> Json {
    let mut schema = shapes::schema(&Table(KEYS));
    let usual = json!(RepositorySettings::default());
    add_defaults(&mut schema, &usual);
    if let Some(object) = schema.as_object_mut() {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".to_owned(), json!("AutoBuild settings of a repository"));
    }
    schema
}

/// Adds each key's default to the schema, if the default is a single value.
fn add_defaults(schema: &mut Json, usual: &Json) {
    let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) else {
        return;
    };
    for (name, property) in properties {
        let Some(usual) = usual.get(name) else {
            continue;
        };
        // The complexity from which plans wait is written as a plain number.
        let written = usual.get("from").unwrap_or(usual);
        let several = written.as_object().is_some_and(|values| values.values().any(Json::is_null));
        if property.get("properties").is_some() {
            add_defaults(property, usual);
        } else if let Some(property) = property.as_object_mut().filter(|_| !written.is_null() && !several) {
            property.insert("default".to_owned(), written.clone());
        }
    }
}
