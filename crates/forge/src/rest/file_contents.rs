//! What stands at a path, in the shapes of GitHub's contents API: JSON with base64, raw, a folder's list, a link, a
//! submodule, and the sizes from which it gives less.

use super::{
    super::{
        call::{Answer, Answered, Call},
        json as github,
        refusal::Refusal,
        state::{Repo, State},
    },
    contents::resolve,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use git::bare::BareRepo;
use serde_json::{Value, json};

/// From this size on the JSON shape leaves the content out.
const INLINE: u64 = 1_048_576;
/// Larger blobs are not given at all.
const MOST: u64 = 100 * 1_048_576;

/// The shape that is asked for.
#[derive(Clone, Copy, PartialEq)]
enum Media {
    Json,
    Raw,
    Object,
}

impl Media {
    fn of(accept: &str) -> Self {
        let named = |name: &str| accept.split(',').any(|media| media.trim().starts_with(name));
        if named("application/vnd.github.raw") || named("application/vnd.github.v3.raw") {
            Self::Raw
        } else if named("application/vnd.github.object") || named("application/vnd.github.v3.object") {
            Self::Object
        } else {
            Self::Json
        }
    }
}

/// Where something is looked for.
struct Asked<'a> {
    repo: u64,
    /// As it was named in the question.
    at: &'a str,
    commit: String,
    path: &'a str,
}

pub(super) async fn contents(call: &Call, repo: u64, path: &str) -> Answered {
    let default = call
        .site
        .read(|state| state.repo(repo).map(|repo| repo.default_branch.clone()))?;
    let at = call.asked("ref").unwrap_or(&default);
    let commit = resolve(call, repo, at)
        .await
        .map_err(|_| Refusal::new(404, format!("No commit found for the ref {at}")))?;
    let path = path.trim_matches('/');
    let asked = Asked { repo, at, commit, path };
    let bare = call.site.bare(repo);
    if path.is_empty() {
        return folder(call, &bare, &asked).await;
    }
    let mode = bare.mode(&asked.commit, path).await?.ok_or_else(Refusal::not_found)?;
    match mode.as_str() {
        "040000" => folder(call, &bare, &asked).await,
        "160000" => submodule(call, &bare, &asked).await,
        "120000" => link(call, &bare, &asked).await,
        _ => file(call, &bare, &asked, path).await,
    }
}

async fn file(call: &Call, bare: &BareRepo, asked: &Asked<'_>, stands_at: &str) -> Answered {
    let id = bare.object_id(&format!("{}:{stands_at}", asked.commit)).await?;
    let id = id.ok_or_else(Refusal::not_found)?;
    let size = bare.size(&id).await?;
    if size > MOST {
        return Err(too_large());
    }
    let media = Media::of(&call.accept);
    let bytes = match media == Media::Json && size > INLINE {
        true => None,
        false => bare.file(&asked.commit, stands_at).await?,
    };
    match (media, bytes) {
        (Media::Raw, Some(bytes)) => Ok(Answer::raw(bytes)),
        (_, bytes) => call.site.read(|state| {
            let mut entry = entry(state, state.repo(asked.repo)?, asked.at, asked.path, "file", &id, size);
            let more = match bytes {
                Some(bytes) => json!({"content": lines_of_60(&BASE64_STANDARD.encode(&bytes)), "encoding": "base64"}),
                None => json!({"content": "", "encoding": "none"}),
            };
            github::extend(&mut entry, more);
            Ok(Answer::ok(entry))
        }),
    }
}

fn too_large() -> Refusal {
    Refusal {
        errors: vec![json!({"resource": "Blob", "field": "data", "code": "too_large"})],
        ..Refusal::new(
            403,
            "This API returns blobs up to 100 MB in size. The requested blob is too large to fetch via the API, but you \
             can always clone the repository via Git.",
        )
    }
}

