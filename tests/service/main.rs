//! The service and its commands from the user's side: the start, the demo, `run` and related commands, traces, the
//! webhook inbox, the dashboard, agents, deployment, documentation.

mod agents;
mod completions;
mod demo;
mod deploy;
mod docs;
mod doctor;
mod hostile_folder;
mod local;
mod own;
mod run;
mod setup;
mod start;
mod terminal;
mod trace;
mod web;
