//! The memory of the service while 50 senders send large bodies slowly, and while 50 deliveries of that size are stored.

#![allow(clippy::expect_used, reason = "a bench that cannot go on has failed")]

mod support;

use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

const SENDERS: usize = 50;
const ROUNDS: usize = 3;

/// The length of each body: almost the largest that is accepted.
const LENGTH: usize = 24 << 20;

/// The number of bytes that are sent at once.
const PIECE: usize = 64 << 10;

/// How senders end.
#[derive(Clone, Copy, Debug)]
enum End {
    /// All but the last byte is sent, and then nothing.
    Never,
    /// The whole body is sent.
    Whole,
}

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = support::Server::start(folder.path());
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("idle: {} MiB", server.memory_kib().0 / 1_024);
    let body: Arc<str> = support::payload_of(LENGTH, 9).into();
    for round in 0..ROUNDS {
        for end in [End::Never, End::Whole] {
            let mut senders = JoinSet::new();
            for sender in 0..SENDERS {
                let name = format!("{end:?}-{round}-{sender}");
                senders.spawn(send(server.address, Arc::clone(&body), name, end));
            }
            let mut answers: Vec<String> = senders.join_all().await;
            answers.sort_unstable();
            let accepted = answers.iter().filter(|answer| *answer == "202").count();
            let (now, peak) = server.memory_kib();
            println!("{end:?}: {accepted} of {SENDERS} stored; {} MiB now, {} MiB at most", now / 1_024, peak / 1_024);
        }
    }
}

/// Sends a delivery in pieces with pauses, and returns the status of the answer, if there is one.
async fn send(address: SocketAddr, body: Arc<str>, name: String, end: End) -> String {
    let mut stream = TcpStream::connect(address).await.expect("the service accepts");
    let head = format!(
        "POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-github-event: push\r\n\
         x-hub-signature-256: {}\r\ncontent-length: {}\r\nx-github-delivery: {name}\r\n\r\n",
        support::signature(&body),
        body.len()
    );
    let sent = match end {
        End::Never => body.len().saturating_sub(1),
        End::Whole => body.len(),
    };
    let mut sending = stream.write_all(head.as_bytes()).await.is_ok();
    for piece in body.as_bytes().get(..sent).unwrap_or_default().chunks(PIECE) {
        sending = sending && stream.write_all(piece).await.is_ok();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut answer = [0; 12];
    match stream.read_exact(&mut answer).await {
        Ok(_) => String::from_utf8_lossy(answer.get(9..).unwrap_or_default()).into_owned(),
        Err(_) => "none".to_owned(),
    }
}
