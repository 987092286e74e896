//! Parses raw bytes into an [`Inbound`].

use super::{
    inbound::{
        EventOrigin, Inbound, InstallationEvent, IssueEvent, PressedCheckRun, PullEvent, Push, PushKind,
        RepositoryEvent, ReviewChange,
    },
    payload::{CommitWire, Payload, action, check_shape, decode},
};
use crate::github::model::Actor;
use domain::ids::Sha;
use std::collections::BTreeSet;

/// The most commits of a push that GitHub lists.
const MOST_COMMITS: usize = 2_048;

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
    /// It is not JSON.
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
pub fn parse(event: &str, body: &[u8]) -> Result<Inbound, WebhookError> {
    check_shape(body)?;
    let action = action(body)?;
    match Kind::of(event, action.as_deref()) {
        Some(kind) => read(kind, decode(body)?).map(|inbound| inbound.unwrap_or_else(|| ignored(event, action))),
        None => Ok(ignored(event, action)),
    }
}

fn ignored(event: &str, action: Option<String>) -> Inbound {
    Inbound::Ignored {
        event: event.to_owned(),
        action,
    }
}

/// The events and actions that AutoBuild acts on.
enum Kind {
    Issue(IssueKind),
    CommentCreated,
    Pull(PullKind),
    Review(ReviewChange),
    Push,
    RunRerequested,
    SuiteRerequested,
    CheckAction,
    Repository(RepositoryEvent),
    RepositoryEdited,
    Installation(InstallationKind),
    Ping,
}

enum IssueKind {
    Labeled,
    Unlabeled,
    Plain(IssueEvent),
}

enum PullKind {
    Closed,
    Reopened,
    Synchronized,
}

enum InstallationKind {
    Suspended,
    Added,
    Removed,
    Plain(InstallationEvent),
}

impl Kind {
    fn of(event: &str, action: Option<&str>) -> Option<Self> {
        Some(match (event, action.unwrap_or("")) {
            ("issues", action) => Self::Issue(IssueKind::of(action)?),
            ("issue_comment", "created") => Self::CommentCreated,
            ("pull_request", "closed") => Self::Pull(PullKind::Closed),
            ("pull_request", "reopened") => Self::Pull(PullKind::Reopened),
            ("pull_request", "synchronize") => Self::Pull(PullKind::Synchronized),
            ("pull_request_review", "submitted") => Self::Review(ReviewChange::Submitted),
            ("pull_request_review", "dismissed") => Self::Review(ReviewChange::Dismissed),
            ("push", _) => Self::Push,
            ("check_run", "rerequested") => Self::RunRerequested,
            ("check_suite", "rerequested") => Self::SuiteRerequested,
            ("check_run", "requested_action") => Self::CheckAction,
            ("repository", "renamed") => Self::Repository(RepositoryEvent::Renamed),
            ("repository", "transferred") => Self::Repository(RepositoryEvent::Transferred),
            ("repository", "archived") => Self::Repository(RepositoryEvent::Archived),
            ("repository", "unarchived") => Self::Repository(RepositoryEvent::Unarchived),
            ("repository", "deleted") => Self::Repository(RepositoryEvent::Deleted),
            ("repository", "edited") => Self::RepositoryEdited,
            ("installation" | "installation_repositories", action) => Self::Installation(InstallationKind::of(action)?),
            ("ping", _) => Self::Ping,
            _ => return None,
        })
    }
}

impl IssueKind {
    fn of(action: &str) -> Option<Self> {
        Some(match action {
            "labeled" => Self::Labeled,
            "unlabeled" => Self::Unlabeled,
            "edited" => Self::Plain(IssueEvent::Edited),
            "closed" => Self::Plain(IssueEvent::Closed),
            "reopened" => Self::Plain(IssueEvent::Reopened),
            "deleted" => Self::Plain(IssueEvent::Deleted),
            "transferred" => Self::Plain(IssueEvent::Transferred),
            _ => return None,
        })
    }
}

impl InstallationKind {
    fn of(action: &str) -> Option<Self> {
        Some(match action {
            "created" => Self::Plain(InstallationEvent::Created),
            "deleted" => Self::Plain(InstallationEvent::Deleted),
            "suspend" => Self::Suspended,
            "unsuspend" => Self::Plain(InstallationEvent::Unsuspended),
            "new_permissions_accepted" => Self::Plain(InstallationEvent::PermissionsAccepted),
            "added" => Self::Added,
            "removed" => Self::Removed,
            _ => return None,
        })
    }
}

