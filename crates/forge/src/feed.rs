//! What happened on the forge, in plain words, for people who watch.

use super::state::{Actor, Moment, State};
use serde::{Deserialize, Serialize};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedEvent {
    /// Counts from 1.
    pub seq: u64,
    /// When.
    pub at: Moment,
    /// The login of who did it.
    pub actor: String,
    /// What happened, as `issue.opened`, `pull_request.merged`, `review.submitted`, `push`.
    pub kind: String,
    /// The same in words, as `opened issue`.
    pub what: String,
    /// `owner/name`; empty when it concerns no repository.
    pub repository: String,
    /// Number of the issue or pull request.
    pub number: Option<u64>,
    /// The page that shows it.
    pub url: String,
    /// What was written, or what it was about.
    pub text: String,
    /// Whether it is good news.
    #[serde(default, skip_serializing_if = "EventOutcome::is_neutral")]
    pub outcome: EventOutcome,
    /// What a review says on lines of the diff.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<LineRemark>,
}

/// What a review says on one line of the diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRemark {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: Option<u64>,
    /// What is said.
    pub text: String,
}

/// Whether an event is good news.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventOutcome {
    /// Neither.
    #[default]
    Neutral,
    /// Approved, passed or merged.
    Good,
    /// Refused or failed.
    Bad,
}

impl EventOutcome {
    fn is_neutral(&self) -> bool {
        *self == Self::Neutral
    }
}

/// A feed event about to be told.
pub(super) struct Telling<'a> {
    pub(super) kind: &'a str,
    pub(super) what: String,
    pub(super) number: Option<u64>,
    /// Appended to the repository's address.
    pub(super) page: String,
    pub(super) text: String,
    pub(super) outcome: EventOutcome,
}

impl State {
    /// Records what `by` did in a repository.
    pub(super) fn tell(&mut self, by: Actor, repo: Option<u64>, telling: Telling<'_>) {
        self.tell_with(by, repo, telling, Vec::new());
    }

    /// Records what `by` did in a repository, and what it says on lines.
    pub(super) fn tell_with(&mut self, by: Actor, repo: Option<u64>, telling: Telling<'_>, remarks: Vec<LineRemark>) {
        let at = self.clock.stamp();
        let repository = repo
            .and_then(|id| self.repos.get(&id))
            .map(|repo| self.full_name(repo))
            .unwrap_or_default();
        let url = if repository.is_empty() {
            format!("{}{}", self.base, telling.page)
        } else {
            format!("{}/{repository}{}", self.base, telling.page)
        };
        let event = FeedEvent {
            seq: u64::try_from(self.feed.len()).unwrap_or(u64::MAX).saturating_add(1),
            at,
            actor: self.login(by.user).to_owned(),
            kind: telling.kind.to_owned(),
            what: telling.what,
            repository,
            number: telling.number,
            url,
            text: telling.text,
            outcome: telling.outcome,
            remarks,
        };
        self.feed.push(event.clone());
        self.news.push_back(event);
    }
}
