//! Accounts and the rate limit.

use crate::{
    call::{Answer, Answered, Call, Routed},
    clock,
    refusal::{OrNotFound, Refusal},
};
use serde_json::json;

pub(super) fn answer(call: &Call, parts: &[&str]) -> Routed {
    Ok(Some(match (call.method.as_str(), parts) {
        ("GET", ["users", login]) => {
            let found = call.site.read(|state| state.user_named(login).map(|user| user.id));
            profile(call, found.or_not_found()?)?
        }
        ("GET", ["user"]) => match call.caller.user() {
            Some(_) if call.caller.app().is_some() => return Err(Refusal::not_for_integration()),
            Some(id) => profile(call, id)?,
            None => return Err(Refusal::new(401, "Requires authentication")),
        },
        ("GET", ["rate_limit"]) => {
            let reset = clock::wall().timestamp() + 3600;
            let rate = json!({"limit": 5000, "used": 1, "remaining": 4999, "reset": reset, "resource": "core"});
            Answer::ok(json!({"resources": {"core": rate}, "rate": rate}))
        }
        _ => return Ok(None),
    }))
}

fn profile(call: &Call, id: u64) -> Answered {
    call.site.read(|state| {
        state.user(id).or_not_found()?;
        Ok(Answer::ok(state.user_json(id)))
    })
}
