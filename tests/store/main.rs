//! The store's contract: every promise is kept on SQLite and on PostgreSQL alike.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[macro_use]
mod contract;
#[path = "../support/postgres.rs"]
mod postgres;

mod baselines;
mod claims;
mod commits;
mod deliveries;
mod fairness;
mod finding;
mod holds;
mod on_postgres;
mod on_sqlite;
mod opening;
mod runs;
