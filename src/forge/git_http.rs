//! git over HTTP: who may fetch and push, git's own back end for the work, and what a push causes.

use super::auth::Caller;
use super::auth::Right;
use super::refusal::Refusal;
use super::site::Site;
use super::state::Actor;
use super::state::Role;
use super::state::RuleKind;
use crate::git::bare::BackendRequest;
use crate::git::bare::ServedProcess;
use axum::body::Body;
use bytes::Bytes;
use futures_util::StreamExt;
use http::HeaderMap;
use http::Response;
use std::path::Path;
use std::sync::Arc;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio_util::io::ReaderStream;

/// Guards each ref of a push; its rules come in the environment.
const UPDATE_HOOK: &str = include_str!("update-hook.sh");
/// A push's answer is short; more than this is cut.
const LARGEST_REPORT: u64 = 8 * 1024 * 1024;

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

fn text_answer(status: u16, text: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(text.to_owned()));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::BAD_GATEWAY);
    response
        .headers_mut()
        .insert("content-type", http::HeaderValue::from_static("text/plain"));
    if status == 401 {
        let realm = http::HeaderValue::from_static("Basic realm=\"GitHub\"");
        response.headers_mut().insert("www-authenticate", realm);
    }
    response
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
        _ => true,
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

/// Feeds the body to git and gives its whole answer once git has ended.
async fn push(process: ServedProcess, body: Body) -> Response<Body> {
    let ServedProcess {
        mut child,
        stdin,
        stdout,
        stderr,
    } = process;
    let (mut out, mut complaints) = (Vec::new(), Vec::new());
    let (mut stdout, mut stderr) = (stdout.take(LARGEST_REPORT), stderr.take(LARGEST_REPORT));
    let (read, _, _) = tokio::join!(
        stdout.read_to_end(&mut out),
        stderr.read_to_end(&mut complaints),
        feed(stdin, body)
    );
    let ended = child.wait().await;
    if read.is_err() || ended.is_err() {
        return text_answer(500, "git could not be run");
    }
    if !complaints.is_empty() {
        tracing::debug!(stderr = %String::from_utf8_lossy(&complaints), "git complained about a push");
    }
    let (status, headers, rest) = cgi_head(&out);
    answer(
        status,
        headers,
        Body::from(Bytes::copy_from_slice(out.get(rest..).unwrap_or_default())),
    )
}

/// Feeds the body to git while its answer streams out.
async fn stream(process: ServedProcess, body: Body) -> Response<Body> {
    let ServedProcess {
        mut child,
        stdin,
        mut stdout,
        mut stderr,
    } = process;
    tokio::spawn(feed(stdin, body));
    tokio::spawn(async move {
        // Read so that git never waits for a reader.
        let mut complaints = Vec::new();
        let _ = stderr.read_to_end(&mut complaints).await;
    });
    let mut start = Vec::new();
    let mut chunk = [0_u8; 8192];
    while find_end(&start).is_none() {
        match stdout.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(count) => start.extend(chunk.iter().take(count)),
        }
    }
    let (status, headers, rest) = cgi_head(&start);
    let first = Bytes::copy_from_slice(start.get(rest..).unwrap_or_default());
    let more = ReaderStream::new(stdout);
    let all = futures_util::stream::once(async move { Ok(first) })
        .chain(more)
        .chain(futures_util::stream::once(async move {
            // Kept until the whole answer is out, because dropping the process kills it.
            child.wait().await.map(|_| Bytes::new())
        }));
    answer(status, headers, Body::from_stream(all))
}

async fn feed(mut stdin: tokio::process::ChildStdin, body: Body) {
    let mut chunks = body.into_data_stream();
    while let Some(Ok(chunk)) = chunks.next().await {
        // git that stops reading says why in its answer.
        if stdin.write_all(&chunk).await.is_err() {
            return;
        }
    }
}

fn find_end(bytes: &[u8]) -> Option<usize> {
    bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .map(|at| at + 4)
}

/// The status and headers of a CGI answer, and where its body starts.
fn cgi_head(bytes: &[u8]) -> (u16, HeaderMap, usize) {
    let Some(end) = find_end(bytes) else {
        return (500, HeaderMap::new(), bytes.len());
    };
    let text = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned();
    let (mut status, mut headers) = (200, HeaderMap::new());
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if name.eq_ignore_ascii_case("status") {
            status = value
                .trim()
                .split(' ')
                .next()
                .and_then(|code| code.parse().ok())
                .unwrap_or(500);
        } else if let (Ok(name), Ok(value)) = (name.parse::<http::HeaderName>(), value.trim().parse()) {
            headers.insert(name, value);
        }
    }
    (status, headers, end)
}

fn answer(status: u16, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::BAD_GATEWAY);
    *response.headers_mut() = headers;
    response
}
