//! Describes an event of an agent's run by a word and a text.

use domain::trace::TraceKind;

/// Returns the word for an event, and its text. The text may come from agents, so the caller must clean and shorten it.
pub fn event_in_words(kind: &TraceKind) -> (&'static str, String) {
    match kind {
        TraceKind::Prompt { text } => ("prompt", format!("{} characters", text.chars().count())),
        TraceKind::Started { model, tools, version } => (
            "start",
            format!(
                "{} {} with {}",
                model.as_deref().unwrap_or("its own model"),
                version.as_deref().unwrap_or_default(),
                tools.join(", ")
            ),
        ),
        TraceKind::Text { text } => ("says", text.clone()),
        TraceKind::ToolCall { tool, input, .. } => ("calls", format!("{tool} {input}")),
        TraceKind::ToolResult { failed: true, output, .. } => ("fails", output.clone()),
        TraceKind::ToolResult { output, .. } => ("gets", output.clone()),
        TraceKind::Denied { tool, why } => ("denied", format!("{tool}: {why}")),
        TraceKind::Waiting { attempt, delay_ms, why } => {
            ("waits", format!("{delay_ms} ms before try {attempt}: {why}"))
        }
        TraceKind::Used { usage, first_request } => {
            let first = first_request.map_or_else(String::new, |tokens| format!("; the first request held {tokens}"));
            let read = usage.tokens.input + usage.tokens.cached + usage.tokens.cache_write;
            ("used", format!("{read} tokens in, {} out{first}", usage.tokens.output))
        }
        TraceKind::Printed { text } => ("prints", text.clone()),
        TraceKind::Ended { how } => ("ends", how.clone()),
    }
}
