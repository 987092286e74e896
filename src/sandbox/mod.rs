//! The only place where a foreign process other than git is started: agents, set-up and test commands.
//!
//! [`Sandbox::run`] starts a small launcher (a hidden subcommand of our own binary, [`launcher_main`]), which starts the
//! program, adopts everything that the program leaves behind, and kills all of it at the end, at a deadline, on
//! cancellation, and when the service dies. This version limits time and output and cleans up; it does not isolate:
//! levels of isolation are steps that the launcher will take before it starts the program.

mod capture;
mod confine;
pub mod egress;
mod environment;
mod launcher;
mod live;
mod probe;
mod process_table;
mod protocol;
mod run;
mod spec;
mod strays;

pub use capture::Output;
pub use capture::OutputCap;
pub use confine::Confine;
pub use confine::Limit;
pub use confine::Limits;
pub use environment::environment;
pub use launcher::LAUNCHER_COMMAND;
pub use launcher::launcher_main;
pub use live::Live;
pub use live::Talk;
pub use probe::ProbeError;
pub use run::Sandbox;
pub use run::SandboxOptions;
pub use spec::Exit;
pub use spec::Finished;
pub use spec::Spec;
pub use spec::StartError;
