//! A connection to a host through the proxy: `CONNECT`, and everything after it unchanged.

use crate::{Uplink, exceptions::Exceptions};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper_util::client::legacy::connect::{Connected, Connection};
use rustls::pki_types::ServerName;
use secrecy::{ExposeSecret, SecretString};
use std::{
    fmt, io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use url::Url;

/// The longest head of the proxy's answer, in bytes.
const MAX_HEAD: usize = 16 * 1024;
/// The time limit until the proxy has connected.
const PATIENCE: Duration = Duration::from_secs(15);

/// An organisation's proxy. Its credentials are in no text that it prints.
#[derive(Clone)]
pub struct Proxy {
    url: Url,
    credentials: Option<SecretString>,
    pub(crate) exceptions: Exceptions,
}

/// Why an address is not that of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAProxy {
    /// It is no `http` or `https` address of a host.
    #[error("is not an address such as http://proxy.example.com:3128")]
    Malformed,
    /// It holds credentials, which addresses do not keep secret.
    #[error("holds credentials, which belong into AUTOBUILD_NETWORK_PROXY_CREDENTIALS")]
    Credentials,
}

/// Why the proxy gives no connection.
#[derive(Debug, thiserror::Error)]
pub enum UplinkError {
    /// The proxy itself is not reached.
    #[error("the proxy is not reached: {0}")]
    Unreachable(#[source] io::Error),
    /// The proxy wants other credentials.
    #[error("the proxy does not accept the credentials")]
    Credentials,
    /// The proxy does not connect to the host.
    #[error("the proxy answers {0}")]
    Refused(u16),
    /// The proxy's answer is not HTTP.
    #[error("the proxy's answer cannot be read")]
    Malformed,
    /// There is no answer in time.
    #[error("the proxy does not answer in time")]
    Late,
    /// There is no certificate authority to check the proxy with.
    #[error(transparent)]
    NoAuthorities(#[from] crate::NoAuthorities),
}

impl Proxy {
    /// Describes a proxy; the credentials are `user:password`.
    ///
    /// # Errors
    ///
    /// If the address is not one of a proxy.
    pub fn new(url: Url, credentials: Option<SecretString>, exceptions: Exceptions) -> Result<Self, NotAProxy> {
        Self::check(&url)?;
        Ok(Self { url, credentials, exceptions })
    }

    /// Checks an address.
    ///
    /// # Errors
    ///
    /// If it is not one of a proxy.
    pub fn check(url: &Url) -> Result<(), NotAProxy> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(NotAProxy::Credentials);
        }
        let is_plain = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
        let is_http = matches!(url.scheme(), "http" | "https");
        if is_plain && is_http && url.host().is_some() { Ok(()) } else { Err(NotAProxy::Malformed) }
    }

    /// Returns every form in which its credentials may appear in a text.
    pub fn secrets(&self) -> Vec<SecretString> {
        let Some(credentials) = self.credentials.as_ref().map(|credentials| credentials.expose_secret().trim()) else {
            return Vec::new();
        };
        let password = credentials.split_once(':').map_or(credentials, |(_, password)| password);
        let encoded = STANDARD.encode(credentials);
        [credentials, password, &encoded].map(|text| text.to_owned().into()).into()
    }

    /// Returns its address, which holds no credentials.
    pub fn url(&self) -> &Url {
        &self.url
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("url", &self.url.as_str()).finish_non_exhaustive()
    }
}

impl Uplink {
    /// Connects to a host through `proxy`.
    ///
    /// # Errors
    ///
    /// If the proxy gives no connection.
    pub async fn tunnel(&self, proxy: &Proxy, host: &str, port: u16) -> Result<Stream, UplinkError> {
        let asking = async {
            let mut stream = self.reach(proxy).await?;
            stream
                .write_all(request(proxy, host, port).expose_secret().as_bytes())
                .await
                .map_err(UplinkError::Unreachable)?;
            match status(&head(&mut stream).await?) {
                Some(200..300) => Ok(stream),
                Some(407) => Err(UplinkError::Credentials),
                Some(other) => Err(UplinkError::Refused(other)),
                None => Err(UplinkError::Malformed),
            }
        };
        tokio::time::timeout(PATIENCE, asking).await.unwrap_or(Err(UplinkError::Late))
    }

