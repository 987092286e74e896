//! Files, commits and comparisons.

use super::file_contents::contents;
use crate::{
    auth::{Caller, Right},
    call::{Answer, Answered, Entered, Routed},
    json as github,
    refusal::{Found, Refusal, Result},
    rest::of_repo::OfRepo,
    state::{Repo, Role, State},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use git::bare::{ChangeKind, CommitFacts, FileChange};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const READ: Right = Right::read(&["contents"]);
const WRITE: Right = Right::write(&["contents"], Role::Write);
/// The folder in which an App may write only with the permission `workflows`.
const WORKFLOWS: &str = ".github/workflows/";
/// The longest patch that is shown, in bytes; GitHub leaves longer ones out.
const LONGEST_PATCH: usize = 1_000_000;

pub(super) async fn answer(repo: &OfRepo<'_>, rest: &[&str]) -> Routed {
    let read = || repo.enter(READ);
    Ok(Some(match (repo.method(), rest) {
        ("GET", ["contents", path @ ..]) => contents(&read()?, &path.join("/")).await?,
        ("PUT", ["contents", path @ ..]) => put(&repo.enter(WRITE)?, &path.join("/")).await?,
        ("GET", ["compare", range @ ..]) => compare(&read()?, &range.join("/")).await?,
        ("GET", ["commits"]) => history(&read()?).await?,
        ("GET", ["commits", name @ ..]) => commit(&read()?, &name.join("/")).await?,
        _ => return Ok(None),
    }))
}

/// Returns the commit of a branch, tag or commit id.
pub(super) async fn resolve(call: &Entered<'_>, name: &str) -> Result<String> {
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
async fn put(call: &Entered<'_>, path: &str) -> Answered {
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
    match (
        call.bare().object_id(&format!("{head}:{path}")).await?,
        call.text("sha"),
    ) {
        (Some(_), None) => {
            return Err(Refusal::new(422, "Invalid request.\n\n\"sha\" wasn't supplied."));
        }
        (there, Some(sha)) if there.as_deref() != Some(sha.as_str()) => {
            return Err(Refusal::new(409, format!("{path} does not match {sha}")));
        }
        (Some(_) | None, _) => {}
    }
    let files = BTreeMap::from([(path.to_owned(), Some(content))]);
    let sha = call.site.commit_files(call.at, &branch, &message, &files).await?;
    let facts = call.bare().commit(&sha).await?.found()?;
    let written = call.show(|state, repo| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let page = format!("{}/blob/{branch}/{path}", state.repo_page(repo));
        Ok(json!({
            "content": {"name": name, "path": path, "type": "file", "html_url": page},
            "commit": commit_json(state, repo, &facts),
        }))
    });
    written.map(Answer::into_created)
}

async fn compare(call: &Entered<'_>, range: &str) -> Answered {
    let (base, head) = range.split_once("...").found()?;
    let missing = |_| Refusal::not_found();
    let base = resolve(call, base).await.map_err(missing)?;
    let head = resolve(call, head).await.map_err(missing)?;
    let seen = call.site.comparison(call.at.repo, &base, &head).await?;
    let bare = call.bare();
    let commits = bare.commits(Some(&base), &head, 250).await?;
    let base_commit = bare.commit(&base).await?;
    let fork = bare.commit(seen.merge_base.as_ref().found()?).await?;
    let status = match (seen.ahead, seen.behind) {
        (0, 0) => "identical",
        (_, 0) => "ahead",
        (0, _) => "behind",
        _ => "diverged",
    };
    call.show(|state, repo| {
        let shown = |commit: &CommitFacts| commit_json(state, repo, commit);
        let page = format!("{}/compare/{base}...{head}", state.repo_page(repo));
        Ok(json!({
            "url": format!("{}/compare/{base}...{head}", state.repo_api(repo)),
            "html_url": page, "permalink_url": page,
            "diff_url": format!("{page}.diff"), "patch_url": format!("{page}.patch"),
            "base_commit": base_commit.as_ref().map(shown),
            "merge_base_commit": fork.as_ref().map(shown),
            "status": status, "ahead_by": seen.ahead, "behind_by": seen.behind, "total_commits": seen.ahead,
            "commits": commits.iter().map(shown).collect::<Vec<_>>(),
            "files": seen.files.iter().map(|file| file_change(state, repo, &head, file)).collect::<Vec<_>>(),
        }))
    })
}

async fn history(call: &Entered<'_>) -> Answered {
    let default = call.read(|_, repo| Ok(repo.default_branch.clone()))?;
    let head = resolve(call, call.asked("sha").unwrap_or(&default)).await?;
    let list = call.bare().commits(None, &head, 500).await?;
    let newest_first = list.iter().rev();
    call.list(|state, repo| Ok(newest_first.map(|commit| commit_json(state, repo, commit)).collect()))
}

async fn commit(call: &Entered<'_>, name: &str) -> Answered {
    let id = resolve(call, name).await?;
    let bare = call.bare();
    let facts = bare.commit(&id).await?.found()?;
    let files = match facts.parents.first() {
        Some(parent) => bare.diff(parent, &id).await?,
        None => Vec::new(),
    };
    call.show(|state, repo| {
        let mut shown = commit_json(state, repo, &facts);
        let plus: usize = files.iter().map(|file| file.additions).sum();
        let minus: usize = files.iter().map(|file| file.deletions).sum();
        let rows: Vec<Value> = files.iter().map(|file| file_change(state, repo, &id, file)).collect();
        let stats = json!({"total": plus + minus, "additions": plus, "deletions": minus});
        github::extend(&mut shown, json!({"stats": stats, "files": rows}));
        Ok(shown)
    })
}

/// Returns a commit as lists show it.
pub(super) fn commit_json(state: &State, repo: &Repo, commit: &CommitFacts) -> Value {
    let api = format!("{}/commits/{}", state.repo_api(repo), commit.sha);
    let page = |sha: &str| format!("{}/commit/{sha}", state.repo_page(repo));
    let signed = |name: &str, email: &str, seconds: i64| {
        let at = chrono::DateTime::from_timestamp(seconds, 0).map(github::time);
        json!({"name": name, "email": email, "date": at})
    };
    let account = |email: &str| {
        let (_, login) = email
            .strip_suffix(&state.noreply_host())?
            .strip_suffix('@')?
            .split_once('+')?;
        Some(state.user_json(state.user_named(login)?.id))
    };
    let verification = match repo.signed.contains(&commit.sha) {
        true => {
            json!({"verified": true, "reason": "valid", "signature": null, "payload": null, "verified_at": null})
        }
        false => {
            json!({"verified": false, "reason": "unsigned", "signature": null, "payload": null, "verified_at": null})
        }
    };
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
            "verification": verification,
        },
        "author": account(&commit.author_email), "committer": account(&commit.committer_email),
        "parents": parents.collect::<Vec<_>>(),
    })
}

