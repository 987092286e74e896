//! What the forge's owner sets up and looks at, and what its people do.

mod apps;
mod ci;
mod ids;
mod maintaining;
mod people;
mod setup;
mod watch;

pub use apps::{AppCredentials, NewApp};
pub use ci::NewCiJob;
pub use people::{InlineRemark, Person};
pub use setup::RepoSource;
