//! Repositories and who may do what in them.

use super::super::{
    auth::{Caller, Right},
    call::{Answer, Answered, Call},
    refusal::Refusal,
    state::Role,
};
use serde_json::json;

const METADATA: Right = Right::read(&["metadata"]);

pub(super) fn answer(call: &Call, method: &str, owner: &str, name: &str, rest: &[&str]) -> Option<Answered> {
    Some(match (method, rest) {
        ("GET", []) => shown(call, owner, name),
        ("GET", ["installation"]) => installation(call, owner, name),
        ("GET", ["collaborators", login, "permission"]) => permission(call, owner, name, login),
        _ => return None,
    })
}

fn shown(call: &Call, owner: &str, name: &str) -> Answered {
    let (repo, _) = call.enter(owner, name, METADATA)?;
    call.site.read(|state| {
        let repo = state.repo(repo)?;
        let role = match &call.caller {
            Caller::Person(user) => state.role(repo, *user),
            Caller::Installation(narrowed) => match narrowed.permissions.get("contents").map(String::as_str) {
                Some("write") => Role::Write,
                _ => Role::Read,
            },
            Caller::Anonymous | Caller::App(_) => Role::Read,
        };
        Ok(Answer::ok(state.repo_json(repo, Some(role))))
    })
}

fn installation(call: &Call, owner: &str, name: &str) -> Answered {
    let app = super::apps::app(call)?;
    call.site.read(|state| {
        let repo = state.repo_named(owner, name).ok_or_else(Refusal::not_found)?;
        let mut own = state.installations.values().filter(|one| one.app == app);
        let one = own
            .find(|one| state.covers(one, repo.id))
            .ok_or_else(Refusal::not_found)?;
        Ok(Answer::ok(state.installation_json(one)))
    })
}

fn permission(call: &Call, owner: &str, name: &str, login: &str) -> Answered {
    let (repo, _) = call.enter(owner, name, METADATA)?;
    call.site.read(|state| {
        let repo = state.repo(repo)?;
        let user = state
            .user_named(login)
            .ok_or_else(|| Refusal::new(404, format!("{login} is not a user")))?;
        let role = state.role(repo, user.id);
        let mut shown = state.user_json(user.id);
        crate::json::put(&mut shown, "role_name", json!(role.name()));
        crate::json::put(
            &mut shown,
            "permissions",
            json!({
                "admin": role >= Role::Admin, "maintain": role >= Role::Maintain, "push": role >= Role::Write,
                "triage": role >= Role::Triage, "pull": role >= Role::Read,
            }),
        );
        Ok(Answer::ok(json!({
            "permission": role.permission(),
            "role_name": role.name(),
            "user": shown,
        })))
    })
}
