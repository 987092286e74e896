//! Labels of a repository and of its issues.

use crate::{
    auth::Right,
    call::{Answer, Answered, RepoCall, Routed},
    json,
    refusal::{OrNotFound, Refusal},
    rest::of_repo::{OfRepo, number},
    state::Role,
};
use serde_json::Value;

const READ: Right = Right::read(&["issues", "pull_requests"]);
const TRIAGE: Right = Right::write(&["issues", "pull_requests"], Role::Triage);

pub(super) fn answer(repo: &OfRepo<'_>, rest: &[&str]) -> Routed {
    Ok(Some(match (repo.method(), rest) {
        ("POST", ["issues", n, "labels"]) => add(&repo.enter(TRIAGE)?, number(n)?)?,
        ("GET", ["labels", label]) => show_label(&repo.enter(READ)?, label)?,
        ("POST", ["labels"]) => make(&repo.enter(TRIAGE)?)?,
        _ => return Ok(None),
    }))
}

fn add(call: &RepoCall<'_>, number: u64) -> Answered {
    let missing = || Refusal::invalid("Label", "labels", "missing_field");
    let names = call.texts("labels").ok_or_else(missing)?;
    call.change(|state| {
        names.iter().try_for_each(|name| state.add_label(call.at, number, name))?;
        let (repo, issue) = (state.repo(call.at.repo)?, state.issue(call.at.repo, number)?);
        Ok(Answer::ok(Value::Array(json::labels(state, repo, issue))))
    })
}

fn show_label(call: &RepoCall<'_>, name: &str) -> Answered {
    call.show(|state, repo| {
        let label = repo.labels.get(&name.to_lowercase()).or_not_found()?;
        Ok(json::label(state, repo, label))
    })
}

fn make(call: &RepoCall<'_>) -> Answered {
    let name = call.text("name").unwrap_or_default();
    let (color, description) = (call.text("color"), call.text("description"));
    call.change(|state| {
        if state.repo(call.at.repo)?.labels.contains_key(&name.to_lowercase()) {
            return Err(Refusal::invalid("Label", "name", "already_exists"));
        }
        state.make_label(call.at.repo, &name, color.as_deref(), description.as_deref())
    })?;
    show_label(call, &name).map(Answer::into_created)
}
