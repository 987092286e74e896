//! Check runs and commit statuses.

use super::{
    super::{
        acts::CheckRunChange,
        auth::Right,
        call::{Answer, Answered, Call},
        json,
        refusal::Refusal,
        state::{Actor, CheckSuite, Repo, Role, State, Status},
    },
    contents::resolve,
    number,
};
use serde_json::{Value, json as object};
use std::collections::BTreeMap;

const READ: Right = Right::read(&["checks"]);
const WRITE: Right = Right::write(&["checks"], Role::Write);
const READ_STATUS: Right = Right::read(&["statuses"]);
const WRITE_STATUS: Right = Right::write(&["statuses"], Role::Write);

pub(super) async fn answer(call: &Call, method: &str, owner: &str, name: &str, rest: &[&str]) -> Option<Answered> {
    let right = match (method, rest) {
        ("GET", ["commits", _, "status" | "statuses"]) => READ_STATUS,
        ("GET", _) => READ,
        (_, ["statuses", _]) => WRITE_STATUS,
        _ => WRITE,
    };
    let (repo, by) = match call.enter(owner, name, right) {
        Ok(entered) => entered,
        Err(refusal) => return Some(Err(refusal)),
    };
    Some(match (method, rest) {
        ("POST", ["check-runs"]) => make(call, repo, by).await,
        ("GET", ["check-runs", id]) => number(id).and_then(|id| shown(call, repo, id)),
        ("PATCH", ["check-runs", id]) => number(id).and_then(|id| change(call, repo, by, id)),
        ("GET", ["commits", sha, "check-runs"]) => list(call, repo, sha).await,
        ("GET", ["commits", sha, "check-suites"]) => suites(call, repo, sha).await,
        ("GET", ["check-suites", id]) => number(id).and_then(|id| suite(call, repo, id)),
        ("POST", ["check-suites", id, "rerequest"]) => number(id).and_then(|id| rerequest(call, repo, by, id)),
        ("GET", ["commits", sha, "status"]) => combined(call, repo, sha).await,
        ("GET", ["commits", sha, "statuses"]) => statuses(call, repo, sha).await,
        ("POST", ["statuses", sha]) => set_status(call, repo, by, sha).await,
        _ => return None,
    })
}

