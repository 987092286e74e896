//! The traps of GitHub and octocrab that our client could step into, each with the answer that would trigger it.
//!
//! The server is wiremock: it gives exactly the answers that a test prepares, even ones that a well-behaved forge would
//! never give.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails where it stands, also in its helpers"
)]

mod answers;
mod calls;
mod evidence;
mod limits;
mod log;
mod on_forge;
mod secrets;
mod tokens;
mod world;
