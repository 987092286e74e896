//! The few GraphQL operations that REST has no equal for. Queries are recognised by the names in them, not parsed: an
//! operation that is not listed here is unknown to the forge.

use super::auth::Right;
use super::call::Answer;
use super::call::Answered;
use super::call::Call;
use super::json;
use super::refusal::Refusal;
use super::state::Actor;
use super::state::Edit;
use super::state::Role;
use super::state::State;
use serde_json::Value;
use serde_json::json as object;

const WRITE: Right = Right::write(&["pull_requests"], Role::Write);
const READ: Right = Right::read(&["issues", "pull_requests"]);

/// Answers a query or mutation; none: the forge does not know it.
pub(super) async fn answer(call: &Call) -> Option<Answered> {
    if call.method != "POST" {
        return None;
    }
    if call.caller.user().is_none() {
        return Some(Err(Refusal::new(
            401,
            "This endpoint requires you to be authenticated.",
        )));
    }
    let query = call.text("query")?;
    let has = |word: &str| words(&query).any(|known| known == word);
    let result = if has("markPullRequestReadyForReview") {
        set_draft(call, &query, "markPullRequestReadyForReview", false)
    } else if has("convertPullRequestToDraft") {
        set_draft(call, &query, "convertPullRequestToDraft", true)
    } else if has("node") && has("lastEditedAt") {
        node(call, &query)
    } else if has("repository") && has("issue") && has("lastEditedAt") {
        issue_of_repository(call, &query)
    } else {
        return None;
    };
    Some(Ok(Answer::ok(result.unwrap_or_else(|refusal| errors(&refusal)))))
}

fn words(query: &str) -> impl Iterator<Item = &str> {
    query
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
}

/// GraphQL tells of refusals in an answer of status 200.
fn errors(refusal: &Refusal) -> Value {
    let kind = match refusal.status {
        403 => "FORBIDDEN",
        404 => "NOT_FOUND",
        _ => "UNPROCESSABLE",
    };
    object!({"data": null, "errors": [{"type": kind, "message": refusal.message, "path": []}]})
}

/// The value of an argument: a variable of any name or a literal in the query.
fn argument(call: &Call, query: &str, name: &str) -> Option<Value> {
    let key = format!("{name}:");
    // The declaration of a variable `$name:` is no argument, nor is a longer name that ends alike.
    let places = query.match_indices(&key).map(|(at, _)| at);
    let from = places.into_iter().find(|at| {
        let before = query.get(..*at).and_then(|text| text.chars().next_back());
        before.is_none_or(|letter| letter != '$' && letter != '_' && !letter.is_alphanumeric())
    })?;
    let rest = query.get(from + key.len()..)?.trim_start();
    if let Some(variable) = rest.strip_prefix('$') {
        let key: String = variable
            .chars()
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect();
        return call.body.get("variables")?.get(key).cloned();
    }
    if let Some(text) = rest.strip_prefix('"') {
        return text.split('"').next().map(Value::from);
    }
    let literal: String = rest.chars().take_while(char::is_ascii_digit).collect();
    literal.parse::<u64>().ok().map(Value::from)
}

/// The argument `name`, directly or inside an `input` variable.
fn text_argument(call: &Call, query: &str, name: &str) -> Option<String> {
    let direct = argument(call, query, name).and_then(|value| value.as_str().map(str::to_owned));
    let inside = || argument(call, query, "input")?.get(name)?.as_str().map(str::to_owned);
    direct.or_else(inside)
}

fn unresolved(id: &str) -> Refusal {
    Refusal::new(404, format!("Could not resolve to a node with the global id of '{id}'"))
}

