//! The log of an App's webhook deliveries, and their redelivery.

use super::apps::app;
use crate::{
    call::{Answer, Answered, Call, Routed},
    json,
    refusal::OrNotFound,
    rest::of_repo::number,
    state::{Delivery, Outcome},
};
use serde_json::{Value, json as object};

pub(super) fn answer(call: &Call, parts: &[&str]) -> Routed {
    Ok(Some(match (call.method.as_str(), parts) {
        ("GET", ["app", "hook", "deliveries"]) => list(call)?,
        ("GET", ["app", "hook", "deliveries", id]) => sent(call, number(id)?)?,
        ("POST", ["app", "hook", "deliveries", id, "attempts"]) => redeliver(call, number(id)?)?,
        ("GET", ["app", "hook", "config"]) => config(call)?,
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

/// Lists deliveries, newest first. Pages begin at a cursor, which is the id of the last entry before.
fn list(call: &Call) -> Answered {
    let app = app(call)?;
    let size = call.page_size();
    let before = call.asked_number("cursor").unwrap_or(u64::MAX);
    call.site.read(|state| {
        let newest = state.deliveries.range(..before).rev();
        let own = newest.filter(|(_, one)| one.app == app && one.outcome != Outcome::Due);
        let mut page: Vec<&Delivery> = own.map(|(_, one)| one).take(size.saturating_add(1)).collect();
        let has_more = page.len() > size;
        page.truncate(size);
        let cursor = page.last().filter(|_| has_more).map(|one| one.id);
        let next = |cursor: u64| {
            let base = &call.site.base;
            format!("<{base}/api/v3/app/hook/deliveries?per_page={size}&cursor={cursor}>; rel=\"next\"")
        };
        Ok(Answer { link: cursor.map(next), ..Answer::ok(page.into_iter().map(row).collect()) })
    })
}

/// Answers with one delivery and its payload.
fn sent(call: &Call, id: u64) -> Answered {
    let app = app(call)?;
    call.site.read(|state| {
        let delivery = state.deliveries.get(&id).filter(|one| one.app == app).or_not_found()?;
        let payload: Value = serde_json::from_str(&delivery.payload).unwrap_or_default();
        let mut shown = row(delivery);
        json::put(&mut shown, "request", object!({"headers": {}, "payload": payload}));
        Ok(Answer::ok(shown))
    })
}

fn redeliver(call: &Call, id: u64) -> Answered {
    let app = app(call)?;
    call.site.change(|state| {
        state.deliveries.get(&id).filter(|one| one.app == app).or_not_found()?;
        state.redeliver(id)
    })?;
    Ok(Answer::with(202, object!({})))
}

fn config(call: &Call) -> Answered {
    let id = app(call)?;
    call.site.read(|state| {
        let hook = state.apps.get(&id).and_then(|app| app.hook.as_ref()).or_not_found()?;
        let shown = object!({"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": hook.url});
        Ok(Answer::ok(shown))
    })
}
