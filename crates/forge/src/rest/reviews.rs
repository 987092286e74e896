//! Reviews and comments on lines.

use crate::{
    acts::{NewInline, NewReview},
    auth::Right,
    call::{Answered, Entered, Routed},
    json,
    refusal::{Refusal, Result},
    rest::of_repo::{OfRepo, number},
    state::{Review, ReviewState, Role, Side, State},
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
        ("GET", ["pulls", n, "reviews", id]) => shown(&read()?, number(n)?, number(id)?)?,
        ("PUT", ["pulls", n, "reviews", id]) => edit(&write()?, number(n)?, number(id)?)?,
        ("POST", ["pulls", n, "reviews", id, "events"]) => submit(&write()?, number(n)?, number(id)?)?,
        ("PUT", ["pulls", n, "reviews", id, "dismissals"]) => dismiss(&write()?, number(n)?, number(id)?)?,
        ("GET", ["pulls", n, "reviews", id, "comments"]) => comments(&read()?, number(n)?, Some(number(id)?))?,
        ("GET", ["pulls", n, "comments"]) => comments(&read()?, number(n)?, None)?,
        _ => return Ok(None),
    }))
}

/// Returns `true` for a pending review of somebody else: lists show these only to their author.
fn is_hidden(call: &Entered<'_>, review: &Review) -> bool {
    review.state == ReviewState::Pending && review.user != call.at.by.user
}

/// Lists all reviews, oldest first.
fn list(call: &Entered<'_>, n: u64) -> Answered {
    call.list(|state, repo| {
        let reviews = state.pull(repo.id, n)?.1.reviews.iter();
        let seen = reviews.filter(|one| !is_hidden(call, one));
        Ok(seen.map(|one| json::review(state, repo, n, one)).collect())
    })
}

fn shown(call: &Entered<'_>, n: u64, id: u64) -> Answered {
    call.show(|state, repo| Ok(json::review(state, repo, n, state.find_review(repo.id, n, id)?)))
}

/// Changes a review and answers with it.
fn changed(call: &Entered<'_>, n: u64, id: u64, alter: impl FnOnce(&mut State) -> Result) -> Answered {
    call.change(alter)?;
    shown(call, n, id)
}

fn inline(value: &Value) -> NewInline {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |field: &str| value.get(field).and_then(Value::as_u64);
    let side = |field: &str| value.get(field).and_then(|side| Side::deserialize(side).ok());
    NewInline {
        path: text("path"),
        line: number("line"),
        side: side("side").unwrap_or(Side::Right),
        start_line: number("start_line"),
        start_side: side("start_side"),
        body: text("body"),
    }
}

async fn make(call: &Entered<'_>, n: u64) -> Answered {
    let comments = call.body.get("comments").and_then(Value::as_array);
    let new = NewReview {
        body: call.text("body").unwrap_or_default(),
        event: call.text("event"),
        commit: call.text("commit_id"),
        comments: comments.into_iter().flatten().map(inline).collect(),
    };
    let id = call.site.review(call.at, n, &new).await?;
    shown(call, n, id)
}

fn edit(call: &Entered<'_>, n: u64, id: u64) -> Answered {
    let body = call.text("body").unwrap_or_default();
    changed(call, n, id, |state| state.edit_review(call.at, n, id, &body))
}

fn submit(call: &Entered<'_>, n: u64, id: u64) -> Answered {
    let event = call.text("event").unwrap_or_default();
    let body = call.text("body");
    changed(call, n, id, |state| {
        state.submit_review(call.at, n, id, &event, body.as_deref())
    })
}

/// Dismisses a review. A person needs the role to write, an App write access to contents.
fn dismiss(call: &Entered<'_>, n: u64, id: u64) -> Answered {
    let message = call.text("message").unwrap_or_default();
    let (repo, by) = (call.at.repo, call.at.by);
    changed(call, n, id, |state| {
        let mut installations = state.installations.values();
        let may = match by.app {
            Some(app) => installations.any(|one| one.app == app && state.covers(one, repo) && one.writes("contents")),
            None => state.role(state.repo(repo)?, by.user) >= Role::Write,
        };
        if !may {
            return Err(Refusal::not_for_integration());
        }
        state.dismiss_review(call.at, n, id, &message)
    })
}

fn comments(call: &Entered<'_>, n: u64, review: Option<u64>) -> Answered {
    call.list(|state, repo| {
        let (_, pull) = state.pull(repo.id, n)?;
        let hidden = |id: u64| pull.reviews.iter().any(|one| one.id == id && is_hidden(call, one));
        let asked = |id: u64| review.is_none_or(|review| review == id);
        let kept = pull
            .threads
            .iter()
            .filter(|one| asked(one.review) && !hidden(one.review));
        Ok(kept.map(|one| json::inline_comment(state, repo, n, one)).collect())
    })
}
