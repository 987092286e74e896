//! Refuses requests that make the model's own service reach the internet: web searches, pages, tool servers (MCP),
//! pictures by URL. Otherwise a run that may reach only its model could reach everything through it. If the terms say
//! so, it also refuses requests that cannot be priced or bounded. It reads the request as it passes, piece by piece,
//! and keeps only the state of its nesting.

use crate::egress::{messages_api, rules::Terms};

/// The deepest nesting that is accepted.
const MAX_DEPTH: usize = 256;
/// The number of bytes of a text that are kept. No text that is looked for is longer.
const MAX_TEXT: usize = 256;

/// Tools that the program itself runs, which only cost tokens.
const OWN_TOOLS: [&[u8]; 6] = [b"function", b"custom", b"namespace", b"tool_search", b"local_shell", b"apply_patch"];

/// Members that a bounded request may only have with one of these values or `null`.
const BOUNDED: [(&str, &[&[u8]]); 7] = [
    // It continues after the client is gone, and reports its usage only to a later request.
    ("background", &[b"false"]),
    // These are stored at the service, can have any length, and can have tools and models of their own.
    ("prompt", &[]),
    ("conversation", &[]),
    ("previous_response_id", &[]),
    ("web_search_options", &[]),
    ("service_tier", &[b"auto", b"default", b"flex", b"standard_only"]),
    // Each further answer costs.
    ("n", &[b"1"]),
];

/// The members with which a request limits the tokens of its answer.
const MOST_OUTPUT: [&[u8]; 3] = [b"max_output_tokens", b"max_completion_tokens", b"max_tokens"];

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RequestRefusal {
    #[error("it is no JSON object in UTF-8")]
    Unreadable,
    #[error("it is nested too deeply")]
    TooDeep,
    #[error("it asks the model's service for tools that reach other hosts")]
    Tool,
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
    #[error("it asks for tools of the model's service, and what those cost is not bounded")]
    Priceless,
    #[error("it does not ask for this run's model")]
    Model,
}

/// Checks a request while reading it.
#[derive(Debug, Default)]
pub(super) struct RequestPolicy {
    terms: Terms,
    open: Vec<Container>,
    text: Vec<u8>,
    lex: Lex,
    began: bool,
    names_model: bool,
    pub(super) most_output: Option<u64>,
    /// `true` if it asks for a streamed answer, as far as it was read.
    pub(super) streams: bool,
    is_stored: bool,
}

/// An object or a list that has not ended.
#[derive(Debug, Default)]
struct Container {
    under: Vec<u8>,
    /// The last key in it; empty in a list.
    key: Vec<u8>,
    is_list: bool,
    awaits_key: bool,
    searches: bool,
    stays_inside: bool,
    by_address: bool,
    has_address: bool,
    holds: ContentMeaning,
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Lex {
    #[default]
    Between,
    Text,
    Escape,
    /// The number of hexadecimal digits still missing, and the value so far.
    Number(u8, u32),
    Bare,
}

impl RequestPolicy {
    pub(super) fn under(terms: Terms) -> Self {
        Self { terms, ..Self::default() }
    }

    /// Sets the path of the request. OpenAI stores what comes to this one, unless the request refuses that.
    pub(super) fn at(mut self, path: &str) -> Self {
        self.is_stored = matches!(self.terms, Terms::Priced { .. }) && path.ends_with("/responses");
        self
    }

    /// Reads the next piece. On an error the request must not continue.
    pub(super) fn read(&mut self, piece: &[u8]) -> Result<(), RequestRefusal> {
        piece.iter().try_for_each(|byte| self.byte(*byte))
    }

    fn byte(&mut self, byte: u8) -> Result<(), RequestRefusal> {
        match self.lex {
            Lex::Between => self.between(byte),
            Lex::Text => match byte {
                b'"' => {
                    self.lex = Lex::Between;
                    self.ended_text()
                }
                b'\\' => self.goes_on(Lex::Escape),
                0 => Err(RequestRefusal::Unreadable),
                byte => {
                    self.keep(&[byte]);
                    Ok(())
                }
            },
            Lex::Escape => {
                if byte == b'u' {
                    return self.goes_on(Lex::Number(4, 0));
                }
                self.keep(&[byte]);
                self.goes_on(Lex::Text)
            }
            Lex::Number(left, number) => {
                let digit = char::from(byte).to_digit(16).ok_or(RequestRefusal::Unreadable)?;
                let number = number << 4 | digit;
                if left > 1 {
                    return self.goes_on(Lex::Number(left - 1, number));
                }
                let mut utf8 = [0; 4];
                let character = char::from_u32(number).unwrap_or('?');
                self.keep(character.encode_utf8(&mut utf8).as_bytes());
                self.goes_on(Lex::Text)
            }
            Lex::Bare if byte.is_ascii_alphanumeric() || b"+-.".contains(&byte) => {
                self.keep(&[byte]);
                Ok(())
            }
            Lex::Bare => {
                self.lex = Lex::Between;
                self.value(false)?;
                self.between(byte)
            }
        }
    }

