//! A relay on loopback: one address for the process that answers now, and a line that can be cut, stalled or slowed
//! down.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split},
    net::{TcpListener, TcpStream, UnixStream},
    sync::watch,
};

/// The delay of everything on a slow line.
const DELAY: Duration = Duration::from_millis(40);

/// The target of a relay's connections.
#[derive(Clone, Debug)]
pub enum Target {
    /// An address.
    Tcp(String),
    /// A socket in the file system.
    Unix(String),
}

/// The state of all connections of a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Everything passes.
    Open,
    /// Everything passes later.
    Slow,
    /// Connections stay open, and nothing passes until the line changes.
    Stalled,
    /// Every connection is cut, and new ones are refused.
    Cut,
}

/// A relay. It lives as long as the test.
#[derive(Clone)]
pub struct Relay {
    /// The addresses that may answer; the first one that answers is used.
    targets: Arc<Mutex<Vec<Target>>>,
    line: watch::Sender<Line>,
}

impl Relay {
    /// Listens on `listen`; returns the relay and its address.
    pub async fn start(listen: &str, targets: Vec<Target>) -> (Self, String) {
        let listener = TcpListener::bind(listen).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let relay = Self { targets: Arc::new(Mutex::new(targets)), line: watch::Sender::new(Line::Open) };
        let own = relay.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(own.clone().pass(stream));
            }
        });
        (relay, address)
    }

    /// Starts a relay to the PostgreSQL server of this address; also returns the address of the same database through it.
    pub async fn to_database(url: &str) -> (Self, String) {
        let mut url = url::Url::parse(url).unwrap();
        let folder = url.query_pairs().find(|(name, _)| name == "host").map(|(_, folder)| folder.into_owned());
        let target = match folder {
            Some(folder) => Target::Unix(format!("{folder}/.s.PGSQL.5432")),
            None => Target::Tcp(format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432))),
        };
        let (relay, address) = Self::start("127.0.0.1:0", vec![target]).await;
        let (host, port) = address.split_once(':').unwrap();
        url.set_host(Some(host)).unwrap();
        url.set_port(port.parse().ok()).unwrap();
        url.set_query(None);
        (relay, url.to_string())
    }

    /// Replaces the addresses that may answer.
    pub fn lead_to(&self, targets: Vec<Target>) {
        *self.targets.lock().unwrap() = targets;
    }

    /// Changes the state of all connections, present and future.
    pub fn set(&self, line: Line) {
        self.line.send_replace(line);
    }

    async fn pass(self, stream: TcpStream) {
        let line = self.line.subscribe();
        if *line.borrow() == Line::Cut {
            return;
        }
        let targets = self.targets.lock().unwrap().clone();
        for target in targets {
            match target {
                Target::Tcp(address) => {
                    if let Ok(other) = TcpStream::connect(address).await {
                        return between(stream, other, line).await;
                    }
                }
                Target::Unix(path) => {
                    if let Ok(other) = UnixStream::connect(path).await {
                        return between(stream, other, line).await;
                    }
                }
            }
        }
    }
}

async fn between(one: TcpStream, other: impl AsyncRead + AsyncWrite + Unpin, line: watch::Receiver<Line>) {
    let ((from_one, to_one), (from_other, to_other)) = (split(one), split(other));
    let mut cut = line.clone();
    tokio::select! {
        _ = forward(from_one, to_other, line.clone()) => {}
        _ = forward(from_other, to_one, line) => {}
        _ = cut.wait_for(|line| *line == Line::Cut) => {}
    }
}

/// Forwards bytes until one side ends.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut line: watch::Receiver<Line>,
) -> std::io::Result<()> {
    let mut part = vec![0; 1 << 16];
    loop {
        let length = from.read(&mut part).await?;
        if length == 0 {
            return Ok(());
        }
        let passing = line.wait_for(|line| *line != Line::Stalled).await.map(|line| *line);
        if passing.is_ok_and(|line| line == Line::Slow) {
            tokio::time::sleep(DELAY).await;
        }
        to.write_all(&part[..length]).await?;
    }
}
