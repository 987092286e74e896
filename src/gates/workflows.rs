//! Finds the GitHub Actions workflows that start when a branch is pushed or a pull request is opened.

use crate::gates::shell;
use serde_json::Value;
use std::collections::BTreeSet;

/// The folder of workflows.
const FOLDER: &str = ".github/workflows/";

/// The events that AutoBuild's branches and pull requests cause.
const CAUSED: [&str; 3] = ["push", "pull_request", "pull_request_target"];

/// `true` if a path is a workflow.
#[must_use]
pub fn is_workflow(path: &str) -> bool {
    let name = path.strip_prefix(FOLDER).unwrap_or_default();
    !name.contains('/') && (name.ends_with(".yml") || name.ends_with(".yaml"))
}

/// Returns the events by which AutoBuild's branches and pull requests start a workflow; empty if it cannot be parsed.
#[must_use]
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

/// `true` if the `push` filter includes AutoBuild's branches: it is not for tags alone, nor for a list of other
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

/// The jobs of workflows by the names of their checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jobs {
    /// Those that check out the code, or may.
    with_code: BTreeSet<String>,
    /// Those in which no step does.
    without_code: BTreeSet<String>,
}

impl Jobs {
    /// Adds the jobs of a workflow. One that cannot be parsed adds none.
    pub fn add(&mut self, workflow: &str) {
        let workflow: Value = serde_saphyr::from_str(workflow).unwrap_or_default();
        let jobs = workflow.get("jobs").and_then(Value::as_object);
        for (id, job) in jobs.into_iter().flatten() {
            let name = job.get("name").and_then(Value::as_str).unwrap_or(id).to_owned();
            match job.get("steps").and_then(Value::as_array) {
                Some(steps) if !steps.iter().any(may_check_out) => self.without_code.insert(name),
                Some(_) | None => self.with_code.insert(name),
            };
        }
    }

    /// `true` if a check is that of a job that never has the code, so that it judges the pull request alone.
    #[must_use]
    pub fn judges_the_pull(&self, check: &str) -> bool {
        // A matrix adds its values in brackets.
        let name = check.rsplit_once(" (").map_or(check, |(name, _)| name);
        let is_in = |names: &BTreeSet<String>| names.contains(check) || names.contains(name);
        is_in(&self.without_code) && !is_in(&self.with_code)
    }
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
        let table = [
            ("PR title", true),
            ("PR title (a, b)", true),
            ("labels", true),
            ("test", false),
            ("clone", false),
            ("shared", false),
            ("unknown", false),
        ];
        for (check, expected) in table {
            assert_eq!(jobs.judges_the_pull(check), expected, "{check}");
        }
        jobs.add("jobs: {labels: {steps: [{uses: actions/checkout@v4}]}}");
        assert!(!jobs.judges_the_pull("labels"), "another job of that name has the code");
    }

    #[test]
    fn events_of_branches_and_pull_requests_are_found() {
        for (text, events) in [
            ("on: push\njobs: {}", &["push"][..]),
            ("on: [push, pull_request, workflow_dispatch]", &["push", "pull_request"]),
            (
                "on:\n  push:\n  pull_request:\n    branches: [main]\n",
                &["pull_request", "push"],
            ),
            (
                "on:\n  push:\n    branches: [main]\n  pull_request_target: {}\n",
                &["pull_request_target"],
            ),
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
