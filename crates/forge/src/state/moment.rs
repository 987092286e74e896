//! The time of an event.

use chrono::{DateTime, Utc};

/// A time. The dates of events are in whole seconds.
pub type Moment = DateTime<Utc>;
