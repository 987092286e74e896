//! Webhook deliveries: checks that they come from GitHub, reads them, and decides if they are needed.
//!
//! The order is fixed: [`DeliveryHeaders::read`], [`verify`] over the raw bytes, and only then [`admit`], which reads
//! the payload. A delivery that it keeps is stored, and [`parse`]d again when it is processed. Our own structs
//! read the payload. Unknown events and actions are normal.

mod admission;
mod headers;
mod inbound;
mod parse;
mod signature;
#[cfg(test)]
mod tests;

pub use admission::{Admission, OwnApps, Summary, admit};
pub use headers::{DeliveryHeaders, HeaderError};
pub use inbound::*;
pub use parse::{WebhookError, parse};
pub use signature::{Signature, SignatureError, verify};
