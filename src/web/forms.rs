//! Reads the bodies that browsers send, which are forms at most, completely before any handler runs. So a slow sender
//! holds no resources.

use crate::web::bodies::{BODY_PATIENCE, Bodies, BodyFailure, FREE};
use axum::{
    body::Body,
    extract::Request,
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};

/// Reads the body of a request; a request with a body that is too large or too slow is refused.
pub(super) async fn read(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let bodies = Bodies::new();
    let read = tokio::time::timeout(BODY_PATIENCE, bodies.read(body, FREE));
    match read.await {
        Ok(Ok((body, _))) => next.run(Request::from_parts(head, Body::from(body))).await,
        Ok(Err(BodyFailure::TooLarge | BodyFailure::NoRoom)) => {
            (StatusCode::PAYLOAD_TOO_LARGE, "This form is too large.\n").into_response()
        }
        Ok(Err(BodyFailure::BrokenOff)) => (StatusCode::BAD_REQUEST, "The form broke off.\n").into_response(),
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "The form took too long.\n").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use axum::{Router, body::Body, extract::Request, http::StatusCode, middleware::from_fn, routing::post};
    use bytes::Bytes;
    use futures_util::stream;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;
    use std::convert::Infallible;

    async fn answered(body: Body) -> StatusCode {
        let router: Router =
            Router::new().route("/", post(async |body: Bytes| body.len().to_string())).layer(from_fn(read));
        let request = Request::post("/").body(body).unwrap();
        TowerToHyperService::new(router).call(request).await.unwrap().status()
    }

    #[tokio::test(start_paused = true)]
    async fn large_and_slow_forms_go_no_further() {
        assert_eq!(answered(Body::from("token=a")).await, StatusCode::OK);
        let large = Body::from(vec![b'a'; (64 << 10) + 1]);
        assert_eq!(answered(large).await, StatusCode::PAYLOAD_TOO_LARGE);
        let slow = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        assert_eq!(answered(slow).await, StatusCode::REQUEST_TIMEOUT);
    }
}
