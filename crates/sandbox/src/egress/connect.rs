//! CONNECT: a tunnel to an allowed host, at an address that was checked. A registry is reached through the door's reader.

use crate::egress::{
    address::is_public,
    errors,
    errors::Body,
    log::{Outcome, Refusal},
    meter::Meter,
    named_stream::NamedStream,
    registry::RegistryVisit,
    rules::{PORT, Rules},
    serve::Shared,
    target,
    target::Target,
};
use domain::{network::HostName, registries};
use http::{
    Request, Response,
    header::{CONTENT_LENGTH, TRANSFER_ENCODING},
};
use hyper::{body::Incoming, upgrade::Upgraded};
use hyper_util::rt::TokioIo;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::net::TcpStream;
use uplink::{Proxy, Stream};

/// The most addresses of one host that are tried.
const MAX_ADDRESSES: usize = 8;
/// The time limit for one address, so that a silent one leaves time for the next.
const PER_ADDRESS: Duration = Duration::from_secs(5);
/// The time limit for looking up a name that the organisation's proxy looks up too.
const LOOK_UP: Duration = Duration::from_secs(1);

/// Answers a CONNECT request that carries the token.
pub(super) async fn answer(request: Request<Incoming>, shared: &Arc<Shared>, meter: Arc<Meter>) -> Response<Body> {
    let asked = request.uri().to_string();
    let has_body = [CONTENT_LENGTH, TRANSFER_ENCODING].iter().any(|header| request.headers().contains_key(header));
    // A body before the tunnel can make two readers of one stream disagree (request smuggling).
    if has_body {
        return shared.refuse(&asked, Refusal::NotATarget);
    }
    let Ok(Target { host, port }) = target::read(&asked) else {
        return shared.refuse(&asked, Refusal::NotATarget);
    };
    if let Err(refusal) = check(&host, port, &shared.rules) {
        return shared.refuse(host.as_str(), refusal);
    }
    let connecting = tokio::time::timeout(shared.rules.caps.connect, connect(&host, &shared.rules));
    let upstream = match connecting.await {
        Ok(Ok(upstream)) => upstream,
        Ok(Err(refusal)) => return shared.refuse(host.as_str(), refusal),
        Err(_) => return shared.refuse(host.as_str(), Refusal::Unreachable),
    };
    shared.log.note(host.as_str(), Outcome::Allowed);
    meter.leads_out(&shared.flow);
    tokio::spawn(serve(request, host, upstream, Arc::clone(shared), meter));
    Response::new(errors::full(""))
}

fn check(host: &HostName, port: u16, rules: &Rules) -> Result<(), Refusal> {
    match rules.allow(host) {
        false => Err(Refusal::NotListed),
        true if port == rules.port.unwrap_or(PORT) => Ok(()),
        true => Err(Refusal::Port(port)),
    }
}

/// Connects to exactly the address that was checked. A later change of the name's address has no effect (DNS
/// rebinding).
pub(super) async fn connect(host: &HostName, rules: &Rules) -> Result<Stream, Refusal> {
    if let Some(pinned) = rules.pinned.get(host) {
        return to_first(&[*pinned]).await;
    }
    match rules.uplink.proxy_for(host.as_str()) {
        Some(proxy) => through(proxy, host, rules).await,
        None => to_first(&resolve(host, rules).await?).await,
    }
}

async fn to_first(addresses: &[SocketAddr]) -> Result<Stream, Refusal> {
    for address in addresses {
        let connecting = tokio::time::timeout(PER_ADDRESS, TcpStream::connect(address));
        if let Ok(Ok(stream)) = connecting.await {
            // Small messages of a handshake should not wait for each other.
            let _ = stream.set_nodelay(true);
            return Ok(Stream::Plain(stream));
        }
    }
    Err(Refusal::Unreachable)
}

/// Connects through the organisation's proxy, which looks up the name. A name that this machine resolves to an address
/// that is not public stays closed.
async fn through(proxy: &Proxy, host: &HostName, rules: &Rules) -> Result<Stream, Refusal> {
    if let Ok(Err(refusal @ Refusal::NotPublic(_))) = tokio::time::timeout(LOOK_UP, resolve(host, rules)).await {
        return Err(refusal);
    }
    let port = rules.port.unwrap_or(PORT);
    let tunnel = rules.uplink.tunnel(proxy, host.as_str(), port).await;
    tunnel.map_err(|error| {
        tracing::warn!(%error, %host, "{host} is not reached through the proxy of AUTOBUILD_NETWORK_PROXY: {error}");
        Refusal::Upstream
    })
}

async fn resolve(host: &HostName, rules: &Rules) -> Result<Vec<SocketAddr>, Refusal> {
    let found = tokio::net::lookup_host((host.as_str(), rules.port.unwrap_or(PORT))).await;
    let found: Vec<SocketAddr> = found.map_err(|_| Refusal::Unresolved)?.take(MAX_ADDRESSES).collect();
    let (public, special): (Vec<_>, Vec<_>) = found.into_iter().partition(|address| is_public(address.ip()));
    match (public.is_empty(), special.first()) {
        (false, _) => Ok(public),
        (true, Some(address)) => Err(Refusal::NotPublic(address.ip())),
        (true, None) => Err(Refusal::Unresolved),
    }
}

/// Serves a tunnel until both sides have ended, a limit is reached or the door closes.
async fn serve(request: Request<Incoming>, host: HostName, upstream: Stream, shared: Arc<Shared>, meter: Arc<Meter>) {
    let serving = async {
        if let Ok(inside) = hyper::upgrade::on(request).await {
            lead(TokioIo::new(inside), host, upstream, &shared).await;
        }
    };
    tokio::select! {
        () = serving => {}
        () = meter.expired(&shared.rules.caps) => {}
        () = shared.closed.cancelled() => {}
    }
}

async fn lead(inside: TokioIo<Upgraded>, host: HostName, mut upstream: Stream, shared: &Arc<Shared>) {
    let mut inside = match NamedStream::open(inside, host.clone(), shared.rules.caps.head).await {
        Ok(inside) => inside,
        Err(fault) => return drop(shared.refuse(host.as_str(), Refusal::Hello(fault))),
    };
    if let Some(registry) = registries::of_host(&host) {
        let visit = RegistryVisit::new(host, registry, upstream, Arc::clone(shared));
        return visit.serve(inside).await;
    }
    // If a tunnel breaks, the program itself notices.
    let _ = tokio::io::copy_bidirectional(&mut inside, &mut upstream).await;
    if let Some(fault) = inside.fault {
        drop(shared.refuse(host.as_str(), Refusal::Hello(fault)));
    }
}
