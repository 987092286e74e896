//! Reviews and comments on lines.

use super::{
    super::{
        acts::{NewInline, NewReview},
        auth::Right,
        call::{Answer, Answered, Call},
        json,
        refusal::Refusal,
        state::{Actor, ReviewState, Role, Side},
    },
    number,
};
use serde_json::Value;

const READ: Right = Right::read(&["pull_requests"]);
const WRITE: Right = Right::write(&["pull_requests"], Role::Read);

pub(super) async fn answer(call: &Call, method: &str, owner: &str, name: &str, rest: &[&str]) -> Option<Answered> {
    let right = if method == "GET" { READ } else { WRITE };
    let (repo, by) = match call.enter(owner, name, right) {
        Ok(entered) => entered,
        Err(refusal) => return Some(Err(refusal)),
    };
    Some(match (method, rest) {
        ("GET", ["pulls", n, "reviews"]) => number(n).and_then(|n| list(call, repo, by, n)),
        ("POST", ["pulls", n, "reviews"]) => match number(n) {
            Ok(n) => make(call, repo, by, n).await,
            Err(refusal) => Err(refusal),
        },
        ("GET", ["pulls", n, "reviews", id]) => both(n, id).and_then(|(n, id)| shown(call, repo, n, id)),
        ("PUT", ["pulls", n, "reviews", id]) => both(n, id).and_then(|(n, id)| edit(call, repo, by, n, id)),
        ("POST", ["pulls", n, "reviews", id, "events"]) => {
            both(n, id).and_then(|(n, id)| submit(call, repo, by, n, id))
        }
        ("PUT", ["pulls", n, "reviews", id, "dismissals"]) => {
            both(n, id).and_then(|(n, id)| dismiss(call, repo, by, n, id))
        }
        ("GET", ["pulls", n, "reviews", id, "comments"]) => {
            both(n, id).and_then(|(n, id)| comments(call, repo, by, n, Some(id)))
        }
        ("GET", ["pulls", n, "comments"]) => number(n).and_then(|n| comments(call, repo, by, n, None)),
        _ => return None,
    })
}

fn both(n: &str, id: &str) -> Result<(u64, u64), Refusal> {
    Ok((number(n)?, number(id)?))
}

/// All reviews, oldest first; pending ones are their authors' secret.
fn list(call: &Call, repo: u64, by: Actor, n: u64) -> Answered {
    let rows = call.site.read(|state| {
        let (known, (_, pull)) = (state.repo(repo)?, state.pull(repo, n)?);
        let seen = pull
            .reviews
            .iter()
            .filter(|one| one.state != ReviewState::Pending || one.user == by.user);
        Ok::<_, Refusal>(seen.map(|one| json::review(state, known, n, one)).collect())
    })?;
    Ok(call.page(rows))
}

fn shown(call: &Call, repo: u64, n: u64, id: u64) -> Answered {
    call.site.read(|state| {
        let review = state.find_review(repo, n, id)?;
        Ok(Answer::ok(json::review(state, state.repo(repo)?, n, review)))
    })
}

fn side(value: Option<&Value>) -> Option<Side> {
    match value.and_then(Value::as_str) {
        Some("LEFT") => Some(Side::Left),
        Some("RIGHT") => Some(Side::Right),
        _ => None,
    }
}

fn inline(value: &Value) -> NewInline {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    NewInline {
        path: text("path"),
        line: value.get("line").and_then(Value::as_u64),
        side: side(value.get("side")).unwrap_or(Side::Right),
        start_line: value.get("start_line").and_then(Value::as_u64),
        start_side: side(value.get("start_side")),
        body: text("body"),
    }
}

async fn make(call: &Call, repo: u64, by: Actor, n: u64) -> Answered {
    let comments = call.body.get("comments").and_then(Value::as_array);
    let new = NewReview {
        body: call.text("body").unwrap_or_default(),
        event: call.text("event"),
        commit: call.text("commit_id"),
        comments: comments.into_iter().flatten().map(inline).collect(),
    };
    let id = call.site.review(by, repo, n, &new).await?;
    shown(call, repo, n, id)
}

fn edit(call: &Call, repo: u64, by: Actor, n: u64, id: u64) -> Answered {
    let body = call.text("body").unwrap_or_default();
    call.site.change(|state| state.edit_review(by, repo, n, id, &body))?;
    shown(call, repo, n, id)
}

fn submit(call: &Call, repo: u64, by: Actor, n: u64, id: u64) -> Answered {
    let event = call.text("event").unwrap_or_default();
    let body = call.text("body");
    call.site
        .change(|state| state.submit_review(by, repo, n, id, &event, body.as_deref()))?;
    shown(call, repo, n, id)
}

/// Only who may write to the repository dismisses; an App by its permission on contents.
fn dismiss(call: &Call, repo: u64, by: Actor, n: u64, id: u64) -> Answered {
    let message = call.text("message").unwrap_or_default();
    call.site.change(|state| {
        let known = state.repo(repo)?;
        let writes = |level: Option<&String>| level.is_some_and(|level| level == "write");
        let may = match by.app {
            Some(app) => state
                .installations
                .values()
                .any(|one| one.app == app && state.covers(one, repo) && writes(one.permissions.get("contents"))),
            None => state.role(known, by.user) >= Role::Write,
        };
        match may {
            true => state.dismiss_review(by, repo, n, id, &message),
            false => Err(Refusal::not_for_integration()),
        }
    })?;
    shown(call, repo, n, id)
}

fn comments(call: &Call, repo: u64, by: Actor, n: u64, review: Option<u64>) -> Answered {
    let rows = call.site.read(|state| {
        let (known, (_, pull)) = (state.repo(repo)?, state.pull(repo, n)?);
        let hidden = |id: u64| {
            pull.reviews
                .iter()
                .any(|one| one.id == id && one.state == ReviewState::Pending && one.user != by.user)
        };
        let kept = pull
            .threads
            .iter()
            .filter(|one| review.is_none_or(|id| one.review == id) && !hidden(one.review));
        Ok::<_, Refusal>(kept.map(|one| json::inline_comment(state, known, n, one)).collect())
    })?;
    Ok(call.page(rows))
}
