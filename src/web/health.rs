//! Reports if the process is alive, and if it can take work.

use crate::{
    engine::heartbeat::LONGEST_ROUND,
    messages,
    store::{ProviderTrouble, Store, StoreError, Trouble},
    web::{inbox::Inbox, metrics},
};
use axum::{
    Json,
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode, header::ACCEPT},
    response::{IntoResponse, Response},
};
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// How long a write and a claim may take in a service that is ready.
const PATIENCE: Duration = Duration::from_secs(2);

/// Answers that the process is alive, which means that its worker's loop runs. Only the administrator sees the level of
/// isolation: it would show strangers the obstacles of an attack.
pub(super) async fn alive(State(inbox): State<Arc<Inbox>>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    if !inbox.engine.heartbeat.is_regular() {
        let still = format!("the worker's loop has stood still for {} seconds\n", LONGEST_ROUND.as_secs());
        return (StatusCode::SERVICE_UNAVAILABLE, still).into_response();
    }
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    match query.as_deref() {
        Some("detail") => {
            if let Some(refusal) = metrics::refuse_without_token(&inbox, &headers).await {
                return refusal;
            }
        }
        _ if accepts.is_some_and(|kinds| kinds.contains("application/json")) => {
            return Json(json!({ "status": "ok" })).into_response();
        }
        _ => return "ok\n".into_response(),
    }
    let sandbox = &inbox.engine.sandbox;
    let isolation = json!({
        "level": sandbox.level().to_string(),
        "means": messages::isolation_level(sandbox.level()),
        "missing": messages::missing_isolation(sandbox.missing()),
        "limits": messages::limit_keeper(&sandbox.limits_held_by()),
    });
    Json(json!({ "status": "ok", "isolation": isolation })).into_response()
}

/// Answers that the service is ready if its disk has room, it can write to its database and is not about to stop.
pub(super) async fn ready(State(inbox): State<Arc<Inbox>>) -> (StatusCode, String) {
    if inbox.draining.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "draining\n".to_owned());
    }
    if let Some(room) = inbox.engine.full_disk() {
        let full = format!("the disk of the data folder is nearly full: {room}\n");
        return (StatusCode::SERVICE_UNAVAILABLE, full);
    }
    match tokio::time::timeout(PATIENCE, check(&inbox.engine.store)).await {
        Ok(Ok(text)) => (StatusCode::OK, text),
        Err(_) => {
            tracing::warn!("the database takes no write and no claim within {} seconds", PATIENCE.as_secs());
            let late = format!("no write, no claim in {} seconds\n", PATIENCE.as_secs());
            (StatusCode::SERVICE_UNAVAILABLE, late)
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "the database takes no writes");
            (StatusCode::SERVICE_UNAVAILABLE, "the database takes no writes\n".to_owned())
        }
    }
}

/// Checks that the database takes writes and claims. Returns the text for a ready service, with the reason why a model's
/// API does not serve, but not with the API's own message.
async fn check(store: &Store) -> Result<String, StoreError> {
    store.check_writable().await?;
    let troubles = store.troubled_providers().await?;
    let line = |trouble: &ProviderTrouble| {
        let more = match trouble.cause {
            Trouble::NotAuthorised => "; see the log",
            Trouble::RateLimited | Trouble::Unavailable => "",
        };
        format!("{}: the model's API {}{more}\n", trouble.name, in_words(trouble.cause))
    };
    Ok(std::iter::once("ready\n".to_owned()).chain(troubles.iter().map(line)).collect())
}

/// Words, within a sentence, why a model's API does not serve.
pub(super) fn in_words(cause: Trouble) -> &'static str {
    match cause {
        Trouble::RateLimited => "limits the rate",
        Trouble::Unavailable => "is not available",
        Trouble::NotAuthorised => "refuses the credentials",
    }
}
