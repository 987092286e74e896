//! The calls of the service to the forge, by kind.

use forge::LoggedCall;
use std::collections::BTreeMap;

/// A kind of call: its method and path, with `*` for the parts that differ between runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// `GET`, `POST`, …
    pub method: String,
    /// In the form that orders for faults use.
    pub path: String,
    writes: bool,
}

impl Kind {
    /// `true` if such calls change something that others see. Orders cannot distinguish GraphQL documents.
    pub fn writes(&self) -> bool {
        self.writes
    }
}

/// Counts these calls by kind.
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

/// Returns the path with `*` for numbers, commits and branches.
fn pattern(path: &str) -> String {
    let part = |part: &str| {
        let hex = part.len() == 40 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hex || part.parse::<u64>().is_ok() { "*".to_owned() } else { part.to_owned() }
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}
