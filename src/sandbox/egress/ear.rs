//! Listens to the calls of models: what each used, what it was refused with, how long it was silent.

use crate::domain::usage::Tokens;
use crate::sandbox::egress::pace::Pace;
use crate::sandbox::egress::places::Place;
use crate::sandbox::egress::tally::MAX_MODEL;
use crate::sandbox::egress::tally::Tally;
use http::StatusCode;
use serde_json::Value;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// An answer, or one event of it, that is longer than this is not read.
const MAX_HEARD: usize = 16 << 20;
/// What is kept of the words with which an API refuses.
const MAX_SAID: usize = 2_000;
/// What is kept of the beginning of a request.
const MAX_HEAD: usize = 4_000;
/// What a request counts that was broken off before its answer told anything.
const BYTES_PER_TOKEN: u64 = 4;

/// How an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As one JSON value.
    Whole,
    /// As events, a line of JSON each.
    Events,
}

/// Listens to one call of a model; counts it when the call is over, however it ended.
#[derive(Debug)]
pub(super) struct Ear {
    tally: Arc<Tally>,
    form: Form,
    heard: Vec<u8>,
    model: String,
    tokens: Tokens,
    sent: Arc<Sent>,
    counts: Counts,
    came: Came,
    asks: Arc<Pace>,
    answers: Arc<Pace>,
    /// Given back when the call is counted.
    place: Option<Place>,
}

/// The request of a call, as far as it went out.
#[derive(Debug, Default)]
pub(super) struct Sent {
    bytes: AtomicU64,
    head: Mutex<Vec<u8>>,
}

impl Sent {
    /// A piece goes out.
    pub(super) fn note(&self, piece: &[u8]) {
        let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        self.bytes.fetch_add(length, Ordering::Relaxed);
        let mut head = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_HEAD.saturating_sub(head.len());
        head.extend(piece.iter().take(room));
    }

    /// The model that the beginning of the request names.
    fn model(&self) -> Option<String> {
        let head = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&head);
        let (_, after) = text.split_once("\"model\"")?;
        let name = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let (name, _) = name.split_once('"')?;
        Some(name.chars().take(MAX_MODEL).collect())
    }
}

/// What came of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    /// Nothing yet: the model may be at work.
    Nothing,
    /// Its head, and so far not a byte more. An answer that stays so is none of a model.
    Head,
    Words,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    Yes,
    No,
    Refused,
}

impl Ear {
    pub(super) fn new(tally: &Arc<Tally>) -> Self {
        Self {
            tally: Arc::clone(tally),
            form: Form::Whole,
            heard: Vec::new(),
            model: String::new(),
            tokens: Tokens::default(),
            sent: Arc::default(),
            counts: Counts::Yes,
            came: Came::Nothing,
            asks: Arc::default(),
            answers: Arc::default(),
            place: None,
        }
    }

    /// Who is told of the request.
    pub(super) fn sent(&self) -> Arc<Sent> {
        Arc::clone(&self.sent)
    }

    /// Who is told how the request comes.
    pub(super) fn asks(&self) -> Arc<Pace> {
        Arc::clone(&self.asks)
    }

    /// Who is told how the answer comes.
    pub(super) fn answers(&self) -> Arc<Pace> {
        Arc::clone(&self.answers)
    }

    /// For how long the API says nothing.
    fn silence(&self) -> Duration {
        match self.came {
            Came::Nothing => self.asks.since_all_came(),
            Came::Head | Came::Words => self.answers.silence(),
        }
    }

    /// The call has a place, and begins now.
    pub(super) fn begin(&mut self, place: Place) {
        self.asks = Arc::default();
        self.place = Some(place);
    }

    /// The call costs nothing.
    pub(super) fn forget(&mut self) {
        self.counts = Counts::No;
    }

