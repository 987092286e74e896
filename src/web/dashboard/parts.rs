//! Small parts of the dashboard's pages.

use crate::{messages, messages::count};
use chrono::{DateTime, Utc};
use domain::{
    cost::Cost,
    ids::{FeatureKey, Millis, RepoId, RepoName},
};
use maud::{Markup, html};

pub(super) fn feature_address(key: &FeatureKey) -> String {
    format!("/features/{key}")
}

/// Returns a time in readable form, in UTC.
pub(super) fn date(at: Millis) -> Markup {
    html! { time datetime=(utc(at).to_rfc3339()) { (utc(at).format("%Y-%m-%d %H:%M:%S UTC")) } }
}

/// Returns the day of a time, in UTC.
pub(super) fn day(at: Millis) -> String {
    utc(at).format("%Y-%m-%d").to_string()
}

/// Returns the minute of a time, in UTC.
pub(super) fn minute(at: Millis) -> String {
    utc(at).format("%Y-%m-%d %H:%M").to_string()
}

fn utc(at: Millis) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(at.0).unwrap_or_default()
}

/// Returns a repository's name, or its id if the name is not known yet.
pub(super) fn repository(name: Option<&RepoName>, id: RepoId) -> String {
    name.map_or_else(|| format!("repository {id}"), ToString::to_string)
}

pub(super) fn age(since: Millis, now: Millis) -> String {
    const MINUTE: i64 = 60_000;
    match now.0.saturating_sub(since.0) / MINUTE {
        ..1 => "less than a minute".to_owned(),
        minutes @ 1..120 => count(minutes.unsigned_abs(), "minute"),
        minutes @ 120..2_880 => count((minutes / 60).unsigned_abs(), "hour"),
        minutes => count((minutes / 1_440).unsigned_abs(), "day"),
    }
}

/// Returns how long something took, in words.
pub(super) fn took(from: Millis, until: Millis) -> String {
    domain::budget::hours(u64::try_from(until.0.saturating_sub(from.0)).unwrap_or(0))
}

pub(super) fn money(cost: &Cost) -> String {
    match messages::cost(cost) {
        said if cost.usd_micros.is_none() && cost.agent_runs > cost.open_runs => format!("cost {said}"),
        said => said,
    }
}
