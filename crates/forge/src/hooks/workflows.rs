//! Which events GitHub Actions hears of.

use crate::state::{State, WorkflowEvent};
use serde_json::Value;

const NOTHING: &str = "0000000000000000000000000000000000000000";

/// The actions of a pull request that start workflows without `types:`.
const OF_PULLS: [&str; 3] = ["opened", "synchronize", "reopened"];

impl State {
    /// Remembers an event that may start workflows.
    pub(super) fn workflows_hear(&mut self, repo: u64, (event, action): (&str, Option<&str>), fields: &Value) {
        let Some(known) = self.repos.get(&repo) else { return };
        let text = |path: &str| {
            fields
                .pointer(path)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let heard = |event: &str, base: Option<String>, sha: String, head: String, branch: String| WorkflowEvent {
            event: event.to_owned(),
            branch,
            base,
            sha,
            head,
        };
        let of_default = || known.branches.get(&known.default_branch).cloned().unwrap_or_default();
        let events = match (event, action) {
            ("push", _) if text("/after") != NOTHING => {
                let (head, branch) = (text("/after"), text("/ref").replace("refs/heads/", ""));
                let is_new = fields.get("created").and_then(Value::as_bool) == Some(true);
                let names = ["push", "create"].into_iter().filter(|name| *name == "push" || is_new);
                names
                    .map(|name| heard(name, None, head.clone(), head.clone(), branch.clone()))
                    .collect()
            }
            ("pull_request", Some(action)) if OF_PULLS.contains(&action) => {
                let (head, branch, base) = (
                    text("/pull_request/head/sha"),
                    text("/pull_request/head/ref"),
                    text("/pull_request/base/ref"),
                );
                let of_base = known.branches.get(&base).cloned().unwrap_or_default();
                vec![
                    heard(
                        "pull_request",
                        Some(base.clone()),
                        head.clone(),
                        head.clone(),
                        branch.clone(),
                    ),
                    heard("pull_request_target", Some(base), of_base, head, branch),
                ]
            }
            ("pull_request_review" | "pull_request_review_comment", Some("submitted" | "created")) => {
                let head = text("/pull_request/head/sha");
                vec![heard(event, None, head.clone(), head, text("/pull_request/head/ref"))]
            }
            ("issue_comment", Some("created")) | ("check_run", Some("completed")) | ("status", _) => {
                vec![heard(
                    event,
                    None,
                    of_default(),
                    text("/check_run/head_sha"),
                    known.default_branch.clone(),
                )]
            }
            _ => Vec::new(),
        };
        if let Some(known) = self.repos.get_mut(&repo) {
            known.workflow_events.extend(events);
        }
    }
}
