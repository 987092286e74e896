//! Whether the process is alive, and whether it can take work.

use crate::web::Inbox;
use axum::extract::State;
use axum::http::StatusCode;
use std::sync::Arc;

/// Alive is whoever answers.
pub(super) async fn alive() -> &'static str {
    "ok\n"
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
