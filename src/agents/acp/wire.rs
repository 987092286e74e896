//! The part of the Agent Client Protocol that we speak: our requests, and our answers to the agent's.

use crate::agents::acp::greeting::PROTOCOL;
use serde_json::{Value, json};

pub(crate) fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

pub(crate) fn request(id: u64, method: &str, params: Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// Returns our introduction. It offers no file access and no terminal, so the agent must use its own.
pub(crate) fn introduction() -> Value {
    json!({
        "protocolVersion": PROTOCOL,
        "clientCapabilities": { "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false },
        "clientInfo": { "name": "autobuild", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// Returns the answer to a request for something that we do not offer.
pub(crate) fn not_offered(id: &Value) -> Vec<u8> {
    line(&json!({
        "jsonrpc": "2.0", "id": id,
        "error": { "code": -32601, "message": "Method not found" },
    }))
}

/// Returns the answer to a request for permission: the first option of one of these kinds, in the order of the kinds.
pub(crate) fn permission(id: &Value, options: &[Value], kinds: &[&str]) -> Vec<u8> {
    let of_kind = |kind: &&str| options.iter().find(|option| option.get("kind").is_some_and(|found| found == kind));
    let chosen = kinds.iter().find_map(of_kind).and_then(|option| option.get("optionId"));
    let outcome = match chosen {
        Some(option) => json!({ "outcome": "selected", "optionId": option }),
        None => json!({ "outcome": "cancelled" }),
    };
    line(&json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": outcome } }))
}
