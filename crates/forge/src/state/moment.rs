//! When something happens.

use chrono::{DateTime, Utc};

/// A moment, in whole seconds.
pub type Moment = DateTime<Utc>;
