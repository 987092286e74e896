//! Check runs and commit statuses.

use super::contents::resolve;
use crate::{
    acts::CheckRunChange,
    auth::Right,
    call::{Answer, Answered, Entered, Routed},
    json,
    refusal::{Found, Refusal},
    rest::of_repo::{OfRepo, number},
    state::{CheckSuite, Repo, Role, State, Status},
};
use serde_json::{Value, json as object};
use std::collections::BTreeMap;

const READ: Right = Right::read(&["checks"]);
const WRITE: Right = Right::write(&["checks"], Role::Write);
const READ_STATUS: Right = Right::read(&["statuses"]);
const WRITE_STATUS: Right = Right::write(&["statuses"], Role::Write);

pub(super) async fn answer(repo: &OfRepo<'_>, rest: &[&str]) -> Routed {
    let read = || repo.enter(READ);
    let write = || repo.enter(WRITE);
    Ok(Some(match (repo.method(), rest) {
        ("POST", ["check-runs"]) => make(&write()?).await?,
        ("GET", ["check-runs", id]) => shown(&read()?, number(id)?)?,
        ("PATCH", ["check-runs", id]) => change(&write()?, number(id)?)?,
        ("GET", ["commits", sha, "check-runs"]) => list(&read()?, sha).await?,
        ("GET", ["commits", sha, "check-suites"]) => suites(&read()?, sha).await?,
        ("GET", ["check-suites", id]) => suite(&read()?, number(id)?)?,
        ("POST", ["check-suites", id, "rerequest"]) => rerequest(&write()?, number(id)?)?,
        ("GET", ["commits", sha, "status"]) => combined(&repo.enter(READ_STATUS)?, sha).await?,
        ("GET", ["commits", sha, "statuses"]) => statuses(&repo.enter(READ_STATUS)?, sha).await?,
        ("POST", ["statuses", sha]) => set_status(&repo.enter(WRITE_STATUS)?, sha).await?,
        _ => return Ok(None),
    }))
}

fn read_change(call: &Entered<'_>) -> CheckRunChange {
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

fn shown(call: &Entered<'_>, id: u64) -> Answered {
    call.show(|state, repo| Ok(json::check_run(state, repo, repo.checks.get(&id).found()?)))
}

async fn make(call: &Entered<'_>) -> Answered {
    let sha = resolve(call, &call.text("head_sha").unwrap_or_default()).await?;
    call.site.know_commit(call.at.repo, &sha).await?;
    let id = call.change(|state| state.new_check(call.at, &sha, &read_change(call)))?;
    shown(call, id).map(Answer::into_created)
}

fn change(call: &Entered<'_>, id: u64) -> Answered {
    call.change(|state| state.change_check(call.at, id, &read_change(call)))?;
    shown(call, id)
}

/// Lists the runs on a commit: the newest of each name and App, or all with `filter=all`.
async fn list(call: &Entered<'_>, name: &str) -> Answered {
    let sha = resolve(call, name).await?;
    let app: Option<u64> = call.asked_number("app_id");
    let fits = |asked: &str, own: &str| call.asked(asked).is_none_or(|wanted| wanted == own);
    let rows = call.read(|state, repo| {
        let runs = repo.checks.values().filter(|run| run.head_sha == sha);
        let runs = runs.filter(|run| fits("check_name", &run.name) && fits("status", &run.status));
        let mut kept = BTreeMap::new();
        for run in runs.filter(|run| app.is_none_or(|id| id == run.app)) {
            let id = if call.asked("filter") == Some("all") { run.id } else { 0 };
            kept.insert((run.app, &run.name, id), run);
        }
        Ok(kept
            .into_values()
            .map(|run| json::check_run(state, repo, run))
            .collect())
    })?;
    Ok(call.counted("check_runs", rows, Value::Null))
}

fn suite_json(state: &State, repo: &Repo, suite: &CheckSuite) -> Value {
    let mut shown = json::check_suite(state, repo, suite);
    json::put(&mut shown, "repository", state.repo_json(repo, None));
    shown
}

async fn suites(call: &Entered<'_>, name: &str) -> Answered {
    let sha = resolve(call, name).await?;
    let rows = call.read(|state, repo| {
        let own = repo.suites.values().filter(|suite| suite.head_sha == sha);
        Ok(own.map(|suite| suite_json(state, repo, suite)).collect())
    })?;
    Ok(call.counted("check_suites", rows, Value::Null))
}

fn suite(call: &Entered<'_>, id: u64) -> Answered {
    call.show(|state, repo| Ok(suite_json(state, repo, repo.suites.get(&id).found()?)))
}

/// Requests a suite again; only its own App may.
fn rerequest(call: &Entered<'_>, id: u64) -> Answered {
    call.change(|state| {
        let suite = state.repo(call.at.repo)?.suites.get(&id).found()?;
        if call.at.by.app != Some(suite.app) {
            let text = "Invalid app_id - check suites can only be rerequested by their GitHub App.";
            return Err(Refusal::new(403, text));
        }
        state.rerequest_suite(call.at, id)
    })?;
    Ok(Answer::created(object!({})))
}

async fn combined(call: &Entered<'_>, name: &str) -> Answered {
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
    Ok(call.counted("statuses", rows, more))
}

async fn statuses(call: &Entered<'_>, name: &str) -> Answered {
    let sha = resolve(call, name).await?;
    call.list(|state, repo| {
        let own = repo.statuses.iter().rev().filter(|one| one.sha == sha);
        Ok(own.map(|one| json::status(state, repo, one)).collect())
    })
}

async fn set_status(call: &Entered<'_>, name: &str) -> Answered {
    let sha = resolve(call, name).await?;
    let word = call.text("state").unwrap_or_default();
    let context = call.text("context").unwrap_or_else(|| "default".to_owned());
    let (description, url) = (call.text("description"), call.text("target_url"));
    call.change(|state| {
        let one = state.record_status(call.at, &sha, (&context, &word), description, url)?;
        Ok(Answer::created(json::status(state, state.repo(call.at.repo)?, &one)))
    })
}
