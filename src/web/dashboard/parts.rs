//! Small parts of the dashboard's pages.

use crate::messages;
use domain::{
    cost::Cost,
    ids::{FeatureKey, Millis},
};
use maud::{Markup, html};
use std::fmt::Display;

/// Where a Feature's page is.
pub(super) fn feature_address(key: &FeatureKey) -> String {
    format!("/features/{key}")
}

/// A moment, readable, in UTC.
pub(super) fn date(at: Millis) -> Markup {
    let at = chrono::DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    html! { time datetime=(at.to_rfc3339()) { (at.format("%Y-%m-%d %H:%M:%S UTC")) } }
}

/// The day of a moment, in UTC.
pub(super) fn day(at: Millis) -> String {
    let at = chrono::DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    at.format("%Y-%m-%d").to_string()
}

/// The minute of a moment, in UTC.
pub(super) fn minute(at: Millis) -> String {
    let at = chrono::DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    at.format("%Y-%m-%d %H:%M").to_string()
}

/// How old something is, roughly.
pub(super) fn age(since: Millis, now: Millis) -> String {
    const MINUTE: i64 = 60_000;
    match now.0.saturating_sub(since.0) / MINUTE {
        ..1 => "less than a minute".to_owned(),
        minutes @ 1..120 => count(minutes.unsigned_abs(), "minute"),
        minutes @ 120..2_880 => count((minutes / 60).unsigned_abs(), "hour"),
        minutes => count((minutes / 1_440).unsigned_abs(), "day"),
    }
}

/// What a viewer's forms carry, so that no other site can send them.
pub(super) struct Form {
    token: String,
}

impl Form {
    /// Of a viewer with this token.
    pub(super) fn new(token: String) -> Self {
        Self { token }
    }

    /// Whether the viewer may do anything here but look.
    pub(super) fn may_act(&self) -> bool {
        !self.token.is_empty()
    }

    /// The field that carries it.
    pub(super) fn token(&self) -> Markup {
        html! { input type="hidden" name="token" value=(self.token); }
    }
}

/// How long something took, in seconds or minutes.
pub(super) fn took(from: Millis, until: Millis) -> String {
    domain::budget::hours(u64::try_from(until.0.saturating_sub(from.0)).unwrap_or(0))
}

/// A sentence in which code stands between backticks.
pub(super) fn sentence(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// What runs cost.
pub(super) fn money(cost: &Cost) -> String {
    match messages::cost(cost) {
        said if cost.usd_micros.is_none() && cost.agent_runs > cost.open_runs => format!("cost {said}"),
        said => said,
    }
}

/// `1 step`, `2 steps`.
pub(super) fn count<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    match number == N::from(1) {
        true => format!("1 {thing}"),
        false => match thing.strip_suffix('y').filter(|_| thing.ends_with("ry")) {
            Some(stem) => format!("{number} {stem}ies"),
            None => format!("{number} {thing}s"),
        },
    }
}
