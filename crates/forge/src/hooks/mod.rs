//! Webhooks: the audience of events, the signed requests, the log and redelivery.

mod courier;
mod emit;

pub(super) use courier::Post;
pub(super) use emit::Audience;
