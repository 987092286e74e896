//! The service and its commands as their users meet them: starting, the demo, `run` and what goes with it, traces, the webhook inbox, agents, and what
//! is deployed.

mod agents;
mod demo;
mod deploy;
mod own;
mod run;
mod schema;
mod start;
mod trace;
mod web;
