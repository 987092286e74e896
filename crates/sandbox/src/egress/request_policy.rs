//! Refuses requests that make the model's own service reach the internet: web searches, pages, tool servers (MCP),
//! pictures by URL. Otherwise a run that may reach only its model could reach everything through it. It also refuses
//! requests that cannot be priced or bounded.
//!
//! A request is judged whole before any of it is sent, and then sent byte by byte as it was judged. It is JSON by the
//! letter, and each of several equal keys is judged, so another reader finds nothing else in it. No tree is built: it
//! would take many times the memory of the text.

use crate::egress::{messages_api, rules::Terms, tally::MAX_MODEL};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// The deepest nesting that is accepted. The parser itself stops a little further down.
const MAX_DEPTH: usize = 120;
/// The number of characters of an unknown key that a refusal repeats.
const MAX_KEY: usize = 100;

/// Tools that the program itself runs, which only cost tokens.
const OWN_TOOLS: [&str; 6] = ["function", "custom", "namespace", "tool_search", "local_shell", "apply_patch"];

/// The members that a request to OpenAI's API, or to a gateway that speaks it, may have. Gateways know others, which choose
/// further models, hosts or tools: `models`, `fallbacks`, `plugins`, `api_base`. OpenAI's own that are missing here let
/// work continue unseen, are stored there, or have prices of their own: `background`, `prompt`, `conversation`,
/// `previous_response_id`, `context_management`, `web_search_options`, `audio`.
const OPEN_AI_MEMBERS: [&str; 43] = [
    "model",
    "input",
    "instructions",
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tool_calls",
    "functions",
    "function_call",
    "reasoning",
    "reasoning_effort",
    "text",
    "verbosity",
    "response_format",
    "include",
    "truncation",
    "store",
    "stream",
    "stream_options",
    "usage",
    "service_tier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "user",
    "metadata",
    "client_metadata",
    "max_output_tokens",
    "max_completion_tokens",
    "max_tokens",
    "n",
    "stop",
    "seed",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
];

/// Members that a request may only have as `null` or with one of these values, in JSON.
const BOUNDED: [(&str, &[&str]); 2] = [
    ("service_tier", &[r#""auto""#, r#""default""#, r#""flex""#, r#""standard_only""#]),
    // Each further answer costs.
    ("n", &["1"]),
];

/// The members with which a request limits the tokens of its answer.
const MOST_OUTPUT: [&str; 3] = ["max_output_tokens", "max_completion_tokens", "max_tokens"];

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RequestRefusal {
    #[error("it is no JSON object in UTF-8")]
    Unreadable,
    #[error("it is nested too deeply")]
    TooDeep,
    #[error("it is larger than {0} MiB")]
    TooLarge(u32),
    #[error("it asks the model's service to fetch something by its address")]
    Address,
    #[error("it has `{0}`, and what that costs is not bounded")]
    Unbounded(&'static str),
    #[error("its query or its content type is not what this API reads")]
    Form,
    #[error("it has `{0}`, which this version of AutoBuild does not know")]
    Unknown(String),
    #[error("it does not say `\"store\":false`, so the model's service would keep it")]
    Stored,
    #[error("it asks for tools of the model's service, which have no known price and may reach other hosts")]
    HostedTool,
    #[error("it asks the model's service to summarise the conversation, and what that costs is not reported")]
    Summary,
    #[error("it does not ask for this run's model")]
    Model,
}

/// The part of a request that decides the cost of its call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallRequest {
    pub(super) bytes: u64,
    /// Empty if it names none.
    pub(super) model: String,
    /// The most tokens of its answer.
    pub(super) most_output: Option<u64>,
    /// `true` if it asks for a streamed answer.
    pub(super) streams: bool,
}

/// Checks the whole body of a request for this path.
pub(super) fn check(terms: &Terms, path: &str, body: &[u8]) -> Result<CallRequest, RequestRefusal> {
    if body.is_empty() {
        return Ok(CallRequest::default());
    }
    let bytes = u64::try_from(body.len()).unwrap_or(u64::MAX);
    let mut policy = Policy {
        terms: terms.clone(),
        call: CallRequest { bytes, ..CallRequest::default() },
        names_model: false,
        stores: None,
        streams: None,
        refusal: None,
    };
    let mut json = serde_json::Deserializer::from_slice(body);
    let read = Reader { policy: &mut policy, at: Place::default() }.deserialize(&mut json);
    let is_object = read.and_then(|value| json.end().map(|()| value.is_object()));
    if !is_object.unwrap_or(false) {
        return Err(policy.refusal.unwrap_or(RequestRefusal::Unreadable));
    }
    if !policy.names_model {
        return Err(RequestRefusal::Model);
    }
    // OpenAI stores what comes to this path, unless the request refuses that.
    let is_stored = matches!(terms, Terms::Priced { .. }) && path.ends_with("/responses");
    if policy.stores.unwrap_or(is_stored) {
        return Err(RequestRefusal::Stored);
    }
    Ok(CallRequest { streams: policy.streams == Some(true), ..policy.call })
}

#[derive(Debug)]
struct Policy {
    terms: Terms,
    call: CallRequest,
    names_model: bool,
    /// `true` if the request asks the service to store it; `None` if it says nothing about that.
    stores: Option<bool>,
    /// `true` if it asks for a streamed answer wherever it says something about that.
    streams: Option<bool>,
    refusal: Option<RequestRefusal>,
}

/// The place of a value in the request.
#[derive(Clone, Copy, Debug, Default)]
struct Place<'a> {
    /// The number of objects and lists around it.
    depth: usize,
    /// The request's own member that contains it.
    member: &'a str,
    /// The key of the nearest member that contains it, through any number of lists.
    key: &'a str,
    is_in_list: bool,
    /// The meaning of the object or list around it.
    around: ContentMeaning,
}

/// The meaning of a list's elements, or of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ContentMeaning {
    #[default]
    Anything,
    /// Offered tools.
    Tools,
    /// The conversation, in which tools may be offered too.
    Input,
}

