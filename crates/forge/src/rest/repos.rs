//! Repositories and people's roles in them.

use super::apps;
use crate::{
    auth::{Caller, Right},
    call::{Answer, Answered, RepoCall, Routed},
    json as github,
    refusal::{OrNotFound, Refusal},
    rest::of_repo::OfRepo,
    state::{Activity, Role, State},
};
use serde_json::{Value, json};

const METADATA: Right = Right::read(&["metadata"]);

pub(super) fn answer(repo: &OfRepo<'_>, rest: &[&str]) -> Routed {
    Ok(Some(match (repo.method(), rest) {
        ("GET", []) => show_repo(&repo.enter(METADATA)?)?,
        ("GET", ["activity"]) => activity(&repo.enter(Right::read(&["contents"]))?)?,
        ("GET", ["installation"]) => installation(repo)?,
        ("GET", ["collaborators", login, "permission"]) => permission(&repo.enter(METADATA)?, login)?,
        _ => return Ok(None),
    }))
}

fn show_repo(call: &RepoCall<'_>) -> Answered {
    call.show(|state, repo| {
        let role = match &call.caller {
            Caller::Person(user) => state.role(repo, *user),
            Caller::Installation(narrowed) if narrowed.writes("contents") => Role::Write,
            Caller::Installation(_) | Caller::Anonymous | Caller::App(_) => Role::Read,
        };
        Ok(state.repo_json(repo, Some(role)))
    })
}

/// Lists the moves of branches, newest first.
fn activity(call: &RepoCall<'_>) -> Answered {
    let wanted = call.query_value("ref").unwrap_or_default();
    let branch = wanted.strip_prefix("refs/heads/").unwrap_or(wanted);
    call.list(|state, repo| {
        let moves = repo.activities.iter().rev();
        let fitting = moves.filter(|one| branch.is_empty() || one.branch == branch);
        Ok(fitting.map(|one| activity_json(state, one)).collect())
    })
}

fn activity_json(state: &State, one: &Activity) -> Value {
    let kind = match (&one.before, &one.after) {
        (None, _) => "branch_creation",
        (Some(_), None) => "branch_deletion",
        (Some(_), Some(_)) if one.forced => "force_push",
        (Some(_), Some(_)) => "push",
    };
    let commit = |id: &Option<String>| id.clone().unwrap_or_else(|| "0".repeat(40));
    json!({
        "id": one.id,
        "node_id": format!("PSH_{}", one.id),
        "before": commit(&one.before),
        "after": commit(&one.after),
        "ref": format!("refs/heads/{}", one.branch),
        "timestamp": github::time(one.at),
        "activity_type": kind,
        "actor": state.user_json(one.by),
    })
}

fn installation(repo: &OfRepo<'_>) -> Answered {
    let app = apps::app(repo.call)?;
    repo.call.site.read(|state| {
        let repo = state.repo_named(repo.owner, repo.name).or_not_found()?;
        let mut own = state.installations.values().filter(|one| one.app == app);
        let one = own.find(|one| state.covers(one, repo.id)).or_not_found()?;
        Ok(Answer::ok(state.installation_json(one)))
    })
}

fn permission(call: &RepoCall<'_>, login: &str) -> Answered {
    call.show(|state, repo| {
        let stranger = || Refusal::new(404, format!("{login} is not a user"));
        let user = state.user_named(login).ok_or_else(stranger)?.id;
        let role = state.role(repo, user);
        let mut shown = state.user_json(user);
        let more = json!({"role_name": role.name(), "permissions": github::permissions_of(role)});
        github::extend(&mut shown, more);
        Ok(json!({"permission": role.permission(), "role_name": role.name(), "user": shown}))
    })
}
