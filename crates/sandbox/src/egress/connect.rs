//! CONNECT: a tunnel to an allowed host, at an address that was checked.

use crate::egress::{
    address::is_public,
    errors,
    errors::Body,
    log::{Outcome, Refusal},
    meter::Meter,
    rules::{PORT, Rules},
    serve::Shared,
    target,
    target::Target,
};
use domain::network::HostName;
use http::{
    Request, Response,
    header::{CONTENT_LENGTH, TRANSFER_ENCODING},
};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::net::TcpStream;

/// The most addresses of one host that are tried.
const MAX_ADDRESSES: usize = 8;
/// The time limit for one address, so that one without an answer leaves time for the next.
const PER_ADDRESS: Duration = Duration::from_secs(5);

/// Answers a CONNECT request that carries the token.
pub(super) async fn answer(request: Request<Incoming>, shared: &Arc<Shared>, meter: Arc<Meter>) -> Response<Body> {
    let asked = request.uri().to_string();
    let has_body = [CONTENT_LENGTH, TRANSFER_ENCODING]
        .iter()
        .any(|header| request.headers().contains_key(header));
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
    tokio::spawn(tunnel(request, upstream, Arc::clone(shared), meter));
    Response::new(errors::full(""))
}

fn check(host: &HostName, port: u16, rules: &Rules) -> Result<(), Refusal> {
    match (port, rules.allow(host)) {
        (_, false) => Err(Refusal::NotListed),
        (PORT, true) => Ok(()),
        (port, true) => Err(Refusal::Port(port)),
    }
}

/// Connects to exactly the address that was checked. A later change of the name's address has no effect (DNS
/// rebinding).
async fn connect(host: &HostName, rules: &Rules) -> Result<TcpStream, Refusal> {
    for address in resolve(host, rules).await? {
        let connecting = tokio::time::timeout(PER_ADDRESS, TcpStream::connect(address));
        if let Ok(Ok(stream)) = connecting.await {
            // Small messages of a handshake should not wait for each other.
            let _ = stream.set_nodelay(true);
            return Ok(stream);
        }
    }
    Err(Refusal::Unreachable)
}

async fn resolve(host: &HostName, rules: &Rules) -> Result<Vec<SocketAddr>, Refusal> {
    if let Some(pinned) = rules.pinned.get(host) {
        return Ok(vec![*pinned]);
    }
    let found = tokio::net::lookup_host((host.as_str(), PORT)).await;
    let found: Vec<SocketAddr> = found.map_err(|_| Refusal::Unresolved)?.take(MAX_ADDRESSES).collect();
    let (public, special): (Vec<_>, Vec<_>) = found.into_iter().partition(|address| is_public(address.ip()));
    match (public.is_empty(), special.first()) {
        (false, _) => Ok(public),
        (true, Some(address)) => Err(Refusal::NotPublic(address.ip())),
        (true, None) => Err(Refusal::Unresolved),
    }
}

/// Copies in both directions until both sides have ended, a limit is reached or the door closes.
async fn tunnel(request: Request<Incoming>, mut upstream: TcpStream, shared: Arc<Shared>, meter: Arc<Meter>) {
    let copying = async {
        let Ok(inside) = hyper::upgrade::on(request).await else {
            return;
        };
        // If a tunnel breaks, the program itself notices.
        let _ = tokio::io::copy_bidirectional(&mut TokioIo::new(inside), &mut upstream).await;
    };
    tokio::select! {
        () = copying => {}
        () = meter.expired(&shared.rules.caps) => {}
        () = shared.closed.cancelled() => {}
    }
}
