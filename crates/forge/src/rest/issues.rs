//! Issues, their comments, labels and reactions.

use super::{
    super::{
        acts::{IssueChange, Target},
        auth::Right,
        call::{Answer, Answered, Call},
        json,
        refusal::Refusal,
        state::{Actor, Issue, Role, State},
    },
    number,
};
use serde_json::Value;

const READ: Right = Right::read(&["issues", "pull_requests"]);
const TALK: Right = Right::write(&["issues", "pull_requests"], Role::Read);

pub(super) fn answer(call: &Call, method: &str, owner: &str, name: &str, rest: &[&str]) -> Option<Answered> {
    let enter = |right: Right| call.enter(owner, name, right);
    Some(match (method, rest) {
        ("GET", ["issues"]) => enter(READ).and_then(|(repo, _)| list(call, repo)),
        ("POST", ["issues"]) => enter(TALK).and_then(|(repo, by)| open(call, repo, by)),
        ("GET", ["issues", "comments"]) => enter(READ).and_then(|(repo, _)| all_comments(call, repo)),
        // GitHub takes POST for PATCH here, and octocrab sends it.
        ("GET" | "PATCH" | "POST" | "DELETE", ["issues", "comments", id]) => {
            let right = if method == "GET" { READ } else { TALK };
            enter(right).and_then(|(repo, by)| one_comment(call, method, repo, by, number(id)?))
        }
        ("POST", ["issues", "comments", id, "reactions"]) => {
            enter(TALK).and_then(|(repo, by)| react(call, repo, by, Target::Comment(number(id)?)))
        }
        ("GET", ["issues", "comments", id, "reactions"]) => {
            enter(READ).and_then(|(repo, _)| reactions(call, repo, Target::Comment(number(id)?)))
        }
        ("GET", ["issues", n]) => enter(READ).and_then(|(repo, _)| shown(call, repo, number(n)?)),
        ("PATCH", ["issues", n]) => enter(TALK).and_then(|(repo, by)| change(call, repo, by, number(n)?)),
        ("GET", ["issues", n, "comments"]) => enter(READ).and_then(|(repo, _)| comments(call, repo, number(n)?)),
        ("POST", ["issues", n, "comments"]) => enter(TALK).and_then(|(repo, by)| comment(call, repo, by, number(n)?)),
        ("POST", ["issues", n, "reactions"]) => {
            enter(TALK).and_then(|(repo, by)| react(call, repo, by, Target::Issue(number(n)?)))
        }
        ("GET", ["issues", n, "reactions"]) => {
            enter(READ).and_then(|(repo, _)| reactions(call, repo, Target::Issue(number(n)?)))
        }
        _ => return None,
    })
}

fn shown(call: &Call, repo: u64, number: u64) -> Answered {
    call.site.read(|state| {
        Ok(Answer::ok(json::issue(
            state,
            state.repo(repo)?,
            state.issue(repo, number)?,
        )))
    })
}

/// Whether a text of GitHub's time form is not after `at`.
fn since(call: &Call, at: super::super::state::Moment) -> bool {
    let asked = call
        .asked("since")
        .and_then(|text| chrono::DateTime::parse_from_rfc3339(text).ok());
    asked.is_none_or(|since| at >= since)
}

fn list(call: &Call, repo: u64) -> Answered {
    let wanted = call.asked("state").unwrap_or("open");
    let labels: Vec<&str> = call
        .asked("labels")
        .unwrap_or_default()
        .split(',')
        .filter(|name| !name.is_empty())
        .collect();
    let fits = |issue: &&Issue| {
        (wanted == "all" || issue.open == (wanted == "open"))
            && labels
                .iter()
                .all(|name| issue.labels.iter().any(|own| own.eq_ignore_ascii_case(name)))
            && since(call, issue.updated_at)
    };
    let ascending = call.asked("direction") == Some("asc");
    let rows = call.site.read(|state| {
        let repo = state.repo(repo)?;
        let mut issues: Vec<&Issue> = repo.issues.values().filter(fits).collect();
        if !ascending {
            issues.reverse();
        }
        Ok::<_, Refusal>(
            issues
                .into_iter()
                .map(|issue| json::issue(state, repo, issue))
                .collect(),
        )
    })?;
    Ok(call.page(rows))
}

fn open(call: &Call, repo: u64, by: Actor) -> Answered {
    let title = call.text("title").unwrap_or_default();
    let labels = call.texts("labels").unwrap_or_default();
    let made = call
        .site
        .change(|state| state.open_issue(by, repo, &title, call.text("body").as_deref(), &labels));
    let answer = shown(call, repo, made?)?;
    Ok(Answer { status: 201, ..answer })
}

