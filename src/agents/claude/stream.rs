//! Reads the program's output while it runs. It is tolerant: it only reads the parts that it needs.

use crate::agents::{
    claude::{
        init,
        init::{ANSWER_TOOL, StartRequest},
    },
    journal::Journal,
    json::{items, number, word},
    session::{AfterLine, Listener},
};
use domain::{
    blocked::{Failure, StartDifference},
    trace::TraceKind,
};
use serde_json::Value;
use std::collections::BTreeMap;
use text::{json, usage::Tokens};

/// The longest wait for a model, in milliseconds, during which the program is kept running.
const LONGEST_WAIT_MS: u64 = 120_000;
/// The model name of messages that the program itself writes in place of a model.
const SYNTHETIC: &str = "<synthetic>";
/// The usual length of a token in bytes, at its lowest.
const BYTES_PER_TOKEN: usize = 3;
/// The most open calls, and the most messages, that are remembered.
const MAX_REMEMBERED: usize = 10_000;

/// The part of the output that was read so far.
#[derive(Debug)]
pub(crate) struct ClaudeStream {
    asked: StartRequest,
    /// `true` if the program reported the requested mode and tools.
    pub(crate) as_asked: bool,
    pub(crate) model: Option<String>,
    /// The error code of the last failure of the model's API.
    pub(crate) error: Option<String>,
    /// The wait in milliseconds that the last rate limit asked for.
    pub(crate) told_to_wait_ms: Option<u64>,
    /// The last result.
    pub(crate) result: Option<Value>,
    /// The last answer that fits the schema according to the program.
    pub(crate) structured: Option<Value>,
    /// The id of the call that last submitted an answer, and the answer.
    handed_in: Option<(String, Value)>,
    /// The last submitted answer that was accepted.
    pub(crate) taken: Option<Value>,
    /// The reason why the last submitted answer did not fit.
    pub(crate) refused_answer: Option<String>,
    pub(crate) tokens: Tokens,
    /// The input tokens and the estimated output tokens by message, for a run without a result.
    messages: BTreeMap<String, Tokens>,
    /// The calls of tools that have not finished, each with its tool.
    open: BTreeMap<String, String>,
}

impl ClaudeStream {
    pub(crate) fn new(asked: StartRequest) -> Self {
        Self {
            asked,
            as_asked: false,
            model: None,
            error: None,
            told_to_wait_ms: None,
            result: None,
            structured: None,
            handed_in: None,
            taken: None,
            refused_answer: None,
            tokens: Tokens::default(),
            messages: BTreeMap::new(),
            open: BTreeMap::new(),
        }
    }

    /// Returns the tokens as far as they are known: those of the results, or else those of the messages so far.
    pub(crate) fn tokens_so_far(&self) -> Tokens {
        match self.result {
            Some(_) => self.tokens,
            None => sum(self.messages.values().copied()),
        }
    }

    /// Returns the tokens of all models, including those of sub-agents, which the results' own figures leave out.
    pub(crate) fn reported_tokens(&self) -> Option<Tokens> {
        let models = self.result.as_ref()?.get("modelUsage")?.as_object()?;
        Some(sum(models.values().map(|model| Tokens {
            input: number(model, "inputTokens"),
            cached: number(model, "cacheReadInputTokens"),
            cache_write: number(model, "cacheCreationInputTokens"),
            output: number(model, "outputTokens"),
        })))
    }

    fn system(&mut self, line: &Value, journal: &mut Journal) -> AfterLine {
        match word(line, "subtype") {
            "init" => self.init(line, journal),
            "api_retry" => self.retry(line, journal),
            "permission_denied" => {
                journal.note(TraceKind::Denied {
                    tool: word(line, "tool_name").to_owned(),
                    why: word(line, "message").to_owned(),
                });
                AfterLine::Listen
            }
            "hook_started" | "hook_response" => {
                let name = journal.plain(word(line, "hook_name"), 100);
                not_as_asked(StartDifference::Hook(name))
            }
            _ => AfterLine::Listen,
        }
    }

    fn init(&mut self, line: &Value, journal: &mut Journal) -> AfterLine {
        self.model = Some(word(line, "model").to_owned()).filter(|model| !model.is_empty());
        journal.note(TraceKind::Started {
            model: self.model.clone(),
            tools: init::names(line.get("tools")),
            version: Some(word(line, "claude_code_version").to_owned()).filter(|version| !version.is_empty()),
        });
        match init::difference(line, self.asked) {
            Some(what) => not_as_asked(what),
            None => {
                self.as_asked = true;
                AfterLine::Listen
            }
        }
    }

