//! What a request asks the model's own service to reach on the internet: searches, pages, servers of tools, pictures by their
//! address. Whoever may reach nothing but a model would reach everything through it. Read as the request passes, piece by
//! piece, with as little kept of it as its nesting needs.

/// Deeper requests are refused.
const MAX_DEPTH: usize = 256;
/// What is kept of a text; none of those that are looked for is longer.
const MAX_TEXT: usize = 64;

/// Why a request does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OutOfReach {
    #[error("it is no JSON object in UTF-8")]
    Unreadable,
    #[error("it is nested too deeply")]
    TooDeep,
    #[error("it asks the model's service for tools that reach other hosts")]
    Tool,
    #[error("it asks the model's service to fetch something by its address")]
    Address,
}

/// Reads a request.
#[derive(Debug, Default)]
pub(super) struct Reach {
    open: Vec<Container>,
    text: Vec<u8>,
    lex: Lex,
    began: bool,
}

/// An object or a list that has not ended.
#[derive(Debug, Default)]
struct Container {
    /// The key that it stands under.
    under: Vec<u8>,
    /// The last key in it; none in a list.
    key: Vec<u8>,
    is_list: bool,
    awaits_key: bool,
    searches: bool,
    stays_inside: bool,
    by_address: bool,
    has_address: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Lex {
    #[default]
    Between,
    Text,
    Escape,
    /// So many digits of a character's number are missing.
    Number(u8, u32),
    Bare,
}

impl Reach {
    /// Reads the next piece; an error where the request must not go on.
    pub(super) fn read(&mut self, piece: &[u8]) -> Result<(), OutOfReach> {
        piece.iter().try_for_each(|byte| self.byte(*byte))
    }

    fn byte(&mut self, byte: u8) -> Result<(), OutOfReach> {
        match self.lex {
            Lex::Between => self.between(byte),
            Lex::Text => match byte {
                b'"' => {
                    self.lex = Lex::Between;
                    self.ended_text()
                }
                b'\\' => self.goes_on(Lex::Escape),
                0 => Err(OutOfReach::Unreadable),
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
                let digit = char::from(byte).to_digit(16).ok_or(OutOfReach::Unreadable)?;
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

    fn goes_on(&mut self, lex: Lex) -> Result<(), OutOfReach> {
        self.lex = lex;
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.text.len() < MAX_TEXT {
            self.text.extend_from_slice(bytes);
        }
    }

    fn between(&mut self, byte: u8) -> Result<(), OutOfReach> {
        if !self.began && !byte.is_ascii_whitespace() {
            self.began = true;
            if byte != b'{' {
                return Err(OutOfReach::Unreadable);
            }
        }
        match byte {
            b'{' | b'[' => self.opens(byte == b'['),
            b'}' | b']' => match self.open.pop() {
                Some(ended) if ended.searches && !ended.stays_inside => Err(OutOfReach::Tool),
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
            _ => Err(OutOfReach::Unreadable),
        }
    }

    fn opens(&mut self, is_list: bool) -> Result<(), OutOfReach> {
        if self.open.len() >= MAX_DEPTH {
            return Err(OutOfReach::TooDeep);
        }
        // What stands in a list stands under the list's key.
        let under = self.open.last().map(|top| match top.is_list {
            true => top.under.clone(),
            false => top.key.clone(),
        });
        self.open.push(Container {
            under: under.unwrap_or_default(),
            is_list,
            awaits_key: !is_list,
            ..Container::default()
        });
        Ok(())
    }

    fn ended_text(&mut self) -> Result<(), OutOfReach> {
        let is_whole = self.open.len() == 1;
        match self.open.last_mut() {
            Some(top) if top.awaits_key => {
                top.key.clone_from(&self.text);
                match is_whole && top.key == b"mcp_servers" {
                    true => Err(OutOfReach::Tool),
                    false => Ok(()),
                }
            }
            _ => self.value(true),
        }
    }

    /// A value that is no object and no list.
    fn value(&mut self, is_text: bool) -> Result<(), OutOfReach> {
        let of_tools = self.open.get(1).is_some_and(|list| list.under == b"tools");
        let text = self.text.to_ascii_lowercase();
        let is_address = is_text && !text.starts_with(b"data:");
        let Some(top) = self.open.last_mut() else {
            return Err(OutOfReach::Unreadable);
        };
        match top.key.as_slice() {
            b"type" if of_tools && text == b"web_search" => top.searches = true,
            b"type" if of_tools && (text.starts_with(b"web_") || text.starts_with(b"mcp")) => {
                return Err(OutOfReach::Tool);
            }
            // In a store of pages that the service keeps, and nowhere else.
            b"external_web_access" if of_tools && (is_text || text != b"false") => return Err(OutOfReach::Tool),
            b"external_web_access" => top.stays_inside = true,
            b"type" if top.under == b"source" && text == b"url" => top.by_address = true,
            b"url" if top.under == b"source" => top.has_address = true,
            b"url" if top.under == b"image_url" && is_address => return Err(OutOfReach::Address),
            b"image_url" | b"file_url" if is_address => return Err(OutOfReach::Address),
            _ => {}
        }
        match top.by_address && top.has_address {
            true => Err(OutOfReach::Address),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OutOfReach;
    use super::Reach;

    fn read(request: &str) -> Result<(), OutOfReach> {
        let whole = Reach::default().read(request.as_bytes());
        let mut reach = Reach::default();
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

    fn all_are(expected: OutOfReach, requests: &[&str]) {
        for request in requests {
            assert_eq!(read(request), Err(expected), "{request}");
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
        all_are(OutOfReach::Tool, &requests);
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
        all_are(OutOfReach::Address, &requests);
    }

    #[test]
    fn what_cannot_be_read_does_not_pass() {
        let deep = format!("{{\"a\":{}", "[".repeat(300));
        all_are(OutOfReach::TooDeep, &[&deep]);
        all_are(OutOfReach::Unreadable, &["\u{feff}{}", "{\0\"\0a", "[{}]", "\"x\""]);
    }
}
