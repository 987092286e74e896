//! git over HTTP: who may fetch and push, git's own back end for the work, and what a push causes.

use super::{
    auth::{Caller, Right},
    cgi::{push, stream, text_answer},
    refusal::Refusal,
    site::Site,
    state::{Actor, Role, RuleKind},
};
use axum::body::Body;
use git::bare::{BackendRequest, ServedProcess};
use http::Response;
use std::{path::Path, sync::Arc};

/// Guards each ref of a push; its rules come in the environment.
const UPDATE_HOOK: &str = include_str!("update-hook.sh");

/// A request that speaks git.
#[derive(Debug)]
pub(super) struct GitRequest {
    owner: String,
    name: String,
    service_path: String,
    query: String,
    push: bool,
}

/// Puts the hook that guards pushes in its folder.
pub(super) fn install_hook(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(folder)?;
    let hook = folder.join("update");
    std::fs::write(&hook, UPDATE_HOOK)?;
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755))
}

/// Tells git's requests from all others.
pub(super) fn recognise(parts: &[String], query: &str) -> Option<GitRequest> {
    let slices: Vec<&str> = parts.iter().map(String::as_str).collect();
    let (owner, name, service_path, push) = match slices.as_slice() {
        [owner, name, "info", "refs"] if query.contains("service=git-") => {
            (owner, name, "/info/refs", query.contains("service=git-receive-pack"))
        }
        [owner, name, "git-upload-pack"] => (owner, name, "/git-upload-pack", false),
        [owner, name, "git-receive-pack"] => (owner, name, "/git-receive-pack", true),
        _ => return None,
    };
    Some(GitRequest {
        owner: (*owner).to_owned(),
        name: name.strip_suffix(".git").unwrap_or(name).to_owned(),
        service_path: service_path.to_owned(),
        query: query.to_owned(),
        push,
    })
}

/// Serves one request of git's.
pub(super) async fn serve(
    site: &Arc<Site>,
    request: &GitRequest,
    caller: Result<Caller, Refusal>,
    head: &http::request::Parts,
    body: Body,
) -> Response<Body> {
    let entered = caller.and_then(|caller| enter(site, request, &caller).map(|(repo, actor)| (repo, actor, caller)));
    let (repo, actor, caller) = match entered {
        Ok(entered) => entered,
        Err(refusal) => return text_answer(refusal.status, &refusal.message),
    };
    let _gate = match request.push && head.method == http::Method::POST {
        true => Some(site.gate(repo).await),
        false => None,
    };
    let process = match start(site, request, repo, &caller, head) {
        Ok(process) => process,
        Err(refusal) => return text_answer(refusal.status, &refusal.message),
    };
    if head.method == http::Method::POST && request.push {
        let response = push(process, body).await;
        if let Err(refusal) = site.branches_moved(actor, repo).await {
            tracing::warn!(%refusal, "a push could not be followed up");
        }
        return response;
    }
    stream(process, body).await
}

fn enter(site: &Site, request: &GitRequest, caller: &Caller) -> Result<(u64, Actor), Refusal> {
    let right = match request.push {
        true => Right::write(&["contents"], Role::Write),
        false => Right::read(&["contents"]),
    };
    site.read(|state| {
        let full = format!("{}/{}", request.owner, request.name);
        let former = || {
            state
                .former_names
                .get(&full.to_lowercase())
                .and_then(|id| state.repos.get(id))
        };
        let anonymous = matches!(caller, Caller::Anonymous);
        let hidden = || match anonymous {
            true => Refusal::new(401, "Authentication required."),
            false => Refusal::new(404, "Repository not found."),
        };
        let repo = state
            .repo_named(&request.owner, &request.name)
            .or_else(former)
            .ok_or_else(hidden)?;
        let actor = caller
            .enter(state, repo.id, right)
            .map_err(|refusal| match refusal.status {
                401 | 404 if anonymous => Refusal::new(401, "Authentication required."),
                403 => {
                    let who = caller.user().map(|id| state.login(id)).unwrap_or_default();
                    Refusal::new(403, format!("Permission to {full}.git denied to {who}."))
                }
                404 => Refusal::new(404, "Repository not found."),
                _ => refusal,
            })?;
        if request.push && repo.archived {
            return Err(Refusal::new(403, "This repository was archived so it is read-only."));
        }
        Ok((repo.id, actor))
    })
}

fn start(
    site: &Site,
    request: &GitRequest,
    repo: u64,
    caller: &Caller,
    head: &http::request::Parts,
) -> Result<ServedProcess, Refusal> {
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
    let (user, rules) = site.read(|state| {
        let user = caller.user().map(|id| state.login(id).to_owned()).unwrap_or_default();
        let rules: Vec<String> = state
            .repos
            .get(&repo)
            .into_iter()
            .flat_map(|repo| &repo.rules)
            .filter_map(rule_line)
            .collect();
        (user, rules.join("\n"))
    });
    let workflows = match caller {
        Caller::Installation(narrowed) => narrowed
            .permissions
            .get("workflows")
            .is_some_and(|level| level == "write"),
        Caller::Anonymous | Caller::App(_) | Caller::Person(_) => true,
    };
    let environment = [
        ("FORGE_RULES", rules),
        (
            "FORGE_WORKFLOWS",
            if workflows { "allowed" } else { "forbidden" }.to_owned(),
        ),
    ];
    let hooks = site.hooks_folder();
    Ok(site.bare(repo).serve_http(&BackendRequest {
        method: head.method.as_str(),
        service_path: &request.service_path,
        query: &request.query,
        content_type: header("content-type"),
        content_encoding: header("content-encoding"),
        protocol: header("git-protocol"),
        user: if request.push { &user } else { "" },
        hooks: &hooks,
        hook_environment: &environment,
    })?)
}

fn rule_line(rule: &super::state::BranchRule) -> Option<String> {
    let kind = match rule.kind {
        RuleKind::Creation => "creation",
        RuleKind::Deletion => "deletion",
        RuleKind::PullRequest { .. } => "pull_request",
        RuleKind::NonFastForward => "non_fast_forward",
        RuleKind::MergeQueue => "merge_queue",
        RuleKind::RequiredSignatures => "required_signatures",
        RuleKind::RequiredChecks(_) | RuleKind::LinearHistory => return None,
    };
    Some(format!("{kind} {}", rule.pattern))
}
