//! Gates: everything that is run or read for evidence on a commit, by the service itself, in clean checkouts.
//!
//! [`preflight`] says what was so before, [`verify`] what holds of a task's commit, [`verify_wave`] what holds of a merged
//! wave, [`blame`] which merge broke it, and [`probe`] runs what a Coach asked for. What that means for a task is decided
//! in the domain; nothing here believes what an agent claimed.

mod base_tests;
mod bench;
mod cache;
mod change;
mod checks;
pub mod commands;
mod compare;
mod coverage;
mod detect;
mod dulled;
mod files;
mod forms;
mod grown;
mod hollow;
mod judged;
mod make;
mod naming;
mod needless;
mod network;
mod output;
mod overlay;
mod place;
mod preflight;
mod probe;
mod put_back;
mod ran;
mod red;
mod remembered;
mod rerun;
mod results;
mod rewritten;
mod said;
mod shell;
mod sites;
mod stand;
mod stored;
mod subject;
mod unheard;
mod unproven;
mod vague;
mod verify;
mod wave;
mod xml;

pub use bench::{Bench, Deadlines, GateError};
pub use commands::{Chosen, choose};
pub use detect::Repository;
pub use preflight::preflight;
pub use probe::probe;
pub use remembered::Remembered;
pub use subject::{Subject, Suspects, WaveSubject};
pub use verify::verify;
pub use wave::{blame, verify_wave};
