//! AutoBuild: a GitHub App that turns a labelled issue into a plan, builds it with a Player agent and verifies it with a
//! Coach agent.
//!
//! One idea holds the crate together: rules are data in, data out. [`domain`] decides, the other rooms do. An event
//! changes a Feature in one database transaction ([`engine`]), which also stores the effects that follow; workers
//! perform the effects and report back as events.
//!
//! Reading order: [`domain`] (decisions) → [`engine`] (their execution) → [`store`] → [`github`], [`git`], [`sandbox`],
//! [`agents`], [`gates`] with [`integrity`] (the outside world). Then [`web`] (the webhook inbox) → [`messages`] (every
//! sentence on GitHub) → [`telemetry`] (spans for a collector) → [`forge`] (the local forge) → [`cli`] (the commands).

#![cfg(target_os = "linux")]
// Public here means no more than: for the binary, tests and benchmarks of this package.
#![allow(missing_docs)]

pub mod agents;
pub mod cli;
pub mod config;
pub mod engine;
pub mod gates;
pub mod github;
pub mod messages;
pub mod store;
pub mod telemetry;
pub mod web;
