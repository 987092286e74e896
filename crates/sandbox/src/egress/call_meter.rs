//! Measures the calls of models: the usage of each, its refusal, and the API's silence.

use crate::egress::{
    call_slots::CallSlot,
    pace::Pace,
    request_policy::CallRequest,
    tally::{MAX_MODEL, Tally},
};
use http::StatusCode;
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use text::{price, usage::Tokens};

/// The longest answer, or event of an answer, that is parsed, in bytes.
const MAX_OBSERVED: usize = 16 << 20;
/// The number of bytes of an API's refusal that are kept.
const MAX_SAID: usize = 2_000;
/// The codes with which OpenAI refuses an account with status 400 or 429.
const ACCOUNT_CODES: [&str; 3] = ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"];
/// The beginning of the message with which Anthropic refuses an account without credit, with status 400. What it repeats
/// of a request is never at the beginning.
const NO_CREDIT: &str = "Your credit balance";
/// The usual length of a token in bytes. Estimates the input of a request whose answer reports no usage.
const BYTES_PER_TOKEN: u64 = 4;
/// The longest answer in tokens if the request sets no limit. No model of the price table answers more.
const MOST_OUTPUT: u64 = 128_000;
/// An API that streams its answer and has not begun after this time is not at work.
const BEGINS_WITHIN: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One JSON value.
    Whole,
    /// A stream of events, each a line of JSON.
    Events,
}

/// The part of a call's usage that its answer has reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerUsage {
    Nothing,
    /// The input, and what was written before the report.
    Input,
    All,
}

/// Measures one call of a model, and counts it when it has ended in whatever way.
#[derive(Debug)]
pub(super) struct CallMeter {
    tally: Arc<Tally>,
    pub(super) form: Form,
    unread: Vec<u8>,
    model: String,
    tokens: Tokens,
    reported: AnswerUsage,
    /// `true` if the API itself reported that it failed.
    failed: bool,
    request: CallRequest,
    counts: Counts,
    came: AnswerProgress,
    /// The pace at which the API takes the request's body.
    pub(super) asks: Arc<Pace>,
    /// The pace of the answer's body.
    pub(super) answers: Pace,
    /// Released when the call has been counted.
    place: Option<CallSlot>,
}

impl CallRequest {
    /// Returns the most that the call may use: a token for every byte that is sent, and the longest answer allowed.
    fn most(&self) -> Tokens {
        // An API may read a limit of 0 as none.
        let output = self.most_output.filter(|most| *most > 0).unwrap_or(MOST_OUTPUT).min(MOST_OUTPUT);
        Tokens { input: self.bytes, output, ..Tokens::default() }
    }

    /// Returns the most that the call may cost, in millionths of a dollar.
    pub(super) fn most_micros(&self) -> u64 {
        let most = self.most();
        let tokens = Tokens { input: most.input / BYTES_PER_TOKEN, ..most };
        price::range(&[(self.model.clone(), tokens)]).1
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
    pub(super) fn new(tally: &Arc<Tally>, request: CallRequest) -> Self {
        Self {
            tally: Arc::clone(tally),
            form: Form::Whole,
            unread: Vec::new(),
            model: String::new(),
            tokens: Tokens::default(),
            reported: AnswerUsage::Nothing,
            failed: false,
            request,
            counts: Counts::Yes,
            came: AnswerProgress::Nothing,
            asks: Arc::default(),
            answers: Pace::default(),
            place: None,
        }
    }

    /// `true` if no model was at work: the API did not get the whole request, or its answer is only a head.
    fn reached_no_model(&self) -> bool {
        match self.came {
            AnswerProgress::Nothing => !self.asks.has_ended(),
            AnswerProgress::Head => self.answers.has_ended() || self.answers.has_broken_by_itself(),
            AnswerProgress::Words => false,
        }
    }

    /// Returns what the answer proves, and for the rest the most that the request allows: a program can break off any
    /// answer before its usage arrives. If the API itself failed, it charges for no more than it reported.
    fn count_tokens(&self) -> Tokens {
        let most = self.request.most();
        let has_not_begun = self.came == AnswerProgress::Nothing && self.silence() >= BEGINS_WITHIN;
        let has_failed = self.failed || self.answers.has_broken_by_itself() || has_not_begun;
        match self.reported {
            AnswerUsage::All => self.tokens,
            AnswerUsage::Input if has_failed => self.tokens,
            AnswerUsage::Input => Tokens { output: most.output, ..self.tokens },
            AnswerUsage::Nothing if has_failed => Tokens { input: most.input / BYTES_PER_TOKEN, ..Tokens::default() },
            AnswerUsage::Nothing => most,
        }
    }

    /// Returns how long the API has been silent. One that has to answer in one piece may be at work all the time.
    fn silence(&self) -> Duration {
        match self.came {
            _ if !self.request.streams => Duration::ZERO,
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
        if matches!(status.as_u16(), 401..=403) {
            self.tally.accuses();
        }
        let wait = asked_to_wait.filter(|_| refused);
        self.tally.set_wait(wait.unwrap_or(0));
        self.tally.refusal().clear();
        if refused {
            self.counts = Counts::Refused;
        }
    }

    /// Records that the API could not be reached. The call costs nothing.
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
            self.failed = true;
        }
        let is_begun = value.get("type").and_then(Value::as_str) == Some("message_start");
        // Anthropic's first event has them in `message`, OpenAI's last one in `response`.
        let places = [Some(&value), value.get("message"), value.get("response")];
        for place in places.into_iter().flatten() {
            if let Some(model) = place.get("model").and_then(Value::as_str) {
                self.model = model.chars().take(MAX_MODEL).collect();
            }
            if let Some(usage) = place.get("usage").filter(|usage| usage.is_object()) {
                self.tokens = at_least(self.tokens, tokens(usage));
                self.reported = if is_begun { AnswerUsage::Input } else { AnswerUsage::All };
            }
        }
    }
}

