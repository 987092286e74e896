//! One request and its answer, on top of octocrab.
//!
//! Requests use only paths, never absolute URLs, which octocrab sends without credentials. octocrab's own retries are
//! off. A read is retried here twice, a write never.

use super::{
    app::App,
    error::{GithubError, refusal},
    urls::GithubUrls,
};
use crate::github::error::Cause;
use bytes::Bytes;
use domain::{
    ids::{AppId, Millis},
    secret::Secrets,
};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use jsonwebtoken::EncodingKey;
use octocrab::{Octocrab, service::middleware::retry::RetryConfig};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{error::Error, time::Duration};

const CONNECT: Duration = Duration::from_secs(10);
const WRITE: Duration = Duration::from_secs(30);

/// The time limit of the whole exchange. octocrab's read time-out is useless: for a pooled connection it also counts
/// the time before the request, and would interrupt a new request.
const WHOLE_CALL: Duration = Duration::from_secs(60);

/// The largest answer in bytes. A page of a hundred of the longest comments fits.
const MAX_ANSWER: usize = 32 * 1024 * 1024;

/// The default pauses before a read is tried again.
pub const READ_PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];

/// A function that returns the present time. The caller passes it in, so that no rule here reads a clock itself.
pub type Clock = fn() -> Millis;

/// Whether a request changes anything. A lost reply has a different meaning for a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    Read,
    Write,
}

/// One request without its credentials.
pub(super) struct Call<'a> {
    pub(super) method: Method,
    /// The path and query below the API's base.
    pub(super) path: &'a str,
    pub(super) body: Option<&'a Value>,
    pub(super) intent: Intent,
}

impl<'a> Call<'a> {
    pub(super) fn get(path: &'a str) -> Self {
        Self {
            method: Method::GET,
            path,
            body: None,
            intent: Intent::Read,
        }
    }

    pub(super) fn post(path: &'a str, body: Option<&'a Value>) -> Self {
        Self {
            method: Method::POST,
            path,
            body,
            intent: Intent::Write,
        }
    }
}

/// The path of GraphQL, whose base differs from that of the REST API. The caller interprets its answers.
pub(super) const GRAPHQL: &str = "/graphql";

/// The sender of a request.
pub(super) enum Credential<'a> {
    /// The App itself, with a fresh JWT.
    App,
    /// One of the App's installations.
    Token(&'a SecretString),
}

/// A successful answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Reply {
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, GithubError> {
        domain::json::read(&self.body).map_err(malformed)
    }
}

/// The connections of one App to one GitHub. Several Apps may share them, since each request has its own credentials.
#[derive(Clone)]
pub(super) struct Wire {
    rest: Octocrab,
    graphql: Octocrab,
    app: AppId,
    key: EncodingKey,
    clock: Clock,
    /// The secrets that are masked in everything that is sent.
    pub(super) secrets: Secrets,
    /// The pauses before a read is tried again.
    pub(super) read_pauses: [Duration; 2],
}

impl Wire {
    /// Prepares the connections. Must be called within a tokio runtime, because octocrab starts a task.
    pub(super) fn new(urls: &GithubUrls, app: &App, clock: Clock) -> octocrab::Result<Self> {
        let rest = connect(urls.api())?;
        let graphql = match urls.graphql_base() {
            base if base == urls.api() => rest.clone(),
            base => connect(base)?,
        };
        Ok(Self {
            rest,
            graphql,
            app: app.id,
            key: app.key().clone(),
            clock,
            secrets: Secrets::default(),
            read_pauses: READ_PAUSES,
        })
    }

    /// Returns the same connections for another App.
    pub(super) fn of(&self, app: &App) -> Self {
        Self {
            app: app.id,
            key: app.key().clone(),
            ..self.clone()
        }
    }

    /// Masks this token too, everywhere, until it expires.
    pub(super) fn learn(&self, token: &SecretString, until: Millis) {
        self.secrets.learn(token, until, self.now());
    }

    pub(super) fn now(&self) -> Millis {
        (self.clock)()
    }

    /// Returns the headers of an answer to a request without credentials, whatever its status.
    pub(super) async fn headers_for_anyone(&self, path: &str) -> Result<HeaderMap, GithubError> {
        Ok(timed(&self.rest, &Call::get(path), None).await?.headers)
    }

    /// Makes a call to either API.
    pub(super) async fn send(&self, who: &Credential<'_>, call: &Call<'_>) -> Result<Reply, GithubError> {
        let mut pauses = self.read_pauses.iter();
        loop {
            let result = self.once(who, call).await;
            let again = matches!(&result, Err(GithubError::Transient { retry_after: None, .. }));
            match (call.intent, pauses.next()) {
                (Intent::Read, Some(pause)) if again => tokio::time::sleep(*pause).await,
                _ => return result,
            }
        }
    }

