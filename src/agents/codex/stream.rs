//! Reads the program's output while it runs. It lacks commands that failed inside the program's own sandbox, so it is
//! not a complete record.

use crate::agents::{
    codex::answer::is_unauthorised,
    journal::Journal,
    json::{number, word},
    session::{AfterLine, Listener},
};
use domain::{blocked::Failure, trace::TraceKind};
use serde_json::Value;
use std::collections::BTreeSet;
use text::{json, usage::Tokens};

const MAX_REMEMBERED: usize = 10_000;

/// The part of the output that was read so far.
#[derive(Debug, Default)]
pub(crate) struct CodexStream {
    pub(crate) last_message: Option<String>,
    pub(crate) completed: bool,
    pub(crate) failed: Option<String>,
    pub(crate) tokens: Tokens,
    reconnects: u32,
    open: BTreeSet<String>,
}

impl CodexStream {
    fn item(&mut self, line: &Value, journal: &mut Journal) {
        let item = line.get("item").unwrap_or(&Value::Null);
        let id = word(item, "id").to_owned();
        match (word(line, "type"), word(item, "type")) {
            ("item.completed", "agent_message") => {
                let text = word(item, "text").to_owned();
                journal.note(TraceKind::Text { text: text.clone() });
                self.last_message = Some(text);
            }
            ("item.started", "command_execution" | "mcp_tool_call" | "web_search" | "file_change") => {
                if self.open.len() < MAX_REMEMBERED {
                    self.open.insert(id.clone());
                }
                journal.note(call(id, item));
            }
            ("item.completed", tool @ ("command_execution" | "mcp_tool_call" | "web_search" | "file_change")) => {
                if !self.open.remove(&id) {
                    journal.note(call(id.clone(), item));
                }
                let output = match tool {
                    "command_execution" => word(item, "aggregated_output").to_owned(),
                    _ => item.to_string(),
                };
                let failed = word(item, "status") == "failed";
                journal.note(TraceKind::ToolResult { id, failed, output });
            }
            _ => {}
        }
    }

    /// Handles an error that is not final. Usually the program is reconnecting.
    fn trouble(&mut self, message: &str, journal: &mut Journal) -> AfterLine {
        if !message.starts_with("Reconnecting") {
            return AfterLine::Listen;
        }
        self.reconnects = self.reconnects.saturating_add(1);
        journal.note(TraceKind::Waiting { attempt: self.reconnects, delay_ms: 0, why: message.to_owned() });
        if is_unauthorised(message) {
            AfterLine::Stop(Failure::NotAuthorised { message: journal.plain(message, 500) })
        } else {
            AfterLine::Listen
        }
    }
}

impl Listener for CodexStream {
    fn handle_line(&mut self, line: &[u8], journal: &mut Journal) -> AfterLine {
        let Ok(line) = json::read::<Value>(line) else {
            return AfterLine::Listen;
        };
        match word(&line, "type") {
            "thread.started" => {
                journal.note(TraceKind::Started { model: None, tools: Vec::new(), version: None });
                AfterLine::Listen
            }
            "item.started" | "item.completed" => {
                self.item(&line, journal);
                AfterLine::Listen
            }
            "turn.completed" => {
                self.completed = true;
                self.tokens += tokens(line.get("usage"));
                AfterLine::Finished
            }
            "turn.failed" => {
                let error = line.get("error").unwrap_or(&Value::Null);
                self.failed = Some(word(error, "message").to_owned());
                AfterLine::Finished
            }
            "error" => self.trouble(word(&line, "message"), journal),
            _ => AfterLine::Listen,
        }
    }

    fn tool_runs(&self) -> bool {
        !self.open.is_empty()
    }
}

fn call(id: String, item: &Value) -> TraceKind {
    let input = match word(item, "command") {
        "" => item.to_string(),
        command => command.to_owned(),
    };
    TraceKind::ToolCall { id, tool: word(item, "type").to_owned(), input }
}

/// Reads the tokens. This provider includes cached tokens in the input, and thinking in the output.
fn tokens(usage: Option<&Value>) -> Tokens {
    let count = |name: &str| usage.map_or(0, |usage| number(usage, name));
    let (cached, cache_write) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    Tokens {
        input: count("input_tokens").saturating_sub(cached).saturating_sub(cache_write),
        cached,
        cache_write,
        output: count("output_tokens"),
    }
}
