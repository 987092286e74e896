//! One request and its answer.
//!
//! Requests use only paths, never absolute URLs, so credentials go to GitHub alone. A read is retried here twice, a write
//! never.
//!
//! octocrab signs the App's token. The rest is written here because of faults in octocrab 0.54. It repeats a failed
//! POST up to three times, turns a moved POST into a GET, and mints eight tokens for eight parallel first calls. It
//! requests the next page of an Enterprise Server without credentials, and sends its GraphQL to a wrong path. It
//! neither limits the size of an answer nor recognises a rate limit without a header, and refuses a whole payload for
//! one new action.

use super::{
    app::App,
    error::{GithubError, refusal},
    urls::GithubUrls,
};
use crate::github::error::Cause;
use bytes::Bytes;
use domain::ids::{AppId, Millis};
use http::{
    HeaderMap, HeaderValue, Method, Request, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT},
};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Frame, SizeHint};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use jsonwebtoken::EncodingKey;
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{pin::Pin, sync::Arc, task, task::Poll, time::Duration};
use text::secret::Secrets;
use uplink::{Connector, NoAuthorities, Uplink};

/// The version of GitHub's REST API. Without it, GitHub would answer in the form that is its default at that time.
const API_VERSION: &str = "2022-11-28";

/// The time limit of the whole exchange.
const WHOLE_CALL: Duration = Duration::from_secs(60);

/// The largest answer in bytes. A page of a hundred of the longest comments fits.
const MAX_ANSWER: usize = 32 * 1024 * 1024;

/// The default pauses before a read is tried again.
pub const READ_PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];

/// A function that returns the present time. The caller passes it in, so that no rule here reads a clock itself.
pub type Clock = fn() -> Millis;

/// The intent of a request. A lost reply means something else for a write than for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    Read,
    Write,
}

/// Returns `true` if a write may still be sent, at the last moment: the process may have been frozen since the
/// decision.
pub type Permit = Arc<dyn Fn() -> bool + Send + Sync>;

/// The body of a request, which is not sent if its permit is gone.
struct Permitted {
    body: Full<Bytes>,
    permit: Option<Permit>,
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the lease of this write may be over")]
struct NotPermitted;

impl hyper::body::Body for Permitted {
    type Data = Bytes;
    type Error = NotPermitted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, NotPermitted>>> {
        if self.permit.as_ref().is_some_and(|permit| !permit()) {
            return Poll::Ready(Some(Err(NotPermitted)));
        }
        Pin::new(&mut self.body).poll_frame(context).map_err(|never| match never {})
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// One request without its credentials.
pub(super) struct Call<'a> {
    pub(super) method: Method,
    /// The path and query below the API's base.
    pub(super) path: &'a str,
    pub(super) body: Option<&'a Value>,
    pub(super) intent: Intent,
    pub(super) permit: Option<&'a Permit>,
}

impl<'a> Call<'a> {
    pub(super) fn get(path: &'a str) -> Self {
        Self { method: Method::GET, path, body: None, intent: Intent::Read, permit: None }
    }

    pub(super) fn post(path: &'a str, body: Option<&'a Value>) -> Self {
        Self { method: Method::POST, path, body, intent: Intent::Write, permit: None }
    }
}

/// The path of GraphQL, whose base differs from that of the REST API. The caller interprets its answers.
pub(super) const GRAPHQL: &str = "/graphql";

pub(super) enum Credential<'a> {
    /// The App itself, with a fresh JWT.
    App,
    /// One of the App's installations.
    Token(&'a SecretString),
}

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Reply {
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, GithubError> {
        text::json::read(&self.body).map_err(malformed)
    }

    /// Reads the value at this JSON pointer; a missing one is null.
    pub(super) fn at<T: DeserializeOwned>(&self, pointer: &str) -> Result<T, GithubError> {
        let mut whole: Value = self.json()?;
        let found = whole.pointer_mut(pointer).map(Value::take).unwrap_or_default();
        serde_json::from_value(found).map_err(malformed)
    }
}

/// The connections of one App to one GitHub. Several Apps may share them, since each request has its own credentials.
#[derive(Clone)]
pub(super) struct Wire {
    rest: Api,
    graphql: Api,
    app: AppId,
    key: EncodingKey,
    clock: Clock,
    /// The secrets that are masked in everything that is sent.
    pub(super) secrets: Secrets,
    /// The pauses before a read is tried again.
    pub(super) read_pauses: [Duration; 2],
}

impl Wire {
    pub(super) fn new(urls: &GithubUrls, app: &App, clock: Clock) -> Result<Self, NoAuthorities> {
        let rest = Api::new(urls.api(), &urls.uplink)?;
        let graphql = Api { base: urls.graphql_base().to_owned(), ..rest.clone() };
        Ok(Self {
            rest,
            graphql,
            app: app.id,
            key: app.key.clone(),
            clock,
            secrets: Secrets::default(),
            read_pauses: READ_PAUSES,
        })
    }

    /// Returns the same connections for another App.
    pub(super) fn of(&self, app: &App) -> Self {
        Self { app: app.id, key: app.key.clone(), ..self.clone() }
    }

