//! What only GraphQL offers: documents are parsed, held against the part of GitHub's schema that is served, and answered
//! field by field.

mod check;
mod run;
mod schema;
#[cfg(test)]
mod tests;
mod things;
mod values;

use self::{
    check::{Fragments, Operation, check},
    run::Run,
    schema::Schema,
    things::{Held, Thing},
    values::{Variables, arguments, variables},
};
use super::{
    auth::Right,
    call::{Answer, Answered, Call},
    refusal::Refusal,
    state::{Actor, Role, State},
};
use graphql_parser::query::{Definition, Document, Field, OperationDefinition};
use serde_json::{Map, Value, json as object};

const WRITE: Right = Right::write(&["pull_requests"], Role::Write);
const READ: Right = Right::read(&["issues", "pull_requests"]);

/// An answer, and whether all that was asked is part of the schema.
pub(super) type Known = (Answered, bool);

/// Why a field could not be had.
pub(super) struct Failure {
    kind: &'static str,
    message: String,
}

impl Failure {
    fn missing(message: String) -> Self {
        Self {
            kind: "NOT_FOUND",
            message,
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
        Self {
            kind,
            message: refusal.message,
        }
    }
}

/// Answers a query or mutation; none: the forge does not know such a call.
pub(super) fn answer(call: &Call) -> Option<Known> {
    if call.method != "POST" {
        return None;
    }
    if call.caller.user().is_none() {
        let refusal = Refusal::new(401, "This endpoint requires you to be authenticated.");
        return Some((Err(refusal), true));
    }
    let Some(text) = call.text("query") else {
        let refusal = Refusal::new(400, "A query attribute must be specified and must be a string.");
        return Some((Err(refusal), true));
    };
    Some(match answered(call, &text) {
        Ok(body) => (Ok(Answer::ok(body)), true),
        Err(errors) => (Ok(Answer::ok(object!({"errors": errors}))), false),
    })
}

/// Errors are of what cannot be run at all.
fn answered(call: &Call, text: &str) -> Result<Value, Vec<Value>> {
    let parsed = graphql_parser::parse_query::<String>(text).map(Document::into_static);
    let document = parsed.map_err(|error| vec![object!({"message": error.to_string()})])?;
    let fragments: Fragments<'_> = document
        .definitions
        .iter()
        .filter_map(|one| match one {
            Definition::Fragment(fragment) => Some((fragment.name.as_str(), fragment)),
            Definition::Operation(_) => None,
        })
        .collect();
    let operation = operation(&document, call.text("operationName").as_deref())?;
    let errors = check(&operation, &fragments);
    if !errors.is_empty() {
        return Err(errors);
    }
    let given = variables(operation.variables, call.body.get("variables").unwrap_or(&Value::Null))?;
    let mut run = Run {
        variables: &given,
        fragments: &fragments,
        path: Vec::new(),
        errors: Vec::new(),
    };
    let data = match operation.root {
        "Mutation" => mutate(call, &operation, &mut run),
        _ => call.site.read(|state| {
            let mut inner = Run {
                variables: &given,
                fragments: &fragments,
                path: Vec::new(),
                errors: Vec::new(),
            };
            let served = Served { call, state };
            let data = inner.object(&served, Thing::Query, "Query", &[operation.selection]);
            run.errors = inner.errors;
            data
        }),
    };
    let mut body = object!({"data": data});
    if !run.errors.is_empty() {
        super::json::put(&mut body, "errors", Value::Array(run.errors));
    }
    Ok(body)
}

fn operation<'a>(document: &'a Document<'static, String>, wanted: Option<&str>) -> Result<Operation<'a>, Vec<Value>> {
    let found: Vec<Operation<'a>> = document.definitions.iter().filter_map(read).collect();
    let message = match (found.as_slice(), wanted) {
        ([], _) => "A query attribute must be specified and must be a string.".to_owned(),
        ([only], None) => return Ok(*only),
        (_, None) => "An operation name is required".to_owned(),
        (all, Some(wanted)) => match all.iter().find(|one| one.name == Some(wanted)) {
            Some(one) => return Ok(*one),
            None => format!("No operation named \"{wanted}\""),
        },
    };
    Err(vec![object!({"message": message})])
}

fn read<'a>(definition: &'a Definition<'static, String>) -> Option<Operation<'a>> {
    let Definition::Operation(operation) = definition else {
        return None;
    };
    Some(match operation {
        OperationDefinition::SelectionSet(selection) => Operation {
            root: "Query",
            name: None,
            variables: &[],
            selection,
        },
        OperationDefinition::Query(one) => Operation {
            root: "Query",
            name: one.name.as_deref(),
            variables: &one.variable_definitions,
            selection: &one.selection_set,
        },
        OperationDefinition::Mutation(one) => Operation {
            root: "Mutation",
            name: one.name.as_deref(),
            variables: &one.variable_definitions,
            selection: &one.selection_set,
        },
        OperationDefinition::Subscription(_) => return None,
    })
}

/// What answers are made from, and for whom.
pub(super) struct Served<'a> {
    call: &'a Call,
    state: &'a State,
}

impl<'a> Served<'a> {
    fn enter(&self, repo: u64) -> Result<Actor, Failure> {
        Ok(self.call.caller.enter(self.state, repo, READ)?)
    }

