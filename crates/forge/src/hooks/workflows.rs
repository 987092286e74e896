//! Records the events that may start workflows of GitHub Actions.

use crate::state::{State, WorkflowEvent};
use serde_json::Value;

const NOTHING: &str = "0000000000000000000000000000000000000000";

/// The actions of a pull request that start workflows without `types:`.
const OF_PULLS: [&str; 3] = ["opened", "synchronize", "reopened"];

impl State {
    /// Remembers an event that may start workflows.
    pub(super) fn workflows_hear(&mut self, repo: u64, event: &str, action: Option<&str>, fields: &Value) {
        let Some(known) = self.repos.get_mut(&repo) else { return };
        let head_of = |branch: &str| known.branches.get(branch).cloned().unwrap_or_default();
        let events = match (event, action) {
            ("push", _) if text(fields, "/after") != NOTHING => of_push(fields),
            ("pull_request", Some(action)) if OF_PULLS.contains(&action) => {
                of_pull(fields, head_of(&known.default_branch))
            }
            ("pull_request_review" | "pull_request_review_comment", Some("submitted" | "created")) => {
                let head = text(fields, "/pull_request/head/sha");
                let branch = text(fields, "/pull_request/head/ref");
                vec![on_branch(event, head.clone(), head, branch)]
            }
            ("issue_comment", Some("created")) | ("check_run" | "check_suite", Some("completed")) | ("status", _) => {
                let default = known.default_branch.clone();
                let head = text(fields, &format!("/{event}/head_sha"));
                vec![on_branch(event, head_of(&default), head, default)]
            }
            _ => Vec::new(),
        };
        known.workflow_events.extend(events);
    }
}

fn text(fields: &Value, path: &str) -> String {
    let found = fields.pointer(path).and_then(Value::as_str);
    found.unwrap_or_default().to_owned()
}

/// Returns an event that is about no pull request. `sha` is the commit whose workflows start.
fn on_branch(event: &str, sha: String, head: String, branch: String) -> WorkflowEvent {
    WorkflowEvent { event: event.to_owned(), branch, base: None, sha, head }
}

fn of_push(fields: &Value) -> Vec<WorkflowEvent> {
    let (head, branch) = (text(fields, "/after"), text(fields, "/ref").replace("refs/heads/", ""));
    let is_new = fields.get("created").and_then(Value::as_bool) == Some(true);
    let names = ["push", "create"].into_iter().filter(|name| *name == "push" || is_new);
    names.map(|name| on_branch(name, head.clone(), head.clone(), branch.clone())).collect()
}

/// Returns the events of a pull request. Since 2025-12-08, `pull_request_target` runs on the default branch, whatever the
/// base is (`github.blog/changelog/2025-11-07-actions-pull_request_target-and-environment-branch-protections-changes`).
fn of_pull(fields: &Value, head_of_default: String) -> Vec<WorkflowEvent> {
    let [head, branch, base] =
        ["head/sha", "head/ref", "base/ref"].map(|of| text(fields, &format!("/pull_request/{of}")));
    let events = [("pull_request", head.clone()), ("pull_request_target", head_of_default)];
    let about = |(event, sha)| WorkflowEvent {
        base: Some(base.clone()),
        ..on_branch(event, sha, head.clone(), branch.clone())
    };
    events.map(about).into()
}
