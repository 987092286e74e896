//! The log of an App's webhook deliveries, and their redelivery.

use super::apps::app;
use crate::{
    call::{Answer, Answered, Call, Routed},
    hooks::delivery_headers,
    json,
    refusal::{Found, Result},
    rest::of_repo::number,
    state::{Delivery, Outcome, State},
};
use serde_json::{Map, Value, json as object};

pub(super) fn answer(call: &Call, parts: &[&str]) -> Routed {
    Ok(Some(match (call.method.as_str(), parts) {
        ("GET", ["app", "hook", "deliveries"]) => list(call)?,
        ("GET", ["app", "hook", "deliveries", id]) => one(call, number(id)?)?,
        ("POST", ["app", "hook", "deliveries", id, "attempts"]) => again(call, number(id)?)?,
        ("GET" | "PATCH", ["app", "hook", "config"]) => config(call)?,
        _ => return Ok(None),
    }))
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

/// Lists deliveries, newest first. The cursor is the id below which the next page begins.
fn list(call: &Call) -> Answered {
    let app = app(call)?;
    let size = call.page_size();
    let below: u64 = call.asked_number("cursor").unwrap_or(u64::MAX);
    let fits = |delivery: &&Delivery| match call.asked("status") {
        Some("success") => delivery.outcome.acknowledged(),
        Some("failure") => !delivery.outcome.acknowledged(),
        _ => true,
    };
    let (rows, more) = call.site.read(|state| {
        let older = state.deliveries.range(..below).rev().map(|(_, delivery)| delivery);
        let own = older.filter(|one| one.app == app && one.outcome != Outcome::Due);
        let mut found: Vec<&Delivery> = own.filter(fits).take(size + 1).collect();
        let more = found.len() > size;
        found.truncate(size);
        let last = found.last().map(|one| one.id).filter(|_| more);
        (found.into_iter().map(row).collect(), last)
    });
    let base = &call.site.base;
    let answer = Answer::ok(Value::Array(rows));
    let link =
        more.map(|cursor| format!("<{base}/api/v3/app/hook/deliveries?per_page={size}&cursor={cursor}>; rel=\"next\""));
    Ok(Answer { link, ..answer })
}

/// Returns a delivery to the App.
fn own(state: &State, app: u64, id: u64) -> Result<&Delivery> {
    state.deliveries.get(&id).filter(|one| one.app == app).found()
}

fn one(call: &Call, id: u64) -> Answered {
    let app = app(call)?;
    call.site.read(|state| {
        let delivery = own(state, app, id)?;
        let hook = state.apps.get(&app).and_then(|app| app.hook.as_ref());
        let headers = hook.map(|hook| delivery_headers(hook, delivery)).unwrap_or_default();
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value.into()));
        let payload: Value = serde_json::from_str(&delivery.payload).unwrap_or_default();
        let more = object!({
            "url": hook.map(|hook| &hook.url),
            "request": {"headers": headers.collect::<Map<_, _>>(), "payload": payload},
            "response": {"headers": null, "payload": null},
        });
        let mut shown = row(delivery);
        json::extend(&mut shown, more);
        Ok(Answer::ok(shown))
    })
}

fn again(call: &Call, id: u64) -> Answered {
    let app = app(call)?;
    call.site.change(|state| {
        own(state, app, id)?;
        state.redeliver(id)
    })?;
    Ok(Answer::with(202, object!({})))
}

fn config(call: &Call) -> Answered {
    let id = app(call)?;
    call.site.change(|state| {
        let hook = state.apps.get_mut(&id).and_then(|app| app.hook.as_mut()).found()?;
        if call.method == "PATCH" {
            hook.url = call.text("url").unwrap_or_else(|| hook.url.clone());
            hook.secret = call.text("secret").unwrap_or_else(|| hook.secret.clone());
        }
        let shown = object!({"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": hook.url});
        Ok(Answer::ok(shown))
    })
}