    fn goes_on(&mut self, lex: Lex) -> Result<(), RequestRefusal> {
        self.lex = lex;
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.text.len() < MAX_TEXT {
            self.text.extend_from_slice(bytes);
        }
    }

    fn between(&mut self, byte: u8) -> Result<(), RequestRefusal> {
        if !self.began && !byte.is_ascii_whitespace() {
            self.began = true;
            if byte != b'{' {
                return Err(RequestRefusal::Unreadable);
            }
        }
        match byte {
            b'{' | b'[' => self.opens(byte == b'['),
            b'}' | b']' => match self.open.pop() {
                Some(ended) if ended.searches && !ended.stays_inside => Err(RequestRefusal::Tool),
                Some(_) if self.open.is_empty() && self.needs_model() && !self.names_model => {
                    Err(RequestRefusal::Model)
                }
                Some(_) if self.open.is_empty() && self.is_stored => Err(RequestRefusal::Stored),
                _ => Ok(()),
            },
            b',' | b':' => {
                if let Some(top) = self.open.last_mut() {
                    top.awaits_key = byte == b',' && !top.is_list;
                }
                Ok(())
            }
            b'"' => {
                self.text.clear();
                self.goes_on(Lex::Text)
            }
            byte if byte.is_ascii_whitespace() => Ok(()),
            byte if byte.is_ascii_alphanumeric() || byte == b'-' => {
                self.text = vec![byte];
                self.goes_on(Lex::Bare)
            }
            _ => Err(RequestRefusal::Unreadable),
        }
    }

    fn opens(&mut self, is_list: bool) -> Result<(), RequestRefusal> {
        if self.open.len() >= MAX_DEPTH {
            return Err(RequestRefusal::TooDeep);
        }
        // An element of a list has the key of the list.
        let under = self.open.last().map(|top| if top.is_list { top.under.clone() } else { top.key.clone() });
        let under = under.unwrap_or_default();
        if self.open.len() == 1 && self.needs_model() && under == b"model" {
            return Err(RequestRefusal::Model);
        }
        if self.open.len() == 1 {
            self.bounded(&under, b"{}")?;
        }
        self.open.push(Container {
            holds: self.holds(&under, is_list),
            under,
            is_list,
            awaits_key: !is_list,
            ..Container::default()
        });
        Ok(())
    }

    /// Returns the meaning of a container that opens under this key. Tools can be offered by the request, within the
    /// conversation, and by tools.
    fn holds(&self, under: &[u8], is_list: bool) -> ContentMeaning {
        let above = self.open.last().map_or(ContentMeaning::Anything, |top| top.holds);
        let is_deep = self.open.len() > 1;
        match (is_list, under, above) {
            (true, b"tools", _) if !is_deep || above != ContentMeaning::Anything => ContentMeaning::Tools,
            (true, b"input", _) if !is_deep => ContentMeaning::Input,
            // An object in a list has the meaning of the list's elements. Its other contents have no special meaning.
            (false, _, above) if self.open.last().is_some_and(|top| top.is_list) => above,
            _ => ContentMeaning::Anything,
        }
    }

    fn needs_model(&self) -> bool {
        match self.terms {
            Terms::Any => false,
            Terms::Priced { .. } | Terms::Messages { .. } => true,
        }
    }

    /// Checks a member of the request itself against the terms.
    fn bounded(&mut self, key: &[u8], value: &[u8]) -> Result<(), RequestRefusal> {
        let asked = || String::from_utf8_lossy(value).into_owned();
        let is_known = match &self.terms {
            Terms::Any => return Ok(()),
            Terms::Messages { .. } if !messages_api::MEMBERS.contains(&key) => {
                return Err(RequestRefusal::Unknown(String::from_utf8_lossy(key).into_owned()));
            }
            Terms::Messages { .. } | Terms::Priced { .. } if key != b"model" => None,
            // A request for the small model does not set the model of the run.
            Terms::Messages { model } => {
                Some(messages_api::is_small(&asked()) || messages_api::is_of_run(&asked(), model.get_or_init(asked)))
            }
            Terms::Priced { model } => Some(*model.get_or_init(asked) == asked()),
        };
        if let Some(is_known) = is_known {
            self.names_model = true;
            return if is_known { Ok(()) } else { Err(RequestRefusal::Model) };
        }
        if key == b"store" {
            self.is_stored = value != b"false";
        }
        if MOST_OUTPUT.contains(&key) {
            // Other readers may understand another form of a number, or take `null` for no limit.
            let most = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            self.most_output = self.most_output.max(Some(most.unwrap_or(u64::MAX)));
        }
        let known = BOUNDED.iter().find(|(name, _)| name.as_bytes() == key);
        match known {
            Some((name, values)) if value != b"null" && !values.contains(&value) => {
                Err(RequestRefusal::Unbounded(name))
            }
            _ => Ok(()),
        }
    }

