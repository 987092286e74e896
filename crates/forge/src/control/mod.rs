//! The Rust interface of the forge: its owner sets it up and watches it, and its people act.

mod apps;
mod ci;
mod maintaining;
mod people;
mod setup;
mod watch;
mod workflows;

pub use apps::{AppCredentials, NewApp};
pub use ci::NewCiJob;
pub use people::Person;
pub use setup::RepoSource;
pub use workflows::StartedJob;
