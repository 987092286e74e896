//! The rate of durable acknowledgements: the real service on loopback gets signed bodies of 11 kB with unique delivery
//! ids. For comparison, the same run sends them to a Node service (`benches/node`) that commits each one.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a bench that cannot go on has failed")]

mod support;

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

const ROUNDS: usize = 3;

/// The number of issues that the deliveries are about. Those of one issue are processed one after the other.
const ISSUES: usize = 100;

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = support::Server::start(folder.path());
    let node = NodeServer::start(&folder.path().join("node.db"));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (idle, _) = server.memory_kib();
    println!("started in {:.1?}, idle: {:.1} MiB", server.started_in, mib(idle));
    let requests: Arc<[(String, String)]> = (1..=ISSUES).map(|issue| around_id(&support::payload(issue))).collect();
    for (connections, count) in [(1, 1_000), (32, 6_000), (256, 6_000)] {
        for round in 0..ROUNDS {
            let name = format!("{connections}-{round}");
            let cpu = server.cpu_us();
            let ours = burst(connections, count, &name, &requests, server.address).await;
            let read_in = until_idle(&server).await;
            let cpu = server.cpu_us() - cpu;
            print!("{connections:>3} connections: {ours}, read {read_in:.1?} later");
            if let Some(node) = &node {
                let theirs = burst(connections, count / 4, &name, &requests, node.address).await;
                print!(" | Node: {theirs} | {:.1} times", ours.per_second() / theirs.per_second());
            }
            let each = cpu / u64::try_from(count).unwrap_or(1);
            println!(" | {each} µs CPU per acknowledgement, reading the deliveries included");
        }
    }
    let (now, peak) = server.memory_kib();
    println!("under load: {:.1} MiB, peak {:.1} MiB", mib(now), mib(peak));
}

/// A Node service with the webhook handling that Probot uses.
struct NodeServer {
    child: Child,
    address: SocketAddr,
}

impl NodeServer {
    /// Starts the service; `None` unless `npm ci` was run in `benches/node`.
    fn start(database: &Path) -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/node");
        if !folder.join("node_modules").exists() {
            println!("without a Node service: run npm ci in benches/node");
            return None;
        }
        let mut command = Command::new("node");
        command.arg(folder.join("server.mjs")).arg(database).arg(support::SECRET);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("node starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let port: u16 = line.trim().parse().expect("a port");
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        Some(Self { child, address })
    }
}

impl Drop for NodeServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
        Self { count: u32::try_from(times.len()).unwrap_or(u32::MAX), all, p99: support::percentile(&mut times, 99) }
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

/// Returns a request up to the id of the delivery, and what follows it.
fn around_id(body: &str) -> (String, String) {
    let head = format!(
        "POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-github-event: push\r\n\
         x-hub-signature-256: {}\r\ncontent-length: {}\r\nx-github-delivery: ",
        support::signature(body),
        body.len()
    );
    (head, format!("\r\n\r\n{body}"))
}

/// Waits until the service has read its deliveries, so that Node has the machine to itself. Returns how long that took.
async fn until_idle(server: &support::Server) -> Duration {
    let begun = Instant::now();
    loop {
        let used = server.cpu_us();
        tokio::time::sleep(Duration::from_millis(200)).await;
        if server.cpu_us() == used {
            return begun.elapsed();
        }
    }
}

/// Sends deliveries over this many connections. Each waits for its acknowledgement before it sends the next.
async fn burst(
    connections: usize,
    count: usize,
    name: &str,
    requests: &Arc<[(String, String)]>,
    address: SocketAddr,
) -> Burst {
    let mut streams = Vec::new();
    for _ in 0..connections {
        let stream = TcpStream::connect(address).await.expect("the service accepts");
        stream.set_nodelay(true).expect("a socket");
        streams.push(stream);
    }
    let begun = Instant::now();
    let mut senders = JoinSet::new();
    for (sender, mut stream) in streams.into_iter().enumerate() {
        let (requests, name) = (Arc::clone(requests), name.to_owned());
        senders.spawn(async move {
            let mut times = Vec::new();
            for number in 0..count / connections {
                let (head, body) = &requests[(sender + number) % ISSUES];
                let request = format!("{head}{name}-{sender}-{number}{body}");
                let begun = Instant::now();
                stream.write_all(request.as_bytes()).await.expect("sent");
                let mut answer = [0; 1_024];
                let length = stream.read(&mut answer).await.expect("answered");
                times.push(begun.elapsed());
                let status = answer.get(..length.min(12)).unwrap_or_default();
                assert!(status.starts_with(b"HTTP/1.1 20"), "{}", String::from_utf8_lossy(&answer));
            }
            times
        });
    }
    let times = senders.join_all().await.concat();
    Burst::of(times, begun.elapsed())
}
