//! Issues and pull requests with their comments and reviews.

use crate::state::moment::Moment;
use serde::{Deserialize, Serialize};

/// An issue, or the issue side of a pull request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Issue {
    pub id: u64,
    pub number: u64,
    pub title: String,
    pub body: Option<String>,
    pub user: u64,
    pub app: Option<u64>,
    pub labels: Vec<String>,
    pub open: bool,
    pub state_reason: Option<String>,
    pub comments: Vec<Comment>,
    pub reactions: Vec<Reaction>,
    /// The changes of its body, oldest first.
    pub edits: Vec<Edit>,
    pub created_at: Moment,
    pub updated_at: Moment,
    pub closed_at: Option<Moment>,
    pub closed_by: Option<u64>,
    /// Its changes, oldest first.
    #[serde(default)]
    pub timeline: Vec<TimelineEntry>,
    pub pull: Option<Pull>,
}

/// A change as the timeline shows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimelineEntry {
    pub at: Moment,
    pub by: u64,
    pub change: TimelineChange,
}

/// The changes that the timeline keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimelineChange {
    /// Closed, by a merge too.
    Closed,
    /// Opened again.
    Reopened,
    /// This label was removed.
    Unlabeled(String),
}

/// One change of a text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Edit {
    pub at: Moment,
    pub editor: u64,
}

/// A comment below an issue or pull request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Comment {
    pub id: u64,
    pub body: String,
    pub user: u64,
    pub app: Option<u64>,
    pub reactions: Vec<Reaction>,
    pub edits: Vec<Edit>,
    pub created_at: Moment,
    pub updated_at: Moment,
}

/// The contents that a reaction may have.
pub const REACTIONS: [&str; 8] = ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"];

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reaction {
    pub id: u64,
    pub user: u64,
    pub content: String,
    pub created_at: Moment,
}

/// The part of an issue that makes it a pull request. Head and base are branches of the same repository.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pull {
    pub id: u64,
    pub head: String,
    pub head_sha: String,
    pub base: String,
    pub base_sha: String,
    pub draft: bool,
    pub merged: Option<Merge>,
    pub reviews: Vec<Review>,
    pub threads: Vec<InlineComment>,
    /// People whose review was requested and who have not reviewed since.
    #[serde(default)]
    pub requested: Vec<u64>,
    pub size: Size,
}

/// The merge of a pull request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Merge {
    pub at: Moment,
    pub by: u64,
    pub sha: String,
}

/// The size of a pull request's change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    pub commits: usize,
    pub additions: usize,
    pub deletions: usize,
    pub files: usize,
}

/// The decision of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReviewState {
    /// Comments without a decision.
    Commented,
    Approved,
    ChangesRequested,
    /// Dismissed: its decision no longer counts.
    Dismissed,
}

impl ReviewState {
    /// Returns the spelling of REST answers.
    pub fn upper(self) -> &'static str {
        match self {
            Self::Commented => "COMMENTED",
            Self::Approved => "APPROVED",
            Self::ChangesRequested => "CHANGES_REQUESTED",
            Self::Dismissed => "DISMISSED",
        }
    }
}

/// A review of a pull request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Review {
    pub id: u64,
    pub user: u64,
    pub body: String,
    pub state: ReviewState,
    pub commit: String,
    pub submitted_at: Moment,
    /// The message of its dismissal.
    pub dismissal: Option<String>,
}

/// A comment on a line of the diff.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InlineComment {
    pub id: u64,
    pub review: u64,
    pub user: u64,
    pub body: String,
    pub path: String,
    pub line: Option<u64>,
    pub side: DiffSide,
    pub start_line: Option<u64>,
    pub start_side: Option<DiffSide>,
    pub commit: String,
    pub hunk: String,
    pub created_at: Moment,
    pub updated_at: Moment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum DiffSide {
    /// Before the change.
    Left,
    /// After the change.
    Right,
}

impl Issue {
    /// Records a change in the timeline.
    pub fn changed(&mut self, at: Moment, by: u64, change: TimelineChange) {
        self.timeline.push(TimelineEntry { at, by, change });
    }

    pub fn is_pull(&self) -> bool {
        self.pull.is_some()
    }

    /// Returns the path of its page below the repository's page.
    pub fn page(&self) -> String {
        let kind = if self.is_pull() { "pull" } else { "issues" };
        format!("/{kind}/{}", self.number)
    }
}
