//! Decides which requests of an agent are permitted. A Player may do everything that its sandbox allows. Everyone else
//! may only read and search in the checkout.

use crate::{
    agents::json::{items, word},
    config::Role,
};
use serde_json::Value;
use std::path::{Component, Path};

/// Kinds of tools that change nothing.
const READING_TOOLS: [&str; 3] = ["read", "search", "think"];

/// Why a call is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConsentRefusal {
    #[error("a {0} may only read and search")]
    Changes(Role),
    #[error("a {0} may only read what lies in its checkout")]
    Outside(Role),
}

/// Returns why a call is refused; `None` if it is allowed.
pub(crate) fn refusal(role: Role, checkout: &Path, call: &Value) -> Option<ConsentRefusal> {
    if role == Role::Player {
        return None;
    }
    if !READING_TOOLS.contains(&word(call, "kind")) {
        return Some(ConsentRefusal::Changes(role));
    }
    let input = call.get("rawInput").unwrap_or(&Value::Null);
    let named = ["file_path", "path"].map(|key| word(input, key));
    let places = items(call, "locations").iter().map(|place| word(place, "path"));
    let outside = places.chain(named).any(|path| !lies_in(checkout, path));
    outside.then_some(ConsentRefusal::Outside(role))
}

/// `true` if a path, as written, is in the checkout. The sandbox checks the real target.
fn lies_in(checkout: &Path, path: &str) -> bool {
    let whole = checkout.join(path);
    whole.starts_with(checkout) && !whole.components().any(|part| part == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use super::refusal;
    use crate::config::Role;
    use serde_json::json;
    use std::path::Path;

    #[test]
    fn a_reader_reads_its_checkout_and_nothing_else() {
        let table = [
            (json!({ "kind": "read", "locations": [{ "path": "/co/a.rs", "line": 1 }] }), true),
            (json!({ "kind": "read", "rawInput": { "file_path": "a.rs" } }), true),
            (json!({ "kind": "search" }), true),
            (json!({ "kind": "read", "locations": [{ "path": "/etc/passwd" }] }), false),
            (json!({ "kind": "read", "rawInput": { "file_path": "/etc/passwd" } }), false),
            (json!({ "kind": "read", "locations": [{ "path": "/co/../etc/passwd" }] }), false),
            (json!({ "kind": "read", "locations": [{ "path": "../x" }] }), false),
            (json!({ "kind": "read", "locations": [{ "path": "/co-2/x" }] }), false),
            (json!({ "kind": "search", "locations": [{ "path": "/co" }], "rawInput": { "path": "/" } }), false),
            (json!({ "kind": "execute", "locations": [{ "path": "/co/a.rs" }] }), false),
            (json!({ "kind": "edit" }), false),
            (json!({ "kind": 7 }), false),
            (json!({}), false),
        ];
        for (call, allowed) in table {
            let refused = refusal(Role::Coach, Path::new("/co"), &call);
            assert_eq!(refused.is_none(), allowed, "{call}: {refused:?}");
            assert_eq!(refusal(Role::Player, Path::new("/co"), &call), None);
        }
    }
}
