//! What a result weighs.

use serde::{Deserialize, Serialize};

/// Whether an approval rests on what a Gate found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It must have passed: a failure sends work back, and its absence blocks.
    Demanded,
    /// People and the Coach see it, and nothing follows from it.
    Shown,
}
