//! The forge from outside: octocrab as the client, real git over HTTP, a real receiver of webhooks.

mod world;

mod calls;
mod credentials;
mod killed;
mod mistreated;
mod moves;
mod oauth;
mod readers;
mod refusals;
mod registration;
mod webhooks;
mod workflows;
