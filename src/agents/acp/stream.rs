//! The conversation with an agent, one line at a time: introduce ourselves, open a session, say the prompt, grant or
//! refuse what the agent asks for, and listen until it stops.

use crate::agents::acp::wire;
use crate::agents::journal::Journal;
use crate::agents::json::items;
use crate::agents::json::micros;
use crate::agents::json::number;
use crate::agents::json::word;
use crate::agents::session::Listener;
use crate::agents::session::Next;
use crate::config::Role;
use crate::domain::trace::TraceKind;
use crate::domain::usage::Tokens;
use serde_json::Value;
use serde_json::json;
use std::collections::BTreeSet;

const MAX_REMEMBERED: usize = 10_000;
/// The longest text of an agent that is kept, from its end.
const MAX_TEXT: usize = 4 << 20;

/// Ids of our requests, in the order in which they are made.
const INITIALIZE: u64 = 0;
const NEW_SESSION: u64 = 1;
const SET_MODE: u64 = 2;
const PROMPT: u64 = 3;

/// Modes in which an agent changes nothing, best first; and in which it asks for nothing.
const READING_MODES: [&str; 1] = ["read-only"];
const WRITING_MODES: [&str; 3] = ["agent-full-access", "full-access", "acceptEdits"];
/// Kinds of tools that change nothing.
const READING_TOOLS: [&str; 3] = ["read", "search", "think"];

/// What is said when its time comes.
#[derive(Debug)]
pub(crate) struct Script {
    /// Who the agent is in the loop.
    pub(crate) role: Role,
    /// Parameters of the session.
    pub(crate) session: Value,
    /// What it is told.
    pub(crate) prompt: String,
}

/// What was heard so far.
#[derive(Debug)]
pub(crate) struct Stream {
    script: Script,
    session: Option<String>,
    /// What the agent said after its last tool call.
    pub(crate) text: String,
    /// The answer, where the agent handed it in by a tool of its own.
    pub(crate) structured: Option<Value>,
    /// Why it stopped.
    pub(crate) stop_reason: Option<String>,
    /// Why the conversation failed.
    pub(crate) failed: Option<String>,
    /// Tokens of the turn.
    pub(crate) tokens: Tokens,
    /// Money, where it is told.
    pub(crate) usd_micros: Option<u64>,
    open: BTreeSet<String>,
}

impl Stream {
    pub(crate) fn new(script: Script) -> Self {
        Self {
            script,
            session: None,
            text: String::new(),
            structured: None,
            stop_reason: None,
            failed: None,
            tokens: Tokens::default(),
            usd_micros: None,
            open: BTreeSet::new(),
        }
    }

    /// What is said first.
    pub(crate) fn opening() -> Vec<u8> {
        wire::request(INITIALIZE, "initialize", wire::introduction())
    }

    fn reply(&mut self, id: u64, message: &Value, journal: &mut Journal) -> Next {
        if let Some(error) = message.get("error") {
            // A mode that cannot be set is no reason to stop: whether anything was written is looked at afterwards.
            if id == SET_MODE {
                return self.say_prompt();
            }
            let data = error.get("data").map(Value::to_string).unwrap_or_default();
            self.failed = Some(format!("{} {data}", word(error, "message")).trim().to_owned());
            return Next::Finished;
        }
        let result = message.get("result").unwrap_or(&Value::Null);
        match id {
            INITIALIZE => {
                let agent = result.get("agentInfo").unwrap_or(&Value::Null);
                journal.note(TraceKind::Started {
                    model: None,
                    tools: Vec::new(),
                    version: Some(
                        format!("{} {}", word(agent, "name"), word(agent, "version"))
                            .trim()
                            .to_owned(),
                    ),
                });
                Next::Say(wire::request(NEW_SESSION, "session/new", self.script.session.clone()))
            }
            NEW_SESSION => self.session_opened(result),
            SET_MODE => self.say_prompt(),
            PROMPT => {
                self.stop_reason = Some(word(result, "stopReason").to_owned());
                self.tokens = tokens(result.get("usage").unwrap_or(&Value::Null));
                Next::Finished
            }
            _ => Next::Listen,
        }
    }

    fn session_opened(&mut self, result: &Value) -> Next {
        let session = word(result, "sessionId").to_owned();
        let modes = result.get("modes").unwrap_or(&Value::Null);
        let wanted: &[&str] = match self.script.role {
            Role::Player => &WRITING_MODES,
            Role::Planner | Role::Designer | Role::Coach => &READING_MODES,
        };
        let offered = |mode: &&&str| {
            items(modes, "availableModes")
                .iter()
                .any(|found| word(found, "id") == **mode)
        };
        let mode = wanted.iter().find(offered);
        self.session = Some(session.clone());
        match mode {
            Some(mode) if word(modes, "currentModeId") != *mode => {
                let params = json!({ "sessionId": session, "modeId": mode });
                Next::Say(wire::request(SET_MODE, "session/set_mode", params))
            }
            Some(_) | None => self.say_prompt(),
        }
    }

