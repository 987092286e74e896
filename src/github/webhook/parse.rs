//! From raw bytes to [`Inbound`].

use super::{
    inbound::{
        Inbound, InstallationEvent, IssueEvent, Place, PressedCheckRun, PullEvent, Push, PushKind, RepositoryEvent,
        ReviewChange,
    },
    payload::{CommitWire, Payload, action, check_shape, decode},
};
use crate::github::model::Actor;
use domain::ids::Sha;
use std::collections::BTreeSet;

/// GitHub lists no more commits of a push than this.
const MOST_COMMITS: usize = 2_048;

/// Why a payload cannot be read. All of them are the sender's fault: an answer in the 400s.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// Bytes that are not UTF-8.
    #[error("the payload is not UTF-8")]
    NotUtf8,
    /// Not an object at the root.
    #[error("the payload is not a JSON object")]
    NotAnObject,
    /// Nested deeper than any payload of GitHub.
    #[error("the payload is nested deeper than {0} levels")]
    TooDeep(usize),
    /// Not JSON.
    #[error("the payload is not JSON: {0}")]
    NotJson(String),
    /// A field of an event that we act on is missing.
    #[error("the payload lacks {0}")]
    Lacks(&'static str),
    /// A field of an event that we act on is of the wrong kind.
    #[error("the payload is malformed: {0}")]
    Malformed(String),
}

/// Reads the payload of a delivery of `event` (`X-GitHub-Event`). What GitHub's description of its webhooks lets be absent
/// may be absent: what cannot be understood without it is ignored.
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

/// `None` for what only the payload shows to be unneeded. GitHub names an installation in everything that it sends to an
/// App: what names none comes from a webhook of a repository or an organisation, and the App's own tells of it too.
fn read(kind: Kind, mut payload: Payload) -> Result<Option<Inbound>, WebhookError> {
    if payload.installation.is_none() && !matches!(kind, Kind::Ping) {
        return Ok(None);
    }
    Ok(Some(match kind {
        Kind::Issue(kind) => issue(kind, payload)?,
        Kind::CommentCreated => Inbound::CommentCreated {
            comment: need("comment", payload.comment.take())?,
            issue: need("issue", payload.issue.take())?,
            place: place(payload)?,
        },
        Kind::Pull(kind) => pull(kind, payload)?,
        Kind::Review(event) => Inbound::Review {
            review: need("review", payload.review.take())?,
            pull: need("pull_request", payload.pull_request.take())?,
            event,
            place: place(payload)?,
        },
        Kind::Push => return push(payload),
        Kind::RunRerequested => {
            let run = need("check_run", payload.check_run.take())?;
            Inbound::Rerun {
                head: run.head_sha,
                app: run.app,
                place: place(payload)?,
            }
        }
        Kind::SuiteRerequested => {
            let suite = need("check_suite", payload.check_suite.take())?;
            Inbound::Rerun {
                head: suite.head_sha,
                app: suite.app,
                place: place(payload)?,
            }
        }
        Kind::CheckAction => return check_action(payload),
        Kind::Repository(event) => Inbound::Repository {
            event,
            place: place(payload)?,
        },
        Kind::RepositoryEdited if payload.changes.default_branch.is_some() => Inbound::Repository {
            event: RepositoryEvent::DefaultBranchChanged,
            place: place(payload)?,
        },
        Kind::RepositoryEdited => return Ok(None),
        Kind::Installation(kind) => installation(kind, payload)?,
        Kind::Ping => Inbound::Ping,
    }))
}

fn need<T>(field: &'static str, value: Option<T>) -> Result<T, WebhookError> {
    value.ok_or(WebhookError::Lacks(field))
}

fn place(payload: Payload) -> Result<Box<Place>, WebhookError> {
    let pusher = || payload.pusher.map(|pusher| Actor::named(&pusher.name));
    Ok(Box::new(Place {
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
        place: place(payload)?,
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
        place: place(payload)?,
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
        place: place(payload)?,
    }))
}

/// Every path that the commits touch; none where a commit, or a part of a long list, may be missing.
fn touched(commits: &[CommitWire]) -> Option<BTreeSet<String>> {
    let paths = |commit: &CommitWire| {
        let lists = [&commit.added, &commit.removed, &commit.modified];
        lists.into_iter().flatten().flatten().cloned().collect::<Vec<_>>()
    };
    let all: BTreeSet<String> = commits.iter().flat_map(paths).collect();
    (!all.is_empty() && commits.len() < MOST_COMMITS).then_some(all)
}

/// A required commit id; the all-zero id is GitHub's "none".
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

/// A press that does not say which button is none.
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
        place: place(payload)?,
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
