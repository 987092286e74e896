//! The only way out of a sandbox: each run has a door, through which it reaches allowed hosts and its model.
//!
//! The sandbox itself has no route. The launcher listens on a loopback port inside and copies to the door's unix socket
//! ([`bridge`]). Behind the door are two proxies. One connects to allowed hosts by name ([`Rules::hosts`]) and never to
//! an address that is not public. The other is a reverse proxy that adds the key of the model's API ([`ModelRoute`]).
//! The key is never inside the sandbox, in a log or in an error. A tunnel must begin with TLS for its host; the rest is
//! not inspected. The exceptions are public registries, for which the door ends TLS and passes only requests that read
//! packages. A model's answers are inspected only for the call's usage and for the key.

mod address;
mod authority;
mod bridge;
mod call_meter;
mod call_slots;
mod ceiling;
mod client_hello;
mod connect;
mod door;
mod environment;
mod errors;
mod event_mask;
mod free_bytes;
mod headers;
mod key_mask;
mod log;
mod maven;
mod messages_api;
mod meter;
mod models;
mod named_stream;
mod pace;
mod patience;
mod refusals;
mod registry;
mod request_policy;
mod rules;
mod serve;
mod tally;
mod target;
mod trust;
mod upstream;

pub use bridge::bridge;
pub use ceiling::Ceiling;
pub use client_hello::{ClientHellos, HelloFault};
pub use door::{Door, INSIDE_PORT};
pub use log::{Decision, Outcome, Refusal};
pub use messages_api::whole_name;
pub use models::SPENT;
pub use refusals::Refusals;
pub use rules::{Caps, ModelRoute, Rules, Terms};
pub use tally::Tally;

#[cfg(test)]
mod tests;
