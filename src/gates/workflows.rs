//! Finds the GitHub Actions workflows that start when a branch is pushed or a pull request is opened.

use serde_json::Value;

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

#[cfg(test)]
mod tests {
    use super::*;

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
