//! The traps of GitHub and octocrab that our client could step into, each with the answer that would spring it.
//!
//! The server is wiremock: it says exactly what a test tells it to, also what a well-behaved forge would never say.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails where it stands, also in its helpers"
)]

#[path = "github_traps/answers.rs"]
mod answers;
#[path = "github_traps/calls.rs"]
mod calls;
#[path = "github_traps/evidence.rs"]
mod evidence;
#[path = "github_traps/limits.rs"]
mod limits;
#[path = "github_traps/log.rs"]
mod log;
#[path = "github_traps/secrets.rs"]
mod secrets;
#[path = "github_traps/tokens.rs"]
mod tokens;
#[path = "github_traps/world.rs"]
mod world;
