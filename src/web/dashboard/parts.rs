//! Small parts of the dashboard's pages.

use crate::messages;
use domain::{
    cost::Cost,
    ids::{FeatureKey, Millis},
};
use maud::{Markup, html};
use std::fmt::Display;

/// Returns the address of a Feature's page.
pub(super) fn feature_address(key: &FeatureKey) -> String {
    format!("/features/{key}")
}

/// Returns a time in readable form, in UTC.
pub(super) fn date(at: Millis) -> Markup {
    let at = chrono::DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    html! { time datetime=(at.to_rfc3339()) { (at.format("%Y-%m-%d %H:%M:%S UTC")) } }
}

/// Returns the day of a time, in UTC.
pub(super) fn day(at: Millis) -> String {
    let at = chrono::DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    at.format("%Y-%m-%d").to_string()
}

/// Returns the minute of a time, in UTC.
pub(super) fn minute(at: Millis) -> String {
    let at = chrono::DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    at.format("%Y-%m-%d %H:%M").to_string()
}

/// Returns the rough age of something.
pub(super) fn age(since: Millis, now: Millis) -> String {
    const MINUTE: i64 = 60_000;
    match now.0.saturating_sub(since.0) / MINUTE {
        ..1 => "less than a minute".to_owned(),
        minutes @ 1..120 => count(minutes.unsigned_abs(), "minute"),
        minutes @ 120..2_880 => count((minutes / 60).unsigned_abs(), "hour"),
        minutes => count((minutes / 1_440).unsigned_abs(), "day"),
    }
}

/// The token in a viewer's forms, so that no other site can send them.
pub(super) struct Form {
    token: String,
}

impl Form {
    /// Creates the value for a viewer with this token; the empty token stands for none.
    pub(super) fn new(token: String) -> Self {
        Self { token }
    }

    /// `true` if the viewer may act, not only look.
    pub(super) fn may_act(&self) -> bool {
        !self.token.is_empty()
    }

    /// Returns the form's field with the token.
    pub(super) fn token(&self) -> Markup {
        html! { input type="hidden" name="token" value=(self.token); }
    }
}

/// Returns how long something took, in words.
pub(super) fn took(from: Millis, until: Millis) -> String {
    domain::budget::hours(u64::try_from(until.0.saturating_sub(from.0)).unwrap_or(0))
}

/// Renders a sentence, with the text between backticks as code.
pub(super) fn sentence(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Returns the cost of runs, in words.
pub(super) fn money(cost: &Cost) -> String {
    match messages::cost(cost) {
        said if cost.usd_micros.is_none() && cost.agent_runs > cost.open_runs => format!("cost {said}"),
        said => said,
    }
}

/// Returns a number with its noun: `1 step`, `2 steps`.
pub(super) fn count<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    match number == N::from(1) {
        true => format!("1 {thing}"),
        false => match thing.strip_suffix('y').filter(|_| thing.ends_with("ry")) {
            Some(stem) => format!("{number} {stem}ies"),
            None => format!("{number} {thing}s"),
        },
    }
}
