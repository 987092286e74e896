//! A relay on loopback: one address for whichever process answers now, and a line that can be cut.

use std::sync::{Arc, Mutex};
use tokio::{
    io::{AsyncRead, AsyncWrite, copy_bidirectional},
    net::{TcpListener, TcpStream, UnixStream},
    sync::watch,
};

/// Where the connections of a relay lead.
#[derive(Clone, Debug)]
pub enum Target {
    /// An address.
    Tcp(String),
    /// A socket in the file system.
    Unix(String),
}

/// A relay. It lives as long as the test.
#[derive(Clone)]
pub struct Relay {
    /// The addresses that may answer; the first that does is taken.
    targets: Arc<Mutex<Vec<Target>>>,
    /// `true` while the line is open.
    is_open: watch::Sender<bool>,
}

impl Relay {
    /// Listens on `listen`; returns the relay and its address.
    pub async fn start(listen: &str, targets: Vec<Target>) -> (Self, String) {
        let listener = TcpListener::bind(listen).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let relay = Self {
            targets: Arc::new(Mutex::new(targets)),
            is_open: watch::Sender::new(true),
        };
        let own = relay.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(own.clone().pass(stream));
            }
        });
        (relay, address)
    }

    /// Replaces the addresses that may answer.
    pub fn lead_to(&self, targets: Vec<Target>) {
        *self.targets.lock().unwrap() = targets;
    }

    /// Cuts every connection, and refuses new ones until [`Relay::mend`].
    pub fn cut(&self) {
        self.is_open.send_replace(false);
    }

    /// Opens the line again.
    pub fn mend(&self) {
        self.is_open.send_replace(true);
    }

    async fn pass(self, stream: TcpStream) {
        let mut is_open = self.is_open.subscribe();
        if !*is_open.borrow() {
            return;
        }
        let targets = self.targets.lock().unwrap().clone();
        for target in targets {
            let cut = is_open.wait_for(|is_open| !is_open);
            match target {
                Target::Tcp(address) => {
                    if let Ok(other) = TcpStream::connect(address).await {
                        return between(stream, other, cut).await;
                    }
                }
                Target::Unix(path) => {
                    if let Ok(other) = UnixStream::connect(path).await {
                        return between(stream, other, cut).await;
                    }
                }
            }
        }
    }
}

async fn between<T>(mut one: TcpStream, mut other: impl AsyncRead + AsyncWrite + Unpin, cut: impl Future<Output = T>) {
    tokio::select! {
        _ = copy_bidirectional(&mut one, &mut other) => {}
        _ = cut => {}
    }
}
