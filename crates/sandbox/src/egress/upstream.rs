//! The HTTP client for models' APIs, shared by all doors.

use crate::egress::{errors, errors::Body};
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};
use parking_lot::Mutex;
use std::time::Duration;
use uplink::{Connector, Uplink};

type ModelClient = Client<Connector, Body>;

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
pub(super) async fn ask(request: Request<Body>, uplink: &Uplink) -> Result<Response<Incoming>, NoAnswer> {
    let asking = client(uplink)?.request(request);
    match tokio::time::timeout(ANSWER, asking).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => {
            tracing::warn!(error = %causes(&error), "a model's API gave no answer");
            Err(if error.is_connect() { NoAnswer::Unreachable } else { NoAnswer::Broken })
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

/// Returns the client of an uplink. Each is made once, so that connections are reused.
fn client(uplink: &Uplink) -> Result<ModelClient, NoAnswer> {
    static CLIENTS: Mutex<Vec<(Uplink, ModelClient)>> = Mutex::new(Vec::new());
    let mut clients = CLIENTS.lock();
    if let Some((_, client)) = clients.iter().find(|(known, _)| known.is(uplink)) {
        return Ok(client.clone());
    }
    let connector = uplink.connector().map_err(|error| {
        tracing::error!(%error, "the machine's root certificates cannot be read");
        NoAnswer::NoRoots
    })?;
    let client =
        Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE).build(connector);
    clients.push((uplink.clone(), Client::clone(&client)));
    Ok(client)
}
