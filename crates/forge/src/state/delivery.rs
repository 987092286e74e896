//! Webhook deliveries, sent or due.

use crate::state::moment::Moment;
use serde::{Deserialize, Serialize};

/// One attempt to deliver an event to an App.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Delivery {
    pub id: u64,
    /// The event's id, which all Apps and all redeliveries share.
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

/// The outcome of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Not tried yet.
    Due,
    /// The receiver answered with this status code.
    Answered(u16),
    /// There was no answer; holds the reason.
    Failed(String),
}

impl Outcome {
    pub fn acknowledged(&self) -> bool {
        matches!(self, Self::Answered(200..=299))
    }
}