/// Returns a changed file as pull requests and comparisons list it.
pub(super) fn file_change(state: &State, repo: &Repo, at: &str, file: &FileChange) -> Value {
    let status = match file.kind {
        ChangeKind::Added => "added",
        ChangeKind::Modified => "modified",
        ChangeKind::Removed => "removed",
        ChangeKind::Renamed => "renamed",
    };
    let page = state.repo_page(repo);
    let escapes = [("%", "%25"), (" ", "%20"), ("?", "%3F"), ("#", "%23")];
    let path = escapes
        .iter()
        .fold(file.path.clone(), |path, (from, to)| path.replace(from, to));
    let mut value = json!({
        "sha": file.blob, "filename": file.path, "status": status,
        "additions": file.additions, "deletions": file.deletions, "changes": file.additions + file.deletions,
        "blob_url": format!("{page}/blob/{at}/{path}"), "raw_url": format!("{page}/raw/{at}/{path}"),
        "contents_url": format!("{}/contents/{path}?ref={at}", state.repo_api(repo)),
    });
    if let Some(patch) = file.patch.as_ref().filter(|patch| patch.len() <= LONGEST_PATCH) {
        github::put(&mut value, "patch", json!(patch));
    }
    if let Some(previous) = &file.previous {
        github::put(&mut value, "previous_filename", json!(previous));
    }
    value
}
