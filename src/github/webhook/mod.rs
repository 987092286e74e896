//! Webhook deliveries: is it GitHub's, what does it say, do we need it.
//!
//! The order is fixed: [`DeliveryHeaders::read`], [`verify`] over the raw bytes, and only then [`door`], which reads the
//! payload. What the door keeps is stored, and [`parse`]d again when its turn comes. Our own structs read the payload:
//! events and actions that we do not know are normal.

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
    Inbound, InstallationEvent, IssueEvent, Place, PressedCheckRun, PullEvent, Push, PushKind, RepositoryEvent,
    ReviewChange,
};
pub use parse::{WebhookError, parse};
pub use signature::{Signature, SignatureError, verify};
