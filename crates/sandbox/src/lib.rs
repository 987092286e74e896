//! The only place where a foreign process other than git is started: agents, set-up and test commands.
//!
//! [`Sandbox::run`] starts a small launcher, which is a hidden subcommand of our own binary ([`launcher_main`]). The
//! launcher starts the program and adopts every process that it leaves behind. It kills all of them at the end, at a
//! deadline, at a limit, on cancellation, and if the service dies. All programs run at the same isolation level;
//! [`Sandbox::probe`] finds the best one that really blocks. From L1 on, an inner launcher gives up every right before
//! it becomes the program. At L2 and L3 it runs in bubblewrap's namespaces. A program that cannot be isolated is not
//! started.

#![warn(clippy::wildcard_enum_match_arm)]

mod browser;
mod capture;
mod cgroup;
mod choice;
mod confine;
pub mod egress;
mod environment;
mod launcher;
mod live;
mod pipes;
mod probe;
mod process_table;
mod protocol;
mod run;
mod run_user;
mod spec;
mod strays;
mod visible;

pub use browser::{LeadingPage, NoBrowser, open_in_browser};
pub use capture::{Output, OutputCap};
pub use choice::{Sandbox, SandboxOptions};
pub use confine::Confine;
pub use environment::{environment, environment_at};
pub use launcher::{LAUNCHER_COMMAND, launcher_main};
pub use live::{Live, Talk};
pub use probe::ProbeError;
pub use run_user::Users;
pub use spec::{Exit, Finished, Spec, StartError};
