//! How long old data is kept.

use crate::config::server_parse::{Parser, whole_number};
use std::time::Duration;

/// The most days that anybody may set: a hundred years.
const MOST_DAYS: u64 = 36_500;

/// How long old data is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionAges {
    /// Bodies of deliveries, and the effects of deliveries that belong to no Feature.
    pub payloads: Duration,
    /// Ids of deliveries.
    pub deliveries: Duration,
    /// Effects, traces and evidence of ended Features.
    pub ended: Duration,
    /// Packs of commits, counted from their push.
    pub packs: Duration,
    /// All data of an installation that was removed.
    pub departed: Duration,
    /// Mirrors that nobody used.
    pub mirrors: Duration,
    /// Build caches that nobody used.
    pub caches: Duration,
}

impl Default for RetentionAges {
    fn default() -> Self {
        let days = |days: u64| Duration::from_secs(days * 86_400);
        Self {
            payloads: days(7),
            deliveries: days(30),
            ended: days(90),
            packs: days(7),
            departed: days(7),
            mirrors: days(30),
            caches: days(14),
        }
    }
}

impl Parser {
    pub(super) fn ages(&mut self) -> RetentionAges {
        let usual = RetentionAges::default();
        RetentionAges {
            payloads: self.days("KEEP_PAYLOADS_DAYS", usual.payloads),
            deliveries: self.days("KEEP_DELIVERIES_DAYS", usual.deliveries),
            ended: self.days("KEEP_ENDED_DAYS", usual.ended),
            packs: self.days("KEEP_PACKS_DAYS", usual.packs),
            departed: self.days("KEEP_DEPARTED_DAYS", usual.departed),
            mirrors: self.days("KEEP_MIRRORS_DAYS", usual.mirrors),
            caches: self.days("KEEP_CACHES_DAYS", usual.caches),
        }
    }

    fn days(&mut self, name: &'static str, usual: Duration) -> Duration {
        let read = |text: &str| whole_number(text, 1..=MOST_DAYS, " of days");
        self.parse(name, read).map_or(usual, |days| Duration::from_secs(days * 86_400))
    }
}
