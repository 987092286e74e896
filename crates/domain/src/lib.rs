//! The rules: plans, waves, turns, verdicts, blocked reports, and the state machines of tasks and Features.
//!
//! Nothing here waits, reads a clock or does input and output: every function takes data and returns data.

#![allow(missing_docs, reason = "a name and a type that say what an item is need no comment")]
#![warn(clippy::wildcard_enum_match_arm)]

pub mod at_work;
pub mod blocked;
pub mod budget;
pub mod check_boxes;
pub mod chosen_commands;
pub mod ci;
pub mod ci_definitions;
mod citation;
pub mod claims;
pub mod command;
pub mod complexity;
pub mod contract;
pub mod cost;
pub mod decision;
pub mod decision_parse;
pub mod design;
pub mod diagnosis;
pub mod effect;
pub mod evidence;
pub mod excess;
pub mod exposure;
pub mod feature;
pub mod grounds;
pub mod ids;
pub mod inline_comment;
pub mod inquiry;
pub mod integrity;
pub mod isolation;
pub mod links;
pub mod network;
pub mod obeyed;
pub mod plan;
pub mod plan_block;
pub mod problem;
pub mod protected_paths;
pub mod question;
pub mod quote;
pub mod recurring;
pub mod refused_host;
pub mod registries;
pub mod report;
pub mod routing;
pub mod task;
pub mod test_outcome;
pub mod titles;
pub mod trace;
pub mod unrun;
pub mod wave;

#[cfg(test)]
mod tests;
