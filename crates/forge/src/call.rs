//! One request to the API, taken apart, and its answer.

use super::{
    auth::{Caller, Right},
    refusal::Refusal,
    site::Site,
    state::Actor,
};
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};

/// One request to the API.
pub(super) struct Call {
    pub(super) site: Arc<Site>,
    pub(super) method: String,
    /// The path's parts, decoded, without `/api/v3`.
    pub(super) parts: Vec<String>,
    pub(super) query: BTreeMap<String, String>,
    /// The JSON body; null when there was none.
    pub(super) body: Value,
    /// The media types that are asked for.
    pub(super) accept: String,
    pub(super) caller: Caller,
}

/// What is answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Option<Value>,
    /// Bytes instead of a JSON body.
    pub(super) raw: Option<Vec<u8>>,
    pub(super) link: Option<String>,
}

pub(super) type Answered = Result<Answer, Refusal>;

impl Answer {
    pub(super) fn ok(body: Value) -> Self {
        Self::with(200, body)
    }

    pub(super) fn created(body: Value) -> Self {
        Self::with(201, body)
    }

    pub(super) fn with(status: u16, body: Value) -> Self {
        Self {
            status,
            body: Some(body),
            raw: None,
            link: None,
        }
    }

    pub(super) fn raw(bytes: Vec<u8>) -> Self {
        Self {
            raw: Some(bytes),
            ..Self::nothing_with(200)
        }
    }

    pub(super) fn nothing() -> Self {
        Self::nothing_with(204)
    }

    fn nothing_with(status: u16) -> Self {
        Self {
            status,
            body: None,
            raw: None,
            link: None,
        }
    }
}

/// How many of a list make a page, when nobody asks for another number.
const PAGE: usize = 30;

impl Call {
    /// The repository of that name and as whom the caller acts in it. A former name answers with a redirect.
    pub(super) fn enter(&self, owner: &str, name: &str, right: Right) -> Result<(u64, Actor), Refusal> {
        self.site.read(|state| {
            let id = match state.repo_named(owner, name) {
                Some(repo) => repo.id,
                None => return Err(self.moved(state.former_names.get(&format!("{owner}/{name}").to_lowercase()))),
            };
            Ok((id, self.caller.enter(state, id, right)?))
        })
    }

    fn moved(&self, to: Option<&u64>) -> Refusal {
        let Some(id) = to else {
            return Refusal::not_found();
        };
        let rest: String = self
            .parts
            .iter()
            .skip(3)
            .flat_map(|part| ["/", part.as_str()])
            .collect();
        let (status, text) = match self.method.as_str() {
            "GET" => (301, "Moved Permanently"),
            _ => (307, "Temporary Redirect"),
        };
        Refusal {
            location: Some(format!("{}/api/v3/repositories/{id}{rest}", self.site.base)),
            ..Refusal::new(status, text)
        }
    }

    /// A text of the body.
    pub(super) fn text(&self, field: &str) -> Option<String> {
        self.body.get(field).and_then(Value::as_str).map(str::to_owned)
    }

    /// A truth of the body.
    pub(super) fn flag(&self, field: &str) -> bool {
        self.body.get(field).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A list of texts of the body; objects stand for their `name`.
    pub(super) fn texts(&self, field: &str) -> Option<Vec<String>> {
        let list = match self.body.get(field) {
            Some(Value::Array(list)) => list,
            _ => return None,
        };
        let text = |value: &Value| {
            value
                .as_str()
                .or_else(|| value.get("name")?.as_str())
                .map(str::to_owned)
        };
        Some(list.iter().filter_map(text).collect())
    }

    /// The part of the query with that name.
    pub(super) fn asked(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// One page of a list, with links to the others.
    pub(super) fn page(&self, list: Vec<Value>) -> Answer {
        let (page, link) = self.cut(list);
        Answer {
            link,
            ..Answer::ok(Value::Array(page))
        }
    }

    /// One page of a list below a name, with the whole list's length.
    pub(super) fn counted(&self, name: &str, list: Vec<Value>) -> Answer {
        let total = list.len();
        let (page, link) = self.cut(list);
        let mut body = serde_json::json!({"total_count": total});
        crate::json::put(&mut body, name, Value::Array(page));
        Answer {
            link,
            ..Answer::ok(body)
        }
    }

    fn cut(&self, list: Vec<Value>) -> (Vec<Value>, Option<String>) {
        let number = |name: &str| self.asked(name).and_then(|text| text.parse::<usize>().ok());
        let size = number("per_page").unwrap_or(PAGE).clamp(1, 100);
        let page = number("page").unwrap_or(1).max(1);
        let last = list.len().div_ceil(size).max(1);
        let mut links = Vec::new();
        if page > 1 {
            links.push(self.link(page - 1, "prev"));
        }
        if page < last {
            links.push(self.link(page + 1, "next"));
            links.push(self.link(last, "last"));
        }
        if page > 1 {
            links.push(self.link(1, "first"));
        }
        let rows = list
            .into_iter()
            .skip((page - 1).saturating_mul(size))
            .take(size)
            .collect();
        (rows, (!links.is_empty()).then(|| links.join(", ")))
    }

    fn link(&self, page: usize, relation: &str) -> String {
        let others = self.query.iter().filter(|(name, _)| name.as_str() != "page");
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in others {
            query.append_pair(name, value);
        }
        query.append_pair("page", &page.to_string());
        let path: String = self.parts.iter().flat_map(|part| ["/", part.as_str()]).collect();
        format!(
            "<{}/api/v3{path}?{}>; rel=\"{relation}\"",
            self.site.base,
            query.finish()
        )
    }
}
