//! The GraphQL calls that REST does not offer: who edited an issue last, making a draft ready for review, and everything
//! that belongs to an issue and its branches at once. The forge knows the documents word for word, and refuses every
//! other one.

mod work;

use super::{
    auth::Right,
    call::{Answer, Answered, Call},
    json,
    refusal::Refusal,
    state::{Issue, Repo, Role, State},
};
use serde_json::{Value, json as object};

/// `Query.repository`, see <https://docs.github.com/en/graphql/reference/queries#repository>.
const LAST_EDIT: &str = "query($login: String!, $repo: String!, $issue: Int!) { \
    repository(owner: $login, name: $repo) { issue(number: $issue) { lastEditedAt editor { login } } } }";

/// See <https://docs.github.com/en/graphql/reference/mutations#markpullrequestreadyforreview>.
const MARK_READY: &str = "mutation($id: ID!) { \
    markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }";

const WRITE: Right = Right::write(&["pull_requests"], Role::Write);
const READ: Right = Right::read(&["issues", "pull_requests"]);

/// Returns `true` if the document in this body changes something.
pub(super) fn is_mutation(body: &Value) -> bool {
    let document = body.get("query").and_then(Value::as_str);
    document.is_some_and(|document| document.trim_start().starts_with("mutation"))
}

/// Answers a query or mutation, with `true` if the forge knows the document; `None` if it does not know such a call.
pub(super) fn answer(call: &Call) -> Option<(Answered, bool)> {
    if call.method != "POST" {
        return None;
    }
    let refused = |status, message: &str| Some((Err(Refusal::new(status, message)), true));
    if call.caller.user().is_none() {
        return refused(401, "This endpoint requires you to be authenticated.");
    }
    let Some(document) = call.text("query") else {
        return refused(400, "A query attribute must be specified and must be a string.");
    };
    let is = |known: &str| document.split_whitespace().eq(known.split_whitespace());
    let answered = if is(LAST_EDIT) {
        last_edit(call)
    } else if is(MARK_READY) {
        mark_ready(call)
    } else if is(work::DOCUMENT) {
        work::answer(call)
    } else {
        let message = "The forge does not know this document";
        return Some((Ok(Answer::ok(object!({"errors": [{"message": message}]}))), false));
    };
    Some((Ok(Answer::ok(answered)), true))
}

/// Returns an answer in which the value at `path` is `null` for the reason that `refusal` gives.
fn nulled(data: Value, path: &[&str], refusal: &Refusal) -> Value {
    let kind = match refusal.status {
        401 | 403 => "FORBIDDEN",
        404 => "NOT_FOUND",
        _ => "UNPROCESSABLE",
    };
    object!({"data": data, "errors": [{"type": kind, "path": path, "message": refusal.message}]})
}

/// Returns an answer for a variable that is missing or of another type.
fn unfit(name: &str, kind: &str) -> Value {
    let message = format!("Variable ${name} of type {kind} was provided invalid value");
    object!({"errors": [{"message": message}]})
}

fn variable<'c>(call: &'c Call, name: &str) -> &'c Value {
    call.body.get("variables").and_then(|given| given.get(name)).unwrap_or(&Value::Null)
}

/// Returns the repository that a caller asks about, if it may read there.
fn repository<'s>(call: &Call, state: &'s State, login: &str, name: &str) -> Result<&'s Repo, Refusal> {
    let missing = || format!("a Repository with the name '{login}/{name}'.");
    let repo = state.repo_named(login, name).ok_or_else(|| absent(&missing()))?;
    let entered = call.caller.enter(state, repo.id, READ);
    entered.map(|_| repo).map_err(|refusal| hidden(refusal, missing()))
}

/// Returns the refusal of a caller who may not enter: the thing does not exist for it.
fn hidden(refusal: Refusal, what: String) -> Refusal {
    if refusal.status == 404 { absent(&what) } else { refusal }
}

fn no_issue(number: u64) -> Refusal {
    absent(&format!("an Issue with the number of {number}."))
}

fn absent(what: &str) -> Refusal {
    Refusal::new(404, format!("Could not resolve to {what}"))
}

fn last_edit(call: &Call) -> Value {
    let [login, name, number] = ["login", "repo", "issue"].map(|name| variable(call, name));
    let (Some(login), Some(name)) = (login.as_str(), name.as_str()) else {
        return unfit("login", "String!");
    };
    let Some(number) = number.as_u64() else {
        return unfit("issue", "Int!");
    };
    call.site.read(|state| match repository(call, state, login, name).map(|repo| issue(state, repo, number)) {
        Err(refusal) => nulled(object!({"repository": null}), &["repository"], &refusal),
        Ok(Err(refusal)) => {
            let data = object!({"repository": {"issue": null}});
            nulled(data, &["repository", "issue"], &refusal)
        }
        Ok(Ok(issue)) => object!({"data": {"repository": {"issue": issue}}}),
    })
}

/// Returns an issue's last edit. REST shows an App's bot with `[bot]` at the end of its login, GraphQL without.
fn issue(state: &State, repo: &Repo, number: u64) -> Result<Value, Refusal> {
    let issue: Option<&Issue> = repo.issues.get(&number).filter(|issue| !issue.is_pull());
    let issue = issue.ok_or_else(|| no_issue(number))?;
    let last = issue.edits.last();
    Ok(object!({
        "lastEditedAt": last.map_or(Value::Null, |edit| json::time(edit.at)),
        "editor": last.map(|edit| object!({"login": state.login(edit.editor).trim_end_matches("[bot]")})),
    }))
}

fn mark_ready(call: &Call) -> Value {
    const FIELD: &str = "markPullRequestReadyForReview";
    let Some(id) = variable(call, "id").as_str() else {
        return unfit("id", "ID!");
    };
    match made_ready(call, id) {
        Ok(()) => object!({"data": {FIELD: {"pullRequest": {"isDraft": false}}}}),
        Err(refusal) => nulled(object!({FIELD: null}), &[FIELD], &refusal),
    }
}

fn made_ready(call: &Call, id: &str) -> Result<(), Refusal> {
    let missing = || format!("a node with the global id of '{id}'.");
    let (at, number) = call.site.read(|state| {
        let of_repo = |repo: &Repo| {
            let found = repo.pulls().find(|(_, pull)| format!("PR_{}", pull.id) == id);
            found.map(|(issue, _)| (repo.id, issue.number))
        };
        let found = state.repos.values().find_map(of_repo);
        let (repo, number) = found.ok_or_else(|| absent(&missing()))?;
        let entered = call.caller.enter(state, repo, WRITE);
        let at = entered.map_err(|refusal| hidden(refusal, missing()))?;
        Ok::<_, Refusal>((at, number))
    })?;
    call.site.set_draft(at, number, false)
}
