//! The raw payload: the checks of its form, and the fields that we read.

use super::parse::WebhookError;
use crate::github::model::{Actor, Comment, Issue, Pull, Repository, RepositoryRef, Review, app_id, time};
use domain::ids::{AppId, CheckRunId, InstallationId, Millis, RepoId, Sha};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::error::Category;

/// The deepest nesting that is accepted. GitHub's payloads have about ten levels.
const MAX_DEPTH: usize = 64;

/// The longest text of a parse error that is repeated, in characters.
const MAX_REASON: usize = 300;

/// The fields of all events that we act on. [`super::parse`] decides which of them an event needs.
#[derive(Deserialize)]
pub(super) struct Payload {
    pub(super) installation: Option<InstallationWire>,
    pub(super) repository: Option<Repository>,
    pub(super) sender: Option<Actor>,
    pub(super) pusher: Option<PusherWire>,
    pub(super) issue: Option<Issue>,
    pub(super) label: Option<LabelWire>,
    pub(super) comment: Option<Comment>,
    pub(super) pull_request: Option<Box<Pull>>,
    pub(super) review: Option<Review>,
    #[serde(rename = "ref")]
    pub(super) reference: Option<String>,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    #[serde(default)]
    pub(super) created: bool,
    #[serde(default)]
    pub(super) deleted: bool,
    #[serde(default)]
    pub(super) forced: bool,
    pub(super) commits: Option<Vec<CommitWire>>,
    pub(super) check_run: Option<CheckRunWire>,
    pub(super) check_suite: Option<CheckSuiteWire>,
    pub(super) requested_action: Option<ActionWire>,
    #[serde(default)]
    pub(super) changes: ChangesWire,
    #[serde(default, deserialize_with = "named")]
    pub(super) repositories_added: Option<Vec<RepositoryRef>>,
    #[serde(default, deserialize_with = "named")]
    pub(super) repositories_removed: Option<Vec<RepositoryRef>>,
}

#[derive(Deserialize)]
pub(super) struct InstallationWire {
    pub(super) id: InstallationId,
    #[serde(default, deserialize_with = "time")]
    pub(super) suspended_at: Option<Millis>,
}

/// Reads repositories. Leaves out one without an id or a name, which GitHub's schema allows.
fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<RepositoryRef>>, D::Error> {
    #[derive(Deserialize)]
    struct Wire {
        id: Option<RepoId>,
        full_name: Option<String>,
    }
    let all = Option::<Vec<Wire>>::deserialize(deserializer)?;
    let whole = |wire: Wire| {
        let (id, name) = (wire.id?, wire.full_name?.parse().ok()?);
        Some(RepositoryRef { id, name })
    };
    Ok(all.map(|all| all.into_iter().filter_map(whole).collect()))
}

#[derive(Deserialize)]
pub(super) struct LabelWire {
    pub(super) name: String,
}

/// A commit of a push, with the paths that it touches.
#[derive(Deserialize)]
pub(super) struct CommitWire {
    pub(super) added: Option<Vec<String>>,
    pub(super) removed: Option<Vec<String>>,
    pub(super) modified: Option<Vec<String>>,
}

#[derive(Deserialize)]
pub(super) struct CheckRunWire {
    pub(super) id: CheckRunId,
    pub(super) external_id: Option<String>,
    pub(super) head_sha: Sha,
    #[serde(default, deserialize_with = "app_id")]
    pub(super) app: Option<AppId>,
}

#[derive(Deserialize)]
pub(super) struct CheckSuiteWire {
    pub(super) head_sha: Sha,
    #[serde(default, deserialize_with = "app_id")]
    pub(super) app: Option<AppId>,
}

#[derive(Deserialize)]
pub(super) struct ActionWire {
    pub(super) identifier: Option<String>,
}

/// The person who pushed, by the name that git was given.
#[derive(Deserialize)]
pub(super) struct PusherWire {
    pub(super) name: String,
}

#[derive(Default, Deserialize)]
pub(super) struct ChangesWire {
    pub(super) default_branch: Option<IgnoredAny>,
}

/// Returns the payload's `action`; `None` if it is not a text.
pub(super) fn action(body: &[u8]) -> Result<Option<String>, WebhookError> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default, deserialize_with = "loose")]
        action: Option<String>,
    }
    fn loose<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Loose {
            Text(String),
            Other(IgnoredAny),
        }
        Ok(match Loose::deserialize(deserializer)? {
            Loose::Text(text) => Some(text),
            Loose::Other(IgnoredAny) => None,
        })
    }
    decode::<Head>(body).map(|head| head.action)
}

pub(super) fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, WebhookError> {
    text::json::read(body).map_err(|error| {
        let reason = error.to_string().chars().take(MAX_REASON).collect();
        match error.classify() {
            Category::Data => WebhookError::Malformed(reason),
            Category::Syntax | Category::Eof | Category::Io => WebhookError::NotJson(reason),
        }
    })
}

/// Refuses what serde accepts: bytes that are not UTF-8 and very deep nesting in fields that are skipped, and an array
/// in place of a struct (which serde would read by position).
pub(super) fn check_shape(body: &[u8]) -> Result<(), WebhookError> {
    std::str::from_utf8(body).map_err(|_| WebhookError::NotUtf8)?;
    match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => {}
        Some(b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => return Err(WebhookError::NotAnObject),
        Some(_) | None => return Err(WebhookError::NotJson("no JSON value".to_owned())),
    }
    if depth(body) > MAX_DEPTH {
        return Err(WebhookError::TooDeep(MAX_DEPTH));
    }
    Ok(())
}

fn depth(body: &[u8]) -> usize {
    let (mut now, mut deepest) = (0_usize, 0_usize);
    let (mut in_text, mut escaped) = (false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => {
                now = now.saturating_add(1);
                deepest = deepest.max(now);
            }
            b'}' | b']' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
