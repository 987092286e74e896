//! Plain pages for people: what is on the forge, readable in a browser.

use super::site::Site;
use axum::body::Body;
use http::Response;
use std::sync::Arc;

pub(super) async fn serve(site: &Arc<Site>, parts: &[&str]) -> Option<Response<Body>> {
    let _ = (site, parts);
    None
}

pub(super) fn missing() -> Response<Body> {
    let mut response = Response::new(Body::from("Not found"));
    *response.status_mut() = http::StatusCode::NOT_FOUND;
    response
}