/// A link to a file of the repository is that file; any other is itself.
async fn link(call: &Call, bare: &BareRepo, asked: &Asked<'_>) -> Answered {
    let target = bare.file(&asked.commit, asked.path).await?.unwrap_or_default();
    let target = String::from_utf8_lossy(&target).into_owned();
    if let Some(stands_at) = followed(asked.path, &target)
        && let Some(mode) = bare.mode(&asked.commit, &stands_at).await?
        && mode.starts_with("100")
    {
        return file(call, bare, asked, &stands_at).await;
    }
    let id = bare.object_id(&format!("{}:{}", asked.commit, asked.path)).await?;
    let size = u64::try_from(target.len()).unwrap_or(u64::MAX);
    call.site.read(|state| {
        let id = id.unwrap_or_default();
        let mut entry = entry(
            state,
            state.repo(asked.repo)?,
            asked.at,
            asked.path,
            "symlink",
            &id,
            size,
        );
        github::extend(&mut entry, json!({"target": target}));
        Ok(Answer::ok(entry))
    })
}

/// The path within the repository that a link leads to.
fn followed(link: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = link.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

async fn submodule(call: &Call, bare: &BareRepo, asked: &Asked<'_>) -> Answered {
    let id = bare.object_id(&format!("{}:{}", asked.commit, asked.path)).await?;
    call.site.read(|state| {
        let id = id.unwrap_or_default();
        let mut entry = entry(
            state,
            state.repo(asked.repo)?,
            asked.at,
            asked.path,
            "submodule",
            &id,
            0,
        );
        github::extend(&mut entry, json!({"submodule_git_url": null}));
        Ok(Answer::ok(entry))
    })
}

async fn folder(call: &Call, bare: &BareRepo, asked: &Asked<'_>) -> Answered {
    let entries = bare.folder(&asked.commit, asked.path).await?;
    let entries = entries.ok_or_else(Refusal::not_found)?;
    call.site.read(|state| {
        let repo = state.repo(asked.repo)?;
        let rows = entries.iter().map(|(kind, id, file)| {
            let full = match asked.path.is_empty() {
                true => file.clone(),
                false => format!("{}/{file}", asked.path),
            };
            let kind = if kind == "tree" { "dir" } else { "file" };
            entry(state, repo, asked.at, &full, kind, id, 0)
        });
        let rows = Value::Array(rows.collect());
        if Media::of(&call.accept) != Media::Object {
            return Ok(Answer::ok(rows));
        }
        let mut folder = entry(state, repo, asked.at, asked.path, "dir", "", 0);
        github::extend(&mut folder, json!({"entries": rows}));
        Ok(Answer::ok(folder))
    })
}

fn lines_of_60(encoded: &str) -> String {
    let mut text = String::with_capacity(encoded.len() + encoded.len() / 60 + 1);
    for (place, letter) in encoded.chars().enumerate() {
        if place > 0 && place % 60 == 0 {
            text.push('\n');
        }
        text.push(letter);
    }
    text.push('\n');
    text
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

#[cfg(test)]
mod tests {
    use super::{Media, followed};

    #[test]
    fn a_link_is_followed_within_the_repository_only() {
        let table = [
            (".github/a.yml", "b.yml", Some(".github/b.yml")),
            (".github/a.yml", "../docs/./b.yml", Some("docs/b.yml")),
            (".github/a.yml", "../../b.yml", None),
            ("a.yml", "/etc/passwd", None),
            ("a.yml", ".", None),
        ];
        for (link, target, expected) in table {
            assert_eq!(followed(link, target).as_deref(), expected, "{link} -> {target}");
        }
    }

    #[test]
    fn the_media_type_decides_the_shape() {
        assert!(Media::of("application/vnd.github.raw+json") == Media::Raw);
        assert!(Media::of("text/html, application/vnd.github.v3.raw") == Media::Raw);
        assert!(Media::of("application/vnd.github.object+json") == Media::Object);
        assert!(Media::of("application/vnd.github+json") == Media::Json);
        assert!(Media::of("") == Media::Json);
    }
}
