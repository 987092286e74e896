//! Counts the bytes of a connection, and ends it if it is silent or open for too long or the run's allowance is used
//! up.

use crate::egress::rules::Caps;
use parking_lot::Mutex;
use std::{
    io,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::OwnedSemaphorePermit,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

/// The bytes that a whole run may still send and receive.
#[derive(Debug)]
pub(super) struct Allowance(AtomicU64);

impl Allowance {
    pub(super) fn new(bytes: u64) -> Self {
        Self(AtomicU64::new(bytes))
    }

    pub(super) fn is_used_up(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    fn take(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(bytes)));
    }
}

/// The progress of a run's programs on the network.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Fires when the first host is refused.
    pub(super) refused: CancellationToken,
    allowed: Mutex<Option<Instant>>,
}

impl Flow {
    /// Returns when the last byte went through a connection to an allowed host.
    pub(super) fn allowed(&self) -> Option<Instant> {
        *self.allowed.lock()
    }

    fn moves(&self) {
        *self.allowed.lock() = Some(Instant::now());
    }
}

/// One connection's clock, and its slot among the door's connections.
#[derive(Debug)]
pub(super) struct Meter {
    allowance: Arc<Allowance>,
    _place: OwnedSemaphorePermit,
    opened: Instant,
    last: Mutex<Instant>,
    /// Set once it leads to an allowed host.
    flow: OnceLock<Arc<Flow>>,
}

impl Meter {
    pub(super) fn new(allowance: Arc<Allowance>, place: OwnedSemaphorePermit) -> Self {
        let now = Instant::now();
        Self { allowance, _place: place, opened: now, last: Mutex::new(now), flow: OnceLock::new() }
    }

    /// Counts its bytes from now on as those of a connection to an allowed host.
    pub(super) fn leads_out(&self, flow: &Arc<Flow>) {
        self.flow.get_or_init(|| Arc::clone(flow)).moves();
    }

    fn went(&self, bytes: usize) {
        if bytes > 0 {
            self.allowance.take(bytes);
            *self.last.lock() = Instant::now();
            if let Some(flow) = self.flow.get() {
                flow.moves();
            }
        }
    }

    /// Waits until the connection has been silent or open for too long.
    pub(super) async fn expired(&self, caps: &Caps) {
        loop {
            let last = *self.last.lock();
            let ends = [last.checked_add(caps.idle), self.opened.checked_add(caps.lifetime)];
            match ends.into_iter().flatten().min() {
                Some(end) if end > Instant::now() => tokio::time::sleep_until(end).await,
                Some(_) => return,
                None => return std::future::pending().await,
            }
        }
    }
}

/// A connection whose bytes are counted. It fails once the run's allowance is used up.
#[derive(Debug)]
pub(super) struct MeteredStream<S> {
    stream: S,
    meter: Arc<Meter>,
}

impl<S> MeteredStream<S> {
    pub(super) fn new(stream: S, meter: Arc<Meter>) -> Self {
        Self { stream, meter }
    }

    fn check(&self) -> io::Result<()> {
        if self.meter.allowance.is_used_up() {
            Err(io::Error::other("this run has sent and received as much as it may"))
        } else {
            Ok(())
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MeteredStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buf);
        self.meter.went(buf.filled().len().saturating_sub(before));
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MeteredStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        let written = Pin::new(&mut self.stream).poll_write(context, buf);
        if let Poll::Ready(Ok(bytes)) = written {
            self.meter.went(bytes);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
