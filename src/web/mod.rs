//! The HTTP interface of the service: the webhook inbox, health, metrics and the dashboard.
//!
//! It never acts on a delivery: a delivery is stored and acknowledged here, and a worker reads it later.

#![warn(clippy::wildcard_enum_match_arm)]

mod bodies;
mod connections;
mod dashboard;
mod forms;
mod frame;
mod front_router;
mod health;
mod inbox;
mod listen;
mod log_throttle;
mod metrics;
mod setup;
mod token_tries;

pub use bodies::BODY_PATIENCE;
pub use front_router::FrontRouter;
pub use inbox::{Doctor, Inbox, MAX_BODY, STORE_PATIENCE};
pub use listen::{HEADER_PATIENCE, Listener, serve};
pub use metrics::{FAMILIES, Family};
pub use setup::{SIGNED_IN, Setup, SetupLink, SetupOptions};

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::from_fn,
    routing::{get, post},
};
use std::sync::Arc;

/// The routes of a service that GitHub and people reach.
pub fn router(inbox: Arc<Inbox>) -> Router {
    Router::new()
        .route("/webhook", post(inbox::webhook).layer(DefaultBodyLimit::disable()))
        .merge(dashboard::routes(&inbox).layer(from_fn(forms::read)))
        .with_state(inbox.clone())
        .merge(worker_router(inbox))
}

/// The routes of a worker process, which only the operators' machines reach.
pub fn worker_router(inbox: Arc<Inbox>) -> Router {
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(metrics::metrics))
        .with_state(inbox)
}
