//! The events of one run of an agent, in the same form for every vendor. An agent said or did all of this: it is a
//! record for people, and no decision rests on it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::{secret::Secrets, shorten, usage::Usage};

/// The most characters that are kept of one text of an event.
const MAX_TEXT: usize = 16_000;

/// The most bytes that are kept of all lines of a run, and the part of them for its beginning.
pub const MAX_LINES: usize = 1_000_000;
const MAX_BEGINNING: usize = 600_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// Milliseconds since the run started.
    pub ms: u64,
    #[serde(flatten)]
    pub kind: TraceKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum TraceKind {
    /// The prompt was sent.
    Prompt {
        /// The prompt, shortened.
        text: String,
    },
    /// The program named itself and its tools.
    Started {
        /// The model, as the program names it.
        model: Option<String>,
        /// The tools that the program offers to the model.
        tools: Vec<String>,
        version: Option<String>,
    },
    /// The model wrote text.
    Text { text: String },
    /// The model called a tool.
    ToolCall {
        /// The id that its result repeats.
        id: String,
        tool: String,
        /// The input as JSON text, shortened.
        input: String,
    },
    /// A tool returned.
    ToolResult {
        id: String,
        failed: bool,
        /// The output, shortened.
        output: String,
    },
    /// A tool call was refused.
    Denied { tool: String, why: String },
    /// The program waits for its model's API.
    Waiting {
        /// The number of the next try.
        attempt: u32,
        /// The wait in milliseconds.
        delay_ms: u64,
        why: String,
    },
    /// The usage so far.
    Used {
        /// The sums since the start.
        usage: Usage,
        /// The tokens of the first request that a model answered: as its API counted them, or else estimated from its
        /// bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_request: Option<u64>,
    },
    /// The run gave no usable answer; this is its last output.
    Printed {
        /// The end of the output, shortened.
        text: String,
    },
    /// The run ended.
    Ended {
        /// The end, in a sentence.
        how: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TraceLine {
    Event(TraceEvent),
    /// The place of events that were left out, because there were too many.
    Omitted {
        /// The number of events left out.
        omitted: usize,
    },
}

/// Returns the events as JSON lines, with secrets masked and each text shortened. If that is still too long, the events
/// in the middle are left out: the beginning shows the task, and the end shows the result.
pub fn lines(events: &[TraceEvent], secrets: &Secrets) -> String {
    let lines: Vec<String> = events.iter().map(|event| line(event, secrets)).collect();
    let total: usize = lines.iter().map(String::len).sum();
    if total <= MAX_LINES {
        return lines.concat();
    }
    let fitting = |lines: &mut dyn Iterator<Item = &String>, most: usize| {
        let mut bytes = 0;
        let fits = |line: &&String| {
            bytes += line.len();
            bytes <= most
        };
        lines.take_while(fits).count()
    };
    let head = fitting(&mut lines.iter(), MAX_BEGINNING);
    let tail = fitting(&mut lines.iter().skip(head).rev(), MAX_LINES - MAX_BEGINNING);
    let omitted = lines.len() - head - tail;
    let note = serde_json::to_string(&TraceLine::Omitted { omitted }).unwrap_or_default();
    let (first, last) = (lines.iter().take(head), lines.iter().skip(head + omitted));
    let note = format!("{note}\n");
    first.chain([&note]).chain(last).map(String::as_str).collect()
}

/// Returns the lines of a stored trace. Lines that cannot be read are skipped.
pub fn read(lines: &str) -> impl Iterator<Item = TraceLine> {
    lines.lines().filter_map(|line| serde_json::from_str(line).ok())
}

fn line(event: &TraceEvent, secrets: &Secrets) -> String {
    let value = serde_json::to_value(event).unwrap_or_default();
    let mut line = shortened(secrets.mask_json(value)).to_string();
    line.push('\n');
    line
}

fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(shorten::middle(&text, MAX_TEXT)),
        Value::Array(items) => items.into_iter().take(1_000).map(shortened).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields.map(|(name, value)| (name, shortened(value))).collect()
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_LINES, TraceEvent, TraceKind, TraceLine, lines, read};
    use secrecy::SecretString;
    use text::{secret::Secrets, usage::Usage};

    fn text_event(ms: u64, text: &str) -> TraceEvent {
        let text = text.to_owned();
        TraceEvent { ms, kind: TraceKind::Text { text } }
    }

    #[test]
    fn events_are_lines_that_read_back() {
        let events = [
            text_event(0, "line one\nline two"),
            TraceEvent {
                ms: 3,
                kind: TraceKind::ToolCall {
                    id: "1".to_owned(),
                    tool: "read".to_owned(),
                    input: "{\"path\": \"a\"}".to_owned(),
                },
            },
            TraceEvent { ms: 9, kind: TraceKind::Used { usage: Usage::default(), first_request: Some(9) } },
        ];
        let text = lines(&events, &Secrets::default());
        assert_eq!(text.lines().count(), 3);
        let back: Vec<TraceLine> = read(&text).collect();
        assert_eq!(back, events.map(TraceLine::Event));
    }

    #[test]
    fn no_secret_is_kept_however_it_is_written() {
        let secrets = Secrets::new(&[SecretString::from("hush-hush-Value")]);
        let token = format!("ghs_{}", "a1B2".repeat(9));
        let input =
            serde_json::to_string(&serde_json::json!({"command": format!("curl -H 'x: {token}' hush-hush-Value")}));
        let call = TraceKind::ToolCall { id: "1".to_owned(), tool: "run".to_owned(), input: input.unwrap() };
        let text = lines(&[TraceEvent { ms: 0, kind: call }], &secrets);
        assert!(!text.contains("a1B2") && !text.contains("hush-hush"), "{text}");
    }

    #[test]
    fn too_much_loses_its_middle() {
        let events: Vec<TraceEvent> = (0..500).map(|ms| text_event(ms, &"x".repeat(20_000))).collect();
        let text = lines(&events, &Secrets::default());
        assert!(text.len() <= MAX_LINES + 100, "{}", text.len());
        let back: Vec<TraceLine> = read(&text).collect();
        let omitted = back.iter().filter(|line| matches!(line, TraceLine::Omitted { .. })).count();
        let ends = |line: &TraceLine| match line {
            TraceLine::Event(event) => event.ms,
            TraceLine::Omitted { .. } => u64::MAX,
        };
        assert_eq!((omitted, ends(&back[0]), ends(back.last().unwrap())), (1, 0, 499));
    }
}
