//! Parses raw bytes into an [`Inbound`]: the checks of their form, the reader of each event, and below the fields that
//! the readers need.

use super::inbound::{
    EventOrigin, Inbound, InstallationEvent, IssueEvent, PressedCheckRun, PullEvent, Push, PushKind, RepositoryEvent,
    ReviewChange,
};
use crate::github::model::{Actor, Comment, Issue, Named, Pull, Repository, RepositoryRef, Review, id_of, time};
use domain::ids::{AppId, CheckRunId, InstallationId, Millis, RepoId, Sha};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::error::Category;
use std::collections::BTreeSet;

/// The most commits of a push that GitHub lists.
const MOST_COMMITS: usize = 2_048;

/// The deepest nesting that is accepted. GitHub's payloads have about ten levels.
const MAX_DEPTH: usize = 64;

/// The longest text of a parse error that is repeated, in characters.
const MAX_REASON: usize = 300;

/// Why a payload cannot be read. It is always the sender's fault, to be answered with a status in the 400s.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The bytes are not UTF-8.
    #[error("the payload is not UTF-8")]
    NotUtf8,
    /// The root is not an object.
    #[error("the payload is not a JSON object")]
    NotAnObject,
    /// It is nested deeper than any payload of GitHub.
    #[error("the payload is nested deeper than {0} levels")]
    TooDeep(usize),
    #[error("the payload is not JSON: {0}")]
    NotJson(String),
    /// A field of an event that we act on is missing.
    #[error("the payload lacks {0}")]
    Lacks(&'static str),
    /// A field of an event that we act on has the wrong type.
    #[error("the payload is malformed: {0}")]
    Malformed(String),
}

/// Parses the payload of a delivery of `event` (`X-GitHub-Event`). Fields that GitHub's webhook schema makes optional
/// may be absent. A delivery that makes no sense without such a field is ignored.
///
/// GitHub names an installation in everything that it sends to an App. A delivery without one comes from a repository's
/// or organisation's webhook, and is ignored because the App's own webhook reports the event too.
pub fn parse(event: &str, body: &[u8]) -> Result<Inbound, WebhookError> {
    check_shape(body)?;
    let action = action(body)?;
    let Some(read) = reader(event, action.as_deref().unwrap_or_default()) else {
        return Ok(Inbound::Ignored);
    };
    let payload: Payload = decode(body)?;
    if payload.installation.is_none() && event != "ping" {
        return Ok(Inbound::Ignored);
    }
    Ok(read(payload)?.unwrap_or(Inbound::Ignored))
}

/// Reads the payload of one kind of event; `None` if it shows that the event is not needed.
type EventReader = fn(Payload) -> Result<Option<Inbound>, WebhookError>;

/// Returns the reader of an event and action that AutoBuild acts on. Edits of an issue are none: the snapshot at the label
/// counts, and a reopened issue waits for a new label. New commits of a pull request arrive as pushes.
fn reader(event: &str, action: &str) -> Option<EventReader> {
    let reader: EventReader = match (event, action) {
        ("issues", "labeled") => |payload| issue(payload, IssueEvent::Labeled),
        ("issues", "unlabeled") => |payload| issue(payload, IssueEvent::Unlabeled),
        ("issues", "closed") => |payload| issue(payload, |_| IssueEvent::Closed),
        ("issues", "deleted") => |payload| issue(payload, |_| IssueEvent::Deleted),
        ("issues", "transferred") => |payload| issue(payload, |_| IssueEvent::Transferred),
        ("issue_comment", "created") => comment,
        ("pull_request", "closed") => |payload| pull(payload, PullEvent::Closed),
        ("pull_request", "reopened") => |payload| pull(payload, PullEvent::Reopened),
        ("pull_request_review", "submitted") => |payload| review(payload, ReviewChange::Submitted),
        ("pull_request_review", "dismissed") => |payload| review(payload, ReviewChange::Dismissed),
        ("push", _) => push,
        ("check_run", "rerequested") => |mut payload| {
            let run = need("check_run", payload.check_run.take())?;
            rerun(payload, run.head_sha, run.app)
        },
        ("check_suite", "rerequested") => |mut payload| {
            let suite = need("check_suite", payload.check_suite.take())?;
            rerun(payload, suite.head_sha, suite.app)
        },
        ("check_run", "requested_action") => check_action,
        _ => return reader_of_place(event, action),
    };
    Some(reader)
}

