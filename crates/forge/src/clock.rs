//! The forge's only clock: what it stamps on things may tick by itself, what guards tokens is always real time.

use chrono::{DateTime, Duration, SubsecRound, Utc};
use serde::{Deserialize, Serialize};

/// How the forge dates what happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Clock {
    /// As the machine's clock says, in whole seconds as on GitHub.
    #[default]
    Real,
    /// From this moment on, one second later with every recorded event: the same story gets the same dates.
    Ticking(DateTime<Utc>),
}

impl Clock {
    /// The date of what happens now.
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

/// The real time, which App tokens and their lifetimes are measured by.
#[allow(clippy::disallowed_methods, reason = "the one clock of the forge")]
pub(super) fn wall() -> DateTime<Utc> {
    Utc::now()
}
