//! What happened on the forge, in plain words, for people who watch.

use super::state::{Access, Actor, Moment, State};
use serde::{Deserialize, Serialize};

/// One thing that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl FeedEvent {
    /// What is to be told, of what it is about; the rest is filled in when it is told.
    pub(super) fn told(kind: impl Into<String>, what: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            what: what.into(),
            text: text.into(),
            ..Self::default()
        }
    }
}

impl State {
    /// Records what `by` did in a repository; the event's address so far is appended to the repository's.
    pub(super) fn tell(&mut self, by: Actor, repo: Option<u64>, event: FeedEvent) {
        let at = self.clock.stamp();
        let repo = repo.and_then(|id| self.repos.get(&id));
        let repository = repo.map(|repo| self.full_name(repo)).unwrap_or_default();
        let slash = if repository.is_empty() { "" } else { "/" };
        let event = FeedEvent {
            seq: self.feed.last().map_or(0, |last| last.seq).saturating_add(1),
            at,
            actor: self.login(by.user).to_owned(),
            url: format!("{}{slash}{repository}{}", self.base, event.url),
            repository,
            ..event
        };
        self.feed.push(event.clone());
        self.news.push_back(event);
    }

    /// Records what happened on an issue or pull request; the event's address so far is the place on its page.
    pub(super) fn tell_on(&mut self, at: Access, number: u64, mut event: FeedEvent) {
        if let Ok(issue) = self.issue(at.repo, number) {
            event.url = format!("{}{}", issue.page(), event.url);
        }
        event.number = Some(number);
        self.tell(at.by, Some(at.repo), event);
    }
}
