//! Serves one connection at the door, and passes each request to one of the two proxies.

use crate::egress::{
    call_slots::CallSlots,
    connect, errors,
    errors::Body,
    free_bytes::FreeBytes,
    log::{ByServer, Log, Outcome, Refusal},
    meter::{Allowance, Flow, Meter, MeteredStream},
    models,
    refusals::Refusals,
    rules::{Caps, Rules},
    tally::Tally,
    trust::Trust,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{network::HostName, refused_host::RefusedHost, registries};
use http::{HeaderMap, Method, Request, Response, header::PROXY_AUTHORIZATION};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use secrecy::{ExposeSecret, SecretString};
use std::{convert::Infallible, sync::Arc};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The size limit of a request's head, in bytes and in number of headers.
const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;
const MAX_CREDENTIALS: usize = 1024;

/// The state that all connections of one door share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) rules: Rules,
    pub(super) token: SecretString,
    pub(super) log: Log,
    pub(super) allowance: Arc<Allowance>,
    pub(super) flow: Arc<Flow>,
    pub(super) refused: Refusals,
    pub(super) tally: Arc<Tally>,
    pub(super) places: Arc<CallSlots>,
    /// The memory for requests to models, in bytes.
    pub(super) bodies: Arc<Semaphore>,
    /// The authority for registries and its certificates; `None` if no registry may be reached.
    pub(super) trust: Option<Trust>,
    pub(super) free_bytes: FreeBytes,
    /// Fires when the door closes.
    pub(super) closed: CancellationToken,
    pub(super) serving: TaskTracker,
}

impl Shared {
    pub(super) fn is_token(&self, given: &[u8]) -> bool {
        let token = self.token.expose_secret().as_bytes();
        aws_lc_rs::constant_time::verify_slices_are_equal(given, token).is_ok()
    }

    pub(super) fn refuse(&self, host: &str, refusal: Refusal) -> Response<Body> {
        self.log.note(host, Outcome::Refused(refusal));
        if let Some(refused) = self.refused_host(host, refusal) {
            self.flow.refused.cancel();
            self.rules.refusals.add(refused.clone());
            self.refused.add(refused);
        }
        errors::refused(&self.rules, refusal)
    }
}

/// The longest name of a host that is shown.
const MAX_HOST: usize = 253;

impl Shared {
    fn refused_host(&self, host: &str, refusal: Refusal) -> Option<RefusedHost> {
        let is_allowed = |name: &HostName| self.rules.ceiling.iter().any(|rule| rule.covers(name));
        let by_server = match host.parse().ok().filter(is_allowed) {
            Some(name) if registries::of_host(&name).is_some() => ByServer::Registry,
            Some(_) => ByServer::Allowed,
            None => ByServer::Never,
        };
        let why = refusal.of_host(by_server)?;
        let host: String = host.chars().filter(|c| !c.is_control()).take(MAX_HOST).collect();
        Some(RefusedHost { host, why })
    }
}

/// Serves one connection to its end. Errors in it concern only the program.
pub(super) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    place: OwnedSemaphorePermit,
    shared: Arc<Shared>,
) {
    if shared.allowance.is_used_up() {
        shared.log.note("", Outcome::Refused(Refusal::UsedUp));
        return;
    }
    let meter = Arc::new(Meter::new(Arc::clone(&shared.allowance), place));
    let stream = TokioIo::new(MeteredStream::new(stream, Arc::clone(&meter)));
    let service = service_fn(|request| {
        let (shared, meter) = (Arc::clone(&shared), Arc::clone(&meter));
        async move { Ok::<_, Infallible>(answer(request, shared, meter).await) }
    });
    let caps = shared.rules.caps;
    let connection = http(&caps).serve_connection(stream, service).with_upgrades();
    tokio::select! {
        _ = connection => {}
        () = meter.expired(&caps) => {}
        () = shared.closed.cancelled() => {}
    }
}

/// Returns the settings of an HTTP server for programs.
pub(super) fn http(caps: &Caps) -> http1::Builder {
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(caps.head)
        .max_header_size(MAX_HEAD)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .half_close(false);
    server
}

async fn answer(request: Request<Incoming>, shared: Arc<Shared>, meter: Arc<Meter>) -> Response<Body> {
    let is_for_proxy = request.method() == Method::CONNECT || request.uri().authority().is_some();
    if !is_for_proxy {
        return models::answer(request, &shared).await;
    }
    let asked = request.uri().to_string();
    if !is_authorised(request.headers(), &shared) {
        return shared.refuse(&asked, Refusal::NoToken);
    }
    match *request.method() {
        Method::CONNECT => connect::answer(request, &shared, meter).await,
        _ => shared.refuse(request.uri().host().unwrap_or_default(), Refusal::Plain),
    }
}

/// `true` if the run's token is the password of the only `Proxy-Authorization` header.
fn is_authorised(headers: &HeaderMap, shared: &Shared) -> bool {
    let mut given = headers.get_all(PROXY_AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else {
        return false;
    };
    let Some((scheme, credentials)) = value.to_str().ok().and_then(|text| text.split_once(' ')) else {
        return false;
    };
    if !scheme.eq_ignore_ascii_case("basic") || credentials.len() > MAX_CREDENTIALS {
        return false;
    }
    let Ok(decoded) = STANDARD.decode(credentials.trim()) else {
        return false;
    };
    let mut parts = decoded.splitn(2, |byte| *byte == b':');
    let password = parts.nth(1);
    password.is_some_and(|password| shared.is_token(password))
}
