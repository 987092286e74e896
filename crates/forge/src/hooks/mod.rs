//! Webhooks: the audience of events, the signed requests, the log and redelivery.

mod courier;
mod emit;
mod workflows;

pub(super) use courier::{Post, run_couriers};
pub(super) use emit::Audience;
