//! Decides which deliveries are stored. The others are acknowledged and dropped before they cost anything.

use super::{
    inbound::{Inbound, RepoEvent},
    parse::{WebhookError, parse},
};
use crate::github::client::Client;
use domain::ids::{AppId, FeatureKey, InstallationId, IssueNumber, RepoId, User};

/// The prefix of every AutoBuild branch.
const OUR_BRANCHES: &str = "autobuild/";

/// The text that a comment with a command contains, in any letter case.
const COMMAND: &[u8] = b"/autobuild";

/// Our own Apps, whose own actions cause deliveries too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnApps {
    pub apps: Vec<AppId>,
    pub users: Vec<User>,
}

impl OwnApps {
    /// Returns our Apps, and their bot users as far as they are known. An App knows its bot user once it has looked it
    /// up.
    pub fn of(clients: &[&Client]) -> Self {
        Self {
            apps: clients.iter().map(|client| client.id).collect(),
            users: clients.iter().filter_map(|client| client.known_bot().cloned()).collect(),
        }
    }
}

/// The subject of a delivery: the columns under which it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// `X-GitHub-Event`.
    pub event: String,
    /// The installation, if the event has one.
    pub installation: Option<InstallationId>,
    /// The repository, if the event has one.
    pub repo: Option<RepoId>,
    /// The issue that the event belongs to, or the pull request if the event does not name its issue.
    pub issue: Option<IssueNumber>,
}

/// The decision about a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Store it and act on it.
    Keep(Summary),
    /// Acknowledge it and forget it: AutoBuild does not act on such events.
    Unneeded,
    /// Acknowledge it and forget it: one of our own Apps caused it.
    Own,
}

/// Decides if a delivery of `event` is stored. A payload that cannot be read is an error of the sender.
pub fn admit(event: &str, body: &[u8], own: &OwnApps) -> Result<Admission, WebhookError> {
    let inbound = parse(event, body)?;
    Ok(if is_own(&inbound, own) {
        Admission::Own
    } else if is_needed(&inbound) {
        Admission::Keep(summary(event, &inbound))
    } else {
        Admission::Unneeded
    })
}

fn summary(event: &str, inbound: &Inbound) -> Summary {
    let (installation, repo, issue) = match inbound {
        Inbound::Repo(origin, event) => (Some(origin.installation), Some(origin.repo.id), issue_of(event)),
        Inbound::Installation { installation, .. } => (Some(*installation), None, None),
        Inbound::Ping | Inbound::Ignored => (None, None, None),
    };
    Summary { event: event.to_owned(), installation, repo, issue }
}

fn issue_of(event: &RepoEvent) -> Option<IssueNumber> {
    match event {
        RepoEvent::Issue { issue, .. } | RepoEvent::CommentCreated { issue, .. } => Some(issue.number),
        RepoEvent::Pull { pull, .. } | RepoEvent::Review { pull, .. } => {
            let issue = FeatureKey::issue_of_branch(&pull.head.branch);
            Some(issue.unwrap_or(IssueNumber(pull.number.0)))
        }
        RepoEvent::Push(push) => FeatureKey::issue_of_branch(&push.branch),
        RepoEvent::CheckAction { .. } | RepoEvent::Rerun { .. } | RepoEvent::Repository(_) => None,
    }
}

fn is_own(inbound: &Inbound, own: &OwnApps) -> bool {
    let Inbound::Repo(origin, event) = inbound else {
        return false;
    };
    let through_us = if let RepoEvent::CommentCreated { comment, .. } = event {
        comment.via_app.is_some_and(|app| own.apps.contains(&app))
    } else {
        false
    };
    through_us || own.users.iter().any(|user| origin.sender.is(user))
}

/// Returns `false` for deliveries of frequent events that concern nothing of ours. All other parsed events are needed.
fn is_needed(inbound: &Inbound) -> bool {
    let (origin, event) = match inbound {
        Inbound::Repo(origin, event) => (origin, event),
        Inbound::Installation { .. } => return true,
        Inbound::Ping | Inbound::Ignored => return false,
    };
    let is_ours = |branch: &str| branch.starts_with(OUR_BRANCHES);
    match event {
        RepoEvent::CommentCreated { comment, .. } => may_hold_command(&comment.body),
        RepoEvent::Pull { pull, .. } | RepoEvent::Review { pull, .. } => {
            pull.is_from(origin.repo.id) && is_ours(&pull.head.branch)
        }
        RepoEvent::Push(push) => is_ours(&push.branch) || push.branch == origin.repo.default_branch,
        RepoEvent::Issue { .. }
        | RepoEvent::CheckAction { .. }
        | RepoEvent::Rerun { .. }
        | RepoEvent::Repository(_) => true,
    }
}

/// `true` if the text may contain a command. This is a cheap filter, not the command parser.
fn may_hold_command(body: &str) -> bool {
    body.as_bytes().windows(COMMAND.len()).any(|window| window.eq_ignore_ascii_case(COMMAND))
}
