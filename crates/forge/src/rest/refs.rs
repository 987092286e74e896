//! Refs, trees, commits, and the rules of branches.

use super::contents;
use crate::{
    auth::{Caller, Right},
    call::{Answer, Answered, RepoCall, Routed},
    json as github,
    refusal::{OrNotFound, Refusal, Result},
    rest::of_repo::OfRepo,
    state::{BranchRule, Repo, Role, RuleKind, State},
};
use git::bare::{BareError, BareRepo, ExpectedRef, Ident, TreeEntry};
use serde_json::{Value, json};

const READ: Right = Right::read(&["contents"]);
const WRITE: Right = Right::write(&["contents"], Role::Write);
const METADATA: Right = Right::read(&["metadata"]);

pub(super) async fn answer(repo: &OfRepo<'_>, rest: &[&str]) -> Routed {
    let read = || repo.enter(READ);
    let write = || repo.enter(WRITE);
    Ok(Some(match (repo.method(), rest) {
        ("GET", ["git", "ref", path @ ..]) => read_ref(&read()?, &format!("refs/{}", path.join("/"))).await?,
        ("POST", ["git", "refs"]) => create(&write()?).await?,
        ("GET", ["git", "trees", sha]) => tree(&read()?, sha).await?,
        ("POST", ["git", "commits"]) => make_commit(&write()?).await?,
        ("GET", ["git", "commits", sha]) => git_commit(&read()?, sha).await?,
        ("GET", ["rulesets", id]) => ruleset(&repo.enter(METADATA)?, id)?,
        ("GET", ["rules", "branches", path @ ..]) => rules(&repo.enter(METADATA)?, &path.join("/"))?,
        _ => return Ok(None),
    }))
}

fn unprocessable(text: &str) -> Refusal {
    Refusal::new(422, text)
}

fn ref_json(state: &State, repo: &Repo, name: &str, sha: &str) -> Value {
    let api = state.repo_api(repo);
    json!({
        "ref": name,
        "node_id": format!("REF_{name}"),
        "url": format!("{api}/git/{name}"),
        "object": {"sha": sha, "type": "commit", "url": format!("{api}/git/commits/{sha}")},
    })
}

async fn read_ref(call: &RepoCall<'_>, name: &str) -> Answered {
    let found = call.bare().refs(name).await?;
    let sha = found.get(name).or_not_found()?;
    call.show(|state, repo| Ok(ref_json(state, repo, name, sha)))
}

/// Refuses to create a branch that a rule forbids.
fn check_rules(call: &RepoCall<'_>, name: &str) -> Result {
    let Some(branch) = name.strip_prefix("refs/heads/") else {
        return Ok(());
    };
    let forbids = |rule: &RuleKind| *rule == RuleKind::Creation;
    if call.read(|_, repo| Ok(repo.rules_for(branch).any(forbids)))? {
        let text = "Cannot create ref due to creations being restricted.";
        return Err(unprocessable(&format!("Repository rule violations found\n\n{text}\n\n")));
    }
    Ok(())
}

/// Returns the commit that the body names by its full id.
async fn named_commit(call: &RepoCall<'_>, bare: &BareRepo) -> Result<String> {
    let sha = call.text("sha").unwrap_or_default();
    let full_id = sha.len() == 40 && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !full_id || bare.commit_id(&sha).await?.is_none() {
        return Err(unprocessable("Object does not exist"));
    }
    Ok(sha)
}

async fn create(call: &RepoCall<'_>) -> Answered {
    let name = call.text("ref").unwrap_or_default();
    let bare = call.bare();
    let is_branch_or_tag = name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
    if !is_branch_or_tag || !bare.is_ref_name(&name).await? {
        return Err(unprocessable(&format!("{name} is not a valid ref name.")));
    }
    let sha = named_commit(call, &bare).await?;
    check_rules(call, &name)?;
    let _gate = call.site.moving(call.at).await?;
    let created = bare.update_ref(&name, &sha, ExpectedRef::Missing).await;
    created.map_err(|error| match error {
        BareError::Moved(_) => unprocessable("Reference already exists"),
        other @ (BareError::Process(_)
        | BareError::Failed { .. }
        | BareError::Unreadable(_)
        | BareError::Empty(_)
        | BareError::Shallow(_)) => {
            tracing::debug!(error = %other, "a ref was not created");
            unprocessable("Reference update failed")
        }
    })?;
    call.site.branches_moved(call.at).await?;
    let shown = call.show(|state, repo| Ok(ref_json(state, repo, &name, &sha)));
    shown.map(Answer::into_created)
}

