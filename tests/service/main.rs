//! The service and its commands as their users meet them: starting, the demo, traces, the webhook inbox, agents, and what
//! is deployed.

mod agents;
mod completions;
mod demo;
mod deploy;
mod schema;
mod start;
mod trace;
mod web;
