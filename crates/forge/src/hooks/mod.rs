//! Webhooks: which App hears of what, the signed request, the log, faults and redelivery.

mod courier;
mod emit;
mod faults;

pub use faults::HookFault;
pub use faults::HookMishap;
pub use faults::HookOrder;

pub(super) use courier::Post;
pub(super) use courier::headers as delivery_headers;
pub(super) use emit::Audience;
pub(super) use emit::Occasion;
pub(super) use faults::HookFaults;
