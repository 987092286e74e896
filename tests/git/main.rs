//! The git room with real git: a forge over HTTP on loopback, mirrors, checkouts, and agents that do their worst.

mod hostile;
mod origin;
mod reading;
mod remotes;
mod turns;
