//! The GraphQL calls that AutoBuild needs, since REST does not offer them: who edited an issue last, and making a draft
//! ready for review. A document is checked against an excerpt of GitHub's schema. What the excerpt lacks is
//! refused in the words that GitHub uses for what does not exist.

mod document;
mod schema;
mod validate;
mod variables;

use super::{
    auth::Right,
    call::{Answer, Answered, Call},
    json,
    refusal::Refusal,
    state::{Issue, Repo, Role, State},
};
use document::{Field, Operation, Set, fields, key, literal};
use graphql_parser::query::Document;
use schema::Schema;
use serde_json::{Map, Value, json as object};

const WRITE: Right = Right::write(&["pull_requests"], Role::Write);
const READ: Right = Right::read(&["issues", "pull_requests"]);

/// An answer, and whether the forge serves everything that was asked.
pub(super) type KnownCall = (Answered, bool);

/// Answers a query or mutation; `None` if the forge does not know such a call.
pub(super) fn answer(call: &Call) -> Option<KnownCall> {
    if call.method != "POST" {
        return None;
    }
    let refused = |status, message: &str| Some((Err(Refusal::new(status, message)), true));
    if call.caller.user().is_none() {
        return refused(401, "This endpoint requires you to be authenticated.");
    }
    let Some(text) = call.text("query") else {
        return refused(400, "A query attribute must be specified and must be a string.");
    };
    Some(match answered(call, &text) {
        Ok(body) => (Ok(Answer::ok(body)), true),
        Err(errors) => (Ok(Answer::ok(object!({"errors": errors}))), false),
    })
}

/// Returns the data with the errors of single fields, or else the errors of a document that cannot be run at all.
fn answered(call: &Call, text: &str) -> Result<Value, Vec<Value>> {
    let document = graphql_parser::parse_query::<String>(text).map(Document::into_static);
    let document = document.map_err(|error| vec![object!({"message": error.to_string()})])?;
    let operation = Operation::of(&document).map_err(|message| vec![object!({"message": message})])?;
    let schema = Schema::read();
    let faults = validate::faults(&schema, &operation);
    if !faults.is_empty() {
        return Err(faults);
    }
    let given = call.body.get("variables").cloned().unwrap_or_default();
    let mut run = Run {
        call,
        variables: variables::values(&schema, &operation, &given)?,
        errors: Vec::new(),
    };
    let mut data = Map::new();
    for field in fields(operation.set) {
        let found = match field.name.as_str() {
            "repository" => run.repository(field),
            _ => run.mark_ready(field),
        };
        let found = run.or_null(&[field], found);
        data.insert(key(field).to_owned(), found);
    }
    let mut body = object!({"data": data});
    if !run.errors.is_empty() {
        json::put(&mut body, "errors", Value::Array(run.errors));
    }
    Ok(body)
}

/// Returns the selected fields of an object, of which `known` holds all fields; `null` stays `null`.
fn select(known: &Value, set: &Set) -> Value {
    let Value::Object(known) = known else {
        return Value::Null;
    };
    let shown = fields(set).map(|field| {
        let value = known.get(&field.name).unwrap_or(&Value::Null);
        let value = if field.selection_set.items.is_empty() {
            value.clone()
        } else {
            select(value, &field.selection_set)
        };
        (key(field).to_owned(), value)
    });
    Value::Object(shown.collect())
}

/// A document that is being answered.
struct Run<'a> {
    call: &'a Call,
    variables: Map<String, Value>,
    errors: Vec<Value>,
}

