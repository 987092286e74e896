//! The service and its commands as their users meet them: the start, the demo, `run` and related commands, traces, the
//! webhook inbox, the dashboard, agents, deployment, and documentation.

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
