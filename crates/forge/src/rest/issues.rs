//! Issues, their comments and reactions.

use crate::{
    acts::Target,
    auth::Right,
    call::{Answer, Answered, Call, RepoCall, Routed},
    json,
    refusal::{Refusal, Result},
    rest::of_repo::{OfRepo, number},
    state::{Access, Moment, Role, State},
};

const READ: Right = Right::read(&["issues", "pull_requests"]);
const TALK: Right = Right::write(&["issues", "pull_requests"], Role::Read);

pub(super) fn answer(repo: &OfRepo<'_>, rest: &[&str]) -> Routed {
    let read = || repo.enter(READ);
    let talk = || repo.enter(TALK);
    Ok(Some(match (repo.method(), rest) {
        ("GET", ["issues"]) => list(&read()?)?,
        ("GET", ["issues", "comments", id]) => comment(&read()?, number(id)?)?,
        // GitHub accepts POST for PATCH here, and octocrab sends it.
        ("PATCH" | "POST", ["issues", "comments", id]) => edit_comment(&talk()?, number(id)?)?,
        ("POST", ["issues", "comments", id, "reactions"]) => react(&talk()?, Target::Comment(number(id)?))?,
        ("GET", ["issues", "comments", id, "reactions"]) => reactions(&read()?, Target::Comment(number(id)?))?,
        ("GET", ["issues", n]) => show_issue(&read()?, number(n)?)?,
        ("GET", ["issues", n, "comments"]) => comments(&read()?, number(n)?)?,
        ("POST", ["issues", n, "comments"]) => create_comment(&talk()?, number(n)?)?,
        ("POST", ["issues", n, "reactions"]) => react(&talk()?, Target::Issue(number(n)?))?,
        ("GET", ["issues", n, "reactions"]) => reactions(&read()?, Target::Issue(number(n)?))?,
        _ => return Ok(None),
    }))
}

fn show_issue(call: &RepoCall<'_>, number: u64) -> Answered {
    call.show(|state, repo| Ok(json::issue(state, repo, state.issue(repo.id, number)?)))
}

/// Returns `true` if `at` is not before the query's `since`.
fn since(call: &Call, at: Moment) -> bool {
    let asked = call.query_value("since");
    let asked = asked.and_then(|text| chrono::DateTime::parse_from_rfc3339(text).ok());
    asked.is_none_or(|since| at >= since)
}

fn list(call: &RepoCall<'_>) -> Answered {
    call.list(|state, repo| {
        let issues = repo.issues.values().filter(|issue| call.asks_for(issue.open));
        let mut rows: Vec<_> = issues.map(|issue| json::issue(state, repo, issue)).collect();
        if call.query_value("direction") != Some("asc") {
            rows.reverse();
        }
        Ok(rows)
    })
}

/// Refuses people below this role who want to change other people's texts. Apps may change everything that their
/// permission covers.
pub(super) fn check_own(state: &State, at: Access, author: u64, role: Role) -> Result {
    if at.by.app.is_some() || author == at.by.user || state.role(state.repo(at.repo)?, at.by.user) >= role {
        return Ok(());
    }
    Err(Refusal::lacks_role(role.name()))
}

fn comments(call: &RepoCall<'_>, number: u64) -> Answered {
    call.list(|state, repo| {
        let issue = state.issue(repo.id, number)?;
        let kept = issue.comments.iter().filter(|one| since(call, one.updated_at));
        Ok(kept.map(|one| json::comment(state, repo, issue, one)).collect())
    })
}

fn create_comment(call: &RepoCall<'_>, number: u64) -> Answered {
    let body = call.text("body").unwrap_or_default();
    let id = call.change(|state| state.comment(call.at, number, &body))?;
    comment(call, id).map(Answer::into_created)
}

fn comment(call: &RepoCall<'_>, id: u64) -> Answered {
    call.show(|state, repo| {
        let (number, comment) = state.find_comment(repo.id, id)?;
        Ok(json::comment(state, repo, state.issue(repo.id, number)?, comment))
    })
}

fn edit_comment(call: &RepoCall<'_>, id: u64) -> Answered {
    let body = call.text("body");
    let body = body.ok_or_else(|| Refusal::invalid("IssueComment", "body", "missing_field"))?;
    call.change(|state| {
        let author = state.find_comment(call.at.repo, id)?.1.user;
        check_own(state, call.at, author, Role::Write)?;
        state.edit_comment(call.at, id, &body)
    })?;
    comment(call, id)
}

fn react(call: &RepoCall<'_>, target: Target) -> Answered {
    let content = call.text("content").unwrap_or_default();
    call.change(|state| {
        let (reaction, fresh) = state.react(call.at, target, &content)?;
        let status = if fresh { 201 } else { 200 };
        Ok(Answer::with(status, json::reaction(state, &reaction)))
    })
}

fn reactions(call: &RepoCall<'_>, target: Target) -> Answered {
    call.list(|state, repo| {
        let list = match target {
            Target::Issue(number) => &state.issue(repo.id, number)?.reactions,
            Target::Comment(id) => &state.find_comment(repo.id, id)?.1.reactions,
        };
        Ok(list.iter().map(|one| json::reaction(state, one)).collect())
    })
}
