//! Fields that GitHub writes in more than one way. Each is read in one place.

use crate::github::model::{issues::OpenState, pulls::ReviewState};
use domain::ids::{Millis, RepoName, Sha};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny},
};

pub fn repo_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RepoName, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// Reads a text; `null` and an absent text are empty.
pub fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads a commit id; `None` for `null`, the all-zero id and anything else that is no commit id.
pub fn sha<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Sha>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    Ok(text.filter(|text| text.bytes().any(|byte| byte != b'0')).and_then(|text| text.parse().ok()))
}

/// Reads a time: RFC 3339 text, or seconds since the epoch as in some payloads; `None` for anything else.
pub fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Millis>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Wire {
        Text(String),
        Seconds(i64),
        Other(IgnoredAny),
    }
    Ok(match Option::<Wire>::deserialize(deserializer)? {
        Some(Wire::Text(text)) => {
            chrono::DateTime::parse_from_rfc3339(&text).ok().map(|time| Millis(time.timestamp_millis()))
        }
        Some(Wire::Seconds(seconds)) => Some(Millis(seconds.saturating_mul(1000))),
        Some(Wire::Other(_)) | None => None,
    })
}

pub fn open_state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OpenState, D::Error> {
    Ok(match Option::<String>::deserialize(deserializer)?.as_deref() {
        Some("closed") => OpenState::Closed,
        _ => OpenState::Open,
    })
}

/// Reads a review's state. Webhooks write `changes_requested`, API answers `CHANGES_REQUESTED`.
pub fn review_state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ReviewState, D::Error> {
    let state = String::deserialize(deserializer)?.to_ascii_lowercase();
    Ok(match state.as_str() {
        "approved" => ReviewState::Approved,
        "changes_requested" => ReviewState::ChangesRequested,
        "commented" => ReviewState::Commented,
        "dismissed" => ReviewState::Dismissed,
        _ => ReviewState::Other,
    })
}

/// A thing of which only the name is read.
#[derive(Deserialize)]
pub struct OnlyName {
    pub name: String,
}

/// Reads the id of a thing of which nothing else is read; `None` for `null` and a thing without an id.
pub fn id_of<'de, D: Deserializer<'de>, Id: Deserialize<'de>>(deserializer: D) -> Result<Option<Id>, D::Error> {
    #[derive(Deserialize)]
    struct Identified<Id> {
        id: Option<Id>,
    }
    Ok(Option::<Identified<Id>>::deserialize(deserializer)?.and_then(|thing| thing.id))
}