/// Returns the reader of an event of a repository or an installation.
fn reader_of_place(event: &str, action: &str) -> Option<EventReader> {
    let reader: EventReader = match (event, action) {
        ("repository", "renamed") => |payload| repository(payload, RepositoryEvent::Renamed),
        ("repository", "transferred") => |payload| repository(payload, RepositoryEvent::Transferred),
        ("repository", "archived") => |payload| repository(payload, RepositoryEvent::Archived),
        ("repository", "unarchived") => |payload| repository(payload, RepositoryEvent::Unarchived),
        ("repository", "deleted") => |payload| repository(payload, RepositoryEvent::Deleted),
        ("repository", "edited") => |payload| match payload.changes.default_branch {
            Some(_) => repository(payload, RepositoryEvent::DefaultBranchChanged),
            None => Ok(None),
        },
        ("installation", "created") => |payload| installation(payload, InstallationEvent::Created),
        ("installation", "deleted") => |payload| installation(payload, InstallationEvent::Deleted),
        ("installation", "suspend") => |payload| {
            let at = payload.installation.as_ref().and_then(|known| known.suspended_at);
            installation(payload, InstallationEvent::Suspended { at })
        },
        ("installation", "unsuspend") => |payload| installation(payload, InstallationEvent::Unsuspended),
        ("installation_repositories", "added") => |mut payload| {
            let repos = need("repositories_added", payload.repositories_added.take())?;
            installation(payload, InstallationEvent::RepositoriesAdded(repos))
        },
        ("installation_repositories", "removed") => |mut payload| {
            let repos = need("repositories_removed", payload.repositories_removed.take())?;
            installation(payload, InstallationEvent::RepositoriesRemoved(repos))
        },
        ("ping", _) => |_| Ok(Some(Inbound::Ping)),
        _ => return None,
    };
    Some(reader)
}

fn need<T>(field: &'static str, value: Option<T>) -> Result<T, WebhookError> {
    value.ok_or(WebhookError::Lacks(field))
}

fn origin(payload: Payload) -> Result<Box<EventOrigin>, WebhookError> {
    let pusher = || payload.pusher.map(|pusher| Actor::from_login(&pusher.name));
    Ok(Box::new(EventOrigin {
        installation: need("installation", payload.installation)?.id,
        repo: need("repository", payload.repository)?,
        sender: need("sender", payload.sender.or_else(pusher))?,
    }))
}

fn issue(mut payload: Payload, event: fn(Option<String>) -> IssueEvent) -> Result<Option<Inbound>, WebhookError> {
    Ok(Some(Inbound::Issue {
        issue: need("issue", payload.issue.take())?,
        event: event(payload.label.take().map(|label| label.name)),
        origin: origin(payload)?,
    }))
}

fn comment(mut payload: Payload) -> Result<Option<Inbound>, WebhookError> {
    Ok(Some(Inbound::CommentCreated {
        comment: need("comment", payload.comment.take())?,
        issue: need("issue", payload.issue.take())?,
        origin: origin(payload)?,
    }))
}

fn pull(mut payload: Payload, event: PullEvent) -> Result<Option<Inbound>, WebhookError> {
    Ok(Some(Inbound::Pull {
        pull: need("pull_request", payload.pull_request.take())?,
        event,
        origin: origin(payload)?,
    }))
}

fn review(mut payload: Payload, event: ReviewChange) -> Result<Option<Inbound>, WebhookError> {
    Ok(Some(Inbound::Review {
        review: need("review", payload.review.take())?,
        pull: need("pull_request", payload.pull_request.take())?,
        event,
        origin: origin(payload)?,
    }))
}

fn rerun(payload: Payload, head: Sha, app: Option<AppId>) -> Result<Option<Inbound>, WebhookError> {
    let origin = origin(payload)?;
    Ok(Some(Inbound::Rerun { origin, head, app }))
}

fn repository(payload: Payload, event: RepositoryEvent) -> Result<Option<Inbound>, WebhookError> {
    let origin = origin(payload)?;
    Ok(Some(Inbound::Repository { origin, event }))
}

fn installation(payload: Payload, event: InstallationEvent) -> Result<Option<Inbound>, WebhookError> {
    need("sender", payload.sender)?;
    let installation = need("installation", payload.installation)?.id;
    Ok(Some(Inbound::Installation { installation, event }))
}

fn push(payload: Payload) -> Result<Option<Inbound>, WebhookError> {
    let reference = need("ref", payload.reference.as_deref())?;
    let Some(branch) = reference.strip_prefix("refs/heads/") else {
        return Ok(None);
    };
    let (before, after) = (commit("before", &payload.before)?, commit("after", &payload.after)?);
    let kind = match (payload.deleted || after.is_none(), payload.created, payload.forced) {
        (true, _, _) => PushKind::Deleted,
        (_, true, _) => PushKind::Created,
        (_, _, true) => PushKind::Forced,
        (false, false, false) => PushKind::FastForward,
    };
    let push = Push {
        branch: branch.to_owned(),
        before,
        after,
        paths: match kind {
            PushKind::FastForward => touched(payload.commits.as_deref().unwrap_or_default()),
            PushKind::Created | PushKind::Forced | PushKind::Deleted => None,
        },
        kind,
    };
    Ok(Some(Inbound::Push { push, origin: origin(payload)? }))
}