    /// Masks this token too, everywhere, until it expires.
    pub(super) fn learn(&self, token: &SecretString, until: Millis) {
        self.secrets.learn(token, until.0, self.now().0);
    }

    pub(super) fn now(&self) -> Millis {
        (self.clock)()
    }

    /// Returns the headers of an answer to a request without credentials, with any status.
    pub(super) async fn headers_for_anyone(&self, path: &str) -> Result<HeaderMap, GithubError> {
        Ok(timed(&self.rest, &Call::get(path), None, None).await?.headers)
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
        let api = if call.path == GRAPHQL { &self.graphql } else { &self.rest };
        // Every call passes here, so a secret that was overlooked before is masked.
        let body = call.body.map(|body| self.secrets.mask_json(body.clone()));
        let reply = timed(api, call, Some(&token), body.as_ref()).await?;
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

/// Makes a call without credentials, for calls whose path or body proves the right.
pub(super) async fn anonymous(base: &str, uplink: &Uplink, call: &Call<'_>, now: Millis) -> Result<Reply, GithubError> {
    let api = Api::new(base, uplink).map_err(malformed)?;
    let reply = timed(&api, call, None, call.body).await?;
    if reply.status.is_success() { Ok(reply) } else { Err(refusal(&reply, call.intent, now)) }
}

#[derive(Clone)]
struct Api {
    /// The address that paths follow, without a slash at the end.
    base: String,
    client: Client<Connector, Permitted>,
}

impl Api {
    fn new(base: &str, uplink: &Uplink) -> Result<Self, NoAuthorities> {
        Ok(Self { base: base.to_owned(), client: Client::builder(TokioExecutor::new()).build(uplink.connector()?) })
    }
}

/// Why there is no answer.
enum ExchangeFailure {
    /// The request was not sent.
    Unsent(Cause),
    /// The request may have arrived.
    InFlight(Cause),
    /// The answer is larger than the limit.
    TooLarge(Cause),
}

impl ExchangeFailure {
    fn into_error(self, intent: Intent) -> GithubError {
        match (self, intent) {
            (Self::TooLarge(source), _) => GithubError::Malformed { source },
            (Self::InFlight(source), Intent::Write) => GithubError::Uncertain { source, retry_after: None },
            (Self::InFlight(source), Intent::Read) | (Self::Unsent(source), _) => {
                GithubError::Transient { source, retry_after: None }
            }
        }
    }
}

/// Makes one exchange within its time limit.
async fn timed(
    api: &Api,
    call: &Call<'_>,
    token: Option<&SecretString>,
    body: Option<&Value>,
) -> Result<Reply, GithubError> {
    let exchanged = match tokio::time::timeout(WHOLE_CALL, exchange(api, call, token, body)).await {
        Ok(exchanged) => exchanged,
        Err(late) => Err(ExchangeFailure::InFlight(late.into())),
    };
    exchanged.map_err(|failure| failure.into_error(call.intent))
}

async fn exchange(
    api: &Api,
    call: &Call<'_>,
    token: Option<&SecretString>,
    body: Option<&Value>,
) -> Result<Reply, ExchangeFailure> {
    let request = request(api, call, token, body).map_err(|error| ExchangeFailure::Unsent(error.into()))?;
    let response = api.client.request(request).await;
    let response = response.map_err(|error| {
        if error.is_connect() { ExchangeFailure::Unsent(error.into()) } else { ExchangeFailure::InFlight(error.into()) }
    })?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MAX_ANSWER).collect().await;
    let body = body.map_err(|error| {
        if error.is::<LengthLimitError>() { ExchangeFailure::TooLarge(error) } else { ExchangeFailure::InFlight(error) }
    })?;
    Ok(Reply { status: head.status, headers: head.headers, body: body.to_bytes() })
}

fn request(
    api: &Api,
    call: &Call<'_>,
    token: Option<&SecretString>,
    body: Option<&Value>,
) -> http::Result<Request<Permitted>> {
    let mut request = Request::builder()
        .method(call.method.clone())
        .uri(format!("{}{}", api.base, call.path))
        .header(ACCEPT, "application/json")
        .header("x-github-api-version", API_VERSION)
        .header(USER_AGENT, concat!("AutoBuild/", env!("CARGO_PKG_VERSION")));
    if let Some(token) = token {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()))?;
        value.set_sensitive(true);
        request = request.header(AUTHORIZATION, value);
    }
    let permit = call.permit.cloned();
    let Some(body) = body else {
        let body = Full::default();
        return request.body(Permitted { body, permit });
    };
    let request = request.header(CONTENT_TYPE, "application/json");
    let body = Full::new(Bytes::from(body.to_string()));
    request.body(Permitted { body, permit })
}

/// Masks our token in the answer, so that it cannot get into an error.
fn without_token(reply: Reply, who: &Credential<'_>) -> Reply {
    let Credential::Token(token) = who else {
        return reply;
    };
    let text = String::from_utf8_lossy(&reply.body);
    if text.contains(token.expose_secret()) {
        Reply { body: Bytes::from(text.replace(token.expose_secret(), "***")), ..reply }
    } else {
        reply
    }
}

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
