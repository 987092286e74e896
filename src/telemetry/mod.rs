//! Telemetry: sends spans of the work to an OpenTelemetry collector as OTLP over HTTP in JSON, if one is configured.
//!
//! A Feature is a trace. Its Tasks, their Turns, and the runs and Gates of these are its spans. Ids are hashes of
//! names, so each span can be sent when it ends and no open span is kept. Telemetry never waits for the collector,
//! never makes work fail, and never sends text written by an agent, an issue or a tool.
//!
//! The wire format is one small file (`otlp.rs`) on top of the HTTP client that AutoBuild uses anyway. The
//! OpenTelemetry crates would add a dozen dependencies and a second HTTP client for the same JSON.

#![warn(clippy::wildcard_enum_match_arm)]

mod otlp;
mod sender;
mod settings;

pub use settings::{TelemetryMistake, TelemetrySettings};

use crate::telemetry::sender::SenderRequest;
use domain::ids::Millis;
use sha2::{Digest, Sha256};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use text::{hex, secret::Secrets};
use tokio::sync::{mpsc, oneshot};
use uplink::{NoAuthorities, Uplink};

/// The most spans that wait to be sent. Further ones are lost; the first loss is logged.
const MOST_QUEUED: usize = 4_096;

/// How long a flush waits for the last spans.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// The most characters of a text attribute.
const MAX_TEXT: usize = 200;

/// A handle for sending spans. The default one drops them. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Telemetry(Option<Arc<Queue>>);

#[derive(Debug)]
struct Queue {
    requests: mpsc::Sender<SenderRequest>,
    has_lost: AtomicBool,
    secrets: Secrets,
}

/// A step of the work that took time.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The names from the Feature down to this span. The same path is the same span.
    pub path: Vec<String>,
    /// The name shown in lists of spans.
    pub name: String,
    pub from: Millis,
    /// The time at which it ended; a time before `from` is sent as `from`.
    pub to: Millis,
    /// The kind of failure, as AutoBuild names it; `None` if it succeeded.
    pub failure: Option<String>,
    pub attributes: Vec<(&'static str, Attribute)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A word or name of AutoBuild's own, never text written by others.
    Text(String),
    Count(u64),
    Money(f64),
}

impl Span {
    /// Creates a span that succeeded, without attributes. `path` leads from its Feature to it; the path without its
    /// last part is the parent's.
    pub fn new(path: Vec<String>, name: &str, from: Millis, to: Millis) -> Self {
        Self { path, name: name.to_owned(), from, to, failure: None, attributes: Vec::new() }
    }

    /// Adds a text attribute. Control characters are removed and the text is shortened.
    pub fn text(mut self, key: &'static str, text: &str) -> Self {
        let text = text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect();
        self.attributes.push((key, Attribute::Text(text)));
        self
    }

    pub fn count(mut self, key: &'static str, count: u64) -> Self {
        self.attributes.push((key, Attribute::Count(count)));
        self
    }

    pub fn failed(mut self, word: &str) -> Self {
        self.failure = Some(word.to_owned());
        self.text("error.type", word)
    }
}

impl Telemetry {
    /// Starts the task that sends spans. Must be called within a tokio runtime. `instance` distinguishes this process
    /// from others. `secrets` are masked in text attributes.
    pub fn start(
        settings: TelemetrySettings,
        instance: &str,
        secrets: Secrets,
        uplink: &Uplink,
    ) -> Result<Self, NoAuthorities> {
        let (requests, waiting) = mpsc::channel(MOST_QUEUED);
        let sender = sender::Sender::new(settings, instance, uplink)?;
        tokio::spawn(sender.work(waiting));
        Ok(Self(Some(Arc::new(Queue { requests, has_lost: AtomicBool::new(false), secrets }))))
    }

    /// Returns `true` if a collector is configured.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Queues a span to be sent. Never waits: if the queue is full, the span is lost.
    pub fn send(&self, mut span: Span) {
        let Some(queue) = &self.0 else { return };
        for (_, attribute) in &mut span.attributes {
            if let Attribute::Text(text) = attribute {
                *text = queue.secrets.mask(text);
            }
        }
        let sent = queue.requests.try_send(SenderRequest::Span(Box::new(span)));
        if sent.is_err() && !queue.has_lost.swap(true, Ordering::Relaxed) {
            tracing::warn!("the OpenTelemetry collector is too slow: spans are lost");
        }
    }

    /// Sends the queued spans, waiting at most 5 seconds.
    pub async fn flush(&self) {
        let Some(queue) = &self.0 else { return };
        let (done, sent) = oneshot::channel();
        let flushed = async {
            if queue.requests.send(SenderRequest::Flush(done)).await.is_ok() {
                // An error means that the task has ended, so nothing waits.
                let _ = sent.await;
            }
        };
        if tokio::time::timeout(FLUSH_TIMEOUT, flushed).await.is_err() {
            tracing::warn!("the OpenTelemetry collector does not answer: the last spans are lost");
        }
    }
}

/// Returns the trace id of a Feature, as lower-case hexadecimal digits.
fn trace_id(feature: &str) -> String {
    hex_hash(&["trace", feature], 16)
}

fn span_id(path: &[String]) -> String {
    let parts: Vec<&str> = std::iter::once("span").chain(path.iter().map(String::as_str)).collect();
    hex_hash(&parts, 8)
}

fn hex_hash(parts: &[&str], bytes: usize) -> String {
    let digest = Sha256::digest(parts.join("\0"));
    hex::encode(digest.iter().take(bytes))
}

#[cfg(test)]
mod tests;
