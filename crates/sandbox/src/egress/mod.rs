//! The one way out of a sandbox: a door per run, through which allowed hosts and the run's model are reached.
//!
//! Inside there is no route; the launcher listens on a loopback port there and copies to the door's unix socket
//! ([`bridge`]). Behind the door stand a proxy that connects to allowed hosts by name ([`Rules::hosts`]) and never to an
//! address that is not public, and a reverse proxy that adds the key of the model's API ([`ModelRoute`]). The key is
//! never inside, in a log or in an error. Of what goes through a tunnel nothing is looked at; of a model's answers what the
//! call used, and whether the key stands in them.

mod address;
mod bridge;
mod call_meter;
mod call_slots;
mod ceiling;
mod connect;
mod door;
mod environment;
mod errors;
mod headers;
mod log;
mod meter;
mod models;
mod observed_body;
mod pace;
mod patience;
mod request_policy;
mod rules;
mod serve;
mod tally;
mod target;
mod upstream;
mod within;

pub use bridge::bridge;
pub use ceiling::Ceiling;
pub use door::{Door, INSIDE_PORT};
pub use log::{Decision, Outcome, Refusal};
pub use models::SPENT;
pub use rules::{Caps, ModelRoute, Rules, Terms};
