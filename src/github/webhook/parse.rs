//! Parses raw bytes into an [`Inbound`]: the reader of each event, and below the fields that the readers need. Only GitHub
//! can send them: each delivery is signed, or comes from GitHub's own log.

use super::inbound::{
    EventOrigin, Inbound, InstallationEvent, IssueEvent, PressedCheckRun, PullEvent, Push, PushKind, RepoEvent,
    RepositoryEvent, ReviewChange,
};
use crate::github::model::{Actor, Comment, Issue, OnlyName, Pull, Repository, RepositoryRef, Review, id_of, time};
use domain::ids::{AppId, CheckRunId, InstallationId, Millis, RepoId, Sha, UserId};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Value, error::Category};
use std::collections::BTreeSet;

/// The most commits of a push that GitHub lists.
const MOST_COMMITS: usize = 2_048;

/// The longest text of a parse error that is repeated, in characters.
const MAX_REASON: usize = 300;

/// Why a payload cannot be read. It is always the sender's fault, to be answered with a status in the 400s.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The bytes are not UTF-8.
    #[error("the payload is not UTF-8")]
    NotUtf8,
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
    std::str::from_utf8(body).map_err(|_| WebhookError::NotUtf8)?;
    let head: Head = decode(body)?;
    let action = head.action.as_ref().and_then(Value::as_str).unwrap_or_default();
    let (of_repo, of_installation) = (repo_reader(event, action), installation_reader(event, action));
    if of_repo.is_none() && of_installation.is_none() && event != "ping" {
        return Ok(Inbound::Ignored);
    }
    let mut payload: Payload = decode(body)?;
    if event == "ping" {
        return Ok(Inbound::Ping);
    }
    if payload.installation.is_none() {
        return Ok(Inbound::Ignored);
    }
    if let Some(read) = of_installation {
        let event = read(&mut payload)?;
        need("sender", payload.sender)?;
        let InstallationWire { id, account, .. } = need("installation", payload.installation)?;
        return Ok(Inbound::Installation {
            installation: id,
            account: account.and_then(|one| one.login.and(one.id)),
            event,
        });
    }
    match of_repo.map(|read| read(&mut payload)).transpose()?.flatten() {
        Some(event) => Ok(Inbound::Repo(origin(payload)?, event)),
        None => Ok(Inbound::Ignored),
    }
}

/// Reads the payload of one kind of event; `None` if it shows that the event is not needed.
type RepoReader = fn(&mut Payload) -> Result<Option<RepoEvent>, WebhookError>;

/// Returns the reader of an event and action in a repository that AutoBuild acts on. Edits of an issue are none: the
/// snapshot at the label counts, and a reopened issue waits for a new label. New commits of a pull request arrive as
/// pushes.
fn repo_reader(event: &str, action: &str) -> Option<RepoReader> {
    let reader: RepoReader = match (event, action) {
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
        ("check_run", "rerequested") => |payload| {
            let run = need("check_run", payload.check_run.take())?;
            Ok(Some(RepoEvent::Rerun { head: run.head_sha, app: run.app }))
        },
        ("check_suite", "rerequested") => |payload| {
            let suite = need("check_suite", payload.check_suite.take())?;
            Ok(Some(RepoEvent::Rerun { head: suite.head_sha, app: suite.app }))
        },
        ("check_run", "requested_action") => check_action,
        ("repository", "renamed") => |_| Ok(Some(RepoEvent::Repository(RepositoryEvent::Renamed))),
        ("repository", "transferred") => |_| Ok(Some(RepoEvent::Repository(RepositoryEvent::Transferred))),
        ("repository", "archived") => |_| Ok(Some(RepoEvent::Repository(RepositoryEvent::Archived))),
        ("repository", "unarchived") => |_| Ok(Some(RepoEvent::Repository(RepositoryEvent::Unarchived))),
        ("repository", "deleted") => |_| Ok(Some(RepoEvent::Repository(RepositoryEvent::Deleted))),
        ("repository", "edited") => |payload| {
            let changed = RepoEvent::Repository(RepositoryEvent::DefaultBranchChanged);
            Ok(payload.changes.default_branch.as_ref().map(|_| changed))
        },
        _ => return None,
    };
    Some(reader)
}

type InstallationReader = fn(&mut Payload) -> Result<InstallationEvent, WebhookError>;

