//! Tools for text that make no decisions. They shorten and clean it, mask secrets, read JSON and YAML with the position
//! of every mistake, split commands into words, and price tokens.

#![allow(missing_docs, reason = "a name and a type that say what an item is need no comment")]
#![warn(clippy::wildcard_enum_match_arm)]

pub mod clean;
pub mod command_line;
pub mod fields;
pub mod hex;
pub mod json;
pub mod markdown;
pub mod mention;
pub mod mistake;
pub mod nearest;
pub mod node;
pub mod price;
pub mod secret;
pub mod shell_command;
pub mod shorten;
pub mod usage;
pub mod visible;
pub mod words;

#[cfg(test)]
mod tests;
