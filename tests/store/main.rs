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
use support::postgres;

mod baselines;
mod claims;
mod commits;
mod deliveries;
mod effects_command;
mod fairness;
mod finding;
mod holds;
mod migrations;
mod on_postgres;
mod on_sqlite;
mod opening;
mod queue;
mod refusals;
mod retention;
mod runs;
mod two_versions;
