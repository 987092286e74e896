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
    writes: bool,
}

impl Kind {
    /// Whether any such call changes something that others see. Orders cannot tell GraphQL documents apart.
    pub fn writes(&self) -> bool {
        self.writes
    }
}

/// How often each kind of call is among these.
pub fn kinds(calls: &[LoggedCall]) -> BTreeMap<Kind, usize> {
    let mut kinds: BTreeMap<_, (usize, bool)> = BTreeMap::new();
    for call in calls {
        let (count, writes) = kinds.entry((call.method.clone(), pattern(&call.path))).or_default();
        *count += 1;
        *writes |= call.writes();
    }
    let kind = |((method, path), (count, writes))| (Kind { method, path, writes }, count);
    kinds.into_iter().map(kind).collect()
}

/// Numbers, commits and branches become `*`.
fn pattern(path: &str) -> String {
    let part = |part: &str| {
        let hex = part.len() == 40 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hex || part.parse::<u64>().is_ok() { "*".to_owned() } else { part.to_owned() }
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}