    /// The call was answered. One that was refused costs nothing, and what is said then is kept for operators.
    pub(super) fn answered(&mut self, status: StatusCode, asked_to_wait: Option<u64>) {
        if self.counts == Counts::No {
            // What is free to ask is answered also by an API that serves nobody, and tells nothing of that.
            return;
        }
        self.came = Came::Head;
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

    /// The API is not to be reached, or breaks off: the call costs nothing.
    pub(super) fn fails(&mut self) {
        self.forget();
        self.tally.fails();
    }

    /// An answer begins.
    pub(super) fn begins(&mut self, form: Form) {
        self.form = form;
    }

    pub(super) fn hear(&mut self, bytes: &[u8]) {
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
        self.came = Came::Words;
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
        if self.heard.len().saturating_add(bytes.len()) <= MAX_HEARD {
            self.heard.extend_from_slice(bytes);
        }
    }

    /// Reads what was heard, and begins anew.
    fn read(&mut self) {
        let heard = std::mem::take(&mut self.heard);
        let json = heard.strip_prefix(b"data:").unwrap_or(&heard);
        let Ok(value) = serde_json::from_slice::<Value>(json) else {
            return;
        };
        if matches!(
            value.get("type").and_then(Value::as_str),
            Some("error" | "response.failed")
        ) {
            self.tally.fails();
        }
        // Anthropic's first event holds them in `message`, OpenAI's last one in `response`.
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

impl Drop for Ear {
    fn drop(&mut self) {
        if self.counts != Counts::No {
            if self.answers.has_broken() {
                self.tally.fails();
            }
            let mut longest = self.tally.longest_silence();
            *longest = match self.answers.has_ended() {
                true => Duration::ZERO,
                false => longest.max(self.silence()),
            };
        }
        if self.counts != Counts::Yes || self.came == Came::Head {
            return;
        }
        self.read();
        if self.tokens.total() == 0 {
            self.tokens.input = self.sent.bytes.load(Ordering::Relaxed) / BYTES_PER_TOKEN;
        }
        if self.model.is_empty() {
            self.model = self.sent.model().unwrap_or_default();
        }
        self.tally.add(&self.model, self.tokens);
    }
}

/// Figures of one call only grow: each event repeats what those before it said.
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
        // OpenAI's figure holds the cached ones too.
        input: input.saturating_sub(of_details.unwrap_or(0)),
        cached: of_details.or(number("/cache_read_input_tokens")).unwrap_or(0),
        cache_write: number("/cache_creation_input_tokens").unwrap_or(0),
        output: number("/output_tokens").or(number("/completion_tokens")).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::Ear;
    use super::Form;
    use super::Tally;
    use crate::domain::usage::Tokens;
    use http::StatusCode;
    use std::sync::Arc;

    fn heard(form: Form, pieces: &[&str]) -> Vec<(String, Tokens)> {
        let tally = Arc::new(Tally::default());
        let mut ear = Ear::new(&tally);
        ear.sent().note(&[b' '; 370]);
        ear.sent().note(b"{\"model\" : \"asked\", \"x\":\"\"}   ");
        assert_eq!(ear.sent().bytes.load(std::sync::atomic::Ordering::Relaxed), 400);
        ear.answered(StatusCode::OK, None);
        ear.begins(form);
        for piece in pieces {
            ear.hear(piece.as_bytes());
        }
        drop(ear);
        tally.used()
    }

    fn used(model: &str, [input, cached, cache_write, output]: [u64; 4]) -> Vec<(String, Tokens)> {
        let tokens = Tokens {
            input,
            cached,
            cache_write,
            output,
        };
        vec![(model.to_owned(), tokens)]
    }

    #[test]
    fn every_form_of_an_answer_tells_what_it_used() {
        let stream = [
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":10,",
            "\"cache_read_input_tokens\":20,\"cache_creation_input_tokens\":30,\"output_tokens\":1}}}\n\n",
            "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":40}}\n\ndata: no json\n\n",
        ];
        assert_eq!(heard(Form::Events, &stream), used("m", [10, 20, 30, 40]));
        let whole = [
            "{\n\"model\": \"m\", \"usage\":",
            "{\"input_tokens\": 5, \"output_tokens\": 6}}",
        ];
        assert_eq!(heard(Form::Whole, &whole), used("m", [5, 0, 0, 6]));
        let responses = [
            "data: {\"response\":{\"model\":\"g\",\"usage\":{\"input_tokens\":9,\"input_tokens_details\":\
                          {\"cached_tokens\":4},\"output_tokens\":2}}}\n",
        ];
        assert_eq!(heard(Form::Events, &responses), used("g", [5, 4, 0, 2]));
        let chat = ["{\"model\":\"g\",\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}"];
        assert_eq!(heard(Form::Whole, &chat), used("g", [9, 0, 0, 2]));
    }

