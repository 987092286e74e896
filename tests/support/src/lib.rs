//! Helpers that the tests of several crates share: a forge beside the service, an origin to fetch from, a model's API,
//! a PostgreSQL server, a relay, named pipes, folders.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

pub mod beside;
pub mod folder;
pub mod model;
pub mod origin;
pub mod pipes;
pub mod postgres;
pub mod relay;
