//! Check runs, their suites, and statuses.

use crate::{
    json::fields::{extend, time},
    state::{CheckRun, CheckSuite, Pull, Repo, State, Status},
};
use git::bare::CommitRecord;
use serde_json::{Value, json};

pub(crate) fn check_run(state: &State, repo: &Repo, run: &CheckRun) -> Value {
    let url = format!("{}/check-runs/{}", state.repo_api(repo), run.id);
    let page = format!("{}/runs/{}", state.repo_page(repo), run.id);
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
        "completed_at": run.completed_at.map(time),
        "output": {
            "title": run.title,
            "summary": run.summary,
            "text": run.text,
            "annotations_count": run.annotations.len(),
            "annotations_url": format!("{url}/annotations"),
        },
        "name": run.name,
        "check_suite": {"id": run.suite},
        "app": state.apps.get(&run.app).map(|app| state.app_json(app)),
        "pull_requests": pulls(state, repo, |pull| pull.head_sha == run.head_sha),
    })
}

fn pulls(state: &State, repo: &Repo, is_shown: impl Fn(&Pull) -> bool) -> Vec<Value> {
    let shown = repo.open_pulls().filter(|(_, pull)| is_shown(pull));
    shown
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
        .collect()
}

/// Returns a suite as the delivery of one of its runs shows it.
pub(crate) fn simple_check_suite(state: &State, repo: &Repo, suite: &CheckSuite) -> Value {
    json!({
        "id": suite.id,
        "node_id": format!("CS_{}", suite.id),
        "head_branch": suite.head_branch,
        "head_sha": suite.head_sha,
        "status": repo.suite_status(suite.id),
        "conclusion": repo.suite_conclusion(suite.id),
        "url": format!("{}/check-suites/{}", state.repo_api(repo), suite.id),
        "before": suite.before,
        "after": suite.head_sha,
        // Unlike a run, a suite goes by the branch, and has none if the branch is a fork's.
        "pull_requests": pulls(state, repo, |pull| suite.head_branch.as_ref() == Some(&pull.head)),
        "app": state.apps.get(&suite.app).map(|app| state.app_json(app)),
        "created_at": time(suite.created_at),
        "updated_at": time(suite.updated_at),
    })
}

pub(crate) fn check_suite(state: &State, repo: &Repo, suite: &CheckSuite) -> Value {
    let mut value = simple_check_suite(state, repo, suite);
    let nobody = json!({"name": "", "email": ""});
    let unknown = json!({
        "id": suite.head_sha, "tree_id": "", "message": "", "timestamp": time(suite.created_at),
        "author": nobody, "committer": nobody,
    });
    let more = json!({
        "rerequestable": true,
        "runs_rerequestable": true,
        "latest_check_runs_count": repo.runs_of(suite.id).count(),
        "check_runs_url": format!("{}/check-suites/{}/check-runs", state.repo_api(repo), suite.id),
        "head_commit": repo.head_commits.get(&suite.head_sha).cloned().unwrap_or(unknown),
    });
    extend(&mut value, more);
    value
}

/// Returns a commit as suites and push events show it.
pub(crate) fn head_commit(commit: &CommitRecord) -> Value {
    let at = chrono::DateTime::from_timestamp(commit.committed, 0).map(time);
    json!({
        "id": commit.sha,
        "tree_id": commit.tree,
        "message": commit.message,
        "timestamp": at,
        "author": {"name": commit.author_name, "email": commit.author_email},
        "committer": {"name": commit.committer_name, "email": commit.committer_email},
    })
}

pub(crate) fn status(state: &State, repo: &Repo, one: &Status) -> Value {
    json!({
        "url": format!("{}/statuses/{}", state.repo_api(repo), one.sha),
        "avatar_url": format!("{}/avatars/{}", state.base, one.creator),
        "id": one.id,
        "node_id": format!("SC_{}", one.id),
        "state": one.state,
        "description": one.description,
        "target_url": null,
        "context": one.context,
        "created_at": time(one.created_at),
        "updated_at": time(one.created_at),
        "creator": state.user_json(one.creator),
    })
}
