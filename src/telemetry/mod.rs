//! Telemetry: spans of the work, sent to a collector as OTLP over HTTP in JSON, where one is configured.
//!
//! A Feature is a trace; its Tasks, their Turns, and the runs and Gates of these are its spans, joined by ids that follow
//! from their names, so that each is sent when it ends and nothing is held meanwhile. Never waits for the collector, never
//! fails the work, and says nothing that an agent, an issue or a tool said.
//!
//! The wire format is one small file (`otlp.rs`) on the HTTP client that is here already: the OpenTelemetry crates would
//! bring a dozen more and a second HTTP client for the same JSON.

#![warn(clippy::wildcard_enum_match_arm)]

mod otlp;
mod sender;
mod settings;

pub use settings::{TelemetryMistake, TelemetrySettings};

use crate::telemetry::sender::Order;
use domain::{ids::Millis, secret::Secrets};
use sha2::{Digest, Sha256};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::{mpsc, oneshot};

/// Spans that wait to be sent; what is more is lost and counted.
const WAITING: usize = 4_096;

/// How long the end of the service waits for the last spans.
const LAST: Duration = Duration::from_secs(5);

/// Characters of one text.
const MAX_TEXT: usize = 200;

/// Where spans go; a default one drops them. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Telemetry(Option<Arc<Open>>);

#[derive(Debug)]
struct Open {
    orders: mpsc::Sender<Order>,
    lost: AtomicU64,
    secrets: Secrets,
}

/// Something that took a while.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// What makes it this span and no other: the same name is the same span.
    pub path: Vec<String>,
    /// What it is called where many are listed.
    pub name: String,
    /// When it began.
    pub from: Millis,
    /// When it ended.
    pub to: Millis,
    /// How it ended.
    pub ending: Ending,
    /// What is known of it.
    pub facts: Vec<(&'static str, Fact)>,
}

/// How a span ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    Well,
    /// In one of the failures that the service knows, by its word.
    Failed(String),
}

/// A fact of a span.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A word or a name of the service's own; never a text of others.
    Text(String),
    /// A count.
    Count(u64),
    /// A sum of money.
    Money(f64),
}

impl Span {
    /// A span that went well and of which nothing more is known. `path` leads from its Feature to it, and what it belongs
    /// to is the path without its last part.
    #[must_use]
    pub fn new(path: Vec<String>, name: &str, from: Millis, to: Millis) -> Self {
        Self {
            path,
            name: name.to_owned(),
            from,
            to,
            ending: Ending::Well,
            facts: Vec::new(),
        }
    }

    /// The same with one more text, shortened.
    #[must_use]
    pub fn text(mut self, key: &'static str, text: &str) -> Self {
        let text = text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect();
        self.facts.push((key, Fact::Text(text)));
        self
    }

    /// The same with one more count.
    #[must_use]
    pub fn count(mut self, key: &'static str, count: u64) -> Self {
        self.facts.push((key, Fact::Count(count)));
        self
    }

    /// The same, failed.
    #[must_use]
    pub fn failed(mut self, word: &str) -> Self {
        self.ending = Ending::Failed(word.to_owned());
        self.text("error.type", word)
    }
}

impl Telemetry {
    /// Starts the task that sends. Must be called within a tokio runtime. `instance` names this process among others;
    /// no name that is sent shows one of `secrets`.
    ///
    /// # Errors
    ///
    /// What stands in the way of TLS.
    pub fn start(settings: TelemetrySettings, instance: &str, secrets: Secrets) -> std::io::Result<Self> {
        let (orders, waiting) = mpsc::channel(WAITING);
        let sender = sender::Sender::new(settings, instance)?;
        tokio::spawn(sender.work(waiting));
        let lost = AtomicU64::new(0);
        Ok(Self(Some(Arc::new(Open { orders, lost, secrets }))))
    }

    /// Whether anybody listens.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Sends a span some time soon, or loses it: never waits.
    pub fn send(&self, mut span: Span) {
        let Some(open) = &self.0 else { return };
        for (_, fact) in &mut span.facts {
            if let Fact::Text(text) = fact {
                *text = open.secrets.mask(text);
            }
        }
        if open.orders.try_send(Order::Span(Box::new(span))).is_err() && open.lost.fetch_add(1, Ordering::Relaxed) == 0
        {
            tracing::warn!("the OpenTelemetry collector is too slow: spans are lost");
        }
    }

    /// Sends what waits, for a few seconds at most.
    pub async fn flush(&self) {
        let Some(open) = &self.0 else { return };
        let (done, sent) = oneshot::channel();
        let flushed = async {
            if open.orders.send(Order::Flush(done)).await.is_ok() {
                // An error says that the task has ended, and nothing waits.
                let _ = sent.await;
            }
        };
        if tokio::time::timeout(LAST, flushed).await.is_err() {
            tracing::warn!("the OpenTelemetry collector does not answer: the last spans are lost");
        }
    }
}

/// The id of the trace of a Feature, as lower-case digits of base 16.
fn trace_id(feature: &str) -> String {
    digits(&["trace", feature], 16)
}

/// The id of a span by the path that leads to it.
fn span_id(path: &[String]) -> String {
    let parts: Vec<&str> = std::iter::once("span").chain(path.iter().map(String::as_str)).collect();
    digits(&parts, 8)
}

fn digits(parts: &[&str], bytes: usize) -> String {
    let digest = Sha256::digest(parts.join("\0"));
    digest.iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
