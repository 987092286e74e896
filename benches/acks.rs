//! The rate of durable acknowledgements: the real service on loopback gets signed bodies of 11 kB with unique delivery
//! ids. For comparison, the same run commits deliveries one by one into the same table.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench that cannot go on has failed"
)]

mod support;

use autobuild::store::{OpenOptions, Store};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous},
};
use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

const ROUNDS: usize = 3;
const DELIVERIES: usize = 6_000;
const SINGLE: usize = 1_500;

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = support::Server::start(folder.path());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (idle, _) = server.memory_kib();
    println!("started in {:.1?}, idle: {:.1} MiB", server.started_in, mib(idle));
    let body: Arc<str> = support::payload().into();
    let single = one_commit_each(folder.path()).await;
    for connections in [32, 256] {
        for round in 0..ROUNDS {
            let name = format!("{connections}-{round}");
            let cpu = server.cpu_us();
            let grouped = burst(connections, DELIVERIES, &name, &body, server.address).await;
            let cpu = server.cpu_us() - cpu;
            let alone = commits(connections, SINGLE, &name, &body, &single).await;
            println!(
                "{connections:>3} connections: {grouped} | one commit each: {alone} | {:.1} times | {} µs CPU per \
                 acknowledgement, reading the deliveries included",
                grouped.per_second() / alone.per_second(),
                cpu / u64::try_from(DELIVERIES).unwrap_or(1),
            );
        }
    }
    let (now, peak) = server.memory_kib();
    println!("under load: {:.1} MiB, peak {:.1} MiB", mib(now), mib(peak));
}

#[allow(clippy::as_conversions, clippy::cast_precision_loss, reason = "for people to read")]
fn mib(kib: u64) -> f64 {
    kib as f64 / 1_024.0
}

/// The times of a burst.
struct Burst {
    count: u32,
    all: Duration,
    p99: Duration,
}

impl Burst {
    fn of(mut times: Vec<Duration>, all: Duration) -> Self {
        Self {
            count: u32::try_from(times.len()).unwrap_or(u32::MAX),
            all,
            p99: support::percentile(&mut times, 99),
        }
    }

    fn per_second(&self) -> f64 {
        f64::from(self.count) / self.all.as_secs_f64()
    }
}

impl std::fmt::Display for Burst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0}/s, p99 {:.1?}", self.per_second(), self.p99)
    }
}

/// Returns the value of `X-Hub-Signature-256`.
fn signature(body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(support::SECRET.as_bytes()).expect("any length is a key");
    mac.update(body.as_bytes());
    let digest = mac.finalize().into_bytes();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

/// Sends deliveries over this many connections. Each waits for its acknowledgement before it sends the next.
async fn burst(connections: usize, count: usize, name: &str, body: &Arc<str>, address: SocketAddr) -> Burst {
    let head: Arc<str> = format!(
        "POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-github-event: push\r\n\
         x-hub-signature-256: {}\r\ncontent-length: {}\r\n",
        signature(body),
        body.len()
    )
    .into();
    let mut streams = Vec::new();
    for _ in 0..connections {
        let stream = TcpStream::connect(address).await.expect("the service accepts");
        stream.set_nodelay(true).expect("a socket");
        streams.push(stream);
    }
    let begun = Instant::now();
    let mut senders = JoinSet::new();
    for (sender, mut stream) in streams.into_iter().enumerate() {
        let (head, body, name) = (Arc::clone(&head), Arc::clone(body), name.to_owned());
        senders.spawn(async move {
            let mut times = Vec::new();
            for number in 0..count / connections {
                let request = format!("{head}x-github-delivery: {name}-{sender}-{number}\r\n\r\n{body}");
                let begun = Instant::now();
                stream.write_all(request.as_bytes()).await.expect("sent");
                let mut answer = [0; 1_024];
                let length = stream.read(&mut answer).await.expect("answered");
                times.push(begun.elapsed());
                let status = answer.get(..length.min(12)).unwrap_or_default();
                assert_eq!(status, b"HTTP/1.1 202", "{}", String::from_utf8_lossy(&answer));
            }
            times
        });
    }
    let times = senders.join_all().await.concat();
    Burst::of(times, begun.elapsed())
}

/// Opens a separate database with the same tables, the same durability and one writing connection.
async fn one_commit_each(folder: &std::path::Path) -> SqlitePool {
    let file = folder.join("single.db");
    let url = format!("sqlite:{}", file.display());
    let store = Store::open(&url, OpenOptions::default()).await.expect("a database");
    store.close().await;
    let options = SqliteConnectOptions::new()
        .filename(file)
        .synchronous(SqliteSynchronous::Full);
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_secs(60));
    pool.connect_with(options).await.expect("a database")
}

async fn commits(senders: usize, count: usize, name: &str, body: &Arc<str>, pool: &SqlitePool) -> Burst {
    let begun = Instant::now();
    let mut waiting = JoinSet::new();
    for sender in 0..senders {
        let (pool, body, name) = (pool.clone(), Arc::clone(body), name.to_owned());
        waiting.spawn(async move {
            let mut times = Vec::new();
            for number in 0..count / senders {
                let begun = Instant::now();
                let mut tx = pool.begin_with("BEGIN IMMEDIATE").await.expect("a transaction");
                sqlx::query(
                    "INSERT INTO delivery (app_id, id, event, payload, received_at, source) \
                     VALUES (7, $1, 'push', $2, 0, 'webhook') ON CONFLICT (app_id, id) DO NOTHING",
                )
                .bind(format!("{name}-{sender}-{number}"))
                .bind(&*body)
                .execute(&mut *tx)
                .await
                .expect("inserted");
                tx.commit().await.expect("committed");
                times.push(begun.elapsed());
            }
            times
        });
    }
    let times = waiting.join_all().await.concat();
    Burst::of(times, begun.elapsed())
}
