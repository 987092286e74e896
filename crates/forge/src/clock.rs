//! The forge's only clock. Dates of events may come from a counter; the lifetime of tokens is always real time.

use chrono::{DateTime, Duration, SubsecRound, Utc};
use serde::{Deserialize, Serialize};

/// The clock that dates events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Clock {
    /// The machine's clock, in whole seconds as on GitHub.
    #[default]
    Real,
    /// A clock that starts here and moves one second with every recorded event: the same story gets the same dates.
    Ticking(DateTime<Utc>),
}

impl Clock {
    /// Returns the date of an event that happens now.
    pub(super) fn stamp(&mut self) -> DateTime<Utc> {
        match self {
            Self::Real => wall().trunc_subsecs(0),
            Self::Ticking(at) => {
                *at += Duration::seconds(1);
                *at
            }
        }
    }
}

/// Returns the real time, which decides if tokens have expired.
#[allow(clippy::disallowed_methods, reason = "the one clock of the forge")]
pub(super) fn wall() -> DateTime<Utc> {
    Utc::now()
}