impl Place<'_> {
    /// Returns the meaning of a list at this place. Tools can be offered by the request, within the conversation, and
    /// by tools.
    fn meaning_of_list(&self) -> ContentMeaning {
        let is_member = self.depth == 1;
        match self.key {
            "tools" if is_member || self.around != ContentMeaning::Anything => ContentMeaning::Tools,
            "input" if is_member => ContentMeaning::Input,
            _ => ContentMeaning::Anything,
        }
    }

    /// Returns the meaning of an object at this place. Only as an element of a list it has that of the list's elements.
    fn meaning_of_object(&self) -> ContentMeaning {
        if self.is_in_list { self.around } else { ContentMeaning::Anything }
    }
}

/// The members of a source of content that are refused only together, as far as they were read.
#[derive(Debug, Default)]
struct SourceMembers {
    is_by_address: bool,
    has_address: bool,
}

impl Policy {
    /// Checks a member of the request itself. Its `key` is in lower case.
    fn check_own(&mut self, key: &str, value: &Value) -> Result<(), RequestRefusal> {
        match key {
            "tools" if !value.is_array() && !value.is_null() => return Err(RequestRefusal::HostedTool),
            "stream" => self.streams = Some(self.streams != Some(false) && *value == true),
            "model" => return self.check_model(value),
            _ => {}
        }
        if !members(&self.terms).contains(&key) {
            return Err(unknown(key));
        }
        if key == "store" {
            self.stores = Some(self.stores == Some(true) || *value != false);
        }
        if MOST_OUTPUT.contains(&key) {
            // Other readers may understand another form of a number, or take `null` for no limit.
            self.call.most_output = self.call.most_output.max(Some(value.as_u64().unwrap_or(u64::MAX)));
        }
        let known = BOUNDED.iter().find(|(name, _)| *name == key);
        match known {
            Some((name, values)) if !value.is_null() && !values.contains(&value.to_string().as_str()) => {
                Err(RequestRefusal::Unbounded(name))
            }
            _ => Ok(()),
        }
    }

