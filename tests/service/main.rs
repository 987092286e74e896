//! The service and its commands as their users meet them: starting, the demo, `run` and what goes with it, traces, the
//! webhook inbox, the dashboard, agents, and what is deployed and written of it.

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
