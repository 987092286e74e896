//! The traps of GitHub and octocrab that our client could step into, each with the answer that would spring it.
//!
//! The server is wiremock: it says exactly what a test tells it to, also what a well-behaved forge would never say.

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