    fn check_model(&mut self, value: &Value) -> Result<(), RequestRefusal> {
        let asked = value.as_str().unwrap_or_default();
        let of_run = || asked.to_owned();
        if asked.is_empty() || asked.chars().count() > MAX_MODEL {
            return Err(RequestRefusal::Model);
        }
        let is_known = match &self.terms {
            // A request for the small model does not set the model of the run.
            Terms::Messages { model } => {
                messages_api::is_small(asked) || messages_api::is_of_run(asked, model.get_or_init(of_run))
            }
            Terms::Priced { model } => model.get_or_init(of_run) == asked,
        };
        if !is_known {
            return Err(RequestRefusal::Model);
        }
        // Other readers may take the first of several equal keys.
        if self.names_model && self.call.model != asked {
            return Err(RequestRefusal::Model);
        }
        self.names_model = true;
        asked.clone_into(&mut self.call.model);
        Ok(())
    }

    /// Keeps a refusal, which ends the reading with the returned error.
    fn refuse<E: Error>(&mut self, why: RequestRefusal) -> E {
        let error = E::custom(&why);
        self.refusal = Some(why);
        error
    }
}

/// Checks a member of the object at this place. Its `key` is in lower case.
fn check_member(at: Place<'_>, source: &mut SourceMembers, key: &str, value: &Value) -> Result<(), RequestRefusal> {
    let text = value.as_str().unwrap_or_default();
    let is_address = value.is_string() && !text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:"));
    let is_tool = at.meaning_of_object() == ContentMeaning::Tools;
    let is_edit = at.member == "context_management" && at.key == "edits";
    match key {
        "type" if is_tool && !OWN_TOOLS.contains(&text) => return Err(RequestRefusal::HostedTool),
        "type" if is_edit && !text.starts_with(messages_api::CLEARS) => return Err(RequestRefusal::Summary),
        "type" if at.key == "source" && text.eq_ignore_ascii_case("url") => source.is_by_address = true,
        "url" if at.key == "source" => source.has_address = true,
        "url" if at.key == "image_url" && is_address => return Err(RequestRefusal::Address),
        "image_url" | "file_url" if is_address => return Err(RequestRefusal::Address),
        _ => {}
    }
    if source.is_by_address && source.has_address { Err(RequestRefusal::Address) } else { Ok(()) }
}

/// Returns the members that a request may have.
fn members(terms: &Terms) -> &'static [&'static str] {
    match terms {
        Terms::Messages { .. } => &messages_api::MEMBERS,
        Terms::Priced { .. } => &OPEN_AI_MEMBERS,
    }
}

fn unknown(key: &str) -> RequestRefusal {
    RequestRefusal::Unknown(key.chars().take(MAX_KEY).collect())
}

/// Reads one value and checks everything in it. An object or a list leaves an empty one.
struct Reader<'a> {
    policy: &'a mut Policy,
    at: Place<'a>,
}

