//! The keys of `.github/autobuild.yml`: the one place where their names stand.

use crate::config::{
    shapes,
    shapes::{Key, Shape},
};
use serde_json::{Value as Json, json};

const fn now(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { name, about, shape }
}

/// Every key of the file.
pub(crate) static KEYS: &[Key] = &[
    now("label", Shape::Text(50), "The label that starts a Feature."),
    now(
        "plan_approval",
        Shape::Approval,
        "When a plan waits for a person: never, always, or from this complexity on.",
    ),
    now(
        "max_turns",
        Shape::Whole(1, 50),
        "Turns of a Task before it is blocked.",
    ),
    now("max_tasks", Shape::Whole(1, 999), "Tasks that a plan may have."),
    now(
        "max_parallel_tasks",
        Shape::Whole(1, 50),
        "Tasks of a Feature that run at the same time.",
    ),
    now(
        "merge",
        Shape::OneOf(&["auto", "human"]),
        "Who merges an approved Task into the integration branch.",
    ),
    now(
        "pre_loop",
        Shape::OneOf(&["auto", "always", "never"]),
        "Whether a Task is designed before its first turn.",
    ),
    now(
        "mode",
        Shape::OneOf(&["tdd", "standard"]),
        "Whether new tests must fail on the old code.",
    ),
    now(
        "checks",
        Shape::Table(CHECKS),
        "How much the Gates run to prove the tests.",
    ),
    now(
        "ci",
        Shape::OneOf(&["wait", "ignore"]),
        "Whether the repository's own CI is evidence.",
    ),
    now(
        "records",
        Shape::OneOf(&["while_building", "keep", "none"]),
        "Whether plan and tasks are written down on the integration branch, and for how long.",
    ),
    now("setup", Shape::Command, "Prepares a checkout for the tests."),
    now("test", Shape::Command, "Runs the tests."),
    now(
        "test_report",
        Shape::Path,
        "The JUnit XML file that the test command writes, for results by name.",
    ),
    now("coverage", Shape::Table(COVERAGE), "How coverage is measured."),
    now(
        "agent",
        Shape::Each(AGENTS),
        "The agent, of those that the server offers, for all roles or per role.",
    ),
    now(
        "model",
        Shape::Each(MODELS),
        "The model for all roles or per role: fast, strong, or a name that the server allows.",
    ),
    now(
        "agent_turns",
        Shape::Whole(1, 1_000),
        "Calls of its model that an agent may make in one run.",
    ),
    now(
        "timeouts",
        Shape::Each(TIMEOUTS),
        "The longest run of an agent, for all roles or per role.",
    ),
    now("budget", Shape::Table(BUDGET), "What may be spent; 0 means no limit."),
    now(
        "protected_paths",
        Shape::Paths,
        "More paths that no Player may change; they add to those that are always protected.",
    ),
    now("commands", Shape::Table(COMMANDS), "Who is obeyed."),
    now("network", Shape::Table(NETWORK), "What commands and agents may reach."),
];

static CHECKS: &[Key] = &[now(
    "depth",
    Shape::OneOf(&["quick", "standard", "thorough"]),
    "How much time experiments with changed code may take together: a fifth of the plain test run, all of it, or ten times it; \
     never less than 20 seconds.",
)];

static COVERAGE: &[Key] = &[
    now("command", Shape::Command, "Measures the coverage."),
    now("file", Shape::Path, "The coverage file that the command writes."),
    now(
        "threshold",
        Shape::Number(0.0, 100.0),
        "The least share of changed lines, in percent.",
    ),
];

static AGENTS: &[Key] = &by_role(Shape::Agent);
static MODELS: &[Key] = &by_role(Shape::Model);
static TIMEOUTS: &[Key] = &by_role(Shape::Duration);

const fn by_role(shape: Shape) -> [Key; 4] {
    [
        now("planner", shape, "The planner's."),
        now("designer", shape, "The designer's."),
        now("player", shape, "The Player's."),
        now("coach", shape, "The Coach's."),
    ]
}

static BUDGET: &[Key] = &[
    now(
        "usd_per_task",
        Shape::Number(0.0, 100_000.0),
        "US dollars for one Task.",
    ),
    now(
        "usd_per_feature",
        Shape::Number(0.0, 100_000.0),
        "US dollars for one Feature.",
    ),
    now(
        "tokens_per_task",
        Shape::Whole(0, 1_000_000_000_000),
        "Tokens for one Task.",
    ),
    now(
        "tokens_per_feature",
        Shape::Whole(0, 1_000_000_000_000),
        "Tokens for one Feature.",
    ),
    now(
        "hours_per_task",
        Shape::Number(0.0, 10_000.0),
        "Hours that agents run for one Task.",
    ),
    now(
        "hours_per_feature",
        Shape::Number(0.0, 10_000.0),
        "Hours that agents run for one Feature.",
    ),
];

static COMMANDS: &[Key] = &[now(
    "permission",
    Shape::OneOf(&["write", "maintain", "admin"]),
    "The least permission of people whose commands are obeyed.",
)];

static NETWORK: &[Key] = &[now(
    "allow",
    Shape::Hosts,
    "Hosts that commands and agents may reach by https, as far as the server allows.",
)];

/// The JSON Schema of `.github/autobuild.yml`, for editors.
pub fn json_schema() -> Json {
    let mut schema = shapes::schema(&Shape::Table(KEYS));
    if let Some(object) = schema.as_object_mut() {
        object.insert(
            "$schema".to_owned(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
        object.insert("title".to_owned(), json!("AutoBuild settings of a repository"));
    }
    schema
}
