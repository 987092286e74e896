//! The conversation with an agent, one line at a time: introduces us, opens a session, sends the prompt, grants or
//! refuses permissions, and reads until the agent stops.

use crate::agents::{
    acp::{Script, consent, greeting, wire},
    codex,
    journal::Journal,
    json::{is_empty, items, micros, number, word},
    session::{AfterLine, Listener},
};
use domain::{blocked::Failure, trace::TraceKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use text::usage::Tokens;

const MAX_REMEMBERED: usize = 10_000;
/// The number of bytes of an agent's text above which its beginning is dropped.
const MAX_TEXT: usize = 4 << 20;

/// The ids of our requests, in the order in which they are made.
const INITIALIZE: u64 = 0;
const NEW_SESSION: u64 = 1;
const SET_MODE: u64 = 2;
const PROMPT: u64 = 3;

/// The part of the conversation that was read so far.
#[derive(Debug)]
pub(crate) struct AcpStream {
    script: Script,
    /// The id of our request that has no answer yet.
    awaited: Option<u64>,
    session: Option<String>,
    /// The agent's text after its last tool call.
    pub(crate) text: String,
    /// The answer with the id of the call that submitted it, if the agent has a tool for that.
    structured: Option<(String, Value)>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) failed: Option<String>,
    pub(crate) tokens: Tokens,
    /// The cost in millionths of a dollar, if it was reported.
    pub(crate) usd_micros: Option<u64>,
    /// `true` if the agent reported that its own work broke. Its text after that is the reason.
    broken: bool,
    retries: u32,
    /// The calls of tools that have not finished. The value is the tool's name until the call has been recorded.
    open: BTreeMap<String, Option<String>>,
}

impl AcpStream {
    pub(crate) fn new(script: Script) -> Self {
        Self {
            script,
            awaited: Some(INITIALIZE),
            session: None,
            text: String::new(),
            structured: None,
            stop_reason: None,
            failed: None,
            tokens: Tokens::default(),
            usd_micros: None,
            broken: false,
            retries: 0,
            open: BTreeMap::new(),
        }
    }

    /// Returns the answer that was submitted with a tool.
    pub(crate) fn handed_in(&self) -> Option<&Value> {
        self.structured.as_ref().map(|(_, answer)| answer)
    }

    /// Returns the first message.
    pub(crate) fn opening() -> Vec<u8> {
        wire::request(INITIALIZE, "initialize", wire::introduction())
    }

    fn ask(&mut self, id: u64, method: &str, params: Value) -> AfterLine {
        self.awaited = Some(id);
        AfterLine::Send(wire::request(id, method, params))
    }

    fn reply(&mut self, id: u64, message: &Value, journal: &mut Journal) -> AfterLine {
        if self.awaited != Some(id) {
            // The answer is a second one, or belongs to no request.
            return AfterLine::Listen;
        }
        self.awaited = None;
        if let Some(error) = message.get("error") {
            // If the mode cannot be set, the run continues, because changes in the checkout are found afterwards.
            if id == SET_MODE {
                return self.send_prompt();
            }
            let data = error.get("data").map(Value::to_string).unwrap_or_default();
            self.failed = Some(format!("{} {data}", word(error, "message")).trim().to_owned());
            return AfterLine::Finished;
        }
        let result = message.get("result").unwrap_or(&Value::Null);
        match id {
            INITIALIZE => {
                journal.note(TraceKind::Started {
                    model: None,
                    tools: Vec::new(),
                    version: Some(greeting::name(result)),
                });
                match greeting::unfit(result, journal) {
                    Some(failure) => AfterLine::Stop(failure),
                    None => self.ask(NEW_SESSION, "session/new", self.script.session.clone()),
                }
            }
            NEW_SESSION => self.session_opened(result),
            SET_MODE => self.send_prompt(),
            _ => {
                self.stop_reason = Some(word(result, "stopReason").to_owned());
                self.tokens = tokens(result.get("usage").unwrap_or(&Value::Null));
                if self.broken {
                    self.failed = Some(self.text.trim().to_owned());
                }
                AfterLine::Finished
            }
        }
    }

    fn session_opened(&mut self, result: &Value) -> AfterLine {
        let session = word(result, "sessionId").to_owned();
        self.session = Some(session.clone());
        match greeting::mode(result, self.script.role, self.script.level) {
            Some(mode) => {
                let params = json!({ "sessionId": session, "modeId": mode });
                self.ask(SET_MODE, "session/set_mode", params)
            }
            None => self.send_prompt(),
        }
    }

    fn send_prompt(&mut self) -> AfterLine {
        let params = json!({
            "sessionId": self.session,
            "prompt": [{ "type": "text", "text": self.script.prompt }],
        });
        self.ask(PROMPT, "session/prompt", params)
    }

