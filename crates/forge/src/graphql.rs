//! What only GraphQL offers and AutoBuild asks for: who edited an issue last, and taking a pull request out of draft or
//! back. Documents are parsed; a field that is not served is refused in GitHub's words for one that does not exist.

use super::{
    auth::Right,
    call::{Answer, Answered, Call},
    json,
    refusal::Refusal,
    state::{Issue, Repo, Role, State},
};
use graphql_parser::{
    Pos,
    query::{Definition, Document, Field, OperationDefinition, Selection, SelectionSet, Value as Literal},
};
use serde_json::{Map, Value, json as object};

const WRITE: Right = Right::write(&["pull_requests"], Role::Write);
const READ: Right = Right::read(&["issues", "pull_requests"]);

/// An answer, and whether all that was asked is served.
pub(super) type Known = (Answered, bool);

type Set = SelectionSet<'static, String>;

/// Answers one field of a query or mutation.
type Root = fn(&Call, &Field<'static, String>) -> Result<Value, Failure>;

/// Why a document is not answered, or a part of it.
enum Failure {
    /// The document asks for what there is not: nothing of it is answered.
    Invalid { at: Pos, message: String },
    /// The field is `null`, and an error says why.
    Null { kind: &'static str, message: String },
}

impl Failure {
    fn missing(message: String) -> Self {
        let kind = "NOT_FOUND";
        Self::Null { kind, message }
    }

    fn undefined(field: &Field<'static, String>, holder: &str) -> Self {
        Self::Invalid {
            at: field.position,
            message: format!("Field '{}' doesn't exist on type '{holder}'", field.name),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let kind = match refusal.status {
            401 | 403 => "FORBIDDEN",
            404 => "NOT_FOUND",
            _ => "UNPROCESSABLE",
        };
        Self::Null {
            kind,
            message: refusal.message,
        }
    }
}

/// Answers a query or mutation; `None` if the forge does not know such a call.
pub(super) fn answer(call: &Call) -> Option<Known> {
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
        Err(error) => (Ok(Answer::ok(object!({"errors": [error]}))), false),
    })
}

/// Data with the errors of single fields, or the error of a document that cannot be run at all.
fn answered(call: &Call, text: &str) -> Result<Value, Value> {
    let document = graphql_parser::parse_query::<String>(text).map(Document::into_static);
    let document = document.map_err(|error| object!({"message": error.to_string()}))?;
    let [Definition::Operation(operation)] = document.definitions.as_slice() else {
        return Err(object!({"message": "One operation without fragments must be given"}));
    };
    let (root, set): (Root, &Set) = match operation {
        OperationDefinition::SelectionSet(set) => (query, set),
        OperationDefinition::Query(one) => (query, &one.selection_set),
        OperationDefinition::Mutation(one) => (mutation, &one.selection_set),
        OperationDefinition::Subscription(_) => return Err(object!({"message": "Subscriptions are not served"})),
    };
    let (mut data, mut errors) = (Map::new(), Vec::new());
    for field in fields(set).map_err(invalid)? {
        let key = key(field);
        let value = match root(call, field) {
            Ok(value) => value,
            Err(Failure::Null { kind, message }) => {
                errors.push(object!({"type": kind, "path": [key], "message": message}));
                Value::Null
            }
            Err(failure @ Failure::Invalid { .. }) => return Err(invalid(failure)),
        };
        data.insert(key.to_owned(), value);
    }
    let mut body = object!({"data": data});
    if !errors.is_empty() {
        json::put(&mut body, "errors", Value::Array(errors));
    }
    Ok(body)
}

fn invalid(failure: Failure) -> Value {
    match failure {
        Failure::Invalid { at, message } => {
            object!({"message": message, "locations": [{"line": at.line, "column": at.column}]})
        }
        Failure::Null { kind, message } => object!({"type": kind, "message": message}),
    }
}

/// The fields of a selection, without fragments.
fn fields(set: &Set) -> Result<Vec<&Field<'static, String>>, Failure> {
    let mut found = Vec::new();
    for item in &set.items {
        match item {
            Selection::Field(field) => found.push(field),
            Selection::FragmentSpread(_) | Selection::InlineFragment(_) => {
                return Err(Failure::Invalid {
                    at: set.span.0,
                    message: "Fragments are not served".to_owned(),
                });
            }
        }
    }
    Ok(found)
}

/// What a field is called in the answer.
fn key<'a>(field: &'a Field<'static, String>) -> &'a str {
    field.alias.as_ref().unwrap_or(&field.name)
}

/// What is selected of an object of the type `holder`, of which `known` are all fields; `null` stays `null`.
fn select(holder: &str, known: &Value, set: &Set) -> Result<Value, Failure> {
    let Value::Object(known) = known else {
        return Ok(Value::Null);
    };
    let mut found = Map::new();
    for field in fields(set)? {
        let value = match known.get(&field.name) {
            Some(value) if field.selection_set.items.is_empty() => value.clone(),
            Some(value) => select(&field.name, value, &field.selection_set)?,
            None => return Err(Failure::undefined(field, holder)),
        };
        found.insert(key(field).to_owned(), value);
    }
    Ok(Value::Object(found))
}

