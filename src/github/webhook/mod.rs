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

pub use door::Door;
pub use door::DropReason;
pub use door::OwnApps;
pub use door::Summary;
pub use door::door;
pub use headers::DeliveryHeaders;
pub use headers::HeaderError;
pub use inbound::Inbound;
pub use inbound::InstallationEvent;
pub use inbound::IssueEvent;
pub use inbound::Place;
pub use inbound::PressedCheckRun;
pub use inbound::PullEvent;
pub use inbound::Push;
pub use inbound::PushKind;
pub use inbound::RepositoryEvent;
pub use inbound::ReviewChange;
pub use parse::WebhookError;
pub use parse::parse;
pub use signature::Signature;
pub use signature::SignatureError;
pub use signature::verify;