fn set_draft(call: &Call, query: &str, operation: &str, draft: bool) -> Result<Value, Refusal> {
    let id = text_argument(call, query, "pullRequestId").unwrap_or_default();
    let (repo, number, by) = call.site.read(|state| {
        let found = state.repos.values().find_map(|repo| {
            let mut pulls = repo
                .issues
                .values()
                .filter_map(|issue| issue.pull.as_ref().map(|pull| (issue, pull)));
            pulls
                .find(|(_, pull)| format!("PR_{}", pull.id) == id)
                .map(|(issue, _)| (repo.id, issue.number))
        });
        let (repo, number) = found.ok_or_else(|| unresolved(&id))?;
        Ok::<_, Refusal>((repo, number, call.caller.enter(state, repo, WRITE)?))
    })?;
    call.site.set_draft(by, repo, number, draft)?;
    call.site.read(|state| {
        let (issue, pull) = state.pull(repo, number)?;
        let shown = object!({
            "id": id, "number": number, "isDraft": pull.draft, "headRefOid": pull.head_sha,
            "title": issue.title, "state": if issue.open { "OPEN" } else { "CLOSED" },
            "url": format!("{}/pull/{number}", state.repo_page(state.repo(repo)?)),
        });
        let mut data = object!({});
        json::put(
            &mut data,
            operation,
            object!({"pullRequest": shown, "clientMutationId": null}),
        );
        Ok(object!({"data": data}))
    })
}

/// What GraphQL alone tells of a text's changes.
fn edited(state: &State, edits: &[Edit]) -> Value {
    let editor = |edit: &Edit| object!({"login": state.login(edit.editor).trim_end_matches("[bot]")});
    let nodes: Vec<Value> = edits
        .iter()
        .rev()
        .map(|edit| {
            object!({
                "createdAt": json::time(edit.at), "editedAt": json::time(edit.at), "updatedAt": json::time(edit.at),
                "deletedAt": null, "editor": editor(edit), "diff": edit.text,
            })
        })
        .collect();
    object!({
        "lastEditedAt": edits.last().map(|edit| json::time(edit.at)),
        "includesCreatedEdit": !edits.is_empty(),
        "editor": edits.last().map(editor),
        "userContentEdits": {"totalCount": nodes.len(), "nodes": nodes, "pageInfo": {"hasNextPage": false}},
    })
}

fn node(call: &Call, query: &str) -> Result<Value, Refusal> {
    let id = text_argument(call, query, "id").ok_or_else(|| unresolved(""))?;
    call.site.read(|state| {
        let shown = state.repos.values().find_map(|repo| {
            repo.issues.values().find_map(|issue| {
                if format!("I_{}", issue.id) == id {
                    let base = object!({"id": id, "number": issue.number, "title": issue.title, "body": issue.body});
                    return Some((repo.id, "Issue", base, issue.edits.as_slice()));
                }
                let comment = issue
                    .comments
                    .iter()
                    .find(|comment| format!("IC_{}", comment.id) == id)?;
                let base = object!({"id": id, "databaseId": comment.id, "body": comment.body});
                Some((repo.id, "IssueComment", base, comment.edits.as_slice()))
            })
        });
        let (repo, kind, mut shown, edits) = shown.ok_or_else(|| unresolved(&id))?;
        let _: Actor = call.caller.enter(state, repo, READ)?;
        json::put(&mut shown, "__typename", object!(kind));
        json::extend(&mut shown, edited(state, edits));
        Ok(object!({"data": {"node": shown}}))
    })
}

fn issue_of_repository(call: &Call, query: &str) -> Result<Value, Refusal> {
    let text = |name: &str| text_argument(call, query, name).unwrap_or_default();
    let number = argument(call, query, "number")
        .and_then(|value| value.as_u64())
        .unwrap_or_default();
    call.site.read(|state| {
        let missing = || Refusal::new(404, "Could not resolve to a Repository");
        let repo = state.repo_named(&text("owner"), &text("name")).ok_or_else(missing)?;
        let _: Actor = call.caller.enter(state, repo.id, READ)?;
        let issue = state.issue(repo.id, number)?;
        let mut shown = object!({
            "id": format!("I_{}", issue.id), "databaseId": issue.id, "number": number, "title": issue.title, "body": issue.body,
        });
        json::extend(&mut shown, edited(state, &issue.edits));
        Ok(object!({"data": {"repository": {"id": format!("R_{}", repo.id), "issue": shown}}}))
    })
}
