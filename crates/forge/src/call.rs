//! One API request in its parts, and its answer.

use super::{
    auth::{Caller, Right},
    json,
    refusal::{Refusal, Result},
    site::Site,
    state::{Access, Repo, State},
};
use git::bare::BareRepo;
use serde_json::Value;
use std::{collections::BTreeMap, ops::Deref, sync::Arc};

pub(super) struct Call {
    pub(super) site: Arc<Site>,
    pub(super) method: String,
    /// The path's parts, decoded, without `/api/v3`.
    pub(super) parts: Vec<String>,
    pub(super) query: BTreeMap<String, String>,
    /// The JSON body; null if there was none.
    pub(super) body: Value,
    pub(super) caller: Caller,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Value,
    pub(super) link: Option<String>,
}

pub(super) type Answered = Result<Answer>;

/// The answer, or `None` if the forge knows no such call.
pub(super) type Routed = Result<Option<Answer>>;

impl Answer {
    pub(super) fn ok(body: Value) -> Self {
        Self::with(200, body)
    }

    pub(super) fn created(body: Value) -> Self {
        Self::with(201, body)
    }

    pub(super) fn with(status: u16, body: Value) -> Self {
        let link = None;
        Self { status, body, link }
    }

    pub(super) fn into_created(self) -> Self {
        Self { status: 201, ..self }
    }
}

/// The entries of a page unless the request asks for another number; GitHub's default.
const PAGE: usize = 30;

impl Call {
    /// Enters the repository for a caller who holds `right` there. A former name is answered with a redirect.
    pub(super) fn enter(&self, owner: &str, name: &str, right: Right) -> Result<RepoCall<'_>> {
        let at = self.site.read(|state| match state.repo_named(owner, name) {
            Some(repo) => self.caller.enter(state, repo.id, right),
            None => Err(self.redirect(state.repo_once_named(owner, name))),
        })?;
        Ok(RepoCall { call: self, at })
    }

    fn redirect(&self, to: Option<&Repo>) -> Refusal {
        let Some(repo) = to else {
            return Refusal::not_found();
        };
        let rest = path_of(self.parts.iter().skip(3));
        let (status, text) = match self.method.as_str() {
            "GET" => (301, "Moved Permanently"),
            _ => (307, "Temporary Redirect"),
        };
        Refusal {
            location: Some(format!("{}/api/v3/repositories/{}{rest}", self.site.base, repo.id)),
            ..Refusal::new(status, text)
        }
    }

    pub(super) fn text(&self, field: &str) -> Option<String> {
        self.body.get(field).and_then(Value::as_str).map(str::to_owned)
    }

    /// Returns a boolean field of the body; `false` if it is missing.
    pub(super) fn flag(&self, field: &str) -> bool {
        self.body.get(field).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns a field of the body that is a list of texts. An object in it counts as its `name`.
    pub(super) fn texts(&self, field: &str) -> Option<Vec<String>> {
        let list = self.body.get(field)?.as_array()?.iter();
        let texts = list.filter_map(|value| value.as_str().or_else(|| value.get("name")?.as_str()));
        Some(texts.map(str::to_owned).collect())
    }

    pub(super) fn query_value(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    pub(super) fn asked_number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.query_value(name)?.parse().ok()
    }

    /// Returns `true` if the list that the query asks for (`state`, default `open`) includes entries in this state.
    pub(super) fn asks_for(&self, open: bool) -> bool {
        let wanted = self.query_value("state").unwrap_or("open");
        wanted == "all" || open == (wanted == "open")
    }

    /// Returns the number of entries of a page, from 1 to 100.
    pub(super) fn page_size(&self) -> usize {
        self.asked_number("per_page").unwrap_or(PAGE).clamp(1, 100)
    }

    pub(super) fn page(&self, list: Vec<Value>) -> Answer {
        let (page, link) = self.cut(list);
        let answer = Answer::ok(Value::Array(page));
        Answer { link, ..answer }
    }

    /// Answers with one page of a list in the field `name`, its total count, and the fields of `more`.
    pub(super) fn page_with_count(&self, name: &str, list: Vec<Value>, more: Value) -> Answer {
        let mut body = serde_json::json!({"total_count": list.len()});
        let (page, link) = self.cut(list);
        json::put(&mut body, name, Value::Array(page));
        json::extend(&mut body, more);
        let answer = Answer::ok(body);
        Answer { link, ..answer }
    }

    fn cut(&self, list: Vec<Value>) -> (Vec<Value>, Option<String>) {
        let size = self.page_size();
        let page = self.asked_number("page").unwrap_or(1).max(1);
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
        let rest = list.into_iter().skip((page - 1).saturating_mul(size));
        (rest.take(size).collect(), (!links.is_empty()).then(|| links.join(", ")))
    }

    fn link(&self, page: usize, relation: &str) -> String {
        let others = self.query.iter().filter(|(name, _)| name.as_str() != "page");
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(others).append_pair("page", &page.to_string());
        let (path, query) = (path_of(self.parts.iter()), query.finish());
        format!("<{}/api/v3{path}?{query}>; rel=\"{relation}\"", self.site.base)
    }
}

fn path_of<'a>(parts: impl Iterator<Item = &'a String>) -> String {
    parts.flat_map(|part| ["/", part.as_str()]).collect()
}

/// A call about a repository by a caller who holds the right that it needs.
#[derive(Clone, Copy)]
pub(super) struct RepoCall<'a> {
    call: &'a Call,
    pub(super) at: Access,
}

impl Deref for RepoCall<'_> {
    type Target = Call;

    fn deref(&self) -> &Call {
        self.call
    }
}

impl RepoCall<'_> {
    pub(super) fn read<T>(&self, look: impl FnOnce(&State, &Repo) -> Result<T>) -> Result<T> {
        self.site.read(|state| look(state, state.repo(self.at.repo)?))
    }

    /// Answers with the JSON that `look` makes of the repository.
    pub(super) fn show(&self, look: impl FnOnce(&State, &Repo) -> Result<Value>) -> Answered {
        self.read(look).map(Answer::ok)
    }

    /// Answers with one page of the list that `look` makes of the repository.
    pub(super) fn list(&self, look: impl FnOnce(&State, &Repo) -> Result<Vec<Value>>) -> Answered {
        self.read(look).map(|rows| self.page(rows))
    }

    pub(super) fn change<T>(&self, alter: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        self.site.change(alter)
    }

    pub(super) fn bare(&self) -> BareRepo {
        self.site.bare(self.at.repo)
    }
}
