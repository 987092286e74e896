//! The log of webhook deliveries and their redelivery, for the App they belong to.

use super::{
    super::{
        call::{Answer, Answered, Call},
        hooks::delivery_headers,
        json,
        refusal::Refusal,
        state::{Delivery, Outcome},
    },
    number,
};
use serde_json::{Map, Value, json as object};

pub(super) fn answer(call: &Call, method: &str, parts: &[&str]) -> Option<Answered> {
    Some(match (method, parts) {
        ("GET", ["app", "hook", "deliveries"]) => list(call),
        ("GET", ["app", "hook", "deliveries", id]) => number(id).and_then(|id| one(call, id)),
        ("POST", ["app", "hook", "deliveries", id, "attempts"]) => number(id).and_then(|id| again(call, id)),
        ("GET" | "PATCH", ["app", "hook", "config"]) => config(call, method),
        _ => return None,
    })
}

fn row(delivery: &Delivery) -> Value {
    let (status, code) = match &delivery.outcome {
        Outcome::Answered(code @ 200..=299) => ("OK".to_owned(), *code),
        Outcome::Answered(code) => (format!("Invalid HTTP Response: {code}"), *code),
        Outcome::Failed(why) => (why.clone(), 0),
        Outcome::Due => ("pending".to_owned(), 0),
    };
    object!({
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": json::time(delivery.at),
        "redelivery": delivery.redelivery,
        "duration": 0.01,
        "status": status,
        "status_code": code,
        "event": delivery.event,
        "action": delivery.action,
        "installation_id": delivery.installation,
        "repository_id": delivery.repository,
        "throttled_at": null,
    })
}

/// Newest first; the cursor is the id to go on below.
fn list(call: &Call) -> Answered {
    let app = super::apps::app(call)?;
    let size = call
        .asked("per_page")
        .and_then(|text| text.parse::<usize>().ok())
        .unwrap_or(30)
        .clamp(1, 100);
    let below = call
        .asked("cursor")
        .and_then(|text| text.parse::<u64>().ok())
        .unwrap_or(u64::MAX);
    let fits = |delivery: &&Delivery| match call.asked("status") {
        Some("success") => delivery.outcome.acknowledged(),
        Some("failure") => !delivery.outcome.acknowledged(),
        _ => true,
    };
    let (rows, more) = call.site.read(|state| {
        let own = state.deliveries.range(..below).rev().map(|(_, delivery)| delivery);
        let tried = own
            .filter(|one| one.app == app && one.outcome != Outcome::Due)
            .filter(fits);
        let mut found: Vec<&Delivery> = tried.take(size + 1).collect();
        let more = found.len() > size;
        found.truncate(size);
        let last = found.last().map(|one| one.id);
        (found.into_iter().map(row).collect::<Vec<_>>(), last.filter(|_| more))
    });
    let link = more.map(|cursor| {
        let url = format!(
            "{}/api/v3/app/hook/deliveries?per_page={size}&cursor={cursor}",
            call.site.base
        );
        format!("<{url}>; rel=\"next\"")
    });
    Ok(Answer {
        link,
        ..Answer::ok(Value::Array(rows))
    })
}

fn one(call: &Call, id: u64) -> Answered {
    let app = super::apps::app(call)?;
    call.site.read(|state| {
        let delivery = state
            .deliveries
            .get(&id)
            .filter(|one| one.app == app)
            .ok_or_else(Refusal::not_found)?;
        let hook = state.apps.get(&app).and_then(|app| app.hook.as_ref());
        let headers = hook.map(|hook| delivery_headers(hook, delivery)).unwrap_or_default();
        let headers: Map<String, Value> = headers
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        let payload: Value = serde_json::from_str(&delivery.payload).unwrap_or_default();
        let mut shown = row(delivery);
        json::extend(
            &mut shown,
            object!({
                "url": hook.map(|hook| hook.url.clone()),
                "request": {"headers": headers, "payload": payload},
                "response": {"headers": null, "payload": null},
            }),
        );
        Ok(Answer::ok(shown))
    })
}

fn again(call: &Call, id: u64) -> Answered {
    let app = super::apps::app(call)?;
    call.site.change(|state| {
        state
            .deliveries
            .get(&id)
            .filter(|one| one.app == app)
            .ok_or_else(Refusal::not_found)?;
        state.redeliver(id)
    })?;
    Ok(Answer::with(202, object!({})))
}

fn config(call: &Call, method: &str) -> Answered {
    let id = super::apps::app(call)?;
    call.site.change(|state| {
        let app = state.apps.get_mut(&id).ok_or_else(Refusal::not_found)?;
        let hook = app.hook.as_mut().ok_or_else(Refusal::not_found)?;
        if method == "PATCH" {
            hook.url = call.text("url").unwrap_or_else(|| hook.url.clone());
            hook.secret = call.text("secret").unwrap_or_else(|| hook.secret.clone());
        }
        Ok(Answer::ok(
            object!({"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": hook.url}),
        ))
    })
}
