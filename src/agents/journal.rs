//! Records one run: the events to keep, and the activity to show while it runs.

use domain::trace::{TraceEvent, TraceKind};
use serde_json::Value;
use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
};
use text::{secret::Secrets, shorten, usage::Usage};
use tokio::{sync::watch, time::Instant};

/// The most characters that are kept of one text of an event.
const MAX_TEXT: usize = 4_000;
/// The most characters that are kept of a prompt.
const MAX_PROMPT: usize = 60_000;
/// The keys of a tool call's input that describe the call best.
const TELLING: [&str; 6] = ["command", "file_path", "path", "pattern", "query", "url"];
/// The most characters of a tool call's input that are used to show it in one line.
const MAX_CALL: usize = 2_000;
/// The most bytes of all events of a run, as JSON.
const MAX_ALL: usize = 800_000;
/// The most events of a run.
const MAX_EVENTS: usize = 5_000;
/// The number of recent tool calls that people see while it runs.
const MOST_RECENT: usize = 20;

/// The activity of a running agent, for people who watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    pub tool_calls: u32,
    /// The most recent tool calls, the newest last. Each is one line with the beginning of its input.
    pub recent: VecDeque<String>,
    /// The reason why it waits for its model; `None` if it does not.
    pub waiting: Option<String>,
}

impl Activity {
    pub fn last_tool(&self) -> Option<&str> {
        self.recent.back().map(String::as_str)
    }
}

#[derive(Debug)]
pub(crate) struct Journal {
    started: Instant,
    events: Vec<TraceEvent>,
    room: usize,
    left_out: u64,
    activity: Activity,
    watched: Option<watch::Sender<Activity>>,
    secrets: Secrets,
    checkout: PathBuf,
}

impl Journal {
    /// Starts an empty journal and its clock. `watched` receives every change. Secrets are masked in all its texts.
    pub(crate) fn start(watched: Option<watch::Sender<Activity>>, secrets: Secrets) -> Self {
        Self {
            started: Instant::now(),
            events: Vec::new(),
            room: MAX_ALL,
            left_out: 0,
            // A second run of the same request continues the count.
            activity: watched
                .as_ref()
                .map_or_else(Activity::default, |watched| Activity { waiting: None, ..watched.borrow().clone() }),
            watched,
            secrets,
            checkout: PathBuf::new(),
        }
    }

    /// Sets the run's checkout. People see paths relative to it.
    pub(crate) fn within(mut self, checkout: &Path) -> Self {
        checkout.clone_into(&mut self.checkout);
        self
    }

    /// Records an event, masked and shortened, and updates the activity.
    pub(crate) fn note(&mut self, kind: TraceKind) {
        self.update_activity(&kind);
        let kind = self.clean_texts(kind);
        let size = size(&kind);
        if size > self.room || self.events.len() >= MAX_EVENTS {
            self.left_out += 1;
            return;
        }
        self.room -= size;
        self.push(kind);
    }

    /// Returns the model's last text; empty if it wrote none.
    pub(crate) fn last_text(&self) -> &str {
        let texts = self.events.iter().rev();
        let mut texts = texts.filter_map(|event| {
            let TraceKind::Text { text } = &event.kind else {
                return None;
            };
            Some(text.as_str())
        });
        texts.next().unwrap_or_default()
    }

    /// Returns the milliseconds since the start.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Ends the journal. Its last two events are kept in any case.
    pub(crate) fn end(mut self, usage: Usage, how: &str) -> Vec<TraceEvent> {
        let left_out = match self.left_out {
            0 => String::new(),
            count => format!(" ({count} events are left out above)"),
        };
        self.push(TraceKind::Used { usage, first_request: None });
        let how = self.plain(&format!("{how}{left_out}"), MAX_TEXT);
        self.push(TraceKind::Ended { how });
        self.events
    }

    /// Masks a text and shortens it to `max` characters.
    pub(crate) fn plain(&self, text: &str, max: usize) -> String {
        plain(&self.secrets, text, max)
    }

    fn clean_texts(&self, mut kind: TraceKind) -> TraceKind {
        let keep = |text: &mut String, max: usize| *text = self.plain(text, max);
        match &mut kind {
            TraceKind::Prompt { text } => keep(text, MAX_PROMPT),
            TraceKind::Started { model, tools, version } => {
                tools.truncate(200);
                tools.iter_mut().for_each(|tool| keep(tool, 100));
                model.iter_mut().chain(version).for_each(|text| keep(text, MAX_TEXT));
            }
            TraceKind::ToolCall { id, tool, input } => {
                keep(id, 200);
                keep(tool, 200);
                keep(input, MAX_TEXT);
            }
            TraceKind::ToolResult { id, output, .. } => {
                keep(id, 200);
                keep(output, MAX_TEXT);
            }
            TraceKind::Denied { tool, why } => {
                keep(tool, 200);
                keep(why, MAX_TEXT);
            }
            TraceKind::Used { .. } => {}
            TraceKind::Text { text }
            | TraceKind::Printed { text }
            | TraceKind::Waiting { why: text, .. }
            | TraceKind::Ended { how: text } => keep(text, MAX_TEXT),
        }
        kind
    }

    fn push(&mut self, kind: TraceKind) {
        let ms = self.elapsed_ms();
        self.events.push(TraceEvent { ms, kind });
    }

