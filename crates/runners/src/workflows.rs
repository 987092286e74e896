//! Finds the GitHub Actions workflows that start when a branch is pushed or a pull request is opened.

use crate::shell;
use domain::ci::{CheckOrigin, PullCheck};
use serde_json::Value;
use std::collections::BTreeMap;

const FOLDER: &str = ".github/workflows/";

/// The events that AutoBuild's branches and pull requests cause.
const CAUSED: [&str; 3] = ["push", "pull_request", "pull_request_target"];

pub fn is_workflow(path: &str) -> bool {
    let name = path.strip_prefix(FOLDER).unwrap_or_default();
    !name.contains('/') && (name.ends_with(".yml") || name.ends_with(".yaml"))
}

/// Returns the events by which AutoBuild's branches and pull requests start a workflow; empty if it cannot be parsed.
pub fn started_by(workflow: &str) -> Vec<String> {
    let Ok(workflow) = serde_saphyr::from_str::<Value>(workflow) else {
        return Vec::new();
    };
    // Older YAML readers parse the key `on` as a boolean.
    let on = workflow.get("on").or_else(|| workflow.get("true"));
    let named: Vec<&str> = match on {
        Some(Value::String(event)) => vec![event],
        Some(Value::Array(events)) => events.iter().filter_map(Value::as_str).collect(),
        Some(Value::Object(events)) => events
            .iter()
            .filter(|(event, filter)| event.as_str() != "push" || is_for_branches(filter))
            .map(|(event, _)| event.as_str())
            .collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => Vec::new(),
    };
    let caused = named.into_iter().filter(|event| CAUSED.contains(event));
    caused.map(str::to_owned).collect()
}

/// `true` if the `push` filter includes AutoBuild's branches: it is not only for tags, nor for a list of other
/// branches.
fn is_for_branches(filter: &Value) -> bool {
    match filter.get("branches").and_then(Value::as_array) {
        Some(branches) => branches
            .iter()
            .filter_map(Value::as_str)
            .any(|branch| branch.starts_with("**") || branch.starts_with("autobuild")),
        None => filter.get("tags").is_none() || filter.get("branches-ignore").is_some(),
    }
}

/// The changes of a pull request that may bring other code, as GitHub names them.
const OF_CODE: [&str; 5] = ["opened", "synchronize", "reopened", "ready_for_review", "closed"];

/// The jobs of workflows by the names of their checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jobs {
    all: BTreeMap<String, CheckOrigin>,
}

impl Jobs {
    /// Adds the jobs of a workflow. One that cannot be parsed adds none.
    pub fn add(&mut self, workflow: &str) {
        let workflow: Value = serde_saphyr::from_str(workflow).unwrap_or_default();
        let starts_without_push = starts_without_push(&workflow);
        let jobs = workflow.get("jobs").and_then(Value::as_object);
        for (id, job) in jobs.into_iter().flatten() {
            let name = job.get("name").and_then(Value::as_str).unwrap_or(id).to_owned();
            let origin = match job.get("steps").and_then(Value::as_array) {
                Some(steps) if !steps.iter().any(may_check_out) => CheckOrigin::PullJob(PullCheck::WithoutCode),
                Some(steps) if starts_without_push && !steps.iter().any(|step| step.get("run").is_some()) => {
                    CheckOrigin::PullJob(PullCheck::StartsWithoutPush)
                }
                Some(_) | None => CheckOrigin::CodeJob,
            };
            // If several jobs have one name, one with the code counts.
            let known = self.all.entry(name).or_insert(origin);
            if origin == CheckOrigin::CodeJob {
                *known = origin;
            }
        }
    }

    /// Returns the kind of job that a check belongs to; `None` if no workflow has it.
    pub fn origin(&self, check: &str) -> Option<CheckOrigin> {
        // A matrix adds its values in brackets, and a workflow that another one calls adds its job after a slash.
        let plain = |name: &str| name.rsplit_once(" (").map_or(name.to_owned(), |(name, _)| name.to_owned());
        let caller = check.split_once(" / ").map_or(check, |(caller, _)| caller);
        let names = [check.to_owned(), plain(check), caller.to_owned(), plain(caller)];
        names.iter().find_map(|name| self.all.get(name)).copied()
    }
}