    fn retry(&mut self, line: &Value, journal: &mut Journal) -> AfterLine {
        let error = word(line, "error");
        let delay_ms = number(line, "retry_delay_ms");
        let status = line.get("error_status").and_then(Value::as_u64);
        let why = match status {
            Some(status) => format!("{error} (HTTP {status})"),
            None => error.to_owned(),
        };
        journal.note(TraceKind::Waiting {
            attempt: u32::try_from(number(line, "attempt")).unwrap_or(u32::MAX),
            delay_ms,
            why: why.clone(),
        });
        let too_long = delay_ms > LONGEST_WAIT_MS;
        let retry_after_seconds = Some(delay_ms.div_ceil(1_000));
        match error {
            "authentication_failed" => AfterLine::Stop(Failure::NotAuthorised { message: why }),
            "rate_limit" if too_long => AfterLine::Stop(Failure::RateLimited { message: why, retry_after_seconds }),
            _ if too_long => AfterLine::Stop(Failure::Unavailable { message: why, retry_after_seconds }),
            "rate_limit" => {
                self.told_to_wait_ms = Some(delay_ms);
                AfterLine::Listen
            }
            _ => AfterLine::Listen,
        }
    }

    fn assistant(&mut self, line: &Value, journal: &mut Journal) -> AfterLine {
        if !self.as_asked {
            return not_as_asked(StartDifference::Early);
        }
        if let Some(error) = line.get("error").and_then(Value::as_str) {
            self.error = Some(error.to_owned());
        }
        let message = line.get("message").unwrap_or(&Value::Null);
        if word(message, "model") == SYNTHETIC {
            // This is the program's own message about a failure. No model worked, and the result repeats the message.
            return AfterLine::Listen;
        }
        self.count(message);
        for block in items(message, "content") {
            match word(block, "type") {
                "text" => journal.note(TraceKind::Text { text: word(block, "text").to_owned() }),
                "tool_use" => {
                    let (id, tool) = (word(block, "id").to_owned(), word(block, "name").to_owned());
                    if self.open.len() < MAX_REMEMBERED {
                        self.open.insert(id.clone(), tool.clone());
                    }
                    if tool == ANSWER_TOOL {
                        self.handed_in = block.get("input").map(|input| (id.clone(), input.clone()));
                    }
                    let input = block.get("input").map(Value::to_string).unwrap_or_default();
                    journal.note(TraceKind::ToolCall { id, tool, input });
                }
                _ => {}
            }
        }
        AfterLine::Listen
    }

    /// Counts a message. Each part of it reports the input tokens. Output tokens are only reported at the end of a run,
    /// so they are estimated until then.
    fn count(&mut self, message: &Value) {
        let id = word(message, "id");
        if self.messages.len() >= MAX_REMEMBERED && !self.messages.contains_key(id) {
            return;
        }
        let counted =
            self.messages.entry(id.to_owned()).or_insert_with(|| Tokens { output: 0, ..tokens(message.get("usage")) });
        let blocks = items(message, "content").iter();
        let said = blocks.map(|block| block.to_string().len()).fold(0, usize::saturating_add);
        let said = u64::try_from(said.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u64::MAX);
        counted.output = counted.output.saturating_add(said);
    }

    fn user(&mut self, line: &Value, journal: &mut Journal) {
        for block in items(line.get("message").unwrap_or(&Value::Null), "content") {
            if word(block, "type") != "tool_result" {
                continue;
            }
            let id = word(block, "tool_use_id").to_owned();
            let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
            let output = tool_result_text(block.get("content"));
            if self.open.get(&id).is_some_and(|tool| tool == ANSWER_TOOL) {
                let handed_in = self.handed_in.take().filter(|(call, _)| *call == id);
                if failed {
                    self.refused_answer = Some(journal.plain(&output, 2_000))
                } else {
                    self.taken = handed_in.map(|(_, answer)| answer)
                }
            }
            self.open.remove(&id);
            journal.note(TraceKind::ToolResult { id, failed, output });
        }
    }

    fn result(&mut self, line: Value) -> AfterLine {
        self.tokens += tokens(line.get("usage"));
        if let Some(answer) = line.get("structured_output").filter(|answer| !answer.is_null()) {
            self.structured = Some(answer.clone());
        }
        self.result = Some(line);
        self.open.clear();
        AfterLine::Finished
    }
}

impl Listener for ClaudeStream {
    fn handle_line(&mut self, line: &[u8], journal: &mut Journal) -> AfterLine {
        // A line that is not JSON is a message for people.
        let Ok(line) = json::read::<Value>(line) else {
            return AfterLine::Listen;
        };
        match word(&line, "type") {
            "system" => self.system(&line, journal),
            "assistant" => self.assistant(&line, journal),
            "user" => {
                self.user(&line, journal);
                AfterLine::Listen
            }
            "result" => self.result(line),
            _ => AfterLine::Listen,
        }
    }

    fn tool_runs(&self) -> bool {
        !self.open.is_empty()
    }
}

fn sum(all: impl Iterator<Item = Tokens>) -> Tokens {
    let mut sum = Tokens::default();
    all.for_each(|tokens| sum += tokens);
    sum
}

fn not_as_asked(differences: StartDifference) -> AfterLine {
    AfterLine::Stop(Failure::NotAsAsked { differences })
}

/// Returns the text of a tool's result, which is a string or a list of blocks.
fn tool_result_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let texts: Vec<&str> = blocks.iter().map(|block| word(block, "text")).collect();
            texts.join("\n")
        }
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

fn tokens(usage: Option<&Value>) -> Tokens {
    let count = |name: &str| usage.map_or(0, |usage| number(usage, name));
    Tokens {
        input: count("input_tokens"),
        cached: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        output: count("output_tokens"),
    }
}
