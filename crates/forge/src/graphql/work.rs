//! An issue with the branches and pull requests that were made for it, and the recent acts of people there.

use super::{no_issue, nulled, repository, unfit, variable};
use crate::{
    call::Call,
    json,
    state::{Issue, Moment, Pull, Repo, ReviewState, State, TimelineChange, UserKind},
};
use serde_json::{Value, json as object};

/// See <https://docs.github.com/en/graphql/reference/objects#repository>.
pub(super) const DOCUMENT: &str = "query($login: String!, $repo: String!, $issue: Int!, $branches: String!, \
    $integration: String!, $since: DateTime!) { \
    repository(owner: $login, name: $repo) { isArchived defaultBranchRef { target { oid } } \
    issue(number: $issue) { state timelineItems(last: 100, since: $since, \
    itemTypes: [CLOSED_EVENT, UNLABELED_EVENT, ISSUE_COMMENT]) { nodes { ...entry } } } \
    refs(refPrefix: $branches, first: 100) { nodes { prefix name target { oid } } } \
    tasks: pullRequests(baseRefName: $integration, last: 50) { nodes { ...pull } } \
    features: pullRequests(headRefName: $integration, last: 5) { nodes { ...pull } } } } \
    fragment pull on PullRequest { number state mergedBy { ...actor } timelineItems(last: 50, since: $since, \
    itemTypes: [CLOSED_EVENT, REOPENED_EVENT, ISSUE_COMMENT, PULL_REQUEST_REVIEW]) { nodes { ...entry } } } \
    fragment entry on Node { __typename \
    ... on ClosedEvent { createdAt actor { ...actor } } \
    ... on ReopenedEvent { createdAt actor { ...actor } } \
    ... on UnlabeledEvent { createdAt actor { ...actor } label { name } } \
    ... on IssueComment { fullDatabaseId createdAt author { ...actor } body lastEditedAt } \
    ... on PullRequestReview { fullDatabaseId createdAt author { ...actor } state } } \
    fragment actor on Actor { __typename login ... on User { databaseId } ... on Bot { databaseId } }";

/// The variables of the document.
struct Variables<'c> {
    login: &'c str,
    repo: &'c str,
    issue: u64,
    branches: &'c str,
    integration: &'c str,
    since: Moment,
}

pub(super) fn answer(call: &Call) -> Value {
    match variables(call) {
        Ok(given) => call.site.read(|state| match repository(call, state, given.login, given.repo) {
            Err(refusal) => nulled(object!({"repository": null}), &["repository"], &refusal),
            Ok(repo) => render_repository(state, repo, &given),
        }),
        Err((name, kind)) => unfit(name, kind),
    }
}

fn variables(call: &Call) -> Result<Variables<'_>, (&'static str, &'static str)> {
    let text = |name: &'static str| variable(call, name).as_str().ok_or((name, "String!"));
    let branches = text("branches")?;
    if !branches.starts_with("refs/") || !branches.ends_with('/') {
        return Err(("branches", "String!"));
    }
    let since = text("since")?.parse().map_err(|_| ("since", "DateTime!"))?;
    Ok(Variables {
        login: text("login")?,
        repo: text("repo")?,
        issue: variable(call, "issue").as_u64().ok_or(("issue", "Int!"))?,
        branches,
        integration: text("integration")?,
        since,
    })
}

