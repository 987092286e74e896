//! Accounts and the rate limit.

use super::{
    super::{
        call::{Answer, Answered, Call},
        clock,
        refusal::Refusal,
    },
    number,
};
use serde_json::json;

pub(super) fn answer(call: &Call, method: &str, parts: &[&str]) -> Option<Answered> {
    Some(match (method, parts) {
        ("GET", ["users", login]) => call.site.read(|state| {
            let user = state.user_named(login).ok_or_else(Refusal::not_found)?;
            Ok(Answer::ok(state.profile_json(user.id)))
        }),
        ("GET", ["user"]) => match call.caller.user() {
            Some(_) if call.caller.app().is_some() => Err(Refusal::not_for_integration()),
            Some(id) => Ok(Answer::ok(call.site.read(|state| state.profile_json(id)))),
            None => Err(Refusal::new(401, "Requires authentication")),
        },
        ("GET", ["user", id]) => number(id).and_then(|id| {
            call.site.read(|state| {
                state.user(id).ok_or_else(Refusal::not_found)?;
                Ok(Answer::ok(state.profile_json(id)))
            })
        }),
        ("GET", ["rate_limit"]) => {
            let rate = json!({
                "limit": 5000, "used": 1, "remaining": 4999, "reset": clock::wall().timestamp() + 3600, "resource": "core",
            });
            Ok(Answer::ok(json!({
                "resources": {"core": rate, "search": rate, "graphql": rate, "integration_manifest": rate},
                "rate": rate,
            })))
        }
        _ => return None,
    })
}