/// Creates a commit of an existing tree. Like GitHub, it signs only commits of Apps that name no author.
async fn make_commit(call: &RepoCall<'_>) -> Answered {
    let absent = |field: &str| {
        let text = format!("Invalid request.\n\n\"{field}\" wasn't supplied.");
        unprocessable(&text)
    };
    let message = call.text("message").ok_or_else(|| absent("message"))?;
    let tree = call.text("tree").ok_or_else(|| absent("tree"))?;
    let bare = call.bare();
    if bare.object_id(&format!("{tree}^{{tree}}")).await?.as_ref() != Some(&tree) {
        return Err(unprocessable("Tree SHA does not exist"));
    }
    let parents = call.texts("parents").unwrap_or_default();
    for parent in &parents {
        if bare.commit_id(parent).await?.as_ref() != Some(parent) {
            return Err(unprocessable("Parent SHA does not exist or is not a commit object"));
        }
    }
    let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
    let sha = match (named_by(call), &call.caller) {
        (None, Caller::Installation(_)) => call.site.signed_commit(call.at, &tree, &parents, &message).await?,
        (named, _) => {
            let own = || call.site.own_ident(call.at);
            let who = named.unwrap_or_else(own);
            bare.commit_tree(&tree, &parents, &who, &who, &message).await?
        }
    };
    git_commit(call, &sha).await.map(Answer::into_created)
}

/// Returns the author or committer in the body.
fn named_by(call: &RepoCall<'_>) -> Option<Ident> {
    let who = call.body.get("author").or_else(|| call.body.get("committer"))?;
    let text = |field: &str| who.get(field).and_then(Value::as_str);
    let at = chrono::DateTime::parse_from_rfc3339(text("date")?).ok()?;
    Some(Ident::new(text("name")?, text("email")?, at.timestamp()))
}

async fn git_commit(call: &RepoCall<'_>, sha: &str) -> Answered {
    let id = contents::resolve(call, sha).await?;
    let facts = call.bare().commit(&id).await?.or_not_found()?;
    call.show(|state, repo| {
        let whole = contents::commit_json(state, repo, &facts);
        let mut shown = whole.get("commit").cloned().unwrap_or_default();
        github::extend(
            &mut shown,
            json!({"sha": id, "node_id": format!("C_{id}"), "html_url": whole.get("html_url"), "parents": whole.get("parents")}),
        );
        Ok(shown)
    })
}

/// Lists the files of a commit with all subfolders. This forge knows no other listing of trees.
async fn tree(call: &RepoCall<'_>, name: &str) -> Answered {
    call.query_value("recursive").or_not_found()?;
    let id = contents::resolve(call, name).await.map_err(|_| Refusal::not_found())?;
    let files = call.bare().files(&id).await?;
    call.show(|state, repo| {
        let api = state.repo_api(repo);
        let row = |entry: &TreeEntry| {
            let TreeEntry { mode, kind, id, path, .. } = entry;
            let url = format!("{api}/git/{kind}s/{id}");
            json!({"path": path, "mode": mode, "type": kind, "sha": id, "url": url})
        };
        let rows: Vec<Value> = files.iter().map(row).collect();
        Ok(json!({"sha": id, "url": format!("{api}/git/trees/{id}"), "tree": rows, "truncated": false}))
    })
}

/// Lists all rules for a branch, as `GET /rules/branches/{branch}`.
fn rules(call: &RepoCall<'_>, branch: &str) -> Answered {
    call.list(|state, repo| {
        let row = |(place, rule): (usize, &BranchRule)| {
            let mut row = json!({
                "type": rule.kind.name(),
                "ruleset_source_type": "Repository",
                "ruleset_source": state.full_name(repo),
                "ruleset_id": place + 1,
            });
            if let Some(parameters) = parameters(&rule.kind) {
                github::put(&mut row, "parameters", parameters);
            }
            row
        };
        let rules = repo.rules.iter().enumerate();
        Ok(rules.filter(|(_, rule)| rule.is_for(branch)).map(row).collect())
    })
}

/// Shows one ruleset. In this forge, each holds one rule, and nobody may bypass it.
fn ruleset(call: &RepoCall<'_>, id: &str) -> Answered {
    call.show(|state, repo| {
        let id = id.parse::<usize>().ok();
        let rule = id.and_then(|id| repo.rules.get(id.checked_sub(1)?)).or_not_found()?;
        Ok(json!({
            "id": id,
            "name": rule.kind.name(),
            "target": "branch",
            "source_type": "Repository",
            "source": state.full_name(repo),
            "enforcement": "active",
            "current_user_can_bypass": "never",
            "conditions": {"ref_name": {"include": [format!("refs/heads/{}", rule.pattern)], "exclude": []}},
            "rules": [{"type": rule.kind.name()}],
        }))
    })
}

fn parameters(rule: &RuleKind) -> Option<Value> {
    match rule {
        RuleKind::PullRequest { approvals } => Some(json!({
            "required_approving_review_count": approvals,
            "dismiss_stale_reviews_on_push": false, "require_code_owner_review": false,
            "require_last_push_approval": false, "required_review_thread_resolution": false,
            "allowed_merge_methods": ["merge", "squash", "rebase"],
        })),
        RuleKind::RequiredChecks(names) => {
            let checks: Vec<Value> = names.iter().map(|name| json!({"context": name})).collect();
            Some(json!({"required_status_checks": checks, "strict_required_status_checks_policy": false}))
        }
        RuleKind::Creation | RuleKind::RequiredSignatures => None,
    }
}
