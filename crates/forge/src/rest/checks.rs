//! Check runs and commit statuses.

use super::contents::resolve;
use crate::{
    acts::CheckRunChange,
    auth::Right,
    call::{Answer, Answered, RepoCall, Routed},
    json,
    refusal::OrNotFound,
    rest::of_repo::{OfRepo, number},
    state::{Role, Status},
};
use serde_json::{Value, json as object};
use std::collections::BTreeMap;

const READ: Right = Right::read(&["checks"]);
const WRITE: Right = Right::write(&["checks"], Role::Write);
const READ_STATUS: Right = Right::read(&["statuses"]);

pub(super) async fn answer(repo: &OfRepo<'_>, rest: &[&str]) -> Routed {
    let read = || repo.enter(READ);
    let write = || repo.enter(WRITE);
    Ok(Some(match (repo.method(), rest) {
        ("POST", ["check-runs"]) => make(&write()?).await?,
        ("GET", ["check-runs", id]) => show_check(&read()?, number(id)?)?,
        ("PATCH", ["check-runs", id]) => change(&write()?, number(id)?)?,
        ("GET", ["commits", sha, "check-runs"]) => list(&read()?, sha).await?,
        ("GET", ["commits", sha, "check-suites"]) => suites(&read()?, sha).await?,
        ("GET", ["commits", sha, "status"]) => combined(&repo.enter(READ_STATUS)?, sha).await?,
        _ => return Ok(None),
    }))
}

fn read_change(call: &RepoCall<'_>) -> CheckRunChange {
    CheckRunChange {
        name: call.text("name"),
        external_id: call.text("external_id"),
        details_url: call.text("details_url"),
        status: call.text("status"),
        conclusion: call.text("conclusion"),
        output: call.body.get("output").filter(|output| output.is_object()).cloned(),
        actions: call.body.get("actions").and_then(Value::as_array).cloned(),
    }
}

fn show_check(call: &RepoCall<'_>, id: u64) -> Answered {
    call.show(|state, repo| Ok(json::check_run(state, repo, repo.checks.get(&id).or_not_found()?)))
}

async fn make(call: &RepoCall<'_>) -> Answered {
    let sha = resolve(call, &call.text("head_sha").unwrap_or_default()).await?;
    call.site.know_commit(call.at.repo, &sha).await?;
    let id = call.change(|state| state.new_check(call.at, &sha, &read_change(call)))?;
    show_check(call, id).map(Answer::into_created)
}

fn change(call: &RepoCall<'_>, id: u64) -> Answered {
    call.change(|state| state.change_check(call.at, id, &read_change(call)))?;
    show_check(call, id)
}

/// Lists the runs on a commit: the newest of each name and suite, or all with `filter=all`.
async fn list(call: &RepoCall<'_>, name: &str) -> Answered {
    let sha = resolve(call, name).await?;
    let app: Option<u64> = call.asked_number("app_id");
    let named = |own: &str| call.query_value("check_name").is_none_or(|wanted| wanted == own);
    let rows = call.read(|state, repo| {
        let runs = repo.checks.values().filter(|run| run.head_sha == sha);
        let mut kept = BTreeMap::new();
        for run in runs.filter(|run| named(&run.name) && app.is_none_or(|id| id == run.app)) {
            let id = if call.query_value("filter") == Some("all") { run.id } else { 0 };
            kept.insert((run.suite, &run.name, id), run);
        }
        Ok(kept.into_values().map(|run| json::check_run(state, repo, run)).collect())
    })?;
    Ok(call.page_with_count("check_runs", rows, Value::Null))
}

async fn suites(call: &RepoCall<'_>, name: &str) -> Answered {
    let sha = resolve(call, name).await?;
    let rows = call.read(|state, repo| {
        let own = repo.suites.values().filter(|suite| suite.head_sha == sha);
        Ok(own.map(|suite| json::check_suite(state, repo, suite)).collect())
    })?;
    Ok(call.page_with_count("check_suites", rows, Value::Null))
}

async fn combined(call: &RepoCall<'_>, name: &str) -> Answered {
    let sha = resolve(call, name).await?;
    let (rows, more) = call.read(|state, repo| {
        let own = repo.statuses.iter().filter(|one| one.sha == sha);
        let latest: BTreeMap<&str, &Status> = own.map(|one| (one.context.as_str(), one)).collect();
        let has = |word: &str| latest.values().any(|one| one.state == word);
        let word = if has("failure") || has("error") {
            "failure"
        } else if latest.is_empty() || has("pending") {
            "pending"
        } else {
            "success"
        };
        let rows = latest.values().map(|one| json::status(state, repo, one)).collect();
        let url = format!("{}/commits/{sha}", state.repo_api(repo));
        let more = object!({
            "state": word, "sha": sha, "repository": state.repo_json(repo, None),
            "commit_url": url, "url": format!("{url}/status"),
        });
        Ok((rows, more))
    })?;
    Ok(call.page_with_count("statuses", rows, more))
}