/// An argument of a field, by the path of its names.
fn argument(call: &Call, field: &Field<'static, String>, path: &[&str]) -> Value {
    let (first, rest) = path.split_first().unwrap_or((&"", &[]));
    let given = field.arguments.iter().find(|(name, _)| name == first);
    let value = given.map_or(Value::Null, |(_, value)| literal(call, value));
    rest.iter()
        .fold(value, |value, name| value.get(name).cloned().unwrap_or_default())
}

fn literal(call: &Call, value: &Literal<'static, String>) -> Value {
    match value {
        Literal::Variable(name) => call
            .body
            .pointer(&format!("/variables/{name}"))
            .cloned()
            .unwrap_or_default(),
        Literal::Int(number) => number.as_i64().map_or(Value::Null, Value::from),
        Literal::Float(number) => Value::from(*number),
        Literal::String(text) | Literal::Enum(text) => Value::from(text.clone()),
        Literal::Boolean(truth) => Value::from(*truth),
        Literal::Null => Value::Null,
        Literal::List(items) => items.iter().map(|item| literal(call, item)).collect(),
        Literal::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), literal(call, value)));
            Value::Object(fields.collect())
        }
    }
}

fn query(call: &Call, field: &Field<'static, String>) -> Result<Value, Failure> {
    if field.name != "repository" {
        return Err(Failure::undefined(field, "Query"));
    }
    let text = |name: &str| argument(call, field, &[name]).as_str().unwrap_or_default().to_owned();
    let (owner, name) = (text("owner"), text("name"));
    let missing = || {
        Failure::missing(format!(
            "Could not resolve to a Repository with the name '{owner}/{name}'."
        ))
    };
    call.site.read(|state| {
        let repo = state.repo_named(&owner, &name).ok_or_else(missing)?;
        match call.caller.enter(state, repo.id, READ) {
            Ok(_) => {}
            Err(refusal) if refusal.status == 404 => return Err(missing()),
            Err(refusal) => return Err(refusal.into()),
        }
        let mut found = Map::new();
        for inner in fields(&field.selection_set)? {
            if inner.name != "issue" {
                return Err(Failure::undefined(inner, "Repository"));
            }
            let number = argument(call, inner, &["number"]).as_u64().unwrap_or_default();
            let issue = repo.issues.get(&number).filter(|issue| !issue.is_pull());
            let issue = issue.ok_or_else(|| {
                Failure::missing(format!("Could not resolve to an Issue with the number of {number}."))
            })?;
            let shown = select("Issue", &issue_fields(state, issue), &inner.selection_set)?;
            found.insert(key(inner).to_owned(), shown);
        }
        Ok(Value::Object(found))
    })
}

/// REST shows an App's bot with `[bot]` at the end of its login, GraphQL without.
fn issue_fields(state: &State, issue: &Issue) -> Value {
    let last = issue.edits.last();
    object!({
        "id": format!("I_{}", issue.id),
        "lastEditedAt": last.map_or(Value::Null, |edit| json::time(edit.at)),
        "editor": last.map(|edit| object!({"login": state.login(edit.editor).trim_end_matches("[bot]")})),
    })
}

fn mutation(call: &Call, field: &Field<'static, String>) -> Result<Value, Failure> {
    let is_draft = match field.name.as_str() {
        "markPullRequestReadyForReview" => false,
        "convertPullRequestToDraft" => true,
        _ => return Err(Failure::undefined(field, "Mutation")),
    };
    let payload = object!({"pullRequest": {"isDraft": is_draft}});
    let shown = select(&field.name, &payload, &field.selection_set)?;
    let id = argument(call, field, &["input", "pullRequestId"]);
    let id = id.as_str().unwrap_or_default();
    let missing = || Failure::missing(format!("Could not resolve to a node with the global id of '{id}'."));
    let (at, number) = call.site.read(|state| {
        let of_repo = |repo: &Repo| {
            let found = repo.pulls().find(|(_, pull)| format!("PR_{}", pull.id) == id);
            found.map(|(issue, _)| (repo.id, issue.number))
        };
        let (repo, number) = state.repos.values().find_map(of_repo).ok_or_else(missing)?;
        match call.caller.enter(state, repo, WRITE) {
            Ok(at) => Ok((at, number)),
            Err(refusal) if refusal.status == 404 => Err(missing()),
            Err(refusal) => Err(refusal.into()),
        }
    })?;
    call.site.set_draft(at, number, is_draft)?;
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(known: &Value, text: &str) -> Result<Value, Value> {
        let document = graphql_parser::parse_query::<String>(text).unwrap().into_static();
        let Some(Definition::Operation(OperationDefinition::SelectionSet(set))) = document.definitions.first() else {
            panic!("{text}");
        };
        select("Issue", known, set).map_err(invalid)
    }

    #[test]
    fn what_is_asked_is_answered_and_what_is_not_served_refused() {
        let issue = object!({"id": "I_1", "lastEditedAt": null, "editor": {"login": "ann"}});
        assert_eq!(
            shown(&issue, "{ name: id editor { login } }"),
            Ok(object!({"name": "I_1", "editor": {"login": "ann"}}))
        );
        let refused = [
            ("{ title }", "Field 'title' doesn't exist on type 'Issue'"),
            ("{ editor { name } }", "Field 'name' doesn't exist on type 'editor'"),
            ("{ ... on Issue { id } }", "Fragments are not served"),
        ];
        for (text, message) in refused {
            assert_eq!(shown(&issue, text).unwrap_err()["message"], message, "{text}");
        }
    }
}
