//! The HTTP client for models' APIs, shared by all doors.

use crate::egress::{errors, errors::Body};
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use std::{sync::OnceLock, time::Duration};

type Upstream = Client<HttpsConnector<HttpConnector>, Body>;

const CONNECT: Duration = Duration::from_secs(15);
/// The longest time until a model's answer begins.
const ANSWER: Duration = Duration::from_secs(900);
const IDLE: Duration = Duration::from_secs(60);

/// Why a model's API gave no answer. The messages contain neither the key nor the API's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("the key of the model's API cannot be sent as a header")]
    Key,
    #[error("the address of the model's API cannot be asked for this path")]
    Address,
    #[error("this machine has no root certificates to verify the model's API with")]
    NoRoots,
    #[error("the model's API could not be reached")]
    Unreachable,
    #[error("the connection to the model's API broke before it answered")]
    Broken,
    #[error("the model's API did not answer in time")]
    Late,
}

impl NoAnswer {
    pub(super) fn response(self) -> Response<Body> {
        let status = match self {
            Self::Late => StatusCode::GATEWAY_TIMEOUT,
            Self::Key | Self::Address | Self::NoRoots | Self::Unreachable | Self::Broken => StatusCode::BAD_GATEWAY,
        };
        errors::of_model(status, "api_error", &self.to_string())
    }
}

/// Sends a request and waits for the head of the answer. Redirects are not followed.
pub(super) async fn ask(request: Request<Body>) -> Result<Response<Incoming>, NoAnswer> {
    let asking = client()?.request(request);
    match tokio::time::timeout(ANSWER, asking).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => {
            tracing::warn!(error = %causes(&error), "a model's API gave no answer");
            Err(match error.is_connect() {
                true => NoAnswer::Unreachable,
                false => NoAnswer::Broken,
            })
        }
        Err(_) => Err(NoAnswer::Late),
    }
}

/// Returns an error with all its causes, because the outermost alone says little.
fn causes(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        said = format!("{said}: {cause}");
        next = cause.source();
    }
    said
}

/// Returns the client. It is made at the first use, so that the machine's root certificates are read once.
fn client() -> Result<&'static Upstream, NoAnswer> {
    static CLIENT: OnceLock<Upstream> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client);
    }
    let made = make().map_err(|error| {
        tracing::error!(%error, "the machine's root certificates cannot be read");
        NoAnswer::NoRoots
    })?;
    Ok(CLIENT.get_or_init(|| made))
}

fn make() -> std::io::Result<Upstream> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT));
    let https = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(rustls::crypto::aws_lc_rs::default_provider())?
        .https_or_http()
        .enable_http1()
        .wrap_connector(http);
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .build(https))
}
