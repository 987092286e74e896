//! Pull requests, reviews, comments on lines.

use super::issue::{association, labels};
use crate::{
    json::fields::{extend, time},
    state::{InlineComment, Issue, Pull, Repo, Review, State},
};
use serde_json::{Value, json};

/// Returns a pull request as lists show it.
pub(crate) fn pull(state: &State, repo: &Repo, issue: &Issue, pull: &Pull) -> Value {
    let api = format!("{}/pulls/{}", state.repo_api(repo), issue.number);
    let issue_api = format!("{}/issues/{}", state.repo_api(repo), issue.number);
    let page = format!("{}/pull/{}", state.repo_page(repo), issue.number);
    let mut value = json!({
        "url": api,
        "id": pull.id,
        "node_id": format!("PR_{}", pull.id),
        "html_url": page,
        "diff_url": format!("{page}.diff"),
        "patch_url": format!("{page}.patch"),
        "issue_url": issue_api,
        "number": issue.number,
        "state": if issue.open { "open" } else { "closed" },
        "locked": false,
        "title": issue.title,
        "user": state.user_json(issue.user),
        "body": issue.body,
        "created_at": time(issue.created_at),
        "updated_at": time(issue.updated_at),
        "closed_at": issue.closed_at.map(time),
        "merged_at": pull.merged.as_ref().map(|merge| time(merge.at)),
        "merge_commit_sha": pull.merged.as_ref().map(|merge| merge.sha.clone()),
        "assignee": null, "assignees": [], "requested_reviewers": requested(state, pull), "requested_teams": [],
        "labels": labels(state, repo, issue),
        "milestone": null,
        "draft": pull.draft,
    });
    extend(&mut value, surroundings(state, repo, issue, pull));
    value
}

/// Returns the people whose review is requested.
pub(crate) fn requested(state: &State, pull: &Pull) -> Vec<Value> {
    pull.requested.iter().map(|user| state.user_json(*user)).collect()
}

/// Returns the head and base of a pull request and its related addresses.
fn surroundings(state: &State, repo: &Repo, issue: &Issue, pull: &Pull) -> Value {
    let api = format!("{}/pulls/{}", state.repo_api(repo), issue.number);
    let issue_api = format!("{}/issues/{}", state.repo_api(repo), issue.number);
    let page = format!("{}/pull/{}", state.repo_page(repo), issue.number);
    let statuses = format!("{}/statuses/{}", state.repo_api(repo), pull.head_sha);
    json!({
        "commits_url": format!("{api}/commits"),
        "review_comments_url": format!("{api}/comments"),
        "review_comment_url": format!("{}/pulls/comments{{/number}}", state.repo_api(repo)),
        "comments_url": format!("{issue_api}/comments"),
        "statuses_url": statuses,
        "head": end(state, repo, &pull.head, &pull.head_sha),
        "base": end(state, repo, &pull.base, &pull.base_sha),
        "_links": {
            "self": {"href": api}, "html": {"href": page}, "issue": {"href": issue_api},
            "comments": {"href": format!("{issue_api}/comments")},
            "review_comments": {"href": format!("{api}/comments")},
            "review_comment": {"href": format!("{}/pulls/comments{{/number}}", state.repo_api(repo))},
            "commits": {"href": format!("{api}/commits")}, "statuses": {"href": statuses},
        },
        "author_association": association(state, repo, issue.user),
        "auto_merge": null,
        "active_lock_reason": null,
    })
}

/// Returns a pull request with the fields that only a single one carries. `mergeable` is `None` if git was not asked.
pub(crate) fn single_pull(state: &State, repo: &Repo, issue: &Issue, one: &Pull, mergeable: Option<bool>) -> Value {
    let mergeable = mergeable.filter(|_| issue.open);
    let word = match mergeable {
        None => "unknown",
        Some(false) => "dirty",
        Some(true) if one.draft => "draft",
        Some(true) => "clean",
    };
    let more = json!({
        "merged": one.merged.is_some(),
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": word,
        "merged_by": one.merged.as_ref().map(|merge| state.user_json(merge.by)),
        "comments": issue.comments.len(),
        "review_comments": one.threads.len(),
        "maintainer_can_modify": false,
        "commits": one.size.commits,
        "additions": one.size.additions,
        "deletions": one.size.deletions,
        "changed_files": one.size.files,
    });
    let mut value = pull(state, repo, issue, one);
    extend(&mut value, more);
    value
}

fn end(state: &State, repo: &Repo, branch: &str, sha: &str) -> Value {
    json!({
        "label": format!("{}:{branch}", state.login(repo.owner)),
        "ref": branch,
        "sha": sha,
        "user": state.user_json(repo.owner),
        "repo": state.repo_json(repo, None),
    })
}

pub(crate) fn review(state: &State, repo: &Repo, number: u64, review: &Review) -> Value {
    let page = format!("{}/pull/{number}#pullrequestreview-{}", state.repo_page(repo), review.id);
    let api = format!("{}/pulls/{number}", state.repo_api(repo));
    json!({
        "id": review.id,
        "node_id": format!("PRR_{}", review.id),
        "user": state.user_json(review.user),
        "body": review.body,
        "state": review.state.upper(),
        "html_url": page,
        "pull_request_url": api,
        "_links": {"html": {"href": page}, "pull_request": {"href": api}},
        "commit_id": review.commit,
        "submitted_at": time(review.submitted_at),
        "author_association": association(state, repo, review.user),
    })
}

/// Returns a review as deliveries show it: with its state in lower case.
pub(crate) fn webhook_review(state: &State, repo: &Repo, number: u64, one: &Review) -> Value {
    let mut value = review(state, repo, number, one);
    super::put(&mut value, "state", one.state.upper().to_lowercase());
    value
}

pub(crate) fn inline_comment(state: &State, repo: &Repo, number: u64, one: &InlineComment) -> Value {
    let url = format!("{}/pulls/comments/{}", state.repo_api(repo), one.id);
    let page = format!("{}/pull/{number}#discussion_r{}", state.repo_page(repo), one.id);
    let api = format!("{}/pulls/{number}", state.repo_api(repo));
    json!({
        "url": url,
        "pull_request_review_id": one.review,
        "id": one.id,
        "node_id": format!("PRRC_{}", one.id),
        "diff_hunk": one.hunk,
        "path": one.path,
        "commit_id": one.commit,
        "original_commit_id": one.commit,
        "user": state.user_json(one.user),
        "body": one.body,
        "created_at": time(one.created_at),
        "updated_at": time(one.updated_at),
        "html_url": page,
        "pull_request_url": api,
        "author_association": association(state, repo, one.user),
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": api}},
        "start_line": one.start_line,
        "original_start_line": one.start_line,
        "start_side": one.start_side,
        "line": one.line,
        "original_line": one.line,
        "side": one.side,
        "position": one.line,
        "original_position": one.line,
        "subject_type": if one.line.is_some() { "line" } else { "file" },
    })
}
