//! Calendar months in UTC, computed from a given time.

use crate::ids::Millis;
use chrono::{DateTime, Datelike, NaiveDate, NaiveTime};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A calendar month in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Month {
    year: i32,
    month: u32,
}

impl Month {
    /// Returns the month of a time.
    pub fn of(at: Millis) -> Self {
        let day = DateTime::from_timestamp_millis(at.0).unwrap_or_default();
        Self { year: day.year(), month: day.month() }
    }

    /// Returns its first moment.
    pub fn start(self) -> Millis {
        let midnight = self.first_day().and_time(NaiveTime::MIN);
        Millis(midnight.and_utc().timestamp_millis())
    }

    /// Returns the month after it.
    pub fn next(self) -> Self {
        let (year, month) = match self.month {
            12 => (self.year.saturating_add(1), 1),
            month => (self.year, month + 1),
        };
        Self { year, month }
    }

    fn first_day(self) -> NaiveDate {
        NaiveDate::from_ymd_opt(self.year, self.month, 1).unwrap_or_default()
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first_day().format("%B %Y"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_begins_at_midnight_utc_of_its_first_day() {
        let last = Millis(1_798_761_599_999);
        let month = Month::of(last);
        assert_eq!(month.to_string(), "December 2026");
        assert_eq!(month.start(), Millis(1_796_083_200_000));
        assert_eq!(month.next(), Month::of(last.plus(1)));
        assert_eq!(month.next().start(), last.plus(1));
        assert_eq!(Month::of(Millis(0)).start(), Millis(0));
        assert_eq!(Month::of(Millis(i64::MAX)).to_string(), "January 1970");
    }
}
