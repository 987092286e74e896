//! git over HTTP: checks who may fetch and push, passes the request to git's own back end, and follows up a push.

use super::{
    auth::{Caller, Right},
    cgi::{answer, push, stream, text_answer},
    refusal::{Refusal, Result},
    site::Site,
    state::{Access, BranchRule, Role, RuleKind},
};
use axum::body::{Body, to_bytes};
use git::bare::{BackendRequest, ServedProcess};
use http::Response;
use std::{path::Path, sync::Arc};

/// git's `update` hook, which checks each ref of a push against the rules in its environment.
const UPDATE_HOOK: &str = include_str!("update-hook.sh");

/// The most bytes of git's capability advertisement; more is an error.
const MOST_ABILITIES: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct GitRequest {
    owner: String,
    name: String,
    service_path: String,
    query: String,
    push: bool,
}

impl GitRequest {
    /// Returns `true` if the client asks for git's capabilities. In protocol version 2, the answer says nothing about
    /// the repository.
    fn asks_for_abilities(&self, head: &http::request::Parts) -> bool {
        let version = head.headers.get("git-protocol");
        !self.push && self.service_path == "/info/refs" && version.is_some_and(|version| version == "version=2")
    }
}

/// Writes the hook that checks pushes into its folder, which holds no other afterwards.
pub(super) fn install_hook(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => std::fs::create_dir_all(folder)?,
    }
    let hook = folder.join("update");
    std::fs::write(&hook, UPDATE_HOOK)?;
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755))
}

/// Returns the git request of a path, or `None` if it is none.
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

/// Serves one git request.
pub(super) async fn serve(
    site: &Arc<Site>,
    request: &GitRequest,
    caller: Result<Caller>,
    head: &http::request::Parts,
    body: Body,
) -> Response<Body> {
    let served = async {
        let caller = caller?;
        let at = enter(site, request, &caller)?;
        if request.asks_for_abilities(head) {
            return abilities(site, || start(site, request, at.repo, &caller, head)).await;
        }
        if !request.push || head.method != http::Method::POST {
            return Ok(stream(start(site, request, at.repo, &caller, head)?, body).await);
        }
        let _gate = site.moving(at).await?;
        let response = push(start(site, request, at.repo, &caller, head)?, body).await;
        if let Err(refusal) = site.branches_moved(at).await {
            tracing::warn!(%refusal, "a push could not be followed up");
        }
        Ok(response)
    };
    let served: Result<_> = served.await;
    served.unwrap_or_else(|refusal| text_answer(refusal.status, &refusal.message))
}

/// Answers with git's capabilities; git is asked once and the answer kept.
async fn abilities(site: &Site, start: impl FnOnce() -> Result<ServedProcess>) -> Result<Response<Body>> {
    let ask = async || {
        let (head, body) = push(start()?, Body::empty()).await.into_parts();
        match to_bytes(body, MOST_ABILITIES).await {
            Ok(body) if head.status.is_success() => Ok((head.headers, body)),
            Ok(_) | Err(_) => Err(Refusal::new(500, "git could not be asked what it can do")),
        }
    };
    let (headers, body) = site.abilities.get_or_try_init(ask).await?;
    Ok(answer(200, headers.clone(), Body::from(body.clone())))
}

fn enter(site: &Site, request: &GitRequest, caller: &Caller) -> Result<Access> {
    let right = if request.push { Right::write(&["contents"], Role::Write) } else { Right::read(&["contents"]) };
    let anonymous = matches!(caller, Caller::Anonymous);
    let hidden = || match caller {
        Caller::Anonymous => Refusal::new(401, "Authentication required."),
        Caller::App(_) | Caller::Installation(_) | Caller::Person(_) => Refusal::new(404, "Repository not found."),
    };
    site.read(|state| {
        let repo = state.repo_once_named(&request.owner, &request.name).ok_or_else(hidden)?;
        caller.enter(state, repo.id, right).map_err(|refusal| match refusal.status {
            401 if anonymous => hidden(),
            404 => hidden(),
            403 if repo.archived => refusal,
            403 => {
                let who = caller.user().map(|id| state.login(id)).unwrap_or_default();
                let full = format!("{}/{}", request.owner, request.name);
                Refusal::new(403, format!("Permission to {full}.git denied to {who}."))
            }
            _ => refusal,
        })
    })
}

fn start(
    site: &Site,
    request: &GitRequest,
    repo: u64,
    caller: &Caller,
    head: &http::request::Parts,
) -> Result<ServedProcess> {
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
    let (user, rules) = site.read(|state| {
        let user = caller.user().map(|id| state.login(id).to_owned()).unwrap_or_default();
        let rules = state.repos.get(&repo).into_iter().flat_map(|repo| &repo.rules);
        (user, rules.filter_map(rule_line).collect::<Vec<_>>().join("\n"))
    });
    let workflows = match caller {
        Caller::Installation(narrowed) if !narrowed.writes("workflows") => "forbidden",
        Caller::Installation(_) | Caller::Anonymous | Caller::App(_) | Caller::Person(_) => "allowed",
    };
    let environment = [("FORGE_RULES", rules), ("FORGE_WORKFLOWS", workflows.to_owned())];
    Ok(site.bare(repo).serve_http(&BackendRequest {
        method: head.method.as_str(),
        service_path: &request.service_path,
        query: &request.query,
        content_type: header("content-type"),
        content_encoding: header("content-encoding"),
        protocol: header("git-protocol"),
        user: if request.push { &user } else { "" },
        hooks: &site.folder.join("hooks"),
        hook_environment: &environment,
    })?)
}

/// Returns a rule as a line for the `update` hook, or `None` for a rule that the hook does not check.
fn rule_line(rule: &BranchRule) -> Option<String> {
    match rule.kind {
        RuleKind::Creation | RuleKind::PullRequest { .. } | RuleKind::RequiredSignatures => {
            Some(format!("{} {}", rule.kind.name(), rule.pattern))
        }
        RuleKind::RequiredChecks(_) => None,
    }
}
