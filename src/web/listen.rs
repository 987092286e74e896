//! Accepting connections: there is a ceiling on them, slow headers are cut off, requests in flight are finished before the
//! process ends.

use crate::web::connections::{Connections, Place};
use axum::Router;
use hyper::{
    Request,
    body::{Body, Bytes, Frame, Incoming, SizeHint},
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use std::{
    io::ErrorKind,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A client that needs longer than this for its headers, or between two requests, is cut off.
pub const HEADER_PATIENCE: Duration = Duration::from_secs(10);

/// Connections at once; a handle each, of the 1,024 that many systems give a process.
const MOST_CONNECTIONS: usize = 512;

/// What is read of a connection ahead of whoever reads the request.
const READ_AHEAD: usize = 64 << 10;

/// How long an address may still be taken. A process that was killed while it started another leaves it to that one, which
/// lets go as soon as it has become another program.
const LET_GO: Duration = Duration::from_secs(2);

/// How soon a taken address is asked for again.
const AGAIN: Duration = Duration::from_millis(20);

/// How long requests in flight may take after the order to stop.
const LAST_REQUESTS: Duration = Duration::from_secs(10);

/// A bound address that nobody listens on yet.
pub struct Listener {
    socket: TcpListener,
    patience: Duration,
    most: usize,
}

impl Listener {
    /// Binds `address`; port 0 lets the system choose. Waits a little for one that an earlier process is about to free.
    pub async fn bind(address: SocketAddr) -> std::io::Result<Self> {
        let given_up = tokio::time::Instant::now() + LET_GO;
        let socket = loop {
            match TcpListener::bind(address).await {
                Err(error) if error.kind() == ErrorKind::AddrInUse && tokio::time::Instant::now() < given_up => {
                    tokio::time::sleep(AGAIN).await;
                }
                bound => break bound?,
            }
        };
        Ok(Self {
            socket,
            patience: HEADER_PATIENCE,
            most: MOST_CONNECTIONS,
        })
    }

    /// Where it is bound.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The same address with another patience for slow headers.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same address with another ceiling on connections.
    #[must_use]
    pub fn with_most(self, most: usize) -> Self {
        Self { most, ..self }
    }
}

/// Serves until `stop`, then finishes what is in flight.
pub async fn serve(listener: Listener, router: Router, stop: CancellationToken) {
    let graceful = GracefulShutdown::new();
    let connections = Connections::at_most(listener.most);
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.socket.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file handles, for example: those in use come back.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(place) = connections.admit().map(Arc::new) else {
            tracing::warn!("a connection is refused: {} requests are being answered", listener.most);
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (router, held) = (TowerToHyperService::new(router.clone()), Arc::clone(&place));
        let service = service_fn(move |request| answer(router.clone(), request, Arc::clone(&held)));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(listener.patience)
            .max_buf_size(READ_AHEAD)
            .serve_connection(TokioIo::new(stream), service);
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            tokio::select! {
                ended = watched => if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended badly");
                },
                () = place.taken() => tracing::debug!("a connection was cut off for another"),
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(LAST_REQUESTS, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were cut off");
    }
}

async fn answer<S>(router: S, request: Request<Incoming>, place: Arc<Place>) -> Result<S::Response, S::Error>
where
    S: Service<Request<Arriving>>,
{
    let request = request.map(|body| Arriving::new(body, Arc::clone(&place)));
    let answered = router.call(request).await;
    place.waits();
    answered
}

/// A request's body, which says when the sender has done its part.
struct Arriving {
    body: Incoming,
    place: Arc<Place>,
}

impl Arriving {
    fn new(body: Incoming, place: Arc<Place>) -> Self {
        if body.is_end_stream() {
            place.works();
        }
        Self { body, place }
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None)) {
            self.place.works();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::Listener;
    use futures_util::FutureExt;
    use std::{io::ErrorKind, net::SocketAddr};

    #[tokio::test(start_paused = true)]
    async fn an_address_that_is_let_go_of_is_taken_and_another_is_not_waited_for_long() {
        // Of its own, so that nobody is given the port while it is free.
        let first = Listener::bind(SocketAddr::from(([127, 83, 0, 1], 0))).await.unwrap();
        let address = first.address().unwrap();
        let refused = Listener::bind(address).await.err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::AddrInUse);
        let mut waiting = Box::pin(Listener::bind(address));
        assert!((&mut waiting).now_or_never().is_none());
        drop(first);
        assert_eq!(waiting.await.unwrap().address().unwrap(), address);
    }
}
