//! Webhook deliveries, sent or due.

use crate::state::moment::Moment;
use serde::{Deserialize, Serialize};

/// One attempt to tell an App of an event.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Delivery {
    pub id: u64,
    /// Shared by all Apps told of the event, and by its redeliveries.
    pub guid: String,
    pub app: u64,
    pub event: String,
    pub action: Option<String>,
    pub installation: Option<u64>,
    pub repository: Option<u64>,
    pub redelivery: bool,
    /// The exact bytes that are signed.
    pub payload: String,
    pub outcome: Outcome,
    pub at: Moment,
}

/// How a delivery went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Not tried yet.
    Due,
    /// The receiver answered with this status code.
    Answered(u16),
    /// Nobody answered.
    Failed(String),
}

impl Outcome {
    pub fn acknowledged(&self) -> bool {
        matches!(self, Self::Answered(200..=299))
    }
}
