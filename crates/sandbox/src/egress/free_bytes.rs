//! Counts the bytes that a run chooses freely in its requests to registries: paths that lead to nothing, and new values of
//! headers. Without a limit, it could send any text to a registry's logs.

use domain::network::HostName;
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{ETAG, LAST_MODIFIED, LOCATION},
};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use url::Url;

/// The most free bytes of a run.
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
    /// The bytes of the first path that led to an address; none once the address answered.
    redirected: HashMap<Url, usize>,
}

impl FreeBytes {
    /// Counts a path, and the values of headers that no request to a registry had before: a program can write any text
    /// in both. It is called before the request, so that parallel or abandoned requests do not pass the limit. Returns
    /// `false` if the limit is reached.
    pub(super) fn count(&self, path: &str, headers: &HeaderMap) -> bool {
        let mut counted = self.0.lock();
        let has_room = counted.bytes < MAX_FREE;
        if has_room {
            counted.bytes += path.len();
            for value in headers.values() {
                if counted.values.insert(value.clone()) {
                    counted.bytes += value.len();
                }
            }
        }
        has_room
    }

    /// Takes back the count of a path that led to something, and of a value that the registry itself gave before. A
    /// registry may redirect paths that it has not looked up, as crates.io does, so the path of a redirect stays counted
    /// until its address answers. Other paths to the same address stay counted: their words lead nowhere.
    pub(super) fn answered(&self, host: &HostName, path: &str, status: StatusCode, headers: &HeaderMap) {
        let Ok(address) = Url::parse(&format!("https://{host}{path}")) else { return };
        let location = headers.get(LOCATION).and_then(|location| address.join(location.to_str().ok()?).ok());
        let is_there =
            status.is_success() || matches!(status, StatusCode::NOT_MODIFIED | StatusCode::RANGE_NOT_SATISFIABLE);
        let mut counted = self.0.lock();
        let redirected = counted.redirected.get_mut(&address).map(std::mem::take).unwrap_or_default();
        let led_here = redirected.saturating_add(path.len());
        if is_there {
            counted.bytes = counted.bytes.saturating_sub(led_here);
        } else if let Some(location) = location.filter(|to| status.is_redirection() && to.as_str().len() <= MAX_ADDRESS)
        {
            counted.redirected.entry(location).or_insert(led_here);
        }
        let given = [ETAG, LAST_MODIFIED].into_iter().filter_map(|name| headers.get(name));
        for value in given.filter(|_| status == StatusCode::NOT_MODIFIED) {
            if counted.values.remove(value) {
                counted.bytes = counted.bytes.saturating_sub(value.len());
            }
        }
    }
}
