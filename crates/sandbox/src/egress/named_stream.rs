//! A tunnel's inner side. It passes nothing on before the program has named the tunnel's host.

use crate::egress::client_hello::{ClientHellos, HelloFault};
use domain::network::HostName;
use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

const CHUNK: usize = 4 * 1024;

/// The bytes of a tunnel. Reading fails at a ClientHello that does not name the host.
#[derive(Debug)]
pub(super) struct NamedStream<S> {
    stream: S,
    hellos: ClientHellos,
    /// The part of the first ClientHello that was not passed on yet.
    held: Vec<u8>,
    pub(super) fault: Option<HelloFault>,
}

impl<S: AsyncRead + Unpin> NamedStream<S> {
    /// Reads the first ClientHello.
    ///
    /// # Errors
    ///
    /// It does not name the host, or does not come within the time.
    pub(super) async fn open(mut stream: S, host: HostName, within: Duration) -> Result<Self, HelloFault> {
        let (mut hellos, mut held) = (ClientHellos::of(host), Vec::new());
        let reading = async {
            while !hellos.has_named_host() {
                let mut chunk = [0; CHUNK];
                let length = stream.read(&mut chunk).await.unwrap_or(0);
                let bytes = chunk.get(..length).filter(|bytes| !bytes.is_empty());
                let bytes = bytes.ok_or(HelloFault::Closed)?;
                hellos.read(bytes)?;
                held.extend_from_slice(bytes);
            }
            Ok(())
        };
        tokio::time::timeout(within, reading).await.unwrap_or(Err(HelloFault::Endless))?;
        Ok(Self { stream, hellos, held, fault: None })
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for NamedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.held.is_empty() {
            let length = self.held.len().min(buf.remaining());
            buf.put_slice(self.held.get(..length).unwrap_or_default());
            self.held.drain(..length);
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buf))?;
        let new = buf.filled().get(before..).unwrap_or_default();
        if let Err(fault) = self.hellos.read(new) {
            buf.set_filled(before);
            self.fault = Some(fault);
            return Poll::Ready(Err(io::Error::from(io::ErrorKind::InvalidData)));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for NamedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
