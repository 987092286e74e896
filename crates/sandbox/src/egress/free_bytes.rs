//! Counts the bytes that a run chooses freely in its requests to registries: paths that lead to nothing, and new values of
//! headers. Without a limit, it could send any text to a registry's logs.

use domain::network::HostName;
use http::{HeaderMap, HeaderValue, StatusCode, header::LOCATION};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use url::Url;

/// The most of them in a run.
const MAX_FREE: usize = 64 * 1024;
/// The longest address of a redirect that is remembered. No longer one passes to a registry.
const MAX_ADDRESS: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct FreeBytes(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    bytes: usize,
    /// The values of headers that were counted.
    values: HashSet<HeaderValue>,
    /// The bytes of the paths that lead to an address, which has not answered yet.
    redirected: HashMap<Url, usize>,
}

impl FreeBytes {
    /// Counts a path before its request, so that parallel requests do not pass the limit together. Returns `false` if
    /// the limit is reached.
    pub(super) fn count_path(&self, path: &str) -> bool {
        let mut counted = self.0.lock();
        let has_room = counted.bytes < MAX_FREE;
        counted.bytes += if has_room { path.len() } else { 0 };
        has_room
    }

    /// Counts the values that no request to a registry had before: a program can write any text there.
    pub(super) fn count_values(&self, headers: &HeaderMap) {
        let mut counted = self.0.lock();
        for value in headers.values() {
            if counted.values.insert(value.clone()) {
                counted.bytes += value.len();
            }
        }
    }

    /// Takes back the count of a path that led to something. A registry may redirect paths that it has not looked up, as
    /// crates.io does, so the paths of redirects stay counted until their address answers.
    pub(super) fn answered(&self, host: &HostName, path: &str, status: StatusCode, headers: &HeaderMap) {
        let Ok(address) = Url::parse(&format!("https://{host}{path}")) else { return };
        let location = headers.get(LOCATION).and_then(|location| address.join(location.to_str().ok()?).ok());
        let is_there =
            status.is_success() || matches!(status, StatusCode::NOT_MODIFIED | StatusCode::RANGE_NOT_SATISFIABLE);
        let mut counted = self.0.lock();
        let led_here = counted.redirected.remove(&address).unwrap_or_default().saturating_add(path.len());
        if is_there {
            counted.bytes = counted.bytes.saturating_sub(led_here);
        } else if let Some(location) = location.filter(|to| status.is_redirection() && to.as_str().len() <= MAX_ADDRESS)
        {
            *counted.redirected.entry(location).or_default() += led_here;
        }
    }
}
