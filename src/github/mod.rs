//! GitHub: signed webhooks in, calls out.
//!
//! [`webhook`] turns a delivery into an [`Inbound`](webhook::Inbound).

pub mod model;
pub mod webhook;