impl Reader<'_> {
    fn check_depth<E: Error>(&mut self) -> Result<(), E> {
        if self.at.depth < MAX_DEPTH { Ok(()) } else { Err(self.policy.refuse(RequestRefusal::TooDeep)) }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let Self { policy, at } = self;
        let inside = Place { depth: at.depth + 1, is_in_list: true, around: at.meaning_of_list(), ..at };
        while list.next_element_seed(Reader { policy: &mut *policy, at: inside })?.is_some() {}
        Ok(Value::Array(Vec::new()))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let Self { policy, at } = self;
        let mut source = SourceMembers::default();
        while let Some(written) = object.next_key::<String>()? {
            // Some gateways read keys without regard to case.
            let key = written.to_ascii_lowercase();
            let is_own = at.depth == 0;
            if is_own && written != key {
                // Others do not, so such a key may neither ask for anything nor limit anything.
                return Err(policy.refuse(unknown(&written)));
            }
            let member = if is_own { &key } else { at.member };
            let around = at.meaning_of_object();
            let inside = Place { depth: at.depth + 1, member, key: &key, is_in_list: false, around };
            let value = object.next_value_seed(Reader { policy: &mut *policy, at: inside })?;
            let own = if is_own { policy.check_own(&key, &value) } else { Ok(()) };
            let checked = own.and_then(|()| check_member(at, &mut source, &key, &value));
            checked.map_err(|why| policy.refuse(why))?;
        }
        Ok(Value::Object(Map::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::{CallRequest, RequestRefusal, Terms, check, members, unknown};
    use crate::egress::{messages_api::is_small, tests::corpus};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn priced(request: &str) -> Result<Option<u64>, RequestRefusal> {
        let terms = Terms::Priced { model: Arc::new("gpt-5.4".to_owned().into()) };
        check(&terms, "/chat/completions", request.as_bytes()).map(|call| call.most_output)
    }

    /// Returns the result for a request for the run's model with these members.
    fn read(members: &str) -> Result<(), RequestRefusal> {
        priced(&format!(r#" {{"model":"gpt-5.4",{members}}}"#)).map(drop)
    }

    #[test]
    fn what_programs_ask_for_passes() {
        for request in [
            r#""tools":[{"name":"Bash","input_schema":{"type":"object","properties":{"type":{"type":"string"}}}}]"#,
            r#""tools":[{"type":"function","name":"web_search"}]"#,
            r#""messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"aHR0cDovL3g"}}]}]"#,
            r#""input":[{"type":"input_image","image_url":"data:image/png;base64,aHR0cA"}],"temperature":-1.5e3,"stream":true"#,
            r#""messages":[{"content":"{\"tools\":[{\"type\":\"web_fetch_1\"}],\"mcp_servers\":[1]}"}]"#,
            r#""messages":[{"content":[{"type":"tool_use","input":{"mcp_servers":[],"type":"web_fetch","url":"http://x"}}]}]"#,
            r#""metadata":{"source":{"type":"text","url":"x"}},"tools":[]"#,
        ] {
            assert_eq!(read(request), Ok(()), "{request}");
        }
    }

    fn all_are(expected: RequestRefusal, requests: &[&str]) {
        for request in requests {
            assert_eq!(read(request), Err(expected.clone()), "{request}");
        }
    }

    #[test]
    fn tools_that_reach_other_hosts_do_not_pass() {
        let requests = [
            r#""tools":[{"type":"web_fetch_20250910","name":"web_fetch"}]"#,
            r#""tools":[{"name":"web_search","type":"web_search_20250305"}]"#,
            r#""tools":[{"\u0074ype":"\u0077eb\u005ffetch_1"}]"#,
            r#""tools":[{"type":"custom","type":"web_fetch_1"}]"#,
            r#""tools":[],"tools":[{"type":"mcp","server_url":"https://evil.example"}]"#,
            r#""tools":[{"type":"namespace","tools":[{"type":"mcp_toolset"}]}]"#,
            r#""tools":[{"type":"web_search"}]"#,
            r#""tools":[{"type":"web_search","external_web_access":true}]"#,
            r#""tools":[{"type":"web_search","external_web_access":false,"external_web_access":1}]"#,
            r#""tools":{"type":"web_fetch_20250910"}"#,
        ];
        all_are(RequestRefusal::HostedTool, &requests);
    }

    #[test]
    fn what_is_priced_and_bounded_passes() {
        for (request, most) in [
            (r#"{"model":"gpt-5.4","stream":true,"store":false,"input":[]}"#, None),
            (r#"{"max_output_tokens":7,"model":"gpt-5.4","n":1,"service_tier":null}"#, Some(7)),
            (r#"{"max_tokens":7,"model":"gpt-5.4","max_tokens":9,"service_tier":"flex"}"#, Some(9)),
            (r#"{"max_tokens":7,"model":"gpt-5.4","max_tokens":9e5}"#, Some(u64::MAX)),
            (r#"{"max_tokens":7,"model":"gpt-5.4","max_tokens":null}"#, Some(u64::MAX)),
            (r#"{"model":"gpt-5.4","input":[{"prompt":{"id":"x"},"background":true,"model":"other","n":3}]}"#, None),
            (
                r#"{"model":"gpt-5.4","tools":[{"type":"function","name":"shell","parameters":{"type":"object",
                    "tools":[{"type":"shell"}]}},{"type":"namespace","tools":[{"type":"custom"}]},
                    {"type":"local_shell"},{"type":"apply_patch"}],"tool_choice":"auto"}"#,
                None,
            ),
            (r#"{"model":"gpt-5.4","input":[{"type":"tool_search_output","tools":[{"type":"function"}]}]}"#, None),
        ] {
            assert_eq!(priced(request), Ok(most), "{request}");
        }
    }

    #[test]
    fn what_the_service_would_store_does_not_pass() {
        let read = |path: &str, request: &str| {
            let terms = Terms::Priced { model: Arc::new("gpt-5.4".to_owned().into()) };
            check(&terms, path, request.as_bytes()).map(drop)
        };
        let stored = [
            r#"{"model":"gpt-5.4","store":true,"input":[]}"#,
            r#"{"model":"gpt-5.4","store":false,"store":null}"#,
            r#"{"model":"gpt-5.4","store":null,"store":false}"#,
            r#"{"model":"gpt-5.4","store":{}}"#,
        ];
        for request in stored {
            for path in ["/responses", "/chat/completions"] {
                assert_eq!(read(path, request), Err(RequestRefusal::Stored), "{path} {request}");
            }
        }
        for request in [r#"{"model":"gpt-5.4"}"#, r#"{"model":"gpt-5.4","input":[{"store":false}]}"#] {
            assert_eq!(read("/responses", request), Err(RequestRefusal::Stored), "the service's default: {request}");
            assert_eq!(read("/chat/completions", request), Ok(()), "{request}");
        }
        assert_eq!(read("/responses", r#"{"store":false,"model":"gpt-5.4"}"#), Ok(()));
    }

    /// Otherwise a request for a dear model could count as one for a cheap model, or as one for a short answer.
    #[test]
    fn only_the_request_s_own_members_set_its_cost() {
        let request = r#"{"metadata":{"model":"claude-haiku-4-5","max_tokens":1},"model":"claude-opus-4-8",
            "max_tokens":900,"stream":true}"#;
        let bytes = u64::try_from(request.len()).unwrap();
        let call = CallRequest { bytes, model: "claude-opus-4-8".to_owned(), most_output: Some(900), streams: true };
        assert_eq!(check(&Terms::Messages { model: Arc::default() }, "/v1/messages", request.as_bytes()), Ok(call));
        let unknown = RequestRefusal::Unknown("MAX_TOKENS".to_owned());
        assert_eq!(priced(r#"{"model":"gpt-5.4","MAX_TOKENS":1}"#), Err(unknown), "OpenAI's API ignores it");
    }

    #[test]
    fn the_first_model_is_the_run_s_if_none_was_set() {
        let terms = Terms::Priced { model: Arc::default() };
        let asked = |request: &str| check(&terms, "/chat/completions", request.as_bytes()).map(drop);
        assert_eq!(asked(r#"{"input":[]}"#), Err(RequestRefusal::Model));
        assert_eq!(asked(r#"{"model":"chosen"}"#), Ok(()));
        assert_eq!(asked(r#"{"model":"dearer"}"#), Err(RequestRefusal::Model));
        assert_eq!(asked(r#"{"model":"chosen"}"#), Ok(()));
    }

    #[test]
    fn what_cannot_be_priced_or_bounded_does_not_pass() {
        let unbounded = RequestRefusal::Unbounded;
        for (member, refusal) in [
            (r#""background":false"#, unknown("background")),
            (r#""background" : true"#, unknown("background")),
            (r#""prompt":{"id":"pmpt_1"}"#, unknown("prompt")),
            (r#""conversation":"conv_1""#, unknown("conversation")),
            (r#""previous_response_id":"resp_1""#, unknown("previous_response_id")),
            (r#""context_management":[{"type":"compaction"}]"#, unknown("context_management")),
            (r#""web_search_options":{}"#, unknown("web_search_options")),
            (r#""mcp_servers":[{"type":"url","url":"https://evil.example"}]"#, unknown("mcp_servers")),
            (r#""plugins":[{"id":"web"}]"#, unknown("plugins")),
            (r#""models":["openai/o1-pro"]"#, unknown("models")),
            (r#""fallbacks":["o1-pro"]"#, unknown("fallbacks")),
            (r#""api_base":"https://evil.example""#, unknown("api_base")),
            (r#""service_tier":"priority""#, unbounded("service_tier")),
            (r#""n":128"#, unbounded("n")),
        ] {
            for request in [format!(r#"{{{member},"model":"gpt-5.4"}}"#), format!(r#"{{"model":"gpt-5.4",{member}}}"#)]
            {
                assert_eq!(priced(&request), Err(refusal.clone()), "{request}");
            }
        }
    }

    #[test]
    fn no_hosted_tool_and_no_other_model_passes() {
        for tool in [
            r#"{"type":"shell"}"#,
            r#"{"type":"code_interpreter","container":{"type":"auto"}}"#,
            r#"{"type":"image_generation"}"#,
            r#"{"type":"file_search"}"#,
            r#"{"type":"computer_use_preview"}"#,
            r#"{"type":"web_search","external_web_access":false}"#,
            r#"{"type":"web_search_preview_2025_03_11"}"#,
            r#"{"type":"Function"}"#,
            r#"{"type":"function","type":"shell"}"#,
            r#"{"type":"namespace","tools":[{"type":"shell"}]}"#,
        ] {
            for request in [
                format!(r#"{{"model":"gpt-5.4","tools":[{tool}]}}"#),
                format!(r#"{{"model":"gpt-5.4","tools":[{{"type":"function"}},{tool}],"input":"x"}}"#),
                format!(r#"{{"model":"gpt-5.4","input":[{{"tools":[{tool}]}}]}}"#),
            ] {
                assert_eq!(priced(&request), Err(RequestRefusal::HostedTool), "{request}");
            }
        }
        for request in [
            r#"{"model":"gpt-5.4-pro","input":"x"}"#,
            r#"{"model":"gpt-5.4","model":"o1-pro"}"#,
            r#"{"model":{"id":"gpt-5.4"}}"#,
            r#"{"input":"x"}"#,
            r#"{"model":null}"#,
            "{}",
        ] {
            assert_eq!(priced(request), Err(RequestRefusal::Model), "{request}");
        }
    }

    fn of_messages(model: &str, request: &str) -> Result<(), RequestRefusal> {
        let terms = Terms::Messages { model: Arc::new(model.to_owned().into()) };
        check(&terms, "/v1/messages", request.as_bytes()).map(drop)
    }

    /// A word such as `opus` must not admit an older, dearer model of its family.
    #[test]
    fn the_first_request_shows_which_model_a_word_means() {
        let terms = Terms::Messages { model: Arc::default() };
        let asked = |model: &str| {
            let request = format!(r#"{{"model":"{model}","messages":[]}}"#);
            check(&terms, "/v1/messages", request.as_bytes()).map(drop)
        };
        assert_eq!(asked("claude-haiku-4-5"), Ok(()), "the small one chooses nothing");
        assert_eq!(asked("claude-opus-4-8"), Ok(()));
        assert_eq!(asked("claude-opus-4-1"), Err(RequestRefusal::Model));
        assert_eq!(asked("claude-sonnet-5"), Err(RequestRefusal::Model));
        assert_eq!(asked("claude-opus-4-8"), Ok(()));
    }

    #[test]
    fn what_the_program_of_the_messages_api_sends_passes() {
        for request in [
            r#"{"model":"claude-opus-4-8","messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}],
                "system":[{"type":"text","text":"you are"}],"tools":[{"name":"Bash","description":"d","input_schema":{"type":"object"}}],
                "metadata":{"user_id":"u"},"max_tokens":64000,"thinking":{"type":"adaptive"},"stream":true,
                "context_management":{"edits":[{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":1}}]},"output_config":{"effort":"high"}}"#,
            r#"{"model":"claude-haiku-4-5-20251001","messages":[],"max_tokens":1,"temperature":0}"#,
            r#"{"model":"claude-opus-4-8","messages":[],"service_tier":"auto","tools":[{"type":"custom","name":"x"}]}"#,
        ] {
            assert_eq!(of_messages("claude-opus-4-8", request), Ok(()), "{request}");
        }
    }

    #[test]
    fn what_is_not_known_of_the_messages_api_does_not_pass() {
        let known = r#""model":"claude-opus-4-8","messages":[]"#;
        for (member, expected) in [
            (r#""speed":"fast""#, RequestRefusal::Unknown("speed".to_owned())),
            (r#""container":{"id":"c"}"#, RequestRefusal::Unknown("container".to_owned())),
            (r#""inference_geo":"us""#, RequestRefusal::Unknown("inference_geo".to_owned())),
            (r#""sp\u0065ed":null"#, RequestRefusal::Unknown("speed".to_owned())),
            (r#""service_tier":"priority""#, RequestRefusal::Unbounded("service_tier")),
            (r#""tools":[{"type":"code_execution_20250825","name":"code_execution"}]"#, RequestRefusal::HostedTool),
            (r#""tools":[{"Type":"code_execution_20250825"}]"#, RequestRefusal::HostedTool),
            (r#""model":[]"#, RequestRefusal::Model),
            (r#""tools":[{"name":"advisor","type":"advisor_20260301"}]"#, RequestRefusal::HostedTool),
            (r#""context_management":{"edits":[{"type":"compact_20260112"}]}"#, RequestRefusal::Summary),
            (r#""model":"claude-sonnet-5""#, RequestRefusal::Model),
        ] {
            for request in [format!("{{{known},{member}}}"), format!("{{{member},{known}}}")] {
                assert_eq!(of_messages("claude-opus-4-8", &request), Err(expected.clone()), "{request}");
            }
        }
        assert_eq!(of_messages("claude-opus-4-8", r#"{"messages":[]}"#), Err(RequestRefusal::Model));
    }

    #[test]
    fn what_would_be_fetched_by_its_address_does_not_pass() {
        let requests = [
            r#""messages":[{"content":[{"type":"image","source":{"type":"url","url":"https://evil.example"}}]}]"#,
            r#""messages":[{"content":[{"source":{"url":"https://evil.example","type":"url"}}]}]"#,
            r#""input":[{"content":[{"type":"input_image","image_url":"HTTPS://evil.example"}]}]"#,
            r#""input":[{"content":[{"type":"input_file","file_url":" http://evil.example"}]}]"#,
            r#""input":[{"content":[{"image_url":{"url":"https://evil.example"}}]}]"#,
        ];
        all_are(RequestRefusal::Address, &requests);
    }

    #[test]
    fn what_cannot_be_read_does_not_pass() {
        all_are(RequestRefusal::TooDeep, &[&format!("\"a\":{}", "[".repeat(300))]);
        for request in ["\u{feff}{}", "{\0\"\0a", "[{}]", "\"x\"", "{", "{}{}", r#"{"a":1e400}"#, r#"{"a":"\ud800"}"#] {
            assert_eq!(priced(request), Err(RequestRefusal::Unreadable), "{request}");
        }
    }

    /// Returns the terms of the API to which a recording was sent.
    fn terms_of(name: &str) -> Terms {
        let model = |name: &str| Arc::new(name.to_owned().into());
        if name.contains("messages") {
            Terms::Messages { model: model("claude-opus-4-8") }
        } else {
            Terms::Priced { model: model("gpt-5.4") }
        }
    }

    fn recorded(name: &str, request: &[u8]) -> Result<CallRequest, RequestRefusal> {
        check(&terms_of(name), "/v1/messages", request)
    }

    #[test]
    fn the_requests_of_programs_pass() {
        let files = corpus("model_request");
        assert!(files.len() >= 11, "{:?}", files.keys());
        for (name, request) in files {
            let checked = recorded(&name, &request);
            assert_eq!(checked.is_ok(), !name.starts_with("refused"), "{name}: {checked:?}");
        }
    }

    proptest! {
        #[test]
        fn another_reader_sees_no_more_in_a_mutated_request_that_passes(
            known in any::<prop::sample::Index>(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), "[\\[\\]{}\":,\\\\a-z0-9]{0,6}"), 0..4),
        ) {
            let corpus: Vec<(String, Vec<u8>)> = corpus("model_request").into_iter().collect();
            let (name, mut request) = known.get(&corpus).clone();
            for (at, with) in changes {
                let from = at.index(request.len() + 1);
                let to = from.saturating_add(with.len()).min(request.len());
                request.splice(from..to, with.into_bytes());
            }
            if recorded(&name, &request).is_ok() && !request.is_empty() {
                let seen: serde_json::Value = serde_json::from_slice(&request).unwrap();
                let model = seen["model"].as_str().unwrap_or_default();
                prop_assert!(model == "gpt-5.4" || model == "claude-opus-4-8" || is_small(model), "{}", model);
                let known = members(&terms_of(&name));
                prop_assert!(seen.as_object().into_iter().flatten().all(|(member, _)| known.contains(&member.as_str())));
            }
        }
    }
}
