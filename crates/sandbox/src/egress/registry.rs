//! A registry behind the proxy: the door ends TLS, and passes only requests that read packages.
//!
//! Each connection from inside has its own connection to the registry, whose certificate is verified as usual. Answers
//! pass unchanged. Of a request, only the path and a few headers pass.

use crate::egress::{
    connect,
    errors::Body,
    headers,
    log::Refusal,
    serve::{self, Shared},
};
use bytes::Bytes;
use domain::{
    network::HostName,
    registries::{NotARead, Registry, ServedBy},
};
use http::{
    HeaderMap, HeaderValue, Method, Request, Response,
    header::{HOST, LOCATION, USER_AGENT},
};
use http_body_util::{BodyExt, Empty};
use hyper::{
    body::{Body as _, Incoming},
    client::conn::http1::{SendRequest, handshake},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use std::{convert::Infallible, mem, sync::Arc};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Mutex,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};
use uplink::{Causes, Stream};
use url::{Position, Url};

/// The name that the door gives itself, because some registries refuse requests without one.
const NAME: HeaderValue = HeaderValue::from_static("AutoBuild");

/// Hosts whose redirects the door follows itself, because the files are at hosts to which anybody can upload: the host
/// alone chooses which file is read. Gradle's wrapper downloads Gradle this way.
const FOLLOWED: [(&str, [&str; 2]); 1] =
    [("services.gradle.org", ["github.com", "release-assets.githubusercontent.com"])];

type Sender = SendRequest<Empty<Bytes>>;

/// A registry that a program has a connection to.
#[derive(Debug)]
pub(super) struct RegistryVisit {
    host: HostName,
    registry: &'static Registry,
    shared: Arc<Shared>,
    upstream: Mutex<Upstream>,
}

/// The connection to the registry.
#[derive(Debug)]
enum Upstream {
    /// Connected, and nothing was sent.
    Connected(Stream),
    /// Ready for the next request.
    Open(Sender),
    Lost,
}

impl RegistryVisit {
    pub(super) fn new(host: HostName, registry: &'static Registry, connected: Stream, shared: Arc<Shared>) -> Self {
        Self { host, registry, shared, upstream: Mutex::new(Upstream::Connected(connected)) }
    }

    /// Serves a connection from inside to its end. Errors in it concern only the program.
    pub(super) async fn serve(self, inside: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Some(authority) = self.shared.trust.as_ref().map(|trust| &trust.authority) else {
            return;
        };
        let config = match authority.server(&self.host) {
            Ok(config) => config,
            Err(error) => {
                let host = &self.host;
                return tracing::error!(%error, %host, "the door cannot speak for {host}");
            }
        };
        let Ok(inside) = TlsAcceptor::from(config).accept(inside).await else {
            return;
        };
        let service = service_fn(async |request| Ok::<_, Infallible>(self.answer(request).await));
        let _ = serve::http(&self.shared.rules.caps).serve_connection(TokioIo::new(inside), service).await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        match self.forward(&request).await {
            Ok(response) => response,
            Err(Refused { what, why }) => self.shared.refuse(&what, why),
        }
    }

    async fn forward(&self, request: &Request<Incoming>) -> Result<Response<Body>, Refused> {
        let refused = |why| Refused { what: self.host.to_string(), why };
        let target = self.target(request)?;
        let free_bytes = &self.shared.free_bytes;
        if !free_bytes.count(target, &headers::of_reading(request.headers())) {
            return Err(refused(Refusal::TooManyMisses));
        }
        let response = self.ask(request, target).await.map_err(refused)?;
        let response = self.follow(request, response).await.map_err(refused)?;
        free_bytes.answered(&self.host, target, response.status(), response.headers());
        let (mut head, body) = response.into_parts();
        head.headers = headers::onward(&head.headers);
        Ok(Response::from_parts(head, body.map_err(Into::into).boxed()))
    }