    #[test]
    fn a_call_that_was_broken_off_counts_what_was_sent() {
        assert_eq!(heard(Form::Events, &["data: {\"typ"]), used("asked", [100, 0, 0, 0]));
        let tally = Arc::new(Tally::default());
        let silent = Ear::new(&tally);
        silent.sent().note(&[b' '; 400]);
        drop(silent);
        assert_eq!(tally.used(), used("", [100, 0, 0, 0]), "the model may have worked");
    }

    #[test]
    fn an_answer_without_a_word_is_none_of_a_model_and_costs_nothing() {
        assert_eq!(heard(Form::Events, &[]), Vec::new());
    }

    #[test]
    fn the_words_of_the_last_refusal_are_kept_until_the_api_serves() {
        let tally = Arc::new(Tally::default());
        let call = |status, wait, said: &str| {
            let mut ear = Ear::new(&tally);
            ear.answered(status, wait);
            ear.hear(said.as_bytes());
            ear.hear(b" more ");
        };
        call(StatusCode::TOO_MANY_REQUESTS, Some(7), "{\"error\":1}");
        assert_eq!(
            (tally.said().as_str(), tally.told_to_wait()),
            ("{\"error\":1} more", Some(7))
        );
        let mut free = Ear::new(&tally);
        free.forget();
        free.answered(StatusCode::OK, None);
        assert_eq!(
            (tally.said().is_empty(), tally.told_to_wait()),
            (false, Some(7)),
            "nothing was asked"
        );
        call(StatusCode::BAD_REQUEST, None, &"x".repeat(5_000));
        assert_eq!((tally.said().len(), tally.told_to_wait()), (super::MAX_SAID, None));
        call(StatusCode::OK, Some(7), "{}");
        assert_eq!((tally.said().as_str(), tally.told_to_wait()), ("", None));
        let costs = tally.used();
        assert_eq!(costs.len(), 1, "only what was served costs: {costs:?}");
    }

    #[test]
    fn an_api_that_did_not_serve_is_told_from_one_that_was_asked_oddly() {
        let failed = |status: u16, form, said: &str| {
            let tally = Arc::new(Tally::default());
            let mut ear = Ear::new(&tally);
            ear.answered(StatusCode::from_u16(status).unwrap(), None);
            ear.begins(form);
            ear.hear(said.as_bytes());
            drop(ear);
            tally.has_failed()
        };
        for status in [408, 429, 500, 529] {
            assert!(failed(status, Form::Whole, ""), "{status}");
        }
        for status in [200, 400, 401, 404] {
            assert!(!failed(status, Form::Whole, "{\"type\":\"message\"}"), "{status}");
        }
        assert!(failed(
            200,
            Form::Events,
            "event: error\ndata: {\"type\":\"error\"}\n\n"
        ));
        assert!(failed(200, Form::Events, "data: {\"type\":\"response.failed\"}\n\n"));
        assert!(!failed(200, Form::Events, "data: {\"type\":\"ping\"}\n\n"));
    }

    #[test]
    fn many_models_and_endless_lines_are_bounded() {
        let tally = Arc::new(Tally::default());
        for number in 0..1_000 {
            let mut ear = Ear::new(&tally);
            ear.hear(format!("{{\"model\":\"m{number}\",\"usage\":{{\"output_tokens\":1}}}}").as_bytes());
        }
        let all = tally.used();
        assert!(
            all.len() <= crate::sandbox::egress::tally::MAX_MODELS + 1,
            "{}",
            all.len()
        );
        assert_eq!(all.iter().map(|(_, tokens)| tokens.output).sum::<u64>(), 1_000);
        let mut ear = Ear::new(&tally);
        for _ in 0..40 {
            ear.hear(&vec![b'x'; 1 << 20]);
        }
        assert!(ear.heard.len() <= super::MAX_HEARD);
    }
}