    fn ended_text(&mut self) -> Result<(), RequestRefusal> {
        let is_whole = self.open.len() == 1;
        match self.open.last_mut() {
            Some(top) if top.awaits_key => {
                // Some gateways read keys without regard to case.
                top.key = self.text.to_ascii_lowercase();
                if is_whole && top.key == b"mcp_servers" { Err(RequestRefusal::Tool) } else { Ok(()) }
            }
            _ => self.value(true),
        }
    }

    /// Checks a value that is neither an object nor a list.
    fn value(&mut self, is_text: bool) -> Result<(), RequestRefusal> {
        let is_priced = self.needs_model();
        if let [request] = self.open.as_slice()
            && request.key == b"stream"
        {
            self.streams = !is_text && self.text == b"true";
        }
        if let ([request], true) = (self.open.as_slice(), is_priced) {
            let (key, text) = (request.key.clone(), self.text.clone());
            self.bounded(&key, &text)?;
        }
        let is_edit = self.open.get(1).is_some_and(|member| member.under == b"context_management");
        let is_cleared = self.text.starts_with(messages_api::CLEARS);
        let of_tools = self.open.get(1).is_some_and(|list| list.under == b"tools");
        let text = self.text.to_ascii_lowercase();
        let is_address = is_text && !text.starts_with(b"data:");
        let Some(top) = self.open.last_mut() else {
            return Err(RequestRefusal::Unreadable);
        };
        let is_tool = is_priced && top.holds == ContentMeaning::Tools && !top.is_list;
        match top.key.as_slice() {
            b"type" if is_edit && top.under == b"edits" && !is_cleared => return Err(RequestRefusal::Priceless),
            b"type" if is_tool && !OWN_TOOLS.contains(&self.text.as_slice()) => return Err(RequestRefusal::Priceless),
            b"type" if of_tools && text == b"web_search" => top.searches = true,
            b"type" if of_tools && (text.starts_with(b"web_") || text.starts_with(b"mcp")) => {
                return Err(RequestRefusal::Tool);
            }
            // With `false`, the search uses only pages that the service has stored. Any other value is refused.
            b"external_web_access" if of_tools && (is_text || text != b"false") => return Err(RequestRefusal::Tool),
            b"external_web_access" => top.stays_inside = true,
            b"type" if top.under == b"source" && text == b"url" => top.by_address = true,
            b"url" if top.under == b"source" => top.has_address = true,
            b"url" if top.under == b"image_url" && is_address => return Err(RequestRefusal::Address),
            b"image_url" | b"file_url" if is_address => return Err(RequestRefusal::Address),
            _ => {}
        }
        if top.by_address && top.has_address { Err(RequestRefusal::Address) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{RequestPolicy, RequestRefusal, Terms};
    use crate::egress::{
        messages_api::{MEMBERS, is_small},
        tests::corpus,
    };
    use proptest::prelude::*;
    use std::sync::Arc;

    fn read(request: &str) -> Result<(), RequestRefusal> {
        let whole = RequestPolicy::default().read(request.as_bytes());
        let mut reach = RequestPolicy::default();
        let split = request.as_bytes().chunks(1).try_for_each(|piece| reach.read(piece));
        assert_eq!(whole, split, "{request}");
        whole
    }

    #[test]
    fn what_programs_ask_for_passes() {
        for request in [
            r#"{"model":"m","tools":[{"name":"Bash","input_schema":{"type":"object","properties":{"type":{"type":"string"}}}}]}"#,
            r#" {"tools":[{"type":"function","name":"web_search"},{"type":"web_search","external_web_access":false}]}"#,
            r#"{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"aHR0cDovL3g"}}]}]}"#,
            r#"{"input":[{"type":"input_image","image_url":"data:image/png;base64,aHR0cA"}],"n":-1.5e3,"stream":true}"#,
            r#"{"messages":[{"content":"{\"tools\":[{\"type\":\"web_fetch_1\"}],\"mcp_servers\":[1]}"}]}"#,
            r#"{"messages":[{"content":[{"type":"tool_use","input":{"mcp_servers":[],"type":"web_fetch","url":"http://x"}}]}]}"#,
            r#"{"metadata":{"source":{"type":"text","url":"x"}},"tools":[]}"#,
            "{}",
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
            r#"{"tools":[{"type":"web_fetch_20250910","name":"web_fetch"}]}"#,
            r#"{"tools":[{"name":"web_search","type":"web_search_20250305"}]}"#,
            r#"{"tools":[{"\u0074ype":"\u0077eb\u005ffetch_1"}]}"#,
            r#"{"tools":[{"type":"custom","type":"web_fetch_1"}]}"#,
            r#"{"tools":[],"tools":[{"type":"mcp","server_url":"https://evil.example"}]}"#,
            r#"{"tools":[{"type":"namespace","tools":[{"type":"mcp_toolset"}]}]}"#,
            r#"{"tools":[{"type":"web_search"}]}"#,
            r#"{"tools":[{"type":"web_search","external_web_access":true}]}"#,
            r#"{"tools":[{"type":"web_search","external_web_access":false,"external_web_access":1}]}"#,
            r#"{"mcp_servers":[{"type":"url","url":"https://evil.example"}]}"#,
        ];
        all_are(RequestRefusal::Tool, &requests);
    }

    fn priced(request: &str) -> Result<Option<u64>, RequestRefusal> {
        let mut reach = RequestPolicy::under(Terms::Priced { model: Arc::new("gpt-5.4".to_owned().into()) });
        let pieces = request.as_bytes().chunks(3);
        pieces.into_iter().try_for_each(|piece| reach.read(piece))?;
        Ok(reach.most_output)
    }

    #[test]
    fn what_is_priced_and_bounded_passes() {
        for (request, most) in [
            (r#"{"model":"gpt-5.4","stream":true,"store":false,"input":[]}"#, None),
            (r#"{"max_output_tokens":7,"model":"gpt-5.4","n":1,"background":false,"prompt":null}"#, Some(7)),
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
            RequestPolicy::under(terms).at(path).read(request.as_bytes())
        };
        let stored = [
            r#"{"model":"gpt-5.4","store":true,"input":[]}"#,
            r#"{"model":"gpt-5.4","store":false,"store":null}"#,
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

    #[test]
    fn the_first_model_is_the_run_s_if_none_was_set() {
        let terms = Terms::Priced { model: Arc::default() };
        let asked = |request: &str| RequestPolicy::under(terms.clone()).read(request.as_bytes());
        assert_eq!(asked(r#"{"input":[]}"#), Err(RequestRefusal::Model));
        assert_eq!(asked(r#"{"model":"chosen"}"#), Ok(()));
        assert_eq!(asked(r#"{"model":"dearer"}"#), Err(RequestRefusal::Model));
        assert_eq!(asked(r#"{"model":"chosen"}"#), Ok(()));
    }

    #[test]
    fn what_cannot_be_priced_or_bounded_does_not_pass() {
        for (member, name) in [
            (r#""background":true"#, "background"),
            (r#""background":1"#, "background"),
            (r#""background" : true"#, "background"),
            (r#""background":false,"background":true"#, "background"),
            (r#""prompt":{"id":"pmpt_1"}"#, "prompt"),
            (r#""prompt":"pmpt_1""#, "prompt"),
            (r#""conversation":"conv_1""#, "conversation"),
            (r#""previous_response_id":"resp_1""#, "previous_response_id"),
            (r#""web_search_options":{}"#, "web_search_options"),
            (r#""service_tier":"priority""#, "service_tier"),
            (r#""n":128"#, "n"),
        ] {
            for request in [format!(r#"{{{member},"model":"gpt-5.4"}}"#), format!(r#"{{"model":"gpt-5.4",{member}}}"#)]
            {
                assert_eq!(priced(&request), Err(RequestRefusal::Unbounded(name)), "{request}");
            }
        }
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
                assert_eq!(priced(&request), Err(RequestRefusal::Priceless), "{request}");
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
        let model = Arc::new(model.to_owned().into());
        let mut reach = RequestPolicy::under(Terms::Messages { model });
        request.as_bytes().chunks(5).try_for_each(|piece| reach.read(piece))
    }

    /// A word such as `opus` must not admit an older, dearer model of its family.
    #[test]
    fn the_first_request_shows_which_model_a_word_means() {
        let terms = Terms::Messages { model: Arc::default() };
        let asked = |model: &str| {
            let request = format!(r#"{{"model":"{model}","messages":[]}}"#);
            RequestPolicy::under(terms.clone()).read(request.as_bytes())
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
            (r#""tools":[{"type":"code_execution_20250825","name":"code_execution"}]"#, RequestRefusal::Priceless),
            (r#""tools":[{"Type":"code_execution_20250825"}]"#, RequestRefusal::Priceless),
            (r#""model":[]"#, RequestRefusal::Model),
            (r#""tools":[{"name":"advisor","type":"advisor_20260301"}]"#, RequestRefusal::Priceless),
            (r#""context_management":{"edits":[{"type":"compact_20260112"}]}"#, RequestRefusal::Priceless),
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
            r#"{"messages":[{"content":[{"type":"image","source":{"type":"url","url":"https://evil.example"}}]}]}"#,
            r#"{"messages":[{"content":[{"source":{"url":"https://evil.example","type":"url"}}]}]}"#,
            r#"{"input":[{"content":[{"type":"input_image","image_url":"HTTPS://evil.example"}]}]}"#,
            r#"{"input":[{"content":[{"type":"input_file","file_url":" http://evil.example"}]}]}"#,
            r#"{"input":[{"content":[{"image_url":{"url":"https://evil.example"}}]}]}"#,
        ];
        all_are(RequestRefusal::Address, &requests);
    }

    #[test]
    fn what_cannot_be_read_does_not_pass() {
        let deep = format!("{{\"a\":{}", "[".repeat(300));
        all_are(RequestRefusal::TooDeep, &[&deep]);
        all_are(RequestRefusal::Unreadable, &["\u{feff}{}", "{\0\"\0a", "[{}]", "\"x\""]);
    }

    /// Returns the result for a recording that arrives in pieces of these lengths; the last piece is the rest.
    fn in_pieces(name: &str, mut request: &[u8], pieces: &[usize]) -> Result<Option<u64>, RequestRefusal> {
        let model = |name: &str| Arc::new(name.to_owned().into());
        let mut policy = RequestPolicy::under(if name.contains("messages") {
            Terms::Messages { model: model("claude-opus-4-8") }
        } else {
            Terms::Priced { model: model("gpt-5.4") }
        });
        for length in pieces.iter().copied().chain([request.len()]) {
            let (piece, rest) = request.split_at(length.min(request.len()));
            request = rest;
            policy.read(piece)?;
        }
        Ok(policy.most_output)
    }

    #[test]
    fn requests_of_programs_are_read_however_they_are_split() {
        let files = corpus("model_request");
        assert!(files.len() >= 11, "{:?}", files.keys());
        for (name, request) in files {
            let whole = in_pieces(&name, &request, &[]);
            assert_eq!(whole.is_ok(), !name.starts_with("refused"), "{name}: {whole:?}");
            for length in 1..64 {
                let pieces = vec![length; request.len()];
                assert_eq!(in_pieces(&name, &request, &pieces), whole, "{name} {length}");
            }
        }
    }

    proptest! {
        #[test]
        fn mutated_requests_are_read_the_same_however_they_are_split(
            known in any::<prop::sample::Index>(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), "[\\[\\]{}\":,\\\\a-z0-9]{0,6}"), 0..4),
            pieces in prop::collection::vec(0_usize..20, 0..40),
        ) {
            let corpus: Vec<(String, Vec<u8>)> = corpus("model_request").into_iter().collect();
            let (name, mut request) = known.get(&corpus).clone();
            for (at, with) in changes {
                let from = at.index(request.len() + 1);
                let to = from.saturating_add(with.len()).min(request.len());
                request.splice(from..to, with.into_bytes());
            }
            let whole = in_pieces(&name, &request, &[]);
            prop_assert_eq!(in_pieces(&name, &request, &pieces), whole.clone());
            // Another reader sees no more in the bytes that pass.
            if let (Ok(_), Ok(seen)) = (whole, serde_json::from_slice::<serde_json::Value>(&request)) {
                let model = seen["model"].as_str().unwrap_or_default();
                prop_assert!(model == "gpt-5.4" || model == "claude-opus-4-8" || is_small(model), "{}", model);
                prop_assert_ne!(&seen["background"], true);
                let mut members = seen.as_object().into_iter().flatten();
                let is_known = |(member, _): (&String, _)| MEMBERS.contains(&member.to_lowercase().as_bytes());
                prop_assert!(!name.contains("messages") || members.all(is_known));
            }
        }
    }
}
