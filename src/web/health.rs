//! Whether the process is alive, and whether it can take work.

use crate::web::Inbox;
use axum::Json;
use axum::extract::RawQuery;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::StatusCode;
use axum::http::header::ACCEPT;
use axum::response::IntoResponse;
use axum::response::Response;
use std::sync::Arc;

/// Alive is whoever answers. Who asks for JSON, or with `?detail`, also hears how far programs are kept apart.
pub(super) async fn alive(State(inbox): State<Arc<Inbox>>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let accepts = headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if query.as_deref() != Some("detail") && !accepts.contains("application/json") {
        return "ok\n".into_response();
    }
    let sandbox = inbox.sandbox();
    Json(serde_json::json!({
        "status": "ok",
        "isolation": {
            "level": sandbox.level().to_string(),
            "means": sandbox.level().means(),
            "missing": sandbox.missing(),
        },
    }))
    .into_response()
}

/// Ready is who reaches its database and is not about to stop.
pub(super) async fn ready(State(inbox): State<Arc<Inbox>>) -> (StatusCode, &'static str) {
    if inbox.is_draining() {
        return (StatusCode::SERVICE_UNAVAILABLE, "draining\n");
    }
    match inbox.store().ping().await {
        Ok(()) => (StatusCode::OK, "ready\n"),
        Err(error) => {
            tracing::warn!(%error, "the database does not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n")
        }
    }
}
