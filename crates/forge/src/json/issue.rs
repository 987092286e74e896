//! Issues, comments, labels, reactions.

use crate::{
    json::fields::time,
    state::{Comment, Issue, Label, Pull, REACTIONS, Reaction, Repo, Role, State, UserKind},
};
use serde_json::{Value, json};

/// Returns GitHub's word for the author's relation to the repository, which grants no permission.
pub(super) fn association(state: &State, repo: &Repo, user: u64) -> &'static str {
    match state.user(user).map(|user| user.kind) {
        Some(UserKind::Bot) => "NONE",
        _ if repo.owner == user => "OWNER",
        _ => match repo.collaborators.get(&user) {
            Some(role) if *role > Role::None => "COLLABORATOR",
            _ => "NONE",
        },
    }
}

fn rollup(reactions: &[Reaction], url: &str) -> Value {
    let mut value = json!({"url": format!("{url}/reactions"), "total_count": reactions.len()});
    for content in REACTIONS {
        let count = reactions.iter().filter(|one| one.content == content).count();
        super::put(&mut value, content, count);
    }
    value
}

/// Returns the App through which something was written, or null.
fn via_app(state: &State, app: Option<u64>) -> Value {
    app.and_then(|id| state.apps.get(&id)).map_or(Value::Null, |app| state.app_json(app))
}

pub(crate) fn issue(state: &State, repo: &Repo, issue: &Issue) -> Value {
    let api = state.repo_api(repo);
    let url = format!("{api}/issues/{}", issue.number);
    let page = format!("{}{}", state.repo_page(repo), issue.page());
    let mut value = json!({
        "url": url,
        "repository_url": api,
        "labels_url": format!("{url}/labels{{/name}}"),
        "comments_url": format!("{url}/comments"),
        "events_url": format!("{url}/events"),
        "html_url": page,
        "id": issue.id,
        "node_id": format!("I_{}", issue.id),
        "number": issue.number,
        "title": issue.title,
        "user": state.user_json(issue.user),
        "labels": labels(state, repo, issue),
        "state": if issue.open { "open" } else { "closed" },
        "locked": false,
        "assignee": null,
        "assignees": [],
        "milestone": null,
        "comments": issue.comments.len(),
        "created_at": time(issue.created_at),
        "updated_at": time(issue.updated_at),
        "closed_at": issue.closed_at.map(time),
        "author_association": association(state, repo, issue.user),
        "type": null,
        "active_lock_reason": null,
        "sub_issues_summary": {"total": 0, "completed": 0, "percent_completed": 0},
        "issue_dependencies_summary": {"blocked_by": 0, "total_blocked_by": 0, "blocking": 0, "total_blocking": 0},
        "body": issue.body,
        "closed_by": issue.closed_by.map(|id| state.user_json(id)),
        "reactions": rollup(&issue.reactions, &url),
        "timeline_url": format!("{url}/timeline"),
        "performed_via_github_app": via_app(state, issue.app),
        "state_reason": issue.state_reason,
    });
    if let Some(pull) = &issue.pull {
        super::put(&mut value, "draft", json!(pull.draft));
        super::put(&mut value, "pull_request", pull_links(&api, &page, issue.number, pull));
    }
    value
}

/// Returns the addresses of the pull request behind an issue.
fn pull_links(api: &str, page: &str, number: u64, pull: &Pull) -> Value {
    json!({
        "url": format!("{api}/pulls/{number}"),
        "html_url": page,
        "diff_url": format!("{page}.diff"),
        "patch_url": format!("{page}.patch"),
        "merged_at": pull.merged.as_ref().map(|merge| time(merge.at)),
    })
}

pub(crate) fn labels(state: &State, repo: &Repo, issue: &Issue) -> Vec<Value> {
    let names = issue.labels.iter();
    let known = names.filter_map(|name| repo.labels.get(&name.to_lowercase()));
    known.map(|one| label(state, repo, one)).collect()
}

pub(crate) fn label(state: &State, repo: &Repo, label: &Label) -> Value {
    let encoded: String = label.name.replace('%', "%25").replace(' ', "%20").replace('/', "%2F");
    json!({
        "id": label.id,
        "node_id": format!("LA_{}", label.id),
        "url": format!("{}/labels/{encoded}", state.repo_api(repo)),
        "name": label.name,
        "color": label.color,
        "default": false,
        "description": label.description,
    })
}

pub(crate) fn comment(state: &State, repo: &Repo, issue: &Issue, comment: &Comment) -> Value {
    let url = format!("{}/issues/comments/{}", state.repo_api(repo), comment.id);
    json!({
        "url": url,
        "html_url": format!("{}{}#issuecomment-{}", state.repo_page(repo), issue.page(), comment.id),
        "issue_url": format!("{}/issues/{}", state.repo_api(repo), issue.number),
        "id": comment.id,
        "node_id": format!("IC_{}", comment.id),
        "user": state.user_json(comment.user),
        "created_at": time(comment.created_at),
        "updated_at": time(comment.updated_at),
        "body": comment.body,
        "author_association": association(state, repo, comment.user),
        "reactions": rollup(&comment.reactions, &url),
        "performed_via_github_app": via_app(state, comment.app),
    })
}

pub(crate) fn reaction(state: &State, reaction: &Reaction) -> Value {
    json!({
        "id": reaction.id,
        "node_id": format!("REA_{}", reaction.id),
        "user": state.user_json(reaction.user),
        "content": reaction.content,
        "created_at": time(reaction.created_at),
    })
}
