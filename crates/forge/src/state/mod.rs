//! Everything the forge knows, as plain data that is saved to one file.

mod account;
mod check;
mod delivery;
mod issue;
pub mod moment;
mod repo;
mod state;
mod workflow;

pub use account::*;
pub use check::*;
pub use delivery::*;
pub use issue::*;
pub use moment::Moment;
pub use repo::*;
pub use state::*;
pub use workflow::WorkflowEvent;
