//! The network access from a sandbox, with real sockets on loopback and real programs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod bridging;
mod hostile;
mod models;
mod programs;
mod proxying;
mod registries;
mod registry_programs;
mod uplink;
mod world;
