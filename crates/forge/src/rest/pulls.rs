//! Pull requests.

use super::{contents, issues::check_own};
use crate::{
    acts::{IssueChange, MergeOrder, NewPull},
    auth::Right,
    call::{Answer, Answered, RepoCall, Routed},
    json,
    refusal::{Refusal, Result},
    rest::of_repo::{OfRepo, number},
    state::Role,
};
use serde_json::json as object;

const READ: Right = Right::read(&["pull_requests"]);
const WRITE: Right = Right::write(&["pull_requests"], Role::Read);
const MERGE: Right = Right::write(&["contents"], Role::Write);

pub(super) async fn answer(repo: &OfRepo<'_>, rest: &[&str]) -> Routed {
    let read = || repo.enter(READ);
    let write = || repo.enter(WRITE);
    Ok(Some(match (repo.method(), rest) {
        ("GET", ["pulls"]) => list(&read()?)?,
        ("POST", ["pulls"]) => open(&write()?).await?,
        ("GET", ["pulls", n]) => show_pull(&read()?, number(n)?).await?,
        ("PATCH", ["pulls", n]) => change(&write()?, number(n)?).await?,
        ("GET", ["pulls", n, "commits"]) => commits(&read()?, number(n)?).await?,
        ("GET", ["pulls", n, "requested_reviewers"]) => requested(&read()?, number(n)?)?,
        ("POST", ["pulls", n, "requested_reviewers"]) => request(&write()?, number(n)?).await?,
        ("PUT", ["pulls", n, "merge"]) => merge(&repo.enter(MERGE)?, number(n)?).await?,
        _ => return Ok(None),
    }))
}

fn list(call: &RepoCall<'_>) -> Answered {
    call.list(|state, repo| {
        let owner = state.login(repo.owner);
        let wanted = call.query_value("head").map(|head| head.split_once(':').unwrap_or((owner, head)));
        let of_head = |branch: &str| wanted.is_none_or(|(of, head)| head == branch && of.eq_ignore_ascii_case(owner));
        let pulls = repo.pulls().filter(|(issue, _)| call.asks_for(issue.open));
        let kept = pulls.filter(|(_, pull)| of_head(&pull.head));
        let mut rows: Vec<_> = kept.map(|(issue, pull)| json::pull(state, repo, issue, pull)).collect();
        rows.reverse();
        Ok(rows)
    })
}

async fn show_pull(call: &RepoCall<'_>, number: u64) -> Answered {
    let mergeable = call.site.mergeable_now(call.at.repo, number).await?;
    call.show(|state, repo| {
        let (issue, pull) = state.pull(repo.id, number)?;
        Ok(json::single_pull(state, repo, issue, pull, mergeable))
    })
}

async fn open(call: &RepoCall<'_>) -> Answered {
    let need = |field: &str| {
        let missing = || Refusal::invalid("PullRequest", field, "missing_field");
        call.text(field).ok_or_else(missing)
    };
    let new = NewPull {
        title: need("title")?,
        body: call.text("body"),
        head: need("head")?,
        base: need("base")?,
        draft: call.flag("draft"),
    };
    let number = call.site.open_pull(call.at, &new).await?;
    show_pull(call, number).await.map(Answer::into_created)
}

async fn change(call: &RepoCall<'_>, number: u64) -> Answered {
    let change = IssueChange {
        title: call.text("title"),
        body: call.text("body"),
        open: open_asked(call)?,
        base: call.text("base"),
    };
    call.read(|state, repo| check_own(state, call.at, state.issue(repo.id, number)?.user, Role::Triage))?;
    call.site.change_pull(call.at, number, &change).await?;
    show_pull(call, number).await
}

/// Returns the wanted `state` of the body: `true` for open, `false` for closed, `None` if there is no such field.
fn open_asked(call: &RepoCall<'_>) -> Result<Option<bool>> {
    match call.text("state").as_deref() {
        None => Ok(None),
        Some("open") => Ok(Some(true)),
        Some("closed") => Ok(Some(false)),
        Some(_) => Err(Refusal::invalid("PullRequest", "state", "invalid")),
    }
}

async fn commits(call: &RepoCall<'_>, number: u64) -> Answered {
    let (base, head) = call.read(|state, repo| {
        let (_, pull) = state.pull(repo.id, number)?;
        Ok((pull.base_sha.clone(), pull.head_sha.clone()))
    })?;
    let list = call.bare().commits(Some(&base), &head, 250).await?;
    call.list(|state, repo| {
        let shown = list.iter().map(|commit| contents::commit_json(state, repo, commit));
        Ok(shown.collect())
    })
}

fn requested(call: &RepoCall<'_>, number: u64) -> Answered {
    call.show(|state, repo| {
        let (_, pull) = state.pull(repo.id, number)?;
        Ok(object!({"users": json::requested(state, pull), "teams": []}))
    })
}

async fn request(call: &RepoCall<'_>, number: u64) -> Answered {
    let logins = call.texts("reviewers").unwrap_or_default();
    call.change(|state| state.request_review(call.at, number, &logins))?;
    show_pull(call, number).await.map(Answer::into_created)
}

async fn merge(call: &RepoCall<'_>, number: u64) -> Answered {
    let order = MergeOrder {
        sha: call.text("sha"),
        method: call.text("merge_method"),
        title: call.text("commit_title"),
        message: call.text("commit_message"),
    };
    let sha = call.site.merge(call.at, number, &order).await?;
    let done = object!({"sha": sha, "merged": true, "message": "Pull Request successfully merged"});
    Ok(Answer::ok(done))
}