    fn answer_request(&self, id: &Value, method: &str, params: &Value, journal: &mut Journal) -> AfterLine {
        if method != "session/request_permission" {
            return AfterLine::Send(wire::not_offered(id));
        }
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        let kinds: &[&str] = match consent::refusal(self.script.role, &self.script.checkout, call) {
            None => &["allow_once", "allow_always"],
            Some(why) => {
                let tool = word(call, "title").to_owned();
                let why = why.to_string();
                journal.note(TraceKind::Denied { tool, why });
                &["reject_once", "reject_always"]
            }
        };
        AfterLine::Send(wire::permission(id, items(params, "options"), kinds))
    }

    fn update(&mut self, update: &Value, journal: &mut Journal) -> AfterLine {
        match word(update, "sessionUpdate") {
            "agent_message_chunk" => {
                self.text.push_str(word(update.get("content").unwrap_or(&Value::Null), "text"));
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
            "session_info_update" => return self.read_codex_report(update, journal),
            _ => {}
        }
        AfterLine::Listen
    }

    /// Reads the Codex adapter's reports beyond the protocol: its work broke, or it retries its model's API.
    fn read_codex_report(&mut self, update: &Value, journal: &mut Journal) -> AfterLine {
        if update.pointer("/_meta/codex/threadStatus/type").and_then(Value::as_str) == Some("systemError") {
            self.broken = true;
            self.text.clear();
        }
        let Some(error) = update.pointer("/_meta/codex/error") else {
            return AfterLine::Listen;
        };
        let why = match word(error, "additionalDetails") {
            "" => word(error, "message"),
            details => details,
        };
        self.retries = self.retries.saturating_add(1);
        journal.note(TraceKind::Waiting { attempt: self.retries, delay_ms: 0, why: why.to_owned() });
        if codex::answer::is_unauthorised(why) {
            AfterLine::Stop(Failure::NotAuthorised { message: journal.plain(why, 500) })
        } else {
            AfterLine::Listen
        }
    }

    fn tool(&mut self, update: &Value, journal: &mut Journal) {
        let id = word(update, "toolCallId").to_owned();
        let name = update.pointer("/_meta/claudeCode/toolName").and_then(Value::as_str);
        let title = name.unwrap_or_else(|| word(update, "title"));
        let input = update.get("rawInput").filter(|input| !is_empty(input));
        if title == "StructuredOutput"
            && let Some(answer) = input.filter(|input| input.is_object())
        {
            self.structured = Some((id.clone(), answer.clone()));
        }
        let status = word(update, "status");
        let ends = matches!(status, "completed" | "failed");
        if word(update, "sessionUpdate") == "tool_call" {
            self.flush(journal);
            if self.open.len() < MAX_REMEMBERED {
                self.open.insert(id.clone(), Some(title.to_owned()));
            }
        }
        // A tool's input may follow after its name. The call is recorded once, at the latest when it ends.
        let known = input.is_some() || ends || status == "in_progress";
        if known && let Some(tool) = self.open.get_mut(&id).and_then(Option::take) {
            let input = input.map(Value::to_string).unwrap_or_default();
            let id = id.clone();
            journal.note(TraceKind::ToolCall { id, tool, input });
        }
        if status == "failed" {
            // The agent itself refused the submitted answer.
            self.structured.take_if(|(call, _)| *call == id);
        }
        if ends && self.open.remove(&id).is_some() {
            let content = update.get("content").or_else(|| update.get("rawOutput"));
            journal.note(TraceKind::ToolResult {
                id,
                failed: status == "failed",
                output: content.map(Value::to_string).unwrap_or_default(),
            });
        }
    }

    /// Moves the text so far to the journal, because text before a tool call is not the answer.
    fn flush(&mut self, journal: &mut Journal) {
        let said = std::mem::take(&mut self.text);
        if !said.trim().is_empty() {
            journal.note(TraceKind::Text { text: said });
        }
    }
}

impl Listener for AcpStream {
    fn handle_line(&mut self, line: &[u8], journal: &mut Journal) -> AfterLine {
        let Ok(message) = text::json::read::<Value>(line) else {
            return AfterLine::Listen;
        };
        let params = message.get("params").unwrap_or(&Value::Null);
        match (message.get("id"), word(&message, "method")) {
            (Some(id), "") => match id.as_u64() {
                Some(id) => self.reply(id, &message, journal),
                None => AfterLine::Listen,
            },
            (Some(id), method) => self.answer_request(id, method, params, journal),
            (None, "session/update") => self.update(params.get("update").unwrap_or(&Value::Null), journal),
            (None, _) => AfterLine::Listen,
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

#[cfg(test)]
mod tests {
    use super::AcpStream;
    use crate::{
        agents::{
            acp::Script,
            journal::Journal,
            session::{AfterLine, Listener},
        },
        config::Role,
    };
    use domain::{isolation::Level, trace::TraceKind};
    use serde_json::Value;
    use text::{secret::Secrets, usage::Usage};

    struct Talk {
        stream: AcpStream,
        journal: Journal,
    }

    impl Talk {
        fn new(role: Role) -> Self {
            let script = Script {
                role,
                session: Value::Null,
                prompt: "please".to_owned(),
                checkout: "/co".into(),
                level: Level::L3,
            };
            let journal = Journal::start(None, Secrets::default());
            let stream = AcpStream::new(script);
            Self { stream, journal }
        }

        /// Returns the reply to a line: the message sent, `finished`, or an empty text for no reply.
        fn handle_line(&mut self, line: &str) -> String {
            match self.stream.handle_line(line.as_bytes(), &mut self.journal) {
                AfterLine::Listen => String::new(),
                AfterLine::Send(words) => {
                    let said: Value = serde_json::from_slice(&words).unwrap();
                    let outcome = said.pointer("/result/outcome/optionId").or_else(|| said.get("method"));
                    outcome.and_then(Value::as_str).unwrap_or("no").to_owned()
                }
                AfterLine::Stop(failure) => failure.to_string(),
                AfterLine::Finished => "finished".to_owned(),
            }
        }

        fn update(&mut self, update: &str) {
            let line = format!(r#"{{"method":"session/update","params":{{"update":{update}}}}}"#);
            assert_eq!(self.handle_line(&line), "");
        }
    }

    #[tokio::test]
    async fn only_what_was_asked_is_answered_and_only_once() {
        let mut talk = Talk::new(Role::Coach);
        let early = r#"{"id":3,"result":{"stopReason":"end_turn"}}"#;
        assert_eq!(talk.handle_line(early), "", "nothing was asked yet");
        assert_eq!(talk.handle_line(r#"{"id":0,"result":{}}"#), "session/new");
        assert_eq!(talk.handle_line(r#"{"id":0,"result":{}}"#), "", "the second answer");
        assert_eq!(talk.handle_line(early), "");
        assert_eq!(talk.handle_line(r#"{"id":1,"result":{"sessionId":"s"}}"#), "session/prompt");
        assert_eq!(talk.handle_line(r#"{"id":1,"result":{"sessionId":"t"}}"#), "");
        for odd in [r#"{"id":"3"}"#, r#"{"id":-3}"#, r#"{"id":[]}"#, "{}", "[3]", r#"{"id":99}"#] {
            assert_eq!(talk.handle_line(odd), "", "{odd}");
        }
        assert_eq!(talk.handle_line(r#"{"id":7,"method":"fs/write_text_file"}"#), "no");
        assert_eq!(talk.handle_line(early), "finished");
        assert_eq!(talk.handle_line(r#"{"id":3,"error":{"message":"no"}}"#), "");
        assert_eq!(talk.stream.failed, None);
    }

    #[tokio::test]
    async fn an_answer_that_the_agent_itself_refused_is_none() {
        let mut talk = Talk::new(Role::Coach);
        let call = |status: &str| {
            format!(
                r#"{{"sessionUpdate":"tool_call_update","toolCallId":"1","title":"StructuredOutput","rawInput":{{"a":1}},"status":"{status}"}}"#
            )
        };
        talk.update(&call("in_progress"));
        assert!(talk.stream.handed_in().is_some());
        talk.update(&call("failed"));
        assert_eq!(talk.stream.handed_in(), None);
    }

    #[tokio::test]
    #[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
    async fn a_call_is_told_once_with_what_it_was_called_with() {
        let mut talk = Talk::new(Role::Coach);
        talk.update(
            r#"{"sessionUpdate":"tool_call","toolCallId":"1","title":"Read","rawInput":{},"status":"pending"}"#,
        );
        talk.update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"1","rawInput":{"path":"a"}}"#);
        talk.update(
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"1","rawInput":{"path":"a"},"status":"completed"}"#,
        );
        talk.update(r#"{"sessionUpdate":"tool_call","toolCallId":"2","title":"Glob","status":"pending"}"#);
        talk.update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"2","status":"failed"}"#);
        assert!(!talk.stream.tool_runs());
        let inputs: Vec<(String, String)> = talk
            .journal
            .end(Usage::default(), "")
            .into_iter()
            .filter_map(|event| match event.kind {
                TraceKind::ToolCall { tool, input, .. } => Some((tool, input)),
                _ => None,
            })
            .collect();
        let expected = [("Read", r#"{"path":"a"}"#), ("Glob", "")];
        assert_eq!(inputs, expected.map(|(tool, input)| (tool.to_owned(), input.to_owned())));
    }

    #[tokio::test]
    async fn a_reader_gets_no_leave_to_read_elsewhere() {
        let ask = |path: &str| {
            format!(
                r#"{{"id":0,"method":"session/request_permission","params":{{"toolCall":{{"kind":"read","locations":[{{"path":"{path}"}}]}},"options":[{{"kind":"allow_once","optionId":"yes"}},{{"kind":"reject_once","optionId":"no"}}]}}}}"#
            )
        };
        assert_eq!(Talk::new(Role::Coach).handle_line(&ask("/co/a")), "yes");
        assert_eq!(Talk::new(Role::Coach).handle_line(&ask("/etc/passwd")), "no");
        assert_eq!(Talk::new(Role::Player).handle_line(&ask("/etc/passwd")), "yes");
    }
}