impl Run<'_> {
    /// Returns an argument of a field by the path of its names; `null` if it is not given.
    fn argument(&self, field: &Field, path: &[&str]) -> Value {
        let (first, rest) = path.split_first().unwrap_or((&"", &[]));
        let given = field.arguments.iter().find(|(name, _)| name == first);
        let value = given.map_or(Value::Null, |(_, value)| literal(&self.variables, value));
        rest.iter()
            .fold(value, |value, name| value.get(name).cloned().unwrap_or_default())
    }

    /// Returns the value that was found for the last field of `path`. If there is none, records an error and returns
    /// `null`.
    fn or_null(&mut self, path: &[&Field], found: Result<Value, Refusal>) -> Value {
        found.unwrap_or_else(|Refusal { status, message, .. }| {
            let kind = match status {
                401 | 403 => "FORBIDDEN",
                404 => "NOT_FOUND",
                _ => "UNPROCESSABLE",
            };
            let at = path.last().map(|field| field.position).unwrap_or_default();
            let path: Vec<&str> = path.iter().map(|field| key(field)).collect();
            let locations = [object!({"line": at.line, "column": at.column})];
            let error = object!({"type": kind, "path": path, "locations": locations, "message": message});
            self.errors.push(error);
            Value::Null
        })
    }

    fn repository(&mut self, field: &Field) -> Result<Value, Refusal> {
        let text = |name: &str| self.argument(field, &[name]).as_str().unwrap_or_default().to_owned();
        let (owner, name) = (text("owner"), text("name"));
        let missing = || absent(&format!("a Repository with the name '{owner}/{name}'."));
        let call = self.call;
        call.site.read(|state| {
            let repo = state.repo_named(&owner, &name).ok_or_else(missing)?;
            let entered = call.caller.enter(state, repo.id, READ);
            entered.map_err(|refusal| if refusal.status == 404 { missing() } else { refusal })?;
            let known = object!({"id": format!("R_{}", repo.id), "name": repo.name});
            let Value::Object(mut shown) = select(&known, &field.selection_set) else {
                return Err(missing());
            };
            for inner in fields(&field.selection_set).filter(|inner| inner.name == "issue") {
                let number = self.argument(inner, &["number"]).as_u64().unwrap_or_default();
                let found = issue(state, repo, number).map(|known| select(&known, &inner.selection_set));
                shown.insert(key(inner).to_owned(), self.or_null(&[field, inner], found));
            }
            Ok(Value::Object(shown))
        })
    }

    fn mark_ready(&mut self, field: &Field) -> Result<Value, Refusal> {
        let id = self.argument(field, &["input", "pullRequestId"]);
        let id = id.as_str().unwrap_or_default();
        let missing = || absent(&format!("a node with the global id of '{id}'."));
        let call = self.call;
        let (at, number) = call.site.read(|state| {
            let of_repo = |repo: &Repo| {
                let found = repo.pulls().find(|(_, pull)| format!("PR_{}", pull.id) == id);
                found.map(|(issue, _)| (repo.id, issue.number))
            };
            let (repo, number) = state.repos.values().find_map(of_repo).ok_or_else(missing)?;
            let entered = call.caller.enter(state, repo, WRITE);
            let at = entered.map_err(|refusal| if refusal.status == 404 { missing() } else { refusal })?;
            Ok::<_, Refusal>((at, number))
        })?;
        call.site.set_draft(at, number, false)?;
        let payload = object!({
            "clientMutationId": self.argument(field, &["input", "clientMutationId"]),
            "pullRequest": {"id": id, "number": number, "isDraft": false},
        });
        Ok(select(&payload, &field.selection_set))
    }
}

fn absent(what: &str) -> Refusal {
    Refusal::new(404, format!("Could not resolve to {what}"))
}

/// Returns an issue. REST shows an App's bot with `[bot]` at the end of its login, GraphQL without.
fn issue(state: &State, repo: &Repo, number: u64) -> Result<Value, Refusal> {
    let issue: Option<&Issue> = repo.issues.get(&number).filter(|issue| !issue.is_pull());
    let issue = issue.ok_or_else(|| absent(&format!("an Issue with the number of {number}.")))?;
    let last = issue.edits.last();
    Ok(object!({
        "id": format!("I_{}", issue.id),
        "number": issue.number,
        "lastEditedAt": last.map_or(Value::Null, |edit| json::time(edit.at)),
        "editor": last.map(|edit| object!({"login": state.login(edit.editor).trim_end_matches("[bot]")})),
    }))
}
