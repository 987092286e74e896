//! Runs agents: the input is a prompt, the output an answer.
//!
//! A [`Backend`] runs one agent on one checkout and reports facts. [`Backend::ask`] asks once more if an answer is
//! missing or has the wrong form. Nothing here interprets an answer, retries after other failures except once with a
//! fallback model, or inspects an agent's changes.

#![warn(clippy::wildcard_enum_match_arm)]

mod access;
mod acp;
mod answer;
mod ask;
mod backend;
mod checkout_writer;
mod claude;
mod codex;
mod command;
mod definition;
mod fence;
mod journal;
mod json;
mod lines;
mod login;
mod memory;
mod outcome;
mod private;
mod program;
pub mod prompt;
mod record;
mod run;
mod schema;
mod script;
mod scripted;
mod session;
mod unreported_usage;

pub(crate) use access::Provider;
pub use access::{Access, Login};
pub use ask::ValidAnswer;
pub use backend::Backend;
pub use definition::{Definition, DefinitionMistake, Definitions, Tool};
pub use journal::Activity;
pub use login::PersonLogin;
pub use record::{Record, Replaced};
pub use run::{RunError, RunSpec};
pub use script::ScriptMistake;

#[cfg(test)]
mod tests;
