//! The service is killed at every kind of outgoing call, before and after it is obeyed, and started again. Every story
//! ends as if nothing had happened, with nothing posted or pushed twice.
//!
//! The service is the real binary, a child process; the forge lives in the test. There is no list of calls here: they
//! are taken from an undisturbed run of each story.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails where it stands, also in its helpers"
)]

use support::beside;
mod calls;
mod database;
mod disk;
mod draws;
mod fleet;
mod met;
mod picture;
use support::pipes;
mod play;
use support::relay;
mod release_before;
mod story;
mod world;

mod caught;
mod chaos;
mod deliveries;
mod killed;
mod ledger;
mod log;
mod machines;

/// The built product.
const PRODUCT: beside::Product = beside::Product {
    program: env!("CARGO_BIN_EXE_autobuild"),
    permissions: autobuild::github::AUTOBUILD_PERMISSIONS,
    events: autobuild::github::AUTOBUILD_EVENTS,
    coach_permissions: autobuild::github::COACH_PERMISSIONS,
};
