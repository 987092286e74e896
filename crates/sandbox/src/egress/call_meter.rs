//! Measures the calls of models: the usage of each, its refusal, and the API's silence.

use crate::egress::{
    call_slots::CallSlot,
    pace::Pace,
    tally::{MAX_MODEL, Tally},
};
use http::StatusCode;
use parking_lot::Mutex;
use serde_json::Value;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use text::usage::Tokens;

/// The longest answer, or event of an answer, that is parsed, in bytes.
const MAX_OBSERVED: usize = 16 << 20;
/// The number of bytes of an API's refusal that are kept.
const MAX_SAID: usize = 2_000;
/// The number of bytes from the beginning of a request that are kept.
const MAX_HEAD: usize = 4_000;
/// The usual length of a token in bytes. Estimates the input of a request whose answer reports no usage.
const BYTES_PER_TOKEN: u64 = 4;
/// The longest answer in tokens if the request sets no limit. No model of the price table answers more.
const MOST_OUTPUT: u64 = 128_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One JSON value.
    Whole,
    /// A stream of events, each a line of JSON.
    Events,
}

/// The assumed usage of a call whose answer does not report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreported {
    /// As the request's estimated tokens, by the usual length of a token.
    AsSent,
    /// As the most that it may have used: a token for every byte that was sent, and the longest answer allowed.
    AtMost,
}

/// Measures one call of a model, and counts it when it has ended in whatever way.
#[derive(Debug)]
pub(super) struct CallMeter {
    tally: Arc<Tally>,
    /// How the call counts if its answer does not report its usage.
    pub(super) unreported: Unreported,
    pub(super) form: Form,
    unread: Vec<u8>,
    model: String,
    tokens: Tokens,
    pub(super) sent: Arc<Sent>,
    counts: Counts,
    came: AnswerProgress,
    /// The pace of the request's body.
    pub(super) asks: Arc<Pace>,
    /// The pace of the answer's body.
    pub(super) answers: Arc<Pace>,
    /// Released when the call has been counted.
    place: Option<CallSlot>,
}

/// The part of a call's request that was sent.
#[derive(Debug, Default)]
pub(super) struct Sent {
    bytes: AtomicU64,
    most_output: AtomicU64,
    head: Mutex<Vec<u8>>,
}

impl Sent {
    pub(super) fn note(&self, piece: &[u8]) {
        let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        self.bytes.fetch_add(length, Ordering::Relaxed);
        let mut head = self.head.lock();
        let room = MAX_HEAD.saturating_sub(head.len());
        head.extend(piece.iter().take(room));
    }

    /// Records the most tokens that the request allows its answer.
    pub(super) fn allows(&self, most_output: Option<u64>) {
        self.most_output.fetch_max(most_output.unwrap_or(0), Ordering::Relaxed);
    }

    fn estimate(&self, unreported: Unreported) -> Tokens {
        let bytes = self.bytes.load(Ordering::Relaxed);
        match unreported {
            Unreported::AsSent => Tokens { input: bytes / BYTES_PER_TOKEN, ..Tokens::default() },
            Unreported::AtMost => Tokens {
                input: bytes,
                output: match self.most_output.load(Ordering::Relaxed) {
                    0 => MOST_OUTPUT,
                    most => most.min(MOST_OUTPUT),
                },
                ..Tokens::default()
            },
        }
    }

    /// Returns the model that the beginning of the request names.
    fn model(&self) -> Option<String> {
        let head = self.head.lock();
        let text = String::from_utf8_lossy(&head);
        let (_, after) = text.split_once("\"model\"")?;
        let name = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let (name, _) = name.split_once('"')?;
        Some(name.chars().take(MAX_MODEL).collect())
    }
}

/// The part of an answer that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerProgress {
    /// Nothing yet: the model may be at work.
    Nothing,
    /// Only its head so far. An answer that ends there does not come from a model.
    Head,
    Words,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    Yes,
    No,
    Refused,
}

impl CallMeter {
    pub(super) fn new(tally: &Arc<Tally>) -> Self {
        Self {
            tally: Arc::clone(tally),
            unreported: Unreported::AsSent,
            form: Form::Whole,
            unread: Vec::new(),
            model: String::new(),
            tokens: Tokens::default(),
            sent: Arc::default(),
            counts: Counts::Yes,
            came: AnswerProgress::Nothing,
            asks: Arc::default(),
            answers: Arc::default(),
            place: None,
        }
    }