/// Reads the payload; `None` if it shows that the event is not needed. GitHub names an installation in everything that
/// it sends to an App. A delivery without one comes from a repository's or organisation's webhook, and is ignored
/// because the App's own webhook reports the event too.
fn read(kind: Kind, mut payload: Payload) -> Result<Option<Inbound>, WebhookError> {
    if payload.installation.is_none() && !matches!(kind, Kind::Ping) {
        return Ok(None);
    }
    Ok(Some(match kind {
        Kind::Issue(kind) => issue(kind, payload)?,
        Kind::CommentCreated => Inbound::CommentCreated {
            comment: need("comment", payload.comment.take())?,
            issue: need("issue", payload.issue.take())?,
            origin: origin(payload)?,
        },
        Kind::Pull(kind) => pull(kind, payload)?,
        Kind::Review(event) => Inbound::Review {
            review: need("review", payload.review.take())?,
            pull: need("pull_request", payload.pull_request.take())?,
            event,
            origin: origin(payload)?,
        },
        Kind::Push => return push(payload),
        Kind::RunRerequested => {
            let run = need("check_run", payload.check_run.take())?;
            Inbound::Rerun {
                head: run.head_sha,
                app: run.app,
                origin: origin(payload)?,
            }
        }
        Kind::SuiteRerequested => {
            let suite = need("check_suite", payload.check_suite.take())?;
            Inbound::Rerun {
                head: suite.head_sha,
                app: suite.app,
                origin: origin(payload)?,
            }
        }
        Kind::CheckAction => return check_action(payload),
        Kind::Repository(event) => Inbound::Repository {
            event,
            origin: origin(payload)?,
        },
        Kind::RepositoryEdited if payload.changes.default_branch.is_some() => Inbound::Repository {
            event: RepositoryEvent::DefaultBranchChanged,
            origin: origin(payload)?,
        },
        Kind::RepositoryEdited => return Ok(None),
        Kind::Installation(kind) => installation(kind, payload)?,
        Kind::Ping => Inbound::Ping,
    }))
}

fn need<T>(field: &'static str, value: Option<T>) -> Result<T, WebhookError> {
    value.ok_or(WebhookError::Lacks(field))
}

fn origin(payload: Payload) -> Result<Box<EventOrigin>, WebhookError> {
    let pusher = || payload.pusher.map(|pusher| Actor::named(&pusher.name));
    Ok(Box::new(EventOrigin {
        installation: need("installation", payload.installation)?.id,
        repo: need("repository", payload.repository)?,
        sender: need("sender", payload.sender.or_else(pusher))?,
    }))
}

fn issue(kind: IssueKind, mut payload: Payload) -> Result<Inbound, WebhookError> {
    let label = payload.label.take().map(|label| label.name);
    let event = match kind {
        IssueKind::Labeled => IssueEvent::Labeled(label),
        IssueKind::Unlabeled => IssueEvent::Unlabeled(label),
        IssueKind::Plain(event) => event,
    };
    Ok(Inbound::Issue {
        issue: need("issue", payload.issue.take())?,
        event,
        origin: origin(payload)?,
    })
}

fn pull(kind: PullKind, mut payload: Payload) -> Result<Inbound, WebhookError> {
    let event = match kind {
        PullKind::Closed => PullEvent::Closed,
        PullKind::Reopened => PullEvent::Reopened,
        PullKind::Synchronized => PullEvent::Synchronized {
            before: commit("before", &payload.before)?,
            after: need("after", commit("after", &payload.after)?)?,
        },
    };
    Ok(Inbound::Pull {
        pull: need("pull_request", payload.pull_request.take())?,
        event,
        origin: origin(payload)?,
    })
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
    Ok(Some(Inbound::Push {
        push,
        origin: origin(payload)?,
    }))
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
    let sha = text
        .parse()
        .map_err(|_| WebhookError::Malformed(format!("{field} is not a commit id")))?;
    Ok(Some(sha))
}

/// Reads a click on a button. A click without the button's identifier is ignored.
fn check_action(mut payload: Payload) -> Result<Option<Inbound>, WebhookError> {
    let run = need("check_run", payload.check_run.take())?;
    let Some(identifier) = payload.requested_action.take().and_then(|action| action.identifier) else {
        return Ok(None);
    };
    Ok(Some(Inbound::CheckAction {
        run: PressedCheckRun {
            id: run.id,
            external_id: run.external_id,
        },
        identifier,
        origin: origin(payload)?,
    }))
}

fn installation(kind: InstallationKind, payload: Payload) -> Result<Inbound, WebhookError> {
    let installation = need("installation", payload.installation)?;
    Ok(Inbound::Installation {
        installation: installation.id,
        sender: need("sender", payload.sender)?,
        event: match kind {
            InstallationKind::Suspended => InstallationEvent::Suspended {
                at: installation.suspended_at,
            },
            InstallationKind::Added => {
                InstallationEvent::RepositoriesAdded(need("repositories_added", payload.repositories_added)?)
            }
            InstallationKind::Removed => {
                InstallationEvent::RepositoriesRemoved(need("repositories_removed", payload.repositories_removed)?)
            }
            InstallationKind::Plain(event) => event,
        },
    })
}