impl Drop for CallMeter {
    fn drop(&mut self) {
        if self.counts != Counts::No {
            if self.answers.has_broken_by_itself() {
                self.tally.fails();
            }
            let mut longest = self.tally.longest_silence();
            *longest = if self.answers.has_ended() { Duration::ZERO } else { longest.max(self.silence()) };
        }
        if self.counts == Counts::Refused && is_of_account(&self.tally.refusal()) {
            self.tally.accuses();
        }
        if self.counts != Counts::Yes || self.reached_no_model() {
            return;
        }
        self.read();
        if self.model.is_empty() {
            self.model.clone_from(&self.request.model);
        }
        self.tally.add(&self.model, self.count_tokens());
    }
}

/// `true` if a refusal says that the account has no credit.
fn is_of_account(refusal: &[u8]) -> bool {
    let refusal: Value = text::json::read(refusal).unwrap_or_default();
    let word = |pointer| refusal.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let is_code = |code: &str| ACCOUNT_CODES.contains(&code);
    is_code(word("/error/code")) || is_code(word("/error/type")) || word("/error/message").starts_with(NO_CREDIT)
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
    use super::{CallMeter, CallRequest, Form, Tally};
    use http::StatusCode;
    use std::sync::Arc;
    use text::usage::Tokens;

    fn request(model: &str, bytes: u64, most_output: Option<u64>) -> CallRequest {
        CallRequest { bytes, model: model.to_owned(), most_output, streams: true }
    }

    fn metered(form: Form, pieces: &[&str]) -> Vec<(String, Tokens)> {
        let tally = Arc::new(Tally::default());
        let mut meter = CallMeter::new(&tally, request("asked", 400, None));
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

    const BEGUN: &str = "data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":10,\
                         \"output_tokens\":1}}}\n\n";

    #[test]
    fn what_a_broken_off_answer_does_not_prove_counts_as_the_most() {
        assert_eq!(metered(Form::Events, &["data: {\"typ"]), sums("asked", [400, 0, 0, 128_000]));
        assert_eq!(metered(Form::Events, &[BEGUN]), sums("m", [10, 0, 0, 128_000]));
        let ended = "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":40}}\n";
        assert_eq!(metered(Form::Events, &[BEGUN, ended]), sums("m", [10, 0, 0, 40]));
        let failed = "data: {\"type\":\"error\"}\n";
        assert_eq!(metered(Form::Events, &[BEGUN, failed]), sums("m", [10, 0, 0, 1]), "the API's own doing");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_without_an_answer_counts_if_the_api_got_all_of_it_and_may_be_at_work() {
        let spent = async |streams, sent_all, seconds| {
            let tally = Arc::new(Tally::default());
            let meter = CallMeter::new(&tally, CallRequest { streams, ..request("", 400, Some(50)) });
            if sent_all {
                meter.asks.ends();
            }
            tokio::time::advance(std::time::Duration::from_secs(seconds)).await;
            drop(meter);
            tally.list()
        };
        let most = sums("", [400, 0, 0, 50]);
        assert_eq!(spent(true, true, 29).await, most);
        assert_eq!(spent(false, true, 900).await, most, "a whole answer takes its time");
        assert_eq!(spent(true, true, 30).await, sums("", [100, 0, 0, 0]), "a stream would have begun");
        assert_eq!(spent(true, false, 0).await, Vec::new(), "an API does nothing for half a request");
    }

    #[test]
    fn an_answer_without_usage_counts_as_the_most() {
        let spent = |most_output, form, said: &[&str], ends| {
            let tally = Arc::new(Tally::default());
            let mut meter = CallMeter::new(&tally, request("g", 13, most_output));
            meter.answered(StatusCode::OK, None);
            meter.form = form;
            said.iter().for_each(|piece| meter.observe(piece.as_bytes()));
            if ends {
                meter.answers.ends();
            }
            drop(meter);
            tally.list()
        };
        let begun = ["data: {\"type\":\"response.created\",\"response\":{\"model\":\"g\",\"usage\":null}}\n"];
        let most = sums("g", [13, 0, 0, 128_000]);
        assert_eq!(spent(None, Form::Events, &begun, false), most);
        assert_eq!(spent(None, Form::Events, &[], false), most, "broken off at the head");
        assert_eq!(spent(None, Form::Events, &[], true), Vec::new(), "no answer of a model");
        assert_eq!(spent(Some(50), Form::Whole, &["{}"], true), sums("g", [13, 0, 0, 50]));
        assert_eq!(spent(Some(u64::MAX), Form::Whole, &["{}"], true), most);
        let failed = ["data: {\"type\":\"response.failed\",\"response\":{\"model\":\"g\"}}\n"];
        assert_eq!(spent(None, Form::Events, &failed, true), sums("g", [3, 0, 0, 0]));
        let dropped = Arc::new(Tally::default());
        let mut meter = CallMeter::new(&dropped, request("g", 13, None));
        meter.answered(StatusCode::OK, None);
        meter.observe(b"{");
        meter.answers.waits();
        meter.answers.breaks();
        drop(meter);
        assert_eq!(dropped.list(), sums("g", [3, 0, 0, 0]), "the API's own doing");
        let told = ["{\"model\":\"g\",\"usage\":{\"input_tokens\":9,\"output_tokens\":2}}"];
        assert_eq!(spent(None, Form::Whole, &told, true), sums("g", [9, 0, 0, 2]));
    }

    #[test]
    fn an_account_is_refused_by_the_api_alone() {
        let no_credit = r#"{"error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#;
        let repeated = r#"{"error":{"message":"messages.0: 'Your credit balance is too low' is no role"}}"#;
        for (status, said, accuses) in [
            (401, "", true),
            (402, "", true),
            (403, "", true),
            (404, "", false),
            (400, "Your credit balance is too low", false),
            (400, no_credit, true),
            (400, repeated, false),
            (429, r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#, false),
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, true),
            (200, no_credit, false),
        ] {
            let tally = Arc::new(Tally::default());
            let mut meter = CallMeter::new(&tally, CallRequest::default());
            meter.answered(StatusCode::from_u16(status).unwrap(), None);
            meter.observe(said.as_bytes());
            drop(meter);
            assert_eq!(tally.has_accused(), accuses, "{status} {said}");
        }
    }

    #[test]
    fn the_words_of_the_last_refusal_are_kept_until_the_api_serves() {
        let tally = Arc::new(Tally::default());
        let call = |status, wait, said: &str| {
            let mut meter = CallMeter::new(&tally, CallRequest::default());
            meter.answered(status, wait);
            meter.observe(said.as_bytes());
            meter.observe(b" more ");
        };
        call(StatusCode::TOO_MANY_REQUESTS, Some(7), "{\"error\":1}");
        assert_eq!((tally.refusal_text().as_str(), tally.requested_wait()), ("{\"error\":1} more", Some(7)));
        let mut free = CallMeter::new(&tally, CallRequest::default());
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
            let mut meter = CallMeter::new(&tally, CallRequest::default());
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
            let mut meter = CallMeter::new(&tally, CallRequest::default());
            meter.observe(format!("{{\"model\":\"m{number}\",\"usage\":{{\"output_tokens\":1}}}}").as_bytes());
        }
        let all = tally.list();
        assert!(all.len() <= crate::egress::tally::MAX_MODELS + 1, "{}", all.len());
        assert_eq!(all.iter().map(|(_, tokens)| tokens.output).sum::<u64>(), 1_000);
        let mut meter = CallMeter::new(&tally, CallRequest::default());
        for _ in 0..40 {
            meter.observe(&vec![b'x'; 1 << 20]);
        }
        assert!(meter.unread.len() <= super::MAX_OBSERVED);
    }
}
