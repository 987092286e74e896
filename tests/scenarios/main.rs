//! Stories: the real service beside the local forge, in one process, with scripted or misbehaving agents. One file per
//! story. Nothing sleeps: a story continues when the service and the forge rest.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test that cannot go on has failed"
)]

use support::{pipes, postgres};

mod added;
mod allowances;
mod budgets;
mod calls;
mod ci;
mod closing;
mod coach;
mod discussion;
mod edges;
mod failed_acts;
mod hands;
mod held_ci;
mod inquiries;
mod labels;
mod loop_of_one_task;
mod merging;
mod misbehaving;
mod on_postgres;
mod outages;
mod panics;
mod people;
mod planning;
mod pre_loop;
mod preflight;
mod progress;
mod records;
mod replay;
mod repository;
mod rerun;
mod rights;
mod secrets;
mod signing;
mod sweep;
mod turns;
mod unseen;
mod waiting;
mod waivers;
mod waves;
mod world;
