//! The requests to a registry that pass, however their bytes arrive.

use super::{RegistryVisit, Upstream};
use crate::egress::{
    free_bytes::FreeBytes,
    log::Log,
    meter::Allowance,
    refusals::Refusals,
    rules::{Caps, Rules},
    serve,
    serve::Shared,
    tests::corpus,
};
use bytes::Bytes;
use domain::{registries, registries::GoModules};
use http::{HeaderMap, Request, Response};
use http_body_util::Empty;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use proptest::prelude::*;
use std::{convert::Infallible, sync::Arc};
use tokio::{io::AsyncWriteExt, sync::Semaphore, task::yield_now};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The headers that pass, and those that the door itself writes.
const HEADERS: [&str; 8] =
    ["accept", "accept-encoding", "host", "if-modified-since", "if-none-match", "if-range", "range", "user-agent"];

/// Enough for the door to read all that has arrived.
const TURNS: usize = 50;

/// Returns a visit of the registry at this host, or else of npm's.
fn visit(host: &str) -> RegistryVisit {
    let shared = Shared {
        allowance: Arc::new(Allowance::new(Caps::default().bytes)),
        flow: Arc::default(),
        refused: Refusals::default(),
        tally: Arc::default(),
        places: Arc::default(),
        bodies: Arc::new(Semaphore::new(0)),
        trust: None,
        free_bytes: FreeBytes::default(),
        rules: Rules { go_modules: GoModules::of_sums(["rsc.io/Leafy v1.2.3 h1:x="]), ..Rules::default() },
        token: "".into(),
        log: Log::default(),
        closed: CancellationToken::new(),
        serving: TaskTracker::new(),
    };
    let host = host.parse().ok().filter(|host| registries::of_host(host).is_some());
    let host = host.unwrap_or_else(|| "registry.npmjs.org".parse().unwrap());
    let registry = registries::of_host(&host).unwrap();
    RegistryVisit { host, registry, shared: Arc::new(shared), upstream: tokio::sync::Mutex::new(Upstream::Lost) }
}

/// Returns the request that would be sent to the registry: its method, its path and its headers.
fn sent(visit: &RegistryVisit, request: &Request<Incoming>) -> Option<(String, String, HeaderMap)> {
    let target = visit.target(request).ok()?;
    let sent = visit.request(request, target)?;
    Some((sent.method().to_string(), sent.uri().to_string(), sent.headers().clone()))
}

/// Returns the requests that would be sent to `host` for bytes that arrive in pieces of these lengths; the last piece is
/// the rest.
async fn passing(host: &str, mut bytes: &[u8], pieces: &[usize]) -> Vec<(String, String, HeaderMap)> {
    let (visit, passed) = (visit(host), Mutex::new(Vec::new()));
    let (mut program, door) = tokio::io::duplex(1 << 20);
    let service = service_fn(|request: Request<Incoming>| {
        passed.lock().extend(sent(&visit, &request));
        async { Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new())) }
    });
    let serving = serve::http(&Caps::default()).serve_connection(TokioIo::new(door), service);
    let sending = async {
        for length in pieces.iter().copied().chain([bytes.len()]) {
            let (piece, rest) = bytes.split_at(length.min(bytes.len()));
            bytes = rest;
            program.write_all(piece).await.unwrap();
            for _ in 0..TURNS {
                yield_now().await;
            }
        }
    };
    tokio::select! {
        biased;
        _ = serving => {}
        () = sending => {}
    }
    passed.into_inner()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// Returns the host to which a recorded request goes.
fn host(request: &[u8]) -> String {
    let text = String::from_utf8_lossy(request).into_owned();
    let line = text.lines().find(|line| line.to_lowercase().starts_with("host:"));
    line.map(|line| line[5..].trim().to_owned()).unwrap_or_default()
}

#[test]
fn requests_of_package_managers_pass_however_they_are_split() {
    let files = corpus("registry_request");
    assert!(files.len() >= 10, "{:?}", files.keys());
    for (name, request) in files {
        let host = host(&request);
        let whole = block_on(passing(&host, &request, &[]));
        assert_eq!(whole.is_empty(), name.starts_with("refused"), "{name}: {whole:?}");
        for length in [1, 2, 3, 5, 7, 11, 13, 64] {
            let pieces = vec![length; request.len() / length];
            assert_eq!(block_on(passing(&host, &request, &pieces)), whole, "{name} {length}");
        }
    }
}

proptest! {
    #[test]
    fn mutated_requests_to_a_registry_pass_alike_however_they_are_split(
        known in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[ \\r\\n:/?#%@.a-zA-Z0-9-]{0,8}"), 0..4),
        pieces in prop::collection::vec(0_usize..40, 0..8),
    ) {
        let corpus: Vec<Vec<u8>> = corpus("registry_request").into_values().collect();
        let mut request = known.get(&corpus).clone();
        let host = host(&request);
        for (at, with) in changes {
            let from = at.index(request.len() + 1);
            let to = from.saturating_add(with.len()).min(request.len());
            request.splice(from..to, with.into_bytes());
        }
        let whole = block_on(passing(&host, &request, &[]));
        prop_assert_eq!(&block_on(passing(&host, &request, &pieces)), &whole);
        let text = String::from_utf8_lossy(&request).into_owned();
        for (method, path, headers) in whole {
            prop_assert!(method == "GET" || method == "HEAD", "{}", method);
            let line = format!("{method} {path}");
            // A fragment is dropped when a request is read, and sent nowhere.
            let is_sent = [" HTTP/1.", "#"].iter().any(|end| text.contains(&format!("{line}{end}")));
            prop_assert!(is_sent && path.len() <= 512 && !path.contains(['?', '#']), "{}", line);
            let leads_elsewhere = |part: &str| matches!(part, "" | "." | "..");
            let mut parts = path.strip_suffix('/').unwrap_or(&path).split('/').skip(1);
            prop_assert!(!parts.any(leads_elsewhere), "{}", line);
            for (name, value) in &headers {
                prop_assert!(HEADERS.contains(&name.as_str()) && value.len() <= 256, "{:?}", name);
            }
            prop_assert_eq!((&headers["host"], &headers["user-agent"]), (&host.parse().unwrap(), &super::NAME));
        }
    }
}