fn render_repository(state: &State, repo: &Repo, given: &Variables<'_>) -> Value {
    let issue = repo.issues.get(&given.issue).filter(|issue| !issue.is_pull());
    let pulls = |last: usize, fits: &dyn Fn(&Pull) -> bool| {
        let fitting = repo.pulls().rev().filter(|(_, pull)| fits(pull)).take(last);
        let shown: Vec<Value> = fitting.map(|(issue, pull)| render_pull(state, issue, pull, given.since)).collect();
        object!({"nodes": shown})
    };
    let data = object!({"repository": {
        "isArchived": repo.archived,
        "defaultBranchRef": repo.branches.get(&repo.default_branch).map(|oid| object!({"target": {"oid": oid}})),
        "issue": issue.map(|issue| object!({
            "state": if issue.open { "OPEN" } else { "CLOSED" },
            "timelineItems": {"nodes": timeline(state, issue, given.since)},
        })),
        "refs": {"nodes": refs(repo, given.branches)},
        "tasks": pulls(50, &|pull| pull.base == given.integration),
        "features": pulls(5, &|pull| pull.head == given.integration),
    }});
    match issue {
        Some(_) => object!({"data": data}),
        None => nulled(data, &["repository", "issue"], &no_issue(given.issue)),
    }
}

fn refs(repo: &Repo, prefix: &str) -> Vec<Value> {
    let named = repo.branches.iter().filter_map(|(branch, oid)| {
        let full = format!("refs/heads/{branch}");
        let name = full.strip_prefix(prefix)?;
        Some(object!({"prefix": prefix, "name": name, "target": {"oid": oid}}))
    });
    named.collect()
}

fn render_pull(state: &State, issue: &Issue, pull: &Pull, since: Moment) -> Value {
    let word = match (&pull.merged, issue.open) {
        (Some(_), _) => "MERGED",
        (None, true) => "OPEN",
        (None, false) => "CLOSED",
    };
    object!({
        "number": issue.number,
        "state": word,
        "mergedBy": pull.merged.as_ref().map(|merge| actor(state, merge.by)),
        "timelineItems": {"nodes": timeline(state, issue, since)},
    })
}

/// Returns the timeline since then, the oldest entry first.
fn timeline(state: &State, issue: &Issue, since: Moment) -> Vec<Value> {
    let changes = issue.timeline.iter().map(|entry| {
        let (name, label) = match &entry.change {
            TimelineChange::Closed => ("ClosedEvent", None),
            TimelineChange::Reopened => ("ReopenedEvent", None),
            TimelineChange::Unlabeled(label) => ("UnlabeledEvent", Some(object!({"name": label}))),
        };
        let mut shown = object!({"__typename": name, "actor": actor(state, entry.by)});
        if let Some(label) = label {
            json::put(&mut shown, "label", label);
        }
        (entry.at, shown)
    });
    let comments = issue.comments.iter().map(|comment| {
        let mut shown = written("IssueComment", comment.id, actor(state, comment.user));
        json::put(&mut shown, "body", comment.body.as_str());
        let edited = comment.edits.last().map(|edit| json::time(edit.at));
        json::put(&mut shown, "lastEditedAt", edited);
        (comment.created_at, shown)
    });
    let reviews = issue.pull.iter().flat_map(|pull| &pull.reviews).map(|review| {
        let mut shown = written("PullRequestReview", review.id, actor(state, review.user));
        json::put(&mut shown, "state", ReviewState::upper(review.state));
        (review.submitted_at, shown)
    });
    let mut all: Vec<(Moment, Value)> = changes.chain(comments).chain(reviews).collect();
    all.retain(|(at, _)| *at >= since);
    all.sort_by_key(|(at, _)| *at);
    let with_time = |(at, mut shown): (Moment, Value)| {
        json::put(&mut shown, "createdAt", json::time(at));
        shown
    };
    all.into_iter().map(with_time).collect()
}

fn written(name: &str, id: u64, author: Value) -> Value {
    object!({"__typename": name, "fullDatabaseId": id.to_string(), "author": author})
}

/// Returns an account. REST shows an App's bot with `[bot]` at the end of its login, GraphQL without.
fn actor(state: &State, id: u64) -> Value {
    let kind = state.user(id).map_or(UserKind::User, |user| user.kind);
    let mut shown = object!({"__typename": kind, "login": state.login(id).trim_end_matches("[bot]")});
    if kind != UserKind::Organization {
        json::put(&mut shown, "databaseId", id);
    }
    shown
}