    fn say_prompt(&self) -> Next {
        let params = json!({
            "sessionId": self.session,
            "prompt": [{ "type": "text", "text": self.script.prompt }],
        });
        Next::Say(wire::request(PROMPT, "session/prompt", params))
    }

    /// A request of the agent.
    fn asked(&self, id: &Value, method: &str, params: &Value, journal: &mut Journal) -> Next {
        if method != "session/request_permission" {
            return Next::Say(wire::not_offered(id));
        }
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        let reads = READING_TOOLS.contains(&word(call, "kind"));
        let kinds: &[&str] = match self.script.role == Role::Player || reads {
            true => &["allow_once", "allow_always"],
            false => {
                journal.note(TraceKind::Denied {
                    tool: word(call, "title").to_owned(),
                    why: format!("a {} may only read and search", self.script.role),
                });
                &["reject_once", "reject_always"]
            }
        };
        Next::Say(wire::permission(id, items(params, "options"), kinds))
    }

    fn update(&mut self, update: &Value, journal: &mut Journal) {
        match word(update, "sessionUpdate") {
            "agent_message_chunk" => {
                let said = word(update.get("content").unwrap_or(&Value::Null), "text");
                self.text.push_str(said);
                if self.text.len() > MAX_TEXT {
                    let cut = self.text.len() - MAX_TEXT / 2;
                    let cut = (cut..self.text.len()).find(|at| self.text.is_char_boundary(*at));
                    self.text.drain(..cut.unwrap_or(0));
                }
            }
            "tool_call" | "tool_call_update" => self.tool(update, journal),
            "usage_update" => {
                let cost = update.get("cost").unwrap_or(&Value::Null);
                if word(cost, "currency") == "USD" {
                    self.usd_micros = micros(cost, "amount").or(self.usd_micros);
                }
            }
            _ => {}
        }
    }

    fn tool(&mut self, update: &Value, journal: &mut Journal) {
        let id = word(update, "toolCallId").to_owned();
        let name = update.pointer("/_meta/claudeCode/toolName").and_then(Value::as_str);
        let title = name.unwrap_or_else(|| word(update, "title"));
        let input = update.get("rawInput").filter(|input| !input.is_null());
        if title == "StructuredOutput" && input.is_some_and(|input| input.as_object().is_some_and(|o| !o.is_empty())) {
            self.structured = input.cloned();
        }
        if word(update, "sessionUpdate") == "tool_call" {
            self.flush(journal);
            if self.open.len() < MAX_REMEMBERED {
                self.open.insert(id.clone());
            }
            journal.note(TraceKind::ToolCall {
                id: id.clone(),
                tool: title.to_owned(),
                input: input.map(Value::to_string).unwrap_or_default(),
            });
        }
        let status = word(update, "status");
        if matches!(status, "completed" | "failed") && self.open.remove(&id) {
            let content = update.get("content").or_else(|| update.get("rawOutput"));
            journal.note(TraceKind::ToolResult {
                id,
                failed: status == "failed",
                output: content.map(Value::to_string).unwrap_or_default(),
            });
        }
    }

    /// What was said before a tool was called is not the answer.
    fn flush(&mut self, journal: &mut Journal) {
        let said = std::mem::take(&mut self.text);
        if !said.trim().is_empty() {
            journal.note(TraceKind::Text { text: said });
        }
    }
}

impl Listener for Stream {
    fn hear(&mut self, line: &[u8], journal: &mut Journal) -> Next {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return Next::Listen;
        };
        let params = message.get("params").unwrap_or(&Value::Null);
        match (message.get("id"), word(&message, "method")) {
            (Some(id), "") => match id.as_u64() {
                Some(id) => self.reply(id, &message, journal),
                None => Next::Listen,
            },
            (Some(id), method) => self.asked(id, method, params, journal),
            (None, "session/update") => {
                self.update(params.get("update").unwrap_or(&Value::Null), journal);
                Next::Listen
            }
            (None, _) => Next::Listen,
        }
    }

    fn tool_runs(&self) -> bool {
        !self.open.is_empty()
    }
}

fn tokens(usage: &Value) -> Tokens {
    Tokens {
        input: number(usage, "inputTokens"),
        cached: number(usage, "cachedReadTokens"),
        cache_write: number(usage, "cachedWriteTokens"),
        output: number(usage, "outputTokens"),
    }
}