fn installation_reader(event: &str, action: &str) -> Option<InstallationReader> {
    let reader: InstallationReader = match (event, action) {
        ("installation", "created") => {
            |payload| Ok(InstallationEvent::Created(payload.repositories.take().unwrap_or_default()))
        }
        ("installation", "deleted") => |_| Ok(InstallationEvent::Deleted),
        ("installation", "suspend") => |payload| {
            let at = payload.installation.as_ref().and_then(|known| known.suspended_at);
            Ok(InstallationEvent::Suspended { at })
        },
        ("installation", "unsuspend") => |_| Ok(InstallationEvent::Unsuspended),
        ("installation_repositories", "added") => |payload| {
            let repos = need("repositories_added", payload.repositories_added.take())?;
            Ok(InstallationEvent::RepositoriesAdded(repos))
        },
        ("installation_repositories", "removed") => |payload| {
            let repos = need("repositories_removed", payload.repositories_removed.take())?;
            Ok(InstallationEvent::RepositoriesRemoved(repos))
        },
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

fn issue(payload: &mut Payload, event: fn(Option<String>) -> IssueEvent) -> Result<Option<RepoEvent>, WebhookError> {
    let issue = need("issue", payload.issue.take())?;
    let event = event(payload.label.take().map(|label| label.name));
    Ok(Some(RepoEvent::Issue { issue, event }))
}

fn comment(payload: &mut Payload) -> Result<Option<RepoEvent>, WebhookError> {
    let comment = need("comment", payload.comment.take())?;
    let issue = need("issue", payload.issue.take())?;
    Ok(Some(RepoEvent::CommentCreated { issue, comment }))
}

fn pull(payload: &mut Payload, event: PullEvent) -> Result<Option<RepoEvent>, WebhookError> {
    let pull = need("pull_request", payload.pull_request.take())?;
    Ok(Some(RepoEvent::Pull { pull, event }))
}

fn review(payload: &mut Payload, event: ReviewChange) -> Result<Option<RepoEvent>, WebhookError> {
    let review = need("review", payload.review.take())?;
    let pull = need("pull_request", payload.pull_request.take())?;
    Ok(Some(RepoEvent::Review { pull, review, event }))
}

fn push(payload: &mut Payload) -> Result<Option<RepoEvent>, WebhookError> {
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
    Ok(Some(RepoEvent::Push(push)))
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
fn check_action(payload: &mut Payload) -> Result<Option<RepoEvent>, WebhookError> {
    let run = need("check_run", payload.check_run.take())?;
    let identifier = payload.requested_action.take().and_then(|action| action.identifier);
    let run = PressedCheckRun { id: run.id, external_id: run.external_id };
    Ok(identifier.map(|identifier| RepoEvent::CheckAction { run, identifier }))
}

/// The field that decides with the event if the others are needed. In an event that nobody knows, all have any form.
#[derive(Deserialize)]
struct Head {
    action: Option<Value>,
}

/// The fields of all events that we act on. Its reader decides which of them an event needs.
#[derive(Deserialize)]
struct Payload {
    installation: Option<InstallationWire>,
    repository: Option<Repository>,
    sender: Option<Actor>,
    /// The person who pushed, by the name that git was given.
    pusher: Option<OnlyName>,
    issue: Option<Issue>,
    label: Option<OnlyName>,
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
    repositories: Option<Vec<RepositoryRef>>,
    #[serde(default, deserialize_with = "read_named")]
    repositories_added: Option<Vec<RepositoryRef>>,
    #[serde(default, deserialize_with = "read_named")]
    repositories_removed: Option<Vec<RepositoryRef>>,
}

#[derive(Deserialize)]
struct InstallationWire {
    id: InstallationId,
    account: Option<AccountWire>,
    #[serde(default, deserialize_with = "time")]
    suspended_at: Option<Millis>,
}

#[derive(Deserialize)]
struct AccountWire {
    id: Option<UserId>,
    /// An enterprise has none. Its id may be that of an organisation.
    login: Option<IgnoredAny>,
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

fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, WebhookError> {
    text::json::read(body).map_err(|error| {
        let reason = error.to_string().chars().take(MAX_REASON).collect();
        match error.classify() {
            Category::Data => WebhookError::Malformed(reason),
            Category::Syntax | Category::Eof | Category::Io => WebhookError::NotJson(reason),
        }
    })
}
