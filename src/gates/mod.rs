//! The Gates run and read everything that counts as evidence about a commit, in clean checkouts and by the service
//! itself.
//!
//! [`preflight`] records the state before the change, and [`verify`] checks a task's commit. [`verify_wave`] checks a
//! merged wave, [`blame`] finds the merge that broke it, and [`probe`] runs commands for a Coach. The domain decides
//! the consequences of the evidence for a task; nothing here trusts an agent's claim.

mod around_tests;
mod called;
mod change;
mod checks;
mod code;
pub mod commands;
mod compare;
mod coverage;
mod earlier_command;
mod files;
mod gate_result;
mod mutation;
mod output;
mod preflight;
mod probe;
mod rerun;
mod run;
mod setup_reads;
mod subject;
mod table;
mod turn;
mod unrun_tests;
mod verify;
mod wave;

pub use checks::is_called;
pub use commands::{CommandChoice, choose, is_installed, runners_here};
pub(crate) use files::read as read_regular_file;
pub use preflight::{missing_programs, preflight, results_at_start};
pub use probe::probe;
pub use run::cache::{forget_caches_of, forget_unused_caches};
pub use run::context::{CheckoutLocks, Deadlines, GateContext, GateError};
pub use subject::{Subject, WaveSubject, WholeFeature};
pub use verify::verify;
pub use wave::{blame, verify_wave};

#[cfg(test)]
mod tests;
