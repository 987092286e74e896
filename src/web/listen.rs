//! Accepting connections: slow headers are cut off, requests in flight are finished before the process ends.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::rt::TokioTimer;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A client that needs longer than this for its headers, or between two requests, is cut off.
pub const HEADER_PATIENCE: Duration = Duration::from_secs(10);

/// How long requests in flight may take after the order to stop.
const LAST_REQUESTS: Duration = Duration::from_secs(10);

/// A bound address that nobody listens on yet.
pub struct Listener {
    socket: TcpListener,
    patience: Duration,
}

impl Listener {
    /// Binds `address`; port 0 lets the system choose.
    pub async fn bind(address: SocketAddr) -> std::io::Result<Self> {
        Ok(Self {
            socket: TcpListener::bind(address).await?,
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