    fn query(&self, name: &str, given: &Variables) -> Result<Held<'a>, Failure> {
        let text = |key: &str| given.get(key).and_then(Value::as_str).unwrap_or_default();
        match name {
            "repository" => {
                let (owner, name) = (text("owner"), text("name"));
                let missing = || {
                    Failure::missing(format!(
                        "Could not resolve to a Repository with the name '{owner}/{name}'."
                    ))
                };
                let repo = self.state.repo_named(owner, name).ok_or_else(missing)?;
                match self.call.caller.enter(self.state, repo.id, Right::read(&["metadata"])) {
                    Ok(_) => Ok(Held::Thing(Thing::Repo(repo))),
                    Err(refusal) if refusal.status == 404 => Err(missing()),
                    Err(refusal) => Err(refusal.into()),
                }
            }
            "node" => self.node(text("id")).map(Held::Thing),
            "nodes" => {
                let ids = given.get("ids").and_then(Value::as_array).into_iter().flatten();
                let ids = ids.map(|id| id.as_str().unwrap_or_default());
                Ok(Held::Things(ids.map(|id| self.node(id).ok()).collect()))
            }
            "viewer" => Ok(Held::Thing(Thing::Account(self.call.caller.user().unwrap_or_default()))),
            _ => Ok(Value::Null.into()),
        }
    }

    /// The object of a global id; what may not be seen is not there.
    fn node(&self, id: &str) -> Result<Thing<'a>, Failure> {
        let missing = || Failure::missing(format!("Could not resolve to a node with the global id of '{id}'."));
        let found = self.state.repos.values().find_map(|repo| {
            if format!("R_{}", repo.id) == id {
                return Some((repo, Thing::Repo(repo)));
            }
            repo.issues.values().find_map(|issue| {
                let is_it = match &issue.pull {
                    Some(pull) => format!("PR_{}", pull.id) == id,
                    None => format!("I_{}", issue.id) == id,
                };
                let comment = || issue.comments.iter().find(|comment| format!("IC_{}", comment.id) == id);
                match is_it {
                    true => Some((repo, Thing::Issue(repo, issue))),
                    false => comment().map(|comment| (repo, Thing::Comment(repo, issue, comment))),
                }
            })
        });
        let (repo, thing) = found.ok_or_else(missing)?;
        match self.call.caller.enter(self.state, repo.id, READ) {
            Ok(_) => Ok(thing),
            Err(refusal) if refusal.status == 404 => Err(missing()),
            Err(refusal) => Err(refusal.into()),
        }
    }
}

/// One mutation after the other; each that fails is `null` and an error.
fn mutate<'a>(call: &Call, operation: &Operation<'a>, run: &mut Run<'a>) -> Value {
    let mut data = Map::new();
    for (key, fields) in run.fields(operation.selection, "Mutation") {
        let Some(field) = fields.first().copied() else { continue };
        run.path.push(Value::from(key));
        let value = match one_mutation(call, field, run) {
            Ok(value) => value,
            Err(failure) => run.failed(&failure, field.position),
        };
        run.path.pop();
        data.insert(key.to_owned(), value);
    }
    Value::Object(data)
}

fn one_mutation<'a>(call: &Call, field: &'a Field<'static, String>, run: &mut Run<'a>) -> Result<Value, Failure> {
    let draft = match field.name.as_str() {
        "markPullRequestReadyForReview" => false,
        "convertPullRequestToDraft" => true,
        _ => return Ok(Value::from("Mutation")),
    };
    let def = Schema::get().field("Mutation", &field.name);
    let given = def.map(|def| arguments(&def.arguments, &field.arguments, run.variables));
    let given = given.unwrap_or_default();
    let input = |key: &str| {
        given
            .get("input")
            .and_then(|input| input.get(key))
            .cloned()
            .unwrap_or_default()
    };
    let id = input("pullRequestId");
    let (repo, number, by) = pull_of(call, id.as_str().unwrap_or_default())?;
    call.site.set_draft(by, repo, number, draft)?;
    call.site.read(|state| {
        let repo = state.repo(repo)?;
        let issue = repo.issues.get(&number).ok_or_else(Refusal::not_found)?;
        let kind = match draft {
            true => "ConvertPullRequestToDraftPayload",
            false => "MarkPullRequestReadyForReviewPayload",
        };
        let mut inner = Run {
            variables: run.variables,
            fragments: run.fragments,
            path: run.path.clone(),
            errors: Vec::new(),
        };
        let payload = Thing::Payload(repo, issue);
        let mut value = inner.object(&Served { call, state }, payload, kind, &[&field.selection_set]);
        for (key, fields) in inner.fields(&field.selection_set, kind) {
            if fields.iter().any(|field| field.name == "clientMutationId") {
                super::json::put(&mut value, key, input("clientMutationId"));
            }
        }
        run.errors.append(&mut inner.errors);
        Ok(value)
    })
}

/// The pull request of a global id, and as whom the caller changes it.
fn pull_of(call: &Call, id: &str) -> Result<(u64, u64, Actor), Failure> {
    call.site.read(|state| match (Served { call, state }).node(id)? {
        Thing::Issue(repo, issue) if issue.is_pull() => {
            Ok((repo.id, issue.number, call.caller.enter(state, repo.id, WRITE)?))
        }
        _ => Err(Failure::missing(format!(
            "Could not resolve to PullRequest node with the global id of '{id}'."
        ))),
    })
}
