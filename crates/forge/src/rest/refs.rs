//! Refs, branches, rules.

use super::{
    super::{
        auth::Right,
        call::{Answer, Answered, Call},
        refusal::Refusal,
        state::{Actor, Repo, Role, RuleKind, State},
    },
    contents,
};
use git::bare::BareError;
use serde_json::{Value, json};

const READ: Right = Right::read(&["contents"]);
const WRITE: Right = Right::write(&["contents"], Role::Write);
const METADATA: Right = Right::read(&["metadata"]);

pub(super) async fn answer(call: &Call, method: &str, owner: &str, name: &str, rest: &[&str]) -> Option<Answered> {
    let right = match (method, rest) {
        ("GET", ["rules" | "rulesets", ..]) => METADATA,
        ("GET", _) => READ,
        _ => WRITE,
    };
    let (repo, by) = match call.enter(owner, name, right) {
        Ok(entered) => entered,
        Err(refusal) => return Some(Err(refusal)),
    };
    Some(match (method, rest) {
        ("GET", ["git", "ref", path @ ..]) => one(call, repo, &path.join("/")).await,
        ("GET", ["git", "matching-refs", path @ ..]) => matching(call, repo, &path.join("/")).await,
        ("POST", ["git", "refs"]) => create(call, repo, by).await,
        ("PATCH", ["git", "refs", path @ ..]) => update(call, repo, by, &path.join("/")).await,
        ("DELETE", ["git", "refs", path @ ..]) => delete(call, repo, by, &path.join("/")).await,
        ("GET", ["git", "commits", sha]) => git_commit(call, repo, sha).await,
        ("GET", ["branches"]) => branches(call, repo),
        ("GET", ["branches", path @ ..]) => branch(call, repo, &path.join("/")).await,
        ("GET", ["rulesets", id]) => ruleset(call, repo, id),
        ("GET", ["rules", "branches", path @ ..]) => rules(call, repo, &path.join("/")),
        _ => return None,
    })
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

async fn one(call: &Call, repo: u64, path: &str) -> Answered {
    let name = format!("refs/{path}");
    let found = call.site.bare(repo).refs(&name).await?;
    let sha = found.get(&name).ok_or_else(Refusal::not_found)?;
    call.site
        .read(|state| Ok(Answer::ok(ref_json(state, state.repo(repo)?, &name, sha))))
}

async fn matching(call: &Call, repo: u64, path: &str) -> Answered {
    let prefix = format!("refs/{path}");
    let all = call.site.bare(repo).refs("refs/").await?;
    let rows = call.site.read(|state| {
        let known = state.repo(repo)?;
        let fits = all.iter().filter(|(name, _)| name.starts_with(&prefix));
        Ok::<_, Refusal>(fits.map(|(name, sha)| ref_json(state, known, name, sha)).collect())
    })?;
    Ok(call.page(rows))
}

fn violation(text: &str) -> Refusal {
    Refusal::new(422, format!("Repository rule violations found\n\n{text}\n\n"))
}

/// Refuses what a rule of the branch forbids.
fn check_rules(
    call: &Call,
    repo: u64,
    name: &str,
    refuses: impl Fn(&RuleKind) -> Option<&'static str>,
) -> Result<(), Refusal> {
    let Some(branch) = name.strip_prefix("refs/heads/") else {
        return Ok(());
    };
    call.site
        .read(|state| match state.repo(repo)?.rules_for(branch).find_map(refuses) {
            Some(text) => Err(violation(text)),
            None => Ok(()),
        })
}

fn refused(error: BareError, otherwise: &str) -> Refusal {
    tracing::debug!(%error, "a ref was not changed");
    Refusal::new(422, otherwise)
}

async fn create(call: &Call, repo: u64, by: Actor) -> Answered {
    let (name, sha) = (
        call.text("ref").unwrap_or_default(),
        call.text("sha").unwrap_or_default(),
    );
    let fine = name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
    let bare = call.site.bare(repo);
    if !fine || !bare.is_ref_name(&name).await? {
        return Err(Refusal::new(422, format!("{name} is not a valid ref name.")));
    }
    let full_id = sha.len() == 40 && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !full_id || bare.commit_id(&sha).await?.is_none() {
        return Err(Refusal::new(422, "Object does not exist"));
    }
    check_rules(call, repo, &name, |rule| match rule {
        RuleKind::Creation => Some("Cannot create ref due to creations being restricted."),
        RuleKind::Deletion
        | RuleKind::PullRequest { .. }
        | RuleKind::NonFastForward
        | RuleKind::RequiredChecks(_)
        | RuleKind::MergeQueue
        | RuleKind::RequiredSignatures
        | RuleKind::LinearHistory => None,
    })?;
    let _gate = call.site.gate(repo).await;
    bare.update_ref(&name, &sha, Some(None))
        .await
        .map_err(|error| match error {
            BareError::Moved(_) => Refusal::new(422, "Reference already exists"),
            other @ (BareError::Process(_)
            | BareError::Failed { .. }
            | BareError::Unreadable(_)
            | BareError::Empty(_)
            | BareError::Shallow(_)) => refused(other, "Reference update failed"),
        })?;
    call.site.branches_moved(by, repo).await?;
    call.site
        .read(|state| Ok(Answer::created(ref_json(state, state.repo(repo)?, &name, &sha))))
}

async fn update(call: &Call, repo: u64, by: Actor, path: &str) -> Answered {
    let (name, sha, force) = (
        format!("refs/{path}"),
        call.text("sha").unwrap_or_default(),
        call.flag("force"),
    );
    let bare = call.site.bare(repo);
    let _gate = call.site.gate(repo).await;
    let old = bare
        .refs(&name)
        .await?
        .get(&name)
        .cloned()
        .ok_or_else(|| Refusal::new(422, "Reference does not exist"))?;
    let full_id = sha.len() == 40 && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !full_id || bare.commit_id(&sha).await?.is_none() {
        return Err(Refusal::new(422, "Object does not exist"));
    }
    let grows = bare.is_ancestor(&old, &sha).await?;
    if !grows && !force {
        return Err(Refusal::new(422, "Update is not a fast forward"));
    }
    check_rules(call, repo, &name, |rule| match rule {
        RuleKind::PullRequest { .. } => Some("Changes must be made through a pull request."),
        RuleKind::MergeQueue => Some("Changes must be made through the merge queue"),
        RuleKind::NonFastForward if !grows => Some("Cannot force-push to this branch"),
        RuleKind::Creation
        | RuleKind::Deletion
        | RuleKind::NonFastForward
        | RuleKind::RequiredChecks(_)
        | RuleKind::RequiredSignatures
        | RuleKind::LinearHistory => None,
    })?;
    bare.update_ref(&name, &sha, Some(Some(&old)))
        .await
        .map_err(|error| refused(error, "Reference update failed"))?;
    call.site.branches_moved(by, repo).await?;
    call.site
        .read(|state| Ok(Answer::ok(ref_json(state, state.repo(repo)?, &name, &sha))))
}

async fn delete(call: &Call, repo: u64, by: Actor, path: &str) -> Answered {
    let name = format!("refs/{path}");
    let default = call
        .site
        .read(|state| state.repo(repo).map(|repo| repo.default_branch.clone()))?;
    if name == format!("refs/heads/{default}") {
        return Err(Refusal::new(422, "Cannot delete the default branch"));
    }
    if !name.starts_with("refs/heads/") && !name.starts_with("refs/tags/") {
        return Err(Refusal::new(422, "Reference cannot be deleted"));
    }
    check_rules(call, repo, &name, |rule| match rule {
        RuleKind::Deletion => Some("Cannot delete this branch"),
        RuleKind::Creation
        | RuleKind::PullRequest { .. }
        | RuleKind::NonFastForward
        | RuleKind::RequiredChecks(_)
        | RuleKind::MergeQueue
        | RuleKind::RequiredSignatures
        | RuleKind::LinearHistory => None,
    })?;
    let bare = call.site.bare(repo);
    let _gate = call.site.gate(repo).await;
    if !bare.refs(&name).await?.contains_key(&name) {
        return Err(Refusal::new(422, "Reference does not exist"));
    }
    bare.delete_ref(&name).await?;
    call.site.branches_moved(by, repo).await?;
    Ok(Answer::nothing())
}

async fn git_commit(call: &Call, repo: u64, sha: &str) -> Answered {
    let id = contents::resolve(call, repo, sha).await?;
    let facts = call.site.bare(repo).commit(&id).await?.ok_or_else(Refusal::not_found)?;
    call.site.read(|state| {
        let known = state.repo(repo)?;
        let whole = contents::commit_json(state, known, &facts);
        let mut shown = whole.get("commit").cloned().unwrap_or_default();
        super::super::json::extend(
            &mut shown,
            json!({"sha": id, "node_id": format!("C_{id}"), "html_url": whole.get("html_url"), "parents": whole.get("parents")}),
        );
        Ok(Answer::ok(shown))
    })
}

fn branches(call: &Call, repo: u64) -> Answered {
    let rows = call.site.read(|state| {
        let known = state.repo(repo)?;
        let row = |(name, sha): (&String, &String)| {
            let url = format!("{}/commits/{sha}", state.repo_api(known));
            json!({"name": name, "commit": {"sha": sha, "url": url}, "protected": known.rules_for(name).next().is_some()})
        };
        Ok::<_, Refusal>(known.branches.iter().map(row).collect())
    })?;
    Ok(call.page(rows))
}

async fn branch(call: &Call, repo: u64, name: &str) -> Answered {
    let sha = call.site.read(|state| {
        let known = state.repo(repo)?;
        known
            .branches
            .get(name)
            .cloned()
            .ok_or_else(|| Refusal::new(404, "Branch not found"))
    })?;
    let facts = call
        .site
        .bare(repo)
        .commit(&sha)
        .await?
        .ok_or_else(Refusal::not_found)?;
    call.site.read(|state| {
        let known = state.repo(repo)?;
        let url = format!("{}/branches/{name}", state.repo_api(known));
        let page = format!("{}/tree/{name}", state.repo_page(known));
        Ok(Answer::ok(json!({
            "name": name,
            "commit": contents::commit_json(state, known, &facts),
            "_links": {"self": url, "html": page},
            "protected": known.rules_for(name).next().is_some(),
            "protection": {"enabled": false, "required_status_checks": {"enforcement_level": "off", "contexts": [], "checks": []}},
            "protection_url": format!("{url}/protection"),
        })))
    })
}

/// All rules that hold for a branch, as `GET /rules/branches/{branch}` lists them.
fn rules(call: &Call, repo: u64, branch: &str) -> Answered {
    let rows = call.site.read(|state| {
        let known = state.repo(repo)?;
        let row = |(place, rule): (usize, &RuleKind)| {
            let mut row = json!({
                "type": rule.name(),
                "ruleset_source_type": "Repository",
                "ruleset_source": state.full_name(known),
                "ruleset_id": place + 1,
            });
            if let Some(parameters) = parameters(rule) {
                crate::json::put(&mut row, "parameters", parameters);
            }
            row
        };
        Ok::<_, Refusal>(known.rules_for(branch).enumerate().map(row).collect())
    })?;
    Ok(call.page(rows))
}

/// One ruleset. This forge knows one rule in each, and nobody who may pass over it.
fn ruleset(call: &Call, repo: u64, id: &str) -> Answered {
    let found = call.site.read(|state| {
        let known = state.repo(repo)?;
        let place = id.parse::<usize>().ok().and_then(|id| id.checked_sub(1));
        let rule = place.and_then(|place| known.rules.get(place));
        let rule = rule.ok_or_else(|| Refusal::new(404, "Not Found"))?;
        Ok::<_, Refusal>(json!({
            "id": place.map(|place| place + 1),
            "name": rule.kind.name(),
            "target": "branch",
            "source_type": "Repository",
            "source": state.full_name(known),
            "enforcement": "active",
            "current_user_can_bypass": "never",
            "conditions": {"ref_name": {"include": [format!("refs/heads/{}", rule.pattern)], "exclude": []}},
            "rules": [{"type": rule.kind.name()}],
        }))
    })?;
    Ok(Answer::ok(found))
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
