//! Labels, of a repository and on its issues.

use super::{
    super::{
        auth::Right,
        call::{Answer, Answered, Call},
        json,
        refusal::Refusal,
        state::{Actor, Role, State},
    },
    number,
};
use serde_json::Value;

const READ: Right = Right::read(&["issues", "pull_requests"]);
const TRIAGE: Right = Right::write(&["issues", "pull_requests"], Role::Triage);

pub(super) fn answer(call: &Call, method: &str, owner: &str, name: &str, rest: &[&str]) -> Option<Answered> {
    let enter = |right: Right| call.enter(owner, name, right);
    Some(match (method, rest) {
        ("GET", ["issues", n, "labels"]) => enter(READ).and_then(|(repo, _)| labels(call, repo, number(n)?)),
        ("POST" | "PUT", ["issues", n, "labels"]) => {
            enter(TRIAGE).and_then(|(repo, by)| put_labels(call, method, repo, by, number(n)?))
        }
        ("DELETE", ["issues", n, "labels", label]) => {
            enter(TRIAGE).and_then(|(repo, by)| remove_label(call, repo, by, number(n)?, label))
        }
        ("GET", ["labels"]) => enter(READ).and_then(|(repo, _)| repo_labels(call, repo)),
        ("GET", ["labels", label]) => enter(READ).and_then(|(repo, _)| repo_label(call, repo, label)),
        ("POST", ["labels"]) => enter(TRIAGE).and_then(|(repo, _)| make_label(call, repo)),
        _ => return None,
    })
}

fn labels(call: &Call, repo: u64, number: u64) -> Answered {
    let rows = call.site.read(|state| issue_labels(state, repo, number))?;
    Ok(call.page(rows))
}

fn issue_labels(state: &State, repo: u64, number: u64) -> Result<Vec<Value>, Refusal> {
    let (repo, issue) = (state.repo(repo)?, state.issue(repo, number)?);
    let known = issue
        .labels
        .iter()
        .filter_map(|name| repo.labels.get(&name.to_lowercase()));
    Ok(known.map(|label| json::label(state, repo, label)).collect())
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enum is not ours: it has many variants, and more will come"
)]
fn put_labels(call: &Call, method: &str, repo: u64, by: Actor, number: u64) -> Answered {
    let names = match &call.body {
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => call
            .texts("labels")
            .ok_or_else(|| Refusal::invalid("Label", "labels", "missing_field"))?,
    };
    let rows = call.site.change(|state| {
        match method {
            "PUT" => state.set_labels(by, repo, number, &names)?,
            _ => names
                .iter()
                .try_for_each(|name| state.add_label(by, repo, number, name))?,
        }
        issue_labels(state, repo, number)
    })?;
    Ok(Answer::ok(Value::Array(rows)))
}

fn remove_label(call: &Call, repo: u64, by: Actor, number: u64, label: &str) -> Answered {
    let rows = call.site.change(|state| {
        state.remove_label(by, repo, number, label)?;
        issue_labels(state, repo, number)
    })?;
    Ok(Answer::ok(Value::Array(rows)))
}

fn repo_labels(call: &Call, repo: u64) -> Answered {
    let rows = call.site.read(|state| {
        let repo = state.repo(repo)?;
        Ok::<_, Refusal>(
            repo.labels
                .values()
                .map(|label| json::label(state, repo, label))
                .collect(),
        )
    })?;
    Ok(call.page(rows))
}

fn repo_label(call: &Call, repo: u64, name: &str) -> Answered {
    call.site.read(|state| {
        let repo = state.repo(repo)?;
        let label = repo.labels.get(&name.to_lowercase()).ok_or_else(Refusal::not_found)?;
        Ok(Answer::ok(json::label(state, repo, label)))
    })
}

fn make_label(call: &Call, repo: u64) -> Answered {
    let name = call.text("name").unwrap_or_default();
    let (color, description) = (call.text("color"), call.text("description"));
    call.site.change(|state| {
        if state.repo(repo)?.labels.contains_key(&name.to_lowercase()) {
            return Err(Refusal::invalid("Label", "name", "already_exists"));
        }
        state.make_label(repo, &name, color.as_deref(), description.as_deref())
    })?;
    let answer = repo_label(call, repo, &name)?;
    Ok(Answer { status: 201, ..answer })
}
