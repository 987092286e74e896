//! The weight of a Gate's result.

use serde::{Deserialize, Serialize};

/// Whether an approval rests on a Gate's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Required: a failure sends work back, and if the Gate could not run, the task blocks.
    Demanded,
    /// Informational: people and the Coach see it, and nothing follows from it.
    Shown,
}
