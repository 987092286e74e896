//! Webhooks: which App hears of what, the signed request, the log, faults and redelivery.

mod courier;
mod emit;
mod faults;

pub use faults::{HookFault, HookMishap, HookOrder};

pub(super) use courier::{Post, headers as delivery_headers};
pub(super) use emit::{Audience, Occasion};
pub(super) use faults::HookFaults;
