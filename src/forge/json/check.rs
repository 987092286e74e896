//! Check runs and statuses.

use super::time;
use super::time_or_null;
use crate::forge::state::CheckRun;
use crate::forge::state::Repo;
use crate::forge::state::State;
use crate::forge::state::Status;
use serde_json::Value;
use serde_json::json;

pub(in crate::forge) fn check_run(state: &State, repo: &Repo, run: &CheckRun) -> Value {
    let url = format!("{}/check-runs/{}", state.repo_api(repo), run.id);
    let page = format!("{}/runs/{}", state.repo_page(repo), run.id);
    let pulls: Vec<Value> = repo
        .issues
        .values()
        .filter_map(|issue| issue.pull.as_ref().map(|pull| (issue, pull)))
        .filter(|(issue, pull)| issue.open && pull.head_sha == run.head_sha)
        .map(|(issue, pull)| {
            let short = json!({"id": repo.id, "url": state.repo_api(repo), "name": repo.name});
            json!({
                "url": format!("{}/pulls/{}", state.repo_api(repo), issue.number),
                "id": pull.id,
                "number": issue.number,
                "head": {"ref": pull.head, "sha": pull.head_sha, "repo": short},
                "base": {"ref": pull.base, "sha": pull.base_sha, "repo": short},
            })
        })
        .collect();
    json!({
        "id": run.id,
        "head_sha": run.head_sha,
        "node_id": format!("CR_{}", run.id),
        "external_id": run.external_id,
        "url": url,
        "html_url": page,
        "details_url": run.details_url.clone().unwrap_or(page),
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": time(run.started_at),
        "completed_at": time_or_null(run.completed_at),
        "output": {
            "title": run.title,
            "summary": run.summary,
            "text": run.text,
            "annotations_count": run.annotations.len(),
            "annotations_url": format!("{url}/annotations"),
        },
        "name": run.name,
        "check_suite": {"id": run.app},
        "app": state.apps.get(&run.app).map(|app| state.app_json(app)),
        "pull_requests": pulls,
    })
}

pub(in crate::forge) fn status(state: &State, repo: &Repo, one: &Status) -> Value {
    json!({
        "url": format!("{}/statuses/{}", state.repo_api(repo), one.sha),
        "avatar_url": format!("{}/avatars/{}", state.base, one.creator),
        "id": one.id,
        "node_id": format!("SC_{}", one.id),
        "state": one.state,
        "description": one.description,
        "target_url": one.target_url,
        "context": one.context,
        "created_at": time(one.created_at),
        "updated_at": time(one.created_at),
        "creator": state.user_json(one.creator),
    })
}
