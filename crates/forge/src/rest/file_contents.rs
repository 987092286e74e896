//! The content at a path, in the shapes of GitHub's contents API: a file with its content in base64, a folder, a link, a
//! submodule. Large files lack their content or are refused.

use super::contents::resolve;
use crate::{
    call::{Answered, RepoCall},
    json as github,
    refusal::{OrNotFound, Refusal},
    state::{Repo, State},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use git::bare::{BareRepo, TreeEntry, destination};
use serde_json::{Value, json};

/// The largest file, in bytes, whose JSON shape includes its content.
const INLINE: u64 = 1_048_576;
/// The largest file that is served at all, in bytes.
const MOST: u64 = 100 * 1_048_576;

/// A requested path in a commit.
struct ContentRequest<'a> {
    call: &'a RepoCall<'a>,
    bare: BareRepo,
    /// The ref as the request names it.
    at: &'a str,
    commit: String,
    path: &'a str,
}

pub(super) async fn contents(call: &RepoCall<'_>, path: &str) -> Answered {
    let default = call.read(|_, repo| Ok(repo.default_branch.clone()))?;
    let at = call.query_value("ref").unwrap_or(&default);
    let missing = |_| Refusal::new(404, format!("No commit found for the ref {at}"));
    let asked = ContentRequest {
        call,
        bare: call.bare(),
        at,
        commit: resolve(call, at).await.map_err(missing)?,
        path: path.trim_matches('/'),
    };
    if asked.path.is_empty() {
        return asked.folder().await;
    }
    let entry = asked.bare.entry(&asked.commit, asked.path).await?.or_not_found()?;
    match entry.mode.as_str() {
        "040000" => asked.folder().await,
        "160000" => asked.show_entry("submodule", &entry.id, 0, json!({"submodule_git_url": null})),
        "120000" => asked.link(&entry).await,
        _ => asked.file(&entry).await,
    }
}

impl ContentRequest<'_> {
    async fn file(&self, entry: &TreeEntry) -> Answered {
        if entry.size > MOST {
            return Err(too_large());
        }
        let more = if entry.size > INLINE {
            json!({"content": "", "encoding": "none"})
        } else {
            let encoded = BASE64_STANDARD.encode(self.bare.blob(&entry.id).await?);
            json!({"content": github::lines_of(60, &encoded), "encoding": "base64"})
        };
        self.show_entry("file", &entry.id, entry.size, more)
    }

    /// Answers with the linked file if it is in the repository, else with the link itself.
    async fn link(&self, link: &TreeEntry) -> Answered {
        let target = String::from_utf8_lossy(&self.bare.blob(&link.id).await?).into_owned();
        if let Some(linked) = destination(self.path, &target)
            && let Some(entry) = self.bare.entry(&self.commit, &linked).await?
            && entry.mode.starts_with("100")
        {
            return self.file(&entry).await;
        }
        self.show_entry("symlink", &link.id, link.size, json!({"target": target}))
    }

    fn show_entry(&self, kind: &str, id: &str, size: u64, more: Value) -> Answered {
        self.call.show(|state, repo| {
            let mut entry = entry(state, repo, self.at, self.path, kind, id, size);
            github::extend(&mut entry, more);
            Ok(entry)
        })
    }

    async fn folder(&self) -> Answered {
        let entries = self.bare.folder(&self.commit, self.path).await?.or_not_found()?;
        let within = if self.path.is_empty() { "" } else { "/" };
        self.call.show(|state, repo| {
            let rows = entries.iter().map(|found| {
                let full = format!("{}{within}{}", self.path, found.path);
                let kind = if found.kind == "tree" { "dir" } else { "file" };
                entry(state, repo, self.at, &full, kind, &found.id, 0)
            });
            Ok(Value::Array(rows.collect()))
        })
    }
}

fn too_large() -> Refusal {
    let text = "This API returns blobs up to 100 MB in size. The requested blob is too large to fetch via the API, but you \
                can always clone the repository via Git.";
    Refusal::new(403, text).because(json!({"resource": "Blob", "field": "data", "code": "too_large"}))
}

fn entry(state: &State, repo: &Repo, at: &str, path: &str, kind: &str, id: &str, size: u64) -> Value {
    let api = state.repo_api(repo);
    let page = format!("{}/blob/{at}/{path}", state.repo_page(repo));
    let url = format!("{api}/contents/{path}?ref={at}");
    let git = format!("{api}/git/blobs/{id}");
    json!({
        "name": path.rsplit('/').next(), "path": path, "sha": id, "size": size, "type": kind,
        "url": url, "html_url": page, "git_url": git, "download_url": page,
        "_links": {"self": url, "git": git, "html": page},
    })
}
