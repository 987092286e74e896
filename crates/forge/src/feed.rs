//! The feed of events on the forge, in plain words, for people who watch.

use super::state::{Access, Actor, Moment, State};
use serde::{Deserialize, Serialize};

/// One event on the forge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedEvent {
    /// Its number, from 1.
    pub seq: u64,
    /// Its time.
    pub at: Moment,
    /// The login of the account that did it.
    pub actor: String,
    /// The kind of event: `issue.opened`, `pull_request.merged`, `review.submitted`, `push` and so on.
    pub kind: String,
    /// The kind in words, such as `opened issue`.
    pub what: String,
    /// The repository as `owner/name`; empty if the event concerns none.
    pub repository: String,
    /// The number of the issue or pull request.
    pub number: Option<u64>,
    /// The page that shows it.
    pub url: String,
    /// The text that was written, or the subject of the event.
    pub text: String,
    /// The tone in which pages show it.
    #[serde(default, skip_serializing_if = "EventOutcome::is_neutral")]
    pub outcome: EventOutcome,
    /// A review's comments on lines of the diff.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<LineRemark>,
}

/// A review's comment on one line of the diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRemark {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The comment's text.
    pub text: String,
}

/// The tone of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventOutcome {
    /// Neither good nor bad.
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
    /// Returns an event with these texts. [`State::record_event`] fills in the rest.
    pub(super) fn new(kind: impl Into<String>, what: impl Into<String>, text: impl Into<String>) -> Self {
        Self { kind: kind.into(), what: what.into(), text: text.into(), ..Self::default() }
    }
}

impl State {
    /// Records an action of `by` in a repository. The event's `url` so far is the path below the repository's page.
    pub(super) fn record_event(&mut self, by: Actor, repo: Option<u64>, event: FeedEvent) {
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

    /// Records an event on an issue or pull request. The event's `url` so far is the anchor on its page.
    pub(super) fn record_on(&mut self, at: Access, number: u64, mut event: FeedEvent) {
        if let Ok(issue) = self.issue(at.repo, number) {
            event.url = format!("{}{}", issue.page(), event.url);
        }
        event.number = Some(number);
        self.record_event(at.by, Some(at.repo), event);
    }
}
