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

/// A state's word, coloured.
pub(super) fn state_badge(word: &str) -> Markup {
    page_parts::badge(word, &word.replace('_', " "))
}

/// A moment, readable, in UTC.
pub(super) fn date(at: Millis) -> Markup {
    let at = chrono::DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    html! { time datetime=(at.to_rfc3339()) { (at.format("%Y-%m-%d %H:%M:%S UTC")) } }
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
        false => format!("{number} {thing}s"),
    }
}
