//! Accepting connections: slow headers are cut off, requests in flight are finished before the process ends.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::rt::TokioTimer;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A client that needs longer than this for its headers, or between two requests, is cut off.
pub const HEADER_PATIENCE: Duration = Duration::from_secs(10);

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
}

/// Serves until `stop`, then finishes what is in flight.
pub async fn serve(listener: Listener, router: Router, stop: CancellationToken) {
    let graceful = GracefulShutdown::new();
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
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(listener.patience)
            .serve_connection(TokioIo::new(stream), service);
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = watched.await {
                tracing::debug!(%error, "a connection ended badly");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(LAST_REQUESTS, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were cut off");
    }
}

#[cfg(test)]
mod tests {
    use super::Listener;
    use futures_util::FutureExt;
    use std::io::ErrorKind;
    use std::net::SocketAddr;

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
