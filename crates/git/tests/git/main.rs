//! Tests with real git: a forge over HTTP on loopback, mirrors, checkouts, and hostile agents.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod attributes;
mod history;
mod hostile;
use support::origin;
mod packs;
mod reading;
mod remotes;
mod turns;
