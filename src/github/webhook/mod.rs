//! Webhook deliveries: checks that they come from GitHub, reads them, and decides if they are needed.
//!
//! The order is fixed: [`DeliveryHeaders::read`], [`verify`] over the raw bytes, and only then [`door`], which reads
//! the payload. A delivery that the door keeps is stored, and [`parse`]d again when it is processed. Our own structs
//! read the payload. Unknown events and actions are normal.

mod door;
mod headers;
mod inbound;
mod parse;
mod payload;
mod signature;
#[cfg(test)]
mod tests;

pub use door::{Door, DropReason, OwnApps, Summary, door};
pub use headers::{DeliveryHeaders, HeaderError};
pub use inbound::{
    EventOrigin, Inbound, InstallationEvent, IssueEvent, PressedCheckRun, PullEvent, Push, PushKind, RepositoryEvent,
    ReviewChange,
};
pub use parse::{WebhookError, parse};
pub use signature::{Signature, SignatureError, verify};
