//! The local forge: a small GitHub-compatible server with REST, a little GraphQL, git over HTTP, webhooks and pages.
//!
//! It holds GitHub's rules in executable form: it refuses the same requests as GitHub, with GitHub's status codes and
//! texts. A test can order it to fail, to delay, or to obey and lose the reply. It logs every call and every delivery,
//! and keeps its state in a file. It knows nothing of the programs that use it.
//!
//! [`Forge::start`] starts one. [`Forge::as_user`] acts as one of its people.

#![warn(clippy::wildcard_enum_match_arm)]

mod acts;
mod answering;
mod auth;
mod call;
mod cgi;
mod clock;
mod control;
mod diff;
mod disk;
mod faults;
mod feed;
mod forge;
mod git_http;
mod graphql;
mod hooks;
mod json;
mod log;
mod moving;
mod pages;
mod readers;
mod refusal;
mod reply;
mod rest;
mod server;
mod site;
mod state;

pub use clock::Clock;
pub use control::{AppCredentials, NewApp, NewCiJob, Person, RepoSource, StartedJob};
pub use disk::{ForgeError, Saving};
pub use faults::{Fault, FaultOrder, Mishap};
pub use feed::{EventOutcome, FeedEvent, LineRemark};
pub use forge::{Forge, ForgeOptions};
pub use log::{CallKind, LoggedCall};
pub use readers::{Hands, QuickReply, Readers, Replies, Topic};
pub use refusal::Refusal;
pub use state::{BranchRule, Role, RuleKind, Settings};

#[cfg(test)]
mod tests;