/// Returns every path that the commits touch; `None` if the list of commits is empty or may be cut off.
fn touched(commits: &[CommitWire]) -> Option<BTreeSet<String>> {
    let paths = |commit: &CommitWire| {
        let lists = [&commit.added, &commit.removed, &commit.modified];
        lists.into_iter().flatten().flatten().cloned().collect::<Vec<_>>()
    };
    let all: BTreeSet<String> = commits.iter().flat_map(paths).collect();
    (!all.is_empty() && commits.len() < MOST_COMMITS).then_some(all)
}

/// Reads a required commit id. GitHub's all-zero id means that there is no commit, so it is `None`.
fn commit(field: &'static str, text: &Option<String>) -> Result<Option<Sha>, WebhookError> {
    let text = need(field, text.as_deref())?;
    if !text.is_empty() && text.bytes().all(|byte| byte == b'0') {
        return Ok(None);
    }
    let sha = text.parse().map_err(|_| WebhookError::Malformed(format!("{field} is not a commit id")))?;
    Ok(Some(sha))
}

/// Reads a click on a button. A click without the button's identifier is ignored.
fn check_action(mut payload: Payload) -> Result<Option<Inbound>, WebhookError> {
    let run = need("check_run", payload.check_run.take())?;
    let Some(identifier) = payload.requested_action.take().and_then(|action| action.identifier) else {
        return Ok(None);
    };
    Ok(Some(Inbound::CheckAction {
        run: PressedCheckRun { id: run.id, external_id: run.external_id },
        identifier,
        origin: origin(payload)?,
    }))
}

/// The fields of all events that we act on. [`reader`] decides which of them an event needs.
#[derive(Deserialize)]
struct Payload {
    installation: Option<InstallationWire>,
    repository: Option<Repository>,
    sender: Option<Actor>,
    /// The person who pushed, by the name that git was given.
    pusher: Option<Named>,
    issue: Option<Issue>,
    label: Option<Named>,
    comment: Option<Comment>,
    pull_request: Option<Box<Pull>>,
    review: Option<Review>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    before: Option<String>,
    after: Option<String>,
    #[serde(default)]
    created: bool,
    #[serde(default)]
    deleted: bool,
    #[serde(default)]
    forced: bool,
    commits: Option<Vec<CommitWire>>,
    check_run: Option<CheckRunWire>,
    check_suite: Option<CheckSuiteWire>,
    requested_action: Option<ActionWire>,
    #[serde(default)]
    changes: ChangesWire,
    #[serde(default, deserialize_with = "read_named")]
    repositories_added: Option<Vec<RepositoryRef>>,
    #[serde(default, deserialize_with = "read_named")]
    repositories_removed: Option<Vec<RepositoryRef>>,
}

#[derive(Deserialize)]
struct InstallationWire {
    id: InstallationId,
    #[serde(default, deserialize_with = "time")]
    suspended_at: Option<Millis>,
}

/// Reads repositories. Leaves out one without an id or a name, which GitHub's schema allows.
fn read_named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<RepositoryRef>>, D::Error> {
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

/// A commit of a push, with the paths that it touches.
#[derive(Deserialize)]
struct CommitWire {
    added: Option<Vec<String>>,
    removed: Option<Vec<String>>,
    modified: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct CheckRunWire {
    id: CheckRunId,
    external_id: Option<String>,
    head_sha: Sha,
    #[serde(default, deserialize_with = "id_of")]
    app: Option<AppId>,
}

#[derive(Deserialize)]
struct CheckSuiteWire {
    head_sha: Sha,
    #[serde(default, deserialize_with = "id_of")]
    app: Option<AppId>,
}

#[derive(Deserialize)]
struct ActionWire {
    identifier: Option<String>,
}

#[derive(Default, Deserialize)]
struct ChangesWire {
    default_branch: Option<IgnoredAny>,
}

/// Returns the payload's `action`; `None` if it is not a text.
fn action(body: &[u8]) -> Result<Option<String>, WebhookError> {
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

fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, WebhookError> {
    text::json::read(body).map_err(|error| {
        let reason = error.to_string().chars().take(MAX_REASON).collect();
        match error.classify() {
            Category::Data => WebhookError::Malformed(reason),
            Category::Syntax | Category::Eof | Category::Io => WebhookError::NotJson(reason),
        }
    })
}

/// Refuses input that serde accepts: bytes that are not UTF-8 and very deep nesting in fields that are skipped, and an
/// array in place of a struct (which serde would read by position).
fn check_shape(body: &[u8]) -> Result<(), WebhookError> {
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