fn read_change(call: &Call) -> CheckRunChange {
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

fn shown(call: &Call, repo: u64, id: u64) -> Answered {
    call.site.read(|state| {
        let repo = state.repo(repo)?;
        let run = repo.checks.get(&id).ok_or_else(Refusal::not_found)?;
        Ok(Answer::ok(json::check_run(state, repo, run)))
    })
}

async fn make(call: &Call, repo: u64, by: Actor) -> Answered {
    let asked = call.text("head_sha").unwrap_or_default();
    let sha = resolve(call, repo, &asked).await?;
    call.site.know_commit(repo, &sha).await?;
    let id = call
        .site
        .change(|state| state.new_check(by, repo, &sha, &read_change(call)))?;
    let answer = shown(call, repo, id)?;
    Ok(Answer { status: 201, ..answer })
}

fn change(call: &Call, repo: u64, by: Actor, id: u64) -> Answered {
    call.site
        .change(|state| state.change_check(by, repo, id, &read_change(call)))?;
    shown(call, repo, id)
}

/// The runs on a commit; of those with the same name and App only the newest, unless all are asked for.
async fn list(call: &Call, repo: u64, name: &str) -> Answered {
    let sha = resolve(call, repo, name).await?;
    let app: Option<u64> = call.asked("app_id").and_then(|id| id.parse().ok());
    let rows = call.site.read(|state| {
        let repo = state.repo(repo)?;
        let fits = repo.checks.values().filter(|run| {
            run.head_sha == sha
                && call.asked("check_name").is_none_or(|name| name == run.name)
                && app.is_none_or(|id| id == run.app)
                && call.asked("status").is_none_or(|status| status == run.status)
        });
        let mut kept = BTreeMap::new();
        for run in fits {
            let key = match call.asked("filter") {
                Some("all") => (run.app, run.name.clone(), run.id),
                _ => (run.app, run.name.clone(), 0),
            };
            kept.insert(key, run);
        }
        Ok::<_, Refusal>(
            kept.into_values()
                .map(|run| json::check_run(state, repo, run))
                .collect(),
        )
    })?;
    Ok(call.counted("check_runs", rows))
}

fn suite_json(state: &State, repo: &Repo, suite: &CheckSuite) -> Value {
    let mut shown = json::check_suite(state, repo, suite);
    json::put(&mut shown, "repository", state.repo_json(repo, None));
    shown
}

async fn suites(call: &Call, repo: u64, name: &str) -> Answered {
    let sha = resolve(call, repo, name).await?;
    let rows = call.site.read(|state| {
        let repo = state.repo(repo)?;
        let own = repo.suites.values().filter(|suite| suite.head_sha == sha);
        Ok::<_, Refusal>(own.map(|suite| suite_json(state, repo, suite)).collect())
    })?;
    Ok(call.counted("check_suites", rows))
}

fn suite(call: &Call, repo: u64, id: u64) -> Answered {
    call.site.read(|state| {
        let repo = state.repo(repo)?;
        let suite = repo.suites.get(&id).ok_or_else(Refusal::not_found)?;
        Ok(Answer::ok(suite_json(state, repo, suite)))
    })
}

/// An App asks for its own suite alone.
fn rerequest(call: &Call, repo: u64, by: Actor, id: u64) -> Answered {
    call.site.change(|state| {
        let suite = state.repo(repo)?.suites.get(&id).ok_or_else(Refusal::not_found)?;
        match by.app == Some(suite.app) {
            true => state.rerequest_suite(by, repo, id),
            false => Err(Refusal::new(
                403,
                "Invalid app_id - check suites can only be rerequested by their GitHub App.",
            )),
        }
    })?;
    Ok(Answer::created(object!({})))
}

async fn combined(call: &Call, repo: u64, name: &str) -> Answered {
    let sha = resolve(call, repo, name).await?;
    let answer = call.site.read(|state| {
        let repo = state.repo(repo)?;
        let mut latest: BTreeMap<&str, &Status> = BTreeMap::new();
        for one in repo.statuses.iter().filter(|one| one.sha == sha) {
            latest.insert(&one.context, one);
        }
        let has = |words: &[&str]| latest.values().any(|one| words.contains(&one.state.as_str()));
        let word = match () {
            () if has(&["failure", "error"]) => "failure",
            () if latest.is_empty() || has(&["pending"]) => "pending",
            () => "success",
        };
        let rows: Vec<Value> = latest.values().map(|one| json::status(state, repo, one)).collect();
        let url = format!("{}/commits/{sha}", state.repo_api(repo));
        let more = object!({
            "state": word, "sha": sha, "repository": state.repo_json(repo, None),
            "commit_url": url, "url": format!("{url}/status"),
        });
        Ok::<_, Refusal>((rows, more))
    });
    let (rows, more) = answer?;
    let mut page = call.counted("statuses", rows);
    page.body.iter_mut().for_each(|body| json::extend(body, more.clone()));
    Ok(page)
}

async fn statuses(call: &Call, repo: u64, name: &str) -> Answered {
    let sha = resolve(call, repo, name).await?;
    let rows = call.site.read(|state| {
        let repo = state.repo(repo)?;
        let own = repo.statuses.iter().rev().filter(|one| one.sha == sha);
        Ok::<_, Refusal>(own.map(|one| json::status(state, repo, one)).collect())
    })?;
    Ok(call.page(rows))
}

async fn set_status(call: &Call, repo: u64, by: Actor, name: &str) -> Answered {
    let sha = resolve(call, repo, name).await?;
    let word = call.text("state").unwrap_or_default();
    let context = call.text("context").unwrap_or_else(|| "default".to_owned());
    let (description, url) = (call.text("description"), call.text("target_url"));
    call.site.change(|state| {
        let one = state.record_status(by, repo, &sha, (&context, &word), description, url)?;
        Ok(Answer::created(json::status(state, state.repo(repo)?, &one)))
    })
}
