//! Issues and comments.

use super::fields::{app_id, open_state, text, time};
use crate::github::model::actor::Actor;
use domain::ids::{AppId, CommentId, IssueNumber, Millis};
use serde::{Deserialize, de::IgnoredAny};

/// Whether an issue or pull request is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenState {
    #[default]
    Open,
    /// Closed or merged.
    Closed,
}

/// Whether a number is an issue or a pull request. GitHub calls both issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversation {
    Issue,
    /// A pull request.
    Pull,
}

/// An issue, or the issue side of a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "IssueWire")]
pub struct Issue {
    pub number: IssueNumber,
    pub title: String,
    /// The body; `None` if it was left empty.
    pub body: Option<String>,
    /// The author; `None` for a deleted account.
    pub author: Option<Actor>,
    /// Open or closed.
    pub state: OpenState,
    pub labels: Vec<String>,
    /// Issue or pull request.
    pub conversation: Conversation,
    pub comments: u64,
    /// The time of the last change.
    pub updated_at: Option<Millis>,
    pub closed_at: Option<Millis>,
}

#[derive(Deserialize)]
struct IssueWire {
    number: IssueNumber,
    title: String,
    body: Option<String>,
    user: Option<Actor>,
    #[serde(default, deserialize_with = "open_state")]
    state: OpenState,
    #[serde(default)]
    labels: Vec<Option<LabelWire>>,
    pull_request: Option<IgnoredAny>,
    #[serde(default)]
    comments: u64,
    #[serde(default, deserialize_with = "time")]
    updated_at: Option<Millis>,
    #[serde(default, deserialize_with = "time")]
    closed_at: Option<Millis>,
}

impl From<IssueWire> for Issue {
    fn from(wire: IssueWire) -> Self {
        Self {
            number: wire.number,
            title: wire.title,
            body: wire.body,
            author: wire.user,
            state: wire.state,
            labels: wire.labels.into_iter().flatten().filter_map(LabelWire::name).collect(),
            conversation: match wire.pull_request {
                Some(IgnoredAny) => Conversation::Pull,
                None => Conversation::Issue,
            },
            comments: wire.comments,
            updated_at: wire.updated_at,
            closed_at: wire.closed_at,
        }
    }
}

/// A label. GitHub's schema allows it to be a bare string, and in deliveries even `null`.
#[derive(Deserialize)]
#[serde(untagged)]
enum LabelWire {
    Bare(String),
    Full { name: Option<String> },
}

impl LabelWire {
    fn name(self) -> Option<String> {
        match self {
            Self::Bare(name) => Some(name),
            Self::Full { name } => name,
        }
    }
}

/// A comment on an issue or pull request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Comment {
    pub id: CommentId,
    /// The text; empty if GitHub gives none.
    #[serde(default, deserialize_with = "text")]
    pub body: String,
    /// The author; `None` for a deleted account.
    #[serde(rename = "user", default)]
    pub author: Option<Actor>,
    /// The App that wrote it on a person's behalf.
    #[serde(rename = "performed_via_github_app", default, deserialize_with = "app_id")]
    pub via_app: Option<AppId>,
    #[serde(default, deserialize_with = "time")]
    pub created_at: Option<Millis>,
    /// The time of the last edit.
    #[serde(default, deserialize_with = "time")]
    pub updated_at: Option<Millis>,
}

#[cfg(test)]
mod tests {
    use super::IssueWire;
    use crate::github::model::Issue;

    #[test]
    fn a_label_that_is_a_text_or_nothing_at_all_does_not_make_an_issue_unreadable() {
        let issue = r#"{"number": 1, "title": "t", "labels": [null, "bare", {"name": "full"}, {"name": null}]}"#;
        let issue = Issue::from(serde_json::from_str::<IssueWire>(issue).unwrap());
        assert_eq!(issue.labels, ["bare", "full"]);
    }
}
