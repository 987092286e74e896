//! A real `autobuild serve`, its cost, and deliveries for it.

#![allow(dead_code, reason = "not every bench asks for everything")]

use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der},
    rsa::{KeyPair, KeySize},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use domain::ids::AppId;
use forge::{CallKind, LoggedCall};
use hmac::{Hmac, Mac};
use serde_json::json;
use sha2::Sha256;
use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// The App of every bench.
pub const APP: AppId = AppId(7);

/// The secret that signs deliveries.
pub const SECRET: &str = "a secret for benches";

/// A running service.
pub struct Server {
    child: Child,
    /// The address that it listens on.
    pub address: SocketAddr,
    /// The time from exec to the first answer of `/healthz`.
    pub started_in: Duration,
}

impl Server {
    /// Starts the service on this data folder and waits until it is alive.
    pub fn start(folder: &Path) -> Self {
        let key = folder.join("app.pem");
        if !key.exists() {
            std::fs::write(&key, private_key()).expect("the folder can be written");
        }
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = free.local_addr().expect("an address");
        drop(free);
        let mut command = Command::new(env!("CARGO_BIN_EXE_autobuild"));
        command
            .arg("serve")
            .env("AUTOBUILD_LISTEN", address.to_string())
            .env("AUTOBUILD_DATA_DIR", folder)
            .env("AUTOBUILD_APP_ID", APP.to_string())
            .env("AUTOBUILD_PRIVATE_KEY_FILE", key)
            .env("AUTOBUILD_WEBHOOK_SECRET", SECRET)
            .env("AUTOBUILD_GITHUB_URL", "http://127.0.0.1:9")
            .env("AUTOBUILD_AGENT", "command:true")
            // As the unit and the image in `deploy` do.
            .env("MALLOC_MMAP_THRESHOLD_", "262144")
            .env("AUTOBUILD_LOG", "error")
            .stdin(Stdio::null());
        let begun = Instant::now();
        let child = command.spawn().expect("the service starts");
        while !alive(address) {
            assert!(begun.elapsed() < Duration::from_secs(60), "the service does not answer");
            std::thread::sleep(Duration::from_micros(500));
        }
        Self { child, address, started_in: begun.elapsed() }
    }

    /// Returns the processor time used so far, in microseconds.
    pub fn cpu_us(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("the service runs");
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks = after_name.split_whitespace().skip(11).take(2);
        // The kernel reports hundredths of a second, whatever its own clock rate.
        ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10_000
    }

    /// Returns the memory in use and its peak, in KiB.
    pub fn memory_kib(&self) -> (u64, u64) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("the service runs");
        let of = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        (of("VmRSS:"), of("VmHWM:"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns `true` if `/healthz` answers there.
pub fn alive(address: SocketAddr) -> bool {
    let asked = || -> std::io::Result<[u8; 12]> {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer)?;
        Ok(answer)
    };
    asked().is_ok_and(|answer| &answer == b"HTTP/1.1 200")
}

fn private_key() -> String {
    let pair = KeyPair::generate(KeySize::Rsa2048).expect("a key");
    let der: Pkcs8V1Der<'_> = pair.as_der().expect("a key");
    let text = BASE64_STANDARD.encode(der.as_ref());
    format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
}

/// Returns a push to a branch of AutoBuild for this issue, which belongs to no Feature: the service stores it, and a worker reads it
/// without asking GitHub.
pub fn payload(issue: usize) -> String {
    payload_of(11_000, issue)
}

/// Returns the value of `X-Hub-Signature-256`.
pub fn signature(body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("any length is a key");
    mac.update(body.as_bytes());
    let digest = mac.finalize().into_bytes();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

/// The same payload with this length, in bytes.
pub fn payload_of(length: usize, issue: usize) -> String {
    let commits: Vec<_> =
        (0..40).map(|number| json!({"id": format!("{number:040}"), "message": "m".repeat(180)})).collect();
    let mut body = json!({
        "ref": format!("refs/heads/autobuild/{issue}/task-001-x"),
        "before": "0123456789abcdef0123456789abcdef01234567",
        "after": "89abcdef0123456789abcdef0123456789abcdef",
        "installation": {"id": 11},
        "repository": {
            "id": 22, "full_name": "acme/shop", "default_branch": "main", "private": true, "archived": false,
            "owner": {"id": 5, "login": "acme", "type": "Organization"},
        },
        "sender": {"id": 33, "login": "ada", "type": "User"},
        "commits": commits,
    });
    let missing = length.saturating_sub(body.to_string().len());
    if let Some(fields) = body.as_object_mut() {
        fields.insert("padding".to_owned(), "p".repeat(missing).into());
    }
    body.to_string()
}

/// Returns the value below which this share of `times` lies, in percent; sorts `times`.
pub fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let place = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(place).copied().unwrap_or_default()
}

/// Counts calls by kind: parts of the path with digits, or longer than 30 bytes, are left out.
pub fn count_by_kind(calls: &[LoggedCall]) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for call in calls {
        let differs = |part: &str| part.len() > 30 || part.chars().any(|c| c.is_ascii_digit()) && part != "v3";
        let path: Vec<&str> = call.path.split('/').map(|part| if differs(part) { "…" } else { part }).collect();
        let kind = match call.kind {
            CallKind::Mint => "mint ",
            CallKind::Git => "git ",
            CallKind::GraphQlMutation => "mutation ",
            CallKind::Rest | CallKind::GraphQlQuery | CallKind::Page => "",
        };
        *kinds.entry(format!("{kind}{} {}", call.method, path.join("/"))).or_insert(0) += 1;
    }
    kinds
}