    /// `true` if only the head of an answer arrived, so that no model answered. With [`Unreported::AtMost`], an answer
    /// that was broken off there counts, since it could have come from a model.
    fn is_none(&self) -> bool {
        let is_over = self.unreported() == Unreported::AsSent || self.answers.has_ended();
        self.came == AnswerProgress::Head && is_over
    }

    /// Returns how to count missing usage. If the API itself broke off, the program had no part in it.
    fn unreported(&self) -> Unreported {
        if self.answers.has_broken_by_itself() { Unreported::AsSent } else { self.unreported }
    }

    /// Returns how long the API has been silent.
    fn silence(&self) -> Duration {
        match self.came {
            AnswerProgress::Nothing => self.asks.since_all_came(),
            AnswerProgress::Head | AnswerProgress::Words => self.answers.silence(),
        }
    }

    pub(super) fn begin(&mut self, place: CallSlot) {
        self.asks = Arc::default();
        self.place = Some(place);
    }

    /// Marks the call as free.
    pub(super) fn forget(&mut self) {
        self.counts = Counts::No;
    }

    /// Records the status of the answer. A refused call costs nothing, and its message is kept for operators.
    pub(super) fn answered(&mut self, status: StatusCode, asked_to_wait: Option<u64>) {
        if self.counts == Counts::No {
            // An API that serves no calls may still answer free requests, so these show nothing about it.
            return;
        }
        self.came = AnswerProgress::Head;
        let refused = !status.is_success();
        if matches!(status.as_u16(), 408 | 409 | 425 | 429 | 500..) {
            self.tally.fails();
        }
        let wait = asked_to_wait.filter(|_| refused);
        self.tally.set_wait(wait.unwrap_or(0));
        self.tally.refusal().clear();
        if refused {
            self.counts = Counts::Refused;
        }
    }

    /// Records that the API could not be reached or broke off. The call costs nothing.
    pub(super) fn fails(&mut self) {
        self.forget();
        self.tally.fails();
    }

    pub(super) fn observe(&mut self, bytes: &[u8]) {
        match self.counts {
            Counts::Yes => {}
            Counts::No => return,
            Counts::Refused => {
                let mut said = self.tally.refusal();
                let room = MAX_SAID.saturating_sub(said.len());
                said.extend(bytes.iter().take(room));
                return;
            }
        }
        self.came = AnswerProgress::Words;
        let mut rest = bytes;
        while self.form == Form::Events {
            let Some(at) = rest.iter().position(|byte| *byte == b'\n') else {
                break;
            };
            let (line, after) = rest.split_at(at);
            self.keep(line);
            self.read();
            rest = after.get(1..).unwrap_or_default();
        }
        self.keep(rest);
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.unread.len().saturating_add(bytes.len()) <= MAX_OBSERVED {
            self.unread.extend_from_slice(bytes);
        }
    }

    /// Parses the bytes that arrived since the last time.
    fn read(&mut self) {
        let unread = std::mem::take(&mut self.unread);
        let json = unread.strip_prefix(b"data:").unwrap_or(&unread);
        let Ok(value) = text::json::read::<Value>(json) else {
            return;
        };
        if matches!(value.get("type").and_then(Value::as_str), Some("error" | "response.failed")) {
            self.tally.fails();
            // An API that reports a failure charges nothing for its answer.
            self.unreported = Unreported::AsSent;
        }
        // Anthropic's first event has them in `message`, OpenAI's last one in `response`.
        let places = [Some(&value), value.get("message"), value.get("response")];
        for place in places.into_iter().flatten() {
            if let Some(model) = place.get("model").and_then(Value::as_str) {
                self.model = model.chars().take(MAX_MODEL).collect();
            }
            if let Some(usage) = place.get("usage") {
                self.tokens = at_least(self.tokens, tokens(usage));
            }
        }
    }
}

impl Drop for CallMeter {
    fn drop(&mut self) {
        if self.counts != Counts::No {
            if self.answers.has_broken() {
                self.tally.fails();
            }
            let mut longest = self.tally.longest_silence();
            *longest = if self.answers.has_ended() { Duration::ZERO } else { longest.max(self.silence()) };
        }
        if self.counts != Counts::Yes || self.is_none() {
            return;
        }
        self.read();
        if self.tokens.total() == 0 {
            self.tokens = self.sent.estimate(self.unreported());
        }
        if self.model.is_empty() {
            self.model = self.sent.model().unwrap_or_default();
        }
        self.tally.add(&self.model, self.tokens);
    }
}

/// Returns the larger of the figures. Those of one call only grow, because each event repeats the earlier ones.
fn at_least(one: Tokens, other: Tokens) -> Tokens {
    Tokens {
        input: one.input.max(other.input),
        cached: one.cached.max(other.cached),
        cache_write: one.cache_write.max(other.cache_write),
        output: one.output.max(other.output),
    }
}

