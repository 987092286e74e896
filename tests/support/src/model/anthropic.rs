//! The Messages API.

use super::Reply;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

static IDS: AtomicU64 = AtomicU64::new(1);

fn id(kind: &str) -> String {
    format!("{kind}_fake{:020}", IDS.fetch_add(1, Ordering::Relaxed))
}

/// Returns the content block of a reply, and the reason why the model stopped.
fn block(reply: &Reply) -> (Value, &'static str) {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let tool =
        |name: &str, input: &Value| json!({ "type": "tool_use", "id": id("toolu"), "name": name, "input": input });
    match reply {
        Reply::Text(words) => (text(words), "end_turn"),
        Reply::Tool(name, input) | Reply::Dear(name, input) => (tool(name, input), "tool_use"),
        Reply::BrokenTool(name) => (tool(name, &json!({})), "tool_use"),
        Reply::Refusal => (text("no"), "refusal"),
        Reply::CutOff => (text("and so on"), "max_tokens"),
        Reply::Status(..) | Reply::Raw(..) | Reply::Drop | Reply::Stall => (text("on its way"), "end_turn"),
    }
}

fn usage(reply: &Reply, output: u64) -> Value {
    let input = match reply {
        Reply::Dear(..) => 90_000_000,
        _ => 1_000,
    };
    json!({ "input_tokens": input, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 5, "output_tokens": output })
}

/// Returns a message in one piece.
pub(super) fn message(model: &str, reply: &Reply) -> Value {
    let (block, stop) = block(reply);
    json!({
        "id": id("msg"), "type": "message", "role": "assistant", "model": model, "content": [block],
        "stop_reason": stop, "stop_sequence": null, "usage": usage(reply, 20),
    })
}

/// Returns a message as a stream of events.
pub(super) fn events(model: &str, reply: &Reply) -> Vec<(&'static str, Value)> {
    let (block, stop) = block(reply);
    let (start, delta) = match block["type"].as_str() {
        Some("tool_use") => {
            let input = match reply {
                Reply::BrokenTool(_) => "{not json".to_owned(),
                _ => block["input"].to_string(),
            };
            let mut start = block.clone();
            start["input"] = json!({});
            (start, json!({ "type": "input_json_delta", "partial_json": input }))
        }
        _ => (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": block["text"] })),
    };
    let mut opening = message(model, reply);
    opening["content"] = json!([]);
    opening["stop_reason"] = Value::Null;
    opening["usage"] = usage(reply, 1);
    vec![
        ("message_start", json!({ "type": "message_start", "message": opening })),
        ("content_block_start", json!({ "type": "content_block_start", "index": 0, "content_block": start })),
        ("content_block_delta", json!({ "type": "content_block_delta", "index": 0, "delta": delta })),
        ("content_block_stop", json!({ "type": "content_block_stop", "index": 0 })),
        (
            "message_delta",
            json!({
                "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null },
                "usage": usage(reply, 20),
            }),
        ),
        ("message_stop", json!({ "type": "message_stop" })),
    ]
}