/// `true` if a workflow starts when only the title or labels of a pull request change, and not on a push.
fn starts_without_push(workflow: &Value) -> bool {
    let Some(Value::Object(events)) = workflow.get("on").or_else(|| workflow.get("true")) else {
        return false;
    };
    let is_of_pull = |(event, filter): (&String, &Value)| match event.as_str() {
        "pull_request_review" | "issue_comment" => true,
        "pull_request" | "pull_request_target" => {
            let types = filter.get("types").and_then(Value::as_array);
            let mut types = types.into_iter().flatten().filter_map(Value::as_str);
            types.any(|name| !OF_CODE.contains(&name))
        }
        _ => false,
    };
    !events.contains_key("push") && events.iter().any(is_of_pull)
}

/// `true` if a step checks out the code, or may: it calls Git, or an action or a command with that word in its name.
fn may_check_out(step: &Value) -> bool {
    let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default();
    let (action, line) = (text("uses"), text("run"));
    let calls_git = shell::programs(line).iter().any(|program| program == "git");
    action.contains("checkout") || line.contains("checkout") || calls_git
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_without_a_checkout_judges_the_pull_request() {
        let mut jobs = Jobs::default();
        jobs.add(
            "jobs:\n  title:\n    name: PR title\n    steps:\n      - uses: amannn/action-semantic-pull-request@v5\n  \
             labels:\n    steps: [{run: 'gh pr view --json labels | grep -q ok'}]\n  \
             test:\n    steps: [{uses: actions/checkout@v4}, {run: make test}]\n  \
             clone:\n    steps: [{run: \"git clone $URL .\\nmake\"}]\n  shared:\n    uses: ./.github/workflows/x.yml\n",
        );
        jobs.add("[");
        jobs.add(
            "on: {pull_request: {types: [opened, edited, labeled]}}\njobs:\n  \
             size: {steps: [{uses: actions/checkout@v4}, {uses: x/size@v1}]}\n  \
             e2e: {steps: [{uses: actions/checkout@v4}, {run: make e2e}]}\n",
        );
        jobs.add("on: {pull_request: {types: [opened, closed]}, push: {}}\njobs: {lint: {steps: [{uses: actions/checkout@v4}]}}");
        let without = Some(CheckOrigin::PullJob(PullCheck::WithoutCode));
        let table = [
            ("PR title", without),
            ("PR title (a, b)", without),
            ("labels", without),
            ("size", Some(CheckOrigin::PullJob(PullCheck::StartsWithoutPush))),
            ("e2e", Some(CheckOrigin::CodeJob)),
            ("lint", Some(CheckOrigin::CodeJob)),
            ("test", Some(CheckOrigin::CodeJob)),
            ("clone", Some(CheckOrigin::CodeJob)),
            ("shared", Some(CheckOrigin::CodeJob)),
            ("shared / build (a)", Some(CheckOrigin::CodeJob)),
            ("unknown", None),
        ];
        for (check, expected) in table {
            assert_eq!(jobs.origin(check), expected, "{check}");
        }
        jobs.add("jobs: {labels: {steps: [{uses: actions/checkout@v4}]}}");
        assert_eq!(jobs.origin("labels"), Some(CheckOrigin::CodeJob), "another job of that name has the code");
    }

    #[test]
    fn events_of_branches_and_pull_requests_are_found() {
        for (text, events) in [
            ("on: push\njobs: {}", &["push"][..]),
            ("on: [push, pull_request, workflow_dispatch]", &["push", "pull_request"]),
            ("on:\n  push:\n  pull_request:\n    branches: [main]\n", &["pull_request", "push"]),
            ("on:\n  push:\n    branches: [main]\n  pull_request_target: {}\n", &["pull_request_target"]),
            ("on:\n  push:\n    branches: ['**']\n", &["push"]),
            ("on:\n  push:\n    tags: ['v*']\n", &[]),
            ("on: {schedule: [{cron: '0 0 * * *'}]}", &[]),
            ("on: 3", &[]),
            ("[", &[]),
        ] {
            assert_eq!(started_by(text), events, "{text}");
        }
    }

    #[test]
    fn only_files_of_the_folder_itself_are_workflows() {
        assert!(is_workflow(".github/workflows/ci.yml") && is_workflow(".github/workflows/ci.yaml"));
        assert!(
            !is_workflow(".github/workflows/a/ci.yml")
                && !is_workflow("ci.yml")
                && !is_workflow(".github/workflows/x.md")
        );
    }
}