    /// Returns the path of a request that only reads packages.
    fn target<'r>(&self, request: &'r Request<Incoming>) -> Result<&'r str, Refused> {
        let not_a_read = || Refused { what: self.host.to_string(), why: Refusal::NotARead };
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD) && request.body().is_end_stream();
        let is_here = request.uri().authority().is_none() && self.is_named_in(request.headers());
        let target = request.uri().path_and_query().map(http::uri::PathAndQuery::as_str);
        let target = target.filter(|_| is_read && is_here).ok_or_else(not_a_read)?;
        let rules = &self.shared.rules;
        let served_by = if rules.pinned.contains_key(&self.host) { ServedBy::Mirror } else { ServedBy::Registry };
        match self.registry.check(target, served_by, &rules.go_modules) {
            Ok(()) => Ok(target),
            Err(NotARead::Path) => Err(not_a_read()),
            Err(NotARead::UnnamedModule(module)) => {
                Err(Refused { what: format!("{}/{module}", self.host), why: Refusal::UnnamedModule })
            }
        }
    }

    /// `true` if the only `Host` header names this registry.
    fn is_named_in(&self, headers: &HeaderMap) -> bool {
        let mut named = headers.get_all(HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return false;
        };
        let host = host.to_str().unwrap_or_default();
        host.strip_suffix(":443").unwrap_or(host).parse().as_ref() == Ok(&self.host)
    }

    async fn ask(&self, asked: &Request<Incoming>, target: &str) -> Result<Response<Incoming>, Refusal> {
        let mut upstream = self.upstream.lock().await;
        let mut refusal = Refusal::Unreachable;
        // A registry may have closed an idle connection.
        for connection in [mem::replace(&mut *upstream, Upstream::Lost), Upstream::Lost] {
            let request = self.request(asked, target).ok_or(Refusal::NotARead)?;
            match self.open(connection).await {
                Ok(mut sender) => {
                    if let Ok(response) = sender.send_request(request).await {
                        *upstream = Upstream::Open(sender);
                        return Ok(response);
                    }
                }
                Err(why @ (Refusal::Certificate | Refusal::NotPublic(_))) => return Err(why),
                Err(why) => refusal = why,
            }
        }
        Err(refusal)
    }

    /// Follows the redirects of a host in [`FOLLOWED`].
    async fn follow(
        &self,
        asked: &Request<Incoming>,
        mut response: Response<Incoming>,
    ) -> Result<Response<Incoming>, Refusal> {
        let followed = FOLLOWED.iter().find(|(host, _)| *host == self.host.as_str());
        let Some((_, hosts)) = followed else { return Ok(response) };
        for _ in hosts {
            let Some(address) = address_of(&response).filter(|to| hosts.iter().any(|host| to.host_str() == Some(host)))
            else {
                break;
            };
            let Ok(host) = address.host_str().unwrap_or_default().parse() else { break };
            let upstream = Mutex::new(Upstream::Lost);
            let next = Self { host, registry: self.registry, shared: Arc::clone(&self.shared), upstream };
            response = next.ask(asked, &address[Position::BeforePath..Position::AfterQuery]).await?;
        }
        Ok(response)
    }

    fn request(&self, asked: &Request<Incoming>, target: &str) -> Option<Request<Empty<Bytes>>> {
        let mut request = Request::builder().method(asked.method()).uri(target).body(Empty::new()).ok()?;
        *request.headers_mut() = headers::of_reading(asked.headers());
        let host = HeaderValue::from_str(self.host.as_str()).ok()?;
        request.headers_mut().insert(HOST, host);
        request.headers_mut().insert(USER_AGENT, NAME);
        Some(request)
    }

    async fn open(&self, upstream: Upstream) -> Result<Sender, Refusal> {
        let rules = &self.shared.rules;
        let opening = async {
            match upstream {
                Upstream::Open(mut sender) => sender.ready().await.map(|()| sender).map_err(|_| Refusal::Unreachable),
                Upstream::Connected(stream) => self.greet(stream).await,
                Upstream::Lost => self.greet(connect::connect(&self.host, rules).await?).await,
            }
        };
        tokio::time::timeout(rules.caps.connect, opening).await.unwrap_or(Err(Refusal::Unreachable))
    }

    /// Begins TLS and HTTP with the registry.
    async fn greet(&self, stream: Stream) -> Result<Sender, Refusal> {
        let host = &self.host;
        let name = ServerName::try_from(host.to_string()).map_err(|_| Refusal::Unreachable)?;
        let tls = self.shared.rules.uplink.tls().map_err(|error| {
            tracing::error!(%error, "the machine's root certificates cannot be read");
            Refusal::Certificate
        })?;
        let stream = TlsConnector::from(tls).connect(name, stream).await.map_err(|error| {
            let causes = Causes(&error);
            tracing::warn!(%host, "TLS with {host} failed: {causes}");
            if causes.is_unknown_authority() { Refusal::Certificate } else { Refusal::Unreachable }
        })?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|_| Refusal::Unreachable)?;
        // It ends with its sender.
        tokio::spawn(connection);
        Ok(sender)
    }
}

/// Returns the address to which an answer leads.
fn address_of(response: &Response<Incoming>) -> Option<Url> {
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
    let address = Url::parse(location.to_str().ok()?).ok()?;
    (address.scheme() == "https" && address.port().is_none()).then_some(address)
}

/// A refused request: its name in the log, and the reason.
struct Refused {
    what: String,
    why: Refusal,
}

#[cfg(test)]
mod tests;