    fn update_activity(&mut self, kind: &TraceKind) {
        let before = self.activity.clone();
        match kind {
            TraceKind::ToolCall { tool, input, .. } => {
                self.activity.tool_calls = self.activity.tool_calls.saturating_add(1);
                let input = describe_input(&self.plain(input, MAX_CALL), &self.checkout);
                let line = one_line(&format!("{} {input}", self.plain(tool, 60)));
                self.activity.recent.push_back(line);
                if self.activity.recent.len() > MOST_RECENT {
                    self.activity.recent.pop_front();
                }
                self.activity.waiting = None;
            }
            TraceKind::Waiting { why, .. } => self.activity.waiting = Some(self.plain(why, 200)),
            TraceKind::Text { .. } | TraceKind::ToolResult { .. } => self.activity.waiting = None,
            TraceKind::Prompt { .. }
            | TraceKind::Started { .. }
            | TraceKind::Denied { .. }
            | TraceKind::Used { .. }
            | TraceKind::Printed { .. }
            | TraceKind::Ended { .. } => {}
        }
        if let Some(watched) = self.watched.as_ref().filter(|_| before != self.activity) {
            watched.send_replace(self.activity.clone());
        }
    }
}

/// Returns the most descriptive part of a tool call's input, with paths relative to the checkout.
fn describe_input(input: &str, checkout: &Path) -> String {
    let first = match text::json::read(input.as_bytes()) {
        Ok(Value::Object(fields)) => {
            let named = TELLING.iter().filter_map(|name| fields.get(*name));
            named.chain(fields.values()).find_map(Value::as_str).map(str::to_owned)
        }
        Ok(Value::String(text)) => Some(text),
        _ => None,
    };
    let first = first.unwrap_or_default();
    match checkout.to_str().filter(|checkout| !checkout.is_empty()) {
        Some(checkout) => first.replace(&format!("{checkout}/"), "").replace(checkout, "."),
        None => first,
    }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(120).collect()
}

/// Masks a text and shortens it to `max` characters.
pub(crate) fn plain(secrets: &Secrets, text: &str, max: usize) -> String {
    // Masked before it is shortened, because a credential that was cut in two is no longer recognized.
    shorten::middle(&secrets.mask(text), max)
}

fn size(kind: &TraceKind) -> usize {
    serde_json::to_string(kind).map_or(usize::MAX, |json| json.len())
}

#[cfg(test)]
mod tests {
    use super::{Activity, Journal, MAX_ALL};
    use domain::trace::TraceKind;
    use text::{secret::Secrets, usage::Usage};
    use tokio::sync::watch;

    fn call(number: u32, input: &str) -> TraceKind {
        TraceKind::ToolCall { id: number.to_string(), tool: "Bash".to_owned(), input: input.to_owned() }
    }

    #[tokio::test]
    async fn events_are_masked_and_bounded_and_the_end_is_always_there() {
        let mut journal = Journal::start(None, Secrets::default());
        let token = format!("ghp_{}", "a1B2".repeat(9));
        for number in 0..2_000 {
            let length = if number == 0 { 1_000_000 } else { 3_000 };
            journal.note(call(number, &format!("{token} {}", "x".repeat(length))));
        }
        let events = journal.end(Usage::default(), "done");
        let json = serde_json::to_string(&events).unwrap();
        assert!(!json.contains(&token) && json.contains("[masked]"));
        assert!(json.len() < MAX_ALL + 100_000, "{}", json.len());
        let TraceKind::Ended { how } = &events.last().unwrap().kind else { panic!("the last event is not the end") };
        assert!(how.starts_with("done (1") && how.ends_with("events are left out above)"), "{how}");
    }

    #[test]
    fn no_cut_goes_through_a_credential_before_it_is_masked() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        for before in 29_950..30_050 {
            let text = format!("{}{token}{}", "x ".repeat(before / 2), " x".repeat(60_000));
            assert!(!super::plain(&Secrets::default(), &text, 60_000).contains("a1B2a1B2"), "{before}");
        }
    }

    #[tokio::test]
    async fn paths_are_shown_from_the_checkout() {
        let (sender, watched) = watch::channel(Activity::default());
        let folder = "/tmp/a/very/long/way/autobuild-demo-x/data/checkouts/7";
        let mut journal = Journal::start(Some(sender), Secrets::default()).within(folder.as_ref());
        let mut shown = |tool: &str, key: &str, value: &str| {
            let input = serde_json::json!({ key: value }).to_string();
            journal.note(TraceKind::ToolCall { id: "1".to_owned(), tool: tool.to_owned(), input });
            watched.borrow().last_tool().unwrap().to_owned()
        };
        assert_eq!(shown("Read", "file_path", &format!("{folder}/src/lib.rs")), "Read src/lib.rs");
        assert_eq!(shown("Bash", "command", &format!("cd {folder} && ls {folder}/src")), "Bash cd . && ls src");
        assert_eq!(shown("Read", "file_path", "/etc/hosts"), "Read /etc/hosts");
    }

    #[tokio::test]
    async fn whoever_watches_sees_calls_and_waiting() {
        let (sender, mut watched) = watch::channel(Activity::default());
        let mut journal = Journal::start(Some(sender), Secrets::default());
        journal.note(call(1, r#"{"command": "cargo\n  test", "timeout": 5}"#));
        journal.note(TraceKind::Waiting { attempt: 2, delay_ms: 1_000, why: "rate limit".to_owned() });
        let seen = watched.borrow_and_update().clone();
        assert_eq!((seen.tool_calls, seen.waiting.as_deref()), (1, Some("rate limit")));
        assert_eq!(seen.last_tool(), Some("Bash cargo test"));
        journal.note(TraceKind::Text { text: "on".to_owned() });
        assert_eq!(watched.borrow_and_update().waiting, None);
    }
}
