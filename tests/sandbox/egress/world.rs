//! Doors, servers and clients of the tests.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sandbox::egress::{Caps, Decision, Door, Outcome, Rules};
use std::{
    future::Future,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, crypto::aws_lc_rs};

pub use domain::isolation::Level;

/// A door and its folder.
pub struct World {
    pub door: Door,
    pub folder: TempDir,
}

impl World {
    pub async fn open(rules: Rules) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let door = Door::open(rules, folder.path()).await.unwrap();
        Self { door, folder }
    }

    /// Returns the token from the place where programs read it.
    pub fn token(&self) -> String {
        let url: url::Url = self.door.proxy_url(Level::L0).parse().unwrap();
        url.password().unwrap().to_owned()
    }

    pub fn authorisation(&self) -> String {
        let credentials = STANDARD.encode(format!("run:{}", self.token()));
        format!("Proxy-Authorization: Basic {credentials}\r\n")
    }

    pub async fn connection(&self) -> TcpStream {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.door.port())).await.unwrap()
    }

    /// Requests a tunnel and names the host in it; returns the connection and the answer.
    pub async fn tunnel(&self, target: &str) -> (TcpStream, Reply) {
        let (mut stream, reply) = self.unnamed_tunnel(target).await;
        if reply.status == 200 {
            let (host, _) = target.rsplit_once(':').unwrap();
            stream.write_all(&hello(host)).await.unwrap();
        }
        (stream, reply)
    }

    /// Requests a tunnel; returns the connection and the answer.
    pub async fn unnamed_tunnel(&self, target: &str) -> (TcpStream, Reply) {
        let mut stream = self.connection().await;
        let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{}\r\n", self.authorisation());
        stream.write_all(request.as_bytes()).await.unwrap();
        let reply = Reply::read(&mut stream).await;
        (stream, reply)
    }

    /// Sends bytes unchanged and reads one answer.
    pub async fn raw(&self, bytes: impl AsRef<[u8]>) -> Reply {
        let mut stream = self.connection().await;
        stream.write_all(bytes.as_ref()).await.unwrap();
        Reply::read(&mut stream).await
    }

    /// Returns the decisions about a host.
    pub fn decided(&self, host: &str) -> Vec<Outcome> {
        let log = self.door.log();
        let of_host = log.into_iter().filter(|decision: &Decision| decision.host == host);
        of_host.map(|decision| decision.outcome).collect()
    }
}

/// Returns rules that allow `hosts` and pin each of `pins` to an address.
pub fn rules(hosts: &[&str], pins: &[(&str, SocketAddr)]) -> Rules {
    Rules {
        hosts: hosts.iter().map(|host| host.parse().unwrap()).collect(),
        pinned: pins.iter().map(|(host, address)| (host.parse().unwrap(), *address)).collect(),
        caps: Caps::default(),
        ..Rules::default()
    }
}

/// An answer; the status is 0 if there was none.
#[derive(Debug, Default)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    /// Reads a head, and a body of the length that it announces.
    pub async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Self {
        let Some(head) = read_head(stream).await else {
            return Self::default();
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
        });
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body).await.unwrap();
        Self { status, head, body: String::from_utf8(body).unwrap() }
    }
}

/// Reads up to the blank line; `None` if the connection ends before.
pub async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return None,
        }
    }
    Some(String::from_utf8(head).unwrap())
}

/// Starts a server on loopback that handles every connection with `each`.
pub async fn server<F>(each: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(each(stream));
        }
    });
    address
}

/// Returns the first record of a TLS client that wants `host`.
pub fn hello(host: &str) -> Vec<u8> {
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = host.trim_end_matches('.').to_owned().try_into().unwrap();
    let mut record = Vec::new();
    ClientConnection::new(Arc::new(config), name).unwrap().write_tls(&mut record).unwrap();
    record
}

/// Returns bytes as a TLS record after the handshake.
pub fn record(content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[23, 3, 3], length.as_slice(), content].concat()
}

/// Reads the first record of a TLS client.
pub async fn skip_hello(stream: &mut (impl AsyncRead + Unpin)) {
    let mut header = [0; 5];
    if stream.read_exact(&mut header).await.is_ok() {
        let length = u16::from_be_bytes([header[3], header[4]]);
        let _ = stream.read_exact(&mut vec![0; length.into()]).await;
    }
}

/// Starts a server that sends everything back after the first record of TLS.
pub async fn echo() -> SocketAddr {
    server(|mut stream| async move {
        skip_hello(&mut stream).await;
        let (mut reading, mut writing) = stream.split();
        let _ = tokio::io::copy(&mut reading, &mut writing).await;
    })
    .await
}

/// Sends a word through a tunnel; returns `true` if the same word comes back.
pub async fn echoes(stream: &mut TcpStream, word: &str) -> bool {
    let sent = record(word.as_bytes());
    let mut back = vec![0; sent.len()];
    stream.write_all(&sent).await.is_ok() && stream.read_exact(&mut back).await.is_ok() && back == sent
}