    async fn reach(&self, proxy: &Proxy) -> Result<Stream, UplinkError> {
        let host = proxy.url.host_str().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let port = proxy.url.port_or_known_default().unwrap_or(80);
        let stream = TcpStream::connect((bare, port)).await;
        let stream = stream.map_err(UplinkError::Unreachable)?;
        // Small messages of a handshake should not wait for each other.
        let _ = stream.set_nodelay(true);
        if proxy.url.scheme() != "https" {
            return Ok(Stream::Plain(stream));
        }
        let name = ServerName::try_from(bare.to_owned()).map_err(|_| UplinkError::Malformed)?;
        let connecting = TlsConnector::from(self.tls()?).connect(name, stream).await;
        Ok(Stream::Encrypted(Box::new(connecting.map_err(UplinkError::Unreachable)?)))
    }
}

fn request(proxy: &Proxy, host: &str, port: u16) -> SecretString {
    let credentials = proxy.credentials.as_ref().map_or_else(String::new, |credentials| {
        let encoded = STANDARD.encode(credentials.expose_secret().trim());
        format!("Proxy-Authorization: Basic {encoded}\r\n")
    });
    format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{credentials}\r\n").into()
}

/// Reads the head of the answer, and nothing after it.
async fn head(stream: &mut Stream) -> Result<Vec<u8>, UplinkError> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = stream.read_u8().await.map_err(UplinkError::Unreachable)?;
        head.push(byte);
        if head.len() > MAX_HEAD {
            return Err(UplinkError::Malformed);
        }
    }
    Ok(head)
}

/// Returns the status in the first line of an answer.
fn status(head: &[u8]) -> Option<u16> {
    let text = String::from_utf8_lossy(head);
    let mut words = text.lines().next()?.split_ascii_whitespace();
    words.next().filter(|version| version.starts_with("HTTP/1."))?;
    words.next()?.parse().ok()
}

/// A connection to a host, directly or through the proxy.
#[derive(Debug)]
pub enum Stream {
    /// To the host, or to a proxy without TLS. The traffic to the host is encrypted in any case.
    Plain(TcpStream),
    /// To a proxy with TLS.
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buf),
            Self::Encrypted(stream) => Pin::new(stream).poll_read(context, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, buf),
            Self::Encrypted(stream) => Pin::new(stream).poll_write(context, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Encrypted(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Encrypted(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NotAProxy, Proxy, status};

    #[test]
    fn an_address_of_a_proxy_is_a_host_and_holds_no_credentials() {
        let check = |text: &str| Proxy::check(&text.parse().unwrap());
        for fine in ["http://proxy.corp:3128", "https://proxy.corp/", "http://[fd00::1]:8080"] {
            assert_eq!(check(fine), Ok(()), "{fine}");
        }
        assert_eq!(check("http://ada:word@proxy.corp"), Err(NotAProxy::Credentials));
        for wrong in ["socks5://proxy.corp", "http://proxy.corp/path", "file:///etc", "http://proxy.corp?x"] {
            assert_eq!(check(wrong), Err(NotAProxy::Malformed), "{wrong}");
        }
    }

    #[test]
    fn the_status_is_that_of_the_first_line() {
        assert_eq!(status(b"HTTP/1.1 200 Connection established\r\n\r\n"), Some(200));
        assert_eq!(status(b"HTTP/1.0 407 x\r\nStatus: 200\r\n\r\n"), Some(407));
        for odd in ["", "\r\n\r\n", "HTTP/1.1\r\n\r\n", "SSH-2.0 200\r\n\r\n", "HTTP/1.1 999999\r\n\r\n"] {
            assert_eq!(status(odd.as_bytes()), None, "{odd}");
        }
    }
}
