//! Builds the answers of git, the API and the pages.

use axum::body::Body;
use http::{HeaderName, HeaderValue, Response, StatusCode};

/// Builds an answer. A header that is not valid is left out; a later one replaces an earlier one.
pub(super) fn reply(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
