//! The listener: it logs every request, applies a fault if one was ordered, and passes the request to git, the API or
//! the pages.

use super::{
    answering::{route, whole},
    auth::Caller,
    cgi::text_answer,
    faults::{FaultOrder, Mishap},
    log::{CallKind, LoggedCall},
    reply::reply,
    site::Site,
};
use axum::body::Body;
use bytes::Bytes;
use http::{Request, Response};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use page_parts::session::{OTHER_HOST, is_of_this_machine};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The error that makes the server cut the connection without an answer.
#[derive(Debug, thiserror::Error)]
#[error("cut by order")]
struct ConnectionCut;

/// Accepts connections until told to stop.
pub(super) async fn serve(site: Arc<Site>, listener: TcpListener, stop: CancellationToken) {
    // A forge that only this machine reaches refuses foreign host names (DNS rebinding).
    let here_alone = listener.local_addr().map_or(true, |address| address.ip().is_loopback());
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "the forge could not accept a connection");
                    continue;
                }
            },
        };
        let (site, stop) = (Arc::clone(&site), stop.clone());
        tokio::spawn(async move {
            let stopping = stop.clone();
            let service = service_fn(move |request| handle(Arc::clone(&site), here_alone, stopping.clone(), request));
            let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                () = stop.cancelled() => {}
                // An error is a client that went away or a reply lost by order: nothing to handle.
                _ = connection => {}
            }
        });
    }
}

/// The parts of a request that the log keeps.
pub(super) struct LoggedRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: String,
}

async fn handle(
    site: Arc<Site>,
    here_alone: bool,
    stop: CancellationToken,
    request: Request<Incoming>,
) -> Result<Response<Body>, ConnectionCut> {
    let (head, body) = request.into_parts();
    if here_alone && !is_of_this_machine(&head.headers) {
        return Ok(text_answer(403, OTHER_HOST));
    }
    let path = head.uri.path();
    let seen = LoggedRequest {
        method: head.method.to_string(),
        path: path.strip_prefix("/api/v3").filter(|rest| rest.starts_with('/')).unwrap_or(path).to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
    };
    let mut body = Body::new(body);
    let mut bytes = Bytes::new();
    if site.faults.need_body(&seen.method, &seen.path) {
        bytes = whole(body).await.ok_or(ConnectionCut)?;
        body = Body::from(bytes.clone());
    }
    let Some(order) = site.faults.meet(Some(&seen.method), &seen.path, &bytes) else {
        return answer(site, stop, seen, head, body).await;
    };
    if let Some(answer) = strike_before(&site, &order, &seen).await? {
        return Ok(answer);
    }
    let response = answer(site, stop, seen, head, body).await?;
    strike_after(&order).await?;
    Ok(response)
}

/// Processes a request, and answers once its changes are saved as [`Site::saved`] promises. As on GitHub, this goes on to
/// its end even if the client disconnects: git may already have moved a branch.
async fn answer(
    site: Arc<Site>,
    stop: CancellationToken,
    seen: LoggedRequest,
    head: http::request::Parts,
    body: Body,
) -> Result<Response<Body>, ConnectionCut> {
    let answered = async move {
        let whole = site.whole().await;
        let response = route(&site, &seen, &head, body).await;
        drop(whole);
        site.saved().await;
        response
    };
    let until_stopped = tokio::spawn(async move { stop.run_until_cancelled(answered).await });
    until_stopped.await.ok().flatten().ok_or(ConnectionCut)
}

/// Carries out an order before the request is processed. If it returns an answer, the request is not processed.
async fn strike_before(
    site: &Site,
    order: &FaultOrder,
    seen: &LoggedRequest,
) -> Result<Option<Response<Body>>, ConnectionCut> {
    let logged = |status: u16| log(site, seen, status, &Caller::Anonymous, CallKind::Rest, true);
    match order.mishap() {
        Mishap::Fail { status, body, headers } => {
            order.strike();
            logged(*status);
            let more = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let headers: Vec<_> = [("content-type", "application/json")].into_iter().chain(more).collect();
            return Ok(Some(reply(*status, &headers, body.clone())));
        }
        Mishap::Hold => {
            let mut hold = order.hold();
            order.strike();
            if !hold.released().await {
                logged(0);
                return Err(ConnectionCut);
            }
        }
        Mishap::Delay(time) => {
            order.strike();
            tokio::time::sleep(*time).await;
        }
        Mishap::LoseRequest => {
            order.strike();
            logged(0);
            return Err(ConnectionCut);
        }
        Mishap::LoseReply | Mishap::HoldReply | Mishap::Twice => {}
    }
    Ok(None)
}

/// Carries out an order after the request was processed.
async fn strike_after(order: &FaultOrder) -> Result<(), ConnectionCut> {
    match order.mishap() {
        Mishap::LoseReply => {
            order.strike();
            Err(ConnectionCut)
        }
        Mishap::HoldReply => {
            let mut hold = order.hold();
            order.strike();
            hold.released().await.then_some(()).ok_or(ConnectionCut)
        }
        Mishap::Fail { .. } | Mishap::Hold | Mishap::Delay(_) | Mishap::LoseRequest | Mishap::Twice => Ok(()),
    }
}

pub(super) fn log(site: &Site, seen: &LoggedRequest, status: u16, caller: &Caller, kind: CallKind, known: bool) {
    let (app, user) = site.read(|state| {
        let app = caller.app().and_then(|id| state.apps.get(&id));
        let user = caller.user().map(|id| state.login(id).to_owned());
        (app.map(|app| app.slug.clone()), user)
    });
    let mut calls = site.calls.lock();
    let seq = calls.len() + 1;
    calls.push(LoggedCall {
        seq,
        method: seen.method.clone(),
        path: seen.path.clone(),
        query: seen.query.clone(),
        status,
        app,
        user,
        kind,
        known,
    });
}
