//! The Gates run and read everything that counts as evidence about a commit, in clean checkouts and by the service
//! itself.
//!
//! [`preflight`] records the state before the change, [`verify`] checks a task's commit, [`verify_wave`] a merged wave,
//! [`blame`] finds the merge that broke it, and [`probe`] runs the commands that a Coach asked for. The domain decides
//! what the evidence means for a task; nothing here trusts an agent's claim.

mod around_tests;
mod before;
mod change;
mod checks;
pub mod commands;
mod compare;
mod coverage;
mod detect;
mod files;
mod mutation;
mod output;
mod preflight;
mod probe;
mod rerun;
mod results;
mod rewritten;
mod run;
mod said;
mod setup_reads;
mod shell;
mod subject;
mod table;
mod test_index;
mod test_line;
mod turn;
mod unrun_tests;
mod verify;
mod wave;
pub mod workflows;
mod xml;

pub use before::before;
pub use checks::is_called;
pub use commands::{Chosen, choose};
pub use detect::{NamesOfTests, Repository, TOOL_CHAINS, detect, runners_here, telling};
pub use preflight::{missing_programs, preflight};
pub use probe::probe;
pub use run::context::{CheckoutLocks, Deadlines, GateContext, GateError};
pub use subject::{Subject, WaveSubject, WholeFeature};
pub use verify::verify;
pub use wave::{blame, verify_wave};

#[cfg(test)]
mod tests;
