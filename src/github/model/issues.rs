//! Issues and comments.

use super::fields::{id_of, open_state, text, time};
use crate::github::model::actor::Actor;
use domain::ids::{AppId, CommentId, IssueNumber, Millis};
use serde::{Deserialize, Deserializer, de::IgnoredAny};

/// The state of an issue or pull request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenState {
    #[default]
    Open,
    /// Closed or merged.
    Closed,
}

/// The kind of thing behind a number. GitHub's API calls both issues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conversation {
    #[default]
    Issue,
    Pull,
}

/// An issue, or the issue side of a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Issue {
    pub number: IssueNumber,
    pub title: String,
    /// The body; `None` if it was left empty.
    pub body: Option<String>,
    /// The author; `None` for a deleted account.
    #[serde(rename = "user")]
    pub author: Option<Actor>,
    /// Open or closed.
    #[serde(default, deserialize_with = "open_state")]
    pub state: OpenState,
    #[serde(default, deserialize_with = "labels")]
    pub labels: Vec<String>,
    /// Issue or pull request.
    #[serde(rename = "pull_request", default, deserialize_with = "conversation")]
    pub conversation: Conversation,
    #[serde(default)]
    pub comments: u64,
    /// The time of the last change.
    #[serde(default, deserialize_with = "time")]
    pub updated_at: Option<Millis>,
    #[serde(default, deserialize_with = "time")]
    pub closed_at: Option<Millis>,
}

/// Reads the names of labels. GitHub's schema allows a label to be a bare string, and in deliveries even `null`.
fn labels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Wire {
        Bare(String),
        Full { name: Option<String> },
    }
    let name = |label| match label {
        Wire::Bare(name) => Some(name),
        Wire::Full { name } => name,
    };
    Ok(Vec::<Option<Wire>>::deserialize(deserializer)?.into_iter().flatten().filter_map(name).collect())
}

/// Tells issues from pull requests: only a pull request has this field.
fn conversation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Conversation, D::Error> {
    let pull = Option::<IgnoredAny>::deserialize(deserializer)?;
    Ok(pull.map_or(Conversation::Issue, |_| Conversation::Pull))
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
    #[serde(rename = "performed_via_github_app", default, deserialize_with = "id_of")]
    pub via_app: Option<AppId>,
    #[serde(default, deserialize_with = "time")]
    pub created_at: Option<Millis>,
    /// The time of the last edit.
    #[serde(default, deserialize_with = "time")]
    pub updated_at: Option<Millis>,
}

#[cfg(test)]
mod tests {
    use crate::github::model::Issue;

    #[test]
    fn a_label_that_is_a_text_or_nothing_at_all_does_not_make_an_issue_unreadable() {
        let issue = r#"{"number": 1, "title": "t", "labels": [null, "bare", {"name": "full"}, {"name": null}]}"#;
        let issue: Issue = serde_json::from_str(issue).unwrap();
        assert_eq!(issue.labels, ["bare", "full"]);
    }
}
