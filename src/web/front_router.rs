//! The routes of the HTTP server, which stay while the service behind them is started and stopped: the set-up, and the
//! current service if there is one.

use crate::web::{dashboard, forms, setup, setup::Setup};
use axum::{
    Router,
    extract::{Request, State},
    http::{Method, StatusCode, header::LOCATION},
    middleware::from_fn,
    response::{IntoResponse, Response},
    routing::get,
};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

/// The time that a delivery waits for the service: GitHub waits 10 seconds, and does not send again.
const PATIENCE: Duration = Duration::from_secs(8);

/// The part of the HTTP server that stays while services change.
#[derive(Clone)]
pub struct FrontRouter {
    service: watch::Sender<Option<Router>>,
    setup: Option<Arc<Setup>>,
}

impl FrontRouter {
    /// Creates a router without a service behind it.
    pub fn new(setup: Option<Arc<Setup>>) -> Self {
        Self { service: watch::Sender::new(None), setup }
    }

    /// Sets the service that is shown; `None` for none.
    pub fn show(&self, service: Option<Router>) {
        self.service.send_replace(service);
    }

    pub fn router(&self) -> Router {
        let behind = Router::new().fallback(forward).with_state(self.clone());
        match &self.setup {
            None => behind,
            Some(setup) => setup::routes(Arc::clone(setup))
                .layer(from_fn(forms::read))
                .route("/assets/pages.css", get(dashboard::style))
                .route("/assets/icon.svg", get(dashboard::icon))
                .fallback_service(behind),
        }
    }

    /// `true` if a service is expected to start.
    fn awaits(&self) -> bool {
        let setup = self.setup.as_ref();
        setup.is_none_or(|setup| !setup.is_open() || setup.has_app())
    }

    fn without_service(&self, request: &Request) -> Response {
        match (request.method(), request.uri().path()) {
            (_, "/healthz") => "ok\n".into_response(),
            (&Method::GET, "/") if self.setup.as_ref().is_some_and(|setup| setup.is_open()) => {
                (StatusCode::SEE_OTHER, [(LOCATION, "/setup")]).into_response()
            }
            _ => (StatusCode::SERVICE_UNAVAILABLE, "not set up yet, or starting\n").into_response(),
        }
    }
}

async fn forward(State(front): State<FrontRouter>, request: Request) -> Response {
    let mut service = front.service.subscribe();
    if request.uri().path() == "/webhook" && service.borrow().is_none() && front.awaits() {
        let _ = tokio::time::timeout(PATIENCE, service.wait_for(Option::is_some)).await;
    }
    let router = service.borrow().clone();
    match router {
        Some(router) => match TowerToHyperService::new(router).call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        },
        None => front.without_service(&request),
    }
}
