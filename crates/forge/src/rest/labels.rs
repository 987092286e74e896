//! Labels of a repository and of its issues.

use crate::{
    auth::Right,
    call::{Answer, Answered, Entered, Routed},
    json,
    refusal::{Found, Refusal, Result},
    rest::of_repo::{OfRepo, number},
    state::{Role, State},
};
use serde_json::Value;

const READ: Right = Right::read(&["issues", "pull_requests"]);
const TRIAGE: Right = Right::write(&["issues", "pull_requests"], Role::Triage);

pub(super) fn answer(repo: &OfRepo<'_>, rest: &[&str]) -> Routed {
    Ok(Some(match (repo.method(), rest) {
        ("GET", ["issues", n, "labels"]) => {
            let call = repo.enter(READ)?;
            let number = number(n)?;
            call.list(|state, _| issue_labels(state, call.at.repo, number))?
        }
        ("POST" | "PUT", ["issues", n, "labels"]) => put_labels(&repo.enter(TRIAGE)?, number(n)?)?,
        ("DELETE", ["issues", n, "labels", label]) => {
            let call = repo.enter(TRIAGE)?;
            let number = number(n)?;
            changed(&call, number, |state| state.remove_label(call.at, number, label))?
        }
        ("GET", ["labels"]) => repo.enter(READ)?.list(|state, repo| {
            let labels = repo.labels.values();
            Ok(labels.map(|label| json::label(state, repo, label)).collect())
        })?,
        ("GET", ["labels", label]) => repo_label(&repo.enter(READ)?, label)?,
        ("POST", ["labels"]) => make_label(&repo.enter(TRIAGE)?)?,
        _ => return Ok(None),
    }))
}

fn issue_labels(state: &State, repo: u64, number: u64) -> Result<Vec<Value>> {
    let (repo, issue) = (state.repo(repo)?, state.issue(repo, number)?);
    Ok(json::labels(state, repo, issue))
}

/// Changes the labels of an issue and answers with them.
fn changed(call: &Entered<'_>, number: u64, alter: impl FnOnce(&mut State) -> Result) -> Answered {
    call.change(|state| {
        alter(state)?;
        let rows = issue_labels(state, call.at.repo, number)?;
        Ok(Answer::ok(Value::Array(rows)))
    })
}

fn put_labels(call: &Entered<'_>, number: u64) -> Answered {
    let names: Vec<String> = match call.body.as_array() {
        Some(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => {
            let missing = || Refusal::invalid("Label", "labels", "missing_field");
            call.texts("labels").ok_or_else(missing)?
        }
    };
    changed(call, number, |state| match call.method.as_str() {
        "PUT" => state.set_labels(call.at, number, &names),
        _ => names.iter().try_for_each(|name| state.add_label(call.at, number, name)),
    })
}

fn repo_label(call: &Entered<'_>, name: &str) -> Answered {
    call.show(|state, repo| {
        let label = repo.labels.get(&name.to_lowercase()).found()?;
        Ok(json::label(state, repo, label))
    })
}

fn make_label(call: &Entered<'_>) -> Answered {
    let name = call.text("name").unwrap_or_default();
    let (color, description) = (call.text("color"), call.text("description"));
    call.change(|state| {
        if state.repo(call.at.repo)?.labels.contains_key(&name.to_lowercase()) {
            return Err(Refusal::invalid("Label", "name", "already_exists"));
        }
        state.make_label(call.at.repo, &name, color.as_deref(), description.as_deref())
    })?;
    repo_label(call, &name).map(Answer::into_created)
}
