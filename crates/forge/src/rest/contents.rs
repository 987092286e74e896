//! Files, commits and comparisons.

use super::{
    super::{
        auth::Right,
        call::{Answer, Answered, Call},
        json as github,
        refusal::Refusal,
        state::{Repo, State},
    },
    file_contents::contents,
};
use git::bare::{ChangeKind, CommitFacts, FileChange};
use serde_json::{Value, json};

const READ: Right = Right::read(&["contents"]);
/// GitHub leaves longer patches out.
const LONGEST_PATCH: usize = 1_000_000;

pub(super) async fn answer(call: &Call, method: &str, owner: &str, name: &str, rest: &[&str]) -> Option<Answered> {
    if method != "GET" {
        return None;
    }
    let repo = match call.enter(owner, name, READ) {
        Ok((repo, _)) => repo,
        Err(refusal) => return Some(Err(refusal)),
    };
    Some(match rest {
        ["contents", path @ ..] => contents(call, repo, &path.join("/")).await,
        ["compare", range @ ..] => compare(call, repo, &range.join("/")).await,
        ["commits"] => history(call, repo).await,
        ["commits", name @ ..] => commit(call, repo, &name.join("/")).await,
        _ => return None,
    })
}

/// The commit that a branch, tag or id stands for.
pub(super) async fn resolve(call: &Call, repo: u64, name: &str) -> Result<String, Refusal> {
    let missing = || Refusal::new(422, format!("No commit found for SHA: {name}"));
    if name.is_empty() || name.contains(|letter: char| letter.is_control()) {
        return Err(missing());
    }
    let short = name.strip_prefix("refs/").unwrap_or(name);
    let (head, tag, other) = (
        format!("refs/heads/{short}"),
        format!("refs/tags/{short}"),
        format!("refs/{short}"),
    );
    let is_id = (7..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = is_id.then_some(name);
    let candidates: Vec<&str> = [head.as_str(), &tag, &other].into_iter().chain(id).collect();
    let found = call.site.bare(repo).first_commit_id(&candidates).await?;
    found.ok_or_else(missing)
}

async fn compare(call: &Call, repo: u64, range: &str) -> Answered {
    let (base, head) = range.split_once("...").ok_or_else(Refusal::not_found)?;
    let missing = |_| Refusal::not_found();
    let (base, head) = (
        resolve(call, repo, base).await.map_err(missing)?,
        resolve(call, repo, head).await.map_err(missing)?,
    );
    let seen = call.site.comparison(repo, &base, &head).await?;
    let bare = call.site.bare(repo);
    let commits = bare.commits(Some(&base), &head, 250).await?;
    let base_commit = bare.commit(&base).await?;
    let fork = match &seen.merge_base {
        Some(id) => bare.commit(id).await?,
        None => return Err(Refusal::not_found()),
    };
    let status = match (seen.ahead, seen.behind) {
        (0, 0) => "identical",
        (_, 0) => "ahead",
        (0, _) => "behind",
        _ => "diverged",
    };
    call.site.read(|state| {
        let repo = state.repo(repo)?;
        let shown = |commit: &CommitFacts| commit_json(state, repo, commit);
        let page = format!("{}/compare/{base}...{head}", state.repo_page(repo));
        Ok(Answer::ok(json!({
            "url": format!("{}/compare/{base}...{head}", state.repo_api(repo)),
            "html_url": page, "permalink_url": page,
            "diff_url": format!("{page}.diff"), "patch_url": format!("{page}.patch"),
            "base_commit": base_commit.as_ref().map(shown),
            "merge_base_commit": fork.as_ref().map(shown),
            "status": status, "ahead_by": seen.ahead, "behind_by": seen.behind, "total_commits": seen.ahead,
            "commits": commits.iter().map(shown).collect::<Vec<_>>(),
            "files": seen.files.iter().map(|file| file_change(state, repo, &head, file)).collect::<Vec<_>>(),
        })))
    })
}

async fn history(call: &Call, repo: u64) -> Answered {
    let default = call
        .site
        .read(|state| state.repo(repo).map(|repo| repo.default_branch.clone()))?;
    let head = resolve(call, repo, call.asked("sha").unwrap_or(&default)).await?;
    let mut list = call.site.bare(repo).commits(None, &head, 500).await?;
    list.reverse();
    let rows = call.site.read(|state| {
        let repo = state.repo(repo)?;
        Ok::<_, Refusal>(list.iter().map(|commit| commit_json(state, repo, commit)).collect())
    })?;
    Ok(call.page(rows))
}

async fn commit(call: &Call, repo: u64, name: &str) -> Answered {
    let id = resolve(call, repo, name).await?;
    let bare = call.site.bare(repo);
    let facts = bare.commit(&id).await?.ok_or_else(Refusal::not_found)?;
    let files = match facts.parents.first() {
        Some(parent) => bare.diff(parent, &id).await?,
        None => Vec::new(),
    };
    call.site.read(|state| {
        let repo = state.repo(repo)?;
        let mut shown = commit_json(state, repo, &facts);
        let (plus, minus) = files.iter().fold((0, 0), |(plus, minus), file| {
            (plus + file.additions, minus + file.deletions)
        });
        let rows: Vec<Value> = files.iter().map(|file| file_change(state, repo, &id, file)).collect();
        let stats = json!({"total": plus + minus, "additions": plus, "deletions": minus});
        github::extend(&mut shown, json!({"stats": stats, "files": rows}));
        Ok(Answer::ok(shown))
    })
}

/// A commit as lists show it.
pub(super) fn commit_json(state: &State, repo: &Repo, commit: &CommitFacts) -> Value {
    let api = format!("{}/commits/{}", state.repo_api(repo), commit.sha);
    let page = |sha: &str| format!("{}/commit/{sha}", state.repo_page(repo));
    let signed = |name: &str, email: &str, seconds: i64| {
        let at = chrono::DateTime::from_timestamp(seconds, 0).map(github::time);
        json!({"name": name, "email": email, "date": at})
    };
    let account = |email: &str| {
        let login = email
            .strip_suffix("@users.noreply.github.com")
            .and_then(|rest| rest.split_once('+'));
        login
            .and_then(|(_, login)| state.user_named(login))
            .map(|user| state.user_json(user.id))
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
            "verification": {"verified": false, "reason": "unsigned", "signature": null, "payload": null, "verified_at": null},
        },
        "author": account(&commit.author_email), "committer": account(&commit.committer_email),
        "parents": parents.collect::<Vec<_>>(),
    })
}

/// A changed file as pull requests and comparisons list it.
pub(super) fn file_change(state: &State, repo: &Repo, at: &str, file: &FileChange) -> Value {
    let status = match file.kind {
        ChangeKind::Added => "added",
        ChangeKind::Modified => "modified",
        ChangeKind::Removed => "removed",
        ChangeKind::Renamed => "renamed",
    };
    let page = state.repo_page(repo);
    let path = file
        .path
        .replace('%', "%25")
        .replace(' ', "%20")
        .replace('?', "%3F")
        .replace('#', "%23");
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
