//! Refs, branches, rules.

use super::contents;
use crate::{
    auth::{Caller, Right},
    call::{Answer, Answered, Entered, Routed},
    json as github,
    refusal::{Found, Refusal, Result},
    rest::of_repo::OfRepo,
    state::{Repo, Role, RuleKind, State},
};
use git::bare::{BareError, BareRepo, Ident};
use serde_json::{Value, json};

const READ: Right = Right::read(&["contents"]);
const WRITE: Right = Right::write(&["contents"], Role::Write);
const METADATA: Right = Right::read(&["metadata"]);

pub(super) async fn answer(repo: &OfRepo<'_>, rest: &[&str]) -> Routed {
    let read = || repo.enter(READ);
    let write = || repo.enter(WRITE);
    let named = |path: &[&str]| format!("refs/{}", path.join("/"));
    Ok(Some(match (repo.method(), rest) {
        ("GET", ["git", "ref", path @ ..]) => one(&read()?, &named(path)).await?,
        ("GET", ["git", "matching-refs", path @ ..]) => matching(&read()?, &named(path)).await?,
        ("POST", ["git", "refs"]) => create(&write()?).await?,
        ("PATCH", ["git", "refs", path @ ..]) => update(&write()?, &named(path)).await?,
        ("DELETE", ["git", "refs", path @ ..]) => delete(&write()?, &named(path)).await?,
        ("GET", ["git", "trees", sha]) => tree(&read()?, sha).await?,
        ("POST", ["git", "commits"]) => make_commit(&write()?).await?,
        ("GET", ["git", "commits", sha]) => git_commit(&read()?, sha).await?,
        ("GET", ["branches"]) => branches(&read()?)?,
        ("GET", ["branches", path @ ..]) => branch(&read()?, &path.join("/")).await?,
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

async fn one(call: &Entered<'_>, name: &str) -> Answered {
    let found = call.bare().refs(name).await?;
    let sha = found.get(name).found()?;
    call.show(|state, repo| Ok(ref_json(state, repo, name, sha)))
}

async fn matching(call: &Entered<'_>, prefix: &str) -> Answered {
    let all = call.bare().refs("refs/").await?;
    let fits = all.iter().filter(|(name, _)| name.starts_with(prefix));
    call.list(|state, repo| Ok(fits.map(|(name, sha)| ref_json(state, repo, name, sha)).collect()))
}

/// A change of a ref.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Creation,
    Growth,
    Rewrite,
    Deletion,
}

/// Returns the rule's text if it forbids the change.
fn forbidden(rule: &RuleKind, change: Change) -> Option<&'static str> {
    let moves = matches!(change, Change::Growth | Change::Rewrite);
    let (met, text) = match rule {
        RuleKind::Creation => (
            change == Change::Creation,
            "Cannot create ref due to creations being restricted.",
        ),
        RuleKind::Deletion => (change == Change::Deletion, "Cannot delete this branch"),
        RuleKind::PullRequest { .. } => (moves, "Changes must be made through a pull request."),
        RuleKind::MergeQueue => (moves, "Changes must be made through the merge queue"),
        RuleKind::NonFastForward => (change == Change::Rewrite, "Cannot force-push to this branch"),
        RuleKind::RequiredChecks(_) | RuleKind::RequiredSignatures | RuleKind::LinearHistory => return None,
    };
    met.then_some(text)
}

/// Refuses a change that a rule of the branch forbids.
fn check_rules(call: &Entered<'_>, name: &str, change: Change) -> Result {
    let Some(branch) = name.strip_prefix("refs/heads/") else {
        return Ok(());
    };
    let text = call.read(|_, repo| Ok(repo.rules_for(branch).find_map(|rule| forbidden(rule, change))))?;
    match text {
        Some(text) => Err(unprocessable(&format!(
            "Repository rule violations found\n\n{text}\n\n"
        ))),
        None => Ok(()),
    }
}

fn refused(error: BareError) -> Refusal {
    tracing::debug!(%error, "a ref was not changed");
    unprocessable("Reference update failed")
}

/// Returns the commit that the body names by its full id.
async fn named_commit(call: &Entered<'_>, bare: &BareRepo) -> Result<String> {
    let sha = call.text("sha").unwrap_or_default();
    let full_id = sha.len() == 40 && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !full_id || bare.commit_id(&sha).await?.is_none() {
        return Err(unprocessable("Object does not exist"));
    }
    Ok(sha)
}

fn is_branch_or_tag(name: &str) -> bool {
    name.starts_with("refs/heads/") || name.starts_with("refs/tags/")
}

async fn create(call: &Entered<'_>) -> Answered {
    let name = call.text("ref").unwrap_or_default();
    let bare = call.bare();
    if !is_branch_or_tag(&name) || !bare.is_ref_name(&name).await? {
        return Err(unprocessable(&format!("{name} is not a valid ref name.")));
    }
    let sha = named_commit(call, &bare).await?;
    check_rules(call, &name, Change::Creation)?;
    let _gate = call.site.moving(call.at).await?;
    let created = bare.update_ref(&name, &sha, Some(None)).await;
    created.map_err(|error| match error {
        BareError::Moved(_) => unprocessable("Reference already exists"),
        other @ (BareError::Process(_)
        | BareError::Failed { .. }
        | BareError::Unreadable(_)
        | BareError::Empty(_)
        | BareError::Shallow(_)) => refused(other),
    })?;
    call.site.branches_moved(call.at).await?;
    let shown = call.show(|state, repo| Ok(ref_json(state, repo, &name, &sha)));
    shown.map(Answer::into_created)
}

async fn update(call: &Entered<'_>, name: &str) -> Answered {
    let bare = call.bare();
    let _gate = call.site.moving(call.at).await?;
    let old = bare.refs(name).await?.remove(name);
    let old = old.ok_or_else(|| unprocessable("Reference does not exist"))?;
    let sha = named_commit(call, &bare).await?;
    let grows = bare.is_ancestor(&old, &sha).await?;
    if !grows && !call.flag("force") {
        return Err(unprocessable("Update is not a fast forward"));
    }
    check_rules(call, name, if grows { Change::Growth } else { Change::Rewrite })?;
    bare.update_ref(name, &sha, Some(Some(&old))).await.map_err(refused)?;
    call.site.branches_moved(call.at).await?;
    call.show(|state, repo| Ok(ref_json(state, repo, name, &sha)))
}

async fn delete(call: &Entered<'_>, name: &str) -> Answered {
    let default = call.read(|_, repo| Ok(format!("refs/heads/{}", repo.default_branch)))?;
    if name == default {
        return Err(unprocessable("Cannot delete the default branch"));
    }
    if !is_branch_or_tag(name) {
        return Err(unprocessable("Reference cannot be deleted"));
    }
    check_rules(call, name, Change::Deletion)?;
    let bare = call.bare();
    let _gate = call.site.moving(call.at).await?;
    if !bare.refs(name).await?.contains_key(name) {
        return Err(unprocessable("Reference does not exist"));
    }
    bare.delete_ref(name).await?;
    call.site.branches_moved(call.at).await?;
    Ok(Answer::nothing())
}

/// Creates a commit of an existing tree. Like GitHub, it signs only commits of Apps that name no author.
async fn make_commit(call: &Entered<'_>) -> Answered {
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
fn named_by(call: &Entered<'_>) -> Option<Ident> {
    let who = call.body.get("author").or_else(|| call.body.get("committer"))?;
    let text = |field: &str| who.get(field).and_then(Value::as_str);
    let at = chrono::DateTime::parse_from_rfc3339(text("date")?).ok()?;
    Some(Ident::new(text("name")?, text("email")?, at.timestamp()))
}

async fn git_commit(call: &Entered<'_>, sha: &str) -> Answered {
    let id = contents::resolve(call, sha).await?;
    let facts = call.bare().commit(&id).await?.found()?;
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
async fn tree(call: &Entered<'_>, name: &str) -> Answered {
    call.asked("recursive").found()?;
    let id = contents::resolve(call, name).await.map_err(|_| Refusal::not_found())?;
    let files = call.bare().files(&id).await?;
    call.show(|state, repo| {
        let api = state.repo_api(repo);
        let row = |[mode, kind, id, path]: &[String; 4]| {
            let url = format!("{api}/git/{kind}s/{id}");
            json!({"path": path, "mode": mode, "type": kind, "sha": id, "url": url})
        };
        let rows: Vec<Value> = files.iter().map(row).collect();
        Ok(json!({"sha": id, "url": format!("{api}/git/trees/{id}"), "tree": rows, "truncated": false}))
    })
}

fn branches(call: &Entered<'_>) -> Answered {
    call.list(|state, repo| {
        let row = |(name, sha): (&String, &String)| {
            let url = format!("{}/commits/{sha}", state.repo_api(repo));
            json!({"name": name, "commit": {"sha": sha, "url": url}, "protected": repo.rules_for(name).next().is_some()})
        };
        Ok(repo.branches.iter().map(row).collect())
    })
}

async fn branch(call: &Entered<'_>, name: &str) -> Answered {
    let sha = call.read(|_, repo| Ok(repo.branches.get(name).cloned()))?;
    let sha = sha.ok_or_else(|| Refusal::new(404, "Branch not found"))?;
    let facts = call.bare().commit(&sha).await?.found()?;
    call.show(|state, repo| {
        let url = format!("{}/branches/{name}", state.repo_api(repo));
        let page = format!("{}/tree/{name}", state.repo_page(repo));
        Ok(json!({
            "name": name,
            "commit": contents::commit_json(state, repo, &facts),
            "_links": {"self": url, "html": page},
            "protected": repo.rules_for(name).next().is_some(),
            "protection": {"enabled": false, "required_status_checks": {"enforcement_level": "off", "contexts": [], "checks": []}},
            "protection_url": format!("{url}/protection"),
        }))
    })
}

/// Lists all rules for a branch, as `GET /rules/branches/{branch}`.
fn rules(call: &Entered<'_>, branch: &str) -> Answered {
    call.list(|state, repo| {
        let row = |(place, rule): (usize, &RuleKind)| {
            let mut row = json!({
                "type": rule.name(),
                "ruleset_source_type": "Repository",
                "ruleset_source": state.full_name(repo),
                "ruleset_id": place + 1,
            });
            if let Some(parameters) = parameters(rule) {
                github::put(&mut row, "parameters", parameters);
            }
            row
        };
        Ok(repo.rules_for(branch).enumerate().map(row).collect())
    })
}

/// Shows one ruleset. In this forge, each holds one rule, and nobody may bypass it.
fn ruleset(call: &Entered<'_>, id: &str) -> Answered {
    call.show(|state, repo| {
        let id = id.parse::<usize>().ok();
        let rule = id.and_then(|id| repo.rules.get(id.checked_sub(1)?)).found()?;
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
        RuleKind::Creation
        | RuleKind::Deletion
        | RuleKind::NonFastForward
        | RuleKind::MergeQueue
        | RuleKind::RequiredSignatures
        | RuleKind::LinearHistory => None,
    }
}
