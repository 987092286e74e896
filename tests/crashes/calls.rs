//! What the service asked of the forge, by kind.

use forge::LoggedCall;
use std::collections::BTreeMap;

/// A kind of call: its method and path, with `*` for what differs from run to run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// `GET`, `POST`, …
    pub method: String,
    /// As orders for faults take it.
    pub path: String,
}

impl Kind {
    /// Whether such a call changes anything that others see.
    pub fn writes(&self) -> bool {
        let asks = self.path.ends_with("git-upload-pack") || self.path.ends_with("access_tokens");
        self.method != "GET" && !asks
    }
}

/// How often each kind of call is among these.
pub fn kinds(calls: &[LoggedCall]) -> BTreeMap<Kind, usize> {
    let mut kinds = BTreeMap::new();
    for call in calls {
        let kind = Kind {
            method: call.method.clone(),
            path: pattern(&call.path),
        };
        *kinds.entry(kind).or_insert(0) += 1;
    }
    kinds
}

/// Numbers, commits and branches become `*`.
fn pattern(path: &str) -> String {
    let part = |part: &str| {
        let hex = part.len() == 40 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hex || part.parse::<u64>().is_ok() {
            "*".to_owned()
        } else {
            part.to_owned()
        }
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}
