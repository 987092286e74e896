//! Accepts connections up to a limit, cuts off slow headers, and finishes requests in progress before the process ends.

use crate::web::connections::{ConnectionPermit, Connections};
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

/// The time limit for headers, and between two requests; a slower client is cut off.
pub const HEADER_PATIENCE: Duration = Duration::from_secs(10);

/// The most connections at once. Each takes a file handle, of which many systems give a process 1,024.
const MOST_CONNECTIONS: usize = 512;

/// The most bytes that are read of a connection ahead of the request's handler.
const READ_AHEAD: usize = 64 << 10;

/// The time for which binding is tried again while the address is taken. A process that is killed while starting a
/// child leaves the address to the child, which releases it as soon as it executes another program.
const LET_GO: Duration = Duration::from_secs(2);

/// The time between two attempts to bind.
const AGAIN: Duration = Duration::from_millis(20);

/// The time that requests in progress may take after the order to stop.
const LAST_REQUESTS: Duration = Duration::from_secs(10);

/// A bound address on which nothing is served yet.
pub struct Listener {
    socket: TcpListener,
    /// The time limit for slow headers.
    pub patience: Duration,
    /// The most connections at once.
    pub most: usize,
}

impl Listener {
    /// Binds `address`; port 0 lets the system choose. Waits a little for an address that an earlier process is about
    /// to free.
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
        Ok(Self { socket, patience: HEADER_PATIENCE, most: MOST_CONNECTIONS })
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

/// Serves until `stop`, then finishes requests in progress.
pub async fn serve(listener: Listener, router: Router, stop: CancellationToken) {
    let graceful = GracefulShutdown::new();
    let connections = Connections::at_most(listener.most);
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.socket.accept() => accepted,
        };
        let (stream, _) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Perhaps no file handle is free, but some will be soon.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(permit) = connections.admit().map(Arc::new) else {
            tracing::warn!("a connection is refused: {} requests are being answered", listener.most);
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (router, held) = (TowerToHyperService::new(router.clone()), Arc::clone(&permit));
        let service = service_fn(move |request: Request<Incoming>| answer(router.clone(), request, Arc::clone(&held)));
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
                () = permit.wait_until_needed() => tracing::debug!("a connection was cut off for another"),
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(LAST_REQUESTS, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were cut off");
    }
}

async fn answer<S>(
    router: S,
    request: Request<Incoming>,
    permit: Arc<ConnectionPermit>,
) -> Result<S::Response, S::Error>
where
    S: Service<Request<ArrivingBody>>,
{
    let request = request.map(|body| ArrivingBody::new(body, Arc::clone(&permit)));
    let answered = router.call(request).await;
    permit.waits();
    answered
}

/// A request's body, which records when the sender has sent all of it.
struct ArrivingBody {
    body: Incoming,
    permit: Arc<ConnectionPermit>,
}

impl ArrivingBody {
    fn new(body: Incoming, permit: Arc<ConnectionPermit>) -> Self {
        if body.is_end_stream() {
            permit.works();
        }
        Self { body, permit }
    }
}

impl Body for ArrivingBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None)) {
            self.permit.works();
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
        // An address of its own, so that no other test gets the port while it is free.
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
