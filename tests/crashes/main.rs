//! The service is killed at every kind of outward call, before and after it is obeyed, and started again: every story
//! ends as if nothing had happened, with nothing said or pushed twice.
//!
//! The service is the real binary, a child process; the forge lives in the test. Which calls there are is not written
//! down here: an undisturbed run of each story tells.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails where it stands, also in its helpers"
)]

#[path = "../support/beside.rs"]
mod beside;
mod calls;
mod picture;
#[path = "../support/pipes.rs"]
mod pipes;
mod play;
mod story;
mod world;

mod caught;
mod deliveries;
mod killed;
mod ledger;
mod log;