fn change(call: &Call, repo: u64, by: Actor, number: u64) -> Answered {
    let open = match call.text("state").as_deref() {
        Some("open") => Some(true),
        Some("closed") => Some(false),
        Some(_) => return Err(Refusal::invalid("Issue", "state", "invalid")),
        None => None,
    };
    let change = IssueChange {
        title: call.text("title"),
        body: call.text("body"),
        open,
        reason: call.text("state_reason"),
        labels: call.texts("labels"),
    };
    call.site.change(|state| {
        if by.app.is_none() {
            let own = state.issue(repo, number)?.user == by.user;
            let role = state.role(state.repo(repo)?, by.user);
            if !own && role < Role::Triage {
                return Err(Refusal::lacks_role("triage"));
            }
        }
        state.change_issue(by, repo, number, &change)
    })?;
    shown(call, repo, number)
}

fn comments(call: &Call, repo: u64, number: u64) -> Answered {
    let rows = call.site.read(|state| {
        let (repo, issue) = (state.repo(repo)?, state.issue(repo, number)?);
        let kept = issue.comments.iter().filter(|one| since(call, one.updated_at));
        Ok::<_, Refusal>(kept.map(|one| json::comment(state, repo, issue, one)).collect())
    })?;
    Ok(call.page(rows))
}

fn all_comments(call: &Call, repo: u64) -> Answered {
    let rows = call.site.read(|state| {
        let repo = state.repo(repo)?;
        let all = repo
            .issues
            .values()
            .flat_map(|issue| issue.comments.iter().map(move |one| (issue, one)));
        let kept = all.filter(|(_, one)| since(call, one.updated_at));
        Ok::<_, Refusal>(
            kept.map(|(issue, one)| json::comment(state, repo, issue, one))
                .collect(),
        )
    })?;
    Ok(call.page(rows))
}

fn comment(call: &Call, repo: u64, by: Actor, number: u64) -> Answered {
    let body = call.text("body").unwrap_or_default();
    let id = call.site.change(|state| state.comment(by, repo, number, &body))?;
    let shown = call.site.read(|state| comment_json(state, repo, id))?;
    Ok(Answer::created(shown))
}

fn comment_json(state: &State, repo: u64, id: u64) -> Result<Value, Refusal> {
    let (number, comment) = state.find_comment(repo, id)?;
    Ok(json::comment(
        state,
        state.repo(repo)?,
        state.issue(repo, number)?,
        comment,
    ))
}

fn one_comment(call: &Call, method: &str, repo: u64, by: Actor, id: u64) -> Answered {
    let may_touch = |state: &State| {
        let author = state.find_comment(repo, id)?.1.user;
        let role = state.role(state.repo(repo)?, by.user);
        // Apps change whatever their permission covers; people their own, or anyone's with the role.
        if by.app.is_some() || author == by.user || role >= Role::Write {
            return Ok(());
        }
        Err(Refusal::lacks_role("write"))
    };
    match method {
        "PATCH" | "POST" => {
            let body = call
                .text("body")
                .ok_or_else(|| Refusal::invalid("IssueComment", "body", "missing_field"))?;
            call.site.change(|state| {
                may_touch(state)?;
                state.edit_comment(by, repo, id, &body)
            })?;
        }
        "DELETE" => {
            call.site.change(|state| {
                may_touch(state)?;
                state.delete_comment(by, repo, id)
            })?;
            return Ok(Answer::nothing());
        }
        _ => {}
    }
    Ok(Answer::ok(call.site.read(|state| comment_json(state, repo, id))?))
}

fn react(call: &Call, repo: u64, by: Actor, target: Target) -> Answered {
    let content = call.text("content").unwrap_or_default();
    let (reaction, fresh) = call.site.change(|state| state.react(by, repo, target, &content))?;
    let shown = call.site.read(|state| json::reaction(state, &reaction));
    Ok(Answer::with(if fresh { 201 } else { 200 }, shown))
}

fn reactions(call: &Call, repo: u64, target: Target) -> Answered {
    let rows = call.site.read(|state| {
        let list = match target {
            Target::Issue(number) => &state.issue(repo, number)?.reactions,
            Target::Comment(id) => &state.find_comment(repo, id)?.1.reactions,
        };
        Ok::<_, Refusal>(list.iter().map(|one| json::reaction(state, one)).collect())
    })?;
    Ok(call.page(rows))
}
