//! Reviews and comments on lines.

use crate::{
    acts::{NewInline, NewReview},
    auth::Right,
    call::{Answered, RepoCall, Routed},
    json,
    refusal::Refusal,
    rest::of_repo::{OfRepo, number},
    state::{DiffSide, Role},
};
use serde::Deserialize;
use serde_json::Value;

const READ: Right = Right::read(&["pull_requests"]);
const WRITE: Right = Right::write(&["pull_requests"], Role::Read);

pub(super) async fn answer(repo: &OfRepo<'_>, rest: &[&str]) -> Routed {
    let read = || repo.enter(READ);
    let write = || repo.enter(WRITE);
    Ok(Some(match (repo.method(), rest) {
        ("GET", ["pulls", n, "reviews"]) => list(&read()?, number(n)?)?,
        ("POST", ["pulls", n, "reviews"]) => make(&write()?, number(n)?).await?,
        ("GET", ["pulls", n, "reviews", id]) => show_review(&read()?, number(n)?, number(id)?)?,
        ("PUT", ["pulls", n, "reviews", id, "dismissals"]) => dismiss(&write()?, number(n)?, number(id)?)?,
        ("GET", ["pulls", n, "comments"]) => comments(&read()?, number(n)?)?,
        _ => return Ok(None),
    }))
}

/// Lists all reviews, oldest first.
fn list(call: &RepoCall<'_>, n: u64) -> Answered {
    call.list(|state, repo| {
        let reviews = state.pull(repo.id, n)?.1.reviews.iter();
        Ok(reviews.map(|one| json::review(state, repo, n, one)).collect())
    })
}

fn show_review(call: &RepoCall<'_>, n: u64, id: u64) -> Answered {
    call.show(|state, repo| Ok(json::review(state, repo, n, state.find_review(repo.id, n, id)?)))
}

fn inline(value: &Value) -> NewInline {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |field: &str| value.get(field).and_then(Value::as_u64);
    let side = |field: &str| value.get(field).and_then(|side| DiffSide::deserialize(side).ok());
    NewInline {
        path: text("path"),
        line: number("line"),
        side: side("side").unwrap_or(DiffSide::Right),
        start_line: number("start_line"),
        start_side: side("start_side"),
        body: text("body"),
    }
}

async fn make(call: &RepoCall<'_>, n: u64) -> Answered {
    let comments = call.body.get("comments").and_then(Value::as_array);
    let new = NewReview {
        body: call.text("body").unwrap_or_default(),
        event: call.text("event").unwrap_or_default(),
        commit: call.text("commit_id"),
        comments: comments.into_iter().flatten().map(inline).collect(),
    };
    let id = call.site.review(call.at, n, &new).await?;
    show_review(call, n, id)
}

/// Dismisses a review. A person needs the role to write, an App write access to contents.
fn dismiss(call: &RepoCall<'_>, n: u64, id: u64) -> Answered {
    let message = call.text("message").unwrap_or_default();
    let (repo, by) = (call.at.repo, call.at.by);
    call.change(|state| {
        let mut installations = state.installations.values();
        let may = match by.app {
            Some(app) => installations.any(|one| one.app == app && state.covers(one, repo) && one.writes("contents")),
            None => state.role(state.repo(repo)?, by.user) >= Role::Write,
        };
        if !may {
            return Err(Refusal::not_for_integration());
        }
        state.dismiss_review(call.at, n, id, &message)
    })?;
    show_review(call, n, id)
}

fn comments(call: &RepoCall<'_>, n: u64) -> Answered {
    call.list(|state, repo| {
        let threads = state.pull(repo.id, n)?.1.threads.iter();
        Ok(threads.map(|one| json::inline_comment(state, repo, n, one)).collect())
    })
}