fn tokens(usage: &Value) -> Tokens {
    let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let of_details = number("/input_tokens_details/cached_tokens").or(number("/prompt_tokens_details/cached_tokens"));
    let input = number("/input_tokens").or(number("/prompt_tokens")).unwrap_or(0);
    Tokens {
        // OpenAI's figure includes the cached tokens.
        input: input.saturating_sub(of_details.unwrap_or(0)),
        cached: of_details.or(number("/cache_read_input_tokens")).unwrap_or(0),
        cache_write: number("/cache_creation_input_tokens").unwrap_or(0),
        output: number("/output_tokens").or(number("/completion_tokens")).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::{CallMeter, Form, Tally};
    use http::StatusCode;
    use std::sync::Arc;
    use text::usage::Tokens;

    fn metered(form: Form, pieces: &[&str]) -> Vec<(String, Tokens)> {
        let tally = Arc::new(Tally::default());
        let mut meter = CallMeter::new(&tally);
        Arc::clone(&meter.sent).note(&[b' '; 370]);
        Arc::clone(&meter.sent).note(b"{\"model\" : \"asked\", \"x\":\"\"}   ");
        assert_eq!(Arc::clone(&meter.sent).bytes.load(std::sync::atomic::Ordering::Relaxed), 400);
        meter.answered(StatusCode::OK, None);
        meter.form = form;
        for piece in pieces {
            meter.observe(piece.as_bytes());
        }
        drop(meter);
        tally.list()
    }

    fn sums(model: &str, [input, cached, cache_write, output]: [u64; 4]) -> Vec<(String, Tokens)> {
        let tokens = Tokens { input, cached, cache_write, output };
        vec![(model.to_owned(), tokens)]
    }

    #[test]
    fn every_form_of_an_answer_tells_what_it_used() {
        let stream = [
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":10,",
            "\"cache_read_input_tokens\":20,\"cache_creation_input_tokens\":30,\"output_tokens\":1}}}\n\n",
            "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":40}}\n\ndata: no json\n\n",
        ];
        assert_eq!(metered(Form::Events, &stream), sums("m", [10, 20, 30, 40]));
        let whole = ["{\n\"model\": \"m\", \"usage\":", "{\"input_tokens\": 5, \"output_tokens\": 6}}"];
        assert_eq!(metered(Form::Whole, &whole), sums("m", [5, 0, 0, 6]));
        let responses =
            ["data: {\"response\":{\"model\":\"g\",\"usage\":{\"input_tokens\":9,\"input_tokens_details\":\
                          {\"cached_tokens\":4},\"output_tokens\":2}}}\n"];
        assert_eq!(metered(Form::Events, &responses), sums("g", [5, 4, 0, 2]));
        let chat = ["{\"model\":\"g\",\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}"];
        assert_eq!(metered(Form::Whole, &chat), sums("g", [9, 0, 0, 2]));
    }

    #[test]
    fn a_call_that_was_broken_off_counts_what_was_sent() {
        assert_eq!(metered(Form::Events, &["data: {\"typ"]), sums("asked", [100, 0, 0, 0]));
        let tally = Arc::new(Tally::default());
        let silent = CallMeter::new(&tally);
        silent.sent.note(&[b' '; 400]);
        drop(silent);
        assert_eq!(tally.list(), sums("", [100, 0, 0, 0]), "the model may have worked");
    }

    #[test]
    fn where_usage_must_be_told_an_answer_without_it_counts_as_the_most() {
        let spent = |request: &[u8], allows, form, said: &[&str], ends| {
            let tally = Arc::new(Tally::default());
            let mut meter = CallMeter::new(&tally);
            meter.unreported = super::Unreported::AtMost;
            Arc::clone(&meter.sent).note(request);
            Arc::clone(&meter.sent).allows(allows);
            meter.answered(StatusCode::OK, None);
            meter.form = form;
            said.iter().for_each(|piece| meter.observe(piece.as_bytes()));
            if ends {
                Arc::clone(&meter.answers).ends();
            }
            drop(meter);
            tally.list()
        };
        let request = b"{\"model\":\"g\"}";
        let begun = ["data: {\"type\":\"response.created\",\"response\":{\"model\":\"g\",\"usage\":null}}\n"];
        let most = sums("g", [13, 0, 0, 128_000]);
        assert_eq!(spent(request, None, Form::Events, &begun, false), most);
        assert_eq!(spent(request, None, Form::Events, &[], false), most, "broken off at the head");
        assert_eq!(spent(request, None, Form::Events, &[], true), Vec::new(), "no answer of a model");
        assert_eq!(spent(request, Some(50), Form::Whole, &["{}"], true), sums("g", [13, 0, 0, 50]));
        assert_eq!(spent(request, Some(u64::MAX), Form::Whole, &["{}"], true), most);
        let failed = ["data: {\"type\":\"response.failed\",\"response\":{\"model\":\"g\"}}\n"];
        assert_eq!(spent(request, None, Form::Events, &failed, true), sums("g", [3, 0, 0, 0]));
        let dropped = Arc::new(Tally::default());
        let mut meter = CallMeter::new(&dropped);
        meter.unreported = super::Unreported::AtMost;
        Arc::clone(&meter.sent).note(request);
        meter.answered(StatusCode::OK, None);
        meter.observe(b"{");
        Arc::clone(&meter.answers).waits();
        Arc::clone(&meter.answers).breaks();
        drop(meter);
        assert_eq!(dropped.list(), sums("g", [3, 0, 0, 0]), "the API's own doing");
        let told = ["{\"model\":\"g\",\"usage\":{\"input_tokens\":9,\"output_tokens\":2}}"];
        assert_eq!(spent(request, None, Form::Whole, &told, true), sums("g", [9, 0, 0, 2]));
    }

    #[test]
    fn an_answer_without_a_word_is_none_of_a_model_and_costs_nothing() {
        assert_eq!(metered(Form::Events, &[]), Vec::new());
    }

    #[test]
    fn the_words_of_the_last_refusal_are_kept_until_the_api_serves() {
        let tally = Arc::new(Tally::default());
        let call = |status, wait, said: &str| {
            let mut meter = CallMeter::new(&tally);
            meter.answered(status, wait);
            meter.observe(said.as_bytes());
            meter.observe(b" more ");
        };
        call(StatusCode::TOO_MANY_REQUESTS, Some(7), "{\"error\":1}");
        assert_eq!((tally.refusal_text().as_str(), tally.requested_wait()), ("{\"error\":1} more", Some(7)));
        let mut free = CallMeter::new(&tally);
        free.forget();
        free.answered(StatusCode::OK, None);
        assert_eq!((tally.refusal_text().is_empty(), tally.requested_wait()), (false, Some(7)), "nothing was asked");
        call(StatusCode::BAD_REQUEST, None, &"x".repeat(5_000));
        assert_eq!((tally.refusal_text().len(), tally.requested_wait()), (super::MAX_SAID, None));
        call(StatusCode::OK, Some(7), "{}");
        assert_eq!((tally.refusal_text().as_str(), tally.requested_wait()), ("", None));
        let costs = tally.list();
        assert_eq!(costs.len(), 1, "only what was served costs: {costs:?}");
    }

    #[test]
    fn an_api_that_did_not_serve_is_told_from_one_that_was_asked_oddly() {
        let failed = |status: u16, form, said: &str| {
            let tally = Arc::new(Tally::default());
            let mut meter = CallMeter::new(&tally);
            meter.answered(StatusCode::from_u16(status).unwrap(), None);
            meter.form = form;
            meter.observe(said.as_bytes());
            drop(meter);
            tally.has_failed()
        };
        for status in [408, 429, 500, 529] {
            assert!(failed(status, Form::Whole, ""), "{status}");
        }
        for status in [200, 400, 401, 404] {
            assert!(!failed(status, Form::Whole, "{\"type\":\"message\"}"), "{status}");
        }
        assert!(failed(200, Form::Events, "event: error\ndata: {\"type\":\"error\"}\n\n"));
        assert!(failed(200, Form::Events, "data: {\"type\":\"response.failed\"}\n\n"));
        assert!(!failed(200, Form::Events, "data: {\"type\":\"ping\"}\n\n"));
    }

    #[test]
    fn many_models_and_endless_lines_are_bounded() {
        let tally = Arc::new(Tally::default());
        for number in 0..1_000 {
            let mut meter = CallMeter::new(&tally);
            meter.observe(format!("{{\"model\":\"m{number}\",\"usage\":{{\"output_tokens\":1}}}}").as_bytes());
        }
        let all = tally.list();
        assert!(all.len() <= crate::egress::tally::MAX_MODELS + 1, "{}", all.len());
        assert_eq!(all.iter().map(|(_, tokens)| tokens.output).sum::<u64>(), 1_000);
        let mut meter = CallMeter::new(&tally);
        for _ in 0..40 {
            meter.observe(&vec![b'x'; 1 << 20]);
        }
        assert!(meter.unread.len() <= super::MAX_OBSERVED);
    }
}
