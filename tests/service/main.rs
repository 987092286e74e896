//! The service and its commands as their users meet them: starting, the demo, traces, the webhook inbox, agents, and what
//! is deployed and written of it.

mod agents;
mod completions;
mod demo;
mod deploy;
mod docs;
mod start;
mod trace;
mod web;