    async fn once(&self, who: &Credential<'_>, call: &Call<'_>) -> Result<Reply, GithubError> {
        let token = match who {
            Credential::App => {
                let jwt = octocrab::auth::create_jwt(octocrab::models::AppId(self.app.0), &self.key);
                SecretString::from(jwt.map_err(malformed)?)
            }
            Credential::Token(token) => (*token).clone(),
        };
        let api = if call.path == GRAPHQL {
            &self.graphql
        } else {
            &self.rest
        };
        let crab = api.user_access_token(token).map_err(malformed)?;
        // Every call passes here, so a secret that was overlooked before is masked.
        let body = call.body.map(|body| self.secrets.mask_json(body.clone()));
        let reply = timed(&crab, call, body.as_ref()).await?;
        tracing::debug!(method = %call.method, path = call.path, status = reply.status.as_u16(), "GitHub answered");
        if reply.status.is_success() {
            Ok(reply)
        } else {
            Err(refusal(&without_token(reply, who), call.intent, self.now()))
        }
    }
}

fn malformed(error: impl std::error::Error + Send + Sync + 'static) -> GithubError {
    GithubError::Malformed { source: error.into() }
}

/// Makes a call without credentials of its own; the call contains everything needed.
pub(super) async fn anonymous(base: &str, call: &Call<'_>, now: Millis) -> Result<Reply, GithubError> {
    let crab = connect(base).map_err(malformed)?;
    let reply = timed(&crab, call, call.body).await?;
    match reply.status.is_success() {
        true => Ok(reply),
        false => Err(refusal(&reply, call.intent, now)),
    }
}

fn connect(base: &str) -> octocrab::Result<Octocrab> {
    Octocrab::builder()
        .base_uri(base)?
        .add_retry_config(RetryConfig::None)
        .set_connect_timeout(Some(CONNECT))
        .set_write_timeout(Some(WRITE))
        .build()
}

/// Why there is no answer.
enum Failure {
    /// The request was not sent.
    Unsent(Cause),
    /// The request may have arrived.
    InFlight(Cause),
    /// The answer is larger than the limit.
    TooLarge(Cause),
}

impl Failure {
    fn into_error(self, intent: Intent) -> GithubError {
        match (self, intent) {
            (Self::TooLarge(source), _) => GithubError::Malformed { source },
            (Self::InFlight(source), Intent::Write) => GithubError::Uncertain {
                source,
                retry_after: None,
            },
            (Self::InFlight(source), Intent::Read) | (Self::Unsent(source), _) => GithubError::Transient {
                source,
                retry_after: None,
            },
        }
    }
}

/// Makes one exchange within its time limit.
async fn timed(crab: &Octocrab, call: &Call<'_>, body: Option<&Value>) -> Result<Reply, GithubError> {
    let exchanged = match tokio::time::timeout(WHOLE_CALL, exchange(crab, call, body)).await {
        Ok(exchanged) => exchanged,
        Err(late) => Err(Failure::InFlight(late.into())),
    };
    exchanged.map_err(|failure| failure.into_error(call.intent))
}

async fn exchange(crab: &Octocrab, call: &Call<'_>, body: Option<&Value>) -> Result<Reply, Failure> {
    let unsent = |error: octocrab::Error| Failure::Unsent(error.into());
    let request = http::request::Builder::new()
        .method(call.method.clone())
        .uri(call.path)
        .header(http::header::ACCEPT, "application/json");
    let request = crab.build_request(request, body).map_err(unsent)?;
    let response = crab
        .execute(request)
        .await
        .map_err(|error| match never_connected(&error) {
            true => Failure::Unsent(error.into()),
            false => Failure::InFlight(error.into()),
        })?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MAX_ANSWER).collect().await;
    let body = body.map_err(|error| match error.is::<LengthLimitError>() {
        true => Failure::TooLarge(error),
        false => Failure::InFlight(error),
    })?;
    Ok(Reply {
        status: head.status,
        headers: head.headers,
        body: body.to_bytes(),
    })
}

fn never_connected(error: &octocrab::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(client) = error.downcast_ref::<hyper_util::client::legacy::Error>() {
            return client.is_connect();
        }
        cause = error.source();
    }
    false
}

/// Masks our token in the answer, so that it cannot get into an error.
fn without_token(reply: Reply, who: &Credential<'_>) -> Reply {
    let Credential::Token(token) = who else {
        return reply;
    };
    let text = String::from_utf8_lossy(&reply.body);
    match text.contains(token.expose_secret()) {
        true => Reply {
            body: Bytes::from(text.replace(token.expose_secret(), "***")),
            ..reply
        },
        false => reply,
    }
}

/// Escapes one segment of a path.
pub(super) fn segment(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// Escapes a branch name within a path, but keeps its slashes.
pub(super) fn branch_path(branch: &str) -> String {
    branch.split('/').map(segment).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_cannot_leave_its_place() {
        assert_eq!(segment("autobuild[bot]"), "autobuild%5Bbot%5D");
        assert_eq!(segment("../a?b#c/é"), "..%2Fa%3Fb%23c%2F%C3%A9");
        assert_eq!(branch_path("autobuild/42/täsk 1"), "autobuild/42/t%C3%A4sk%201");
    }
}
