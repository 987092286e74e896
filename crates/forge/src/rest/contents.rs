//! Files, commits and comparisons.

use super::file_contents::contents;
use crate::{
    auth::{Caller, Right},
    call::{Answer, Answered, RepoCall, Routed},
    json as github,
    refusal::{OrNotFound, Refusal, Result},
    rest::of_repo::OfRepo,
    state::{Repo, Role, State},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use git::bare::CommitRecord;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const READ: Right = Right::read(&["contents"]);
const WRITE: Right = Right::write(&["contents"], Role::Write);
/// The folder in which an App may write only with the permission `workflows`.
const WORKFLOWS: &str = ".github/workflows/";

pub(super) async fn answer(repo: &OfRepo<'_>, rest: &[&str]) -> Routed {
    let read = || repo.enter(READ);
    Ok(Some(match (repo.method(), rest) {
        ("GET", ["contents", path @ ..]) => contents(&read()?, &path.join("/")).await?,
        ("PUT", ["contents", path @ ..]) => put(&repo.enter(WRITE)?, &path.join("/")).await?,
        ("GET", ["compare", range @ ..]) => compare(&read()?, &range.join("/")).await?,
        _ => return Ok(None),
    }))
}

/// Returns the commit of a branch, tag or commit id.
pub(super) async fn resolve(call: &RepoCall<'_>, name: &str) -> Result<String> {
    let missing = || Refusal::new(422, format!("No commit found for SHA: {name}"));
    if name.is_empty() || name.contains(|letter: char| letter.is_control()) {
        return Err(missing());
    }
    let short = name.strip_prefix("refs/").unwrap_or(name);
    let refs = ["refs/heads/", "refs/tags/", "refs/"].map(|prefix| format!("{prefix}{short}"));
    let is_id = (7..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = is_id.then_some(name);
    let candidates: Vec<&str> = refs.iter().map(String::as_str).chain(id).collect();
    let found = call.bare().first_commit_id(&candidates).await?;
    found.ok_or_else(missing)
}

/// Commits one file to an existing branch.
async fn put(call: &RepoCall<'_>, path: &str) -> Answered {
    let lacks_workflows = match &call.caller {
        Caller::Installation(narrowed) => !narrowed.writes("workflows"),
        Caller::Anonymous | Caller::App(_) | Caller::Person(_) => false,
    };
    if lacks_workflows && path.starts_with(WORKFLOWS) {
        return Err(Refusal::not_for_integration());
    }
    let default = call.read(|_, repo| Ok(repo.default_branch.clone()))?;
    let branch = call.text("branch").unwrap_or(default);
    let message = call.text("message");
    let message = message.ok_or_else(|| Refusal::new(422, "Invalid request.\n\n\"message\" wasn't supplied."))?;
    let content = BASE64_STANDARD.decode(call.text("content").unwrap_or_default());
    let content = content.map_err(|_| Refusal::new(422, "content is not valid Base64"))?;
    let head = call.read(|_, repo| Ok(repo.branches.get(&branch).cloned()))?;
    let head = head.ok_or_else(|| Refusal::new(404, format!("Branch {branch} not found")))?;
    let there = call.bare().object_id(&format!("{head}:{path}")).await?;
    match call.text("sha") {
        None if there.is_some() => {
            return Err(Refusal::new(422, "Invalid request.\n\n\"sha\" wasn't supplied."));
        }
        Some(sha) if there.as_ref() != Some(&sha) => {
            return Err(Refusal::new(409, format!("{path} does not match {sha}")));
        }
        Some(_) | None => {}
    }
    let files = BTreeMap::from([(path.to_owned(), Some(content))]);
    let sha = call.site.commit_files(call.at, &branch, &message, &files).await?;
    let name = path.rsplit('/').next();
    let content = json!({"name": name, "path": path, "type": "file"});
    Ok(Answer::created(json!({"content": content, "commit": {"sha": sha}})))
}

/// Compares two commits, without the commits and files between them.
async fn compare(call: &RepoCall<'_>, range: &str) -> Answered {
    let (base, head) = range.split_once("...").or_not_found()?;
    let missing = |_| Refusal::not_found();
    let base = resolve(call, base).await.map_err(missing)?;
    let head = resolve(call, head).await.map_err(missing)?;
    let seen = call.site.comparison(call.at.repo, &base, &head).await?;
    seen.merge_base.as_ref().or_not_found()?;
    let status = match (seen.ahead, seen.behind) {
        (0, 0) => "identical",
        (_, 0) => "ahead",
        (0, _) => "behind",
        _ => "diverged",
    };
    call.show(|state, repo| {
        Ok(json!({
            "url": format!("{}/compare/{base}...{head}", state.repo_api(repo)),
            "html_url": format!("{}/compare/{base}...{head}", state.repo_page(repo)),
            "status": status, "ahead_by": seen.ahead, "behind_by": seen.behind, "total_commits": seen.ahead,
        }))
    })
}

pub(super) fn commit_json(state: &State, repo: &Repo, commit: &CommitRecord) -> Value {
    let api = format!("{}/commits/{}", state.repo_api(repo), commit.sha);
    let page = |sha: &str| format!("{}/commit/{sha}", state.repo_page(repo));
    let signed = |name: &str, email: &str, seconds: i64| {
        let at = chrono::DateTime::from_timestamp(seconds, 0).map(github::time);
        json!({"name": name, "email": email, "date": at})
    };
    let account = |email: &str| {
        let (_, login) = email.strip_suffix(&state.noreply_host())?.strip_suffix('@')?.split_once('+')?;
        Some(state.user_json(state.user_named(login)?.id))
    };
    let verified = repo.signed.contains(&commit.sha);
    let reason = if verified { "valid" } else { "unsigned" };
    let tree = format!("{}/git/trees/{}", state.repo_api(repo), commit.tree);
    let parents = commit.parents.iter().map(
        |sha| json!({"sha": sha, "url": format!("{}/commits/{sha}", state.repo_api(repo)), "html_url": page(sha)}),
    );
    json!({
        "url": api, "sha": commit.sha, "node_id": format!("C_{}", commit.sha),
        "html_url": page(&commit.sha), "comments_url": format!("{api}/comments"),
        "commit": {
            "url": format!("{}/git/commits/{}", state.repo_api(repo), commit.sha),
            "author": signed(&commit.author_name, &commit.author_email, commit.authored),
            "committer": signed(&commit.committer_name, &commit.committer_email, commit.committed),
            "message": commit.message, "comment_count": 0,
            "tree": {"sha": commit.tree, "url": tree},
            "verification": {
                "verified": verified, "reason": reason, "signature": null, "payload": null, "verified_at": null,
            },
        },
        "author": account(&commit.author_email), "committer": account(&commit.committer_email),
        "parents": parents.collect::<Vec<_>>(),
    })
}
