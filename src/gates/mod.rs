//! Gates: set-up and tests of a clean checkout, run by the service itself.
//!
//! [`choose`] says which commands a repository's tests need, [`run`] runs them and reports what it found. What that means
//! for a task is decided in the domain; nothing here knows what an agent claimed.

mod commands;
mod counts;
mod detect;
pub mod integrity;
pub mod language;
mod output;
mod run;

pub use commands::Chosen;
pub use commands::choose;
pub use detect::Repository;
pub use run::GateError;
pub use run::GateSpec;
pub use run::run;
