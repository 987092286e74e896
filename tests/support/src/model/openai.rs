//! The Responses API.

use super::Reply;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

static IDS: AtomicU64 = AtomicU64::new(1);

fn item(reply: &Reply) -> Value {
    let number = IDS.fetch_add(1, Ordering::Relaxed);
    let text = |text: &str| {
        json!({
            "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        })
    };
    let call = |name: &str, arguments: String| {
        json!({
            "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
            "name": name, "arguments": arguments, "status": "completed",
        })
    };
    match reply {
        Reply::Tool(name, input) | Reply::Dear(name, input) => call(name, input.to_string()),
        Reply::BrokenTool(name) => call(name, "{not json".to_owned()),
        Reply::Text(words) => text(words),
        Reply::Refusal | Reply::CutOff | Reply::Status(..) | Reply::Raw(..) | Reply::Drop | Reply::Stall => {
            text("on its way")
        }
    }
}

/// Returns an answer as a stream of events.
pub(super) fn events(model: &str, reply: &Reply) -> Vec<(&'static str, Value)> {
    let item = item(reply);
    let usage = json!({
        "input_tokens": 1_000, "output_tokens": 20, "total_tokens": 1_020,
        "input_tokens_details": { "cached_tokens": 10 }, "output_tokens_details": { "reasoning_tokens": 0 },
    });
    let response = |status: &str, output: Value, usage: &Value| {
        json!({
            "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": model,
            "output": output, "usage": usage,
        })
    };
    let named = |name: &'static str, mut data: Value| {
        data["type"] = json!(name);
        (name, data)
    };
    vec![
        named("response.created", json!({ "response": response("in_progress", json!([]), &Value::Null) })),
        named("response.output_item.added", json!({ "output_index": 0, "item": item })),
        named("response.output_item.done", json!({ "output_index": 0, "item": item })),
        named("response.completed", json!({ "response": response("completed", json!([item]), &usage) })),
    ]
}
